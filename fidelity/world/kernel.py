#!/usr/bin/env python3
"""The published test bed again, on Linux kernels in virtual time, with what its hosts hold in flight.

    fidelity/world/kernel.py cells [--kernel 6.1] [--runs 3] [--only bbr,100,300,1] [--out kernel.csv]
    fidelity/world/kernel.py watch --kernel 6.1 --only bbr,100,300,1 [--out watched.csv]
    fidelity/world/kernel.py summary [--out watched.csv]        # what binds in the watched cells

The test bed (cs7org/lanman2023) is a row of containers: server, satellite, gateway, WLAN, client. The
satellite's has netem on both of its interfaces with rate and delay, the WLAN's netem with 1 Gbit/s and
loss, each with netem's default limit of 1000 packets. iperf (version 2) asks for a download of a
minute. All else is as Linux has it: offloads, buffers, sysctls. Here five namespaces of a guest
(fidelity/linux/vm.py) joined by veths are the containers, and the clock is that of the guest's
instructions. The bridges between containers are left out.

`cells` stores goodput, bytes over the time to the last byte. `watch` also stores what `ss` says of both
ends each 0.2 s: windows, buffers, what limits. Cells are named control,Mbit/s,ms each way,% lost.
Exit status: 0 done, 2 could not run."""

import argparse
import csv
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "linux"))
import vm  # noqa: E402

SECONDS = 60
# Cells of the test bed, and some with a large product of rate and delay and no loss, which it lacks.
CELLS = [
    (control, rate, delay, loss)
    for control in ("cubic", "bbr")
    for rate, delay, loss in (
        (10, 10, 0),
        (10, 100, 0),
        (10, 300, 0),
        (10, 10, 1),
        (10, 100, 1),
        (10, 300, 1),
        (10, 10, 4),
        (10, 100, 4),
        (10, 300, 4),
        (50, 10, 1),
        (50, 100, 1),
        (50, 300, 1),
        (100, 10, 1),
        (100, 100, 1),
        (100, 300, 1),
    )
]
# The shell of the guest has a small `ip` of its own.
NETWORK = """
IP=/usr/bin/ip
for node in server sat gateway wlan client; do $IP netns add $node; $IP -n $node link set lo up; done
join() { $IP link add $2 netns $1 type veth peer name $5 netns $4
$IP -n $1 addr add $3 dev $2; $IP -n $4 addr add $6 dev $5; $IP -n $1 link set $2 up; $IP -n $4 link set $5 up; }
join client c0 10.0.0.3/24 wlan wl 10.0.0.2/24
join wlan wr 10.0.1.2/24 gateway gl 10.0.1.3/24
join gateway gr 10.0.2.3/24 sat sl 10.0.2.2/24
join sat sr 10.0.3.2/24 server s0 10.0.3.3/24
for node in sat gateway wlan; do $IP netns exec $node /usr/bin/sysctl -qw net.ipv4.ip_forward=1; done
$IP -n client route add default via 10.0.0.2; $IP -n wlan route add default via 10.0.1.3
$IP -n gateway route add 10.0.0.0/24 via 10.0.1.2; $IP -n gateway route add 10.0.3.0/24 via 10.0.2.2
$IP -n sat route add default via 10.0.2.3; $IP -n server route add default via 10.0.3.2
netem() { $IP netns exec $1 tc qdisc del dev $2 root 2>/dev/null; $IP netns exec $1 tc qdisc add dev $2 root netem $3; }
"""
DOWNLOAD = """
netem wlan wl 'rate 1000mbit LOSS'; netem wlan wr 'rate 1000mbit LOSS'
netem sat sl 'rate RATEmbit delay DELAYms'; netem sat sr 'rate RATEmbit delay DELAYms'
for node in server client; do $IP netns exec $node /usr/bin/sysctl -qw net.ipv4.tcp_congestion_control=CONTROL
$IP netns exec $node $IP tcp_metrics flush all 2>/dev/null; done
$IP netns exec server iperf -s > /dev/null 2>&1 & server=$!
sleep 1
WATCH
$IP netns exec client iperf -c 10.0.3.3 --reverse -e -f k -t SECONDS > /root/results/NAME.txt 2>&1
kill $server $watch 2>/dev/null; wait; watch=
$IP netns exec sat tc -s qdisc show dev sl > /root/results/NAME.sat
$IP netns exec wlan tc -s qdisc show dev wl > /root/results/NAME.wlan
sleep 1
"""
WATCH = """
( while :; do read up idle < /proc/uptime; for end in server client; do echo "at $up $end"
$IP netns exec $end ss -tmineHO state established; done >> /root/results/NAME.ss; sleep 0.2; done ) & watch=$!
"""


def script(cells, runs, watched):
    """The shell that makes the network and runs each cell so many times, one after the other."""
    text = NETWORK
    for control, rate, delay, loss in cells:
        for run in range(1, runs + 1):
            values = {
                "CONTROL": control,
                "RATE": rate,
                "DELAY": delay,
                "LOSS": f"loss {loss}%" if loss else "",
                "SECONDS": SECONDS,
                "WATCH": WATCH if watched else "",
                "NAME": f"{control}-{rate}-{delay}-{loss}-{run}",
            }
            one = DOWNLOAD
            for name in ("WATCH", *values):
                one = one.replace(name, str(values[name]))
            text += one
    return text


def goodput(printed):
    """Mbit/s over the whole download, of what `iperf -f k` of the receiver prints: its last line of bytes."""
    found = re.findall(r"-\s*([\d.]+) sec\s+(\d+) KBytes\s+([\d.]+) Kbits/sec", printed)
    if not found:
        raise vm.CannotRun("iperf printed no rate:\n" + printed[-500:])
    seconds, kilobytes, _ = found[-1]
    return int(kilobytes) * 1024 * 8 / float(seconds) / 1e6


def netem_counts(printed):
    """Segments that a netem passed on and packets, whole, that it dropped, of `tc -s qdisc`."""
    found = re.search(r"Sent \d+ bytes (\d+) pkt \(dropped (\d+)", printed)
    if not found:
        raise vm.CannotRun("tc printed no counts:\n" + printed[-500:])
    return int(found.group(1)), int(found.group(2))


def measured(kernel, cells, runs, watched=False):
    """What each cell did: Mbit/s of its runs, segments sent on by the WLAN and packets it and the satellite
    dropped in all of them, and what `ss` printed in the first."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        vm.run(
            kernel,
            script(cells, runs, watched),
            out=name,
            timeout=14400,
            modules=["sch_netem", "tcp_diag"],
            programs=["tc", "iperf", "ss"],
        )
        out = Path(name)
        for cell in cells:
            each = ["-".join(map(str, (*cell, run))) for run in range(1, runs + 1)]
            counts = [netem_counts((out / f"{n}.wlan").read_text()) for n in each]
            found[cell] = {
                "mbit": [goodput((out / f"{n}.txt").read_text()) for n in each],
                "segments": sum(sent for sent, _ in counts),
                "lost_packets": sum(dropped for _, dropped in counts),
                "overflows": sum(netem_counts((out / f"{n}.sat").read_text())[1] for n in each),
                "series": seen((out / f"{each[0]}.ss").read_text()) if watched else [],
            }
    return found


# Of the line that `ss` prints for an end: the name in the table, the expression, whether it counts bytes of a socket.
FIELDS = {
    "cwnd": r"\bcwnd:(\d+)",
    "in_flight": r"\bunacked:(\d+)",
    "sacked": r"\bsacked:(\d+)",
    "lost": r"\blost:(\d+)",
    "notsent": r"\bnotsent:(\d+)",
    "snd_wnd": r"\bsnd_wnd:(\d+)",
    "sndbuf": r"skmem:\(.*?\btb(\d+)",
    "sndbuf_used": r"skmem:\(.*?\bw(\d+)",
    "rtt": r"\brtt:([\d.]+)",
    "rwnd_limited": r"\brwnd_limited:(\d+)ms",
    "sndbuf_limited": r"\bsndbuf_limited:(\d+)ms",
    "rcvbuf": r"skmem:\(r\d+,rb(\d+)",
    "rcvbuf_used": r"skmem:\(r(\d+)",
    "rcv_ssthresh": r"\brcv_ssthresh:(\d+)",
    "rcv_space": r"\brcv_space:(\d+)",
}
OF_RECEIVER = ("rcvbuf", "rcvbuf_used", "rcv_ssthresh", "rcv_space")


def seen(text):
    """The rows of a series: seconds since the first, and each of FIELDS, the receiver's from its own line."""
    rows, first, now, end = [], None, None, None
    for line in text.splitlines():
        found = re.match(r"at ([\d.]+) (server|client)", line)
        if found:
            now, end = float(found.group(1)), found.group(2)
        elif "skmem:" in line and now is not None:
            first = now if first is None else first
            if end == "server":
                rows.append({"seconds": round(now - first, 2)})
            if rows:
                for name, pattern in FIELDS.items():
                    value = re.search(pattern, line)
                    if (name in OF_RECEIVER) == (end == "client"):
                        rows[-1][name] = value.group(1) if value else "0"
    return rows


STORED = HERE / "kernel.csv"
COLUMNS = [
    "kernel",
    "control",
    "rate",
    "delay_ms",
    "loss_percent",
    "segments",
    "lost_packets",
    "overflows",
    "mbit",
]


def key_of(row):
    return row["kernel"], row["control"], *(int(row[k]) for k in COLUMNS[2:5])


def load(path):
    """Stored rows by kernel and cell; the rates of runs stand in one field."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {key_of(row): row for row in csv.DictReader(file)}


def store(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))


def measure_cells(kernel, cells, runs, path):
    """Measures what is not stored, a guest for each control and delay, and stores each guest's cells."""
    rows = load(path)
    groups = {}
    for cell in cells:
        if (kernel, *cell) not in rows:
            groups.setdefault((cell[0], cell[2], cell[1]), []).append(cell)
    for number, group in enumerate(groups.values(), 1):
        for cell, found in measured(kernel, group, runs).items():
            numbers = {k: found[k] for k in ("segments", "lost_packets", "overflows")}
            mbit = " ".join(f"{x:.4f}" for x in found["mbit"])
            values = dict(zip(COLUMNS, (kernel, *cell), strict=False))
            key = (kernel, *cell)
            rows[key] = values | numbers | {"mbit": mbit}
            print(f"[{number}/{len(groups)}] {kernel} {cell}: {mbit}", file=sys.stderr, flush=True)
        store(path, rows)


WATCHED = HERE / "watched.csv"
SERIES = ["kernel", *COLUMNS[1:5], "mbit", "seconds", *FIELDS]
MSS = 1448
# Seconds of a series that are summed up: behind slow start, before the end.
SETTLED = (10, 58)


def keep_series(path, kernel, found):
    """Puts the series of the cells in `found` into a file, in the place of those that it has of them."""
    rows = []
    if path.exists():
        with path.open(newline="") as file:
            rows = [r for r in csv.DictReader(file) if (r["kernel"], *key_of(r)[1:]) not in found]
    for key, (mbit, series) in found.items():
        values = dict(zip(SERIES, (*key, f"{mbit:.3f}"), strict=False))
        rows += [values | row for row in series]
    rows.sort(key=lambda r: (r["kernel"], r["control"], *(int(r[k]) for k in COLUMNS[2:5])))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, SERIES, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def watch(kernel, cells, path):
    found = {}
    for cell, of in measured(kernel, cells, 1, watched=True).items():
        print(f"{kernel} {cell}: {of['mbit'][0]:.3f} Mbit/s", file=sys.stderr)
        found[(kernel, *cell)] = (of["mbit"][0], of["series"])
    keep_series(path, kernel, found)


def summary(path):
    """The lines of a table of what binds: medians and extremes of the watched cells."""
    lines = [
        "| kernel | control | Mbit/s | ms each way | lost | goodput, Mbit/s | unacknowledged, segments: median, most |"
        " of these under way | largest window, kB | memory of the send buffer, kB: least, most |"
        " memory per byte | limited by the window | by the send buffer |",
        "|" + "---|" * 13,
    ]
    groups = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            groups.setdefault(key_of(row), []).append(row)
    for (kernel, control, rate, delay, loss), rows in groups.items():
        inside = [
            {name: float(row[name]) for name in ("seconds", *FIELDS) if row[name]}
            for row in rows
            if SETTLED[0] < float(row["seconds"]) < SETTLED[1]
        ]
        # BBR drains the path to learn its round trip.
        inside = [row for row in inside if row["in_flight"] > 100]
        of = lambda value: [value(row) for row in inside]
        unacked = of(lambda r: r["in_flight"])
        under_way = of(lambda r: r["in_flight"] - r["sacked"] - r["lost"])
        memory = of(lambda r: r["sndbuf_used"])
        each = of(lambda r: r["sndbuf_used"] / (r["in_flight"] * MSS + r["notsent"]))
        lasted = inside[-1]["seconds"] - inside[0]["seconds"]
        share = lambda name: (inside[-1][name] - inside[0][name]) / 1e3 / lasted
        lines.append(
            f"| {kernel} | {control} | {rate} | {delay} | {loss}% | {float(rows[0]['mbit']):.1f} |"
            f" {statistics.median(unacked):.0f}, {max(unacked):.0f} | {statistics.median(under_way):.0f} |"
            f" {max(of(lambda r: r['snd_wnd'])) / 1e3:.0f} | {min(memory) / 1e3:.0f}, {max(memory) / 1e3:.0f} |"
            f" {statistics.median(each):.2f} | {share('rwnd_limited'):.0%} | {share('sndbuf_limited'):.0%} |"
        )
    return lines


def cell_of(text):
    """A cell from control,Mbit/s,ms,%; raises ArgumentTypeError."""
    parts = text.split(",")
    if (
        len(parts) != 4
        or parts[0] not in ("cubic", "bbr")
        or not all(p.isdigit() for p in parts[1:])
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not control,Mbit/s,ms,% such as bbr,100,300,1"
        )
    return parts[0], *map(int, parts[1:])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("do", choices=["cells", "watch", "summary"])
    parser.add_argument("--kernel", choices=vm.PACKAGES, default="6.1")
    parser.add_argument("--runs", type=int, default=3, help="of each cell, for `cells`")
    parser.add_argument("--only", type=cell_of, action="append", help="a cell; repeatable")
    parser.add_argument("--out", type=Path, help="where the CSV goes")
    given = parser.parse_args()
    try:
        if given.do == "summary":
            print(*summary(given.out or WATCHED), sep="\n")
        elif given.do == "watch":
            watch(given.kernel, given.only or [("bbr", 100, 300, 1)], given.out or WATCHED)
        else:
            measure_cells(given.kernel, given.only or CELLS, given.runs, given.out or STORED)
    except (vm.CannotRun, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
