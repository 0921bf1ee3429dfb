"""The documentation site, built as ``make docs`` builds it: no warning, and nothing from other hosts."""

from __future__ import annotations

import html
import inspect
import os
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

# Attributes that make a browser load something; a link that is clicked is not one of them.
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}


@pytest.fixture(scope="module")
def site(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    python = project_root / ".venv-docs" / "bin" / "python"
    if not python.exists():
        pytest.skip("the documentation's environment is not installed: make docs")
    folder = tmp_path_factory.mktemp("site")
    command = [str(python), "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=project_root, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr
    return folder


class Loads(HTMLParser):
    """Notes what a page loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        value = dict(attrs).get(_LOADED.get(tag, ""))
        if value:
            self.found.append(value)


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    loaded = [address for page in pages for address in Loads(page.read_text(encoding="utf-8")).found]
    assert any(address.endswith(".js") for address in loaded)
    assert [address for address in loaded if re.match(r"(\w+:)?//", address)] == []
    for sheet in site.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


def test_the_reference_has_the_public_names_with_their_docstrings(site: Path) -> None:
    import qdecomp

    reference = (site / "api.html").read_text(encoding="utf-8")
    values = {"VERSION", "__version__"}
    assert [name for name in set(qdecomp.__all__) - values if f'id="qdecomp.{name}"' not in reference] == []
    described = inspect.getdoc(qdecomp.Decomposition.plan)
    assert described
    assert html.escape(described.partition(".")[0], quote=False) in reference
    assert ":class:" not in reference


def test_pages_of_other_files_and_notebooks_are_there(site: Path) -> None:
    assert "[Unreleased]" in (site / "changelog.html").read_text(encoding="utf-8")
    assert "<svg" in (site / "notebooks" / "multi_hop_retrieval.html").read_text(encoding="utf-8")
    assert (site / "notebooks" / "multi_hop_retrieval.ipynb").exists()
