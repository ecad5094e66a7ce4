#!/usr/bin/env python3
"""Draws the pictures of the documentation again: runs every block of shell
commands in docs/gallery.md, which is where they are declared.

    docs/figures.py [--bentpipe PROGRAM] [WORD...]

With words, only the blocks that contain one of them. Results of studies go to
target/figures and are kept, so a second time only what has changed is run.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def blocks() -> list[str]:
    """The blocks of commands, in their order, each once."""
    text = (ROOT / "docs/gallery.md").read_text()
    return list(dict.fromkeys(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bentpipe", default=ROOT / "target/release/bentpipe", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    program = args.bentpipe.resolve()
    if not program.exists():
        sys.exit(f"there is no {program}: build it with `make`")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    failed = 0
    for block in blocks():
        if args.words and not any(word in block for word in args.words):
            continue
        print(block.splitlines()[0], flush=True)
        done = subprocess.run(
            ["sh", "-e", "-c", block],
            cwd=ROOT,
            env={**os.environ, "PATH": path},
            stdout=subprocess.DEVNULL,
        )
        # Status 1 is a verdict of `compare`; the pictures are there.
        failed += done.returncode not in (0, 1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
