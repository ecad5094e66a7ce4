#!/usr/bin/env python3
"""A satellite of its own for the audit: packets between two TUN interfaces, with a rate, a delay, losses.

Makes the interfaces in its namespace, prints `made`, and carries packets until its input ends. The
caller moves the interfaces to where they belong. A line of input is JSON that changes one direction, or
both: `{"to": "hub", "drop": "udp"}`. At the end it prints what became of the packets, as JSON.
"""

import argparse
import fcntl
import json
import os
import random
import select
import struct
import time
from collections import Counter, deque

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 1, 0x1000
UDP = 17
ENDS = ("terminal", "hub")


def tun(name):
    """A TUN interface, as a descriptor of whole IP packets."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


def protocol(packet):
    """Of IPv4, or the next header of IPv6."""
    return packet[9] if packet[0] >> 4 == 4 else packet[6]


class Direction:
    """A queue, a transmitter and a delay."""

    def __init__(self, rate, delay, seed):
        self.rate, self.delay = rate, delay
        self.loss, self.drop = 0.0, None
        self.draw = random.Random(seed)
        self.free = 0.0
        self.flying = deque()
        self.counts = Counter()

    def change(self, rate=None, loss=None, **rest):
        self.rate = rate or self.rate
        self.loss = self.loss if loss is None else loss
        self.drop = rest.get("drop", self.drop)

    def take(self, packet, now):
        begins = max(now, self.free)
        if self.drop == "all" or (self.drop == "udp" and protocol(packet) == UDP):
            self.counts["dropped in a fault"] += 1
        elif self.draw.random() < self.loss:
            self.counts["lost"] += 1
        # One product of rate and delay both ways waits at most.
        elif begins - now > 2 * self.delay:
            self.counts["dropped by the queue"] += 1
        else:
            self.free = begins + len(packet) * 8 / self.rate
            self.flying.append((self.free + self.delay, packet))

    def land(self, device, now):
        while self.flying and self.flying[0][0] <= now:
            packet = self.flying.popleft()[1]
            try:
                os.write(device, packet)
                self.counts["carried"] += 1
            except OSError:
                self.counts["refused by the kernel"] += 1


def serve(directions, devices):
    """Until the input ends."""
    poll = select.poll()
    toward = {}
    for end in ENDS:
        far = ENDS[1 - ENDS.index(end)]
        toward[devices[end]] = directions[far]
        poll.register(devices[end], select.POLLIN)
    poll.register(0, select.POLLIN)
    held = b""
    while True:
        due = min((it.flying[0][0] for it in directions.values() if it.flying), default=None)
        wait = 1000 if due is None else max(0, (due - time.monotonic()) * 1000)
        for ready, _ in poll.poll(wait):
            if ready == 0:
                more = os.read(0, 65536)
                if not more:
                    return
                *lines, held = (held + more).split(b"\n")
                for line in lines:
                    change = json.loads(line)
                    to = change.pop("to", None)
                    for end in [to] if to else ENDS:
                        directions[end].change(**change)
                continue
            for _ in range(64):
                try:
                    packet = os.read(ready, 65536)
                except BlockingIOError:
                    break
                except OSError:
                    # It is down while it is moved.
                    time.sleep(0.01)
                    break
                toward[ready].take(packet, time.monotonic())
        now = time.monotonic()
        for end in ENDS:
            directions[end].land(devices[end], now)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=float, default=16e6, help="bit/s")
    parser.add_argument("--delay", type=float, default=0.2, help="one way, s")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    directions = {end: Direction(args.rate, args.delay, f"{args.seed} {end}") for end in ENDS}
    devices = {end: tun(f"to-{end}") for end in ENDS}
    print("made", flush=True)
    serve(directions, devices)
    print(json.dumps({end: it.counts for end, it in directions.items()}))


if __name__ == "__main__":
    main()
