#!/usr/bin/env python3
"""The simulator against stored transfer times of Linux 6.18: the tables of docs/testbed.md.

    evidence/tables/linux.py lossless | lossy
    evidence/tables/linux.py seeds

It simulates the study of that name in fidelity/linux and compares each cell with what a kernel
took: the seconds that docs/testbed.md printed on 2026-11-22, in two decimals, since the runs behind
them were not stored. It prints the table as Markdown, and lines of summary. `seeds` says how far
means of twenty seeds are from those of two hundred.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "fidelity/linux"))

import compare  # noqa: E402

# What Linux took, and how many runs the simulator makes of a cell.
STUDIES = {"lossless": ("lossless", 1), "lossy": ("lossy", 20)}
FIRST = {"bp_const": "`bp_const` (K = 4)"}


def simulated(study: str, runs: int) -> dict[tuple[str, str, str], list[float]]:
    """Seconds of each run of each cell, in the order of their seeds."""
    return compare.run(compare.BENTPIPE, study, "sim", runs, 1, ["--fresh"])


def seeds() -> None:
    """How far the mean over each twenty seeds is from that over two hundred."""
    most = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(compare.HERE / "network.toml", folder)
        text = (compare.HERE / "lossy.toml").read_text()
        many = text.replace("replications = 20\n", "replications = 200\n")
        assert many != text, "lossy.toml has another number of replications"
        (folder / "lossy.toml").write_text(many)
        command = [compare.BENTPIPE, "study", folder / "lossy.toml", "--out", folder]
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
        cells = compare.read(folder / "linux-lossy/runs.csv")
    for times in cells.values():
        of_all = statistics.mean(times)
        sets = [statistics.mean(times[i : i + 20]) for i in range(0, len(times), 20)]
        most = max(most, *(abs(mean / of_all - 1) for mean in sets))
    print(f"means of 20 seeds are up to {most:.0%} from those of 200")


def percent(ratio: float, bold: float = 1) -> str:
    """The deviation; `0.0%` has no sign."""
    text = f"{ratio:+.1%}".replace("+0.0%", "0.0%").replace("-0.0%", "0.0%")
    return f"**{text}**" if abs(ratio) > bold else text


def table(study: str, ours: dict, theirs: dict, deviation: dict) -> list[str]:
    """The rows of the page."""
    unique = lambda at: list(dict.fromkeys(cell[at] for cell in theirs))
    rates, files, controls = unique(0), unique(1), unique(2)
    of = lambda cell: f"{theirs[cell]:.2f} {percent(deviation[cell], 0.08)}"
    if study == "lossless":
        head = ["control", *(f if i else f"{r}, {f}" for r in rates for i, f in enumerate(files))]
        rows = [
            [FIRST.get(c, f"`{c}`"), *(of((r, f, c)) for r in rates for f in files)]
            for c in controls
        ]
    else:
        head = ["control", *(text for r in rates for text in (r, "on Linux", ""))]
        rows = []
        for c in controls:
            row = [FIRST.get(c, f"`{c}`")]
            for cell in ((r, files[0], c) for r in rates):
                row += [f"{ours[cell]:.2f}", f"{theirs[cell]:.2f}", percent(deviation[cell])]
            rows.append(row)
    lines = ["|" + "---|" * len(head)]
    return (
        ["| " + " | ".join(cells) + " |" for cells in (head, *rows)][:1]
        + lines
        + ["| " + " | ".join(cells) + " |" for cells in rows]
    )


def main() -> int:
    study = sys.argv[1] if len(sys.argv) == 2 else ""
    if study == "seeds":
        seeds()
        return 0
    if study not in STUDIES:
        print(__doc__, file=sys.stderr)
        return 2
    stored, runs = STUDIES[study]
    theirs = compare.stored(stored)
    ours = {cell: statistics.mean(times) for cell, times in simulated(study, runs).items()}
    deviation = {cell: ours[cell] / time - 1 for cell, time in theirs.items()}
    print("\n".join(table(study, ours, theirs, deviation)))
    sizes = sorted(map(abs, deviation.values()), reverse=True)
    print(
        f"{len(sizes)} cells: mean {statistics.mean(sizes):.1%}, worst {sizes[0]:.1%}, then {sizes[1]:.1%}; "
        f"{sum(s <= 0.08 for s in sizes)} within 8%"
    )
    for control in dict.fromkeys(cell[2] for cell in theirs):
        own = sorted((abs(d) for c, d in deviation.items() if c[2] == control), reverse=True)
        print(f"{control}: worst {own[0]:.1%}, then {own[1]:.1%}, least {own[-1]:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
