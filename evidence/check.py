"""Holds the numbers of pages against the ledger."""

import itertools
import re
import tomllib
from collections import Counter
from pathlib import Path

import entries
import pages
import sources
from entries import Entry
from pages import Number, Page, Span

PLAIN = entries.HERE / "plain.toml"


class Plain:
    """What is no measurement: patterns for all pages, phrases of each, and pages without check."""

    def __init__(self, text: str):
        table = tomllib.loads(text)
        self.patterns = [re.compile(p) for p in table.pop("everywhere", [])]
        self.pages: list[str] = table.pop("pages", [])
        self.unchecked: list[str] = table.pop("unchecked", [])
        self.phrases: dict[str, Counter] = {}
        for page, phrases in table.items():
            counter: Counter = self.phrases.setdefault(page, Counter())
            for phrase in phrases:
                text, _, times = phrase.partition(" × ")
                counter[text] += int(times or 1)

    def files(self, root: Path = sources.ROOT) -> list[str]:
        found = {p.relative_to(root).as_posix() for g in self.pages for p in root.glob(g)}
        return sorted(found - set(self.unchecked))

    def covered(self, page: Page) -> list[tuple[int, int]]:
        """Stretches that a pattern for all pages is about."""
        return [m.span() for p in self.patterns for m in p.finditer(page.prose)]


def within(number: Number, stretches: list[tuple[int, int]]) -> bool:
    return any(start <= number.start and number.end <= end for start, end in stretches)


def stretches_of(phrase: str, page: Page, start: int = 0, end: int | None = None):
    """Where a phrase stands; its spaces may be line ends."""
    words = r"\s+".join(map(re.escape, phrase.split()))
    pattern = re.compile(rf"(?<![\w.,]){words}(?!\w)(?!\.\d)")
    return [
        m.span()
        for m in pattern.finditer(page.prose, start, len(page.prose) if end is None else end)
    ]


def is_value(number: Number, entry: Entry) -> bool:
    """Whether a number is a value of the entry, rounded as the page prints it."""
    for value in entry.values:
        if (number.unit == "%") != (value.unit == "%"):
            continue
        if number.unit and value.unit and number.unit != value.unit:
            continue
        # Without a sign a page prints how large a difference is.
        sizes = [c if number.sign else abs(c) for c in value.candidates()]
        half = 0.5 * 10**-number.decimals * (1 + 1e-9)
        # Nothing small is rounded to a whole number, which would be 0, 1 or 2 for anything.
        if any(
            abs(c - number.value) <= (half if number.decimals or abs(c) > 2.5 else 1e-9)
            for c in sizes
        ):
            return True
    return False


def note(span: Span, known: list[Entry]) -> str:
    """What a page says beside numbers of code that has changed since; empty if none has."""
    stale = [e for e in known if e.stale]
    if not stale:
        return ""
    at = lambda e: e.commit if e.stored else "a commit that was not stored"
    if len({at(e) for e in stale}) == 1 and len(stale) == len(known):
        return f"(measured at {at(stale[0])})"
    return "(" + "; ".join(f"{e.name} measured at {at(e)}" for e in stale) + ")"


def name_of(name: str) -> str:
    return name.removesuffix(":table")


def known_of(span: Span, ledger: dict[str, Entry]) -> list[Entry]:
    return list(
        {name_of(n): ledger[name_of(n)] for n in span.names if name_of(n) in ledger}.values()
    )


def table_of(span: Span, ledger: dict[str, Entry]) -> str | None:
    """The text that a marked table must be, if its entry stores one."""
    for name in span.names:
        entry = ledger.get(name_of(name))
        if name.endswith(":table") and entry and entry.table:
            return (sources.ROOT / entry.table["file"]).read_text().rstrip("\n")
    return None


def times(ledger: dict[str, Entry]) -> str:
    """The table of what it takes to measure each group again."""
    lines = [
        "| group | entries | nothing | a build or programs | root | a quiet machine | no command |",
        "|---|---|---|---|---|---|---|",
    ]
    for group in sorted({e.group for e in ledger.values()}):
        own = [e for e in ledger.values() if e.group == group]
        kinds = ("quiet", "root", "programs", "nothing")
        sums = dict.fromkeys(kinds, 0.0)
        for entry in (e for e in own if e.command):
            kind = next((k for k in ("quiet", "root") if k in entry.needs), None)
            sums[kind or ("programs" if entry.needs else "nothing")] += entry.minutes
        cells = [f"{sums[kind]:.3g}" if sums[kind] else "" for kind in reversed(kinds)]
        by_hand = sum(not e.command for e in own)
        lines.append(f"| `{group}` | {len(own)} | {' | '.join(cells)} | {by_hand or ''} |")
    return "\n".join(lines)


def with_times(text: str, ledger: dict[str, Entry]) -> str:
    """The page with that table where it asks for it."""
    table = f"<!-- generated: evidence -->\n{times(ledger)}\n<!-- end -->"
    return re.sub(
        r"^<!-- generated: evidence -->\n.*?<!-- end -->$", lambda _: table, text, flags=re.M | re.S
    )


def written(page: Page, ledger: dict[str, Entry]) -> str:
    """The page with the notes and tables that the ledger asks for."""
    text = re.sub(
        r"\n+\([^()\n]*measured at [^()\n]*\) <!-- measured -->$", "", page.text, flags=re.M
    )
    text = pages.NOTE.sub("", text)
    fresh = pages.read(page.name, text)
    for span in reversed(fresh.spans):
        says = note(span, known_of(span, ledger))
        if span.above:
            block = table_of(span, ledger) or text[span.start : span.end].rstrip("\n")
            below = f"\n\n{says} <!-- measured -->" if says else ""
            text = text[: span.start] + block + below + text[span.end :]
        elif says:
            text = f"{text[: span.mark[0]].rstrip(' ')} {says} {text[span.mark[0] :]}"
    return with_times(text, ledger)


def faults_of_notes(page: Page, ledger: dict[str, Entry]) -> list[tuple[int, str]]:
    """Marks whose note is missing, wrong or superfluous, and tables that are not the ledger's."""
    faults = []
    for span in page.spans:
        known = known_of(span, ledger)
        says = note(span, known)
        if span.above:
            below = re.match(r"\n\n(\([^()\n]*\)) <!-- measured -->", page.text[span.end :])
            is_there = below[1] if below else ""
            wanted = table_of(span, ledger)
            if wanted is not None and page.text[span.start : span.end].rstrip("\n") != wanted:
                faults.append(
                    (
                        span.line,
                        "this table is not the one of the ledger: `evidence/ledger.py write`",
                    )
                )
        else:
            before = re.search(r"(\([^()]*measured at [^()]*\)) $", page.text[: span.mark[0]])
            is_there = before[1] if before else ""
        if says == is_there:
            continue
        if not says:
            faults.append(
                (span.line, f"says {is_there}, but is current: `evidence/ledger.py write`")
            )
            continue
        stale = [e for e in known if e.stale]
        why = "; ".join(
            f"{e.name}: {', '.join(e.changed) or 'its commit'} changed since, renew it with `{e.renewal}`"
            if e.stored
            else f"{e.name}: its commit is not stored, renew it with `{e.renewal}`"
            for e in stale
        )
        faults.append(
            (span.line, f"must say {says} ({why}), or print it with `evidence/ledger.py write`")
        )
    return faults


def faults_of(
    page: Page, ledger: dict[str, Entry], plain: Plain, quoted: set[str]
) -> list[tuple[int, str]]:
    """All that is wrong with a page, by line. Adds the names of entries that it quotes."""
    faults = list(page.faults)
    everywhere = plain.covered(page)
    done: set[int] = set()
    for span in page.spans:
        for name in span.names:
            if name_of(name) not in ledger:
                near = entries.nearest(name_of(name), ledger)
                faults.append((span.line, f"no entry `{name}`{near}"))
        known = known_of(span, ledger)
        quoted |= {e.name for e in known}
        inputs = [
            s for e in known for i in e.inputs for s in stretches_of(i, page, span.start, span.end)
        ]
        whole = table_of(span, ledger) is not None
        for number in page.numbers(span.start, span.end):
            done.add(number.start)
            if whole or within(number, everywhere) or within(number, inputs):
                continue
            if known and not any(is_value(number, e) for e in known):
                names = ", ".join(e.name for e in known)
                faults.append(
                    (number.line, f"`{number.phrase}` is no value and no input of {names}")
                )
    notes = faults_of_notes(page, ledger)
    new = written(page, ledger)
    if not notes and new != page.text:
        pairs = itertools.zip_longest(page.text.split("\n"), new.split("\n"))
        line = next(i for i, (old, new) in enumerate(pairs, 1) if old != new)
        notes = [(line, "not as the ledger writes it: `evidence/ledger.py write`")]
    faults += notes
    return faults + faults_of_rest(page, plain, everywhere, done)


def faults_of_rest(page: Page, plain: Plain, everywhere, done: set[int]) -> list[tuple[int, str]]:
    """Numbers without a mark that are not listed as plain, and phrases that are listed in vain."""
    faults = []
    rest = [n for n in page.numbers() if n.start not in done and not within(n, everywhere)]
    listed = Counter(plain.phrases.get(page.name, {}))
    own = {n.phrase for n in rest}
    # Phrases of more than a number and its neighbour go first.
    for phrase in sorted(set(listed) - own, key=len, reverse=True):
        found = [s for s in stretches_of(phrase, page) if any(within(n, [s]) for n in rest)]
        if len(found) != listed[phrase]:
            faults.append(
                (
                    1,
                    f"evidence/plain.toml has `{phrase}` {listed[phrase]} times, the page {len(found)}",
                )
            )
        rest = [n for n in rest if not within(n, found)]
    places: dict[str, list[Number]] = {}
    for number in rest:
        places.setdefault(number.phrase, []).append(number)
    for phrase, numbers in places.items():
        for number in numbers[listed[phrase] :]:
            faults.append(
                (
                    number.line,
                    f"`{phrase}` is neither marked as evidence nor listed in evidence/plain.toml",
                )
            )
        if listed[phrase] > len(numbers):
            faults.append(
                (
                    1,
                    f"evidence/plain.toml has `{phrase}` {listed[phrase]} times, the page {len(numbers)}",
                )
            )
    return faults


def missing_of(page: Page, ledger: dict[str, Entry], plain: Plain) -> Counter:
    """The phrases that plain.toml would have to list for the page."""
    spans = [(s.start, s.end) for s in page.spans]
    everywhere = plain.covered(page)
    return Counter(
        n.phrase for n in page.numbers() if not within(n, everywhere) and not within(n, spans)
    )
