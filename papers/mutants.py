#!/usr/bin/env python3
"""Shows that the verdicts notice a wrong constant.

Changes one constant of a congestion control, one of a queue and one published
number, each alone, builds, and expects `bentpipe reproduce` to end with status
1. Everything is put back. `make mutants`; a build for each change of code.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ["cargo", "build", "--release", "--quiet", "-p", "bentpipe-cli"]

# What, the file, what stands there, and what is wrong.
MUTANTS = [
    (
        "published number: MTSI, 1 Mbyte at 500 kbit/s, 20 s for 18.33 s",
        "papers/marchese-2006/reference/table-3.csv",
        "500 Kbit/s / 1 Mbyte,TCP MTSI,18.33",
        "500 Kbit/s / 1 Mbyte,TCP MTSI,20.00",
    ),
    (
        "congestion control: Hybla's reference RTT is 30 ms instead of 25 ms",
        "crates/cc/src/slots/hybla.rs",
        "const RTT0: Duration = Duration::from_millis(25);",
        "const RTT0: Duration = Duration::from_millis(30);",
    ),
    (
        "queue: RED drops with twice the probability",
        "crates/link/src/queue/red/settings.rs",
        "max_p: Ratio::new(0.1).unwrap_or(Ratio::ZERO),",
        "max_p: Ratio::new(0.2).unwrap_or(Ratio::ZERO),",
    ),
]


def status(*command):
    """The exit status, and the last lines of what it printed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout.strip().splitlines()


def main():
    survived = 0
    for what, file, old, new in MUTANTS:
        path = ROOT / file
        text = path.read_text()
        if text.count(old) != 1:
            sys.exit(f"{file}: `{old}` is not there once")
        try:
            path.write_text(text.replace(old, new))
            if file.endswith(".rs"):
                subprocess.run(BUILD, cwd=ROOT, check=True)
            code, lines = status("target/release/bentpipe", "reproduce", "--brief")
        finally:
            path.write_text(text)
        noticed = "noticed" if code == 1 else f"NOT NOTICED (status {code})"
        print(f"{what}: {noticed}; {lines[-1] if lines else ''}", flush=True)
        survived += code != 1
    sys.exit(min(survived, 1))


if __name__ == "__main__":
    main()
