#!/usr/bin/env python3
"""The table of Snoop in fidelity/README.md: ns-2's stored goodput, and ours in as many runs."""

import csv
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def delivered(row: dict, seed: int) -> int:
    """Bytes of one run."""
    settings = {
        "link.leg.one_way_delay": f"{row['delay_ms']} ms",
        "link.leg.channel.packet_error_rate": row["per"],
        "flow.test.transport": f"ns-{row['agent'].lower()}",
        "duration": f"{row['duration_s']} s",
    }
    command = [ROOT / "target/release/bentpipe", "run", ROOT / "fidelity/snoop.toml", "--json"]
    command += ["--seed", str(seed)]
    for path, value in settings.items():
        command += ["--set", f"{path}={value}"]
    done = subprocess.run(command, check=True, capture_output=True)
    return json.loads(done.stdout)["flows"][0]["delivered_bytes"]


def main() -> None:
    with open(ROOT / "fidelity/snoop.csv", newline="") as file:
        cells = {(r["agent"], r["delay_ms"], r["per"], r["snoop"]): r for r in csv.DictReader(file)}
    losses = list(dict.fromkeys(cell[2] for cell in cells))
    heads = [f"{100 * float(loss):g}%" + " loss" * (i == 0) for i, loss in enumerate(losses)]
    print("| | " + " | ".join(heads) + " |\n|---|" + "---|" * len(losses))
    worst = 0.0
    with ThreadPoolExecutor() as pool:
        for agent, delay in dict.fromkeys(cell[:2] for cell in cells):
            texts = []
            for loss in losses:
                row = cells[agent, delay, loss, "1"]
                runs = pool.map(lambda seed: delivered(row, seed), range(1, int(row["runs"]) + 1))
                ours = sum(runs) * 8 / int(row["runs"]) / float(row["duration_s"])
                ratio = ours / float(row["goodput_bps"])
                worst = max(worst, abs(ratio - 1))
                mean, half, without = (
                    float(text) / 1e6
                    for text in (
                        row["goodput_bps"],
                        row["goodput_ci95_bps"],
                        cells[agent, delay, loss, "0"]["goodput_bps"],
                    )
                )
                texts.append(f"{mean:.3f} ± {half:.3f}, {ratio:.3f} ({without:.3f})")
            print(f"| {agent}, {delay} ms | " + " | ".join(texts) + " |")
    print(f"{len(cells) // 2} cells, worst {worst:.1%}")


if __name__ == "__main__":
    main()
