#!/usr/bin/env python3
"""Counts the instructions that one packet-hop costs, and holds them against ratchet.json.

Runs `dumbbell` (benches/dumbbell) under callgrind, once for the whole duration and
once for a millisecond, which leaves set-up and the writing of results; the difference, divided by
the packet-hops, is the figure. Instructions do not depend on what else the machine does, only on
the compiler: with another rustc than the one in ratchet.json the table is printed and nothing is
checked. Python's standard library and valgrind only.

Exit status: 0 done, 1 a cell is more than 3% above its ratchet, 2 could not run.
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
TOLERANCE = 1.03

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
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", str(binary)]
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
    out = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    fields = dict(line.split(": ", 1) for line in out.splitlines() if ": " in line)
    return f"{fields['release']} {fields['host']}"


def main():
    parser = argparse.ArgumentParser(description="Instructions per packet-hop, by callgrind.")
    parser.add_argument("--check", action="store_true", help="fail where a cell is above its ratchet by 3%%")
    parser.add_argument("--update", action="store_true", help="write the measured values to ratchet.json")
    parser.add_argument("--binary", type=Path, default=DUMBBELL, help="another build of the example")
    parser.add_argument("cells", nargs="*", help="only the cells whose name contains one of these")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: instructions per packet-hop (valgrind is not installed)", file=sys.stderr)
        return 1 if options.check and os.environ.get("BENTPIPE_REQUIRE") == "all" else 0
    ratchet = json.loads(RATCHET.read_text()) if RATCHET.exists() else {"compiler": "", "cells": {}}
    same_compiler = ratchet["compiler"] == compiler()
    if options.check and not same_compiler:
        print(f"skipped: instructions per packet-hop (recorded with rustc {ratchet['compiler']})", file=sys.stderr)
        return 0
    if options.binary == DUMBBELL:
        build = ["cargo", "build", "--release", "--quiet", "-p", "dumbbell"]
        if subprocess.run(build, cwd=ROOT).returncode:
            return 2
    names = [n for n in CELLS if not options.cells or any(c in n for c in options.cells)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = dict(zip(names, pool.map(lambda n: per_hop(options.binary, CELLS[n]), names)))
    missed = []
    print(f"rustc {compiler()}, {platform.machine()}\n")
    print("| cell | instructions per packet-hop | ratchet | ratio |\n|---|---|---|---|")
    for name, value in measured.items():
        known = ratchet["cells"].get(name)
        ratio = f"{value / known:.3f}" if known else ""
        print(f"| {name} | {value:.1f} | {known or ''} | {ratio} |")
        if known and value > known * TOLERANCE:
            missed.append(name)
    if options.update:
        cells = {**ratchet["cells"], **{name: round(value, 1) for name, value in measured.items()}}
        RATCHET.write_text(json.dumps({"compiler": compiler(), "cells": cells}, indent=2) + "\n")
    if options.check and missed:
        print(f"\nmore than 3% above the ratchet: {'; '.join(missed)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
