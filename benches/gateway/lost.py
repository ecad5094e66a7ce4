#!/usr/bin/env python3
"""Nothing lost: transfers that end in every way there is, through a gateway, checked at both ends.

    lost.py                 10,000 transfers in every way, with losses, outages and kills
    lost.py --short         300 transfers in a minute
    lost.py --only two --only haproxy

Needs root, iproute2, nft, a bentpipe with its emulator and gateway, and the harness:

    cargo build --release -p gateway-bench
    cargo build --release -p bentpipe-cli --features bentpipe-cli/kernel,bentpipe-cli/gateway

Every line of the table is one run; target/bench-gateway/lost.jsonl has each violation. Exit status:
0 no violation, 1 a violation of the gateway's (HAProxy's are shown, and do not count), 2 could not run.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass

import boxes as b
from topology import ROOT, Link, Topology

LINK = {"rate": "20 Mbit/s", "rtt": "550 ms"}
OUTAGE_S = 8.0
KILLED_S = 1.0
COUNTED = ("transfers", "as_planned", "cut", "violations")


@dataclass(frozen=True)
class Cell:
    way: str
    loss: str
    event: str
    transfers: int

    def flags(self, seed):
        flags = ["--transfers", self.transfers, "--at-once", 64, "--seed", seed]
        if self.event == "1 GB":
            return [*flags, "--kinds", "big-up,big-down", "--big", 10**9, "--patience", 600]
        # Half a megabyte each way at most: 64 at a time share 20 Mbit/s.
        flags += [
            "--largest",
            1 << 19,
            "--big",
            4 << 20,
            "--patience",
            180,
            "--silence",
            40,
            "--slow",
            30_000,
        ]
        if self.event:
            # In flight when it happens, and still coming afterwards.
            flags += ["--pace", self.transfers / 15]
        if self.way in ("socks", "connect"):
            flags += ["--eager", 0.3]
        if self.event.startswith("kill"):
            flags.append("--cuts")
        if self.way == "single" and (self.event or self.loss != "0%"):
            # The kernel's TCP is what crosses the satellite, and sends a RST once: where the link
            # loses it, the other end never learns of it, with or without a gateway.
            flags += [
                "--without",
                "server-resets,client-resets,server-resets-late,client-resets-late",
            ]
        return flags


def plan(ways, scale):
    cells = []
    for way in ways:
        for loss in ("0%", "3%"):
            cells.append(Cell(way, loss, "", int(500 * scale)))
            if way in ("direct", "haproxy"):
                continue
            cells.append(Cell(way, loss, "outage", int(400 * scale)))
            cells.append(Cell(way, loss, "upgrade", int(100 * scale)))
            if "hub" in b.WAYS[way].boxes:
                cells.append(Cell(way, loss, "upgrade hub", int(100 * scale)))
                cells.append(Cell(way, loss, "no UDP", int(100 * scale)))
                cells.append(Cell(way, loss, "never UDP", int(100 * scale)))
            for role in b.WAYS[way].boxes if way != "single" or loss == "0%" else ():
                share = 250 // len(b.WAYS[way].boxes)
                cells.append(Cell(way, loss, f"kill {role}", int(share * scale)))
        if scale >= 1:
            cells.append(Cell(way, "0%", "1 GB", 2))
    return cells


def run(cell, seed, log):
    way = b.WAYS[cell.way]
    link = None if cell.event == "1 GB" else Link(loss=cell.loss, **LINK)
    with Topology("bplost", link) as net, contextlib.ExitStack() as stack:
        control = b.serve(net)
        if cell.event == "never UDP":
            stack.enter_context(net.without_udp())
        made = b.boxes(net, way)
        start = time.monotonic()
        flags = cell.flags(seed)
        if not way.peer:
            flags += ["--server", "[fd77:3::2]:7000"]
        client = b.drive(net, way, control, *flags)
        if cell.event:
            time.sleep(5)
        if cell.event == "outage":
            with net.outage():
                time.sleep(OUTAGE_S)
        elif cell.event == "no UDP":
            with net.without_udp():
                time.sleep(OUTAGE_S)
        elif cell.event == "upgrade":
            made[way.boxes[-1]].process.send_signal(signal.SIGUSR2)
        elif cell.event == "upgrade hub":
            made["hub"].process.send_signal(signal.SIGUSR2)
        elif cell.event.startswith("kill"):
            box = made[cell.event.split()[1]]
            box.kill()
            time.sleep(KILLED_S)
            box.start()
        faults, summary = b.result(client, 1200)
        b.stop(made)
        for fault in faults:
            log.write(
                json.dumps({"way": cell.way, "loss": cell.loss, "event": cell.event, **fault})
                + "\n"
            )
        log.flush()
        if faults and os.environ.get("KEEP_LOGS"):
            for role, box in made.items():
                print(f"--- {role}: {box.log()}", file=sys.stderr)
        return faults, summary, time.monotonic() - start


def row(cell, faults, summary, seconds):
    what = Counter(f"{fault['violation']} ({fault['kind']}, {fault['side']})" for fault in faults)
    words = "; ".join(f"{count} x {name}" for name, count in what.most_common(4))
    print(
        f"| {b.WAYS[cell.way].name} | {cell.loss} | {cell.event or '-'} | {summary['transfers']} "
        f"| {summary['as_planned']} | {summary['cut']} | {summary['violations']} "
        f"| {seconds:.0f} | {words} |",
        flush=True,
    )


def lacks():
    """What this machine lacks, in words."""
    if os.geteuid():
        return "root"
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun"
    return next((f"`{tool}`" for tool in ("ip", "nft") if not shutil.which(tool)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(b.WAYS))
    parser.add_argument(
        "--event", action="append", help="only runs with this event, such as `outage`"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="share of the transfers")
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    lacking = lacks()
    if lacking:
        print(f"skipped: transfers through the gateway need {lacking}", file=sys.stderr)
        return 2 if not args.short or os.environ.get("BENTPIPE_REQUIRE") == "all" else 0
    ways = args.only or ["haproxy", "single", "two", "socks", "connect"]
    cells = plan(ways, args.scale)
    if args.short:
        cells = [Cell("two", "1%", "outage", 200), Cell("socks", "0%", "kill hub", 100)]
    if args.event:
        cells = [cell for cell in cells if cell.event in args.event]
    folder = ROOT / "target" / "bench-gateway"
    folder.mkdir(parents=True, exist_ok=True)
    print(
        "| way | loss | event | transfers | as planned | cut, and seen at both ends | violations | s | |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    sums = Counter()
    with open(folder / "lost.jsonl", "w") as log:
        for seed, cell in enumerate(cells, 1):
            try:
                faults, summary, seconds = run(cell, seed, log)
            except RuntimeError as error:
                print(
                    f"| {b.WAYS[cell.way].name} | {cell.loss} | {cell.event} | could not run: {error} |",
                    flush=True,
                )
                sums["violations"] += 1
                continue
            row(cell, faults, summary, seconds)
            if not b.WAYS[cell.way].peer:
                sums.update({name: summary[name] for name in COUNTED})
    # An upgraded process resets what it could not drain in its time, which both ends see.
    other = sums["transfers"] - sums["as_planned"] - sums["cut"] - sums["violations"]
    print(
        f"\n{sums['transfers']} transfers through the gateway: {sums['as_planned']} as planned, "
        f"{sums['cut']} cut by a kill, {other} otherwise ended, {sums['violations']} violations"
    )
    return 1 if sums["violations"] else 0


if __name__ == "__main__":
    sys.exit(main())
