#!/usr/bin/env python3
"""Measures Snoop on ns-2, cell by cell, and writes snoop.csv. See README.md beside this file.

A test of the simulator (crates/sim/tests/runs/snoop.rs) holds ours against the file.
"""

import concurrent.futures
import csv
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import ns2
from statistic import estimate

HERE = Path(__file__).resolve().parent
AGENTS = ("Newreno", "Sack1")
DELAYS_MS = (10, 50, 250)
LOSSES = (0.005, 0.02, 0.05)
RUNS, DURATION_S = 10, 600
COUNTERS = ("sent", "retransmitted", "timeouts", "queue_drops", "channel_losses")


def run(program, agent, delay, per, snoop, number):
    # Streams of small multiples of a seed resemble each other.
    name = f"snoop {agent} {delay} {per} {snoop} {number}"
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % 2147483562 + 1
    options = {
        "agent": agent,
        "delay": delay / 1000,
        "per": per,
        "snoop": snoop,
        "duration": DURATION_S,
        "seed": seed,
    }
    command = [program, str(HERE / "snoop.tcl")]
    for key, value in options.items():
        command += [f"--{key}", str(value)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, preexec_fn=ns2.limit_memory
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise RuntimeError(f"{name}: exit status {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(lines[-1])


def cell(program, key):
    runs = [run(program, *key, number) for number in range(1, RUNS + 1)]
    goodput = estimate([r["goodput_bps"] for r in runs])
    means = [f"{sum(r[counter] for r in runs) / RUNS:.1f}" for counter in COUNTERS]
    print(
        *key,
        f"{goodput.mean / 1e6:.4f} +- {goodput.half / 1e6:.4f} Mbit/s",
        *means,
        file=sys.stderr,
        flush=True,
    )
    return [*key, RUNS, DURATION_S, f"{goodput.mean:.0f}", f"{goodput.half:.0f}", *means]


def main():
    program = ns2.find()
    keys = [(a, d, p, s) for s in (1, 0) for a in AGENTS for d in DELAYS_MS for p in LOSSES]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda key: cell(program, key), keys))
    with (HERE / "snoop.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["agent", "delay_ms", "per", "snoop", "runs", "duration_s", "goodput_bps", "goodput_ci95_bps",
                         *COUNTERS])  # fmt: skip
        writer.writerows(rows)


if __name__ == "__main__":
    try:
        main()
    except ns2.Missing as fault:
        sys.exit(f"error: {fault}")
