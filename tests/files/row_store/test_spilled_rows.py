import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.files.row_store.spilled_rows import SpilledRows


@given(st.lists(st.text()), st.integers(0, 5))
def test_it_is_the_list_that_it_was_made_of_wherever_its_rows_are(rows: list[str], in_memory: int) -> None:
    spilled = SpilledRows(rows, in_memory=in_memory)
    assert list(spilled) == rows
    assert [spilled[place] for place in range(len(rows))] == rows
    assert list(spilled.frozen()) == rows
    assert list(spilled[1:3]) == rows[1:3]
    assert list(reversed(spilled)) == rows[::-1]


def test_it_grows_while_it_is_read() -> None:
    spilled = SpilledRows(range(4), in_memory=1)
    assert spilled[3] == 3
    spilled.append(4)
    iterator = iter(spilled)
    assert [next(iterator), next(iterator)] == [0, 1]
    spilled.append(5)
    assert list(spilled) == list(range(6))


def test_more_rows_than_are_read_at_a_time() -> None:
    assert list(SpilledRows(range(2000), in_memory=3)) == list(range(2000))


def test_a_place_that_is_not_there_is_an_error() -> None:
    spilled = SpilledRows("abc", in_memory=1)
    assert spilled[-1] == "c"
    with pytest.raises(IndexError):
        spilled[3]


@pytest.mark.parametrize("in_memory", [0, 2, 10])
def test_chosen_rows_are_in_the_order_of_their_places(in_memory: int) -> None:
    chosen = SpilledRows("abcd", in_memory=in_memory).chosen([3, -1, 0], "none")
    assert list(chosen) == ["d", "none", "a"]
    assert (len(chosen), chosen[1], chosen[-1], list(chosen[:2])) == (3, "none", "a", ["d", "none"])


def test_few_rows_are_a_tuple_and_touch_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    assert SpilledRows("ab").frozen() == ("a", "b")


def test_a_disk_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(DataError, match="cannot be written"):
        list(SpilledRows("ab", in_memory=1))
    with pytest.raises(DataError, match="cannot be written"):
        SpilledRows(range(2000), in_memory=1)
