"""Notebooks as pages: text, code, and what the code printed and drew."""

from __future__ import annotations

import base64
import json
from typing import Any


def page(notebook: str) -> str:
    """The page of a notebook, in Markdown.

    Parameters
    ----------
    notebook
        The content of an ``.ipynb`` file.
    """
    cells: list[dict[str, Any]] = json.loads(notebook)["cells"]
    parts: list[str] = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(_fenced(source, "python"))
        printed = ""
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream":
                # Bars of progress and log lines are for the moment.
                printed += "".join(output["text"]) if output["name"] == "stdout" else ""
                continue
            if printed:
                parts.append(_fenced(printed, "text"))
                printed = ""
            parts.append(_shown(output.get("data", {})))
        if printed:
            parts.append(_fenced(printed, "text"))
    return "\n\n".join(part for part in parts if part)


def _shown(data: dict[str, Any]) -> str:
    """What a cell displays, in the richest form that a page can have."""
    if "image/svg+xml" in data:
        svg = "".join(data["image/svg+xml"]).encode()
        return _picture("svg+xml", base64.b64encode(svg).decode())
    if "image/png" in data:
        return _picture("png", "".join(data["image/png"]).replace("\n", ""))
    if "text/html" in data:
        # No blank lines, at which a block of HTML ends in Markdown.
        lines = "".join(data["text/html"]).splitlines()
        kept = [line if line.strip() else "&#8203;" for line in lines]
        return '<div class="output">\n' + "\n".join(kept) + "\n</div>"
    if "text/plain" in data:
        return _fenced("".join(data["text/plain"]), "text")
    return ""


def _picture(kind: str, content: str) -> str:
    return (
        f'<img class="output" alt="What the cell draws" src="data:image/{kind};base64,{content}">'
    )


def _fenced(text: str, language: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````"
