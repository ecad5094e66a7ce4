"""Whether two settings that were recommended for one question are as good as each other: both run
with the same seeds.

Verdicts that differ are not opposite if the rule calls the settings as good, which is a matter of
5% of the baseline's time. Settings of the same question have runs of different seeds, and their
gains, each with an error of its own, would have to be known within a per cent to tell. Here all
settings that clear verdicts name have the same runs."""

# So many runs of each setting, as far as those of BUDGET verdicts go.
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
    """How many runs of so many rows BUDGET verdicts have."""
    runs = sum(of["resent"][0] for line in lines for of in line["rows"].values())
    return max(LEAST, min(RUNS, int(BUDGET * runs / len(lines) / rows)))


def command(program, options, lines, picks):
    """How all picks are run with the same seeds, and how often."""
    transports, peps = settings(picks)
    runs = affordable(lines, len(picks) + 1)
    kept = without(options, ["--transport", "--pep"])
    asked = [program, "compare", *kept, *transports, *peps]
    return [*asked, "--json", "--seed", "1", "--runs", str(runs)], runs
