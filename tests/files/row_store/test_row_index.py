import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.files.row_store import row_index
from qdecomp.files.row_store.row_index import RowIndex

_IDS = st.lists(st.text(alphabet="ab\ud800", max_size=3))


@given(_IDS, st.text(alphabet="ab", max_size=3))
def test_finds_the_first_place_of_an_id_and_nothing_else(ids: list[str], wanted: str) -> None:
    index = RowIndex(ids, ids.__getitem__)
    for each in (*ids, wanted):
        assert index.find(each) == (ids.index(each) if each in ids else None)


@given(_IDS)
def test_the_first_repetition_is_the_one_that_a_reader_meets_first(ids: list[str]) -> None:
    again = next((place for place, each in enumerate(ids) if each in ids[:place]), None)
    expected = None if again is None else (ids.index(ids[again]), again)
    assert RowIndex(ids, ids.__getitem__).first_repetition() == expected


def test_ids_of_one_digest_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_index, "_digest", lambda text: len(text))
    ids = ["ab", "cd", "e", "cd"]
    index = RowIndex(ids, ids.__getitem__)
    assert [index.find(each) for each in ("ab", "cd", "e", "xy")] == [0, 1, 2, None]
    assert index.first_repetition() == (1, 3)
