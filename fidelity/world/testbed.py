"""The published test bed (cs7org/lanman2023, MIT): 72 cells of real Linux over netem, beside the simulator.

Deutschmann, Hielscher, German, "CUBIC Local Loss Recovery vs. BBR on (Satellite) Internet Paths", IEEE
LANMAN 2023. Containers of one machine: server, satellite, gateway, WLAN, client; default buffers and
sysctls; nine downloads of a minute per cell with iperf 2. The satellite's netem has rate and delay both
ways, the WLAN's 1 Gbit/s and loss both ways, each with netem's limit of 1000 packets. Goodput is what
arrived over the time to the last byte. The kernel of April 2023 is not recorded.
`testbed_cubic_bbr_goodput.csv` has the runs of each cell.
"""

import csv
import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCENARIO = HERE / "testbed.toml"
FILE = "testbed_cubic_bbr_goodput.csv"

# The settings of hosts: one for all cells. A value may name the cell's `control`. The hops carry
# super-segments whole, and their queues hold netem's limit: in the real runs it dropped nothing where
# packets are lost (kernel.csv), since it counts super-segments.
HOSTS = {
    "transport.{control}.buffers": "stock-6.1",
}
# Four times as many runs as theirs: where losses bind, the medians of nine differ by 10 to 20%.
RUNS, SECONDS = 36, 60
MEDIAN_BAR, SHARE_BAR, SHARE_WITHIN, WORST_BAR = 0.03, 0.90, 0.10, 0.20


@dataclass(frozen=True)
class Cell:
    """One cell: the control, Mbit/s, ms each way, the share lost each way, and Mbit/s of the real runs."""

    figure: str
    control: str
    rate: float
    delay_ms: float
    loss_percent: float
    theirs: tuple

    def label(self):
        return f"{self.figure} {self.control} {self.rate:g} Mbit/s {self.delay_ms:g} ms {self.loss_percent:g}%"


def read(path):
    """The cells of the published file, in its order; raises ValueError where it is not of that form."""
    cells = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            try:
                runs = tuple(float(row[f"run{n}"]) for n in range(1, int(row["runs"]) + 1))
                numbers = [
                    float(row[name])
                    for name in ("sat_rate_mbit", "sat_delay_ms_each_way", "wlan_loss_percent")
                ]
                cells.append(Cell(row["figure"], row["cc"], *numbers, runs))
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path}: not the published form: {error}") from error
    if not cells:
        raise ValueError(f"{path} has no cells")
    return cells


def settings(cell):
    """The values of the scenario that make it this cell."""
    values = {
        "link.satellite.rate": f"{cell.rate:g} Mbit/s",
        "link.satellite.one_way_delay": f"{cell.delay_ms:g} ms",
        "link.wlan.channel": "perfect",
        "flow.download.transport": cell.control,
        # Sending begins a round trip after the SYN.
        "flow.download.stop": f"{SECONDS + 2 * cell.delay_ms / 1e3:g} s",
    }
    if cell.loss_percent:
        lossy = {"kind": "uniform", "packet_error_rate": f"{cell.loss_percent:g}%"}
        values["link.wlan.channel"] = lossy
    values.update({key.format(control=cell.control): value for key, value in HOSTS.items()})
    return values


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


def study(cells):
    """The cells as a study."""
    points = [f"  {{ label = {toml(c.label())}, set = {toml(settings(c))} }},\n" for c in cells]
    return (
        f'name = "testbed"\ntitle = "The published test bed"\nscenario = {toml(str(SCENARIO))}\n'
        f'replications = {RUNS}\nstart_jitter = "10 ms"\n\n'
        f'[[axis]]\nname = "cell"\npoints = [\n{"".join(points)}]\n'
    )


def goodput(row, delay_ms):
    """Mbit/s of a row of runs.csv: to the last byte from when the client, connected, asks for the data.

    The model's server sends its SYN at the start, and data two one-way delays later; the test bed's
    client has connected before, and its request takes one."""
    seconds = (int(row["last_delivery_at_ns"]) - int(row["started_at_ns"])) / 1e9 - delay_ms / 1e3
    return int(row["delivered_bytes"]) * 8 / seconds / 1e6


def simulated(program, folder, cells):
    """Mbit/s of each cell's runs in the simulator."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "testbed.toml"
    file.write_text(study(cells))
    command = [program, "study", file, "--out", folder, "--fresh"]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    by_label, found = {cell.label(): cell for cell in cells}, {cell: [] for cell in cells}
    with (folder / "testbed/runs.csv").open(newline="") as rows:
        for row in csv.DictReader(rows):
            cell = by_label[row["cell"]]
            found[cell].append(goodput(row, cell.delay_ms))
    return found


def error(cell, ours):
    return statistics.median(ours) / statistics.median(cell.theirs) - 1


def table(cells, found):
    """The lines of the table of all cells."""
    lines = [
        "| control | Mbit/s | ms each way | lost | ours | theirs | range of theirs | error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell in cells:
        ours, theirs = statistics.median(found[cell]), statistics.median(cell.theirs)
        low, high = min(cell.theirs), max(cell.theirs)
        lines.append(
            f"| {cell.control} | {cell.rate:g} | {cell.delay_ms:g} | {cell.loss_percent:g}% | {ours:.3f} |"
            f" {theirs:.3f} | {low:.3f} to {high:.3f} | {error(cell, found[cell]):+.1%} |"
        )
    return lines


def judged(cells, found):
    """The table of the bars by control, and whether they are met."""
    lines = [
        "| control | cells | median error | within 10% | worst | median of the signed |",
        "|---|---|---|---|---|---|",
    ]
    met = True
    for control in sorted({cell.control for cell in cells}):
        signed = [error(c, found[c]) for c in cells if c.control == control]
        sizes = [abs(e) for e in signed]
        share = sum(size <= SHARE_WITHIN for size in sizes) / len(sizes)
        middle, worst = statistics.median(sizes), max(signed, key=abs)
        met &= middle <= MEDIAN_BAR and share >= SHARE_BAR and abs(worst) <= WORST_BAR
        lines.append(
            f"| {control} | {len(sizes)} | {middle:.1%} | {share:.0%} | {worst:+.1%} |"
            f" {statistics.median(signed):+.1%} |"
        )
    return lines, met


def of_kernels(path, cells):
    """What kernel.py stored of cells that the test bed has too: kernel, cell, Mbit/s of the runs, and how
    many segments a packet had where packets are lost, or None."""
    if not path.exists():
        return []
    # The two figures share some cells; the first has the label.
    known = {}
    for cell in cells:
        known.setdefault((cell.control, cell.rate, cell.delay_ms, cell.loss_percent), cell)
    found = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            numbers = (float(row[name]) for name in ("rate", "delay_ms", "loss_percent"))
            cell = known.get((row["control"], *numbers))
            if cell:
                each = segments_each(cell.loss_percent, row["segments"], row["lost_packets"])
                found.append((row["kernel"], cell, [float(x) for x in row["mbit"].split()], each))
    return found


def segments_each(loss_percent, passed, lost):
    """Segments in a packet: those that came to a hop, times its loss, by the packets that it lost."""
    if not loss_percent or not int(lost):
        return None
    share = loss_percent / 100
    return int(passed) / (1 - share) * share / int(lost)


def kernels_table(stored, found):
    """The lines of the table of kernels: what they and the simulator reach of the published median."""
    lines = [
        "| control | Mbit/s | ms each way | lost | published | range | kernel | Mbit/s there | to published |"
        " segments a packet | simulated to kernel |",
        "|" + "---|" * 11,
    ]
    off, inside = [], 0
    for kernel, cell, mbit, each in stored:
        theirs, here = statistics.median(cell.theirs), statistics.median(mbit)
        low, high = min(cell.theirs), max(cell.theirs)
        off.append(abs(here / theirs - 1))
        inside += low <= here <= high
        lines.append(
            f"| {cell.control} | {cell.rate:g} | {cell.delay_ms:g} | {cell.loss_percent:g}% | {theirs:.3f} |"
            f" {low:.3f} to {high:.3f} | {kernel} | {here:.3f} | {here / theirs - 1:+.1%} |"
            f" {'' if each is None else f'{each:.1f}'} | {statistics.median(found[cell]) / here - 1:+.1%} |"
        )
    lines += [
        "",
        f"{len(off)} cells on kernels: median difference to the published median {statistics.median(off):.1%},"
        f" {inside} within the range of the published runs.",
    ]
    return lines
