from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.readers.joined_predictions import JoinedPredictions, join_predictions
from qdecomp.files.row_store.rows_by_id import RowsById


@pytest.fixture(params=[1, 20_000])
def in_memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many rows are kept in memory."""
    monkeypatch.setattr(RowsById.__init__, "__kwdefaults__", {"in_memory": request.param})
    return int(request.param)


def write(path: Path, ids: list[str], **fields: object) -> Path:
    records = [{"question_id": each, "decomposition": f"return {each}", **fields} for each in ids]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def said(joined: JoinedPredictions, start: int = 0) -> list[tuple[str, list[str | None]]]:
    return [(each.question_id, [answer.decomposition for answer in each.predictions]) for each in joined.rest(start)]


@pytest.mark.usefixtures("in_memory")
def test_questions_come_in_the_order_of_the_first_file_and_others_behind(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a.jsonl", ["3", "1"], question="what ?"),
        write(tmp_path / "b.jsonl", ["1", "2", "3"], question="which ?"),
        write(tmp_path / "c.jsonl", ["4", "2"], question="who ?"),
    ]
    joined = join_predictions(paths)
    assert len(joined) == 4
    assert said(joined) == [
        ("3", ["return 3", "return 3", None]),
        ("1", ["return 1", "return 1", None]),
        ("2", [None, "return 2", "return 2"]),
        ("4", [None, None, "return 4"]),
    ]
    assert [each.question for each in joined] == ["what ?", "what ?", "which ?", "who ?"]
    for start in range(6):
        assert said(joined, start) == said(joined)[start:]
    # The fingerprint is that of a question's records, whatever else is in the files.
    (alone,) = join_predictions([write(tmp_path / "d.jsonl", ["1"], question="what ?"), paths[1]]).rest(2) or ()
    assert alone.question_id == "3"
    prints = [each.fingerprint for each in joined]
    assert len(set(prints)) == 4
    assert prints == [each.fingerprint for each in join_predictions(paths)]


@pytest.mark.usefixtures("in_memory")
def test_what_is_wrong_is_said_before_anything_is_combined(tmp_path: Path) -> None:
    good = write(tmp_path / "a.jsonl", ["1", "2"], question="what ?")
    with pytest.raises(DataError, match=r"b\.jsonl: row 3 repeats the question_id of an earlier row: 1"):
        join_predictions([good, write(tmp_path / "b.jsonl", ["1", "2", "1"])])
    with pytest.raises(DataError, match="no file has the text of question 3; give Break's CSV"):
        join_predictions([good, write(tmp_path / "c.jsonl", ["1", "3"])])
    joined = join_predictions([good, tmp_path / "c.jsonl"], RowsById([("3", "how ?"), ("1", "who ?")]))
    assert [each.question for each in joined] == ["who ?", "what ?", "how ?"]
    with pytest.raises(DataError, match=r"d\.jsonl: question 1: "):
        join_predictions([good, write(tmp_path / "d.jsonl", ["1"], graph=5)])


def test_memory_does_not_grow_with_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RowsById.__init__, "__kwdefaults__", {"in_memory": 10})
    small, large = (
        [
            write(
                tmp_path / f"{name}{size}.jsonl",
                [str(each) for each in range(size)],
                decomposition="return cubes",
                question="x" * 500,
            )
            for name in "ab"
        ]
        for size in (600, 3_000)
    )

    def peak(paths: list[Path]) -> int:
        tracemalloc.start()
        try:
            assert sum(1 for _ in join_predictions(paths)) % 600 == 0
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(small)
    # Each of 4,800 more rows has a text and a record of 1,100 letters together, and takes some bytes for its place.
    assert peak(large) - peak(small) < 1_500_000
