"""Roles of Sphinx in docstrings, as links of the site.

Docstrings name other objects by roles, such as ``:func:`compare```, which
``help()`` and editors show well. On the site a name of the package becomes a
link, any other name stays code.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:func|class|meth|attr|mod|exc|data|obj):`~?([\w.]+)`")


class Roles(griffe.Extension):
    """Rewrites the roles of every docstring."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Goes through a package when all of it is loaded."""
        public = set(pkg.exports or ())

        def link(role: re.Match[str]) -> str:
            name = role[1].removeprefix(f"{pkg.name}.")
            known = name.split(".")[0] in public
            return f"[`{name}`][{pkg.name}.{name}]" if known else f"`{name}`"

        def visit(thing: griffe.Object) -> None:
            if thing.docstring is not None:
                thing.docstring.value = ROLE.sub(link, thing.docstring.value)
            for member in thing.members.values():
                if not member.is_alias:
                    visit(member)

        visit(pkg)
