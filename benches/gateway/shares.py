#!/usr/bin/env python3
"""How two users share the link: fifty connections against one, and many small requests against one.

    shares.py
    shares.py --way up --case small --via intercepted --verbose

Two boxes over the emulated satellite (20 Mbit/s, 600 ms). One user, an address of its own, has
fifty transfers, or sends requests of 10 kB that would fill the link to 120%, whatever becomes of
them; the other user has one transfer. Exit status: 0 each user has within 10% of half of what both
have, and both together nine tenths of the link; 1 otherwise; 2 could not run.
"""

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from connect import head, result, start
from lost import lacks

HERE = Path(__file__).resolve()
# One server for each user, in a process of its own, as the users are: the requests of one may keep
# a process busy, which is not to be measured.
PORTS = (9003, 9004)
RATE = 20e6
MANY = 50
SMALL = 10_000
OFFERED = 1.2
# Seconds after the start between which bytes count.
BEGINS, ENDS = 15.0, 45.0
# Payload of an IP packet of 1500 bytes.
PAYLOAD = 1446 / 1500
USERS = ("10.77.1.2", "10.77.1.3")
BLOCK = bytes(1 << 16)


class Counts:
    """Bytes that arrived in the time that counts; `began` by time.monotonic()."""

    def __init__(self, began=0.0):
        self.began = began
        self.bytes = 0

    def add(self, count):
        if BEGINS <= time.monotonic() - self.began < ENDS:
            self.bytes += count


async def serve(port):
    """`D n`: sends n bytes; `U -`: reads to the end; `Z t`: counts from t on; `? -`: its counts."""
    counts = Counts()

    async def one(reader, writer):
        nonlocal counts
        try:
            word, number = (await reader.readline()).split()
            if word == b"D":
                left = int(number)
                while left > 0:
                    writer.write(BLOCK[:left])
                    left -= len(BLOCK)
                    await writer.drain()
            elif word == b"U":
                while more := await reader.read(1 << 16):
                    counts.add(len(more))
            elif word == b"Z":
                counts = Counts(float(number))
                writer.write(b"ok")
            else:
                writer.write(json.dumps(counts.bytes).encode())
            await writer.drain()
        except (OSError, ValueError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(one, "0.0.0.0", port, backlog=4096)
    await server.serve_forever()


async def open_to(proxy, server, user):
    """A connection of a user's: by the proxy, or intercepted where there is none."""
    here = (USERS[user], 0)
    if not proxy:
        return await asyncio.open_connection(*server, local_addr=here)
    reader, writer = await asyncio.open_connection(*proxy, local_addr=here)
    writer.write(head(server))
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def ask(proxy, server, way, case, user, began):
    """A user's part, in the client's namespace: bytes, as JSON."""
    server = (server, PORTS[user])
    counts = Counts(began)

    async def control(word):
        reader, writer = await open_to(proxy, server, user)
        writer.write(f"{word}\n".encode())
        answer = await reader.read()
        writer.close()
        return answer

    async def transfer(size):
        writer = None
        try:
            reader, writer = await open_to(proxy, server, user)
            if way == "down":
                writer.write(f"D {size}\n".encode())
                while more := await reader.read(1 << 16):
                    counts.add(len(more))
            else:
                writer.write(b"U -\n")
                for at in range(0, size, len(BLOCK)):
                    writer.write(BLOCK[: size - at])
                    await writer.drain()
                writer.write_eof()
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            if writer:
                writer.close()

    await control(f"Z {began}")
    await asyncio.sleep(began - time.monotonic())
    tasks = set()
    if user == 1 or case == "many":
        count = MANY if user == 0 else 1
        tasks |= {asyncio.create_task(transfer(1 << 40)) for _ in range(count)}
    small = user == 0 and case == "small"
    pause = SMALL * 8 / PAYLOAD / (OFFERED * RATE)
    sent = 0
    while (elapsed := time.monotonic() - began) < ENDS:
        while small and sent * pause < elapsed:
            task = asyncio.create_task(transfer(SMALL))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        await asyncio.sleep(0.005)
    found = counts.bytes if way == "down" else json.loads(await control("? -"))
    json.dump(found, sys.stdout)
    sys.stdout.flush()


def measure(way, case, via, verbose):
    from boxes import CONNECT, WAYS, boxes, stop
    from topology import SERVER, TERMINAL, Link, Topology

    with Topology("shares", Link(rate="20 Mbit/s", rtt="600 ms")) as net:
        net.run("client", "ip", "address", "add", f"{USERS[1]}/24", "dev", "terminal")
        for port in PORTS:
            net.start("server", [sys.executable, HERE, "--serve", port])
        made = boxes(net, WAYS["connect" if via == "connect" else "two"])
        try:
            proxy = (TERMINAL, CONNECT) if via == "connect" else None
            parts = [proxy, SERVER, way, case]
            began = time.monotonic() + 5
            users = [
                start(net, "client", HERE, "--ask", *parts, user, began)
                for user in range(len(USERS))
            ]
            found = [result(user) for user in users]
            if verbose:
                for role, box in made.items():
                    print(f"--- {role}\n{box.log()}", file=sys.stderr)
            return [count * 8e-6 / (ENDS - BEGINS) for count in found]
        finally:
            stop(made)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--way", action="append", choices=["down", "up"])
    parser.add_argument("--case", action="append", choices=["many", "small"])
    parser.add_argument("--via", action="append", choices=["connect", "intercepted"])
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        asyncio.run(serve(args.serve))
    if args.ask:
        asyncio.run(ask(*json.loads(args.ask)))
        return 0
    if lacking := lacks():
        print(f"shares need {lacking}", file=sys.stderr)
        return 2
    print("| transfers | one user | via | it has, Mbit/s | the other has | of half |")
    print("|---" * 6 + "|")
    words = {"many": f"{MANY} transfers", "small": f"{SMALL // 1000} kB at {OFFERED:.0%}"}
    bad = False
    for way in args.way or ("down", "up"):
        for case in args.case or ("many", "small"):
            for via in args.via or ("connect", "intercepted"):
                one, other = measure(way, case, via, args.verbose)
                both = one + other
                part = 2 * other / both if both else 0
                bad |= abs(part - 1) > 0.1 or both < 0.9 * RATE * PAYLOAD / 1e6
                print(
                    f"| {way} | {words[case]} | {via} | {one:.2f} | {other:.2f} | {part:.0%} |",
                    flush=True,
                )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
