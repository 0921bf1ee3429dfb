"""A table as the function that answers: what steps say about it, and what they may not."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from qdecomp import QDecompError
from qdecomp.executors import table
from qdecomp.planning.running import PlanRun
from tests.plans import plan_of

HOTELS = pd.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "hotel": ["Sea View", "Harbour Inn", "Old Mill", "The Crown"],
        "region": ["north", "north", "south", "far south"],
        "price per night (EUR)": [80, 120, 65.5, None],
        "room_count": [26, 110, 8, 40],
        "pool": [False, True, False, True],
        "opened": pd.to_datetime(["1999-05-01", "2015-01-01", "1970-06-01", "2020-02-02"]),
    }
)


def run(text: str, frame: Any = HOTELS, **options: Any) -> PlanRun:
    return plan_of(text).run(table(frame, **options), concurrency=1)


@pytest.mark.parametrize(
    ("steps", "answer"),
    [
        ("hotels", ["Sea View", "Harbour Inn", "Old Mill", "The Crown"]),
        ("the crown", "The Crown"),
        ("regions", ["north", "south", "far south"]),
        ("hotels in the north", ["Sea View", "Harbour Inn"]),
        ("price of hotels in the north", [80, 120]),
        ("hotels; #1 with a pool", ["Harbour Inn", "The Crown"]),
        ("hotels; #1 without a pool", ["Sea View", "Old Mill"]),
        ("hotels; #1 that are not in the north", ["Old Mill", "The Crown"]),
        ("hotels; #1 besides Sea View", ["Harbour Inn", "Old Mill", "The Crown"]),
        ("hotels; #1 with more than 30 rooms", ["Harbour Inn", "The Crown"]),
        ("hotels; #1 in the north; #2 with a price below 100", ["Sea View"]),
        ("hotels; #1 with a pool; number of #2", 2),
        ("hotels; #1 in the north; price of #2; average of #3", 100),
        ("hotels; rooms of #1; number of #2 for each #1; #1 where #3 is at least 40", ["Harbour Inn", "The Crown"]),
        ("hotels; when was #1 opened; #1 where #2 is later than 2000", ["Harbour Inn", "The Crown"]),
        ("hotels; room counts of #1; #1 sorted by #2", ["Old Mill", "Sea View", "The Crown", "Harbour Inn"]),
        ("regions; hotels in #1; number of #2 for each #1", {"north": 2, "south": 1, "far south": 1}),
        ("hotels; number of #1 for each region", {"north": 2, "south": 1, "far south": 1}),
        ("regions; price of #1; highest of #2", None),
        ("sea view; old mill; price of #1; price of #2; the difference of #3 and #4", 14.5),
        ("hotels; Sea View; region of #2; #1 in #3", ["Sea View", "Harbour Inn"]),
    ],
)
def test_steps_are_answered_by_headers_and_values(steps: str, answer: Any) -> None:
    assert run(steps).answer == answer


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ("motels", "the table has nothing for 'motels'; the nearest columns are hotel"),
        ("hotels; stars of #1", "step 2: the table has nothing for 'stars'"),
        ("hotels; #1 with a view", "step 2: the table has nothing for 'view'"),
        ("hotels; #1 that are cosy in the north", "step 2: the table has nothing for 'cosy'"),
        ("hotels; #1 without a garden", "denies what the table does not have"),
        ("hotels; price of #1", "step 2: 'The Crown' has no 'price per night (EUR)'"),
        ("hotels; #1 with more than 30 beds", "no column of numbers is named"),
        ("Sea View; the price of the region of #1", "step 2: the table has nothing for 'price'"),
        ("hotels; rooms of #1; price of #2", "the table has no row '26'; the nearest are"),
    ],
)
def test_what_it_does_not_have_is_an_error(steps: str, reason: str) -> None:
    assert reason in str(run(steps).error)


def test_rows_may_have_another_name() -> None:
    frame = HOTELS.rename(columns={"hotel": "name"})
    assert run("hotels; #1 in the south", frame, rows="hotel").answer == ["Old Mill"]
    with pytest.raises(QDecompError, match="no column 'title'"):
        table(frame, names="title")
    with pytest.raises(QDecompError, match="no text column tells the rows apart"):
        table(HOTELS[["region", "pool"]])
    with pytest.raises(QDecompError, match="give a pandas or Polars frame or a DuckDB relation, not str"):
        table("hotels.csv")


def test_two_columns_that_a_word_may_mean_are_named() -> None:
    frame = HOTELS[["hotel"]].assign(low_price=1, high_price=2)
    assert run("Sea View; price of #1", frame).error == "step 2: 'price of' may mean 'low_price' or 'high_price'"
    assert run("Sea View; high price of #1", frame).answer == 2


def test_relations_of_duckdb_are_tables() -> None:
    duckdb = pytest.importorskip("duckdb")
    hotels = HOTELS
    assert run("hotels; #1 with a pool", duckdb.sql("select * from hotels")).answer == ["Harbour Inn", "The Crown"]
    assert len(hotels) == 4
