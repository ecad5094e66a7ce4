#!/usr/bin/env python3
"""The simulator beside the TCP of this machine, for every kernel congestion control.

With the command built (`make`), the first two as root:

    fidelity/linux/compare.py lossless [--jobs 6]     # no losses on the channel: times, cell by cell
    fidelity/linux/compare.py lossy [--jobs 6]        # 1% lost: means of 20 runs with the same losses
    fidelity/linux/compare.py lossless --stored       # beside what Linux 6.18 did, to two decimals
    fidelity/linux/compare.py quic [--jobs 4]         # QUIC on UDP sockets, 24 cells without losses
    fidelity/linux/compare.py quic-lossy [--jobs 4]   # and 12 at 1% lost, means of 10 runs
    fidelity/linux/compare.py search [--jobs 4]       # CUBIC with SEARCH, 16 cells without losses
    fidelity/linux/compare.py search-lossy [--jobs 4] # and 6 at 1% lost, means of 10 runs
    fidelity/linux/compare.py buffers [--jobs 3]      # stock buffers by kernel, 18 cells without losses

Both sides run the study of that name: the simulator on the host profile `linux` with the C of the
control, Linux with the same C in its kernel. Bars: without losses the mean of |ours / Linux's - 1|
is at most 3% and the worst 8%; at 1% loss every cell is within 10%. QUIC has the same endpoints on both
sides; the bar of every cell is 5%, at 1% loss 10%; of SEARCH and of stock buffers as well. Results go to
target/fidelity/linux; a study that was stopped goes on. Exit status: 0 met, 1 not, 2 could not run.
"""

import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BENTPIPE = ROOT / "target/release/bentpipe"
RESULTS = ROOT / "target/fidelity/linux"
# Runs of a cell on each side, and the bars: mean and worst.
STUDIES = {
    "lossless": (1, 3, 0.03, 0.08),
    "lossy": (20, 20, None, 0.10),
    "quic": (1, 3, None, 0.05),
    "quic-lossy": (10, 10, None, 0.10),
    "search": (1, 3, None, 0.05),
    "search-lossy": (10, 10, None, 0.10),
    "buffers": (1, 3, None, 0.05),
}


def run(bentpipe, name, side, runs, jobs, options=()):
    command = [
        bentpipe,
        "study",
        HERE / f"{name}.toml",
        "--out",
        RESULTS / side,
        "--runs",
        runs,
        *options,
    ]
    if side == "linux":
        command += ["--on", "linux", "--jobs", jobs]
    done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        sys.exit(2)
    return read(RESULTS / side / f"linux-{name}" / "runs.csv")


def read(path):
    """The times of each cell: rate, size, control."""
    times = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            time = row["transfer_time_s"]
            rate = row.get("axis_rate") or row["rate"]
            times.setdefault((rate, row["file"], row["axis_transport"]), []).append(
                float(time) if time else float("inf")
            )
    return times


def stored(name):
    """The time of each cell on Linux 6.18: medians of 3 or 5 runs, at 1% loss means of 20."""
    with open(HERE / f"{name}.csv", newline="") as file:
        rows = csv.DictReader(file)
        return {
            (r.get("rate") or r["link"], r["file"], r["control"]): float(r["time_s"]) for r in rows
        }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--bentpipe", type=pathlib.Path, default=BENTPIPE)
    parser.add_argument("--stored", action="store_true", help="beside stored results of Linux")
    arguments = parser.parse_args()
    if not arguments.stored and os.geteuid() != 0:
        print("this needs root: namespaces, TUN devices and eBPF", file=sys.stderr)
        sys.exit(2)
    ours_runs, theirs_runs, mean_bar, worst_bar = STUDIES[arguments.study]
    fresh = ["--fresh"] if arguments.stored else []
    ours = run(arguments.bentpipe, arguments.study, "sim", ours_runs, arguments.jobs, fresh)
    if arguments.stored:
        theirs = {cell: [time] for cell, time in stored(arguments.study).items()}
    else:
        theirs = run(arguments.bentpipe, arguments.study, "linux", theirs_runs, arguments.jobs)
    is_lossy = "lossy" in arguments.study
    middle = statistics.mean if is_lossy else statistics.median
    errors = {}
    print(
        f"{'rate':10}  {'file':6}  {'control':13}  {'ours [s]':>8}  {'Linux [s]':>9}  {'spread':>6}  ratio"
    )
    for cell, times in ours.items():
        mine, its = statistics.mean(times), middle(theirs[cell])
        # Without losses how far its runs lie apart; else the 95% interval of their mean.
        if arguments.stored:
            spread = 0.0
        elif not is_lossy:
            spread = (max(theirs[cell]) - min(theirs[cell])) / its
        else:
            spread = 1.96 * statistics.stdev(theirs[cell]) / len(theirs[cell]) ** 0.5 / its
        errors[cell] = abs(mine / its - 1)
        mark = "  beyond" if errors[cell] > worst_bar else ""
        print(
            f"{cell[0]:10}  {cell[1]:6}  {cell[2]:13}  {mine:8.3f}  {its:9.3f}  {spread:6.1%}  "
            f"{mine / its:.3f}{mark}"
        )
    mean, worst = statistics.mean(errors.values()), max(errors.values())
    missed = worst > worst_bar or (mean_bar is not None and mean > mean_bar)
    print(
        f"{len(errors)} cells: mean error {mean:.1%}, worst {worst:.1%}; "
        f"bars: mean {f'{mean_bar:.0%}' if mean_bar else 'none'}, worst {worst_bar:.0%}"
        f"{': missed' if missed else ''}"
    )
    sys.exit(int(missed))


if __name__ == "__main__":
    main()
