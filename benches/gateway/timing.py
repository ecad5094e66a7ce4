#!/usr/bin/env python3
"""Times of new connections through two boxes over the emulated satellite, as a Markdown table.

A client in one namespace asks a server in another for N bytes, over a connection of its own
through the terminal's CONNECT listener, on an association that stands. Each cell is the median
of several, with the smallest and the largest in brackets.

    timing.py --runs 5
    timing.py --cells bulk --runs 100

Its exit status is 1 where a median is above the longest time that is accepted.
"""

import argparse
import json
import socket
import statistics
import sys
import threading
import time
from pathlib import Path

from connect import open_to, result, start

HERE = Path(__file__).resolve()
PORT = 9000
SIZES = {"100 kB": 100_000, "1 MB": 1_000_000, "10 MB": 10_000_000}
# Rate, loss, and the longest times that are accepted, s: first byte, 100 kB, 1 MB, 10 MB.
CELLS = {
    "20": ("20 Mbit/s", "0%", (0.56, 0.65, 1.1, 4.9)),
    "20-lossy": ("20 Mbit/s", "1%", (None, None, None, 6.0)),
    "2": ("2 Mbit/s", "0%", (None, 1.05, 4.9, 43.0)),
}
RTT_S = 0.55
# Bytes on the wire for a byte of the application, of 1500: IP 20, UDP 8, QUIC about 26.
WIRE = 1500 / (1500 - 54)
DOWNLOADS = 20
BESIDE = 0.050


def serve():
    def one(connection):
        with connection:
            asked = b""
            while not asked.endswith(b"\n"):
                more = connection.recv(100)
                if not more:
                    return
                asked += more
            left = int(asked)
            block = bytes(65536)
            try:
                while left:
                    left -= connection.send(block[:left])
            except OSError:
                pass

    listener = socket.create_server(("0.0.0.0", PORT), backlog=256)
    while True:
        threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()


def fetch(proxy, server, size):
    """Times to the first and to the last byte, s."""
    began = time.monotonic()
    connection, _ = open_to(proxy, server, patience=300)
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"{size}\n".encode())
        first, got = None, 0
        while got < size:
            more = connection.recv(1 << 20)
            if not more:
                raise OSError(f"{got} of {size} bytes")
            first = first or time.monotonic() - began
            got += len(more)
    return first, time.monotonic() - began


def ask(proxy, server, sizes, runs, bulk):
    """What a client measures, as JSON."""
    times = []

    def download():
        while True:
            try:
                fetch(proxy, server, 50_000_000)
            except OSError:
                time.sleep(0.1)

    fetch(proxy, server, 1000)
    alone = [fetch(proxy, server, 10_000)[1] for _ in range(20)] if bulk else []
    for _ in range(bulk):
        threading.Thread(target=download, daemon=True).start()
    if bulk:
        time.sleep(6)
    for size in sizes:
        for _ in range(runs):
            times.append((size, *fetch(proxy, server, size)))
            time.sleep(0.05)
    json.dump({"times": times, "alone": alone}, sys.stdout)


def measure(link, sizes, runs, bulk=0, name="timing", more=None):
    """The times of a client, and the counters of the boxes at the end. `more` is as in `boxes`."""
    from boxes import CONNECT, boxes, by_connect, stop
    from topology import SERVER, TERMINAL, Topology

    with Topology(name, link) as net:
        net.start("server", [sys.executable, HERE, "--serve"])
        made = boxes(net, by_connect(), more)
        try:
            parts = [(TERMINAL, CONNECT), (SERVER, PORT), sizes, runs, bulk]
            found = result(start(net, "client", HERE, "--ask", *parts))
            found["counters"] = {role: box.status()["counters"] for role, box in made.items()}
            return found
        finally:
            stop(made)


over = []


def cell(values, bar):
    text = f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"
    # The first byte cannot come before the round trip; a hundredth is what is printed.
    if bar is None or round(statistics.median(values), 2) <= bar:
        return text
    over.append(bar)
    return f"**{text}** over {bar}"


def bound(rate):
    """The least times over an idle link: a round trip, and the bytes at the rate of the link."""
    yield f"{RTT_S:.2f}"
    for size in SIZES.values():
        yield f"{RTT_S + size * 8 * WIRE / rate:.2f}"


def table(names, runs):
    from topology import Link

    print("| link | first byte | 100 kB | 1 MB | 10 MB |\n|---|---|---|---|---|")
    for name in names:
        rate, loss, bars = CELLS[name]
        times = measure(Link(rate=rate, loss=loss), list(SIZES.values()), runs)["times"]
        row = [cell([first for _, first, _ in times], bars[0])]
        for size, bar in zip(SIZES.values(), bars[1:]):
            row.append(cell([last for asked, _, last in times if asked == size], bar))
        lost = f", {loss} lost each way" if loss != "0%" else ""
        print(f"| {rate}{lost} | {' | '.join(row)} |", flush=True)
    print(f"| the bound at 20 Mbit/s | {' | '.join(bound(20e6))} |", flush=True)


def beside(runs):
    from topology import Link

    found = measure(Link(), [10_000], runs, DOWNLOADS)
    times = sorted(last for _, _, last in found["times"])
    alone = statistics.median(found["alone"])
    late = times[min(len(times) - 1, int(len(times) * 0.99))] - alone
    verdict = "" if late <= BESIDE else f", over {BESIDE * 1000:.0f} ms"
    if verdict:
        over.append(BESIDE)
    print(
        f"\n10 kB beside {DOWNLOADS} downloads: {alone * 1000:.0f} ms on the idle link; beside them "
        f"{statistics.median(times) * 1000:.0f} ms, 99% within {late * 1000:.0f} ms of it{verdict} "
        f"({len(times)} requests)",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cells", nargs="*", default=[*CELLS, "bulk"], choices=[*CELLS, "bulk"])
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve()
    elif args.ask:
        proxy, server, sizes, runs, bulk = json.loads(args.ask)
        ask(tuple(proxy), tuple(server), sizes, runs, bulk)
    else:
        names = [name for name in args.cells if name != "bulk"]
        if names:
            table(names, args.runs)
        if "bulk" in args.cells:
            beside(20 * args.runs)
        sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
