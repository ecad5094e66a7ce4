"""Pictures by the project's own renderer."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from ._errors import InputError, OptionError

#: The kinds of files that pictures are written to.
KINDS = ("svg", "png", "pdf")


class Picture:
    """A figure: notebooks show it, and :meth:`save` writes it.

    Attributes
    ----------
    svg : str
        The figure as SVG.
    """

    def __init__(self, draw: Callable[[str], bytes]) -> None:
        self._draw = draw

    @cached_property
    def svg(self) -> str:
        return self._draw("svg").decode()

    def save(self, path: str | os.PathLike[str]) -> Picture:
        """Writes the figure.

        Parameters
        ----------
        path : str or path
            The file; its extension selects the format: ``.svg``, ``.png`` or ``.pdf``.

        Returns
        -------
        Picture
            This picture.
        """
        kind = Path(path).suffix.lower().lstrip(".")
        if kind not in KINDS:
            raise OptionError(
                f"cannot tell what kind of picture `{os.fspath(path)}` is: the name must end in "
                ".svg, .png or .pdf"
            )
        content = self._draw(kind)
        try:
            Path(path).write_bytes(content)
        except OSError as error:
            raise InputError(f"cannot write `{os.fspath(path)}`: {error.strerror}") from error
        return self

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<figure, {len(self.svg) / 1000:.0f} kB of SVG; .save('figure.svg') writes it>"


def picture(draw: Callable[[str], bytes], path: str | os.PathLike[str] | None = None) -> Picture:
    """A picture, written to ``path`` where that is given."""
    made = Picture(draw)
    return made if path is None else made.save(path)
