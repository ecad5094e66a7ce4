#!/usr/bin/env python3
"""Clients that open a download and never read: what both boxes hold for them, whether others still
get through, and what is left when they have gone.

    stalled.py
    stalled.py --clients 5000 --seconds 300

Clients in one namespace ask a server in another for 50 MB each, through the terminal's CONNECT
listener and over the emulated satellite, and do not read. Meanwhile another client asks for 10 kB
once a second. Exit status: 0 measured, 1 where one of those requests failed or a box held more than
its `limits.memory` and 64 MB, 2 could not run.
"""

import argparse
import json
import resource
import socket
import sys
import time
from pathlib import Path

from connect import head, result, start
from lost import lacks
from timing import PORT, fetch

HERE = Path(__file__).resolve()
ASKED = 50_000_000
LIMIT = 256  # MB, the default of `limits.memory`
MARGIN = 64
LEFT = 30  # s after the clients have gone


def stall(proxy, server, clients):
    """Opens downloads that nobody reads; yields the sockets, which keeps them open."""
    for _ in range(clients):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(proxy)
        # Optimistic: the request goes with the head, and no answer is read.
        connection.sendall(head(server) + f"{ASKED}\n".encode())
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


def show(at, made):
    for role, box in made.items():
        status = box.status()
        counters = status["counters"] if status else {}
        print(
            f"{at:.0f} s {role}: {box.use()[0]:.0f} MB resident, held "
            f"{counters.get('memory_held', 0) / 1e6:.1f} MB, open "
            f"{counters.get('connections_active')}, stalled {counters.get('readers_stalled')}, cut "
            f"{counters.get('readers_cut')}",
            file=sys.stderr,
        )


def measure(clients, seconds, verbose):
    from boxes import CONNECT, boxes, by_connect, stop
    from topology import SERVER, TERMINAL, Link, Topology

    with Topology("stalled", Link(rate="100 Mbit/s", rtt="550 ms")) as net:
        net.start("server", [sys.executable, HERE.with_name("timing.py"), "--serve"])
        made = boxes(net, by_connect())
        try:
            empty = {role: box.use()[0] for role, box in made.items()}
            parts = [(TERMINAL, CONNECT), (SERVER, PORT), clients, seconds]
            most = {role: empty[role] for role in made}
            client = start(net, "client", HERE, "--ask", *parts)
            began = time.monotonic()
            while client.poll() is None:
                for role, box in made.items():
                    most[role] = max(most[role], box.use()[0])
                if verbose:
                    show(time.monotonic() - began, made)
                time.sleep(1)
            found = result(client)
            time.sleep(LEFT)
            left = {role: box.use()[0] for role, box in made.items()}
            return empty, most, left, found
        finally:
            stop(made)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--verbose", action="store_true", help="both boxes' state, each second")
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    args = parser.parse_args()
    # Inherited by the clients, the server and both boxes.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if args.ask:
        proxy, server, clients, seconds = json.loads(args.ask)
        ask(tuple(proxy), tuple(server), clients, seconds)
        return 0
    if lacking := lacks():
        print(f"stalled readers need {lacking}", file=sys.stderr)
        return 2
    empty, most, left, found = measure(args.clients, args.seconds, args.verbose)
    boxes = "; ".join(
        f"the {role} holds {most[role]:.0f} MB at most, {empty[role]:.0f} MB without them and "
        f"{left[role]:.0f} MB {LEFT} s after them"
        for role in most
    )
    print(
        f"{found['held']} clients that do not read, for {args.seconds:.0f} s at 100 Mbit/s: {boxes}; "
        f"beside them {len(found['times'])} requests for 10 kB took at most "
        f"{max(found['times'], default=0):.2f} s, {found['failed']} failed"
    )
    over = any(value > LIMIT + MARGIN for value in most.values())
    return 1 if found["failed"] or over else 0


if __name__ == "__main__":
    sys.exit(main())
