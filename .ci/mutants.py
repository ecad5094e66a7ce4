#!/usr/bin/env python3
"""Shows that the checks notice what is wrong: each mutant must make the check fail that it names.

    .ci/mutants.py --check         # that the text of every mutant is in its file once: at once
    .ci/mutants.py [TEXT ...]      # tries them, or those whose `what` contains a TEXT

The mutants are in mutants.toml. They are put into a worktree of the last commit, target/mutants/tree,
with a build of its own (target/mutants/build), so that nothing of the user's changes. Each check is
first run on what is committed, where it must pass. What does not build is not caught.

Exit status: 0 all caught, 1 one survived, 2 a text is not there once, or a check could not be run.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUTANTS = ROOT / ".ci/mutants.toml"
PLACE = ROOT / "target/mutants"
TREE, BUILD = PLACE / "tree", PLACE / "build"


class CannotRun(Exception):
    """A check that says nothing."""


def read():
    return tomllib.loads(MUTANTS.read_text())["mutant"]


def misplaced(mutants, root):
    """A line for each mutant whose text is not in its file once, or changes nothing."""
    lines = []
    for mutant in mutants:
        path = root / mutant["file"]
        times = path.read_text().count(mutant["old"]) if path.exists() else 0
        if times != 1 or mutant["old"] == mutant["new"]:
            lines.append(f"{mutant['file']}: `{mutant['old']}` is there {times} times")
    return lines


def run(*words):
    """The exit status and what was printed last."""
    env = {**os.environ, "CARGO_TARGET_DIR": str(BUILD)}
    try:
        done = subprocess.run(
            words, cwd=TREE, env=env, capture_output=True, text=True, check=False, timeout=1800
        )
    except subprocess.TimeoutExpired:
        # A mutant that never ends was noticed.
        return 1, "did not end within half an hour"
    printed = (done.stdout + done.stderr).strip()
    return done.returncode, printed[-2000:]


def passes(check):
    """True if a check passes in the tree as it is."""
    kind, *rest = shlex.split(check)
    if kind == "test":
        package, target, test = rest
        where = ["--lib"] if target == "lib" else ["--test", target]
        build = ["cargo", "test", "--quiet", "-p", package, *where]
        status, printed = run(*build, "--no-run")
        if status:
            raise CannotRun(f"does not build:\n{printed}")
        status, printed = run(*build, "--", *([test] if test else []))
        if status == 0 and " 0 passed" in printed:
            raise CannotRun(f"no test is called {test}")
        return status == 0
    if kind == "reproduce":
        command = ["cargo", "build", "--quiet", "-p", "bentpipe-cli"]
        status, printed = run(*command)
        if status:
            raise CannotRun(f"does not build:\n{printed}")
        status, printed = run(str(BUILD / "debug/bentpipe"), "reproduce", *rest, "--brief")
        if status not in (0, 1):
            raise CannotRun(printed)
        return status == 0
    raise CannotRun(f"`{kind}` is no kind of check")


def caught(mutant):
    path = TREE / mutant["file"]
    text = path.read_text()
    try:
        path.write_text(text.replace(mutant["old"], mutant["new"]))
        return not passes(mutant["check"])
    finally:
        path.write_text(text)


def tree():
    """The worktree, at the last commit."""
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    if not TREE.exists():
        subprocess.run([*git, "worktree", "prune"], check=True)
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(TREE)], check=True)
    at = ["git", "-C", str(TREE), "checkout", "--quiet", "--force", "--detach", head.stdout.strip()]
    subprocess.run(at, check=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only that each text is there once")
    parser.add_argument("texts", nargs="*", help="only mutants whose `what` contains one of these")
    arguments = parser.parse_args()
    mutants = [
        mutant
        for mutant in read()
        if not arguments.texts or any(text in mutant["what"] for text in arguments.texts)
    ]
    if arguments.check:
        lines = misplaced(mutants, ROOT)
        print("\n".join(lines) if lines else f"{len(mutants)} mutants, each in its place")
        return 2 if lines else 0
    tree()
    if lines := misplaced(mutants, TREE):
        print("\n".join(lines), file=sys.stderr)
        return 2
    for check in dict.fromkeys(mutant["check"] for mutant in mutants):
        if not passes(check):
            raise CannotRun(f"`{check}` fails on what is committed")
    survived = 0
    for mutant in mutants:
        is_caught = caught(mutant)
        survived += not is_caught
        print(
            f"{'caught' if is_caught else 'SURVIVED':8}  {mutant['what']}  ({mutant['check']})",
            flush=True,
        )
    print(f"{len(mutants)} mutants, {survived} survived")
    return int(survived > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CannotRun, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
