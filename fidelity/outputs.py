#!/usr/bin/env python3
"""Every kind of output of two builds of the command, byte for byte.

    fidelity/outputs.py OLDER NEWER [--only WORD]

Runs each command below with both binaries, from the root of this checkout, and compares
stdout, stderr, exit status and every file written. It prints the commands whose output
differs with the first differing lines, and exits with 1 if there are any. Use it for a
change that must not change an output: build the parent commit, keep its binary, and
compare. Journals are left out: they are written in the order in which runs end. Ten seconds.
"""

import argparse
import difflib
import hashlib
import pathlib
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = sorted(p.name for p in (ROOT / "scenarios").glob("*.toml"))

# OUT stands for a new folder, whose files are compared too.
FAST = "--rate 2Mbit/s --size 300kB --transport cubic,bbr,bp_hybla --runs 3"
COMMANDS = [
    "compare --runs 4",
    "compare --runs 3 --json",
    f"compare {FAST} --details",
    f"compare {FAST} --json --pep none,split,snoop",
    f"compare {FAST} --pep none,split,gateway --users 3 --plot OUT/a.svg --curves OUT/b.svg --report OUT/c.html",
    f"compare {FAST} --traffic web --users 2 --json",
    f"compare {FAST} --traffic video --users 2",
    f"compare {FAST} --traffic mixed --json",
    f"compare {FAST} --size 30kB,300kB --plot OUT/a.pdf",
    f"compare {FAST} --size 30kB,300kB --details --wide",
    f"compare {FAST} --beside cubic --users 4 --json",
    f"compare {FAST} --background '20% in bursts' --loss '5% in bursts of 8 packets'",
    f"compare {FAST} --hosts rfc --transport newreno,hybla,mtsi --details",
    f"compare {FAST} --orbit iridium --from Anchorage --to Oslo --over 2h --plot OUT/day.svg --report OUT/r.html",
    f"compare {FAST} --orbit geo --from Berlin --to Boston --slot -30 --json",
    "compare --rtt 600",
    "compare --rate 5 Mbit",
    "compare --users 5000",
    "compare --from Berlin",
    "compare --orbit iridium --rtt 3ms --from Berlin --to Oslo",
    "compare --orbit nonesuch --from Berlin --to Oslo",
    "compare --from Nowhereville --to Oslo --orbit geo",
    "compare --trace no.trace",
    "compare --queue 3 apples",
    "compare --pep snop",
    "compare --transport cubik",
    "compare --traffic wep",
    "compare --loss 200%",
    "compare --background 120%",
    "compare --runs 0",
    "compare --json --details",
    "compare --nonsense",
    "run scenarios/iridium.toml --json",
    "run scenarios/geo.toml --seed 3 --runs 3",
    "run scenarios/geo.toml --out OUT/o --series --pcap OUT/p.pcapng --plot OUT/x.svg",
    "run scenarios/test-bed.toml --all --wide",
    "run scenarios/geo.toml --series --json",
    "map scenarios/geo.toml --out OUT/g.svg",
    "map scenarios/starlink.toml --format svg --at 10s --out OUT/s.svg",
    "map scenarios/iridium.toml --out OUT/i.html",
    "map scenarios/iridium.toml --json",
    "trace scenarios/iridium.toml nonesuch",
    "trace scenarios/geo.toml satellite --format theaterq",
    "transports",
    "transports --json",
    "transports hybla",
    "transports cubic --json",
    "schema",
    "schema --json",
    "study docs/gallery/loss.toml --out OUT --replications 2",
    "study docs/data/sweep.toml --out OUT",
    "reproduce --list",
    "reproduce --list --json",
    "reproduce marchese-2001 --report OUT/r",
    "reproduce marchese-2001 --json",
    "new OUT/n.toml",
    "help units",
    "help topics",
    "help queue",
    "help study",
    "help link",
    "help middlebox",
    "completions bash",
    "completions zsh",
    "man OUT",
    "kernel list",
    "cc new OUT/control",
    "gateway --help",
    "gateway check packaging/ship.toml",
    "gateway check packaging/teleport.toml --json",
    "explore --help",
    "check papers/caini-2006/table-1.toml",
    *(f"check scenarios/{name}" for name in SCENARIOS),
    *(f"check scenarios/{name} --json" for name in SCENARIOS),
    *(f"run scenarios/{name} --duration 2s" for name in SCENARIOS if name != "starlink.toml"),
]
for command in "compare run check map study reproduce trace emulate transports kernel cc new schema doctor completions man".split():
    COMMANDS += [f"{command} --help", f"{command} -h"]


def outputs(binary: pathlib.Path, command: str) -> dict[str, bytes]:
    """What one command prints and writes, by name."""
    with tempfile.TemporaryDirectory(prefix="outputs-") as folder:
        out = pathlib.Path(folder)
        words = [word.replace("OUT", folder) for word in shlex.split(command)]
        ran = subprocess.run(
            [binary, *words], cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL
        )
        plain = lambda data: data.replace(folder.encode(), b"OUT").replace(
            str(binary).encode(), b"bentpipe"
        )
        found = {
            "status": str(ran.returncode).encode(),
            "stdout": plain(ran.stdout),
            "stderr": plain(ran.stderr),
        }
        for path in sorted(p for p in out.rglob("*") if p.is_file() and "journal" not in p.name):
            found[str(path.relative_to(out))] = plain(path.read_bytes())
        return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("older", type=lambda p: pathlib.Path(p).resolve())
    options.add_argument("newer", type=lambda p: pathlib.Path(p).resolve())
    options.add_argument("--only", default="", help="commands that contain this word")
    options.add_argument("--lines", type=int, default=12, help="lines of each difference to print")
    given = options.parse_args()
    chosen = [c for c in COMMANDS if given.only in c]
    both = lambda command: [outputs(binary, command) for binary in (given.older, given.newer)]
    differ = 0
    with ThreadPoolExecutor(2) as pool:
        for command, (older, newer) in zip(chosen, pool.map(both, chosen)):
            for name in sorted(older.keys() | newer.keys()):
                before, after = older.get(name, b"(absent)"), newer.get(name, b"(absent)")
                if before == after:
                    continue
                differ += 1
                print(f"differs: {command}: {name}")
                texts = [data.decode(errors="replace").splitlines() for data in (before, after)]
                shown = list(difflib.unified_diff(*texts, "older", "newer", n=1, lineterm=""))
                print(
                    "\n".join("    " + line[:200] for line in shown[: given.lines])
                    or f"    {hashlib.sha256(before).hexdigest()[:12]} -> {hashlib.sha256(after).hexdigest()[:12]}"
                )
    print(f"{len(chosen)} commands, {differ} differences")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
