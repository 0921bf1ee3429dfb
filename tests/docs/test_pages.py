"""The pages of the documentation: examples run, links lead somewhere, pictures are what the code draws."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from qdecomp import Decomposition
from qdecomp.cli import main
from qdecomp.visualization import steps_svg
from scripts.docs_site.pages import Site, SiteError, outside_of_code, slug

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
WITH_EXAMPLES = [page for page in PAGES if re.search(r"^>>> ", page.read_text(encoding="utf-8"), re.MULTILINE)]


@pytest.fixture(scope="module")
def site() -> Site:
    return Site(ROOT)


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_examples_run(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0


def test_the_pages_that_teach_have_examples() -> None:
    assert {"quick_start", "qdmr", "parsing", "plans", "graphs", "file_formats"} <= {
        page.stem for page in WITH_EXAMPLES
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_other_python_on_the_pages_is_python(page: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for block in blocks:
        if not block.startswith(">>>"):
            compile(block, str(page), "exec")


def test_every_command_on_the_pages_exists(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"^qdecomp ([a-z]+)\b|`qdecomp ([a-z]+)\b", text, re.MULTILINE))
    commands = {first or second for first, second in named}
    assert {"parse", "evaluate", "render", "convert"} <= commands
    for command in commands:
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0, command
        assert "Usage:" in capsys.readouterr().out


def test_every_page_can_be_built_and_its_links_lead_to_pages(site: Site) -> None:
    anchors = {name: {slug(line.lstrip("# ")) for line in site.page(name).splitlines()} for name in site.sources}
    followed = 0
    for name in site.sources:
        text = re.sub(r"`[^`]*`", "", "\n".join(outside_of_code(site.page(name))))
        for target in re.findall(r"\]\(([^)\s:]+)\)", text):
            path, _, anchor = target.partition("#")
            other = (Path(name).parent / path).as_posix() if path else name
            other = str(Path("/", other).resolve().relative_to("/"))
            if not other.endswith(".md"):
                assert (ROOT / "docs" / other).exists(), f"{name}: {target}"
                continue
            assert other in site.sources, f"{name}: {target}"
            assert not anchor or anchor in anchors[other], f"{name}: {target}"
            followed += 1
    assert followed > 20


def test_the_menu_has_every_page_once(site: Site) -> None:
    listed = list(_leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    assert sorted(listed) == sorted(site.sources)


def test_sections_of_the_readme_are_part_of_their_pages(site: Site) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    row = next(line for line in readme.splitlines() if line.startswith("| `copynet_bert_minilm.jsonnet`"))
    assert row in site.page("training.md")
    assert "(../README.md" not in site.page("training.md")
    assert row not in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def test_the_picture_of_the_steps_is_what_the_code_draws() -> None:
    question = "How many red cubes are behind the large sphere?"
    text = (
        "return cubes ;return #1 that are red ;return large sphere ;return #2 that are behind #3 ;return number of #4"
    )
    decomposition = Decomposition.of_text(question, text)
    assert decomposition.logical_form is not None
    drawn = steps_svg(decomposition.logical_form, texts=decomposition.steps)
    assert (ROOT / "docs" / "images" / "steps.svg").read_text(encoding="utf-8").strip() == drawn


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("[x](nowhere.md)", "docs/page.md: there is no docs/nowhere.md"),
        ("See [x](../LICENSE).", "docs/page.md: ../LICENSE is not a page of the site"),
        ("[x](../README.md#nothing)", "docs/page.md: README has no section #nothing"),
        ("See [x](../README.md#nothing).", "docs/page.md: ../README.md#nothing is not a page of the site"),
    ],
)
def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path, line: str, error: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Name\n", encoding="utf-8")
    (tmp_path / "LICENSE").touch()
    (tmp_path / "docs" / "page.md").write_text(f"# Page\n\n{line}\n", encoding="utf-8")
    with pytest.raises(SiteError, match=re.escape(error)):
        Site(tmp_path).page("page.md")


def test_links_in_code_and_to_other_hosts_stay(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = (
        "# Page\n\n`[x](y.md)` and [z](https://example.org/a) and [top](#page)\n\n```\n[x](y.md)\n# No heading\n```\n"
    )
    (tmp_path / "docs" / "page.md").write_text(text, encoding="utf-8")
    assert Site(tmp_path).page("page.md") == text


def _leaves(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    else:
        for child in node.values() if isinstance(node, dict) else node:
            yield from _leaves(child)
