#!/usr/bin/env python3
"""Unslotted ALOHA beside ns-2's: the same terminals and load on both.

Usage: ns2.py BENTPIPE [RUNS]

Prints, for each mean time between a terminal's packets: the share of packets that arrived, collisions (of packets
for the terminal that counts them) per packet offered, and the mean delay.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
IDLE = ("5", "2", "1", "0.5")
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


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ours, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ns2 = shutil.which("ns") or sys.exit("ns-2 is not installed: apt-get install ns2")
    print("idle [s]  arrived: ns-2, ours    collisions: ns-2, ours   delay [ms]: ns-2, ours")
    for idle in IDLE:
        means = []
        for measure, program in ((of_ns2, ns2), (of_ours, ours)):
            each = [measure(program, idle, run) for run in range(1, runs + 1)]
            means.append([sum(column) / runs for column in zip(*each)])
        (a, c, d), (a2, c2, d2) = means
        print(f"{idle:>8}  {a:13.4f} {a2:7.4f}  {c:16.4f} {c2:7.4f}  {d:17.0f} {d2:6.0f}")


if __name__ == "__main__":
    main()
