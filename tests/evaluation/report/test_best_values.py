from __future__ import annotations

from dataclasses import replace

from qdecomp.evaluation.breakdown import Group, Score
from qdecomp.evaluation.metrics.metric_table import get_metric
from qdecomp.evaluation.report.best_values import system_rows


def group(**means: float | None) -> Group:
    return Group("all", 4, {name: Score(mean, None, None, 4, 0) for name, mean in means.items()})


def best(*groups: Group, metric: str = "lf_em") -> list[bool]:
    (row,) = system_rows([[each] for each in groups], [get_metric(metric)])
    return [cell.is_best for cell in row.cells]


def test_the_highest_is_the_best_and_several_may_be() -> None:
    assert best(group(lf_em=0.2), group(lf_em=0.5), group(lf_em=0.5)) == [False, True, True]


def test_where_lower_is_better_the_lowest_is() -> None:
    assert best(group(ged=0.2), group(ged=0.5), metric="ged") == [True, False]
    (row,) = system_rows([[group(ged=0.2)]], [get_metric("ged")])
    assert row.metric == "GED ↓"


def test_nothing_is_marked_where_there_is_nothing_to_choose() -> None:
    assert best(group(lf_em=0.2)) == [False]
    assert best(group(lf_em=0.2), group(lf_em=0.2)) == [False, False]
    assert best(group(lf_em=0.2), group(lf_em=None)) == [False, False]


def test_there_is_a_row_for_each_group_and_metric() -> None:
    groups = [[replace(group(lf_em=0.2, sari=0.3), name=name) for name in ("GEO", "DROP")]]
    rows = system_rows(groups, [get_metric("lf_em"), get_metric("sari")])
    assert [(row.group, row.metric) for row in rows] == [
        ("GEO", "LF-EM"),
        ("GEO", "SARI"),
        ("DROP", "LF-EM"),
        ("DROP", "SARI"),
    ]
