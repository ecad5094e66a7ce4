"""Counts in ns-2's own traces how many packets the satellite leg lost, and in runs of which length."""

import math
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHANNELS = [(0.01, 1), (0.05, 1), (0.01, 2), (0.01, 4), (0.01, 10), (0.002, 4)]
SIGMAS = 4
# Nodes of network.tcl in the order in which it makes them.
R1, R2, SENDER = "0", "1", "2"


def count(program, per, burst, duration_s):
    """Data packets on the leg of flow 0, those lost, and the runs of them."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        command = [program, str(HERE / "network.tcl"), "--agent", "Newreno", "--rtt", "0.05", "--per", str(per),
                   "--burst", str(burst), "--duration", str(duration_s), "--seed", "918273645",
                   "--trace", str(trace)]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
        sent, arrived = [], set()
        with trace.open() as file:
            for line in file:
                event, time, here, there, kind, *rest = line.split()
                if kind != "tcp":
                    continue
                if (event, here, there) == ("-", SENDER, R1) and float(time) < duration_s - 1:
                    sent.append(rest[-1])
                elif (event, here, there) == ("+", R1, R2):
                    arrived.add(rest[-1])
    runs, length = [], 0
    for packet in sent:
        if packet not in arrived:
            length += 1
        elif length:
            runs.append(length)
            length = 0
    return len(sent), sum(runs), runs


def verify(program, duration_s=500):
    """Prints asked and counted; False if one is off by more than chance."""
    good = True
    for per, burst in CHANNELS:
        sent, lost, runs = count(program, per, burst, duration_s)
        # Independent losses follow each other by chance: runs of 1 / (1 - per).
        mean, length = burst if burst > 1 else 1 / (1 - per), sum(runs) / len(runs)
        rate_sigma = per * math.sqrt((2 * mean - 1) / (per * sent))
        length_sigma = math.sqrt(mean * (mean - 1) / len(runs))
        off = max(abs(lost / sent - per) / rate_sigma, abs(length - mean) / length_sigma)
        good = good and off <= SIGMAS
        print(f"per {per:.2%}, burst {mean:.3f}: {sent} packets, {lost} lost, {lost / sent:.3%}; {len(runs)} runs of "
              f"{length:.3f}, {sum(r == 1 for r in runs) / len(runs):.1%} of one (asked {1 / mean:.1%})"
              f"{'' if off <= SIGMAS else ' <-- off'}")  # fmt: skip
    return good
