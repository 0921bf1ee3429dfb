from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from qdecomp.files import read_break_csv
from qdecomp.parsers.prompting import ExampleStore

HEADER = "question_id,question_text,decomposition,operators\n"
ROWS = [
    ("How many red cups are on the table?", "return cups ;return number of #1", "select, aggregate"),
    ("How many blue cups are on the table?", "return cups ;return number of #1", "select, aggregate"),
    ("Which cups are on the table?", "return cups ;return #1 on the table", "select, filter"),
    ("Who wrote this song?", "return song ;return who wrote #1", "select, project"),
    ("How many cups are on the table?", "return #9 ;;", "select"),
    ("Why?", "", ""),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pytest.importorskip("bm25s")
    path = tmp_path / "rows.csv"
    rows = (f'{number},{question},{plan},"{kinds}"\n' for number, (question, plan, kinds) in enumerate(ROWS))
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    return path


def test_examples_resemble_the_question_and_have_different_operators(path: Path) -> None:
    store = ExampleStore(path)
    asked = "How many green cups are on the table?"
    assert [example.operators for example in store(asked, 2)] == [("select", "filter"), ("select", "aggregate")]
    assert store(asked, 2)[-1].steps == ("cups", "number of #1")
    # All that can be read, however many are asked for, the nearest one last.
    assert len(store(asked, 10)) == 4
    assert store(asked, 10)[0].question == "Who wrote this song?"
    assert store(asked, 0) == []
    assert len(store("zzz", 2)) == 2


def test_a_question_is_no_example_of_itself(path: Path) -> None:
    found = ExampleStore(path)("how many red cups are on the table", 4)
    assert [example.question for example in found if "red" in example.question] == []


def test_other_examples_are_another_prompt(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(path.read_text(encoding="utf-8").replace("song", "book"), encoding="utf-8")
    assert ExampleStore(path).fingerprint == ExampleStore(path).fingerprint != ExampleStore(other).fingerprint


def test_the_examples_of_the_package_have_no_question_to_test_on(project_root: Path) -> None:
    def words(question: str) -> str:
        return " ".join(re.findall(r"\w+", question.lower()))

    ours = read_break_csv(str(files("qdecomp.parsers").joinpath("examples.csv")))
    assert len(ours) == 1200
    assert len({row.operators for row in ours}) > 100
    tests = [
        row
        for name in ("everyday", "engineers", "asked_dev")
        for row in read_break_csv(f"{project_root}/data/{name}.csv")
    ]
    assert not {words(row.question) for row in ours} & {words(row.question) for row in tests}
