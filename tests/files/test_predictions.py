from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import BreakExample
from qdecomp.files.break_csv import example_store
from qdecomp.files.predictions import JoinedQuestion, join_predictions
from qdecomp.parsers.bulk import predictions_of, read_joined
from tests.cli_runs import write_json_lines


def write(path: Path, ids: list[str], **fields: object) -> Path:
    return write_json_lines(path, [{"question_id": each, "decomposition": f"return {each}", **fields} for each in ids])


def said(joined: Sequence[JoinedQuestion]) -> list[tuple[str, list[str | None]]]:
    return [(each.question_id, [answer.text for answer in predictions_of(each)]) for each in joined]


def test_questions_come_in_the_order_of_the_first_file_and_others_behind(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a.jsonl", ["3", "1"], question="What ?"),
        write(tmp_path / "b.jsonl", ["1", "2", "3"], question="what?"),
        write(tmp_path / "c.jsonl", ["4", "2"], question="what"),
    ]
    joined, empty = join_predictions(paths)
    assert (len(joined), empty) == (4, [])
    assert said(joined) == [
        ("3", ["return 3", "return 3", None]),
        ("1", ["return 1", "return 1", None]),
        ("2", [None, "return 2", "return 2"]),
        ("4", [None, None, "return 4"]),
    ]
    assert [each.question for each in joined] == ["What ?", "What ?", "what?", "what"]
    prints = [each.fingerprint for each in joined]
    assert len(set(prints)) == 4
    assert prints == [each.fingerprint for each in join_predictions(paths)[0]]


def test_texts_come_from_a_file_of_questions_if_the_predictions_have_none(tmp_path: Path) -> None:
    good = write(tmp_path / "a.jsonl", ["1", "2"], question="what ?")
    other = write(tmp_path / "b.jsonl", ["1", "3"])
    texts = example_store([BreakExample(1, "3", "how ?", None), BreakExample(2, "1", "What?", None)])
    assert [each.question for each in join_predictions([good, other], texts)[0]] == ["What?", "what ?", "how ?"]
    with pytest.raises(DataError, match=r"d\.jsonl: question 1: "):
        read_joined([good, write(tmp_path / "d.jsonl", ["1"], graph=5)])


def test_memory_does_not_grow_with_the_files(tmp_path: Path) -> None:
    def peak(size: int) -> int:
        ids = list(map(str, range(size)))
        paths = [write(tmp_path / f"{name}{size}.jsonl", ids, question="x" * 500) for name in "ab"]
        tracemalloc.start()
        try:
            assert sum(1 for _ in join_predictions(paths)[0]) == size
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(300)
    # Each of 2,400 more rows has a text and a record of 1,100 letters together; SQLite bounds its own memory.
    assert peak(1_500) - peak(300) < 500_000
