#!/usr/bin/env python3
"""Holds bentpipe against ns-2, cell by cell: the same network, the same mechanism, both goodputs.

ns-2's results are stored in ns-2.csv; --ns2 measures them again. See README.md beside this file.
Python's standard library only.

Exit status: 0 every bar is met, 1 one is missed, 2 could not run.
"""

import argparse
import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import cells
import ns2
import ours
import statistic
import verify

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "target" / "fidelity"

# The bars: the geometric mean of ours / ns-2 of each mechanism, and the share of its cells that are near.
MEAN_BAR = 0.03
NEAR, NEAR_BAR = 0.10, 0.90
WORST = 10


@dataclass(frozen=True)
class Result:
    cell: cells.Cell
    ours: statistic.Estimate
    ns2: statistic.Estimate
    ratio: float
    half: float
    counters: dict

    @property
    def off(self):
        return abs(math.log(self.ratio)) if 0 < self.ratio < math.inf else math.inf

    @property
    def near(self):
        return abs(self.ratio - 1) <= NEAR


def say(text):
    print(text, file=sys.stderr, flush=True)


def compare(cell, mine, theirs):
    reference = ns2.goodput(theirs)
    ratio, half = statistic.ratio(mine["goodput"], reference)
    counters = {key: {"ours": mine[key], "ns2": theirs[key]} for key in ours.COUNTERS}
    if cell.ground:
        counters["ground_bps"] = {"ours": mine["ground"].mean, "ns2": theirs["ground_bps"]}
    return Result(cell, mine["goodput"], reference, ratio, half, counters)


# ---- what is printed -------------------------------------------------------------------------


def show(results):
    width = max(len(str(r.cell)) for r in results)
    print(
        f"{'cell':{width}}  {'ours [Mbit/s]':>19}  {'ns-2 [Mbit/s]':>19}  {'ours / ns-2':>15}  runs"
    )
    for r in results:
        mark = "" if r.near else " <--"
        print(f"{r.cell!s:{width}}  {interval(r.ours)}  {interval(r.ns2)}  {r.ratio:>7.3f} +-{r.half:.3f}  "
              f"{r.ours.runs}/{r.ns2.runs}{mark}")  # fmt: skip


def interval(estimate):
    return f"{estimate.mean / 1e6:>9.4f} +-{estimate.half / 1e6:.4f}"


def judge(results, explained):
    """One line a mechanism: its geometric mean, the share of its cells within 10%, its verdict."""
    verdicts = []
    for mechanism in dict.fromkeys(r.cell.mechanism for r in results):
        members = [r for r in results if r.cell.mechanism == mechanism]
        usable = [r for r in members if 0 < r.ratio < math.inf]
        mean = (
            math.exp(math.fsum(math.log(r.ratio) for r in usable) / len(usable))
            if usable
            else math.nan
        )
        share = sum(r.near for r in members) / len(members)
        far = [str(r.cell) for r in members if not r.near]
        silent = [name for name in far if not explained(name)]
        passed = abs(mean - 1) <= MEAN_BAR and share >= NEAR_BAR and not silent
        verdicts.append({"mechanism": mechanism, "cells": len(members), "geometric_mean": mean,
                         "within_10_percent": share, "beyond": far, "unexplained": silent,
                         "verdict": "PASS" if passed else "FAIL"})  # fmt: skip
    return verdicts


def show_verdicts(verdicts):
    print(
        f"\n{'mechanism':16} {'cells':>5}  {'geometric mean':>14}  {'within 10%':>10}  {'unexplained':>11}"
    )
    for v in verdicts:
        print(f"{v['mechanism']:16} {v['cells']:>5}  {v['geometric_mean']:>14.4f}  {v['within_10_percent']:>10.1%}  "
              f"{len(v['unexplained']):>11}  {v['verdict']}")  # fmt: skip
    print(f"bars: geometric mean within {MEAN_BAR:.0%} of 1, {NEAR_BAR:.0%} of the cells within {NEAR:.0%}, "
          "every cell beyond explained")  # fmt: skip


def show_worst(results, explained):
    print(
        f"\nthe {WORST} worst cells: goodput, share sent again, timeouts a run, drops at R1 a run; ours, ns-2's"
    )
    for r in sorted(results, key=lambda r: -r.off)[:WORST]:
        again = [
            counter(r, "retransmitted", who) / counter(r, "sent", who) for who in ("ours", "ns2")
        ]
        pairs = [f"{again[0]:.2%}, {again[1]:.2%}"]
        for key in ("timeouts", "queue_drops"):
            pairs.append(f"{counter(r, key, 'ours'):.1f}, {counter(r, key, 'ns2'):.1f}")
        print(
            f"{r.ratio:>7.3f} +-{r.half:.3f}  {r.cell}: again {pairs[0]}; timeouts {pairs[1]}; drops {pairs[2]}"
        )
        reason = explained(str(r.cell))
        if reason:
            print(f"{'':16}{reason}")


def counter(result, key, who):
    return result.counters[key][who]


def document(results, verdicts, explained):
    rows = []
    for r in results:
        row = {"cell": str(r.cell), **asdict(r.cell), "ratio": r.ratio, "ratio_ci95": r.half, "near": r.near,
               "ours_bps": r.ours.mean, "ours_ci95_bps": r.ours.half, "ours_runs": r.ours.runs,
               "ns2_bps": r.ns2.mean, "ns2_ci95_bps": r.ns2.half, "ns2_runs": r.ns2.runs, **r.counters}  # fmt: skip
        if not r.near:
            row["explanation"] = explained(str(r.cell))
        rows.append(row)
    return {"cells": rows, "mechanisms": verdicts}


# ---- the command -----------------------------------------------------------------------------


def arguments(names):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--ns2", action="store_true", help="measure ns-2 again instead of using ns-2.csv"
    )
    parser.add_argument("--ns2-only", action="store_true", help="measure ns-2 and stop")
    parser.add_argument("--missing", action="store_true",
                        help="measure ns-2 where ns-2.csv has no result of the cell's duration, and stop")  # fmt: skip
    parser.add_argument(
        "--verify", action="store_true", help="count losses and bursts in traces of ns-2, and stop"
    )
    parser.add_argument("--processes", type=int, default=2, help="of ns-2 at the same time")
    parser.add_argument("--only", action="append", choices=names, metavar="MECHANISM",
                        help="leave the others out; repeatable")  # fmt: skip
    parser.add_argument(
        "--quick", action="store_true", help=f"{ours.QUICK} runs of ours a cell; no bar is judged"
    )
    parser.add_argument(
        "--bentpipe", default=str(ROOT / "target" / "release" / "bentpipe"), help="the program"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--out", type=Path, default=BUILD, help="folder of studies and their results"
    )
    return parser.parse_args()


def main():
    table = cells.read()
    args = arguments(list(table.mechanisms))
    if args.verify:
        return 0 if verify.verify(ns2.find()) else 1
    chosen = [cell for cell in table.cells if not args.only or cell.mechanism in args.only]
    if args.missing:
        stored = ns2.read()
        wanted = [cell for cell in chosen if not ns2.holds(stored, cell)]
        failed = ns2.measure(
            table, wanted, args.processes, ns2.Journal(args.out / "ns-2.jsonl"), say
        )
        return 2 if failed else 0
    if args.ns2 or args.ns2_only:
        journal = ns2.Journal(args.out / "ns-2.jsonl")
        failed = ns2.measure(table, chosen, args.processes, journal, say)
        if failed or args.ns2_only:
            return 2 if failed else 0

    stored = ns2.read()
    missing = [cell for cell in chosen if not ns2.holds(stored, cell)]
    if missing:
        say(f"ns-2.csv lacks {len(missing)} cells as they are now, the first is: {missing[0]}. "
            "run.py --missing measures them")  # fmt: skip
    chosen = [cell for cell in chosen if ns2.holds(stored, cell)]
    if not chosen:
        raise ns2.Missing("nothing to compare with")

    runs = {
        str(c): ours.QUICK if args.quick else ours.runs(c, int(stored[str(c)]["runs"]))
        for c in chosen
    }
    mine = ours.measure(args.bentpipe, args.out, table, chosen, runs, say)
    results = [compare(cell, mine[str(cell)], stored[str(cell)]) for cell in chosen]
    explained = cells.explanations()
    verdicts = judge(results, explained)
    if args.json:
        print(json.dumps(document(results, verdicts, explained), indent=1))
    else:
        show(results)
        show_verdicts(verdicts)
        show_worst(results, explained)
    return 1 if not args.quick and any(v["verdict"] == "FAIL" for v in verdicts) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ns2.Missing, ours.Failed, FileNotFoundError, ValueError) as fault:
        say(f"error: {fault}")
        sys.exit(2)
