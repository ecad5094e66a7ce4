"""What mkdocs has to know of this repository: pages that live outside ``docs``,
and links as a repository has them.

Pages are written to be read in the repository, where a link leads to a file of
it. On the site a link to a file that is a page leads to that page, a link to
any other file of the repository leads to the repository, and a link to nothing
stays what it is, which ``mkdocs build --strict`` reports.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import notebooks

ROOT = Path(__file__).resolve().parents[2]

#: Pages from outside `docs`: the file, and what it is on the site.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
    "crates/study/LANGUAGE.md": "studies.md",
    "fidelity/README.md": "fidelity.md",
    "fidelity/linux/README.md": "fidelity-linux.md",
}
#: The same of folders of such files.
OUTSIDE_GLOBS = {
    "papers/*/README.md": lambda path: f"papers/{path.parent.name}.md",
    "notebooks/*.ipynb": lambda path: f"notebooks/{path.stem}.md",
}
#: Notebooks with the outputs of their last test, which those of the repository lack.
EXECUTED = ROOT / "target/notebooks"

FENCE = re.compile(r"^(\s*(?:`{3,}|~~~))(\w*)\S*.*$")
COMMENT = re.compile(r"<!--.*?-->")
LINK = re.compile(r"(\]\()([^)\s]+)((?:\s+\"[^\"]*\")?\))")


def outside() -> dict[str, str]:
    """The pages from outside `docs` that exist, by file of the repository."""
    pages = {path: uri for path, uri in OUTSIDE.items() if (ROOT / path).exists()}
    for pattern, uri in OUTSIDE_GLOBS.items():
        for path in sorted(ROOT.glob(pattern)):
            pages[path.relative_to(ROOT).as_posix()] = uri(path)
    return pages


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Adds the pages from outside `docs`."""
    for path, uri in outside().items():
        if path.endswith(".ipynb"):
            executed = EXECUTED / Path(path).name
            notebook = executed if executed.exists() else ROOT / path
            files.append(File.generated(config, uri, content=notebooks.page(notebook.read_text())))
        else:
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files, **_: Any
) -> str:
    """Leads the links of a page to pages of the site or to the repository."""
    site = {f"docs/{file.src_uri}": file.src_uri for file in files} | outside()
    source = next(path for path, uri in reversed(site.items()) if uri == page.file.src_uri)
    source = posixpath.dirname(source)

    def rewrite(link: re.Match[str]) -> str:
        before, target, after = link.groups()
        path, hash_sign, anchor = target.partition("#")
        if not path or "://" in path or path.startswith("mailto:"):
            return link[0]
        path = posixpath.normpath(posixpath.join(source, path))
        uri = site.get(path) or site.get(f"{path}/README.md")
        if uri is not None:
            uri = posixpath.relpath(uri, posixpath.dirname(page.file.src_uri) or ".")
        elif (ROOT / path).exists():
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            uri = f"{config.extra['repository']}/{kind}/main/{path}"
        else:
            return link[0]
        return f"{before}{uri}{hash_sign}{anchor}{after}"

    lines, fenced = [], False
    for line in markdown.splitlines():
        fence = FENCE.match(line)
        if fence:
            # The words after a block's language are for the tests of the pages.
            line = fence[1] if fenced else fence[1] + fence[2]
            fenced = not fenced
        elif not fenced:
            # Markdown of the site ends a list at a comment.
            line = LINK.sub(rewrite, COMMENT.sub("", line))
        lines.append(line)
    return "\n".join(lines)
