#!/usr/bin/env python3
"""Time of a page where users have terminals with return links of their own, and where they share one.

As a table for docs/questions.md: `terminals.py [BENTPIPE]`.
"""

import json
import subprocess
import sys

BENTPIPE = sys.argv[1] if len(sys.argv) > 1 else "target/release/bentpipe"
QUESTION = (
    "--users 40 --rate 50Mbit/s --traffic web --transport cubic,bbr --pep none,split --runs 10"
)
CASES = [(8, "1Mbit/s"), (1, "8Mbit/s"), (8, "40kbit/s"), (1, "320kbit/s")]
ROWS = [("none", "cubic"), ("split", "cubic"), ("none", "bbr"), ("split", "bbr")]


def times(terminals: int, back: str) -> list[str]:
    """The mean time of a page of each row, with half of its 95% interval."""
    words = [*QUESTION.split(), "--terminals", str(terminals), "--return-rate", back]
    command = [BENTPIPE, "compare", *words, "--json"]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    rows = {(row["pep"], row["transport"]): row for row in json.loads(ran.stdout)["rows"]}
    found = [rows[name]["cells"][0]["time_s"] for name in ROWS]
    return [f"{time['mean']:.1f} ± {time['ci95']:.1f} s" for time in found]


def main() -> None:
    print("| terminals | back from each | cubic | cubic, split | bbr | bbr, split |")
    print("|---|---|---|---|---|---|")
    for terminals, back in CASES:
        rate = back.replace("kbit", " kbit").replace("Mbit", " Mbit")
        print(f"| {terminals} | {rate} | {' | '.join(times(terminals, back))} |")


if __name__ == "__main__":
    main()
