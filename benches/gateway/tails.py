#!/usr/bin/env python3
"""Small transfers over a satellite that loses 1% of the packets each way, with repairs and without.

    tails.py
    tails.py --requests 100 --sizes 10000

A client asks a server for so many bytes, each time over a connection of its own through two boxes
(20 Mbit/s, 550 ms, CONNECT), one after the other, on an idle link and beside two downloads. The beds
with `coding = true` and with `false` run at the same time, each in several copies whose losses differ.
The first requests, by which the boxes see that packets are lost, do not count; how many is fixed.
Exit status: 1 where not 99% of the requests for 10 kB on the idle link take less than 0.75 s; 2 could not
run; 0 otherwise. As root.
"""

import argparse
import concurrent.futures
import statistics
import sys

from lost import lacks

SIZES = {1_000: "1 kB", 10_000: "10 kB", 100_000: "100 kB"}
LOSS = "1%"
COPIES = 4
DOWNLOADS = {"idle link": 0, "beside 2 downloads": 2}
# Requests for 10 kB in each copy that only show that packets are lost: about 600 packets.
FIRST = 60
BAR = 0.75


def bed(downloads, size, requests, coding, copy):
    """One bed: the times of its requests, and the packets that its boxes have restored."""
    from timing import measure
    from topology import Link

    name = f"tails{'c' if coding else 'p'}{copy}"
    more = {"tunnel": f"coding = {'true' if coding else 'false'}"}
    sizes = [10_000] * FIRST + [size] * requests
    found = measure(
        Link(loss=LOSS, seed=100 * downloads + copy + 1), sizes, 1, downloads, name, more
    )
    times = [last for _, _, last in found["times"][FIRST:]]
    counters = found["counters"].values()
    return times, [sum(it[key] for it in counters) for key in ("packets_restored", "repairs_sent")]


def row(link, size, requests):
    """The words of both beds, and the 99th percentile with repairs."""
    each = requests // COPIES
    cases = [(coding, copy) for coding in (False, True) for copy in range(COPIES)]
    words, late = [], {}
    with concurrent.futures.ProcessPoolExecutor(len(cases)) as pool:
        found = list(pool.map(bed, *zip(*((DOWNLOADS[link], size, each, *it) for it in cases))))
    for coding in (False, True):
        of = [it for it, case in zip(found, cases) if case[0] == coding]
        times = sorted(time for times, _ in of for time in times)
        late[coding] = times[int(0.99 * len(times))]
        words += [f"{statistics.mean(times):.3f}", f"{late[coding]:.2f}"]
        counts = [sum(it) for it in zip(*(counts for _, counts in of))]
    words += [f"{counts[0]}", f"{counts[1]}"]
    return words, late[True]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=800, help="of a row")
    parser.add_argument("--sizes", type=int, nargs="*", choices=list(SIZES), default=list(SIZES))
    args = parser.parse_args()
    if missing := lacks():
        print(f"could not run: it needs {missing}", file=sys.stderr)
        sys.exit(2)
    print(f"{args.requests} requests in each row, {LOSS} of the packets lost each way")
    print("| | | without: mean, s | 99%, s | with repairs: mean, s | 99%, s | restored | repairs |")
    print("|---|---|---|---|---|---|---|---|")
    met = True
    for link in DOWNLOADS:
        for size in args.sizes:
            words, late = row(link, size, args.requests)
            print(f"| {link} | {SIZES[size]} | {' | '.join(words)} |", flush=True)
            met &= late < BAR or (link, size) != ("idle link", 10_000)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
