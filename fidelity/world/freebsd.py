#!/usr/bin/env python3
"""FreeBSD's packetdrill scripts against the simulator's TCP: as they are, and as a test of states.

    fidelity/world/freebsd.py DIR     # a checkout of freebsd-net/tcp-testsuite (BSD licence)

There is no profile of FreeBSD, and its scripts begin with its settings, sizes of buffers, and options
in its order. A copy of those about IPv4 alone leaves these out, advertised windows too: what is left
tests what a connection does with each kind of segment in each state. Exit status: 0 ran, 2 could not."""

import argparse
import collections
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADAPTED = ROOT / "target/fidelity/world/freebsd"
VERDICTS = ("pass", "fail", "not-modelled", "unreadable")


def adapted(text):
    """A script without FreeBSD's settings, buffers, advertised windows and options."""
    lines = []
    for line in text.split("\n"):
        if "`" in line or "SO_RCVBUF" in line or "SO_SNDBUF" in line:
            continue
        if "F_GETFL" in line:
            line = re.sub(r"= 0x0?2.*", "= 2", line)
        packet = re.match(r"(\s*[+*\d.~]*\s*>\s*)(.*)$", line)
        if packet:
            rest = re.sub(r"<(mss|nop|sack|TS)[^>]*>", "<...>", packet.group(2))
            line = packet.group(1) + re.sub(r"\swin\s+\d+", "", rest)
        lines.append(line)
    return "\n".join(lines)


def reason_of(script, difference):
    """The group of a failure."""
    expected, found = difference["expected"], difference["found"]
    if "time-wait" in script:
        return "in TIME-WAIT"
    if expected.startswith("SEW"):
        return "ECN was a setting"
    if "closing" in script or (expected.startswith("F.") and found.startswith(".")):
        return "both ends close at once"
    if "syn-rcvd" in script:
        return "reset before the handshake is complete"
    if "syn-sent" in script or "snd-syn" in script:
        return "times of repeated SYNs"
    if difference["what"] == "nothing is sent":
        return "no acknowledgement or reset of what does not fit"
    return "other"


def verdicts(program, folder):
    """The reports of all scripts below a folder."""
    done = subprocess.run(
        [program, "packetdrill", folder, "--json"], capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout)["scripts"]


def line_of(title, reports):
    counts = collections.Counter(report["verdict"] for report in reports)
    return f"{title}: {len(reports)} scripts: " + ", ".join(f"{counts[v]} {v}" for v in VERDICTS)


def counted(title, names):
    print(f"\n{title}")
    for name, count in sorted(collections.Counter(names).items(), key=lambda x: (-x[1], x[0])):
        print(f"{count:5}  {name}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dir", type=Path)
    parser.add_argument("--bentpipe", type=Path, default=ROOT / "target/release/bentpipe")
    given = parser.parse_args()
    try:
        reports = verdicts(given.bentpipe, given.dir)
        print(line_of("as they are", reports))
        ipv6 = sum(r.get("reason", {}).get("what") == "IPv6" for r in reports)
        print(f"of these about IPv6: {ipv6}")
        for script in given.dir.rglob("*ipv4*.pkt"):
            copy = ADAPTED / script.relative_to(given.dir)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(adapted(script.read_text()))
        reports = verdicts(given.bentpipe, ADAPTED)
    except (OSError, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(line_of("adapted", reports))
    counted(
        "not modelled", [r["reason"]["what"] for r in reports if r["verdict"] == "not-modelled"]
    )
    failed = [r for r in reports if r["verdict"] == "fail"]
    groups = [
        reason_of(str(Path(r["script"]).relative_to(ADAPTED)), r["difference"]) for r in failed
    ]
    counted("failures", groups)
    return 0


if __name__ == "__main__":
    sys.exit(main())
