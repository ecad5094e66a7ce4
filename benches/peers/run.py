#!/usr/bin/env python3
"""Runs one dumbbell in ns-2, ns-3 and bentpipe, and compares what a packet hop costs in each.

All peers run in one go, in turn, repetition by repetition, so that whatever else the machine
does falls on all of them. See README.md beside this file. Python's standard library only.

Exit status: 0 done, 1 a bar was missed, 2 could not run.
"""

import argparse
import json
import os
import platform
import resource
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "target" / "bench-peers"
OURS = "target/release/dumbbell"
NS3_LIBRARIES = (
    "core network internet applications point-to-point traffic-control nix-vector-routing stats"
)

# What an optimised build of ns-3 gains over Debian's package: only ratio / 1.6 may be claimed.
NS3_OPTIMISED = 1.6
# A process slower than this many CPU seconds is run once; one faster than QUICK_S more often.
SLOW_S = 20.0
QUICK_S = 0.5
MEGA = 1e6


@dataclass(frozen=True)
class Cell:
    flows: int
    rate_mbps: int
    loss: float

    def __str__(self):
        loss = f", {self.loss:.0%} loss" if self.loss else ""
        return f"{self.flows} flow{'s' * (self.flows > 1)}, {self.rate_mbps} Mbit/s{loss}"

    def duration_s(self):
        """60 s; longer where 1 % loss keeps few flows so slow that there would be little to time."""
        return max(60.0, 6000.0 / self.flows) if self.loss else 60.0

    def ns3_duration_s(self):
        """Shorter where ns-3 would take many minutes: its send buffer scans its whole window."""
        shorter = {
            (1, 100, False): 20.0,
            (1000, 100, False): 15.0,
            (1000, 100, True): 15.0,
            (1, 1000, False): 8.0,
            (10, 1000, False): 8.0,
            (100, 1000, False): 10.0,
            (1000, 1000, False): 4.0,
            (1000, 1000, True): 4.0,
        }
        return shorter.get((self.flows, self.rate_mbps, self.loss > 0), self.duration_s())


def cell_from(text):
    """'10x100x0.01': 10 flows, 100 Mbit/s, 1 % loss; the loss may be left out."""
    parts = text.split("x")
    try:
        return Cell(int(parts[0]), int(parts[1]), float(parts[2]) if len(parts) > 2 else 0.0)
    except (ValueError, IndexError):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no cell; expected FLOWSxMBPS[xLOSS], as 10x100x0.01"
        ) from None


GRID = [Cell(f, r, p) for r in (10, 100, 1000) for p in (0.0, 0.01) for f in (1, 10, 100, 1000)]
QUICK = [Cell(1, 10, 0.0), Cell(10, 10, 0.01), Cell(100, 10, 0.0)]


# ---- the peers -----------------------------------------------------------------------------------


def options(cell, seconds):
    return ["--flows", str(cell.flows), "--rate", f"{cell.rate_mbps}Mbit/s",
            "--loss", f"{cell.loss:g}", "--duration", f"{seconds:g}s"]  # fmt: skip


def find_ns2():
    program = shutil.which("ns") or shutil.which("ns2")
    if program is None:
        return None, "ns-2 is not installed: apt-get install ns2"
    return [program, str(HERE / "dumbbell.tcl")], None


def build_ns3():
    source, program = HERE / "dumbbell.cc", BUILD / "dumbbell-ns3"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return [str(program)], None
    compiler, includes = shutil.which("g++"), ns3_includes()
    if compiler is None or includes is None:
        return None, "ns-3 is not installed: apt-get install libns3-dev g++ pkg-config"
    BUILD.mkdir(parents=True, exist_ok=True)
    say("building dumbbell.cc against ns-3 ...")
    # Not pkg-config's --libs: Debian's files ask for libraries (GSL) that the package does not need.
    command = [compiler, "-O2", "-std=c++17", *includes, str(source), "-o", str(program)]
    command += [f"-lns3-{name}" for name in NS3_LIBRARIES.split()]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        return None, "ns-3: dumbbell.cc does not compile:\n" + built.stderr[-2000:]
    return [str(program)], None


def ns3_includes():
    """Where its headers are, or None when it is not installed."""
    if not shutil.which("pkg-config"):
        return None
    found = subprocess.run(
        ["pkg-config", "--cflags-only-I", "ns3-core"], capture_output=True, text=True
    )
    return None if found.returncode else found.stdout.split()


def find_ours(command):
    words = shlex.split(command)
    program = shutil.which(words[0]) or shutil.which(str(ROOT / words[0]))
    if program is None:
        return None, f"bentpipe: no {words[0]}: cargo build --release -p dumbbell"
    return [program, *words[1:]], None


# ---- one process ---------------------------------------------------------------------------------


def execute(command, timeout_s):
    """Runs `command` and returns its line of JSON with memory and CPU as the kernel saw them."""
    # A child of this interpreter would inherit the interpreter's peak memory through fork and exec;
    # the small /usr/bin/time in between keeps a small child's figure true.
    timer = "/usr/bin/time"
    before = children_cpu_s()
    with tempfile.NamedTemporaryFile("r") as used:
        process = subprocess.Popen([timer, "-q", "-f", "%M", "-o", used.name, *command],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)  # fmt: skip
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the session that we started, nothing else
            process.communicate()
            return {"error": f"no result within {timeout_s:g} s"}
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        if process.returncode:
            return {"error": f"exit status {process.returncode}: {err.strip()[-300:]}"}
        try:
            result = json.loads(out.strip().splitlines()[-1])
            hops, run, _ = (result[key] for key in ("packet_hops", "run_cpu_s", "setup_cpu_s"))
        except (ValueError, IndexError, KeyError) as fault:
            return {"error": f"no such line of JSON as README.md asks for ({fault!r})"}
        if hops <= 0 or run <= 0:
            return {"error": "counted no packet hops or no CPU time"}
        memory_kb = used.read().split()[-1]
    result["peak_memory_mb"] = int(memory_kb) * 1024 / MEGA
    result["process_cpu_s"] = children_cpu_s() - before
    return result


def children_cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(commands, repetitions, timeout_s):
    """Runs every (command, simulated seconds) in turn, `repetitions` times; the medians by name."""
    runs = {name: [] for name in commands}
    errors = {}
    for turn in range(3 * repetitions):
        for name, (command, seconds) in commands.items():
            done = runs[name]
            slowest = max((r["setup_cpu_s"] + r["run_cpu_s"] for r in done), default=0.0)
            wanted = (
                1 if slowest > SLOW_S else repetitions if slowest > QUICK_S else 3 * repetitions
            )
            if name in errors or (done and len(done) >= wanted) or (repetitions == 1 and turn):
                continue
            say(f"  {name}: run {turn + 1}", transient=True)
            result = execute(command, timeout_s)
            if "error" in result:
                errors[name] = result["error"]
            else:
                done.append({"duration_s": seconds, **result})
    medians = {}
    for name, done in runs.items():
        if name in errors:
            medians[name] = {"error": errors[name]}
        else:
            medians[name] = median_of(done)
    return medians


def median_of(done):
    row = dict(done[0])
    for key in ("setup_cpu_s", "run_cpu_s", "peak_memory_mb", "process_cpu_s"):
        row[key] = statistics.median(r[key] for r in done)
    row["runs"] = len(done)
    row["run_cpu_s_all"] = [r["run_cpu_s"] for r in done]
    row["hops_per_cpu_s"] = row["packet_hops"] / row["run_cpu_s"]
    row["hops_per_cpu_s_with_setup"] = row["packet_hops"] / (row["run_cpu_s"] + row["setup_cpu_s"])
    unaccounted = row["process_cpu_s"] - row["setup_cpu_s"] - row["run_cpu_s"]
    # Loading a program and GNU time itself take some 2 ms. More is a clock that runs behind.
    row["unaccounted"] = unaccounted > 0.002 + 0.1 * row["process_cpu_s"]
    return row


# ---- a cell --------------------------------------------------------------------------------------


def commands_for(cell, peers, seconds):
    """The processes of one cell and their simulated seconds, by the name of their row."""
    full = seconds or cell.duration_s()
    short = seconds or cell.ns3_duration_s()
    commands = {}
    if "ns-2" in peers:
        commands["ns-2"] = [*peers["ns-2"], *options(cell, full)], full
        if cell.flows >= 1000:
            # Beside the usual set-up (computed routes), the cheapest that a patient user can write.
            commands["ns-2 manual"] = [*commands["ns-2"][0], "--routing", "manual"], full
    if "ns-3" in peers:
        # ns-3 wants its options in one word each.
        words = options(cell, short)
        words = [f"{name}={value}" for name, value in zip(words[::2], words[1::2])]
        commands["ns-3"] = [*peers["ns-3"], *words], short
    if "bentpipe" in peers:
        commands["bentpipe"] = [*peers["bentpipe"], *options(cell, full)], full
        if "ns-3" in peers and short != full:
            commands["bentpipe short"] = [*peers["bentpipe"], *options(cell, short)], short
    return commands


def compare(cell, rows):
    """Ratios of what bentpipe does in a CPU second to what the others do."""
    good = {name: row for name, row in rows.items() if "error" not in row}
    ratios = {}
    for peer in ("ns-2", "ns-2 manual", "ns-3"):
        # A shortened ns-3 is compared with ours over the same simulated seconds.
        ours = good.get(
            "bentpipe short" if peer == "ns-3" and "bentpipe short" in rows else "bentpipe"
        )
        if ours and peer in good:
            for key in ("hops_per_cpu_s", "hops_per_cpu_s_with_setup"):
                ratios[peer, key] = ours[key] / good[peer][key]
    return ratios


HEAD = (f"{'':14} {'simulated':>9} {'hops':>10} {'M hops/CPU s':>12} {'with set-up':>11} {'set-up':>9} "
        f"{'run':>9} {'memory':>8} {'goodput':>9} {'runs':>4}")  # fmt: skip
UNITS = (f"{'':14} {'s':>9} {'':>10} {'':>12} {'':>11} {'CPU s':>9} "
         f"{'CPU s':>9} {'MB':>8} {'Mbit/s':>9}")  # fmt: skip


def show(cell, rows, ratios):
    print(f"\n{cell}")
    for name, row in rows.items():
        if "error" in row:
            print(f"{name:14} {row['error']}")
            continue
        goodput = row.get("goodput_mbps")
        print(f"{name:14} {row['duration_s']:>9g} {row['packet_hops']:>10.0f} "
              f"{row['hops_per_cpu_s'] / MEGA:>12.3f} {row['hops_per_cpu_s_with_setup'] / MEGA:>11.3f} "
              f"{row['setup_cpu_s']:>9.4f} {row['run_cpu_s']:>9.4f} {row['peak_memory_mb']:>8.1f} "
              f"{'-' if goodput is None else format(goodput, '.3f'):>9} {row['runs']:>4}")  # fmt: skip
        if row["unaccounted"]:
            print(f"{'':14} beware: the kernel saw {row['process_cpu_s']:.4f} CPU s in all, "
                  "more than set-up and run account for")  # fmt: skip
    if "bentpipe short" in rows or rows.get("ns-3", {}).get("duration_s", 1e9) < cell.duration_s():
        print(f"{'':14} ns-3 shortened to {cell.ns3_duration_s():g} simulated seconds")
    for peer in ("ns-2", "ns-2 manual", "ns-3"):
        if (peer, "hops_per_cpu_s") in ratios:
            run, whole = ratios[peer, "hops_per_cpu_s"], ratios[peer, "hops_per_cpu_s_with_setup"]
            line = f"{'':14} ours / {peer}: {run:.2f}x on the run, {whole:.2f}x with set-up"
            if peer == "ns-3":
                line += f"; may be claimed: {run / NS3_OPTIMISED:.1f}x (optimised ns-3 is {NS3_OPTIMISED} times faster)"
            print(line)
    check_goodput(rows)


def check_goodput(rows):
    """Peers that disagree on the goodput do not simulate the same thing."""
    goodputs = {name: row["goodput_mbps"] for name, row in rows.items() if row.get("goodput_mbps")}
    for name, reference in (("ns-3", "ns-2"), ("bentpipe", "ns-2"), ("bentpipe short", "ns-3")):
        if name not in goodputs or reference not in goodputs:
            continue
        share = goodputs[name] / goodputs[reference]
        if rows[name]["duration_s"] == rows[reference]["duration_s"] and not 0.75 < share < 1.33:
            print(f"{'':14} beware: {name}'s goodput is {share:.2f} times {reference}'s")


# ---- the bars ------------------------------------------------------------------------------------


def judge(results):
    """One line a bar: its worst cell decides."""
    run, whole = "hops_per_cpu_s", "hops_per_cpu_s_with_setup"

    def ratio(peer, key):
        return lambda c, rows, ratios: ratios.get((peer, key))

    def ours(key):
        return lambda c, rows, ratios: rows.get("bentpipe", {}).get(key)

    bars = [
        ("at least 3x ns-2 on 1 and 10 flows", 3, "x", lambda c: c.flows in (1, 10), ratio("ns-2", run)),
        ("at least 5x ns-2 on 100 flows", 5, "x", lambda c: c.flows == 100, ratio("ns-2", run)),
        ("at least 30x ns-2 on 1000 flows, set-up counted", 30, "x",
         lambda c: c.flows == 1000, ratio("ns-2", whole)),
        ("at least 10 M packet hops per CPU second at 1000 flows, set-up counted", 10 * MEGA, "",
         lambda c: c.flows == 1000, ours(whole)),
        ("at most 50 MB at 1000 flows", -50, " MB", lambda c: c.flows == 1000, ours("peak_memory_mb")),
        ("at least 60x ns-3 (Debian's package) at 10 Mbit/s", 60, "x",
         lambda c: c.rate_mbps == 10, ratio("ns-3", run)),
        ("at least 1000x ns-3 (Debian's package) on one flow at 1 Gbit/s without loss", 1000, "x",
         lambda c: c == Cell(1, 1000, 0.0), ratio("ns-3", run)),
    ]  # fmt: skip
    verdicts = []
    for text, bar, unit, applies, value in bars:
        sign = -1 if bar < 0 else 1  # a negative bar is an upper limit
        found = [(sign * v, c) for c, rows, ratios in results if applies(c)
                 for v in [value(c, rows, ratios)] if v is not None]  # fmt: skip
        if not found:
            verdicts.append({"bar": text, "verdict": "not measured"})
            continue
        worst, cell = min(found, key=lambda pair: pair[0])
        shown = f"{abs(worst) / MEGA:.2f} M" if abs(bar) >= MEGA else f"{abs(worst):.2f}{unit}"
        missed = sum(v < bar for v, _ in found)
        # A cell that gave no figure (an error, a timeout) must not pass for a cell that was fine.
        without = sum(applies(c) for c, _, _ in results) - len(found)
        verdicts.append({"bar": text, "verdict": "FAIL" if missed else "pass", "worst": abs(worst),
                         "shown": shown, "worst_cell": str(cell), "missed": missed, "cells": len(found),
                         "without_figure": without})  # fmt: skip
    return verdicts


# ---- the command ---------------------------------------------------------------------------------


def verify(peers):
    """Holds dumbbell.tcl's hop count against the packets received in a full trace."""
    for cell, seconds in (
        (Cell(2, 10, 0.0), 20.0),
        (Cell(10, 10, 0.01), 60.0),
        (Cell(10, 10, 0.0), 60.0),
    ):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace"
            result = execute([*peers["ns-2"], *options(cell, seconds), "--trace", str(trace)], 300)
            if "error" in result:
                sys.exit(f"ns-2: {result['error']}")
            with open(trace) as lines:
                received = sum(line.startswith("r ") for line in lines)
        hops = result["packet_hops"]
        print(f"{cell}, {seconds:g} s: {hops} hops counted, {received} receive events in the trace "
              f"({hops / received - 1:+.2%})")  # fmt: skip


def say(text, transient=False):
    if not transient:
        print(text, file=sys.stderr)
    elif sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def cpu_model():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="three small cells, one repetition: a smoke test"
    )
    parser.add_argument("--cells", type=lambda t: [cell_from(w) for w in t.split(",")], metavar="CELLS",
                        help="FLOWSxMBPS[xLOSS],... instead of the whole grid, as 1x10,1000x100x0.01")  # fmt: skip
    parser.add_argument("--skip", action="append", default=[], choices=["ns-2", "ns-3", "bentpipe"])
    parser.add_argument("--repetitions", type=int, default=5, metavar="N",
                        help="runs of which the median counts (default 5; three times as many of processes "
                        f"below {QUICK_S} CPU s, one of those above {SLOW_S:g})")  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="simulated seconds of every cell and peer"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=240,
        metavar="S",
        help="limit of one process (default 240 s)",
    )
    parser.add_argument(
        "--ours", default=OURS, metavar="CMD", help=f"bentpipe's side (default {OURS})"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write everything measured to FILE"
    )
    parser.add_argument(
        "--verify", action="store_true", help="check ns-2's hop count against a trace, and stop"
    )
    return parser.parse_args()


def main():
    args = arguments()
    if not Path("/usr/bin/time").exists():
        say("run.py: needs GNU time: apt-get install time")
        return 2
    finders = {"ns-2": find_ns2, "ns-3": build_ns3, "bentpipe": lambda: find_ours(args.ours)}
    peers = {}
    for name, find in finders.items():
        if name in args.skip:
            continue
        command, missing = find()
        if missing:
            say(f"skipped: {missing}")
        else:
            peers[name] = command
    if not peers:
        say("run.py: no peer to run")
        return 2
    if args.verify:
        if "ns-2" not in peers:
            return 2
        verify(peers)
        return 0

    cells = args.cells or (QUICK if args.quick else GRID)
    repetitions = 1 if args.quick else max(1, args.repetitions)
    print(
        f"{cpu_model()}, {os.cpu_count()} CPUs. Only ratios within one run of this mean anything.\n\n{HEAD}\n{UNITS}"
    )
    results = []
    try:
        for cell in cells:
            say(f"{cell} ...", transient=True)
            rows = measure(commands_for(cell, peers, args.seconds), repetitions, args.timeout)
            say("", transient=True)
            ratios = compare(cell, rows)
            show(cell, rows, ratios)
            sys.stdout.flush()
            results.append((cell, rows, ratios))
    except KeyboardInterrupt:
        say("\nstopped: what was measured so far follows")

    verdicts = judge(results)
    print()
    for v in verdicts:
        detail = ""
        if "worst" in v:
            detail = f" (worst: {v['shown']}, {v['worst_cell']}; {v['missed']} of {v['cells']} cells missed it"
            detail += f"; {v['without_figure']} gave no figure)" if v["without_figure"] else ")"
        print(f"{v['verdict']:12} {v['bar']}{detail}")
    if args.json:
        document = {
            "cpu": cpu_model(),
            "cpus": os.cpu_count(),
            "repetitions": repetitions,
            "cells": [{**asdict(cell), "rows": rows,
                       "ratios": {f"{p}: {k}": v for (p, k), v in ratios.items()}}
                      for cell, rows, ratios in results],
            "bars": verdicts,
        }  # fmt: skip
        scratch = args.json.with_name(args.json.name + ".part")
        scratch.write_text(json.dumps(document, indent=1) + "\n")
        scratch.replace(args.json)
    return 1 if any(v["verdict"] == "FAIL" for v in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
