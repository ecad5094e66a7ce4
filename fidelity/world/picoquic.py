#!/usr/bin/env python3
"""QUIC here beside picoquic's own simulator, cell by cell.

    fidelity/world/picoquic.py DIR [--cc NAME] [--bentpipe PROGRAM] [--cells]

DIR holds `picoquic_grid.csv`: downloads by private-octopus/picoquic in its simulator, with the columns
cc, rate_mbit_nominal, one_way_us, queue_rtts, size_bytes, jitter_us, loss_percent, seeded, status,
time_s. picoquic divides rates by 1.048576; `queue_rtts` is the time that packets may wait, in round
trips. Its client asks for the file, which takes as long as an acknowledgement of the last byte here: the
times of both begin with the first packet of the handshake and end two round trips and the transfer later.

Only cells without jitter and without saved parameters are compared. Exit status: 0 ran, 2 could not."""

import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# picoquic counts bits in steps of 1024 x 1024.
SCALE = 1.048576
BAR = 0.05

SCENARIO = """duration = "2000 s"
[node.server]
[node.client]
[link.path]
between = ["server", "client"]
rate = "{rate:.0f} bit/s"
one_way_delay = "{delay} us"
queue = {{ kind = "drop-tail", limit = "{packets} packets" }}
[transport.mine]
base = "{cc}"
protocol = "quic"
mss = "1440 B"
[flow.download]
from = "server"
to = "client"
transport = "mine"
application = {{ kind = "transfer", size = "{size} B" }}
"""


def ours(program, cell, folder):
    """Seconds that the cell's download takes here."""
    rate = float(cell["rate_mbit_nominal"]) * 1e6 / SCALE
    one_way = int(cell["one_way_us"])
    waits = float(cell["queue_rtts"]) * 2 * one_way / 1e6
    path = Path(folder) / "cell.toml"
    path.write_text(
        SCENARIO.format(
            rate=rate,
            delay=one_way,
            packets=max(1, round(rate * waits / 8 / 1468)),
            cc=cell["cc"],
            size=cell["size_bytes"],
        )
    )
    done = subprocess.run(
        [program, "run", str(path), "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{path.read_text()}\n{done.stderr}")
    (flow,) = json.loads(done.stdout)["flows"]
    return flow["transfer_time_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cc", default="newreno")
    parser.add_argument("--bentpipe", default=str(ROOT / "target/release/bentpipe"))
    parser.add_argument("--cells", action="store_true", help="print every cell")
    options = parser.parse_args()
    with open(options.folder / "picoquic_grid.csv", encoding="utf-8") as file:
        cells = [
            cell
            for cell in csv.DictReader(file)
            if cell["cc"] == options.cc
            and cell["status"] == "Success"
            and (cell["jitter_us"], cell["loss_percent"], cell["seeded"]) == ("0", "0", "0")
        ]
    if not cells:
        print(f"no cells of {options.cc}", file=sys.stderr)
        return 2
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for cell in cells:
            theirs = float(cell["time_s"])
            here = ours(options.bentpipe, cell, folder)
            error = here / theirs - 1 if here else float("inf")
            errors.append(error)
            if options.cells:
                where = ("rate_mbit_nominal", "one_way_us", "queue_rtts", "size_bytes")
                row = "  ".join(f"{cell[key]:>8}" for key in where)
                print(f"{row}  {theirs:9.3f}  {here or float('nan'):9.3f}  {error:+.1%}")
    within = sum(abs(error) <= BAR for error in errors)
    median = statistics.median(abs(error) for error in errors)
    print(
        f"{options.cc}: {len(errors)} cells, median error {median:.1%}, "
        f"{within} ({within / len(errors):.0%}) within {BAR:.0%}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
