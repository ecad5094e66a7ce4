"""The cells of the study: reads cells.toml, names cells, says what each asks of ns-2."""

import itertools
import re
import tomllib
import zlib
from dataclasses import dataclass, fields
from pathlib import Path

HERE = Path(__file__).resolve().parent

BOTTLENECK_MBPS = 10
PAYLOAD = 1500
# The bytes of a data packet on the wire; TCP/Linux carries timestamps.
HEADERS, TIMESTAMPS = 40, 12
# The initial slow start threshold of ns-2 is its window_, which must not limit.
WINDOW = 10000
# What a sender's own link can hold: far more than it ever meets, but for Hybla's shaped form.
ACCESS_LIMIT, SHAPED_LIMIT, CUT_LIMIT = 100_000, 10_000, 50


@dataclass(frozen=True)
class Cell:
    mechanism: str
    rtt: int
    per: float = 0.0
    burst: int = 1
    queue: str = "droptail"
    ground: int = 0
    peers: int = 0
    delack: bool = False
    form: str = ""
    rate: float = 10
    limit: int = 50
    reverse: int = 0
    ack_per: float = 0.0
    ecn: bool = False
    duration: int = 0

    def __str__(self):
        """Its name in every file: the mechanism, then what is not left out."""
        words = [self.mechanism, self.form, f"{self.rtt} ms", f"per {self.per * 100:g}%"]
        words.append(f"burst {self.burst}" if self.burst > 1 else "")
        words.append(self.queue if self.queue != "droptail" else "")
        words.append(f"{self.ground} ground" if self.ground else "")
        words.append(f"{self.peers} peers" if self.peers else "")
        words.append("delack" if self.delack else "")
        words.append(f"{self.rate:g} Mbit/s" if self.rate != BOTTLENECK_MBPS else "")
        words.append(f"limit {self.limit}" if self.limit != 50 else "")
        words.append(f"{self.reverse} reverse" if self.reverse else "")
        words.append(f"ack per {self.ack_per * 100:g}%" if self.ack_per else "")
        words.append("ecn" if self.ecn else "")
        words.append(f"for {self.duration} s" if self.duration else "")
        return ", ".join(word for word in words if word)

    @property
    def slug(self):
        """The name of its files."""
        return re.sub(r"[^a-z0-9]+", "-", str(self)).strip("-")

    @property
    def deterministic(self):
        """One flow without losses in a drop-tail network: every run is the same but for its start."""
        others = self.ground + self.peers + self.reverse
        return self.per == self.ack_per == 0 and others == 0 and self.queue == "droptail"

    def window(self):
        """window_ of ns-2, and its initial slow start threshold, in packets."""
        if self.form in ("clamp", "shaped"):
            wire = PAYLOAD + HEADERS + TIMESTAMPS
            return round(self.rate * 1e6 * self.rtt / 1e3 / (8 * wire))
        return WINDOW

    def access_mbps(self):
        return self.rate if self.form == "shaped" else 100

    def access_limit(self):
        return {"shaped": SHAPED_LIMIT, "cut": CUT_LIMIT}.get(self.form, ACCESS_LIMIT)

    def duration_s(self):
        """Simulated time of one run; both sides take the same, so start-up weighs the same in both.

        Flows that share a drop-tail queue lock into each other, and Vegas that once took a wrong base RTT
        keeps it: there many short runs say more than few long ones.
        """
        if self.duration:
            return self.duration
        shared = self.queue == "droptail" and self.ground + self.peers > 0
        vegas = self.mechanism == "vegas"
        if shared or vegas and self.burst > 1:
            return 100 if shared and vegas else 250
        return 2000 if 0 < self.per < 0.001 else 1000

    def ns2_options(self, agent, run):
        seed = zlib.crc32(f"{self}; run {run}".encode()) % 0x7FFFFFFE + 1
        options = {
            "--agent": agent, "--rtt": f"{self.rtt / 1e3:g}", "--per": f"{self.per:g}", "--burst": self.burst,
            "--queue": self.queue, "--ground": self.ground, "--peers": self.peers, "--delack": int(self.delack),
            "--window": self.window(), "--access": self.access_mbps(), "--access-limit": self.access_limit(),
            "--duration": self.duration_s(), "--seed": seed,
            "--rate": f"{self.rate:g}", "--limit": self.limit, "--reverse": self.reverse,
            "--ack-per": f"{self.ack_per:g}", "--ecn": int(self.ecn),
        }  # fmt: skip
        return [str(word) for pair in options.items() for word in pair]


@dataclass(frozen=True)
class Table:
    mechanisms: dict  # by name: {"agent": of ns-2, "transport": ours}
    cells: list


def read():
    """Every cell of cells.toml, in its order, each once."""
    document = tomllib.loads((HERE / "cells.toml").read_text())
    names = [field.name for field in fields(Cell)][1:]
    cells = {}
    for grid in document["grid"]:
        unknown = set(grid) - set(names) - {"mechanisms"}
        if unknown:
            raise ValueError(f"cells.toml: unknown key {sorted(unknown)[0]} in a grid")
        keys = [name for name in names if name in grid]
        for mechanism in grid["mechanisms"]:
            if mechanism not in document["mechanism"]:
                raise ValueError(f"cells.toml: no mechanism {mechanism}")
            for values in itertools.product(*(grid[key] for key in keys)):
                cells[Cell(mechanism, **dict(zip(keys, values)))] = None
    return Table(document["mechanism"], list(cells))


def explanations():
    """A function from a cell's name to why it is off, by explanations.toml; None where nothing is said."""
    entries = tomllib.loads((HERE / "explanations.toml").read_text()).get("explanation", [])
    by_cell = {cell: entry["reason"] for entry in entries for cell in entry["cells"]}
    return by_cell.get
