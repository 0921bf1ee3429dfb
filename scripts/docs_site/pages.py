"""The pages of the documentation site as Markdown, each fact taken from the one file that states it.

Pages are the files in docs/, the project's other Markdown files (:data:`PROJECT_PAGES`) and the notebooks. A line of
a page that is only a link to a section of README, such as ``[Train](../README.md#train)``, becomes that section.
Links between files of the project become links between pages; one that leads to no page is a :class:`SiteError`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

__all__ = ["PROJECT_IMAGES", "PROJECT_PAGES", "Site", "SiteError", "outside_of_code", "slug"]

README = "README.md"
HOME = "index.md"

PROJECT_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RESULTS.md": "results.md",
    "data/README.md": "sample_data.md",
    "training_config/README.md": "settings.md",
    "qdecomp/parsers/minilm_break/MODEL_CARD.md": "model_card.md",
}
"""Files outside docs/ that are also pages of the site."""

PROJECT_IMAGES = {"qdecomp/parsers/minilm_break/calibration.svg": "images/calibration.svg"}
"""Images outside docs/ that pages show; a link in docs/ stands for each."""

_LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
_INCLUDE = re.compile(r"\[[^\]]*\]\(\.\./README\.md#([\w-]+)\)")
_HEADING = re.compile(r"(#+) (.+)")


class SiteError(ValueError):
    """A page cannot be built: it says which, and why."""


class Site:
    """The pages of a clone."""

    def __init__(self, root: Path) -> None:
        """``root`` is the folder of the clone."""
        self.root = root
        names = [
            path.relative_to(root).as_posix()
            for pattern in ("*.md", "notebooks/*.ipynb")
            for path in sorted((root / "docs").glob(pattern))
        ]
        found = {re.sub(r"\.ipynb$", ".md", name.removeprefix("docs/")): name for name in names}
        found |= {page: source for source, page in PROJECT_PAGES.items() if (root / source).exists()}
        self.sources: dict[str, str] = found
        """The pages, each with the file that it is made of."""
        self._pages = {source: page for page, source in found.items()}

    @cached_property
    def _included(self) -> dict[str, str]:
        """Where the sections of README are on the site: a page and, for a section inside another, its anchor."""
        places: dict[str, str] = {}
        for page, source in self.sources.items():
            lines = outside_of_code(self._read(source)) if source.endswith(".md") else ()
            for match in filter(None, map(_INCLUDE.fullmatch, lines)):
                places[match[1]] = page
                for line, is_code in self._section(match[1], source):
                    heading = None if is_code else _HEADING.fullmatch(line)
                    if heading:
                        places.setdefault(slug(heading[2]), f"{page}#{slug(heading[2])}")
        return places

    def page(self, name: str) -> str:
        """The Markdown of a page."""
        source = self.sources[name]
        text = self._read(source)
        if source.endswith(".ipynb"):
            text = notebook_markdown(json.loads(text), posixpath.basename(source))
        lines: list[str] = []
        for line, is_code in _lines(text):
            include = None if is_code else _INCLUDE.fullmatch(line)
            if include:
                section = self._section(include[1], source)
                lines += [line if is_code else self._linked(line, README, name) for line, is_code in section]
            else:
                lines.append(line if is_code else self._linked(line, source, name))
        return "\n".join(lines) + "\n"

    def _section(self, anchor: str, source: str) -> list[tuple[str, bool]]:
        """The lines below a heading of README, up to the next heading of its level, and which are code."""
        level = 0
        found: list[tuple[str, bool]] = []
        for line, is_code in _lines(self._read(README)):
            heading = None if is_code else _HEADING.fullmatch(line)
            if level and heading and len(heading[1]) <= level:
                break
            if level:
                found.append((line, is_code))
            elif heading and slug(heading[2]) == anchor:
                level = len(heading[1])
        if not found:
            raise SiteError(f"{source}: README has no section #{anchor}")
        return found

    def _linked(self, line: str, source: str, page: str) -> str:
        # Inline code is every second part; a link in it does not count.
        parts = re.split(r"(`+[^`]*`+)", line)
        link: Callable[[re.Match[str]], str] = lambda match: f"{match[1]}({self._target(match[2], source, page)})"  # noqa: E731
        return "".join(part if part.startswith("`") else _LINK.sub(link, part) for part in parts)

    def _target(self, target: str, source: str, page: str) -> str:
        path, _, anchor = target.partition("#")
        if not path or ":" in path:
            return target
        place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if not (self.root / place).exists():
            raise SiteError(f"{source}: there is no {place}")
        if place == README:
            other, _, anchor = self._included.get(anchor, "" if anchor else HOME).partition("#")
        else:
            other = (
                self._pages.get(place)
                or PROJECT_IMAGES.get(place)
                or (place.removeprefix("docs/") if place.startswith("docs/") else "")
            )
        if not other:
            raise SiteError(f"{source}: {target} is not a page of the site")
        relative = posixpath.relpath(other, posixpath.dirname(page) or ".")
        return f"{relative}#{anchor}" if anchor else relative

    def _read(self, source: str) -> str:
        return (self.root / source).read_text(encoding="utf-8")


def notebook_markdown(notebook: dict[str, Any], name: str) -> str:
    """A notebook with its stored outputs as Markdown."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/html" in data:
                parts.append(f"<div>{''.join(data['text/html'])}</div>".replace("\n", " "))
            else:
                parts.append(f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```")
    # A notebook begins with its title, below which the link to the file is.
    return "\n\n".join([parts[0], f"[Download this notebook]({name})", *parts[1:]])


def outside_of_code(text: str) -> Iterator[str]:
    """The lines of a Markdown text that are not in a fenced block."""
    return (line for line, is_code in _lines(text) if not is_code)


def slug(heading: str) -> str:
    """The anchor of a heading.

    >>> slug("`parse`, and what comes then?")
    'parse-and-what-comes-then'
    """
    return re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-")


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    fence = ""
    for line in text.splitlines():
        mark = re.match(r"\s*(```+)", line)
        if mark and not fence:
            fence = mark[1]
            yield line, True
        else:
            yield line, bool(fence)
            if mark and mark[1] == fence:
                fence = ""
