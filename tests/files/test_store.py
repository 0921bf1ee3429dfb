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


def test_places_are_filled_in_any_order_and_what_does_not_fit_in_memory_comes_back() -> None:
    store: RowStore[str] = RowStore()
    store._database.execute("PRAGMA cache_size = -100")
    rows = [f"{number} {'x' * 1000}" for number in range(3000)]
    for place in reversed(range(3000)):
        store.put(place, rows[place])
    assert list(store) == rows
    assert store[-1] == rows[-1]
    with pytest.raises(IndexError):
        store[3000]


def test_a_disk_that_cannot_be_written_is_said() -> None:
    store = stored(["a"])
    store._database.execute("PRAGMA max_page_count = 10")
    with pytest.raises(DataError, match="rows cannot be kept there"):
        store.append("x" * 100_000)
