#!/usr/bin/env python3
"""Asks questions of operators with several seeds, and holds the verdicts against each other and
against the truth: what the runs of all other seeds of the same question show.

    questions.py ask [--seeds 20] [--time 10s] [--jobs 2] [--minutes M] [--only WORD]
    questions.py settle [--only WORD]
    questions.py summary [--only WORD] [--csv FILE]

`ask` runs `bentpipe compare` for each question of questions.toml that has no result yet with a
seed, the first seeds of all before the second of any, until MINUTES are over; it goes on where it
stopped. `settle` runs, where clear verdicts name different settings, all that they name with the same
seeds (settled.py), so that `summary` can tell which are as good. A result is a line of DIR/QUESTION.jsonl (--dir): the verdict, and of each row the moments
of its times and of those of others beside the baseline's with the same seeds. `summary` says how
many verdicts are clear, which contradict each other, and which the truth contradicts, with a table by
kind of question; FILE gets a row for each verdict. Results of other sources are refused: the sources
that a line is of stand in it. Exit status: 0 the bars are met, 1 not, 2 could not run."""

import argparse
import concurrent.futures
import csv
import json
import math
import shlex
import subprocess
import sys
import time
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "evidence"))
import settled  # noqa: E402
import sources  # noqa: E402

# The thresholds of the rule: docs/verdicts.md.
WORTH, PROXY_WORTH, HARM, WASTE, WASTE_NOTED, LOSS, AS_GOOD = (
    0.03,
    0.05,
    0.20,
    0.10,
    0.02,
    0.05,
    0.05,
)
CERTAINTIES = ("exact", "clear", "borderline", "open")
CLEAR = ("exact", "clear")
EFFORT = {"none": 0, "split": 1, "snoop": 2, "gateway": 3}

# The bars: of the clear verdicts agree with the truth, of all are clear or borderline.
RIGHT, DECIDED = 0.95, 0.70

# Runs of a seed are numbered on from it.
APART = 100_000


@cache
def groups():
    return tomllib.loads((HERE / "questions.toml").read_text())


def questions(only):
    """Names and options, in the order of the file."""
    found = {f"{group}-{name}": text for group, of in groups().items() for name, text in of.items()}
    return {name: shlex.split(text) for name, text in found.items() if only in name}


def group_of(label):
    return next(group for group in groups() if label.startswith(f"{group}-"))


def name(row):
    return row["transport"] if row["pep"] == "none" else f"{row['transport']} behind {row['pep']}"


def moments(pairs):
    """Number, sums, squares and products of (with, without), and those that did not end."""
    ended = [(a, b) for a, b in pairs if a is not None and b is not None]
    sums = [0.0] * 5
    for a, b in ended:
        for i, value in enumerate((a, b, a * a, a * b, b * b)):
            sums[i] += value
    return [len(ended), *(float(f"{s:.6g}") for s in sums), len(pairs) - len(ended)]


def everyone(run, users):
    """Mean times of all users of a run, who are alike, by activity."""
    own, others = run["times_s"], run.get("others_times_s") or {}
    mine, theirs = users - users // 2, users // 2
    return {k: (own[k] * mine + others[k] * theirs) / users for k in own if k in others}


def compared(answer):
    """Of each row its times and those of others, by size and activity, as moments."""
    rows = {name(row): row for row in answer["rows"]}
    base = rows[name(answer["verdict"]["baseline"])]
    users, beside = answer["users_shared"], answer["beside"] is not None
    found = {}
    for label, row in rows.items():
        own, others = {}, {}

        def add(to, size, after, before):
            for activity, usual in before.items():
                to.setdefault(f"{size} {activity}", []).append((after.get(activity), usual))

        for size, (cell, usual) in enumerate(zip(row["cells"], base["cells"])):
            for run, other in zip(cell["runs"], usual["runs"]):
                add(own, size, run["times_s"], other["times_s"])
                if beside:
                    add(others, size, run["others_times_s"], other["others_times_s"])
            for run, other in zip(cell["shared_runs"], usual["shared_runs"]):
                add(others, size, run["others_times_s"], everyone(other, users))
        runs = [len(cell["runs"]) for cell in row["cells"]]
        resent = [cell["resent_share"] * len(cell["runs"]) for cell in row["cells"]]
        found[label] = {
            "effort": EFFORT[row["pep"]],
            "deployable": row["deployable"],
            "own": {k: moments(v) for k, v in own.items()},
            "others": {k: moments(v) for k, v in others.items()},
            "resent": [sum(runs), float(f"{sum(resent):.6g}")],
        }
    return found


def parts():
    """What a verdict depends on: fingerprints of the sources."""
    return {part: sources.fingerprint(part) for part in ("engine", "advice")}


def check_parts(lines, *now):
    """Results of different sources must not be mixed; older results do not say theirs."""
    found = [*filter(None, (line.get("parts") for line in lines)), *now]
    if any(of != found[0] for of in found):
        raise RuntimeError("the results are of different sources: ask again with another --dir")


def answered(label, command):
    """The document that a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{label}: {shlex.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def ask(program, label, options, seed, limit):
    """One verdict as a line."""
    command = [
        program,
        "compare",
        *options,
        "--json",
        "--seed",
        str(1 + seed * APART),
        "--time",
        limit,
    ]
    started = time.monotonic()
    answer = answered(label, [*command, "--threads", "1"])
    verdict = answer["verdict"]
    return {
        "seed": seed,
        "time": limit,
        "certainty": verdict["certainty"],
        "keep": verdict["keep"],
        "pick": name(verdict["pick"]) if verdict["pick"] else None,
        "baseline": name(verdict["baseline"]),
        "against": name(verdict["against"]) if verdict["against"] else None,
        "decides": verdict["against"]["decides"] if verdict["against"] else None,
        "headline": verdict["text"][0],
        "packets": answer["packets"],
        "cpu_s": round(time.monotonic() - started, 2),
        "lost": answer["link"]["packet_error_rate"] or 0.0,
        "rows": compared(answer),
    }


def results(directory, label):
    file = directory / f"{label}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def ask_all(given):
    directory, asked = Path(given.dir), questions(given.only)
    directory.mkdir(parents=True, exist_ok=True)
    before = {label: results(directory, label) for label in asked}
    now = parts()
    check_parts([line for lines in before.values() for line in lines], now)
    has = {label: {line["seed"] for line in lines} for label, lines in before.items()}
    todo = [
        (label, seed) for seed in range(given.seeds) for label in asked if seed not in has[label]
    ]
    end = time.monotonic() + 60 * given.minutes

    def one(what):
        label, seed = what
        if time.monotonic() < end:
            return label, ask(given.program, label, asked[label], seed, given.time)
        return None

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for made in filter(None, pool.map(one, todo)):
            label, line = made
            line["parts"] = now
            with open(directory / f"{label}.jsonl", "a") as file:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
            print(f"{label} {line['seed']}: {line['certainty']}: {line['headline']}", flush=True)


def settle_all(given):
    """Settles every question whose clear verdicts name different settings."""
    directory, now = Path(given.dir), parts()
    for label, options in questions(given.only).items():
        lines = results(directory, label)
        check_parts(lines, now)
        picks = clear_picks(lines)
        if len(picks) > 1:
            command, runs = settled.command(given.program, options, lines, picks)
            rows = compared(answered(label, command))
            times = {row: ratio(of["own"].values()) for row, of in rows.items()}
            gains = {row: 1 - time[0] for row, time in times.items() if time}
            found = {"parts": now, "runs": runs, "gains": gains}
            settled_file(directory, label).write_text(json.dumps(found) + "\n")
            text = ", ".join(f"{row} {gain:.1%}" for row, gain in gains.items())
            print(f"{label}: {runs} runs with the same seeds: {text}", flush=True)


def settled_file(directory, label):
    return directory / f"{label}.settled.json"


def settled_of(directory, label, lines):
    """What settings of a question gain with the same seeds, as far as that was asked."""
    file = settled_file(directory, label)
    if not file.exists():
        return {}
    found = json.loads(file.read_text())
    check_parts([*lines, found])
    return found["gains"]


def ratio(all_moments):
    """Mean of (with / without) over sizes and activities, and half of its 95% interval; nothing
    of too few runs."""
    shares, variance = [], 0.0
    for n, a, b, aa, ab, bb, _ in all_moments:
        if n < 2 or b <= 0.0:
            return None
        r = a / b
        residual = max(aa - 2.0 * r * ab + r * r * bb, 0.0) / (n - 1)
        shares.append(r)
        variance += residual / n / (b / n) ** 2
    if not shares:
        return None
    return sum(shares) / len(shares), 1.96 * math.sqrt(variance) / len(shares)


def together(lines, row, what):
    """The moments of a row over several verdicts, by size and activity."""
    sums = {}
    for line in lines:
        for key, values in line["rows"].get(row, {}).get(what, {}).items():
            old = sums.setdefault(key, [0.0] * len(values))
            sums[key] = [x + y for x, y in zip(old, values)]
    return sums


class Truth:
    """What the runs of these verdicts show of each row."""

    def __init__(self, lines):
        self.rows, self.base = {}, lines[0]["baseline"]
        resents, effort = {}, {}
        for row in {row for line in lines for row in line["rows"]}:
            of = [line["rows"][row] for line in lines if row in line["rows"]]
            resents[row] = sum(r["resent"][1] for r in of) / max(1, sum(r["resent"][0] for r in of))
            effort[row] = of[0]["effort"], of[0]["deployable"]
        limit = max(lines[0]["lost"] + WASTE, resents[self.base] + WASTE_NOTED)
        for row, resent in resents.items():
            own = together(lines, row, "own")
            time, harm = ratio(own.values()), ratio(together(lines, row, "others").values())
            # Where users do several things, none of them may lose.
            activities = {key.split()[1] for key in own}
            each = [ratio([m for k, m in own.items() if k.endswith(a)]) for a in activities]
            loses = len(each) > 1 and any(of and of[0] - 1 > LOSS for of in each)
            self.rows[row] = {
                "gain": (1 - time[0], time[1]) if time else None,
                "harm": (harm[0] - 1, harm[1]) if harm else None,
                "worth": PROXY_WORTH if effort[row][0] > effort[self.base][0] else WORTH,
                "runs": next(iter(own.values()), [0])[0],
                "fits": effort[row][1] and resent <= limit and not loses,
            }

    def usable(self, row, margin=0.0):
        """True if the row may be recommended; with a margin of 1, by the far ends of the intervals
        of what is known of it, with -1 by the near ones."""
        of = self.rows.get(row)
        if row == self.base or not of or not of["gain"] or not of["fits"]:
            return False
        harm = of["harm"]
        harmless = not harm or harm[0] - margin * harm[1] <= HARM
        return of["gain"][0] + margin * of["gain"][1] > of["worth"] and harmless

    def contradicts(self, line, by_chance=False):
        """Why a clear verdict is wrong, if it is; `by_chance`: beyond what chance explains."""
        margin = -1.0 if by_chance else 0.0
        best = [row for row in self.rows if self.usable(row, margin)]
        if line["keep"]:
            return f"{best[0]} is worth it" if best else None
        pick = line["pick"]
        if not self.usable(pick, -margin):
            of = {k: self.rows[pick][k] or (math.nan, 0.0) for k in ("gain", "harm")}
            return f"it gains {of['gain'][0]:.1%}, others lose {of['harm'][0]:.1%}"
        gain = self.rows[pick]["gain"]
        for row in best:
            other = self.rows[row]["gain"]
            chance = (gain[1] + other[1]) if by_chance else 0.0
            if other[0] - gain[0] - chance > AS_GOOD:
                return f"{row} gains {other[0]:.1%}, {pick} {gain[0]:.1%}"
        return None


def opposite(a, b, truth, same_seeds):
    """True if one keeps what the other changes, or the two change to things that differ by more
    than 5% of the time: with the same seeds, if they were settled."""
    if a["keep"] or b["keep"]:
        return a["keep"] != b["keep"]
    picks = [line["pick"] for line in (a, b)]
    if all(pick in same_seeds for pick in picks):
        gains = [same_seeds[pick] for pick in picks]
    else:
        of = [truth.rows[pick]["gain"] for pick in picks]
        gains = [gain[0] for gain in of if gain]
    return picks[0] != picks[1] and len(gains) == 2 and abs(gains[0] - gains[1]) > AS_GOOD


@dataclass
class Judged:
    """What the verdicts on one question are worth."""

    label: str
    counts: Counter = field(default_factory=Counter)
    # A row of the CSV file for each verdict.
    rows: list = field(default_factory=list)
    # The clear verdicts that the truth contradicts, in words.
    wrong: list = field(default_factory=list)
    picks: list = field(default_factory=list)
    runs: float = 0.0

    def text(self):
        kinds = ", ".join(f"{self.counts[k]} {k}" for k in CERTAINTIES if self.counts[k])
        mark = "  OPPOSITE" if self.counts["opposite"] else ""
        return (
            f"{self.label}: {self.counts['verdicts']} seeds: {kinds}; "
            f"{', '.join(self.picks) or '-'}; truth of {self.runs:.0f} runs{mark}"
        )


def clear_picks(lines):
    """The settings that clear verdicts recommend."""
    return {line["pick"] for line in lines if line["certainty"] in CLEAR and not line["keep"]}


def judge(label, lines, same_seeds=None):
    """Holds the verdicts on a question against each other and against the runs of other seeds;
    `same_seeds`: what settings gain where all have the same."""
    found, everything = Judged(label), Truth(lines)
    found.runs = max(row["runs"] for row in everything.rows.values())
    counts = found.counts
    counts.update(questions=1, verdicts=len(lines))
    clear = [line for line in lines if line["certainty"] in CLEAR]
    differ = lambda a, b: opposite(a, b, everything, same_seeds or {})
    pairs = [(a, b) for i, a in enumerate(clear) for b in clear[:i] if differ(a, b)]
    counts.update(pairs=len(pairs), opposite=int(bool(pairs)))
    for line in lines:
        counts[line["certainty"]] += 1
        rest = [other for other in lines if other is not line]
        why = ""
        agrees = beyond = None
        if line in clear and rest:
            truth = Truth(rest)
            why = truth.contradicts(line) or ""
            agrees, beyond = not why, truth.contradicts(line, True) is None
            counts.update(judged=1, right=int(agrees), proven=int(beyond))
        if why:
            found.wrong.append(f"    seed {line['seed']}, {line['headline']} But {why}")
        found.rows.append(
            {
                "question": label,
                "seed": line["seed"],
                "certainty": line["certainty"],
                "pick": "keep" if line["keep"] else line["pick"],
                "agrees": agrees,
                "agrees_within_chance": beyond,
                "why_not": why,
            }
        )
    found.picks = sorted({row["pick"] for row in found.rows if row["certainty"] in CLEAR})
    return found


def table(sums):
    """The counts of each group and of all, as Markdown."""
    heads = ["kind", "questions", "verdicts", "clear", "borderline", "open"]
    heads += ["clear ones that the other seeds confirm", "or contradict by chance only"]
    heads += ["questions with opposite clear verdicts"]
    rows = [heads, ["---"] * len(heads)]
    for name, counts in [*sums.items(), ("all", sum(sums.values(), Counter()))]:
        share = lambda of: f"{counts[of] / counts['judged']:.1%}" if counts["judged"] else "-"
        numbers = [
            counts["questions"],
            counts["verdicts"],
            counts["clear"] + counts["exact"],
            counts["borderline"],
            counts["open"],
        ]
        rows.append([name, *numbers, share("right"), share("proven"), counts["opposite"]])
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def write_csv(file, judged):
    with open(file, "w", newline="") as out:
        writer = csv.DictWriter(out, judged[0].rows[0], lineterminator="\n")
        writer.writeheader()
        for one in judged:
            writer.writerows(one.rows)


def summary(given):
    directory = Path(given.dir)
    asked = {label: results(directory, label) for label in questions(given.only)}
    check_parts([line for lines in asked.values() for line in lines])
    judged = [
        judge(label, lines, settled_of(directory, label, lines))
        for label, lines in asked.items()
        if lines
    ]
    if not judged:
        print(f"no results in {directory}", file=sys.stderr)
        return 2
    for one in judged:
        print("\n".join([one.text(), *one.wrong]))
    sums = {}
    for one in judged:
        sums.setdefault(group_of(one.label), Counter()).update(one.counts)
    print(f"\n{table(sums)}\n")
    if given.csv:
        write_csv(given.csv, judged)
    counts = sum(sums.values(), Counter())
    decided = 1 - counts["open"] / counts["verdicts"]
    share = counts["right"] / counts["judged"] if counts["judged"] else 1.0
    proven = counts["proven"] / max(counts["judged"], 1)
    print(
        f"{counts['questions']} questions, {counts['verdicts']} verdicts: "
        f"{counts['clear'] + counts['exact']} clear, {counts['borderline']} borderline, "
        f"{counts['open']} open: {decided:.1%} decided (bar {DECIDED:.0%}); opposite clear verdicts "
        f"on {counts['opposite']} questions (bar 0), {counts['pairs']} pairs; of {counts['judged']} "
        f"clear verdicts {share:.1%} agree with the runs of the other seeds (bar {RIGHT:.0%}), "
        f"{proven:.1%} beyond chance"
    )
    return int(counts["opposite"] > 0 or share < RIGHT or decided < DECIDED)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("ask", "settle", "summary"))
    parser.add_argument(
        "--dir", default=str(ROOT / "target/questions"), help="where results are kept"
    )
    parser.add_argument("--program", default=str(ROOT / "target/release/bentpipe"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--time", default="10s", help="the --time of each question")
    parser.add_argument("--jobs", type=int, default=2, help="questions at the same time")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="ask nothing more after this"
    )
    parser.add_argument("--csv", metavar="FILE", help="where `summary` writes each verdict")
    parser.add_argument("--only", default="", help="questions whose name contains this")
    given = parser.parse_args()
    try:
        if given.what == "summary":
            return summary(given)
        (ask_all if given.what == "ask" else settle_all)(given)
        return 0
    except (OSError, RuntimeError, json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
