#!/usr/bin/env python3
"""The table of fidelity/README.md from `fidelity/run.py --json`, which it reads from its input."""

import json
import math
import sys


def within(cells: list[dict], share: float) -> float:
    return 100 * sum(abs(cell["ratio"] - 1) <= share for cell in cells) / len(cells)


def main() -> None:
    cells = json.load(sys.stdin)["cells"]
    print("| mechanism | cells | geometric mean | within 5% | within 10% |\n|---|---|---|---|---|")
    for mechanism in dict.fromkeys(cell["mechanism"] for cell in cells):
        own = [cell for cell in cells if cell["mechanism"] == mechanism]
        mean = math.exp(math.fsum(math.log(cell["ratio"]) for cell in own) / len(own))
        print(
            f"| {mechanism} | {len(own)} | {mean:.4f} | {within(own, 0.05):.1f}% | {within(own, 0.1):.1f}% |"
        )
    far = sorted(str(cell["cell"]) for cell in cells if not cell["near"])
    print(f"{len(cells)} cells, {within(cells, 0.05):.1f}% within 5%, {len(far)} beyond 10%")
    print("\n".join(far))


if __name__ == "__main__":
    main()
