#!/usr/bin/env python3
"""The ledger of evidence: every measured number that a page quotes, and what it was measured on.

    evidence/ledger.py check               # holds the pages against the ledger; `make test` does
    evidence/ledger.py write               # prints beside stale numbers at which commit they were measured
    evidence/ledger.py list [GROUP[/NAME]...]
    evidence/ledger.py run [GROUP[/NAME]...]   # measures again what this machine can; `make evidence`
    evidence/ledger.py run quick           # what needs nothing, and minutes
    evidence/ledger.py stamp [GROUP[/NAME]...] # fingerprints of the commit that an entry names
    evidence/ledger.py plain PAGE...       # the numbers of a page that plain.toml does not list

docs/evidence.md explains it. Exit status: 0 done, 1 a page or an entry is wrong, 2 could not run.
"""

import argparse
import subprocess
import sys
import tomllib

import check
import entries
import measure
import pages
import sources
from entries import Entry, Fault


def chosen(ledger: dict[str, Entry], words: list[str]) -> list[Entry]:
    """The entries of groups, or by `GROUP/NAME`; `quick` needs nothing but the command, and minutes."""
    found = []
    for word in words:
        group, _, name = word.partition("/")
        some = [e for e in ledger.values() if e.group == group and name in ("", e.name)]
        if word == "quick":
            some = [e for e in ledger.values() if e.command and not e.needs and e.minutes <= 5]
        if not some:
            raise Fault(f"no group or entry `{word}`")
        found += some
    return found if words else list(ledger.values())


def read_pages(plain: check.Plain) -> list[pages.Page]:
    return [pages.read(name, (sources.ROOT / name).read_text()) for name in plain.files()]


def check_pages(ledger, plain) -> int:
    quoted: set[str] = set()
    faults = []
    for page in read_pages(plain):
        for line, message in sorted(check.faults_of(page, ledger, plain, quoted)):
            faults.append(f"{page.name}:{line}: {message}")
    for name in sorted(set(ledger) - quoted):
        faults.append(f"evidence/{ledger[name].group}.toml: no page quotes `{name}`")
    print(
        "\n".join(faults) or f"{len(ledger)} entries, {len(plain.files())} pages: all as recorded"
    )
    if faults:
        print(f"{len(faults)} faults; docs/evidence.md says how to mend them", file=sys.stderr)
    return int(bool(faults))


def write_pages(ledger, plain) -> None:
    for page in read_pages(plain):
        text = check.written(page, ledger)
        if text != page.text:
            (sources.ROOT / page.name).write_text(text)
            print(f"wrote {page.name}", file=sys.stderr)


def show(some: list[Entry]) -> None:
    rows = [("entry", "values", "state", "commit", "minutes", "needs")]
    for entry in some:
        values = ", ".join(f"{v.name} {v.values[0]:g}{'%' if v.unit == '%' else ' ' * bool(v.unit) + v.unit}"
                           for v in entry.values if len(v.values) == 1)  # fmt: skip
        state = f"stale: {', '.join(entry.changed)}" if entry.changed else "current"
        if not entry.stored:
            state = "not stored"
        needs = ", ".join(entry.needs) or "nothing"
        if not entry.command:
            needs = "(no command)"
        elif measure.by_hand(entry):
            needs += " (read by hand)"
        rows.append(
            (
                f"{entry.group}/{entry.name}",
                values[:58],
                state,
                entry.commit,
                f"{entry.minutes:g}",
                needs,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def stamp(some: list[Entry]) -> None:
    """Fingerprints of the commit at which each entry says that it was measured."""
    for entry in filter(lambda e: e.stored, some):
        prints = {p: sources.fingerprint(p, entry.commit) for p in entry.parts}
        file = entries.HERE / f"{entry.group}.toml"
        fields = {"fingerprint": entries.toml(prints)}
        file.write_text(entries.renew(file.read_text(), entry.name, fields, {}))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("check", "write", "list", "run", "stamp", "plain"))
    parser.add_argument("words", nargs="*", metavar="GROUP[/NAME] or PAGE")
    given = parser.parse_args()
    try:
        ledger = entries.load()
        plain = check.Plain(check.PLAIN.read_text())
        if given.what == "check":
            return check_pages(ledger, plain)
        if given.what == "write":
            write_pages(ledger, plain)
        elif given.what == "plain":
            for name in given.words:
                page = pages.read(name, (sources.ROOT / name).read_text())
                missing = check.missing_of(page, ledger, plain)
                listed = [f'  "{p}{f" × {n}" if n > 1 else ""}",' for p, n in missing.items()]
                print(f'"{name}" = [', *listed, "]", sep="\n")
        else:
            some = chosen(ledger, given.words)
            if given.what == "list":
                show(some)
            elif given.what == "stamp":
                stamp(some)
            else:
                fine = [measure.run(entry) for entry in some]
                write_pages(entries.load(), plain)
                return int(not all(fine))
    except (Fault, tomllib.TOMLDecodeError, OSError, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
