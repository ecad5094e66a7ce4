"""Whether two settings that were recommended for one question are as good as each other: both run
with the same seeds.

Verdicts that differ are not opposite if the rule calls the settings as good, which is a matter of
5% of the baseline's time. Settings of the same question have runs of different seeds, and their
gains, each with an error of its own, would have to be known within a per cent to tell. Here all
settings that clear verdicts name have the same runs."""

import json
import shlex
import subprocess

# So many runs of each setting, as far as the packets of BUDGET verdicts go.
RUNS, LEAST, BUDGET = 1000, 20, 20


def settings(picks):
    """The options of `compare` that have the named rows, and perhaps a few more."""
    split = [pick.rpartition(" behind ") for pick in sorted(picks)]
    transports = sorted({before or whole for before, _, whole in split})
    peps = sorted({"none", *(pep for before, _, pep in split if before)})
    return ["--transport", ",".join(transports)], ["--pep", ",".join(peps)] if peps[1:] else []


def without(options, names):
    """Options less those with these names, which all have a value."""
    kept = list(options)
    for name in names:
        while name in kept:
            at = kept.index(name)
            del kept[at : at + 2]
    return kept


def affordable(lines, rows):
    """How many runs of so many rows cost about what BUDGET verdicts cost."""
    total = sum(line["packets"] for line in lines)
    runs = sum(of["resent"][0] for line in lines for of in line["rows"].values())
    return max(LEAST, min(RUNS, int(BUDGET * total / len(lines) / (total / runs) / rows)))


def settle(program, options, lines, picks):
    """The gain over the baseline of each row, all with the same seeds."""
    transports, peps = settings(picks)
    options = without(options, ["--transport", "--pep"])
    runs = affordable(lines, len(picks) + 1)
    command = [program, "compare", *options, *transports, *peps]
    command += ["--json", "--seed", "1", "--runs", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    named = lambda row: (
        row["transport"] if row["pep"] == "none" else f"{row['transport']} behind {row['pep']}"
    )
    times = {named(row): mean_shares(row, answer) for row in answer["rows"]}
    base = times[named(answer["verdict"]["baseline"])]
    return {"runs": runs, "gains": {row: 1 - time / base for row, time in times.items()}}


def mean_shares(row, answer):
    """The time of a row over the baseline's: the mean over sizes and activities."""
    base = next(r for r in answer["rows"] if same(r, answer["verdict"]["baseline"]))
    shares = []
    for cell, usual in zip(row["cells"], base["cells"]):
        for activity in usual["runs"][0]["times_s"]:
            both = [
                (a, b)
                for run, other in zip(cell["runs"], usual["runs"])
                if (a := run["times_s"].get(activity)) is not None
                and (b := other["times_s"].get(activity)) is not None
            ]
            shares.append(sum(a for a, _ in both) / sum(b for _, b in both))
    return sum(shares) / len(shares)


def same(row, other):
    return (row["transport"], row["pep"]) == (other["transport"], other["pep"])
