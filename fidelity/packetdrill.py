#!/usr/bin/env python3
"""Runs packetdrill scripts of others and prints the verdicts by folder.

    fidelity/packetdrill.py DIR                # such as packetdrill/gtests/net/tcp
    fidelity/packetdrill.py DIR --profile rfc  # another host
    fidelity/packetdrill.py DIR --fails        # and every script that fails, with its line

Google's scripts are at https://github.com/google/packetdrill, under the GPL 2; none is part of this
repository. docs/packetdrill.md says what passes and why the others do not.

Exit status: 0 ran, 2 could not.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
VERDICTS = ["pass", "fail", "not-modelled", "unreadable"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("dir", type=pathlib.Path, help="folder of scripts (*.pkt)")
    parser.add_argument("--profile", default="linux", help="host profile")
    parser.add_argument(
        "--hz", type=int, default=1000, help="ticks of the kernel's clock in a second"
    )
    parser.add_argument("--fails", action="store_true", help="list the scripts that fail")
    parser.add_argument("--bentpipe", default=ROOT / "target/release/bentpipe", help="the command")
    args = parser.parse_args()
    command = [args.bentpipe, "packetdrill", args.dir, "--json"]
    command += ["--profile", args.profile, "--hz", str(args.hz)]
    try:
        ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        suite = json.loads(ran.stdout)
    except (OSError, json.JSONDecodeError) as error:
        print(f"error: cannot run `{args.bentpipe}`: {error}", file=sys.stderr)
        return 2
    show(suite, args.dir, args.fails)
    return 0


def show(suite: dict, base: pathlib.Path, fails: bool) -> None:
    folders: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for report in suite["scripts"]:
        script = pathlib.Path(report["script"])
        folder = script.parent.relative_to(base) if script.is_relative_to(base) else script.parent
        folders[str(folder)][report["verdict"]] += 1
    width = max([len(folder) for folder in folders] + [6])
    line = "{:<" + str(width) + "}" + "  {:>5}  {:>5}  {:>13}  {:>11}"
    print(line.format("folder", "pass", "fail", "not modelled", "unreadable"))
    total: collections.Counter = collections.Counter()
    for folder, counts in sorted(folders.items()):
        total.update(counts)
        print(line.format(folder, *(counts[verdict] for verdict in VERDICTS)))
    print(line.format("all", *(total[verdict] for verdict in VERDICTS)))
    print("\nnot modelled")
    for missing in suite["not_modelled"]:
        print(f"{missing['scripts']:>5}  {missing['what']}")
    if not fails:
        return
    print("\nfails")
    for report in suite["scripts"]:
        if report["verdict"] == "fail":
            difference = report["difference"]
            print(f"{report['script']}:{difference['line']}: {difference['what']}")
            print(f"  expected  {difference['expected']}  {difference['expected_at']}")
            print(f"  found     {difference['found']}  {difference['found_at']}")


if __name__ == "__main__":
    sys.exit(main())
