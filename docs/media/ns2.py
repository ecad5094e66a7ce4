#!/usr/bin/env python3
"""Unslotted ALOHA beside ns-2's: the same terminals and load on both.

Usage: ns2.py BENTPIPE [--ns2]

Prints, for each mean time between a terminal's packets: the share of packets that arrived, collisions (of packets
for the terminal that counts them) per packet offered, and the mean delay; means of five runs. What ns-2 had is
stored in ns-2.csv; --ns2 measures it again, which takes an hour.
"""

import csv
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
IDLE = ("5", "2", "1", "0.5")
RUNS = 5
STORED = HERE / "ns-2.csv"
FIELDS = ("arrived", "collisions", "delay_ms")
# Half of the spread of the terminals' hops, and the time to send a packet.
MORE_MS = 1.6 + 0.904


def of_ns2(program, idle, run):
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        subprocess.run(
            [program, HERE / "aloha.tcl", idle, str(run), trace], check=True, capture_output=True
        )
        offered, arrived, collisions = {}, {}, 0
        for line in trace.open():
            event, at, *_, number = line.split()[:12]
            if event == "+":
                offered.setdefault(number, float(at))
            elif event == "r":
                arrived.setdefault(number, float(at))
            elif event == "c":
                collisions += 1
    delay = sum(arrived[n] - offered[n] for n in arrived) / len(arrived)
    return len(arrived) / len(offered), collisions / len(offered), 1e3 * delay


def of_ours(program, idle, run):
    text = (HERE / "aloha-ns-2.toml").read_text().replace('mean = "5 s"', f'mean = "{idle} s"')
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "aloha.toml"
        scenario.write_text(text)
        command = [program, "run", scenario, "--json", "--seed", str(run)]
        outcome = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    links = [link for link in outcome["links"] if not link["link"].endswith("reverse")]
    offered = sum(link["offered_packets"] for link in links)
    waits = (
        sum(link["mean_queueing_delay_ns"] * link["offered_packets"] for link in links) / offered
    )
    arrived = sum(link["delivered_packets"] for link in links)
    collisions = sum(link["collisions"] for link in links)
    return arrived / offered, collisions / offered, waits / 1e6 + 239 + MORE_MS


def means(measure, program, idle):
    each = [measure(program, idle, run) for run in range(1, RUNS + 1)]
    return tuple(sum(column) / RUNS for column in zip(*each))


def stored():
    with STORED.open(newline="") as file:
        return {row["idle_s"]: tuple(float(row[f]) for f in FIELDS) for row in csv.DictReader(file)}


def measured():
    """What ns-2 has, measured and stored."""
    program = shutil.which("ns") or sys.exit("ns-2 is not installed: apt-get install ns2")
    found = {idle: means(of_ns2, program, idle) for idle in IDLE}
    with STORED.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["idle_s", *FIELDS])
        writer.writerows(
            [idle, f"{a:.4f}", f"{c:.4f}", f"{d:.0f}"] for idle, (a, c, d) in found.items()
        )
    return found


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--ns2"]):
        sys.exit(__doc__)
    theirs = measured() if len(sys.argv) == 3 else stored()
    print(
        "| a packet every | arrived: ns-2 | ours | collisions per packet: ns-2 | ours | delay [ms]: ns-2 | ours |"
    )
    print("|---|---|---|---|---|---|---|")
    off = []
    for idle in IDLE:
        a, c, d = theirs[idle]
        a2, c2, d2 = means(of_ours, sys.argv[1], idle)
        print(f"| {idle} s | {a:.4f} | {a2:.4f} | {c:.4f} | {c2:.4f} | {d:.0f} | {d2:.0f} |")
        off.append([abs(mine / its - 1) for mine, its in ((a2, a), (c2, c), (d2, d))])
    arrived, collisions, delay = zip(*off)
    print(f"arrived: worst {max(arrived):.1%}; delay: worst {max(delay):.1%}; collisions: at the lightest load "
          f"{collisions[0]:.1%}, else worst {max(collisions[1:]):.1%}")  # fmt: skip


if __name__ == "__main__":
    main()
