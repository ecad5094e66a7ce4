#!/usr/bin/env python3
"""Nothing lost, by a second harness: transfers and datagrams over every way, with every fault, judged by
the journals of their ends.

    audit.py                           every way with every fault, 6000 transfers
    audit.py --seconds 600             no run begins after that
    audit.py --way socks --fault 'kill hub' --transfers 500 --seed 7
    audit.py --short                   three runs, in a minute

It prints a row for each run, and at the end one for each way with all of its faults.

It shares no code with `lost.py`: its ends, its satellite and its judge are of their own, in Python's
standard library. Needs root, iproute2, nft, and a bentpipe with the gateway ($BENTPIPE, or the release
build). Of a run with a violation everything is kept in target/bench-gateway/audit. Exit status: 0 no
violation, 1 a violation, 2 could not run.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import bed as b
import judge
import script

# s in which transfers begin, before and after the fault, and how long the fault lasts.
OVER, BEFORE, FAULT = 16.0, 5.0, 7.0
PATIENCE = 60
FLOWS = 12
KEPT = b.ROOT / "target" / "bench-gateway" / "audit"


@dataclass(frozen=True)
class Way:
    name: str
    roles: tuple
    via: str = "straight"
    faults: tuple = ()
    # UDP does not pass the satellite.
    tls: bool = False
    # The kernel's TCP alone crosses the satellite.
    kernel: bool = False
    # There is a further WAN beside the satellite.
    wan: bool = False


LINK = ("none", "outage", "loss to the hub", "loss to the terminal", "fade")
HUB = ("kill hub", "kill terminal", "reload", "upgrades")
WAN = ("other WAN lost", "other WAN to the hub", "other WAN to the terminal", "WANs in turn")
QUIC = ("no UDP to the hub", "no UDP to the terminal", "second hub")
WAYS = {
    "intercepted": Way("two boxes, intercepted", ("hub", "terminal"), faults=LINK + QUIC + HUB),
    "socks": Way("two boxes, SOCKS5", ("hub", "terminal"), "socks", faults=LINK + QUIC + HUB),
    "connect": Way("two boxes, CONNECT", ("hub", "terminal"), "connect", faults=LINK + QUIC + HUB),
    "wans": Way(
        "two WANs, SOCKS5", ("hub", "terminal"), "socks", faults=LINK + WAN + HUB, wan=True
    ),
    "wans connect": Way(
        "two WANs, CONNECT", ("hub", "terminal"), "connect", faults=LINK + WAN + HUB, wan=True
    ),
    "tls": Way("two boxes over TLS", ("hub", "terminal"), faults=LINK + HUB, tls=True),
    "bypass": Way(
        "no hub: passing directly",
        ("terminal",),
        faults=(*LINK, "kill terminal", "reload", "upgrades"),
        kernel=True,
    ),
    "single": Way(
        "one box", ("single",), faults=(*LINK, "kill single", "reload", "upgrades"), kernel=True
    ),
}
FAULTS = tuple(dict.fromkeys(fault for way in WAYS.values() for fault in way.faults))


class Run:
    """One way with one fault: transfers, and datagrams beside them."""

    def __init__(self, way, fault, transfers, seed, name, always_kept):
        self.way, self.fault = WAYS[way], fault
        self.tag = f"{way} {fault}"
        self.folder_name = self.tag.replace(" ", "-")
        self.transfers, self.seed, self.name = transfers, seed, name
        self.windows, self.starts = [], 0
        self.counts, self.violations, self.packets = Counter(), [], {}
        self.always_kept = always_kept
        self.failed = None
        self.seconds = 0.0

    def execute(self):
        began = time.monotonic()
        losses = {"loss to the hub": {"hub": 0.03}, "loss to the terminal": {"terminal": 0.03}}
        try:
            with b.Bed(self.name, self.seed, losses.get(self.fault), self.way.wan) as bed:
                self.within(bed)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            self.failed = str(error)
        self.seconds = time.monotonic() - began
        return self

    def within(self, bed):
        roles = self.way.roles
        if self.fault == "second hub":
            roles = ("hub", "second", "terminal")
        # A terminal whose hub does not run still needs its key.
        known = ("hub", "terminal") if roles == ("terminal",) else roles
        boxes = b.boxes(bed, self.way.via == "straight", known)
        boxes = {role: boxes[role] for role in roles}
        if self.way.tls:
            bed.change(drop="udp")
        for box in boxes.values():
            box.start(wait=False)
        for box in boxes.values():
            if roles == ("terminal",):
                self.bypassed(box)
            else:
                box.ready()
        server = self.end(bed, "server", *self.pairs("--listen"))
        server.stdout.readline()
        client = self.end(bed, "client", *self.pairs("--server"), *self.flags())
        time.sleep(BEFORE)
        with contextlib.ExitStack() as stack:
            stack.callback(self.judge, bed, boxes, client, server)
            self.happen(bed, boxes)

    def pairs(self, flag):
        return [word for address in b.SERVERS for word in (flag, address)]

    def flags(self):
        flags = ["--transfers", self.transfers, "--over", OVER, "--via", self.way.via]
        if self.way.via != "straight":
            port = b.SOCKS if self.way.via == "socks" else b.CONNECT
            flags += ["--proxy", f"{b.TERMINAL}:{port}"]
        return flags

    def end(self, bed, side, *flags):
        words = [sys.executable, b.HERE / "ends.py", side, "--journal", bed.files / f"{side}.jsonl"]
        words += ["--seed", self.seed, "--tag", self.tag, "--patience", PATIENCE]
        if self.way.via != "connect":
            words += ["--flows", FLOWS]
        if self.way.kernel and self.fault not in ("none", "reload", "upgrades"):
            # A reset crosses the satellite once, and may be lost with or without a gateway.
            words += ["--without", ",".join(sorted(script.RESETS))]
        with open(bed.files / f"{side}.err", "ab") as errors:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
            return bed.start(side, [*words, *flags], **pipes)

    def bypassed(self, terminal):
        """Waits until a terminal that has no hub lets new connections pass: seconds after its start."""
        end = time.monotonic() + 30
        log = terminal.bed.files / "terminal.log"
        self.starts += 1
        while log.read_text().count("new connections pass directly") < self.starts:
            if time.monotonic() > end:
                raise RuntimeError(f"connections do not pass beside the terminal: {terminal.log()}")
            time.sleep(0.1)

    @contextlib.contextmanager
    def window(self, killed=False):
        window = {"begin": time.monotonic(), "end": float("inf"), "killed": killed}
        self.windows.append(window)
        yield
        window["end"] = time.monotonic()

    def happen(self, bed, boxes):
        """The fault."""
        what, _, where = self.fault.partition(" ")
        if self.fault == "outage":
            with self.window():
                bed.change(drop="all")
                time.sleep(FAULT)
                bed.change(drop="udp" if self.way.tls else None)
        elif what == "other":
            to = where.split()[-1]
            to = {} if to == "lost" else {"to": to}
            bed.change(mast=True, drop="all", **to)
            time.sleep(FAULT)
            bed.change(mast=True, drop=None, **to)
        elif what == "WANs":
            for mast in (True, False, True, False):
                bed.change(mast=mast, drop="all")
                time.sleep(FAULT / 3)
                bed.change(mast=mast, drop=None)
                time.sleep(0.5)
        elif self.fault == "fade":
            bed.change(rate=b.RATE / 8)
            time.sleep(FAULT)
            bed.change(rate=b.RATE)
        elif what == "no":
            to = where.split()[-1]
            bed.change(to=to, drop="udp")
            time.sleep(FAULT)
            bed.change(to=to, drop=None)
        elif what == "kill":
            for _ in range(2):
                self.kill(boxes[where])
                time.sleep(2)
        elif self.fault == "second hub":
            boxes["hub"].end(30)
            boxes["hub"].start()
        elif self.fault == "reload":
            for turn in range(6):
                for box in boxes.values():
                    box.write(
                        f"{15 + turn % 2} Mbit/s", ("info", "debug")[turn % 2], "192.0.2.7/32"
                    )
                    box.signal(signal.SIGHUP)
                time.sleep(1)

        elif self.fault == "upgrades":
            # The first of them twice, when its first process may still carry connections.
            for role in (*boxes, next(iter(boxes))):
                boxes[role].upgrade()
                time.sleep(1)

    def kill(self, box):
        with self.window(killed=True):
            box.kill()
            time.sleep(1)
            box.start(wait=False)
            if self.way.roles == ("terminal",):
                self.bypassed(box)
            else:
                box.ready()

    def judge(self, bed, boxes, client, server):
        """Waits for the ends, and judges what they have written."""
        # The longest script, the fault, and one that waits for ever.
        client.communicate(timeout=OVER + FAULT + 5 * PATIENCE)
        server.communicate(timeout=2 * PATIENCE)
        for box in boxes.values():
            # Ended by itself: it crashed, whatever the transfers say.
            if not box.runs():
                self.failed = f"{box.role} has ended: {box.log()}"
            box.signal(signal.SIGINT)
        self.packets = bed.packets()
        if client.returncode or server.returncode:
            errors = [(bed.files / f"{side}.err").read_text() for side in ("client", "server")]
            raise RuntimeError("an end of the audit failed: " + " ".join(errors))
        lines = [judge.read(bed.files / f"{side}.jsonl") for side in ("client", "server")]
        verdict = judge.Judge(*lines, self.windows, self.way.kernel)
        self.violations, self.counts = verdict.run(), verdict.counts
        if self.violations or self.failed or self.always_kept:
            self.keep(bed)

    def keep(self, bed):
        folder = KEPT / self.folder_name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in [
            *bed.files.glob("*.jsonl"),
            *bed.files.glob("*.log"),
            *bed.files.glob("*/*.toml"),
        ]:
            shutil.copy(file, folder)
        (folder / "windows.json").write_text(json.dumps(self.windows))
        with open(folder / "violations.jsonl", "w") as file:
            for violation in self.violations:
                file.write(json.dumps(violation) + "\n")

    def row(self):
        what = Counter(f"{it['what']} ({it['kind']}, {it['side']})" for it in self.violations)
        words = "; ".join(f"{count} x {name}" for name, count in what.most_common(4))
        if self.failed:
            words = f"could not run: {self.failed.splitlines()[0]} {words}"
        count = self.counts
        return (
            f"| {self.way.name} | {self.fault} | {count['transfers']} | {count['as scripted']} "
            f"| {count['cut by a kill']} | {count['refused in a fault']} | {len(self.violations)} "
            f"| {count['datagrams that came']} of {count['datagrams']} | {self.seconds:.0f} | {words} |"
        )

    def data(self):
        return {
            "way": self.way.name,
            "fault": self.fault,
            "seconds": round(self.seconds, 1),
            "failed": self.failed,
            "counts": self.counts,
            "violations": [it["what"] for it in self.violations],
            "packets": self.packets,
        }


OUTCOMES = ("transfers", "as scripted", "cut by a kill", "refused in a fault")


def of_ways(runs):
    """The table of all runs of each way, and of all."""
    groups = [(way.name, "2" if way.wan else "1", [run for run in runs if run.way == way])
              for way in WAYS.values()]  # fmt: skip
    yield f"| way | WANs | faults | {' | '.join(OUTCOMES)} | violations | datagrams that came |"
    yield "|---" * 9 + "|"
    for name, wans, own in [*groups, ("all", "", runs)]:
        counts = sum((run.counts for run in own), Counter())
        words = [counts[it] for it in OUTCOMES] + [sum(len(run.violations) for run in own)]
        faults = len({run.fault for run in own} - {"none"})
        came = f"{counts['datagrams that came']} of {counts['datagrams']}"
        if own:
            yield f"| {name} | {wans} | {faults} | {' | '.join(map(str, words))} | {came} |"


HEAD = (
    "| way | fault | transfers | as scripted | cut by a kill | refused in a fault | violations "
    "| datagrams that came | s | |\n|---|---|---|---|---|---|---|---|---|---|"
)


def plan(args):
    if args.short:
        return [("intercepted", "outage"), ("socks", "kill hub"), ("tls", "reload")]
    return [
        (way, fault)
        for fault in FAULTS
        for way in WAYS
        if fault in WAYS[way].faults
        and (not args.way or way in args.way)
        and (not args.fault or fault in args.fault)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--way", action="append", choices=list(WAYS))
    parser.add_argument("--fault", action="append", choices=FAULTS)
    parser.add_argument("--transfers", type=int, default=6000, help="of all runs together")
    parser.add_argument("--seconds", type=float, help="no run begins after this time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beds", type=int, default=3, help="runs at a time")
    parser.add_argument("--name", default="bpaudit", help="of the namespaces")
    parser.add_argument("--json", action="store_true", help="one object in place of the table")
    parser.add_argument("--keep", action="store_true", help="the journals of every run")
    parser.add_argument("--short", action="store_true", help="three runs, in a minute")
    args = parser.parse_args()
    if lacking := b.lacks():
        print(f"skipped: the audit of transfers needs {lacking}", file=sys.stderr)
        return 2 if not args.short or os.environ.get("BENTPIPE_REQUIRE") == "all" else 0
    cells = plan(args)
    if not cells:
        parser.error("no such way has this fault")
    each = 60 if args.short else -(-args.transfers // len(cells))
    began, printing, runs, stopping = time.monotonic(), threading.Lock(), [], threading.Event()
    names = [f"{args.name}{number}" for number in range(args.beds)]
    for number in (signal.SIGINT, signal.SIGTERM):
        # Those that run end, and their namespaces with them.
        signal.signal(number, lambda *_: stopping.set())

    def one(cell):
        if stopping.is_set() or args.seconds and time.monotonic() - began > args.seconds:
            return
        with printing:
            name = names.pop()
        run = Run(*cell, each, args.seed, name, args.keep).execute()
        with printing:
            names.append(name)
            runs.append(run)
            if not args.json:
                print(run.row(), flush=True)

    if not args.json:
        print(HEAD)
    with ThreadPoolExecutor(args.beds) as pool:
        list(pool.map(one, cells))
    counts = sum((run.counts for run in runs), Counter())
    violations = sum(len(run.violations) for run in runs)
    failed = sum(bool(run.failed) for run in runs)
    if args.json:
        total = {**counts, "violations": violations, "failed": failed, "seed": args.seed}
        print(json.dumps({"runs": [run.data() for run in runs], "total": total}))
    else:
        print("", *of_ways(runs), sep="\n")
        print(
            f"\n{len(runs)} of {len(cells)} runs, seed {args.seed}: {counts['transfers']} transfers, "
            f"{counts['as scripted']} as scripted, {counts['cut by a kill']} cut by a kill, "
            f"{counts['refused in a fault']} refused in a fault; {counts['datagrams that came']} "
            f"datagrams of {counts['datagrams']} came; {violations} violations"
            + (f", {failed} runs could not be made" if failed else "")
        )
    return 1 if violations or failed else 0


if __name__ == "__main__":
    sys.exit(main())
