"""The papers that come with the package."""

from __future__ import annotations

from pathlib import Path

from . import _bentpipe


def announce() -> None:
    """Announces their folder; those of the current folder or a parent take precedence."""
    _bentpipe.papers_are_in(Path(__file__).parent / "papers")
