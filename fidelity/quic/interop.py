#!/usr/bin/env python3
"""Other implementations of QUIC over the live emulator, beside ours on Linux and in the simulator.

As root, with the command built (`make`), Go, cmake, openssl and a network that has the registries of
Python, Go and Rust:

    fidelity/quic/interop.py build              # the peers, into target/interop
    fidelity/quic/interop.py measure [--jobs 8] # what interop.csv lacks: half an hour
    fidelity/quic/interop.py cross              # each client with each server, 1 MB
    fidelity/quic/interop.py table              # interop.csv as the table of docs/quic.md

A client asks for a file, the server of the same library sends it. Each download has an emulator of its
own (`bentpipe emulate` of network.toml); the seed is the number of the run, so that the n-th packet of
each is lost where the n-th of another is. Times count from the moment at which the client opens the
connection. Exit status: 0 done, 1 a download failed, 2 could not run.
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import itertools
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BENTPIPE = ROOT / "target/release/bentpipe"
BUILT = ROOT / "target/interop"
CSV = HERE / "interop.csv"
CERTIFICATE, KEY = BUILT / "certificate.pem", BUILT / "key.pem"
AIOQUIC = "1.7.2"

# Ample: twice the largest file, so that no window of flow control ever binds.
AMPLE = 32_000_000
MIB = 1 << 20
PATIENCE_S = 1500
# The endpoints come before whatever else the machine does; the emulator has a real-time priority.
NICE = ["nice", "-n", "-15"]

LINKS = {
    "20/2 Mbit/s, 600 ms": {
        "link.satellite.rate": "20 Mbit/s",
        "link.satellite.reverse.rate": "2 Mbit/s",
        "link.satellite.round_trip_delay": "600 ms",
        "link.satellite.queue": "1000 packets",
    },
    "250/3 Mbit/s, 300 ms": {
        "link.satellite.rate": "250 Mbit/s",
        "link.satellite.reverse.rate": "3 Mbit/s",
        "link.satellite.round_trip_delay": "300 ms",
        "link.satellite.queue": "6250 packets",
    },
}
SIZES = {"1 MB": 1_000_000, "10 MiB": 10 * MIB}
# Link, size, loss, runs.
CELLS = [
    ("20/2 Mbit/s, 600 ms", "1 MB", "0%", 3),
    ("20/2 Mbit/s, 600 ms", "10 MiB", "0%", 3),
    ("20/2 Mbit/s, 600 ms", "1 MB", "1%", 10),
    ("20/2 Mbit/s, 600 ms", "10 MiB", "1%", 5),
    ("250/3 Mbit/s, 300 ms", "10 MiB", "0%", 3),
    ("250/3 Mbit/s, 300 ms", "10 MiB", "1%", 5),
]
# Library, congestion control (none: the library's own), flow-control windows.
PEERS = [
    ("aioquic", "reno", "ample"),
    ("aioquic", "cubic", "ample"),
    ("quic-go", "", "ample"),
    ("quiche", "cubic", "ample"),
    ("quiche", "reno", "ample"),
    ("quinn", "cubic", "ample"),
    ("quinn", "reno", "ample"),
    ("aioquic", "reno", "own"),
    ("quic-go", "", "own"),
    ("quiche", "cubic", "own"),
    ("quinn", "cubic", "own"),
    ("bentpipe, live", "cubic", "ample"),
    ("bentpipe, live", "reno", "ample"),
    ("bentpipe, simulated", "cubic", "ample"),
    ("bentpipe, simulated", "reno", "ample"),
]
LIBRARIES = ["aioquic", "quic-go", "quiche", "quinn"]


@dataclasses.dataclass(frozen=True, order=True)
class Download:
    """What identifies a row of the CSV."""

    link: str
    size: str
    loss: str
    server: str
    client: str
    control: str
    windows: str
    seed: int


KEYS = [field.name for field in dataclasses.fields(Download)]
SEEN = [
    "handshake_s",
    "first_s",
    "complete_s",
    "packets",
    "queue_drops",
    "channel_losses",
    "kept_up",
]


def settings(download):
    """Options of `bentpipe` for a cell."""
    sets = dict(LINKS[download.link])
    if download.loss != "0%":
        channel = f'{{ kind = "uniform", packet_error_rate = "{download.loss}" }}'
        sets["link.satellite.channel"] = channel
    options = [word for name, value in sets.items() for word in ("--set", f"{name}={value}")]
    return [HERE / "network.toml", *options, "--seed", download.seed]


def peer(library, control, windows, *more):
    """The command of a server or client."""
    command = {
        "aioquic": [BUILT / "venv/bin/python", HERE / "aioquic_peer.py"],
        "quic-go": [BUILT / "quic-go"],
        "quiche": [BUILT / "rust/release/quic-peers", "quiche"],
        "quinn": [BUILT / "rust/release/quic-peers", "quinn"],
    }[library]
    command = [*command, *more]
    if windows == "ample":
        command += ["--window", AMPLE]
    if control and library != "quic-go":
        command += ["--control", control]
    return " ".join(shlex.quote(str(word)) if word != "$ADDRESS" else word for word in command)


def run_peers(download):
    """A download between two programs, through an emulator."""
    more = ["--address", "$ADDRESS", "--certificate", CERTIFICATE, "--key", KEY]
    server = peer(download.server, download.control, download.windows, *more)
    # Only the server's control matters: the client sends a request and acknowledgements.
    asks = ["--address", "$ADDRESS", "--size", SIZES[download.size]]
    client = peer(download.client, "", download.windows, *asks)
    script = (
        f"export ADDRESS=$BENTPIPE_PEER:4433; ip netns exec $BENTPIPE_PEER_NAMESPACE {server} >&2 & "
        f"sleep 2; timeout {PATIENCE_S} {client}; status=$?; kill $! 2>/dev/null; exit $status"
    )
    command = [*NICE, BENTPIPE, "emulate", *settings(download), "--json", "--", "sh", "-c", script]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    lines, _, report = done.stdout.partition("\n")
    try:
        seen, report = json.loads(lines), json.loads(report)
    except ValueError:
        return None, done.stderr[-600:]
    if int(seen.get("bytes", 0)) != SIZES[download.size]:
        return None, f"{seen.get('bytes')} bytes arrived"
    link = report["links"][0]
    return {
        **{name: round(seen[name], 4) for name in SEEN[:3]},
        "packets": link["offered_packets"],
        "queue_drops": link["queue_drops"],
        "channel_losses": link["channel_losses"],
        "kept_up": "yes" if report["kept_up"] else "no",
    }, None


def run_ours(download):
    """The same by our endpoints, on UDP sockets of Linux or in virtual time."""
    live = ["--on", "linux"] if download.server.endswith("live") else []
    application = f'{{ kind = "transfer", size = "{SIZES[download.size]} B" }}'
    flow = [
        *("--set", f"flow.download.transport={download.control}"),
        *("--set", f"flow.download.application={application}"),
        *("--set", f"transport.{download.control}.receive_buffer={AMPLE} B"),
        *("--set", f"transport.{download.control}.send_buffer={AMPLE} B"),
    ]
    command = [*NICE, BENTPIPE, "run", *settings(download), *flow, "--json", *live]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    try:
        outcome = json.loads(done.stdout)
    except ValueError:
        return None, done.stderr[-600:]
    outcome = outcome.get("measured", outcome)
    flow, link = outcome["flows"][0], outcome["links"][0]
    if flow["delivered_bytes"] != SIZES[download.size]:
        return None, f"{flow['delivered_bytes']} bytes arrived"
    return {
        # The library tells when its sender may send, which is when the client's Finished has come.
        "handshake_s": "",
        "first_s": round(flow["first_delivery_at_ns"] / 1e9, 4),
        "complete_s": round(flow["last_delivery_at_ns"] / 1e9, 4),
        "packets": link["offered_packets"],
        "queue_drops": link["queue_drops"],
        "channel_losses": link["channel_losses"],
        "kept_up": "yes" if done.returncode == 0 else "no",
    }, None


def stored():
    """The rows that there are, by what identifies them."""
    if not CSV.exists():
        return {}
    with open(CSV, newline="") as file:
        rows = list(csv.DictReader(file))
    return {Download(*(row[k] for k in KEYS[:-1]), int(row["seed"])): row for row in rows}


def write(rows):
    """The whole file, in the order of its keys."""
    new = CSV.with_suffix(".new")
    with open(new, "w", newline="") as file:
        writer = csv.DictWriter(file, KEYS + SEEN, lineterminator="\n")
        writer.writeheader()
        for download in sorted(rows):
            writer.writerow(
                {**dataclasses.asdict(download), **{k: rows[download][k] for k in SEEN}}
            )
    os.replace(new, CSV)


def wanted():
    """All downloads of the table."""
    for link, size, loss, runs in CELLS:
        for library, control, windows in PEERS:
            # A library's own windows matter where nothing else holds it back.
            if windows == "own" and loss != "0%":
                continue
            for seed in range(1, runs + 1):
                yield Download(link, size, loss, library, library, control, windows, seed)


def crossed():
    """Each client with each server."""
    for server, client in itertools.product(LIBRARIES, LIBRARIES):
        control = "" if server == "quic-go" else "reno"
        yield Download(*CELLS[0][:3], server, client, control, "ample", 1)


def measure(downloads, jobs):
    """Runs those that are missing and keeps each as it comes."""
    rows = stored()
    missing = [download for download in downloads if download not in rows]
    # What takes long first, so that the end is not one download.
    missing.sort(key=lambda d: (d.loss == "0%", d.size == "1 MB", d.seed))
    lock, failures = threading.Lock(), 0

    def one(download):
        nonlocal failures
        is_ours = download.server.startswith("bentpipe")
        seen, failure = (run_ours if is_ours else run_peers)(download)
        with lock:
            label = ", ".join(str(value) for value in dataclasses.astuple(download))
            if seen is None:
                failures += 1
                print(f"{label}: {failure}", file=sys.stderr, flush=True)
                return
            rows[download] = seen
            write(rows)
            print(f"{label}: {seen['complete_s']:.3f} s", file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, missing))
    return int(failures > 0)


def build():
    """The peers, from the registries of their languages."""
    BUILT.mkdir(parents=True, exist_ok=True)
    venv = BUILT / "venv"
    rust = {**os.environ, "CARGO_TARGET_DIR": str(BUILT / "rust")}
    steps = [
        ([sys.executable, "-m", "venv", venv], HERE, None),
        ([venv / "bin/pip", "install", "-q", f"aioquic=={AIOQUIC}"], HERE, None),
        (["go", "build", "-o", BUILT / "quic-go", "."], HERE / "go", None),
        (["cargo", "build", "--release", "--locked"], HERE / "rust", rust),
        (
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "3650"),
                *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=server"),
                *("-addext", "subjectAltName=DNS:server", "-keyout", KEY, "-out", CERTIFICATE),
            ],
            HERE,
            None,
        ),
    ]
    for command, folder, environment in steps:
        try:
            subprocess.run([str(c) for c in command], cwd=folder, env=environment, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(error, file=sys.stderr)
            return 2
    return 0


def mean(rows, column):
    """Mean of the runs and, with several that differ, the half of its 95% interval."""
    values = [float(row[column]) for row in rows if row[column] != ""]
    if not values:
        return "–"
    middle = statistics.mean(values)
    if column != "complete_s" or len(values) < 4:
        return f"{middle:.2f}"
    return f"{middle:.1f} ±{1.96 * statistics.stdev(values) / len(values) ** 0.5:.1f}"


def table():
    """The table of docs/quic.md."""
    rows = stored()
    heads = [f"{link}: {size}{', 1% lost' * (loss != '0%')}" for link, size, loss, _ in CELLS]
    print("| endpoints | control | windows | handshake | first byte | " + " | ".join(heads) + " |")
    print("|" + "---|" * (len(heads) + 5))
    for library, control, windows in PEERS:
        of_cell = [
            [
                row
                for download, row in sorted(rows.items())
                if (download.link, download.size, download.loss) == (link, size, loss)
                and (download.server, download.client) == (library, library)
                and (download.control, download.windows) == (control, windows)
            ]
            for link, size, loss, _ in CELLS
        ]
        opening = [mean(of_cell[1], column) for column in ("handshake_s", "first_s")]
        times = [mean(cell, "complete_s") for cell in of_cell]
        print("| " + " | ".join([library, control or "its own", windows, *opening, *times]) + " |")
    print()
    print("| client \\ server | " + " | ".join(LIBRARIES) + " |")
    print("|" + "---|" * (len(LIBRARIES) + 1))
    found = {(d.client, d.server): rows[d]["complete_s"] for d in crossed() if d in rows}
    for client in LIBRARIES:
        times = [f"{float(found.get((client, server), 'nan')):.2f}" for server in LIBRARIES]
        print(f"| {client} | " + " | ".join(times) + " |")
    late = sum(row["kept_up"] == "no" for row in rows.values())
    print(f"\n{len(rows)} downloads, in {late} of which the emulator did not keep up.")
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["build", "measure", "cross", "table"])
    parser.add_argument("--jobs", type=int, default=8, help="downloads at the same time")
    parser.add_argument("--only", help="libraries whose name has this in it")
    arguments = parser.parse_args()
    if arguments.what == "build":
        sys.exit(build())
    if arguments.what == "table":
        sys.exit(table())
    if os.geteuid() != 0:
        print("this needs root: namespaces and TUN devices", file=sys.stderr)
        sys.exit(2)
    if not BENTPIPE.exists() or not (BUILT / "quic-go").exists():
        print("run `make` and `fidelity/quic/interop.py build` first", file=sys.stderr)
        sys.exit(2)
    downloads = list(wanted() if arguments.what == "measure" else crossed())
    if arguments.only:
        downloads = [d for d in downloads if arguments.only in d.server]
    sys.exit(measure(downloads, arguments.jobs))


if __name__ == "__main__":
    main()
