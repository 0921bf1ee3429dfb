from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from qdecomp.data_structures.errors import DataError


@pytest.fixture
def retrieve(run: Callable[..., Result], tmp_path: Path) -> Callable[..., Result]:
    """Run the benchmark on files with these contents."""

    def write_and_run(questions: str, passages: str, *options: object) -> Result:
        for name, text in (("questions", questions), ("passages", passages)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        paths = ("--questions", tmp_path / "questions", "--passages", tmp_path / "passages")
        return run("speed.retrieval", *paths, *options)

    return write_and_run


QUESTION = json.dumps({"id": "q", "question": "Who directed the film Solaris?", "supporting": ["p1", "p2"]})


def test_the_ways_of_retrieval_are_measured(retrieve: Callable[..., Result], tmp_path: Path) -> None:
    pytest.importorskip("bm25s")
    texts = {
        "p1": ("Solaris", "A film\u2028by Tarkovsky, who directed it in 1972."),
        "p2": ("Tarkovsky", "Director of films."),
        "p3": ("Potatoes", "They grow in the ground."),
    }
    lines = [
        json.dumps({"id": name, "title": title, "text": text}, ensure_ascii=False)
        for name, (title, text) in texts.items()
    ]
    results = tmp_path / "results.json"
    retrieve(QUESTION, "\n".join(lines), "--json", results)
    found = json.loads(results.read_text(encoding="utf-8"))["bm25"]
    assert found["plan"]["all@5"] == 1.0
    assert list(found) == ["single", "fused", "plan"]


@pytest.mark.parametrize(
    ("questions", "passages", "message"),
    [
        ("", "", "questions: the file is empty"),
        (QUESTION, "\n", "passages: the file is empty"),
        ("# Title", "", "line 1 is not JSON"),
        ('{"id": "q", "question": "Who?"}', "", "line 1: there is no field 'supporting'"),
    ],
)
def test_a_file_that_cannot_be_used_is_said_in_one_line(
    retrieve: Callable[..., Result], questions: str, passages: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        retrieve(questions, passages)
