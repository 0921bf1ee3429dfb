import pickle

import numpy as np

from qdecomp.data_structures.errors import ErrorText, InternalError
from qdecomp.evaluation.metrics.metric_table import MetricResult
from qdecomp.evaluation.score_columns import ScoreColumns

ROWS = [
    ("GEO", 2, MetricResult(1.0)),
    ("ATIS", 3, MetricResult(0.0, "prediction: step 3: refers to #7, but there are 5 steps")),
    ("GEO", 3, MetricResult(None, "prediction: the time was up")),
    ("DROP", 2, MetricResult(0.0, ErrorText.of(InternalError("IndexError", "a.py:3")))),
    ("GEO", 2, MetricResult(0.0, "prediction: step 9: refers to #12, but there are 9 steps")),
]


def columns_of(rows: list[tuple[str, int, MetricResult]]) -> ScoreColumns:
    columns = ScoreColumns(["m"])
    for source, steps, result in rows:
        columns.add(source, steps, {"m": result})
    return columns


def test_columns_have_what_was_added() -> None:
    columns = columns_of(ROWS)
    assert len(columns) == 5
    np.testing.assert_array_equal(columns.values("m"), [1.0, 0.0, np.nan, 0.0, 0.0])
    assert columns.failed("m").tolist() == [False, True, True, True, True]
    assert columns.steps().tolist() == [2, 3, 3, 2, 2]
    assert {name: places.tolist() for name, places in columns.places_by_source().items()} == {
        "GEO": [0, 2, 4],
        "ATIS": [1],
        "DROP": [3],
    }
    assert {steps: places.tolist() for steps, places in columns.places_by_steps().items()} == {2: [0, 3, 4], 3: [1, 2]}
    assert columns.mistakes == 1
    assert next(iter(columns.error_counts("m").items())) == (
        "prediction: step N: refers to #N, but there are N steps",
        2,
    )


def test_parts_that_come_from_elsewhere_make_the_same_whole() -> None:
    whole, joined = columns_of(ROWS), ScoreColumns(["m"])
    for part in (ROWS[:1], [], ROWS[1:3], ROWS[3:]):
        joined.extend(pickle.loads(pickle.dumps(columns_of(part))))
    np.testing.assert_array_equal(joined.values("m"), whole.values("m"))
    np.testing.assert_array_equal(joined.failed("m"), whole.failed("m"))
    np.testing.assert_array_equal(joined.steps(), whole.steps())
    assert joined.error_counts("m") == whole.error_counts("m")
    assert joined.mistakes == whole.mistakes
    for name, places in whole.places_by_source().items():
        assert joined.places_by_source()[name].tolist() == places.tolist()
