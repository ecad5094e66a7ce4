#!/usr/bin/env python3
"""A study of a million runs: runs a second, peak memory, bytes of the journal and of the tables.

    evidence/tables/million.py [RUNS OF A CELL]

A hundred cells of downloads of 3 to 20 kB over a geostationary link that loses packets, 10,000 runs
each. It takes a minute on two cores, and 700 MB of disk.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENTPIPE = Path(__file__).resolve().parents[2] / "target/release/bentpipe"
SCENARIO = """duration = "60 s"
[node.server]
[node.client]
[link.satellite]
between = ["server", "client"]
rate = "10 Mbit/s"
round_trip_delay = "600 ms"
queue = "100 packets"
channel = { kind = "uniform", packet_error_rate = "0.1%" }
[flow.download]
from = "server"
to = "client"
transport = "cubic"
application = { kind = "transfer", size = "3 kB" }
"""
STUDY = """name = "million"
title = "A million downloads"
scenario = "network.toml"
replications = {runs}
[[axis]]
name = "size"
path = "flow.download.application.size"
values = ["3 kB", "4 kB", "5 kB", "6 kB", "8 kB", "10 kB", "12 kB", "14 kB", "17 kB", "20 kB"]
[[axis]]
name = "loss"
path = "link.satellite.channel.packet_error_rate"
values = ["0.1%", "0.2%", "0.3%", "0.4%", "0.5%", "0.6%", "0.7%", "0.8%", "0.9%", "1%"]
[[table]]
slug = "times"
title = "Transfer times"
rows = ["size"]
columns = ["loss"]
metric = "transfer_time"
"""


def size(files: list[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.is_file())


def main() -> None:
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "network.toml").write_text(SCENARIO)
        (folder / "million.toml").write_text(STUDY.format(runs=each))
        out = folder / "results"
        began = time.monotonic()
        command = [str(BENTPIPE), "study", str(folder / "million.toml"), "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        took = time.monotonic() - began
        runs = 100 * each
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
        files = list(out.rglob("*"))
        journal = [file for file in files if "journal" in file.name]
        tables = [file for file in files if file.suffix == ".parquet"]
        print(f"{runs} runs in {took:.0f} s: {runs / took:.0f} a second")
        print(f"peak memory {memory:.0f} MB")
        print(f"journal {size(journal) / runs:.0f} bytes a run, tables {size(tables) / runs:.0f}")


if __name__ == "__main__":
    main()
