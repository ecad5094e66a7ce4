#!/usr/bin/env python3
"""What the kernel's verifier does with each congestion control: the table of docs/kernel.md.

It needs root: it loads each control of `bentpipe kernel list` for a moment.
"""

import json
import subprocess
from pathlib import Path

BENTPIPE = Path(__file__).resolve().parents[2] / "target/release/bentpipe"


def bentpipe(*words: str) -> dict:
    done = subprocess.run([BENTPIPE, *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if "--json" in words else {}


def main() -> None:
    names = list(dict.fromkeys(c["name"] for c in bentpipe("kernel", "list", "--json")["controls"]))
    print(
        "| control | programs | instructions | verified, all | verified, largest program | machine code |"
    )
    print("|---|---|---|---|---|---|")
    for name in names:
        bentpipe("kernel", "load", name)
        try:
            status = bentpipe("kernel", "status", "--programs", "--json")
        finally:
            bentpipe("kernel", "unload", "--all")
        programs = status["loaded"][0]["programs"]
        of = lambda key: sum(program[key] for program in programs)
        most = max(programs, key=lambda program: program["verified_instructions"])
        print(
            f"| `{name}` | {len(programs)} | {of('instructions'):,} | {of('verified_instructions'):,} "
            f"| {most['name']}: {most['verified_instructions']:,} | {of('machine_code_bytes') / 1000:.1f} kB |"
        )


if __name__ == "__main__":
    main()
