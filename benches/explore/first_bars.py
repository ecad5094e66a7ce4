#!/usr/bin/env python3
"""How soon the explorer answers: the first bars after a change, and the whole answer.

    python3 benches/explore/first_bars.py target/release/bentpipe

Starts `bentpipe explore` and asks its server 50 different questions as a page does whose
sliders move: each new question ends the one before. Prints the median and the slowest of
the times to the first line, to the first bars, and until every row has a bar. Then it asks
a few questions to the end, beside `bentpipe compare` with the same options, and measures
the processor time that the server takes after a client went away.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

#: Median time to the first bars that a change may take, seconds.
BAR_S = 0.3

#: Changes of a question, as sliders make them.
CHANGES = 50

Options = list[tuple[str, str]]


class Explorer:
    """A server, and a client with its cookie."""

    def __init__(self, command: str) -> None:
        environment = dict(os.environ, XDG_STATE_HOME=tempfile.mkdtemp(prefix="bentpipe-"))
        self.process = subprocess.Popen(
            [command, "explore", "--no-open", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        assert self.process.stdout is not None
        address = self.process.stdout.readline()
        found = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\w+)", address)
        if found is None:
            sys.exit(f"no address: {address!r}")
        self.port, self.token = int(found[1]), found[2]

    def ask(
        self, options: Options, tab: str
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Asks a question; the connection is open until it is closed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        head = {
            "Content-Type": "application/json",
            "Cookie": f"bentpipe-{self.port}={self.token}",
            "Origin": f"http://127.0.0.1:{self.port}",
        }
        connection.request("POST", "/api/link", json.dumps({"options": options, "tab": tab}), head)
        return connection, connection.getresponse()

    def processor_s(self) -> float:
        """Processor time that the server has taken."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


def lines(response: http.client.HTTPResponse) -> Iterator[dict]:
    """The lines of an answer."""
    while line := response.readline():
        yield json.loads(line)


def changes() -> list[Options]:
    """50 questions, no two alike, every fifth with 20 users at 50 Mbit/s."""
    found: list[Options] = []
    for i in range(CHANGES):
        if i % 5 == 4:
            rest = [("rate", "50 Mbit/s"), ("users", "20"), ("rtt", f"{540 + i} ms")]
        else:
            rest = [
                ("rate", f"{2 + i % 20} Mbit/s"),
                ("rtt", f"{500 + 7 * i} ms"),
                ("loss", f"{(i % 7) * 0.1:.1f}%"),
                ("users", str(1 + i % 3)),
            ]
        found.append(rest)
    return found


def first_bars(explorer: Explorer) -> list[tuple[float, float, float]]:
    """Times to the first line, the first bars and all bars after each change."""
    times = []
    for options in changes():
        began = time.perf_counter()
        connection, response = explorer.ask(options, "slider")
        first = bars = 0.0
        missing: set[tuple[int, int]] = set()
        for line in lines(response):
            now = time.perf_counter() - began
            if "begin" in line:
                first = now
                begin = line["begin"]
                sizes = range(len(begin["sizes_bytes"]))
                missing = {(row["row"], size) for row in begin["rows"] for size in sizes}
            elif "rows" in line:
                bars = bars or now
                missing -= {(row["row"], row["size"]) for row in line["rows"]}
                if not missing:
                    times.append((first, bars, now))
                    break
            elif "error" in line:
                sys.exit(f"{options}: {line}")
        connection.close()
    return times


def whole(explorer: Explorer, command: str, options: Options) -> tuple[float, float]:
    """Time to the whole answer: of the server, and of the command."""
    began = time.perf_counter()
    connection, response = explorer.ask(options, "whole")
    is_done = any("answer" in line for line in lines(response))
    ours = time.perf_counter() - began
    connection.close()
    assert is_done
    words = [f"--{name}={value}" for name, value in options]
    began = time.perf_counter()
    subprocess.run([command, "compare", "--json", *words], check=True, stdout=subprocess.DEVNULL)
    return ours, time.perf_counter() - began


def left_running(explorer: Explorer, options: Options) -> float:
    """Processor time that is taken from 100 ms to 1.1 s after a client went away."""
    connection, response = explorer.ask(options, "gone")
    for line in lines(response):
        if "rows" in line:
            break
    # The response holds the socket as well.
    response.close()
    connection.close()
    time.sleep(0.1)
    before = explorer.processor_s()
    time.sleep(1.0)
    return explorer.processor_s() - before


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "target/release/bentpipe"
    explorer = Explorer(command)
    try:
        times = first_bars(explorer)
        for name, column in zip(("first line", "first bars", "all bars"), zip(*times), strict=True):
            middle, most = statistics.median(column), max(column)
            print(
                f"{name}: median {1e3 * middle:.0f} ms, slowest {1e3 * most:.0f} ms of {len(column)}"
            )
        heavy = [bars for i, (_, bars, _) in enumerate(times) if i % 5 == 4]
        print(
            f"first bars of 20 users at 50 Mbit/s: median {1e3 * statistics.median(heavy):.0f} ms"
        )
        for options in (
            [("rate", "10 Mbit/s"), ("rtt", "601 ms")],
            [("rate", "50 Mbit/s"), ("users", "20"), ("pep", "none,split")],
            [("traffic", "web"), ("users", "5")],
        ):
            ours, theirs = whole(explorer, command, options)
            print(f"whole answer to {options}: {ours:.2f} s; bentpipe compare {theirs:.2f} s")
        left = left_running(explorer, [("rate", "50 Mbit/s"), ("users", "40")])
        print(f"processor time in the second after a client went away: {1e3 * left:.0f} ms")
    finally:
        explorer.close()
    median = statistics.median(bars for _, bars, _ in times)
    if median > BAR_S:
        sys.exit(
            f"first bars take {1e3 * median:.0f} ms on the median: more than {1e3 * BAR_S:.0f} ms"
        )


if __name__ == "__main__":
    main()
