#!/usr/bin/env python3
"""Counts the instructions that one packet-hop costs, and holds them against ratchet.json.

Runs `dumbbell` (benches/dumbbell) under callgrind, once for the whole duration and
once for a millisecond, which leaves set-up and the writing of results; the difference, divided by
the packet-hops, is the figure. Instructions do not depend on what else the machine does, only on
the compiler: with another rustc than the one in ratchet.json a cell may be 10% above its ratchet
instead of 3%: a change of the compiler is not a change of this program, and one that costs more is looked at.

A ratchet that is raised costs every user: raises.md beside it has a line for each, with the reason,
and without that line the check fails. `--update` asks for the reason and writes the line. Python's
standard library and valgrind only.

Exit status: 0 done, 1 a cell is too far above its ratchet or a raise has no reason, 2 could not run.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RATCHET = HERE / "ratchet.json"
DUMBBELL = ROOT / "target" / "release" / "dumbbell"
# The lowest value that each cell's ratchet has had, and every raise since, with its reason.
RAISES = HERE / "raises.md"
TOLERANCE, OTHER_COMPILER = 1.03, 1.10

# The options of each cell. The constant link and the link with a timeline differ in nothing else.
CELLS = {
    "1 flow, 10 Mbit/s": "--flows 1 --rate 10Mbit/s --duration 60s",
    "1 flow, 100 Mbit/s": "--flows 1 --rate 100Mbit/s --duration 30s",
    "100 flows, 100 Mbit/s": "--flows 100 --rate 100Mbit/s --duration 30s",
    "1000 flows, 100 Mbit/s": "--flows 1000 --rate 100Mbit/s --duration 30s",
    "10 flows, 10 Mbit/s, 1% loss": "--flows 10 --rate 10Mbit/s --loss 0.01 --duration 120s",
    "1 flow, 50 Mbit/s, constant": "--flows 1 --rate 50Mbit/s --window 1000 --duration 20s",
    "1 flow, 50 Mbit/s, timeline": "--flows 1 --rate 50Mbit/s --window 1000 --duration 20s --timeline 1s",
}


def instructions(binary, options):
    """Instructions of one process, and the JSON that it prints."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={scratch}/out",
            str(binary),
        ]
        done = subprocess.run(command + options.split(), capture_output=True, text=True)
    total = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not total:
        raise RuntimeError(f"{' '.join(command)} {options}: {done.stderr}")
    return int(total[1]), json.loads(done.stdout)


def per_hop(binary, options):
    """Instructions of a packet-hop, set-up excluded."""
    total, report = instructions(binary, options)
    set_up, _ = instructions(binary, re.sub(r"--duration \S+", "--duration 1ms", options))
    return (total - set_up) / report["packet_hops"]


def compiler():
    out = subprocess.run(
        ["rustc", "-vV"], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout
    fields = dict(line.split(": ", 1) for line in out.splitlines() if ": " in line)
    return f"{fields['release']} {fields['host']}"


def raises():
    """The rows of raises.md: cell, value before, value after, reason."""
    lines = [row for row in RAISES.read_text().splitlines() if row.startswith("| ")]
    rows = [[word.strip() for word in line.strip("|").split("|")] for line in lines[1:]]
    return [(cell, float(before), float(after), reason) for cell, before, after, reason in rows]


def unexplained(cells):
    """What is wrong with the record of raises: a ratchet that no chain of reasons leads to."""
    faults = []
    value = {}
    for cell, before, after, reason in raises():
        if not reason:
            faults.append(f"{cell}: {before} to {after} without a reason")
        # Between two raises it may have been lowered.
        if cell in value and before > value[cell]:
            faults.append(f"{cell}: nothing says why {value[cell]} became {before}")
        value[cell] = after
    for cell, now in cells.items():
        if cell not in value:
            faults.append(f"{cell}: no line")
        elif now > value[cell]:
            faults.append(f"{cell}: nothing says why {value[cell]} became {now}")
    return faults


def update(known, measured, why):
    """Records what was measured, and the reason of each value that is higher than before."""
    now = {name: round(value, 1) for name, value in measured.items()}
    higher = [name for name in now if now[name] > known.get(name, 0)]
    if higher and not why:
        print(f"--why must say why these are higher: {'; '.join(higher)}", file=sys.stderr)
        return 2
    with open(RAISES, "a") as file:
        for name in higher:
            file.write(f"| {name} | {known.get(name, 0)} | {now[name]} | {why} |\n")
    document = {"compiler": compiler(), "cells": {**known, **now}}
    RATCHET.write_text(json.dumps(document, indent=2) + "\n")
    return 0


def main():
    parser = argparse.ArgumentParser(description="Instructions per packet-hop, by callgrind.")
    parser.add_argument(
        "--check", action="store_true", help="fail where a cell is above its ratchet by 3%%"
    )
    parser.add_argument(
        "--update", action="store_true", help="write the measured values to ratchet.json"
    )
    parser.add_argument("--why", help="with --update: why a value may be higher than before")
    parser.add_argument(
        "--binary", type=Path, default=DUMBBELL, help="another build of the example"
    )
    parser.add_argument("cells", nargs="*", help="only the cells whose name contains one of these")
    options = parser.parse_args()
    ratchet = json.loads(RATCHET.read_text()) if RATCHET.exists() else {"compiler": "", "cells": {}}
    if faults := unexplained(ratchet["cells"]):
        print("\n".join([f"{RAISES.name}:", *faults]), file=sys.stderr)
        return 1
    if not shutil.which("valgrind"):
        print("skipped: instructions per packet-hop (valgrind is not installed)", file=sys.stderr)
        return 1 if options.check and os.environ.get("BENTPIPE_REQUIRE") == "all" else 0
    tolerance = TOLERANCE if ratchet["compiler"] == compiler() else OTHER_COMPILER
    if options.binary == DUMBBELL:
        build = ["cargo", "build", "--release", "--quiet", "-p", "dumbbell"]
        if subprocess.run(build, cwd=ROOT).returncode:
            return 2
    names = [n for n in CELLS if not options.cells or any(c in n for c in options.cells)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = dict(zip(names, pool.map(lambda n: per_hop(options.binary, CELLS[n]), names)))
    missed = []
    print(f"rustc {compiler()}, {platform.machine()}; recorded with {ratchet['compiler']}\n")
    print("| cell | instructions per packet-hop | ratchet | ratio |\n|---|---|---|---|")
    for name, value in measured.items():
        known = ratchet["cells"].get(name)
        ratio = f"{value / known:.3f}" if known else ""
        print(f"| {name} | {value:.1f} | {known or ''} | {ratio} |")
        if known and value > known * tolerance:
            missed.append(name)
    if options.update:
        return update(ratchet["cells"], measured, options.why)
    if options.check and missed:
        print(
            f"\nmore than {tolerance - 1:.0%} above the ratchet: {'; '.join(missed)}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
