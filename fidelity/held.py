#!/usr/bin/env python3
"""Simulates every cell that has a stored result of Linux, the gateway or ns-2, and holds each where it was.

    fidelity/held.py                 # fails where a cell moved
    fidelity/held.py --update        # records where cells are now

The studies are those of linux/hard.py (105 corners, Linux 6.12), of linux/compare.py (78 cells
without losses and 26 at 1%, Linux 6.18) and of gateway/measure.py (36 cells, the gateway). held.csv
has the deviation of each cell, simulated over stored - 1, when it was last recorded. The simulator
repeats itself, so a cell that moves, in either direction, was moved by a change of the program:

    band = 0.5 percentage points + half of the spread of the stored runs over the root of their number

The spread is the 95% interval of a run: 3.92 standard deviations of the stored runs, or 0 where a cell
has one. It is there because a cell whose stored runs lie apart hangs on details that no one claims; it
is bounded by 2 percentage points, so that no cell is free. No cell is left out, and none is judged by
how close it is. The deviation of a corner is that of the mean of twelve starts.

What the pages quote of these cells is held by the ledger (evidence/).

The 504 cells of ns-2 (cells.toml) take 25 minutes in full, which `make fidelity` does. Here each has one
run of a twentieth of its time, beside ns-2's stored mean: how far such a run is from it says little about
fidelity, for it has the start in it and few losses, but a change of any mechanism moves it.

Exit status: 0 all held, 1 a cell moved, 2 could not run.
"""

import argparse
import csv
import dataclasses
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path += [str(HERE / "linux"), str(HERE / "gateway")]

import cells as grid  # noqa: E402
import compare  # noqa: E402
import hard  # noqa: E402
import measure  # noqa: E402
import ns2  # noqa: E402
import ours as simulated  # noqa: E402

HELD = HERE / "held.csv"
MARGIN, MOST = 0.005, 0.02
# ns-2's cells run for this part of their time, but at least so many seconds.
PART, LEAST_S = 20, 20


def band(spread, runs):
    """How far a cell may be from its recorded deviation; `spread` is relative to the stored time."""
    return MARGIN + min(spread / 2 / runs**0.5, MOST)


def study(bentpipe, path, out):
    """The runs of a study, in rows."""
    command = [bentpipe, "study", path, "--out", out]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{path} could not be run: {done.stderr}")


def corners(bentpipe, out):
    """Each corner: simulated, stored time, relative spread and number of its stored runs."""
    stored = hard.load()
    found = {}
    for name in hard.STUDIES:
        study(bentpipe, HERE / f"linux/hard/{name}.toml", out)
        ours = hard.read(out / name / "runs.csv", hard.study(name)[1])
        for cell in hard.study(name)[1]:
            linux = stored[cell, hard.VIRTUAL]
            mean, reference, *_ = hard.compared(ours[cell], linux)
            spread = 2 * 1.96 * linux["sd_s"] / linux["mean_s"]
            found[cell] = (mean, reference, spread, linux["runs"])
    return found


def controls(name, bentpipe, out):
    """The cells of `compare.py NAME`, of which one number each is stored."""
    study(bentpipe, HERE / f"linux/{name}.toml", out)
    ours = compare.read(out / f"linux-{name}" / "runs.csv")
    return {
        ", ".join(cell): (statistics.mean(ours[cell]), time, 0, 1)
        for cell, time in compare.stored(name).items()
    }


def gateway(bentpipe, _):
    stored = {row["cell"]: row for row in measure.rows()}
    found = {}
    for cell in measure.cells():
        row = stored[cell.name]
        mean = float(row["mean"])
        spread = 2 * 1.96 * float(row["stdev"]) / mean
        ours = statistics.mean(cell.simulated(bentpipe))
        found[cell.name] = (ours, mean, spread, int(row["values"]))
    return found


def ns_2(bentpipe, out):
    """The cells that ns-2 has a result for: in one of the 505 its run did not end."""
    table, stored = grid.read(), ns2.read()

    def short(cell):
        seconds = max(LEAST_S, int(cell.duration_s()) // PART)
        part = dataclasses.replace(cell, duration=seconds)
        file = out / f"{part.slug}.toml"
        file.write_text(simulated.study(part, table.mechanisms[cell.mechanism]["transport"], 1))
        study(bentpipe, file, out)
        goodput = simulated.read(out / part.slug / "runs.csv", part)["goodput"].mean
        return str(cell), (goodput, ns2.goodput(stored[str(cell)]).mean, 0, 1)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(short, (cell for cell in table.cells if ns2.holds(stored, cell))))


SETS = {
    "corners": corners,
    "lossless": lambda *a: controls("lossless", *a),
    "lossy": lambda *a: controls("lossy", *a),
    "gateway": gateway,
    "ns-2": ns_2,
}


def recorded():
    with open(HELD, newline="") as file:
        return {(row["set"], row["cell"]): float(row["deviation"]) for row in csv.DictReader(file)}


def record(found):
    with open(HELD, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("set", "cell", "deviation"))
        for name, cells in found.items():
            for cell, (ours, theirs, *_) in cells.items():
                writer.writerow((name, cell, f"{ours / theirs - 1:.4f}"))


def moved(found, was):
    """A line for each cell that is not where it was, or that only one side has."""
    lines = []
    for name, cells in found.items():
        for cell, (ours, theirs, spread, runs) in cells.items():
            now, before = ours / theirs - 1, was.get((name, cell))
            if before is None:
                lines.append(f"{name}: {cell}: {now:+.2%}, not recorded")
            elif not abs(now - before) <= band(spread, runs):
                near = band(spread, runs)
                lines.append(f"{name}: {cell}: {now:+.2%}, recorded {before:+.2%}, band {near:.2%}")
    known = {(name, cell) for name, cells in found.items() for cell in cells}
    return lines + [f"{name}: {cell}: gone" for name, cell in was if (name, cell) not in known]


def sizes(cells):
    return sorted(abs(ours / theirs - 1) for ours, theirs, *_ in cells.values())


def within(of, bar):
    return sum(size <= bar for size in of)


def compared(bentpipe, found):
    """What `compare.py --stored` prints otherwise than what was computed here."""
    lines = []
    for name in ("lossless", "lossy"):
        command = [
            sys.executable,
            HERE / "linux/compare.py",
            name,
            "--stored",
            "--bentpipe",
            bentpipe,
        ]
        done = subprocess.run(
            [str(c) for c in command], capture_output=True, text=True, check=False
        )
        of = sizes(found[name])
        last = f"{len(of)} cells: mean error {statistics.mean(of):.1%}, worst {of[-1]:.1%};"
        if done.returncode not in (0, 1) or last not in done.stdout:
            lines.append(f"compare.py {name} --stored does not print `{last}`\n{done.stderr}")
    return lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bentpipe", type=pathlib.Path, default=ROOT / "target/release/bentpipe")
    parser.add_argument("--update", action="store_true", help="record where the cells are now")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        found = {n: take(arguments.bentpipe, pathlib.Path(out)) for n, take in SETS.items()}
    if arguments.update:
        record(found)
    faults = moved(found, recorded()) + compared(arguments.bentpipe, found)
    for name, cells in found.items():
        of = sizes(cells)
        print(f"{name}: {len(of)} cells, mean {statistics.mean(of):.1%}, median {statistics.median(of):.1%}, "
              f"within 5% {within(of, 0.05)}, worst {of[-1]:.1%}")  # fmt: skip
    print("\n".join(faults) if faults else "every cell is where it was")
    return int(bool(faults))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, FileNotFoundError, KeyError) as error:
        print(f"error: {error!r}", file=sys.stderr)
        sys.exit(2)
