"""What the two ends of a transfer say and when, made from the identity of the transfer alone.

A stream describes itself: the first bytes of the side that speaks first, the leader, are the identity,
from which both ends make the script and every byte of both directions. A byte depends on the identity,
the direction and its offset, so that one that is altered, moved, lost, repeated or another transfer's
is not the byte that belongs there.
"""

import hashlib
import math
import random
import struct

MAGIC = b"AUD1"
# Kind, number, and the tag of the run.
IDENTITY = struct.Struct("!BI11s")
LEAST = len(MAGIC) + IDENTITY.size
BLOCK = 8192
SIDES = ("leader", "follower")


class Text:
    """The bytes of one direction."""

    def __init__(self, identity, speaker):
        self.key = identity + speaker.encode()
        self.head = MAGIC + identity if speaker == "leader" else b""
        self.number, self.block = -1, b""

    def at(self, offset, length):
        """Bytes from an offset on: `length` of them, or up to the end of a block."""
        number, begin = divmod(offset, BLOCK)
        if number != self.number:
            made = hashlib.shake_128(self.key + number.to_bytes(8, "big")).digest(BLOCK)
            self.block = self.head + made[len(self.head) :] if number == 0 else made
            self.number = number
        return self.block[begin : begin + length]

    def pieces(self, length):
        """All of the first `length` bytes, in order."""
        offset = 0
        while offset < length:
            piece = self.at(offset, length - offset)
            yield piece
            offset += len(piece)


class Talk:
    """A script while it is written: of each side what it does, in order, and how fast it reads.

    Steps are `("say", bytes)`, `("pause", seconds)`, `("hear", bytes of the other so far)`, `("hear end",)`,
    and at the end of each side `("end",)` or `("reset",)`.
    """

    def __init__(self):
        self.steps = {side: [] for side in SIDES}
        self.said = dict.fromkeys(SIDES, 0)
        # Bytes a second; None: as they come.
        self.pace = dict.fromkeys(SIDES)

    def say(self, side, length):
        if side == "leader" and not self.said[side]:
            length = max(length, LEAST)
        self.steps[side].append(("say", length))
        self.said[side] += length

    def hear(self, side):
        self.steps[side].append(("hear", self.said[other(side)]))

    def do(self, side, *step):
        self.steps[side].append(step)


def other(side):
    return SIDES[1 - SIDES.index(side)]


def size(draw, least, most):
    """Spread evenly over the orders of magnitude."""
    return round(math.exp(draw.uniform(math.log(least), math.log(most))))


def exchange(draw, talk):
    """Turns, each after all of the turn before."""
    for _ in range(draw.randint(1, 5)):
        talk.say("leader", size(draw, 1, 20_000))
        talk.hear("follower")
        talk.say("follower", size(draw, 1, 60_000))
        talk.hear("leader")
    finish(draw, talk)


def finish(draw, talk):
    """Both end: one after the other, or at once."""
    first = draw.choice([*SIDES, None])
    for side in SIDES:
        if first == other(side):
            talk.do(side, "hear end")
        talk.do(side, "end")


def duplex(draw, talk):
    """Both speak at once."""
    for side in SIDES:
        for _ in range(draw.randint(1, 4)):
            talk.say(side, size(draw, 1, 60_000))
    finish(draw, talk)


def upload(draw, talk):
    """The leader speaks; the follower ends before it has heard anything, with no byte."""
    talk.do("follower", "end")
    talk.say("leader", size(draw, LEAST, 200_000))
    talk.do("leader", "end")


def download(draw, talk):
    """One request, and an answer that is ended by the follower."""
    talk.say("leader", size(draw, LEAST, 500))
    talk.hear("follower")
    talk.say("follower", size(draw, 1, 300_000))
    talk.do("follower", "end")
    talk.do("leader", "hear end")
    talk.do("leader", "end")


def half_closed(draw, talk):
    """The follower answers when it has heard the end."""
    talk.say("leader", size(draw, LEAST, 60_000))
    talk.do("leader", "end")
    talk.do("follower", "hear end")
    talk.say("follower", size(draw, 1, 100_000))
    talk.do("follower", "end")


def idle(draw, talk):
    """Nothing passes for seconds, in the middle."""
    talk.say("leader", size(draw, 1, 5_000))
    talk.hear("follower")
    talk.say("follower", size(draw, 1, 5_000))
    talk.hear("leader")
    talk.do("leader", "pause", draw.uniform(2, 9))
    talk.say("leader", size(draw, 1, 5_000))
    talk.hear("follower")
    talk.say("follower", size(draw, 1, 20_000))
    talk.hear("leader")
    finish(draw, talk)


def trickle(draw, talk):
    """A few bytes at a time, with pauses, in both directions at once."""
    for side in SIDES:
        for _ in range(draw.randint(5, 40)):
            talk.say(side, draw.randint(1, 9))
            talk.do(side, "pause", draw.uniform(0.005, 0.08))
    finish(draw, talk)


def slow(draw, talk):
    """The leader reads more slowly than the link carries."""
    talk.pace["leader"] = draw.uniform(20_000, 80_000)
    talk.say("leader", size(draw, LEAST, 500))
    talk.hear("follower")
    talk.say("follower", size(draw, 100_000, 400_000))
    talk.do("follower", "end")
    talk.do("leader", "hear end")
    talk.do("leader", "end")


def large(draw, talk):
    """Megabytes, in one direction or both."""
    sides = draw.choice([("leader",), ("follower",), SIDES])
    for side in SIDES:
        if side in sides:
            talk.say(side, size(draw, 1_000_000, 2_500_000))
        elif side == "leader":
            talk.say(side, LEAST)
    for side in SIDES:
        talk.do(side, "end")


def leader_resets(draw, talk):
    """The leader resets in the middle of what it says, or of what it hears."""
    resets(draw, talk, "leader")


def follower_resets(draw, talk):
    resets(draw, talk, "follower")


def resets(draw, talk, side):
    far = other(side)
    # Its identity in any case.
    talk.say("leader", size(draw, LEAST, 5_000))
    talk.hear("follower")
    length = size(draw, 10, 200_000)
    if draw.random() < 0.5:
        talk.say(side, length)
    else:
        before = talk.said[far]
        talk.say(far, length)
        talk.do(side, "hear", before + draw.randint(1, length))
    talk.do(side, "pause", draw.choice([0, 0, draw.uniform(0, 1.5)]))
    talk.do(side, "reset")
    talk.do(far, "hear end")
    talk.do(far, "end")


def reset_after_end(draw, talk):
    """One has ended, hears a part of the answer and resets."""
    talk.say("leader", size(draw, LEAST, 20_000))
    talk.do("leader", "end")
    talk.do("follower", "hear end")
    length = size(draw, 100, 200_000)
    talk.say("follower", length)
    talk.do("follower", "pause", draw.uniform(3, 4))
    talk.do("follower", "end")
    talk.do("leader", "hear", draw.randint(1, length))
    talk.do("leader", "reset")


def nobody(draw, talk):
    """To a port where nobody listens."""
    talk.say("leader", LEAST)
    talk.do("leader", "end")
    talk.do("follower", "end")


# Each with how often it comes.
KINDS = {
    "exchange": (exchange, 24),
    "duplex": (duplex, 12),
    "upload": (upload, 10),
    "download": (download, 14),
    "half-closed": (half_closed, 12),
    "idle": (idle, 8),
    "trickle": (trickle, 6),
    "slow": (slow, 4),
    "large": (large, 2),
    "leader-resets": (leader_resets, 6),
    "follower-resets": (follower_resets, 6),
    "reset-after-end": (reset_after_end, 5),
    "nobody": (nobody, 3),
}
NAMES = tuple(KINDS)
RESETS = {"leader-resets", "follower-resets", "reset-after-end"}


def identities(seed, tag, without=()):
    """Identities without end, the same for a seed and a tag."""
    draw = random.Random(f"{seed} {tag}")
    names = [name for name in NAMES if name not in without]
    weights = [KINDS[name][1] for name in names]
    mark = hashlib.shake_128(f"{seed} {tag}".encode()).digest(11)
    number = 0
    while True:
        kind = NAMES.index(draw.choices(names, weights)[0])
        yield IDENTITY.pack(kind, number, mark)
        number += 1


def kind(identity):
    """The name of its kind, or None."""
    number = identity[0] if identity else len(NAMES)
    return NAMES[number] if number < len(NAMES) else None


def script(identity):
    """What both sides do."""
    talk = Talk()
    KINDS[NAMES[identity[0]]][0](random.Random(identity), talk)
    return talk


class Datagram:
    """A datagram that says whose it is: flow, number, port of the server, direction, and its length."""

    HEAD = struct.Struct("!4s4sIIHHB")
    MAGIC = b"AUDG"

    def __init__(self, tag, flow, number, port, length, answer):
        self.parts = (self.MAGIC, tag, flow, number, port, length, answer)

    def payload(self):
        head = self.HEAD.pack(*self.parts)
        length = self.parts[5]
        return head + hashlib.shake_128(head).digest(length - len(head))

    @classmethod
    def read(cls, payload):
        """What a payload says it is, or None. Whether it is that is for the judge."""
        if len(payload) < cls.HEAD.size:
            return None
        magic, *parts = cls.HEAD.unpack_from(payload)
        return cls(*parts) if magic == cls.MAGIC else None


def datagram_length(draw):
    least = Datagram.HEAD.size
    if draw.random() < 0.05:
        return draw.randint(1_500, 6_000)
    return size(draw, least, 1_400)
