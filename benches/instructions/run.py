#!/usr/bin/env python3
"""Counts the instructions that one packet-hop costs, and holds them against ratchet.json.

Runs `dumbbell` (benches/dumbbell) under callgrind for two durations, and `bentpipe compare` for two
numbers of runs; the difference of the instructions, divided by that of the packet-hops, is the figure.
So set-up and the writing of results are left out. At 100 and 1000 Mbit/s the flows are still in or near their first slow start then: what
one costs afterwards takes too long to count. Instructions do not depend on what else the machine does,
only on the compiler: with another rustc than the one in ratchet.json a cell may be 10% above its ratchet
instead of 3%: a change of the compiler is not a change of this program, and one that costs more is looked at.

The cells of `dumbbell` are all rates with all numbers of flows, on a constant link, one with a timeline
and one with losses. They have the RFCs' host; that of `compare` has Linux' and everything that a user
has: the two can move apart. ratchet.json says of each its value, the day it last moved and why.

A ratchet that is raised costs every user: raises.md beside it has a line for each, with the reason,
and without that line the check fails. `--update` asks for the reason and writes the line. Python's
standard library and valgrind only.

Exit status: 0 done, 1 a cell is too far above its ratchet or a raise has no reason, 2 could not run.
"""

import argparse
import datetime
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
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RATCHET = HERE / "ratchet.json"
# The programs that are measured, by their packages.
PROGRAMS = {
    name: ROOT / "target" / "release" / program
    for name, program in {"dumbbell": "dumbbell", "bentpipe-cli": "bentpipe"}.items()
}
# The lowest value that each cell's ratchet has had, and every raise since, with its reason.
RAISES = HERE / "raises.md"
TOLERANCE, OTHER_COMPILER = 1.03, 1.10

# The two durations at each rate, seconds: some 100,000 packet-hops lie between them.
DURATIONS = {10: (10, 30), 100: (4, 6), 1000: (4, 4.4)}
FLOWS = (1, 100, 1000, 10_000)
# Links that differ in nothing else.
KINDS = {"constant": "", "timeline": " --timeline 1s", "loss": " --loss 0.01"}


class Cell(NamedTuple):
    """What is measured: one program with two sets of options, and what it calls its packet-hops."""

    program: str
    options: tuple[str, str]
    hops: str


def dumbbell(options, durations):
    """A cell of `dumbbell` with these options and durations."""
    return Cell("dumbbell", tuple(f"{options} --duration {d}s" for d in durations), "packet_hops")


def matrix():
    """Name and cell of each rate, number of flows and kind of link."""
    for rate, durations in DURATIONS.items():
        for flows in FLOWS:
            for kind, options in KINDS.items():
                name = f"{flows} flow{'s' * (flows > 1)}, {rate} Mbit/s, {kind}"
                yield name, dumbbell(f"--flows {flows} --rate {rate}Mbit/s{options}", durations)


CELLS = dict(matrix())
# A window that is full from the start: the engine with next to no congestion control.
for kind in ("constant", "timeline"):
    options = f"--flows 1 --rate 50Mbit/s --window 1000{KINDS[kind]}"
    CELLS[f"1 flow, 50 Mbit/s, window 1000, {kind}"] = dumbbell(options, (4, 8))
# The command's own question: all its rows, the same number of runs each. One thread: more wait for
# each other in loops.
COMPARE = tuple(f"compare --threads 1 --json --runs {runs}" for runs in (2, 6))
CELLS["compare, default question"] = Cell("bentpipe-cli", COMPARE, "packets")


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


def per_hop(binary, cell):
    """Instructions of a packet-hop, set-up excluded."""
    total, hops = [], []
    for options in cell.options:
        count, report = instructions(binary, options)
        total.append(count)
        hops.append(report[cell.hops])
    return (total[1] - total[0]) / (hops[1] - hops[0])


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
    for cell, record in cells.items():
        now = record["value"]
        if cell not in value:
            faults.append(f"{cell}: no line")
        elif now > value[cell]:
            faults.append(f"{cell}: nothing says why {value[cell]} became {now}")
    return faults


def update(known, measured, why):
    """Records what was measured, and why each value that moved did."""
    before = {name: known.get(name, {}).get("value", 0) for name in measured}
    now = {name: round(value, 1) for name, value in measured.items()}
    moved = [name for name in now if now[name] != before[name]]
    if moved and not why:
        print(f"--why must say why these moved: {'; '.join(moved)}", file=sys.stderr)
        return 2
    with open(RAISES, "a") as file:
        for name in moved:
            if now[name] > before[name]:
                file.write(f"| {name} | {before[name]} | {now[name]} | {why} |\n")
    today = datetime.date.today().isoformat()
    news = {name: {"value": now[name], "moved": today, "why": why} for name in moved}
    # Cells that are no more are left out.
    cells = {name: record for name, record in {**known, **news}.items() if name in CELLS}
    document = {"compiler": compiler(), "cells": cells}
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
    parser.add_argument("--why", help="with --update: why values moved")
    for package, program in PROGRAMS.items():
        flag = f"--{program.name}"
        what = "a build of it, instead of one made now"
        parser.add_argument(flag, dest=package, type=Path, metavar="FILE", help=what)
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
    names = [n for n in CELLS if not options.cells or any(c in n for c in options.cells)]
    programs = {}
    for package in sorted({CELLS[name].program for name in names}):
        programs[package] = getattr(options, package) or PROGRAMS[package]
        build = ["cargo", "build", "--release", "--quiet", "-p", package]
        if not getattr(options, package) and subprocess.run(build, cwd=ROOT).returncode:
            return 2
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        figures = pool.map(lambda n: per_hop(programs[CELLS[n].program], CELLS[n]), names)
        measured = dict(zip(names, figures))
    missed = []
    print(f"rustc {compiler()}, {platform.machine()}; recorded with {ratchet['compiler']}\n")
    print("| cell | instructions per packet-hop | ratchet | ratio |\n|---|---|---|---|")
    for name, value in measured.items():
        known = ratchet["cells"].get(name, {}).get("value")
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
