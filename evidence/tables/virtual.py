#!/usr/bin/env python3
"""The simulator beside Linux 6.12 in virtual time: one study, both sides, the tables of the pages.

    evidence/tables/virtual.py modules | modules-lossy | proactive | turns | table-3

The kernel runs in qemu (fidelity/linux/vm.py), where a run has the same result whatever else the
machine does. What it took is kept in evidence/raw/virtual-NAME.csv together with the fingerprints of
what decides it: the study, the kernel's congestion controls and the emulator. While these are the
same the stored runs are used; otherwise, or with --fresh, the kernel is measured again, which needs
qemu. It prints a table as Markdown and lines of summary, which the ledger reads.
"""

import argparse
import csv
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "fidelity/linux"), str(ROOT / "evidence")]

import sources  # noqa: E402
import vm  # noqa: E402

KERNEL = "6.12"
BENTPIPE = ROOT / "target/release/bentpipe"
RAW = ROOT / "evidence/raw"


@dataclass(frozen=True)
class Study:
    """A study, the files that it reads, the runs of each cell, and what is left out of it."""

    file: str
    reads: tuple[str, ...]
    runs: int
    only: tuple[str, ...] = ()


LINUX = "fidelity/linux"
PAPER = "papers/marchese-2006"
STUDIES = {
    "modules": Study(f"{LINUX}/modules.toml", (f"{LINUX}/modules-network.toml",), 3),
    "modules-lossy": Study(f"{LINUX}/modules-lossy.toml", (f"{LINUX}/modules-network.toml",), 8),
    "proactive": Study(
        f"{LINUX}/lossless.toml",
        (f"{LINUX}/network.toml",),
        5,
        ("rate=2 Mbit/s", "file=5 MB", "transport=bp_proactive"),
    ),
    "turns": Study(f"{LINUX}/turns.toml", (f"{LINUX}/modules-network.toml",), 5),
    "table-3": Study(
        f"{PAPER}/table-3.toml",
        (f"{PAPER}/emulator.toml", f"{PAPER}/delayed-ack.toml", f"{PAPER}/reference"),
        5,
        ("file=10 Kbytes,100 Kbytes,1 Mbyte", "transport=iw2,iw6,mtsi"),
    ),
}

Cell = tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """One run of one cell: seconds, and packets that were sent again."""

    seconds: float
    resent: int


def prepare(study: Study, folder: Path) -> Path:
    """Copies the study and what it reads side by side, as the guest has them; returns the study."""
    for name in study.reads:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / source.name)
    text = (ROOT / study.file).read_text()
    # The runs of a cell start at other times, since without losses they would all be the same.
    text = re.sub(r"^(replications|start_jitter) = .*\n", "", text, flags=re.M)
    more = f'replications = {study.runs}\nstart_jitter = "100 ms"\n'
    text = re.sub(r"^name = .*\n", lambda name: name[0] + more, text, count=1, flags=re.M)
    path = folder / Path(study.file).name
    path.write_text(text)
    return path


def options(study: Study) -> list[str]:
    return [
        "--runs",
        str(study.runs),
        *(word for part in study.only for word in ("--only", part)),
    ]


def read(path: Path, axes: list[str]) -> dict[Cell, list[Run]]:
    """The runs of each cell, in the order of their seeds."""
    runs: dict[Cell, list[Run]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            cell = tuple(row[f"axis_{a}"] if f"axis_{a}" in row else row[a] for a in axes)
            seconds = float(row["transfer_time_s"] or "inf")
            runs.setdefault(cell, []).append(Run(seconds, int(row["retransmissions"])))
    return runs


def of_kernel(study: Study, file: Path, axes: list[str]) -> dict[Cell, list[Run]]:
    """Runs the study in the guest."""
    words = " ".join(f"'{word}'" for word in options(study))
    script = f"bentpipe study {file.name} --on linux --out /root/results {words}"
    with tempfile.TemporaryDirectory() as out:
        printed = vm.run(KERNEL, script, sorted(file.parent.iterdir()), out, timeout=7200)
        found = list(Path(out).glob("*/runs.csv"))
        if not found:
            raise vm.CannotRun(f"the guest wrote no runs:\n{printed[-2000:]}")
        return read(found[0], axes)


def of_simulator(study: Study, file: Path, axes: list[str]) -> dict[Cell, list[Run]]:
    with tempfile.TemporaryDirectory() as out:
        command = [str(BENTPIPE), "study", str(file), "--out", out, *options(study)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise vm.CannotRun(f"{file.name} could not be simulated:\n{done.stderr}")
        return read(next(Path(out).glob("*/runs.csv")), axes)


def decides(study: Study) -> str:
    """The fingerprints of what decides the kernel's runs."""
    parts = ("kernel", "emulator", study.file, *(r for r in study.reads if (ROOT / r).is_file()))
    return " ".join(f"{part}={sources.fingerprint(part)}" for part in parts)


def stored(name: str, study: Study) -> dict[Cell, list[Run]] | None:
    """The kernel's stored runs, if what decides them is still the same."""
    path = RAW / f"virtual-{name}.csv"
    if not path.exists():
        return None
    first, *lines = path.read_text().splitlines()
    if first != f"# {decides(study)}":
        return None
    runs: dict[Cell, list[Run]] = {}
    for *cell, seconds, resent in list(csv.reader(lines))[1:]:
        runs.setdefault(tuple(cell), []).append(Run(float(seconds), int(resent)))
    return runs


def store(name: str, study: Study, axes: list[str], runs: dict[Cell, list[Run]]) -> None:
    with (RAW / f"virtual-{name}.csv").open("w", newline="") as file:
        file.write(f"# {decides(study)}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*axes, "seconds", "resent"])
        for cell, own in runs.items():
            writer.writerows([*cell, run.seconds, run.resent] for run in own)


def percent(ratio: float) -> str:
    """A deviation with its sign; `0.0%` has none."""
    return f"{100 * ratio:+.1f}%".replace("+0.0%", "0.0%").replace("-0.0%", "0.0%")


def mean(runs: list[Run]) -> float:
    return statistics.mean(run.seconds for run in runs)


def seconds(times: Sequence[float]) -> str:
    """The mean, and how far the runs lie apart where that is worth a word."""
    low, high = min(times), max(times)
    apart = f" ({low:.2f} to {high:.2f})" if high - low >= 0.05 else ""
    return f"{statistics.mean(times):.3f}{apart}"


def flat(ours: dict[Cell, list[Run]], theirs: dict[Cell, list[Run]]) -> list[str]:
    """A row a cell: means of both sides, deviation, packets sent again a run."""
    lines = [
        f"| cell | simulated [s] | on Linux {KERNEL} [s] | | sent again, simulated | on Linux |",
        "|---|---|---|---|---|---|",
    ]
    for cell, own in theirs.items():
        again = [statistics.mean(r.resent for r in side) for side in (ours[cell], own)]
        lines.append(
            f"| {', '.join(cell)} | {seconds([r.seconds for r in ours[cell]])} "
            f"| {seconds([r.seconds for r in own])} "
            f"| {percent(mean(ours[cell]) / mean(own) - 1)} | {again[0]:.4g} | {again[1]:.4g} |"
        )
    return lines


def printed_times() -> dict[Cell, float]:
    """Table 3 of the paper."""
    with (ROOT / PAPER / "reference/table-3.csv").open(newline="") as file:
        return {
            (*row["row"].split(" / "), row["column"]): float(row["value"])
            for row in csv.DictReader(file)
        }


def beside_print(theirs: dict[Cell, list[Run]]) -> list[str]:
    """Table 3: printed, the median on Linux, the deviation; and a line of summary."""
    paper = printed_times()
    columns = list(dict.fromkeys(cell[2] for cell in theirs))
    short = {"TCP IW=2 buf=64Kbytes": "IW 2", "TCP IW=6 buf=320Kbytes": "IW 6", "TCP MTSI": "MTSI"}
    lines = ["| | " + " | | | ".join(short[c] for c in columns) + " | | |"]
    lines.append("|---" * (1 + 3 * len(columns)) + "|")
    off = []
    for row in dict.fromkeys(cell[:2] for cell in theirs):
        words = []
        for column in columns:
            ours = statistics.median(r.seconds for r in theirs[(*row, column)])
            off.append(ours / paper[(*row, column)] - 1)
            words.append(f"{paper[(*row, column)]:.2f} | {ours:.2f} | {percent(off[-1])}")
        lines.append(f"| {row[0].replace('K', 'k')} / {row[1]} | {' | '.join(words)} |")
    sizes = [abs(o) for o in off]
    lines.append(f"{len(off)} cells: mean {statistics.mean(sizes):.1%}, worst {max(sizes):.1%}")
    return lines


def summary(ours: dict[Cell, list[Run]], theirs: dict[Cell, list[Run]]) -> list[str]:
    """How far the cells, and their single runs, are from the kernel's."""
    cells = sorted(abs(mean(ours[c]) / mean(own) - 1) for c, own in theirs.items())
    pairs = [(a, b) for cell, own in theirs.items() for a, b in zip(ours[cell], own, strict=True)]
    runs = sorted(abs(a.seconds / b.seconds - 1) for a, b in pairs)
    same = sum(a.resent == b.resent for a, b in pairs)
    lines = [
        f"{len(cells)} cells: mean {statistics.mean(cells):.1%}, worst {cells[-1]:.1%}",
        f"{len(runs)} runs: median {statistics.median(runs):.2%}, worst {runs[-1]:.1%}; "
        f"{same} send as many packets again",
    ]
    for control in dict.fromkeys(cell[-1] for cell in theirs):
        own = sorted(
            (abs(mean(ours[c]) / mean(theirs[c]) - 1) for c in theirs if c[-1] == control),
            reverse=True,
        )
        lines.append(f"{control}: worst {own[0]:.1%}, least {own[-1]:.1%}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=STUDIES)
    parser.add_argument("--fresh", action="store_true", help="measure the kernel again")
    arguments = parser.parse_args()
    study = STUDIES[arguments.name]
    axes = [a["name"] for a in tomllib.loads((ROOT / study.file).read_text())["axis"]]
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = prepare(study, Path(folder))
            theirs = None if arguments.fresh else stored(arguments.name, study)
            if theirs is None:
                theirs = of_kernel(study, file, axes)
                store(arguments.name, study, axes, theirs)
            if arguments.name == "table-3":
                print("\n".join(beside_print(theirs)))
                return 0
            ours = of_simulator(study, file, axes)
    except (vm.CannotRun, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(flat(ours, theirs) + summary(ours, theirs)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
