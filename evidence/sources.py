"""Fingerprints of parts of the code: what a measured number depends on.

A part is a list of files and folders in `parts.toml`. Its fingerprint is a hash of its
sources without comments, blank lines and tests, so that only what can change a result
changes it. A file of data is part of it where it is named itself. The same can be computed of any
commit.
"""

import hashlib
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ROOT / "evidence" / "parts.toml"

# Comments, and what may hold something that looks like one.
C_LIKE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\br(\#*)".*?"\1|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`"""
    r"""|'(?:\\[^'\n]*|[^'\\\n])'|[{};]|\#\[cfg\(test\)\]""",
    re.DOTALL,
)
HASH_LIKE = re.compile(
    r"""\#[^\n]*|\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
LANGUAGES = {
    **dict.fromkeys((".rs", ".c", ".h", ".cc", ".ts", ".tsx", ".mjs", ".css"), C_LIKE),
    **dict.fromkeys((".py", ".toml", ".tcl", ".sh"), HASH_LIKE),
}
# Folders and files without influence on a result.
LEFT_OUT = re.compile(
    r"(^|/)(tests?|snapshots|examples|node_modules|dist|target|__pycache__)/"
    r"|(^|/)(tests?|testing|test_\w+)\.\w+$|_tests\.rs$|\.(spec|test)\.tsx?$"
)


def counts(path: str) -> bool:
    """Whether a file of a part is in its fingerprint."""
    return Path(path).suffix in LANGUAGES and not LEFT_OUT.search(path)


def stripped(path: str, text: str) -> str:
    """The source without comments, tests in their own module, and differences of spacing."""
    if Path(path).suffix not in LANGUAGES:
        return text
    kept, end, depth = [], 0, None
    for found in LANGUAGES[Path(path).suffix].finditer(text):
        token = found.group()
        if depth is None:
            kept.append(text[end : found.start()])
        end = found.end()
        if token.startswith(("//", "/*")) or (token.startswith("#") and token != "#[cfg(test)]"):
            continue
        if depth is None and token == "#[cfg(test)]":
            depth = 0
        elif depth is None:
            kept.append(token)
        elif token == "{":
            depth += 1
        elif token == "}":
            depth = depth - 1 or None
        elif token == ";" and depth == 0:
            depth = None
    kept.append(text[end:])
    return " ".join("".join(kept).split())


@cache
def declared() -> dict[str, list[str]]:
    """The parts and their paths."""
    return tomllib.loads(PARTS.read_text())


def paths_of(part: str) -> list[str]:
    """The paths of a part; a path stands for itself."""
    return declared().get(part, [part])


def git(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True, **options)


def here(paths: list[str]) -> dict[str, str]:
    """The files of this tree under `paths`, with their text."""
    found = {}
    for path in paths:
        at = ROOT / path
        files = [at] if at.is_file() else at.rglob("*")
        for file in files:
            name = file.relative_to(ROOT).as_posix()
            wanted = name in paths or counts(name)
            if wanted and file.is_file() and not file.is_symlink():
                found[name] = file.read_text(errors="replace")
    return found


def at(commit: str, paths: list[str]) -> dict[str, str]:
    """The same of a commit."""
    listed = git("ls-tree", "-r", "-z", commit, "--", *paths, text=True).stdout.split("\0")
    blobs = {}
    for line in filter(None, listed):
        about, name = line.split("\t")
        if (name in paths or counts(name)) and not about.startswith("120000"):
            blobs[name] = about.split()[2]
    answer = git("cat-file", "--batch", input="\n".join(blobs.values()).encode()).stdout
    found = {}
    for name in blobs:
        header, _, answer = answer.partition(b"\n")
        size = int(header.split()[2])
        found[name], answer = answer[:size].decode(errors="replace"), answer[size + 1 :]
    return found


@cache
def fingerprint(part: str, commit: str | None = None) -> str:
    """Twelve hexadecimal digits; of the working tree if there is no commit."""
    paths = paths_of(part)
    files = here(paths) if commit is None else at(commit, paths)
    if not files and commit is None:
        raise FileNotFoundError(f"the part `{part}` has no sources")
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{stripped(name, files[name])}\0".encode())
    return digest.hexdigest()[:12]
