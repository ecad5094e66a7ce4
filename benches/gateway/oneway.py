#!/usr/bin/env python3
"""UDP lost in one direction: requests begun at any time during the loss.

    oneway.py
    oneway.py --lost to --seconds 20 --verbose

Two boxes over the emulated satellite (20 Mbit/s, 600 ms). A client begins a request for 10 kB
every 0.35 s, each over a connection of its own through the terminal's CONNECT listener. UDP is then
lost in one direction of the satellite, TCP is not. A request has failed where its answer has not
come within 15 s. The server counts how often it gets each request: more than once is never right.
Exit status: 0 all answered within 5 s, and executed once; 1 otherwise; 2 could not run.
"""

import argparse
import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from connect import open_to, result, start
from lost import lacks

HERE = Path(__file__).resolve()
PORT = 9001
SIZE = 10_000
EACH_S = 0.35
SOON_S = 5.0
PATIENCE_S = 15.0
# Where packets are dropped as they arrive from the satellite.
LOST = {"to": ("hub",), "from": ("terminal",), "both": ("hub", "terminal")}
WORDS = {"to": "terminal to hub", "from": "hub to terminal", "both": "both"}


def serve():
    """Answers a request, `NUMBER\\n`, with 10 kB; `?\\n` with how often each came."""
    seen = Counter()

    def one(connection):
        with connection, contextlib.suppress(OSError):
            asked = b""
            while not asked.endswith(b"\n"):
                more = connection.recv(100)
                if not more:
                    return
                asked += more
            if asked == b"?\n":
                connection.sendall(json.dumps(seen).encode())
                return
            seen[asked.decode().strip()] += 1
            connection.sendall(bytes(SIZE))

    listener = socket.create_server(("0.0.0.0", PORT), backlog=256)
    while True:
        threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()


def request(proxy, server, number):
    """Time to the last byte, s; None where it does not come."""
    began = time.monotonic()
    try:
        connection, got = open_to(proxy, server, f"{number}\n".encode(), PATIENCE_S)
        with connection:
            while True:
                left = began + PATIENCE_S - time.monotonic()
                if left <= 0:
                    return None
                connection.settimeout(left)
                more = connection.recv(1 << 16)
                if not more:
                    break
                got += more
    except OSError:
        return None
    return time.monotonic() - began if len(got) == SIZE else None


def ask(proxy, server, seconds):
    """The client's part, in its namespace: begin and time of each request, as JSON."""
    rows = []

    def one(number, at):
        rows.append((number, at, request(proxy, server, number)))

    began = time.monotonic()
    threads = []
    while (at := time.monotonic() - began) < seconds:
        threads.append(threading.Thread(target=one, args=(len(threads), at)))
        threads[-1].start()
        time.sleep(max(0, began + len(threads) * EACH_S - time.monotonic()))
    for thread in threads:
        thread.join()
    json.dump(sorted(rows), sys.stdout)


def findings(box):
    """What the terminal says of the path."""
    status = box.status() or {}
    lost = {one.get("lost") for one in status.get("associations", [])}
    over = {one.get("over") for one in status.get("associations", [])}
    return sorted(filter(None, lost)), sorted(filter(None, over))


def measure(lost, seconds, before, verbose):
    from boxes import CONNECT, boxes, by_connect, stop
    from topology import SERVER, TERMINAL, Link, Topology

    with Topology("oneway", Link(rate="20 Mbit/s", rtt="600 ms")) as net:
        net.start("server", [sys.executable, HERE, "--serve"])
        made = boxes(net, by_connect())
        try:
            parts = [(TERMINAL, CONNECT), (SERVER, PORT), before + seconds]
            time.sleep(3)
            client = start(net, "client", HERE, "--ask", *parts)
            time.sleep(before)
            begin, fallback, said = time.monotonic(), None, []
            with net.without_udp(LOST[lost]):
                while client.poll() is None and time.monotonic() < begin + seconds:
                    said, over = findings(made["terminal"])
                    if "tls" in over and fallback is None:
                        fallback = time.monotonic() - begin
                    time.sleep(0.05)
                rest = max(0, begin + seconds + PATIENCE_S - time.monotonic())
                with contextlib.suppress(subprocess.TimeoutExpired):
                    client.wait(rest)
            rows = result(client)
            # What was under way over UDP would arrive now.
            time.sleep(5)
            seen = result(start(net, "client", HERE, "--counts", *parts[:2]))
            if verbose:
                for number, at, took in rows:
                    print(f"{number} {at - before:.2f} {took}", file=sys.stderr)
                for role, box in made.items():
                    print(f"--- {role}\n{box.log()}", file=sys.stderr)
            return [row for row in rows if row[1] >= before - 1], seen, fallback, said
        finally:
            stop(made)


def counts(proxy, server):
    connection, got = open_to(proxy, server, b"?\n", 10)
    with connection:
        got += b"".join(iter(lambda: connection.recv(1 << 16), b""))
    sys.stdout.write(got.decode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lost", action="append", choices=list(LOST))
    parser.add_argument("--seconds", type=float, default=50)
    parser.add_argument("--before", type=float, default=5)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    parser.add_argument("--counts", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve()
    if args.ask:
        proxy, server, seconds = json.loads(args.ask)
        ask(tuple(proxy), tuple(server), seconds)
        return 0
    if args.counts:
        counts(*map(tuple, json.loads(args.counts)))
        return 0
    if lacking := lacks():
        print(f"a loss in one direction needs {lacking}", file=sys.stderr)
        return 2
    print(
        "| UDP lost | requests | failed | later than 5 s | longest, s | fallback after, s "
        "| twice | named |"
    )
    print("|---" * 8 + "|")
    bad = False
    for lost in args.lost or LOST:
        rows, seen, fallback, said = measure(lost, args.seconds, args.before, args.verbose)
        times = [took for _, _, took in rows if took is not None]
        failed, late = len(rows) - len(times), sum(took > SOON_S for took in times)
        twice = sum(count > 1 for count in seen.values())
        bad |= bool(failed or late or twice)
        print(
            f"| {WORDS[lost]} | {len(rows)} | {failed} | {late} | {max(times, default=0):.2f} "
            f"| {f'{fallback:.1f}' if fallback else '-'} | {twice} | {', '.join(said) or '-'} |",
            flush=True,
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
