from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from speed.retrieval import command

from qdecomp.data_structures.errors import DataError


def run(tmp_path: Path, questions: str, passages: str, *options: str) -> str:
    for name, text in (("questions", questions), ("passages", passages)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    arguments = ["--questions", str(tmp_path / "questions"), "--passages", str(tmp_path / "passages"), *options]
    return CliRunner().invoke(command, arguments, catch_exceptions=False).output


QUESTION = json.dumps({"id": "q", "question": "Who directed the film Solaris?", "supporting": ["p1", "p2"]})


def test_the_ways_of_retrieval_are_measured(tmp_path: Path) -> None:
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
    run(tmp_path, QUESTION, "\n".join(lines), "--json", str(results))
    found = json.loads(results.read_text(encoding="utf-8"))["bm25"]
    assert found["plan"]["all@5"] == 1.0
    assert list(found) == ["single", "fused", "plan"]


@pytest.mark.parametrize(
    ("questions", "passages", "message"),
    [
        ("", "", "questions: the file is empty"),
        (QUESTION, "\n", "passages: the file is empty"),
        ("# Title", "", "not JSON lines"),
        ('{"id": "q", "question": "Who?"}', "", "line 1: there is no field 'supporting'"),
    ],
)
def test_a_file_that_cannot_be_used_is_said_in_one_line(
    tmp_path: Path, questions: str, passages: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        run(tmp_path, questions, passages)
