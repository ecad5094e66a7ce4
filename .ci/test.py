#!/usr/bin/env python3
"""Runs all tests: builds everything once, then runs independent parts side by side.

    .ci/test.py [--features LIST] [PART ...]

Parts with timing of their own (emulated links in real time, the gateway) run one after the
other at high priority; computing parts fill the rest of the processor at low priority, so
they delay no deadline. A test in real time that fails is run once more by itself, since a busy machine
can delay it by more than it allows; the table names each one that passed only then. Each part's output is printed when the part ends, and a table of
times at the end. The output of a part while it runs is in target/tests/NAME.log.

Exit status: 0 all parts passed, 1 a part failed, 2 the tests could not be built.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "target" / "tests"

# Test binaries that measure real time: `package/target`.
REAL_TIME = ("bentpipe-linux/", "bentpipe-gateway/", "bentpipe-cli/cli")
# Of these also the tests that are `#[ignore]`d because they wait for minutes. In other binaries
# such tests are programs that a test starts.
WAITING = ("bentpipe-gateway/tunnel",)


@dataclass
class Part:
    """One entry of the table: commands that run one after the other."""

    name: str
    commands: list  # of (words, folder)
    lane: str
    seconds: float = 0.0
    cpu: float = 0.0
    failed: list = field(default_factory=list)
    # Tests that passed at their second attempt.
    again: list = field(default_factory=list)
    env: dict = field(default_factory=dict)


def usage_of(pid):
    """User and system time of a child that has ended, seconds, and its exit status."""
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def execute(part, words, folder, nice, log):
    """Runs one command of a part; its exit status and what it printed."""
    log.write(f"$ {' '.join(str(word) for word in words)}\n".encode())
    log.flush()
    from_here = log.tell()
    child = subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, **part.env},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: step(nice),
    )
    status, cpu = usage_of(child.pid)
    child.returncode = status
    part.cpu += cpu
    log.seek(from_here)
    return status, log.read().decode(errors="replace")


def failed_tests(output):
    """The names in the last list of failures that a test binary prints; none where it crashed."""
    _, found, listed = output.rpartition("\nfailures:\n")
    return re.findall(r"^    (\S+)$", listed, re.MULTILINE) if found else []


def run(part, nice):
    began = time.monotonic()
    with open(LOGS / f"{part.name}.log", "w+b") as log:
        for words, folder in part.commands:
            status, output = execute(part, words, folder, nice, log)
            names = failed_tests(output) if part.name == "real-time" else []
            # All that failed, and nothing but what passes then.
            if status and names and f"; {len(names)} failed;" in output:
                again, output = execute(part, [*words, "--exact", *names], folder, nice, log)
                if not again and f" ok. {len(names)} passed;" in output:
                    part.again += names
                    status = 0
            if status:
                part.failed.append(f"{' '.join(str(word) for word in words)}: exit status {status}")
    part.seconds = time.monotonic() - began


def show(part):
    """The output of a part that has ended; long runs of passed tests are left out."""
    print(f"\n=== {part.name}: {'FAILED' if part.failed else 'passed'} in {part.seconds:.0f} s")
    text = (LOGS / f"{part.name}.log").read_text(errors="replace")
    if part.failed or part.again:
        print(text)
    else:
        kept = [line for line in text.splitlines() if line.strip() and set(line.strip()) != {"."}]
        print("\n".join(kept[-400:]))
    sys.stdout.flush()


def make(*targets, features):
    return [
        (["make", "--no-print-directory", f"FEATURES={features}", target], ROOT)
        for target in targets
    ]


def cargo(*words, features):
    return [
        "cargo",
        *words,
        "--release",
        "--workspace",
        *(["--features", features] if features else []),
    ]


def test_binaries(features):
    """Builds all tests and commands; each test binary with the folder of its package."""
    built = subprocess.run(
        cargo("test", "--no-run", "--message-format=json-render-diagnostics", features=features),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    if built.returncode:
        sys.exit(2)
    found = []
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact" or not message.get("executable"):
            continue
        if not message["profile"]["test"]:
            continue
        folder = Path(message["manifest_path"]).parent
        package = message["package_id"].rpartition("#")[2].partition("@")[0]
        if not package.startswith("bentpipe"):
            package = folder.name
        found.append((f"{package}/{message['target']['name']}", message["executable"], folder))
    return sorted(found)


def parts_of(binaries, features):
    def rust(name, lane, chosen):
        every = lambda name: ["--include-ignored"] if name in WAITING else []
        commands = [([path, "--quiet", *every(name)], folder) for name, path, folder in chosen]
        # As under `cargo test`.
        return Part(name, commands, lane, env={"CARGO": shutil.which("cargo") or "cargo"})

    real = [b for b in binaries if b[0].startswith(REAL_TIME)]
    rest = [b for b in binaries if not b[0].startswith(REAL_TIME)]
    of = lambda name, lane, *targets: Part(name, make(*targets, features=features), lane)
    doctests = Part(
        "doctests", [(cargo("test", "--doc", "--quiet", features=features), ROOT)], "computing"
    )
    # Off by default, so nothing else compiles them.
    ciphers = "cargo test --release --quiet -p bentpipe-quic --features tls --lib ciphers".split()
    computing = rust("rust", "computing", rest)
    computing.commands.append((ciphers, ROOT))
    return [
        rust("real-time", "real time", real),
        of("lost", "real time", "lost", "audit"),
        of("explorer", "page", "test-explore"),
        of("python", "computing", "test-python"),
        computing,
        doctests,
        of("verdicts", "computing", "verdicts"),
        of("held", "computing", "held"),
        of("packaging", "computing", "packaging"),
        of("instructions", "computing", "instructions"),
        of("docs", "computing", "cluster", "notebooks", "docs", "ledger"),
    ]


# The priority of each lane. Tests in real time count each packet, so they go before
# everything else, where the user may say so (root); most of their time they wait.
NICE = {"real time": -15, "page": 5, "computing": 15}


def step(nice):
    """Sets the priority of this process, or leaves it where that is not allowed."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    except OSError:
        pass


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--features", default="", help="cargo features of the command")
    options.add_argument("parts", nargs="*", help="only these parts")
    given = options.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()

    print("=== build")
    sys.stdout.flush()
    if subprocess.run(cargo("build", "--quiet", features=given.features), cwd=ROOT).returncode:
        return 2
    binaries = test_binaries(given.features)
    built = time.monotonic() - began
    build_cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    build_cpu = build_cpu.ru_utime + build_cpu.ru_stime
    print(f"=== built {len(binaries)} test binaries in {built:.0f} s")

    parts = parts_of(binaries, given.features)
    if unknown := set(given.parts) - {part.name for part in parts}:
        print(
            f"no part {', '.join(sorted(unknown))}; there are {', '.join(p.name for p in parts)}",
            file=sys.stderr,
        )
        return 2
    parts = [part for part in parts if not given.parts or part.name in given.parts]
    printing = threading.Lock()

    def lane(name):
        for part in (part for part in parts if part.lane == name):
            run(part, NICE[name])
            with printing:
                show(part)

    lanes = [threading.Thread(target=lane, args=(name,)) for name in NICE]
    for thread in lanes:
        thread.start()
    for thread in lanes:
        thread.join()

    print("\n| part | wall [s] | CPU [s] | result |\n|---|---|---|---|")
    print(f"| build | {built:.0f} | {build_cpu:.0f} | passed |")
    for part in parts:
        print(
            f"| {part.name} | {part.seconds:.0f} | {part.cpu:.0f} | {'FAILED' if part.failed else 'passed'} |"
        )
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = time.monotonic() - began
    print(
        f"| all | {whole:.0f} | {build_cpu + sum(p.cpu for p in parts):.0f} | user {total.ru_utime:.0f} |\n"
    )
    for part in parts:
        for name in part.again:
            print(f"passed at the second attempt only: {part.name}: {name}")
        for failure in part.failed:
            print(f"failed: {part.name}: {failure}")
    failed = sum(bool(part.failed) for part in parts)
    print(f"{len(parts) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
