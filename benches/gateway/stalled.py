#!/usr/bin/env python3
"""Clients that open a download and never read: what the terminal holds for them, and whether
others still get through.

    stalled.py
    stalled.py --clients 1000 --seconds 100

Clients in one namespace ask a server in another for 50 MB each, through the terminal's CONNECT
listener and over the emulated satellite, and do not read. Meanwhile another client asks for 10 kB
once a second. Exit status: 0 measured, 1 where one of those requests failed, 2 could not run.
"""

import argparse
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

from lost import lacks
from timing import PORT, fetch

HERE = Path(__file__).resolve()
ASKED = 50_000_000


def stall(proxy, server, clients):
    """Opens downloads that nobody reads; yields the sockets, which keeps them open."""
    for _ in range(clients):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(proxy)
        connection.sendall(f"CONNECT {server[0]}:{server[1]} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        # Optimistic: the request goes with the head, and no answer is read.
        connection.sendall(f"{ASKED}\n".encode())
        yield connection


def ask(proxy, server, clients, seconds):
    """The client's part, in its namespace: requests beside stalled downloads, as JSON."""
    held = list(stall(proxy, server, clients))
    times, failed = [], 0
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        try:
            times.append(fetch(proxy, server, 10_000)[1])
        except OSError:
            failed += 1
        time.sleep(1)
    json.dump({"times": times, "failed": failed, "held": len(held)}, sys.stdout)


def measure(clients, seconds):
    from boxes import CONNECT, Way, boxes, proxy, stop
    from topology import SERVER, TERMINAL, Link, Topology

    way = Way("two boxes, CONNECT", ("hub", "terminal"), proxy("connect", CONNECT), early=True)
    with Topology("stalled", Link(rate="100 Mbit/s", rtt="550 ms")) as net:
        net.start("server", [sys.executable, HERE.with_name("timing.py"), "--serve"])
        made = boxes(net, way)
        try:
            empty = made["terminal"].use()[0]
            parts = [(TERMINAL, CONNECT), (SERVER, PORT), clients, seconds]
            argv = ["ip", "netns", "exec", net.ns("client"), sys.executable, str(HERE)]
            client = subprocess.Popen(
                [*argv, "--ask", json.dumps(parts)], stdout=subprocess.PIPE, text=True
            )
            most = empty
            while client.poll() is None:
                most = max(most, made["terminal"].use()[0])
                time.sleep(1)
            return empty, most, json.loads(client.stdout.read())
        finally:
            stop(made)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.ask:
        proxy, server, clients, seconds = json.loads(args.ask)
        ask(tuple(proxy), tuple(server), clients, seconds)
        return 0
    if lacking := lacks():
        print(f"stalled readers need {lacking}", file=sys.stderr)
        return 2
    empty, most, found = measure(args.clients, args.seconds)
    print(
        f"{found['held']} clients that do not read, for {args.seconds:.0f} s at 100 Mbit/s: the terminal "
        f"holds {most:.0f} MB at most, {empty:.0f} MB without them; beside them "
        f"{len(found['times'])} requests for 10 kB took at most {max(found['times'], default=0):.2f} s, "
        f"{found['failed']} failed"
    )
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
