"""Judges transfers and datagrams by the journals of their two ends, and by when boxes were killed.

What must hold, whatever happens to the link and the boxes:

- what came is what was written from the first byte on, and no more than the kernel of the writer took;
- an end is seen only where the other party ended, and after all that it wrote;
- a reset is seen only where the other party reset, or a box was killed while the connection stood; and,
  as the refusal of a client that was answered before its server was asked, in a fault, where the server
  has never seen the connection and the client has had no byte;
- each connection of a client is at most one at the server;
- none waits for ever, and none is refused unless nobody listens or there is a fault;
- a datagram comes as it was sent, once, and to the party that it was sent to.
"""

import hashlib
import json
from collections import Counter, defaultdict

import script

# Seconds after a fault in which its consequences still come.
AFTER = 3.0


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


class Judge:
    """`windows`: begin and end of each fault, with whether a box was killed in it, by the clock of the
    journals. `loses_resets`: the kernel's TCP alone crosses the satellite, which sends a reset once."""

    def __init__(self, client, server, windows=(), loses_resets=False):
        self.lines = {"client": client, "server": server}
        self.windows = windows
        self.loses_resets = loses_resets
        self.violations = []
        self.counts = Counter()

    def violate(self, what, *lines):
        first = lines[0] if lines else {}
        self.violations.append(
            {
                "what": what,
                "identity": first.get("identity"),
                "kind": first.get("kind"),
                "side": first.get("side"),
                "journal": lines,
            }
        )

    def run(self):
        sides = {}
        for side, lines in self.lines.items():
            by_identity = defaultdict(list)
            for line in lines:
                if line["what"] == "connection":
                    by_identity[line["identity"]].append(line)
            sides[side] = by_identity
        unknown = {side: sides[side].pop(None, []) for side in sides}
        for by_identity in sides.values():
            for lines in by_identity.values():
                if len(lines) > 1:
                    self.violate("one connection became several", *lines)
        for line in self.lines["client"]:
            if line["what"] != "refused":
                continue
            if line["identity"] or line["silent"]:
                self.refused(line, sides["server"].get(line["identity"]))
            else:
                # The server was to speak first: its reset may overtake the word that it has accepted.
                seen = {"wrong": None, "saw": {"how": "reset"}, "read": 0}
                unknown["client"].append({**line, **seen})
        for identity in sides["client"].keys() | sides["server"].keys():
            ends = [sides[side].get(identity, [None])[0] for side in ("client", "server")]
            self.connection(*ends)
        for side, far in (("client", "server"), ("server", "client")):
            # Those that reset, and whose other end did not hear who they were.
            resets = sum(
                lines[0]["how"]["how"] == "reset" and identity not in sides[side]
                for identity, lines in sides[far].items()
            )
            for line in unknown[side]:
                resets -= self.unknown(line, resets)
        self.datagrams()
        return self.violations

    def in_fault(self, begin, end, killed=False):
        """Whether there was a fault in this time, or one in which a box was killed."""
        return any(
            begin <= window["end"] + AFTER and window["begin"] <= end
            for window in self.windows
            if window["killed"] or not killed
        )

    def unknown(self, line, resets):
        """An end that did not hear whose the connection is; whether it needs one of the other side's
        `resets`, which may overtake what was written before them."""
        of_client = line["side"] == "client"
        saw = (line["saw"] or {}).get("how")
        self.counts["transfers"] += of_client
        if line["wrong"]:
            self.violate("the first bytes are nobody's", line)
        elif saw == "end":
            self.violate("an end before the first bytes", line)
        elif saw == "silent":
            self.violate("nothing came", line)
        elif of_client and self.is_refusal(line):
            self.counts["refused in a fault"] += 1
        elif self.in_fault(line["began"], line["closed"], killed=True):
            self.counts["cut by a kill"] += of_client
        elif resets > 0:
            self.counts["as scripted"] += of_client
            return True
        else:
            self.violate("a reset that nobody made", line)
        return False

    def refused(self, line, at_server):
        self.counts["transfers"] += 1
        if line["silent"]:
            self.violate("the connection was not answered", line)
        elif line["kind"] == "nobody":
            self.counts["as scripted"] += 1
        elif not self.in_fault(line["began"], line["closed"]):
            self.violate("refused without a fault", line, *(at_server or ()))
        else:
            self.counts["refused in a fault"] += 1

    def connection(self, client, server):
        ends = [end for end in (client, server) if end]
        before = len(self.violations)
        self.counts["transfers"] += client is not None
        if client and not server and self.is_refusal(client):
            self.counts["refused in a fault"] += 1
            return
        cut = False
        for end, far in ((client, server), (server, client)):
            if end:
                self.stream(end, far)
                cut |= self.end_of(end, far)
        if len(self.violations) > before:
            self.counts["transfers violated"] += 1
        elif client and cut:
            self.counts["cut by a kill"] += 1
        elif client:
            self.counts["as scripted"] += 1
        kinds = {end["kind"] for end in ends}
        if client and client["kind"] == "nobody" and server:
            self.violate("nobody was reached", *ends)
        assert len(kinds) == 1

    def is_refusal(self, client):
        """Whether a client that no server knows was refused in a fault, in words or by a reset after it had
        been answered."""
        saw = (client["saw"] or {}).get("how")
        if saw != "reset" or client["read"] or client["kind"] == "nobody":
            return False
        lived = client["began"], client["closed"]
        return self.in_fault(*lived) and (
            client["what"] == "refused" or not self.in_fault(*lived, killed=True)
        )

    def stream(self, reader, writer):
        """What came, byte for byte."""
        wrote = writer["wrote"] if writer else 0
        if reader["read"] > wrote:
            self.violate("more came than was written", reader, writer)
        # The writer is the leader where the reader is not.
        speaker = script.SIDES[reader["leads"]]
        digest = hashlib.sha256()
        for piece in script.Text(bytes.fromhex(reader["identity"]), speaker).pieces(reader["read"]):
            digest.update(piece)
        if digest.hexdigest() != reader["digest"]:
            self.violate("other bytes came", reader, writer)

    def end_of(self, end, far):
        """How an end saw the other; true where it was cut by a kill."""
        saw = (end["saw"] or {}).get("how")
        if saw == "end":
            if not far or not far["ended"]:
                self.violate("an end that nobody made", end, far)
            elif end["read"] != far["wrote"]:
                self.violate("an end before all had come", end, far)
        if saw == "silent":
            lost = self.loses_resets and far and far["how"]["how"] == "reset"
            if not lost:
                self.violate("it waited for ever", end, far)
            return False
        if saw == "error":
            self.violate(f"an error: {end['saw']['error']}", end, far)
        if saw != "reset" and end["how"]["how"] != "cut":
            return False
        if end["kind"] == "nobody" or (far and far["how"]["how"] == "reset"):
            return False
        # One that waited for ever is a violation of its own, and resets.
        if far and (far["saw"] or {}).get("how") == "silent":
            return False
        if not self.in_fault(end["began"], end["closed"], killed=True):
            self.violate("a reset that nobody made", end, far)
            return False
        return True

    def datagrams(self):
        sent, came = {}, Counter()
        lines = [line for side in self.lines.values() for line in side]
        key = lambda line: (line["tag"], line["flow"], line["number"], line["answer"])
        for line in lines:
            if line["what"] == "sent":
                sent[key(line)] = line
                self.counts["datagrams"] += 1
        for line in lines:
            if line["what"] != "came":
                continue
            self.counts["datagrams that came"] += 1
            was = sent.get(key(line)) if line["raw"] is None else None
            if not was:
                self.violate("a datagram that nobody sent", line)
            elif was["digest"] != line["digest"]:
                self.violate("a datagram was altered", line, was)
            # A server's port; of a client the flow whose socket it is.
            elif line["at"] != (line["port"] if line["side"] == "server" else line["flow"]):
                self.violate("a datagram came to another party", line, was)
            else:
                came[key(line)] += 1
                if came[key(line)] == 2:
                    self.violate("a datagram came twice", line, was)
