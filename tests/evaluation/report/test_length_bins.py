from __future__ import annotations

from collections import Counter

import pytest

from qdecomp.evaluation.report.length_bins import by_length, first_of_the_long
from qdecomp.evaluation.scoring import choose_metrics, evaluate
from tests.evaluation.evaluation_examples import gold_of, system_of


@pytest.mark.parametrize(
    ("steps", "first"),
    [
        ({1: 3}, 1),
        ({1: 30, 2: 40}, 2),
        ({1: 30, 2: 40, 3: 24}, 3),
        ({1: 30, 2: 40, 3: 24, 4: 1}, 3),
        ({1: 1, 2: 1, 3: 1}, 1),
        ({2: 9000, 3: 170, 4: 150}, 3),
    ],
)
def test_rare_lengths_share_a_group(steps: dict[int, int], first: int) -> None:
    assert first_of_the_long(Counter(steps)) == first


def test_the_groups_hold_every_question_once() -> None:
    lengths = [2] * 30 + [3] * 26 + [4, 5, 7]
    texts = [f"return cubes{' ;return #1 that are red' * (length - 1)}" for length in lengths]
    gold = gold_of({f"GEO_dev_{place}": text for place, text in enumerate(texts)})
    ((*groups,),) = by_length(evaluate(gold, [system_of("a", texts)], choose_metrics(["lf_em"])))
    assert [(group.name, group.questions) for group in groups] == [("2", 30), ("3", 26), ("4+", 3)]
    assert groups[-1].scores["lf_em"].mean == 1.0
