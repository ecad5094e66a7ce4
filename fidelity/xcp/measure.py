#!/usr/bin/env python3
"""Measures the cells of cells.toml with ns-2 (Debian's ns2, 2.35) and writes ns-2.csv and ns-2-cwnd.csv.

    ./measure.py

Share: payload acknowledged over the bottleneck's rate x time, from the first start to the end, and over the
last half. Jain's index: of what the flows had acknowledged over the last third. Cells with losses: means over
their runs, whose seeds are 1000, 1001, ...; cwnd is stored for the first run of each cell, every two seconds.
"""

import csv
import pathlib
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
RATE = 10e6 / 8


def run(cell, seed):
    join = lambda values: ",".join(str(v) for v in values)
    command = [
        "ns",
        str(HERE / "network.tcl"),
        "--rtts",
        join(cell["rtts"]),
        "--starts",
        join(cell["starts"]),
        "--per",
        str(cell.get("per", 0)),
        "--duration",
        str(cell["duration"]),
        "--seed",
        str(seed),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ns failed: {done.stderr}")
    *lines, last = done.stdout.splitlines()
    samples = [[float(x) for x in line.split()] for line in lines]
    return samples, int(last.split()[1])


def jain(values):
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values))


def measures(cell, samples, drops):
    end = cell["duration"]
    at = {round(s[0]): s[2::2] for s in samples}
    at[0] = [0.0] * len(cell["rtts"])
    first = min(cell["starts"])
    share = lambda a, b: (sum(at[b]) - sum(at[a])) / (RATE * (b - a))
    third = [b - a for a, b in zip(at[end - end // 3], at[end])]
    return {
        "share": share(first, end),
        "last_half": share(end // 2, end),
        "jain": jain(third),
        "drops": drops,
    }


def main():
    cells = tomllib.loads((HERE / "cells.toml").read_text())
    rows, curves = [], []
    with ThreadPoolExecutor(2) as pool:
        for name, cell in cells.items():
            runs = cell.get("runs", 1)
            found = list(pool.map(lambda seed: run(cell, seed), range(1000, 1000 + runs)))
            each = [measures(cell, *one) for one in found]
            mean = {key: sum(m[key] for m in each) / runs for key in each[0]}
            rows.append(
                [name, runs]
                + [f"{mean[k]:.5f}" for k in ("share", "last_half", "jain")]
                + [f"{mean['drops']:g}"]
            )
            for sample in found[0][0]:
                if round(sample[0]) % 2 == 0:
                    curves.append([name, round(sample[0])] + [f"{x:.1f}" for x in sample[1::2]])
            print(*rows[-1])
    with open(HERE / "ns-2.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["cell", "runs", "share", "last_half", "jain", "drops"])
        out.writerows(rows)
    with open(HERE / "ns-2-cwnd.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["cell", "time_s", "cwnd_of_each_flow"])
        out.writerows(curves)


if __name__ == "__main__":
    main()
