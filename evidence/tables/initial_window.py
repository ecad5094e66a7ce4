#!/usr/bin/env python3
"""Table 8 of Marchese (2006), an initial window of 6 with 1% loss, in ns-2: the mean of 200 transfers of
1 Mbyte at 1 and 2 Mbit/s, for a sink that delays ACKs by 200 ms, and by 40 ms. It needs ns-2.35."""

import random
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SCRIPT = Path(__file__).with_suffix(".tcl")
RUNS = 200


def time(rate: str, delay: str, seed: int) -> float:
    """Seconds of one transfer."""
    # ns-2's streams of seeds that are small multiples of each other resemble each other.
    drawn = random.Random(seed).randrange(1, 2**31 - 1)
    options = ["--rate", rate, "--delack", delay, "--seed", str(drawn)]
    done = subprocess.run(["ns", SCRIPT, *options], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def main() -> int:
    with ThreadPoolExecutor() as pool:
        for delay in ("0.2", "0.04"):
            for rate in ("1", "2"):
                seeds = range(1, RUNS + 1)
                times = list(pool.map(lambda seed: time(rate, delay, seed), seeds))
                half = 1.96 * statistics.stdev(times) / RUNS**0.5
                print(
                    f"{rate} Mbit/s, ACKs delayed by {1000 * float(delay):.0f} ms: mean "
                    f"{statistics.mean(times):.1f} s ±{half:.1f}, deviation {statistics.stdev(times):.0f} s"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
