#!/usr/bin/env python3
"""Held against the world: measurements that others published, beside the simulator.

    fidelity/world/run.py DIR                       # every table; `make fidelity-world DIR=...`
    fidelity/world/run.py DIR --only bars           # a table of it
    fidelity/world/run.py DIR --packetdrill SCRIPTS # also the verdicts on a folder of packetdrill scripts

DIR has the published files, which are not part of this repository; docs/world.md says where they are
from and how they are made. The test bed's bars: for each control the median error is at most 3%, 90% of
the cells are within 10%, none is beyond 20%. Exit status: 0 met, 1 not, 2 could not run."""

import argparse
import functools
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import hystart  # noqa: E402
import testbed  # noqa: E402

RESULTS = ROOT / "target/fidelity/world"
PARTS = ("testbed", "bars", "kernels", "hystart", "starlink", "packetdrill")


def show(title, lines):
    print(f"\n## {title}\n", *lines, sep="\n", flush=True)


@functools.cache
def cells_and_runs(folder, program):
    """The test bed's cells, and what the simulator reached in each."""
    cells = testbed.read(folder / testbed.FILE)
    return cells, testbed.simulated(program, RESULTS, cells)


def test_bed(given):
    lines = testbed.table(*cells_and_runs(given.dir, given.bentpipe))
    show("The published test bed, Mbit/s, medians of nine runs", lines)
    return True


def bars(given):
    lines, met = testbed.judged(*cells_and_runs(given.dir, given.bentpipe))
    show("The test bed's bars", lines)
    return met


def kernels(given):
    cells, found = cells_and_runs(given.dir, given.bentpipe)
    stored = testbed.of_kernels(HERE / "kernel.csv", cells)
    show("The same cells on kernels in virtual time", testbed.kernels_table(stored, found))
    return True


def slow_start(given):
    rows = hystart.read(given.dir / hystart.FILE)
    found = {row: hystart.simulated(given.bentpipe, row, given.runs) for row in rows}
    show("How slow start ends on real paths", hystart.table(rows, found))
    return True


def script(path, *arguments):
    """Runs another script of this folder or the one above; true if its bars are met."""
    done = subprocess.run([sys.executable, path, *map(str, arguments)], check=False)
    if done.returncode > 1:
        raise OSError(f"{path.name} could not run")
    return done.returncode == 0


def starlink(given):
    path = HERE / "starlink.py"
    if not path.exists():
        return True
    show("Starlink", [])
    return script(path, given.dir)


def packetdrill(given):
    if given.packetdrill is None:
        return True
    show("packetdrill", [])
    options = ["--bentpipe", given.bentpipe, "--fails"]
    return script(HERE.parent / "packetdrill.py", given.packetdrill, *options)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dir", type=Path, help="the folder of the published files")
    parser.add_argument("--only", choices=PARTS, action="append", help="a part; repeatable")
    parser.add_argument("--packetdrill", type=Path, metavar="SCRIPTS", help="a folder of *.pkt")
    parser.add_argument("--runs", type=int, default=hystart.RUNS, help="for each path of `hystart`")
    parser.add_argument("--bentpipe", type=Path, default=ROOT / "target/release/bentpipe")
    given = parser.parse_args()
    of = dict(zip(PARTS, (test_bed, bars, kernels, slow_start, starlink, packetdrill)))
    try:
        met = [of[part](given) for part in given.only or PARTS]
    except (OSError, ValueError, KeyError, statistics.StatisticsError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failed:
        print(f"error: {' '.join(map(str, failed.cmd))} failed", file=sys.stderr)
        return 2
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
