"""The papers that come with the package."""

from __future__ import annotations

from pathlib import Path

from . import _bentpipe


def announce() -> None:
    """Says where they are; those of the current folder or one above go first."""
    _bentpipe.papers_are_in(Path(__file__).parent / "papers")
