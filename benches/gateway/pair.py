#!/usr/bin/env python3
"""Two boxes at full speed: how much they carry where the link is not the limit, and what it costs.

    pair.py
    pair.py --rounds 5 --seconds 5

Client, terminal, hub and server are network namespaces joined by veth, without delay; the boxes are
told a link of 20 Gbit/s and 1 ms and intercept. iperf3 sends by one connection and by 16, in both
directions, and all four programs share the machine. CPU is that of both boxes (user and system). A
Markdown table goes to standard output. Needs root, nft, iproute2 and iperf3. Exit status: 0
measured, 1 where a run was below the bar, 2 could not run.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time

from lost import lacks

BAR = 1.5  # Gbit/s


def bulk(net, made, direction, connections, seconds):
    """Gbit/s, and CPU seconds of both boxes for each GB."""
    from topology import SERVER

    used = lambda: sum(box.use()[2] for box in made.values())
    words = ["iperf3", "-J", "-c", SERVER, "-t", seconds, "-O", 1, "-P", connections]
    before = used()
    report = json.loads(net.run("client", *map(str, words), *["-R"] * (direction == "down")))
    spent = used() - before
    if "error" in report:
        raise RuntimeError(f"iperf3: {report['error']}")
    rate = report["end"]["sum_received"]["bits_per_second"]
    # The second that iperf3 leaves out costs as much as each other one.
    return rate / 1e9, spent / (rate / 8e9 * (seconds + 1))


def measure(rounds, seconds):
    from boxes import WAYS, boxes, stop
    from topology import Topology

    found = {}
    with Topology("pair") as net:
        net.start("server", ["iperf3", "-s"], stdout=subprocess.DEVNULL)
        made = boxes(net, WAYS["two"])
        try:
            time.sleep(1)
            for round_ in range(rounds):
                for direction in ("up", "down"):
                    for connections in (1, 16):
                        case = f"{direction}, {connections} connection{'s'[: connections > 1]}"
                        one = bulk(net, made, direction, connections, seconds)
                        found.setdefault(case, []).append(one)
                print(f"round {round_ + 1} measured", file=sys.stderr)
        finally:
            stop(made)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    args = parser.parse_args()
    lacking = lacks() or ("" if shutil.which("iperf3") else "iperf3")
    if lacking:
        print(f"two boxes at full speed need {lacking}", file=sys.stderr)
        return 2
    found = measure(args.rounds, args.seconds)
    print("| case | Gbit/s | slowest run | CPU s/GB, both boxes |\n|---|---|---|---|")
    for case, runs in found.items():
        rates, costs = zip(*runs, strict=True)
        middle, cost = statistics.median(rates), statistics.median(costs)
        print(f"| {case} | {middle:.2f} | {min(rates):.2f} | {cost:.2f} |")
    slowest = min(rate for runs in found.values() for rate, _ in runs)
    count = sum(len(runs) for runs in found.values())
    print(f"two boxes: {count} runs, the slowest {slowest:.2f} Gbit/s")
    return int(slowest < BAR)


if __name__ == "__main__":
    sys.exit(main())
