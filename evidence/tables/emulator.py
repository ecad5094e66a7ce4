#!/usr/bin/env python3
"""How true the emulator is to its model on this machine: the table of docs/emulate.md.

It needs root and a machine that does nothing else, and takes four minutes. It runs the example
`fidelity` of the crate `linux`, which `cargo build --release -p bentpipe-linux --example fidelity`
builds, with a real-time priority of 1 for the processes that send and receive.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "target/release/examples/fidelity"
SECONDS = "4"
HEAD = "| case | outcome | late: half, 99% | CPU a packet | of a core | dropped by the machine |"


def us(text: str) -> str:
    """A time in a unit that suits it."""
    value = float(text)
    return f"{value / 1000:.2g} ms" if value >= 1000 else f"{value:.0f} us"


def outcome(block: str) -> str:
    """What the lines of one case say, in words; several runs of it are separated by commas."""
    words = []
    if found := re.search(r"rate .* \(([+-][\d.]+)%\)", block):
        words.append(f"rate within {abs(float(found[1])):.3f}% of the model's")
    if found := re.search(r"drops (\d+) .* identical: (\w+)", block):
        same = "the same packets as" if found[2] == "true" else "NOT the same packets as"
        words.append(f"{found[1]} drops, {same} in virtual time")
    if found := re.search(r"model's: p50 (\d+) us, p99 (\d+) us", block):
        words.append(f"delay between programs within {us(found[1])} (half), {us(found[2])} (99%)")
    if lost := re.findall(r"lost (\d+) of .* identical to the link in virtual time: (\w+)", block):
        same = all(identical == "true" for _, identical in lost)
        words.append(
            f"{', '.join(number for number, _ in lost)} lost, "
            + ("the same packets as in virtual time" if same else "NOT the same as in virtual time")
        )
    if found := re.search(r"(?:goodput|received \d+:) (\d+) Mbit/s", block):
        words.append(f"{found[1]} Mbit/s")
    if found := re.findall(r"RSS (\d+) kB, (\d+) descriptors", block):
        memory = [int(kb) for kb, _ in found]
        words.append(
            f"memory {memory[0]} to {max(memory)} kB, {max(d for _, d in found)} descriptors"
        )
    words.append("kept up" if "kept up" in block and "not kept up" not in block else "not kept up")
    return "; ".join(words)


def row(block: str) -> str:
    late = re.findall(r"late by p50 (\d+) us, p99 (\d+) us", block)
    cost = re.findall(r"([\d.]+) us CPU a packet read, ([\d.]+) of a core", block)
    machine = re.findall(r"by the machine (\d+)", block)
    worst = max(late, key=lambda pair: float(pair[1]))
    title = block.splitlines()[0]
    return (
        f"| {title} | {outcome(block)} | {us(worst[0])}, {us(worst[1])} "
        f"| {cost[-1][0]} us | {cost[-1][1]} | {sum(map(int, machine))} |"
    )


def main() -> int:
    command = ["chrt", "-r", "1", str(EXAMPLE), SECONDS, *sys.argv[1:]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return 2
    blocks = re.split(r"\n(?=\S)", done.stdout.strip())
    print(HEAD + "\n" + "|---" * 6 + "|")
    print("\n".join(map(row, blocks)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
