#!/usr/bin/env python3
"""The simulator beside the TCP of Linux in the corners where stacks differ.

With the command built (`make`):

    fidelity/linux/hard.py                     # the simulator beside the stored results of Linux
    fidelity/linux/hard.py --only outage       # the cells whose name contains that
    fidelity/linux/hard.py --vm                # measure a kernel 6.12 in virtual time and store that
    fidelity/linux/hard.py --live [--jobs 4]   # the same with this machine's kernel; as root

Both sides run the studies in hard/: the same scenarios, seeds and channels, with the same congestion
control, in the simulator on the host profile `linux` and in a kernel. What kernels did is stored in
hard.csv. A cell's time is the median of its runs, since a burst of losses that outlasts several timeouts
may make one of them ten times as long; where a cell has several flows, a run's time is the mean of theirs.

In virtual time (vm.py) a run has the same result each time: that is what the bars are about. On this
machine's kernel a program that takes the processor for some milliseconds can change a run; the table
has its results beside the others, and a line says how they stand to the bars.

Bars: the median of |ours / Linux's - 1| is at most 2%, 90% of the cells are within 5% and all within
10%, and hard/explanations.toml says why for each cell beyond 5%. Exit status: 0 met, 1 not, 2 could not
run.
"""

import argparse
import csv
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tomllib

import vm

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BENTPIPE = ROOT / "target/release/bentpipe"
RESULTS = ROOT / "target/fidelity/linux/hard"
STORED = HERE / "hard.csv"
EXPLANATIONS = HERE / "hard/explanations.toml"
STUDIES = ("certain", "chance")
VIRTUAL = "6.12"
COUNTS = ("retransmissions", "timeouts", "reductions")
FIELDS = ("cell", "kernel", "runs", "time_s", "spread_s", *COUNTS)
MEDIAN_BAR, MOST_BAR, MOST_SHARE, WORST_BAR = 0.02, 0.05, 0.90, 0.10


def study(name, only=()):
    """How many runs a study's cells have, and the cells that are wanted."""
    with open(HERE / f"hard/{name}.toml", "rb") as file:
        declared = tomllib.load(file)
    labels = [p["label"] for p in declared["axis"][0]["points"]]
    return declared["replications"], [
        c for c in labels if not only or any(text in c for text in only)
    ]


def arguments_of(name, cells, options):
    every = study(name)[1]
    only = [] if cells == every else ["--only", "cell=" + ",".join(cells)]
    return [str(o) for o in (*options, *only)]


def run(name, cells, side, options):
    """Runs `cells` of a study on this machine; what came out of each."""
    command = [BENTPIPE, "study", HERE / f"hard/{name}.toml", "--out", RESULTS / side]
    done = subprocess.run(
        command + arguments_of(name, cells, options), stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode not in (0, 1):
        sys.exit(2)
    return read(RESULTS / side / name / "runs.csv", cells)


def run_in_virtual_time(name, cells, runs):
    """The same on a kernel in virtual time."""
    options = arguments_of(name, cells, ["--on", "linux", "--runs", runs, "--out", "/root/results"])
    script = f"bentpipe study {name}.toml " + " ".join(f"'{o}'" for o in options)
    files = [HERE / "hard/network.toml", HERE / f"hard/{name}.toml"]
    vm.run(VIRTUAL, script, files, RESULTS / "vm", timeout=7200)
    return read(RESULTS / "vm" / name / "runs.csv", cells)


def read(path, cells):
    runs = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            runs.setdefault(row["cell"], {}).setdefault(row["seed"], []).append(row)
    return {cell: of_runs(list(runs[cell].values())) for cell in cells if cell in runs}


def of_runs(runs):
    """A cell's numbers, from its runs: for each a list of rows, one for each flow."""
    times = [
        statistics.mean(float(row["transfer_time_s"] or "inf") for row in flows) for flows in runs
    ]
    numbers = {
        "runs": len(times),
        "time_s": statistics.median(times),
        "spread_s": max(times) - min(times),
    }
    for count in COUNTS:
        numbers[count] = statistics.mean(sum(int(row[count]) for row in flows) for flows in runs)
    return numbers


def measure(wanted, live, jobs):
    """Measures the wanted cells and stores the results."""
    if live and os.geteuid() != 0:
        print("--live needs root: namespaces, TUN devices and eBPF", file=sys.stderr)
        sys.exit(2)
    stored = load()
    for name, cells in wanted.items():
        if not cells:
            continue
        runs = study(name)[0]
        if live:
            kernel = platform.release().split("-")[0]
            measured = run(
                name, cells, "linux", ["--on", "linux", "--jobs", jobs, "--runs", runs, "--fresh"]
            )
        else:
            kernel, measured = VIRTUAL, run_in_virtual_time(name, cells, runs)
        for cell, numbers in measured.items():
            stored[cell, ".".join(kernel.split(".")[:2])] = numbers
        store(stored)


def store(stored):
    with open(STORED, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        kernels = sorted({kernel for _, kernel in stored})
        for cell in (c for name in STUDIES for c in study(name)[1]):
            for kernel in kernels:
                if numbers := stored.get((cell, kernel)):
                    short = [f"{numbers[f]:.4f}".rstrip("0").rstrip(".") for f in FIELDS[2:]]
                    writer.writerow([cell, f"Linux {kernel}", *short])


def load():
    if not STORED.exists():
        return {}
    with open(STORED, newline="") as file:
        return {
            (row["cell"], row["kernel"].removeprefix("Linux ")): {
                f: float(row[f]) for f in FIELDS[2:]
            }
            for row in csv.DictReader(file)
        }


def judge(kernel, errors, explained):
    """Prints how the cells stand to the bars; true if all are met."""
    sizes = sorted(abs(e) for e in errors.values())
    median, worst = statistics.median(sizes), sizes[-1]
    share = sum(s <= MOST_BAR for s in sizes) / len(sizes)
    bare = [cell for cell, e in errors.items() if abs(e) > MOST_BAR and cell not in explained]
    met = median <= MEDIAN_BAR and share >= MOST_SHARE and worst <= WORST_BAR and not bare
    print(
        f"{kernel}: {len(sizes)} cells, median difference {median:.1%}, {share:.0%} within {MOST_BAR:.0%}, "
        f"worst {worst:.1%}; bars: {MEDIAN_BAR:.0%}, {MOST_SHARE:.0%}, {WORST_BAR:.0%}: {'met' if met else 'missed'}"
    )
    for cell in bare:
        print(f"  beyond {MOST_BAR:.0%} without an explanation: {cell}")
    return met


def show(wanted, stored, markdown):
    """Simulates, prints the table, and returns the errors of each kernel by cell."""
    kernels = [VIRTUAL] + sorted({k for _, k in stored} - {VIRTUAL})
    bar = "|" if markdown else ""
    columns = ["cell", "simulated [s]"] + [text for k in kernels for text in (f"Linux {k} [s]", "")]
    layout = (
        f"{bar} {{:50}} {bar} {{:>13}} " + f"{bar} {{:>14}} {bar} {{:>7}} " * len(kernels) + bar
    )
    print(layout.format(*columns).rstrip())
    if markdown:
        print("|---" * len(columns) + "|")
    errors = {kernel: {} for kernel in kernels}
    for name, cells in wanted.items():
        if not cells:
            continue
        for cell, ours in run(name, cells, "sim", ["--fresh"]).items():
            entries = []
            for kernel in kernels:
                theirs = stored.get((cell, kernel))
                if theirs:
                    errors[kernel][cell] = ours["time_s"] / theirs["time_s"] - 1
                    entries += [f"{theirs['time_s']:.3f}", f"{errors[kernel][cell]:+.1%}"]
                else:
                    entries += ["", ""]
            print(layout.format(cell, f"{ours['time_s']:.3f}", *entries).rstrip())
    return errors


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--vm", action="store_true", help="measure a kernel in virtual time and store that"
    )
    parser.add_argument(
        "--live", action="store_true", help="measure this machine's kernel and store that"
    )
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="cells whose name contains TEXT"
    )
    parser.add_argument("--jobs", type=int, default=4, help="runs at the same time with --live")
    parser.add_argument("--markdown", action="store_true", help="the table as Markdown")
    arguments = parser.parse_args()
    if not BENTPIPE.exists():
        print(f"{BENTPIPE} does not exist: `make` builds it", file=sys.stderr)
        sys.exit(2)
    wanted = {name: study(name, arguments.only)[1] for name in STUDIES}
    try:
        if arguments.vm or arguments.live:
            measure(wanted, arguments.live, arguments.jobs)
    except vm.CannotRun as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    explained = tomllib.loads(EXPLANATIONS.read_text()) if EXPLANATIONS.exists() else {}
    errors = show(wanted, load(), arguments.markdown)
    missing = [c for cells in wanted.values() for c in cells if c not in errors[VIRTUAL]]
    if missing:
        print(f"no stored result of Linux {VIRTUAL}: {', '.join(missing)}", file=sys.stderr)
    met = {kernel: judge(f"Linux {kernel}", of, explained) for kernel, of in errors.items() if of}
    sys.exit(0 if met.get(VIRTUAL) and not missing else 1)


if __name__ == "__main__":
    main()
