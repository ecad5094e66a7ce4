#!/usr/bin/env python3
"""Whether the audit notices each fault that a gateway could have, and nothing where there is none.

    python3 -m unittest -q

The ends speak through a relay on loopback addresses; no root is needed.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ends
import faulty
import judge
import script

HERE = Path(__file__).resolve().parent
TRANSFERS = 60


def through(number, fault, seed=1):
    """The verdict on some transfers through a relay with a fault; each run has addresses of its own."""
    net = f"127.{100 + number}.{os.getpid() % 250 + 1}"
    here, there = f"{net}.1", f"{net}.2"
    ports = (ends.LEADS, ends.FOLLOWS, ends.NOBODY)
    with tempfile.TemporaryDirectory() as folder:
        files = {side: f"{folder}/{side}.jsonl" for side in ("client", "server")}
        common = ["--seed", str(seed), "--patience", "6", "--flows", "4", "--without", "slow,idle"]
        run = lambda side, *more: subprocess.Popen(
            [sys.executable, HERE / "ends.py", side, "--journal", files[side], *common, *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        server = run("server", "--listen", there)
        server.stdout.readline()
        relay = faulty.Relay(here, there, ports, ends.DATAGRAMS, fault)
        client = run("client", "--server", here, "--transfers", str(TRANSFERS), "--over", "3")
        client.communicate(timeout=120)
        relay.close()
        server.communicate(timeout=120)
        assert client.returncode == server.returncode == 0
        verdict = judge.Judge(*(judge.read(files[side]) for side in ("client", "server")))
        verdict.run()
        return verdict


# What the audit must say of each fault: one of these.
EXPECTED = {
    "flips a bit": {"other bytes came"},
    "drops a byte": {"other bytes came", "an end before all had come"},
    "adds a byte": {"other bytes came", "more came than was written"},
    "repeats a piece": {"other bytes came", "more came than was written"},
    "ends early": {"an end before all had come", "an end that nobody made"},
    "ends in place of a reset": {
        "an end that nobody made",
        "an end before all had come",
        # Where the reset overtakes what was written before it.
        "an end before the first bytes",
    },
    "resets in place of an end": {"a reset that nobody made"},
    "swallows an end": {"it waited for ever"},
    "stops in the middle": {"it waited for ever"},
    "begins twice": {"one connection became several"},
    "gives another's bytes": {"other bytes came"},
    "refuses": {"a reset that nobody made", "refused without a fault", "nothing came"},
    "accepts for nobody": {"an end that nobody made"},
    "alters a datagram": {"a datagram was altered"},
    "shortens a datagram": {"a datagram was altered"},
    "repeats a datagram": {"a datagram came twice"},
    "invents a datagram": {"a datagram that nobody sent"},
    "gives another port": {"a datagram came to another party"},
    "gives another client": {"a datagram came to another party"},
}


class Noticed(unittest.TestCase):
    def test_nothing_is_said_of_a_relay_without_fault(self):
        verdict = through(0, None)
        self.assertEqual(verdict.violations, [])
        self.assertEqual(verdict.counts["as scripted"], TRANSFERS)
        self.assertGreater(verdict.counts["datagrams that came"], 100)

    def test_each_fault_is_noticed_as_what_it_is(self):
        self.assertEqual(set(EXPECTED), {*faulty.STREAMS, *faulty.DATAGRAMS})
        with ThreadPoolExecutor(10) as pool:
            found = list(pool.map(through, range(1, len(EXPECTED) + 1), EXPECTED))
        for fault, verdict in zip(EXPECTED, found):
            with self.subTest(fault):
                said = {violation["what"] for violation in verdict.violations}
                self.assertTrue(said & EXPECTED[fault], said)


class Excused(unittest.TestCase):
    """What a kill excuses, and what it does not, by journals that are made here."""

    def ends(self, saw, ended=None, read=0):
        identity = script.IDENTITY.pack(script.NAMES.index("upload"), 7, b"x" * 11)
        text = script.Text(identity, "leader")
        came = b"".join(text.pieces(read))
        common = {
            "what": "connection",
            "identity": identity.hex(),
            "kind": "upload",
            "began": 10.0,
            "closed": 20.0,
            "wrong": None,
        }
        reset = {"how": "reset", "at": 20.0}
        client = {
            **common,
            "side": "client",
            "leads": True,
            "wrote": 5000,
            "ended": ended,
            "how": {"how": "end" if ended else "cut", "at": 20.0},
            "read": 0,
            "digest": ends.hashlib.sha256().hexdigest(),
            "saw": reset,
        }
        server = {
            **common,
            "side": "server",
            "leads": False,
            "wrote": 0,
            "ended": None,
            "how": {"how": "cut", "at": 20.0},
            "read": read,
            "digest": ends.hashlib.sha256(came).hexdigest(),
            "saw": {"how": saw, "at": 20.0},
        }
        return [client], [server]

    def said(self, journals, begin, killed=True):
        windows = [{"begin": begin, "end": begin + 2.0, "killed": killed}]
        return [it["what"] for it in judge.Judge(*journals, windows).run()]

    def test_a_reset_at_both_ends_is_excused_by_a_kill_at_its_time_only(self):
        self.assertEqual(self.said(self.ends("reset", read=1000), 15.0), [])
        for begin, killed in ((15.0, False), (21.0, True), (3.0, True)):
            said = self.said(self.ends("reset", read=1000), begin, killed)
            self.assertEqual(said, ["a reset that nobody made"] * 2)

    def test_a_client_that_is_refused_in_a_fault_has_had_nothing_and_its_server_neither(self):
        client, server = self.ends("reset")
        self.assertEqual(self.said((client, []), 15.0, killed=False), [])
        self.assertEqual(self.said((client, []), 25.0, killed=False), ["a reset that nobody made"])
        self.assertEqual(len(self.said((client, server), 15.0, killed=False)), 2)
        client[0]["read"] = 1
        said = self.said((client, []), 15.0, killed=False)
        self.assertIn("more came than was written", said)

    def test_an_end_is_never_excused(self):
        said = self.said(self.ends("end", read=1000), 15.0)
        self.assertEqual(said, ["an end that nobody made"])
        said = self.said(self.ends("end", ended=12.0, read=4999), 15.0)
        self.assertEqual(said, ["an end before all had come"])
        self.assertEqual(self.said(self.ends("end", ended=12.0, read=5000), 15.0), [])

    def test_a_script_is_the_same_at_both_ends(self):
        for _, identity in zip(range(500), script.identities(3, "x")):
            one, two = script.script(identity), script.script(identity)
            self.assertEqual((one.steps, one.pace), (two.steps, two.pace))
            for side in script.SIDES:
                self.assertIn(one.steps[side][-1][0], ("end", "reset", "hear end"))


if __name__ == "__main__":
    unittest.main()
