"""Tables of results."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any, Literal

from . import _bentpipe
from ._errors import OptionError

#: The rows of a long table that are shown.
_SHOWN = 20

#: Which library makes a frame.
FrameLibrary = Literal["pandas", "polars", "pyarrow"]


class Table:
    """A table of results, which other libraries read without copying.

    It has the Arrow PyCapsule interface: ``pyarrow.table(t)``,
    ``polars.DataFrame(t)``, ``pandas.DataFrame.from_arrow(t)`` and, in a query of
    DuckDB, the name of the variable. Units are part of the column names:
    ``time_s``, ``goodput_bps``, ``size_bytes``.

    Attributes
    ----------
    columns : list of str
        The names of the columns.
    about : dict of str to str
        Descriptions of the columns.
    """

    def __init__(self, batch: _bentpipe.Batch) -> None:
        self._batch = batch
        self.about: dict[str, str] = dict(batch.columns())
        self.columns: list[str] = list(self.about)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow stream."""
        return self._batch.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The names and types of the columns."""
        return self._batch.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._batch)

    def __contains__(self, column: object) -> bool:
        return column in self.about

    def __getitem__(self, column: str) -> list[Any]:
        """A column as a list; missing values are ``None``.

        Parameters
        ----------
        column : str
            Its name.
        """
        if column not in self.about:
            names = ", ".join(self.columns)
            raise KeyError(f"there is no column {column!r}; there are {names}")
        return self._batch.column(column)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, each as a dictionary."""
        columns = [self[name] for name in self.columns]
        for row in zip(*columns):
            yield dict(zip(self.columns, row))

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by name, each as a list.

        Returns
        -------
        dict of str to list
        """
        return {name: self[name] for name in self.columns}

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """The table as a frame of pandas, polars or pyarrow.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Which one; by default the first of these that is installed.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
        """
        from importlib.util import find_spec

        known: tuple[FrameLibrary, ...] = ("pandas", "polars", "pyarrow")
        if library is None:
            library = next((name for name in known if find_spec(name) is not None), None)
            if library is None:
                raise ImportError(
                    "to_frame needs pandas, polars or pyarrow; pip install one of them"
                )
        if library == "polars":
            import polars

            return polars.DataFrame(self)
        if library == "pyarrow":
            import pyarrow

            return pyarrow.table(self)
        if library == "pandas":
            import pandas

            # Without pyarrow, and with every version of pandas.
            return pandas.DataFrame(self.to_dict())
        raise OptionError(f"`{library}` is no library of frames: expected {', '.join(known)}")

    def _texts(self, rows: int) -> tuple[list[str], list[list[str]], list[bool]]:
        """The columns with values, as texts, and which of them are numbers."""
        names: list[str] = []
        cells: list[list[str]] = []
        numeric: list[bool] = []
        for name in self.columns:
            values = self[name]
            if values and all(value is None for value in values):
                continue
            names.append(name)
            cells.append([_shown(value) for value in values[:rows]])
            numeric.append(not any(isinstance(value, str) for value in values))
        return names, cells, numeric

    def __repr__(self) -> str:
        import shutil

        names, cells, numeric = self._texts(_SHOWN)
        width = shutil.get_terminal_size((100, 24)).columns
        widths = [max(map(len, [name, *column])) for name, column in zip(names, cells)]
        kept, used = 0, 0
        for column in widths:
            if kept and used + column > width:
                break
            used += column + 2
            kept += 1
        lines: list[str] = []
        rows = [names, *map(list, zip(*cells))] if cells else [names]
        for row in rows:
            texts = [
                text.rjust(w) if is_number else text.ljust(w)
                for text, w, is_number in zip(row[:kept], widths, numeric)
            ]
            lines.append("  ".join(texts).rstrip())
        if len(self) > _SHOWN:
            lines.append(f"... {len(self) - _SHOWN} more rows")
        if kept < len(names):
            lines.append(f"... {len(names) - kept} more columns: {', '.join(names[kept:])}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names, cells, numeric = self._texts(_SHOWN)
        sides = ["right" if is_number else "left" for is_number in numeric]
        heads = "".join(
            f'<th style="text-align:{side}" title="{html.escape(self.about[name], quote=True)}">'
            f"{html.escape(name)}</th>"
            for name, side in zip(names, sides)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:{side}">{html.escape(text)}</td>'
                for text, side in zip(row, sides)
            )
            + "</tr>"
            for row in zip(*cells)
        )
        more = f"<p>{len(self) - _SHOWN} more rows</p>" if len(self) > _SHOWN else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"


class Tabular:
    """Results with a table that stands for them; printed, they are what the command prints."""

    #: Characters of a line, at most.
    _widest = 160

    def _main(self) -> Table:
        raise NotImplementedError

    def _text(self, width: int) -> str:
        raise NotImplementedError

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """The main table as a frame: see :meth:`Table.to_frame`."""
        return self._main().to_frame(library)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The main table as an Arrow stream."""
        return self._main().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        import shutil

        width = min(self._widest, shutil.get_terminal_size((100, 24)).columns)
        return self._text(max(40, width)).rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text(120).rstrip())}</pre>"


def _shown(value: object) -> str:
    """A cell as a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return str(value)
