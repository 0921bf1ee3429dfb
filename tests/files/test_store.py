from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.files.store import RowStore

_IDS = st.lists(st.text(alphabet="ab\ud800", max_size=3))


def stored(rows: list[str]) -> RowStore[str]:
    store: RowStore[str] = RowStore()
    for row in rows:
        store.append(row, row)
    return store


@given(_IDS, st.text(alphabet="ab", max_size=3))
def test_it_is_the_list_that_it_was_made_of(rows: list[str], wanted: str) -> None:
    store = stored(rows)
    assert (len(store), list(store), list(store.ids())) == (len(rows), rows, rows)
    assert [store[place] for place in range(len(rows))] == rows
    assert list(store[1:3]) == rows[1:3]
    for each in (*rows, wanted):
        assert store.find(each) == (rows.index(each) if each in rows else None)


def test_places_are_filled_in_any_order() -> None:
    store: RowStore[str] = RowStore()
    for place, row in ((2, "c"), (0, "a"), (1, "b")):
        store.put(place, row)
    assert (list(store), store[-1]) == (["a", "b", "c"], "c")
    with pytest.raises(IndexError):
        store[3]


def test_more_rows_than_memory_go_to_disk_and_come_back() -> None:
    store: RowStore[str] = RowStore()
    store._database.execute("PRAGMA cache_size = -100")
    rows = [f"{number} {'x' * 1000}" for number in range(3000)]
    for row in rows:
        store.append(row)
    assert list(store) == rows


def test_a_disk_that_cannot_be_written_is_said() -> None:
    store = stored(["a"])
    store._database.execute("PRAGMA max_page_count = 10")
    with pytest.raises(DataError, match="rows cannot be kept there"):
        store.append("x" * 100_000)
