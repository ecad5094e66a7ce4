#!/usr/bin/env python3
"""`bentpipe run scenarios/test-bed.toml --on both` with each congestion control: the table of docs/testbed.md.

Linux 6.12 runs in qemu in virtual time (fidelity/linux/vm.py). The simulator runs what Linux runs:
window and acknowledgements of the test bed. Three starts that lie some milliseconds apart; the runs
of both sides are kept in evidence/raw/virtual-test-bed.csv.
"""

import csv
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "fidelity/linux"))

import virtual  # noqa: E402
import vm  # noqa: E402

SCENARIO = ROOT / "scenarios/test-bed.toml"
RAW = ROOT / "evidence/raw/virtual-test-bed.csv"
CONTROLS = (
    "bp_const bp_linear bp_mtsi bp_hybla bp_westwood bp_westwoodp bp_etcpw bp_vegas bp_newvegas "
    "bp_veno bp_proactive bp_scalable bp_highspeed cubic-linux reno-linux"
).split()
STARTS_MS = (0, 37, 71)


def run() -> dict[str, list[tuple[float, float]]]:
    """Seconds of each start of each control: simulated, and on Linux."""
    script = "\n".join(
        f"bentpipe run test-bed.toml --on both --json --set transport.t.base={control} "
        f"--set flow.file.start='{start} ms' > /root/results/{control}.{start}.json 2>/dev/null"
        for control in CONTROLS
        for start in STARTS_MS
    )
    with tempfile.TemporaryDirectory() as out:
        vm.run(virtual.KERNEL, script, [SCENARIO], out, timeout=3600)
        found = {}
        for control in CONTROLS:
            for start in STARTS_MS:
                both = json.loads((Path(out) / f"{control}.{start}.json").read_text())
                sides = (both[side]["flows"][0] for side in ("simulated", "measured"))
                found.setdefault(control, []).append(
                    tuple(flow["transfer_time_s"] for flow in sides)
                )
        return found


def main() -> int:
    try:
        found = run()
    except vm.CannotRun as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    with RAW.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["control", "start_ms", "simulated_s", "linux_s"])
        for control, runs in found.items():
            writer.writerows([control, ms, *run] for ms, run in zip(STARTS_MS, runs))
    print(f"| control | simulated [s] | on Linux {virtual.KERNEL} [s] | |\n|---|---|---|---|")
    off = []
    for control, runs in found.items():
        ours, theirs = zip(*runs)
        off.append(statistics.mean(ours) / statistics.mean(theirs) - 1)
        shown = [virtual.seconds(side) for side in (ours, theirs)]
        name = re.sub("-linux$", "", control)
        print(f"| `{name}` | {shown[0]} | {shown[1]} | {virtual.percent(off[-1])} |")
    sizes = list(map(abs, off))
    print(f"{len(off)} controls: mean {statistics.mean(sizes):.1%}, worst {max(sizes):.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
