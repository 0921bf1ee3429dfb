"""The examples of README run, links lead somewhere, and the picture is what the code draws."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from qdecomp import load
from qdecomp.cli import main
from qdecomp.data_structures.conversion.chain import convert
from qdecomp.visualization import graph_svg

_QUESTION = "How many red cubes are behind the large sphere?"
_STEPS = "return cubes ;return #1 that are red ;return large sphere ;return #2 that are behind #3 ;return number of #4"


@pytest.fixture(scope="module")
def readme(project_root: Path) -> str:
    return (project_root / "README.md").read_text(encoding="utf-8")


def test_the_examples_in_python_run(project_root: Path) -> None:
    results = doctest.testfile(str(project_root / "README.md"), module_relative=False, encoding="utf-8")
    assert results.attempted > 5
    assert results.failed == 0


def test_the_picture_is_that_of_its_question(project_root: Path, readme: str) -> None:
    picture = (project_root / "docs" / "images" / "graph.svg").read_text(encoding="utf-8")
    assert picture.strip() == graph_svg(convert(_QUESTION, _STEPS).graph)
    first_screen = readme[: readme.index("graph.svg")]
    assert _QUESTION in first_screen
    for number, step in enumerate(_STEPS.split(" ;"), start=1):
        assert f"{number}. {step.removeprefix('return ')}" in first_screen


def test_the_parser_gives_the_steps_of_the_first_example(project_root: Path, readme: str) -> None:
    (question, output) = re.findall(r"^\$ qdecomp parse \"(.+)\"\n((?:.+\n)+)confidence", readme, re.MULTILINE)[0]
    decomposition = load().parse(question)
    assert decomposition.logical_form is not None
    operators = [step.operator for step in decomposition.logical_form.steps]
    shown = [
        f"{n}. {step}  {operator}"
        for n, (step, operator) in enumerate(zip(decomposition.steps, operators, strict=True), 1)
    ]
    assert output.splitlines() == [question, *shown]
    assert output in (project_root / "docs" / "quick_start.md").read_text(encoding="utf-8")


def test_links_lead_to_files(project_root: Path, readme: str) -> None:
    links = re.findall(r"\[\w[^\]]*\]\(([\w./]+)\)", readme)
    assert links
    assert [link for link in links if not (project_root / link).exists()] == []


def test_every_command_that_it_names_exists(readme: str, capsys: pytest.CaptureFixture[str]) -> None:
    named = set(re.findall(r"^\$? ?qdecomp ([a-z]+)\b", readme, re.MULTILINE))
    assert {"parse", "evaluate", "convert", "report", "render"} <= named
    for name in named:
        with pytest.raises(SystemExit) as stop:
            main([name, "--help"])
        assert stop.value.code == 0
        assert "Usage:" in capsys.readouterr().out
