#!/usr/bin/env python3
"""A fade that nobody reports: what transfers get in it, and when the rate is back.

    fade.py
    fade.py --way down --loss 1% --verbose

Two boxes over the emulated satellite (20 Mbit/s, 550 ms) that are told 20 Mbit/s throughout. The
link falls to 2 Mbit/s for 10 s, in both directions, while four transfers in one direction use all
of it. Exit status: 0 at least two thirds of the faded link carried payload and the rate came back
within 5 s, 1 otherwise, 2 could not run.
"""

import argparse
import json
import socket
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from connect import open_to, result, start
from lost import lacks
from topology import Link

HERE = Path(__file__).resolve()
PORT = 9002
TRANSFERS = 4
BIN_S = 0.25
FULL, FADED = 20.0, 2.0
# Seconds of the emulator's time.
FADES, RETURNS, ENDS = 25.0, 35.0, 50.0
# Payload of an IP packet of 1500 bytes.
PAYLOAD = 1446 / 1500


@dataclass(frozen=True)
class Fading(Link):
    def scenario(self):
        text = super().scenario()
        rates = ((0, FULL), (FADES, FADED), (RETURNS, FULL))
        keys = [f'{{ at = "{at} s", rate = "{rate} Mbit/s" }}' for at, rate in rates]
        timeline = "timeline = [\n" + ",\n".join(keys) + "\n]\n"
        return text.replace('queue = "', timeline + 'queue = "', 1)


class Bins:
    """Bytes by time."""

    def __init__(self):
        self.counts = {}
        self.lock = threading.Lock()

    def add(self, count):
        at = int(time.monotonic() / BIN_S)
        with self.lock:
            self.counts[at] = self.counts.get(at, 0) + count


def drain(connection, bins):
    while more := connection.recv(1 << 16):
        bins.add(len(more))


def serve():
    """`D\\n`: sends without end; `U\\n`: reads; `?\\n`: what it has read, by time."""
    read = Bins()

    def one(connection):
        try:
            with connection:
                asked = connection.recv(2)
                if asked == b"D\n":
                    while True:
                        connection.sendall(bytes(1 << 16))
                elif asked == b"U\n":
                    drain(connection, read)
                elif asked == b"?\n":
                    connection.sendall(json.dumps(read.counts).encode())
        except OSError:
            pass

    listener = socket.create_server(("0.0.0.0", PORT), backlog=256)
    while True:
        threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()


def ask(proxy, server, way, seconds):
    """The client's part, in its namespace: bytes by time, as JSON."""
    read = Bins()

    def one():
        connection, got = open_to(proxy, server, b"D\n" if way == "down" else b"U\n", 60)
        read.add(len(got))
        try:
            if way == "down":
                drain(connection, read)
            while True:
                connection.sendall(bytes(1 << 16))
        except OSError:
            pass

    for _ in range(TRANSFERS):
        threading.Thread(target=one, daemon=True).start()
    time.sleep(seconds)
    if way == "down":
        json.dump(read.counts, sys.stdout)


def mbit(bins, begin, end):
    """Payload between two times, Mbit/s."""
    first, last = round(begin / BIN_S), round(end / BIN_S)
    return sum(bins.get(at, 0) for at in range(first, last)) * 8e-6 / (end - begin)


def back(bins, begin, end, full):
    """Seconds until a second has nine tenths of the full rate."""
    at = begin
    while at + 1 <= end:
        if mbit(bins, at, at + 1) >= 0.9 * full:
            return at - begin
        at += BIN_S
    return None


def measure(way, queue, loss, verbose):
    from boxes import CONNECT, boxes, by_connect, stop
    from topology import SERVER, TERMINAL, Topology

    link = Fading(rate="20 Mbit/s", rtt="550 ms", loss=loss, queue=queue)
    with Topology("fade", link) as net:
        server = net.start("server", [sys.executable, HERE, "--serve"])
        made = boxes(net, by_connect())
        try:
            left = net.emulated + ENDS - time.monotonic()
            parts = [(TERMINAL, CONNECT), (SERVER, PORT), way, left]
            client = start(net, "client", HERE, "--ask", *parts)
            verified = []
            sender = made["hub" if way == "down" else "terminal"]
            while client.poll() is None:
                at = time.monotonic() - net.emulated
                status = sender.status() or {}
                now = status.get("verified_bits_per_second")
                if FADES + 3 < at < RETURNS and now is not None:
                    verified.append(now / 1e6)
                if verbose:
                    print(f"{at:.1f} s: verified {now}", file=sys.stderr)
                time.sleep(0.5)
            counted = client if way == "down" else start(net, "server", HERE, "--counts")
            bins = {int(at): count for at, count in result(counted).items()}
            assert server.poll() is None
            times = [net.emulated + at for at in (FADES, RETURNS, ENDS)]
            if verbose:
                for at in range(int(FADES) - 4, int(ENDS)):
                    got = mbit(bins, net.emulated + at, net.emulated + at + 1)
                    print(f"{at} s: {got:.2f} Mbit/s", file=sys.stderr)
                for role, box in made.items():
                    print(f"--- {role}\n{box.log()}", file=sys.stderr)
            before = mbit(bins, times[0] - 8, times[0])
            faded = mbit(bins, times[0] + 0.5, times[1])
            return before, faded, back(bins, times[1], times[2], before), verified
        finally:
            stop(made)


def counts():
    with socket.create_connection(("127.0.0.1", PORT), 10) as connection:
        connection.sendall(b"?\n")
        got = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    sys.stdout.write(got.decode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--way", action="append", choices=["down", "up"])
    parser.add_argument("--queue", action="append", help="of the emulated link")
    parser.add_argument("--loss", action="append")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--counts", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve()
    if args.counts:
        counts()
        return 0
    if args.ask:
        proxy, server, way, seconds = json.loads(args.ask)
        ask(tuple(proxy), tuple(server), way, seconds)
        return 0
    if lacking := lacks():
        print(f"a fade needs {lacking}", file=sys.stderr)
        return 2
    print(
        "| transfers | queue | lost | before, Mbit/s | in the fade, Mbit/s | part of it "
        "| verified | back after, s |"
    )
    print("|---" * 8 + "|")
    bad = False
    for way in args.way or ("down", "up"):
        for queue in args.queue or ("1 BDP", "100 packets"):
            for loss in args.loss or ("0%", "1%"):
                before, faded, after, verified = measure(way, queue, loss, args.verbose)
                part = faded / (FADED * PAYLOAD)
                bad |= part < 2 / 3 or after is None or after > 5
                seen = f"{min(verified):.1f} to {max(verified):.1f}" if verified else "-"
                print(
                    f"| {way} | {queue} | {loss} | {before:.2f} | {faded:.2f} | {100 * part:.0f}% "
                    f"| {seen} | {'-' if after is None else f'{after:.1f}'} |",
                    flush=True,
                )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
