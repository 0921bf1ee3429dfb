"""The pages of the documentation: examples run, links lead somewhere, pictures are what the code draws."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from qdecomp import Decomposition, load
from qdecomp.cli import _command, main
from qdecomp.data_structures.conversion.chain import convert
from qdecomp.visualization import graph_svg, steps_svg

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OTHER_PAGES = (
    "RESULTS.md",
    "CONTRIBUTING.md",
    "data/README.md",
    "training_config/README.md",
    "qdecomp/parsers/minilm_break/MODEL_CARD.md",
)
README = PAGES[0].read_text(encoding="utf-8")
WITH_EXAMPLES = [page for page in PAGES if re.search(r"^>>> ", page.read_text(encoding="utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_examples_run(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0


def test_the_pages_that_teach_have_examples() -> None:
    assert {"README", "quick_start", "qdmr", "parsing", "plans", "graphs", "file_formats"} <= {
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
    commands = set(re.findall(r"(?:^\$? ?|`)qdecomp ([a-z]+)\b", text, re.MULTILINE))
    assert {"parse", "evaluate", "render", "convert"} <= commands
    for command in commands:
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0, command
        assert "Usage:" in capsys.readouterr().out


def test_a_question_on_the_pages_is_answered_as_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    shown = set(re.findall(r'^\$ qdecomp parse "([^"]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL))
    assert shown
    for question, answer in shown:
        with pytest.raises(SystemExit):
            main(["parse", question])
        assert capsys.readouterr().out == answer


def test_every_option_is_on_some_page() -> None:
    named = {name for page in PAGES for name in re.findall(r"--[a-z-]+", page.read_text(encoding="utf-8"))}
    context = click.Context(_command)
    commands = [_command, *(_command.get_command(context, name) for name in _command.list_commands(context))]
    options = [option for command in commands for option in command.params if isinstance(option, click.Option)]
    assert len(options) > 50
    assert [option.opts for option in options if not named & {*option.opts, *option.secondary_opts}] == []


def test_links_lead_to_files_and_headings() -> None:
    """As on GitHub; ``make docs`` fails on a link that leads to no page of the site."""
    followed = 0
    for path in [*PAGES, *map(ROOT.joinpath, OTHER_PAGES)]:
        text = _without_code(path)
        for target in re.findall(r"\]\(([^)\s:]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            name, _, anchor = target.partition("#")
            other = (path.parent / name).resolve() if name else path
            assert other.exists(), f"{path.name}: {target}"
            assert not anchor or anchor in _anchors(other), f"{path.name}: {target}"
            followed += 1
    assert followed > 50


def test_paths_on_the_pages_exist() -> None:
    for path in [*PAGES, *map(ROOT.joinpath, OTHER_PAGES)]:
        named = re.findall(
            r"(?:^|[\s`(])((?:qdecomp|scripts|examples|training_config)/[\w./-]*\w)", path.read_text(encoding="utf-8")
        )
        text = path.read_text(encoding="utf-8")
        named += [f"scripts/speed/{name}.py" for name in re.findall(r"scripts/benchmark\.py ([a-z]\w*)", text)]
        assert [name for name in named if not (ROOT / name).exists()] == [], path.name


def test_the_menu_has_every_page_once() -> None:
    listed = list(_leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in PAGES[1:]]
    pages += [f"notebooks/{path.stem}.md" for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")]
    assert len(listed) == len(set(listed))
    assert set(pages) <= set(listed)


QUESTION = "How many red cubes are behind the large sphere?"
STEPS = "return cubes ;return #1 that are red ;return large sphere ;return #2 that are behind #3 ;return number of #4"


def test_pictures_are_what_the_code_draws() -> None:
    decomposition = Decomposition.of_text(QUESTION, STEPS)
    assert decomposition.logical_form is not None
    drawn = {
        "graph.svg": graph_svg(convert(QUESTION, STEPS).graph),
        "steps.svg": steps_svg(decomposition.logical_form, decomposition.text),
    }
    for name, picture in drawn.items():
        assert (ROOT / "docs" / "images" / name).read_text(encoding="utf-8").strip() == picture
    first_screen = README[: README.index("graph.svg")]
    assert QUESTION in first_screen
    for number, step in enumerate(STEPS.split(" ;"), start=1):
        assert f"{number}. {step.removeprefix('return ')}" in first_screen


def test_the_parser_gives_the_steps_of_the_first_example() -> None:
    (question, output) = re.findall(r"^\$ qdecomp parse \"(.+)\"\n((?:.+\n)+)confidence", README, re.MULTILINE)[0]
    decomposition = load().parse(question)
    assert decomposition.logical_form is not None
    steps = zip(decomposition.steps, decomposition.logical_form.steps, strict=True)
    shown = [f"{number}. {text}  {step.operator}" for number, (text, step) in enumerate(steps, 1)]
    assert output.splitlines() == [question, *shown]
    assert output in (ROOT / "docs" / "quick_start.md").read_text(encoding="utf-8")


def _without_code(path: Path) -> str:
    return re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _without_code(path), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def _leaves(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    else:
        for child in node.values() if isinstance(node, dict) else node:
            yield from _leaves(child)
