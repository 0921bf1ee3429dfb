"""What a page contains, and how it looks in a real browser: a headless Chromium, if one is installed."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.browser import open_browser

# Elements that have no end tag.
_VOID = {"meta", "br", "link", "img", "input", "hr"}

# Lists the labels of figures that lie outside their figure or over one another, shapes that lie outside of it, and
# says if the page is too wide.
_FAULTS = """
const found = [];
for (const svg of document.querySelectorAll("figure svg")) {
  const frame = svg.getBoundingClientRect();
  const isInside = (box) => box.left >= frame.left - 1 && box.right <= frame.right + 1
    && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
  const labels = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  labels.forEach(([text, box], place) => {
    if (!isInside(box)) found.push(`${text} is clipped`);
    for (const [other, second] of labels.slice(place + 1)) {
      const width = Math.min(box.right, second.right) - Math.max(box.left, second.left);
      const height = Math.min(box.bottom, second.bottom) - Math.max(box.top, second.top);
      if (width > 1 && height > 3) found.push(`${text} overlaps ${other}`);
    }
  });
  for (const shape of svg.querySelectorAll(".qd-line, .qd-head, .qd-box, .qd-special"))
    if (!isInside(shape.getBoundingClientRect())) found.push(`${shape.outerHTML} is clipped`);
}
if (document.documentElement.scrollWidth > innerWidth) found.push("the page is too wide");
return [document.querySelectorAll("figure svg text").length, found];
"""


class Page(HTMLParser):
    """The elements, texts and ids of a page; tags that do not match are an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script") and data.strip():
            self.texts.append(" ".join(data.split()))

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    def count(self, tag: str) -> int:
        """How many elements of that name there are."""
        return sum(name == tag for name, _ in self.tags)


def run_in_page(page: str, script: str, folder: Path, *, width: int = 1200, dark: bool = False) -> Any:
    """What the JavaScript returns in the page, shown in a window of that width; skips where there is no browser."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    with open_browser(folder / "profile") as browser:
        browser.look(width=width, height=2000, dark=dark)
        browser.open(path)
        return browser.run_body(script)


def figure_faults(page: str, folder: Path, *, width: int) -> tuple[int, list[str]]:
    """How many labels the page's figures have, and what is clipped, covered or too wide."""
    labels, faults = run_in_page(page, _FAULTS, folder, width=width)
    return labels, faults
