#!/usr/bin/env python3
"""The size of the explorer's page in kB, compressed: of all its files, and of those that the
browser needs before the first paint, which index.html names. `make web` builds the page."""

import gzip
import re
from pathlib import Path

DIST = Path(__file__).resolve().parents[2] / "crates/explore/web/dist"


def main() -> None:
    size = lambda file: len(gzip.compress(file.read_bytes(), 9))
    index = DIST / "index.html"
    named = re.findall(r'(?:src|href)="/([^":]+)"', index.read_text())
    print(f"all {sum(size(file) for file in DIST.rglob('*') if file.is_file()) / 1000:.0f}")
    print(f"first {(size(index) + sum(size(DIST / name) for name in named)) / 1000:.0f}")


if __name__ == "__main__":
    main()
