#!/usr/bin/env python3
"""The table of fidelity/xcp/README.md: XCP's share of the bottleneck on ns-2, stored, and here; then
Jain's index over the last third of the run, without losses and with them.

The network is that of fidelity/xcp/network.tcl, the cells those of fidelity/xcp/cells.toml;
crates/sim/tests/runs/xcp.rs holds the same with bars.
"""

import csv
import json
import subprocess
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
XCP = ROOT / "fidelity/xcp"
#: Bytes a second of the bottleneck.
RATE = 1.25e6
NAMES = {
    "geo": "one flow, 600 ms",
    "medium": "one flow, 100 ms",
    "staggered": "four flows, 600 ms, 20 s apart",
    "ten": "ten flows, 600 ms, 1 s apart",
    "two-rtts": "two flows of 600 ms, two of 100 ms",
    "geo-loss": "one flow, 600 ms, 1% lost",
    "staggered-loss": "four flows, 600 ms, 20 s apart, 1% lost",
}
TRANSPORTS = {
    "here, ns-2's profile": """base = "xcp"
profile = "ns-2"
recovery = "reno"
timestamps = true
mss = "1428 B"
send_buffer = "14.28 MB"
receive_buffer = "14.28 MB"
""",
    "here, `xcp`": 'base = "xcp"\n',
    "here, `p-xcp`": 'base = "p-xcp"\n',
}
BOTTLENECK = """duration = "{duration} s"
[node.r0]
[node.r1]
[link.bottleneck]
between = ["r0", "r1"]
rate = "10 Mbit/s"
one_way_delay = "10 ms"
queue = {{ kind = "xcp", limit = "500 packets" }}
[transport.t]
{transport}"""
FLOW = """[node.s{i}]
[node.d{i}]
[link.leg{i}]
between = ["s{i}", "r0"]
rate = "100 Mbit/s"
one_way_delay = "{leg:g} ms"
queue = "100000 packets"
channel = {channel}
[link.leg{i}.reverse]
queue = "100000 packets"
channel = "perfect"
[link.lan{i}]
between = ["r1", "d{i}"]
rate = "100 Mbit/s"
one_way_delay = "0 ms"
queue = "100000 packets"
[flow.f{i}]
from = "s{i}"
to = "d{i}"
transport = "t"
application = "persistent"
start = "{start} s"
"""


def text_of(cell: dict, transport: str) -> str:
    """The scenario of a cell."""
    channel = '"perfect"'
    if "per" in cell:
        channel = f'{{ kind = "uniform", packet_error_rate = {cell["per"]} }}'
    flows = [
        FLOW.format(i=i, leg=1000 * rtt / 2 - 10, channel=channel, start=start)
        for i, (rtt, start) in enumerate(zip(cell["rtts"], cell["starts"]))
    ]
    return BOTTLENECK.format(duration=cell["duration"], transport=transport) + "".join(flows)


def acknowledged(cell: dict, transport: str, duration: int, seed: int) -> list[int]:
    """Bytes of each flow that were acknowledged within the duration."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "cell.toml"
        scenario.write_text(text_of({**cell, "duration": duration}, transport))
        command = [ROOT / "target/release/bentpipe", "run", scenario, "--json"]
        done = subprocess.run([*command, "--seed", str(seed)], check=True, capture_output=True)
        return [flow["acknowledged_bytes"] for flow in json.loads(done.stdout)["flows"]]


def jain(values: list[int]) -> float:
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values))


def measure(cell: dict, transport: str, fairness: bool = False) -> tuple[float, float]:
    """Means over the runs: payload share of the bottleneck; Jain's index of the last third, if wanted.

    A run that ends after two thirds is the beginning of the whole one.
    """
    end = cell["duration"]

    def run(seed: int) -> tuple[float, float]:
        whole = acknowledged(cell, transport, end, seed)
        fair = 1.0
        if fairness:
            part = acknowledged(cell, transport, end - end // 3, seed)
            fair = jain([b - a for a, b in zip(part, whole)])
        return sum(whole) / (RATE * end), fair

    runs = cell.get("runs", 1)
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(run, range(1, runs + 1)))
    return sum(share for share, _ in found) / runs, sum(fair for _, fair in found) / runs


def main() -> None:
    with open(XCP / "ns-2.csv", newline="") as file:
        theirs = {row["cell"]: row for row in csv.DictReader(file)}
    print("| cell | ns-2 | " + " | ".join(TRANSPORTS) + " |\n|---|---|" + "---|" * len(TRANSPORTS))
    fair: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for name, cell in tomllib.loads((XCP / "cells.toml").read_text()).items():
        several = len(cell["rtts"]) > 1
        first, *others = TRANSPORTS.values()
        like_ns_2, index = measure(cell, first, several)
        shares = [float(theirs[name]["share"]), like_ns_2, *(measure(cell, t)[0] for t in others)]
        print(f"| {NAMES[name]} | " + " | ".join(f"{100 * s:.1f}%" for s in shares) + " |")
        if several:
            fair["per" in cell].append((float(theirs[name]["jain"]), index))
    for lossy, cells in fair.items():
        least = [min(side) for side in zip(*cells)]
        print(
            f"Jain's index with{'' if lossy else 'out'} losses: {least[0]:.3f} there, {least[1]:.3f} here"
        )


if __name__ == "__main__":
    main()
