#!/usr/bin/env python3
"""What LeoCC finds and what it takes falsely for a reconfiguration, as the tests of the simulator
measure it.

    leocc.py paths     # over paths that are reconfigured every 15 s, beside BBR
    leocc.py others    # flows that share a path without reconfigurations
"""

import re
import subprocess
import sys

PATHS = """\
| what changes every 15 s | LeoCC, Mbit/s | BBR, Mbit/s | LeoCC, mean RTT, ms | BBR, mean RTT, ms | RTT over BBR's | propagation over BBR's RTT, least | reconfigurations found | found falsely |
|---|---|---|---|---|---|---|---|---|"""
OTHERS = """\
| flows, in order of their start | path | queue, packets | Mbit/s | found falsely |
|---|---|---|---|---|"""


def main():
    if sys.argv[1:] not in (["paths"], ["others"]):
        print(__doc__, file=sys.stderr)
        return 2
    command = "cargo test --release --quiet -p bentpipe-sim --test runs leocc:: --"
    done = subprocess.run(
        [*command.split(), "--nocapture", "--test-threads", "1"], stdout=subprocess.PIPE, text=True
    )
    rows = re.findall(r"\|.*\|$", done.stdout, re.M)
    heading = PATHS if sys.argv[1] == "paths" else OTHERS
    cells = heading.splitlines()[1].count("|")
    print(heading)
    print("\n".join(row for row in rows if row.count("|") == cells))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
