#!/usr/bin/env python3
"""What the page of Marchese 2006 says of single runs: IW=6 at 1% loss, strict, 1 Mbyte.

    evidence/tables/papers.py

It runs Table 8 and prints for 1 and 2 Mbit/s the standard deviation of a run, and how many runs
are at or below the printed time.
"""

import csv
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRINTED = {"1 Mbit/s": 22.77, "2 Mbit/s": 21.42}


def main() -> None:
    with tempfile.TemporaryDirectory() as out:
        command = [ROOT / "target/release/bentpipe", "reproduce", "marchese-2006", "table-8"]
        words = [str(word) for word in (*command, "--out", out)]
        # Status 1 says that something is not as recorded: no matter here.
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(2)
        with open(Path(out) / "marchese-2006/table-8/runs.csv", newline="") as file:
            rows = list(csv.DictReader(file))
    for bandwidth, printed in PRINTED.items():
        times = [
            float(row["transfer_time_s"])
            for row in rows
            if row["reading"] == "strict"
            and row["bandwidth"] == bandwidth
            and row["file"] == "1 Mbyte"
            and row["axis_transport"].startswith("TCP IW=6")
        ]
        below = sum(time <= printed for time in times)
        deviation = statistics.stdev(times)
        print(
            f"{bandwidth}: {len(times)} runs, sd {deviation:.1f} s, {below} at or below {printed} s"
        )


if __name__ == "__main__":
    main()
