"""ns-2's side: measures cells with network.tcl, keeps every run, writes ns-2.csv."""

import concurrent.futures
import csv
import hashlib
import json
import resource
import shutil
import subprocess
from pathlib import Path

from statistic import Estimate, estimate

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "ns-2.csv"

# A cell is run until its 95% interval is this narrow, at least and at most so often, and until its
# runs have sent so many packets. None of it depends on the machine.
NARROW = 0.02
FEWEST, MOST = 8, 800
DETERMINISTIC = 4
PACKETS = 16_000_000
# Of a cell that names its duration; the latter while its interval is wider than that.
SHORT_PACKETS, MORE_PACKETS, WIDE = 3_000_000, 12_000_000, 0.10
MEMORY = 4 << 30  # one of ns-2's agents once grew to 22 GB
TIMEOUT_S = 600

COLUMNS = ("cell", "runs", "duration_s", "goodput_bps", "goodput_ci95_bps", "sent", "retransmitted", "timeouts",
           "queue_drops", "channel_losses", "ground_bps", "ground_ci95_bps")  # fmt: skip
COUNTERS = ("sent", "retransmitted", "timeouts", "queue_drops", "channel_losses")


class Missing(Exception):
    """ns-2 cannot be run here."""


def find():
    program = shutil.which("ns") or shutil.which("ns2")
    if program is None:
        raise Missing("ns-2 is not installed: apt-get install ns2")
    return program


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(program, cell, agent, number):
    """One run of a cell: what the flows under test did on average, and the ground flows."""
    command = [program, str(HERE / "network.tcl"), *cell.ns2_options(agent, number)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_S, preexec_fn=limit_memory
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"agent"')]
    if done.returncode or not lines:
        raise RuntimeError(
            f"{cell}, run {number}: exit status {done.returncode}: {done.stderr.strip()[-300:]}"
        )
    flows = json.loads(lines[-1])["flows"]
    tested, ground = flows[: 1 + cell.peers], flows[1 + cell.peers :]
    result = {
        "goodput_bps": mean(tested, "goodput_bps"),
        "packets": sum(flow["sent"] for flow in flows),
    }
    result.update({counter: mean(tested, counter) for counter in COUNTERS})
    if ground:
        result["ground_bps"] = mean(ground, "goodput_bps")
    return result


def mean(flows, key):
    return sum(flow[key] for flow in flows) / len(flows)


def enough(cell, runs):
    if len(runs) >= (DETERMINISTIC if cell.deterministic else FEWEST):
        goodput = estimate([r["goodput_bps"] for r in runs])
        if cell.deterministic or goodput.relative <= NARROW or len(runs) >= MOST:
            return True
        most = PACKETS
        if cell.duration:
            most = MORE_PACKETS if goodput.relative > WIDE else SHORT_PACKETS
        return sum(r["packets"] for r in runs) >= most
    return False


class Journal:
    """Every run that was made, by cell and number; what another network.tcl gave does not count."""

    def __init__(self, path):
        self.path = path
        self.runs = {}
        self.script = hashlib.sha256((HERE / "network.tcl").read_bytes()).hexdigest()[:16]
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # the last line of a run that was killed
                if entry["script"] == self.script:
                    self.runs.setdefault(entry["cell"], {})[tuple(entry["key"])] = entry["result"]

    def add(self, cell, number, result):
        key = (number, cell.duration_s())
        self.runs.setdefault(str(cell), {})[key] = result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            entry = {"script": self.script, "cell": str(cell), "key": key, "result": result}
            file.write(json.dumps(entry) + "\n")

    def get(self, cell, number):
        return self.runs.get(str(cell), {}).get((number, cell.duration_s()))


def holds(stored, cell):
    """True if the stored result is one of the cell as it is now: start-up must weigh the same on both sides."""
    row = stored.get(str(cell))
    return row is not None and float(row["duration_s"]) == cell.duration_s()


def measure(table, cells, processes, journal, say):
    """Runs what the journal does not have yet, and writes ns-2.csv after every cell."""
    program = find()
    rows = read()

    def one_cell(cell):
        runs = []
        while not enough(cell, runs):
            number = len(runs) + 1
            result = journal.get(cell, number)
            if result is None:
                result = run(program, cell, table.mechanisms[cell.mechanism]["agent"], number)
                journal.add(cell, number, result)
            runs.append(result)
        return runs

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        waiting = {pool.submit(one_cell, cell): cell for cell in cells}
        for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            cell = waiting[future]
            try:
                runs = future.result()
            except (RuntimeError, subprocess.TimeoutExpired) as fault:
                failed += 1
                say(f"[{done}/{len(cells)}] {fault}")
                continue
            rows[str(cell)] = row = summary(cell, runs)
            write(table, rows)
            goodput, half = row["goodput_bps"], row["goodput_ci95_bps"]
            say(
                f"[{done}/{len(cells)}] {cell}: {goodput / 1e6:.4f} Mbit/s +-{half / goodput:.1%}, {len(runs)} runs"
            )
    return failed


def summary(cell, runs):
    goodput = estimate([r["goodput_bps"] for r in runs])
    row = {"cell": str(cell), "runs": len(runs), "duration_s": cell.duration_s(),
           "goodput_bps": goodput.mean, "goodput_ci95_bps": goodput.half}  # fmt: skip
    for counter in COUNTERS:
        row[counter] = sum(r[counter] for r in runs) / len(runs)
    if cell.ground:
        ground = estimate([r["ground_bps"] for r in runs])
        row["ground_bps"], row["ground_ci95_bps"] = ground.mean, ground.half
    return row


def write(table, rows):
    """The cells of the table that have been measured, in its order."""
    scratch = RESULTS.with_name(RESULTS.name + ".part")
    with scratch.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for cell in table.cells:
            row = rows.get(str(cell))
            if row:
                writer.writerow({key: number(row.get(key)) for key in COLUMNS})
    scratch.replace(RESULTS)


def number(value):
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def read():
    """The stored results by the name of the cell."""
    if not RESULTS.exists():
        return {}
    rows = {}
    with RESULTS.open(newline="") as file:
        for text in csv.DictReader(file):
            row = {"cell": text["cell"]}
            for key in COLUMNS[1:]:
                if text[key] != "":
                    row[key] = int(text[key]) if key == "runs" else float(text[key])
            rows[text["cell"]] = row
    return rows


def goodput(row):
    return Estimate(row["goodput_bps"], row["goodput_ci95_bps"], row["runs"])
