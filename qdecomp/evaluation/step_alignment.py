"""Which predicted step corresponds to which gold step, if two decompositions are not the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.lf_em import NormalizedStep
from qdecomp.data_structures.operators import OPERATORS, TextEnum
from qdecomp.data_structures.qdmr import order_by_references

__all__ = ["StepDifference", "StepPairing", "all_words", "pair_steps", "step_differences"]

# How much each similarity of two steps weighs; the weights add up to 1.
_SAME_OPERATOR = 0.4
_SAME_PROPERTIES = 0.1
_OWN_WORDS = 0.25
_REACHED_WORDS = 0.25
# Steps that are less similar than this do not correspond. Equal operators, or else the same words over the same steps,
# are st enough.
_ENOUGH = 0.5
# Among equally good partners, the one at the same place is chosen.
_PLACE = 0.001


class StepDifference(TextEnum):
    """How a predicted step differs from its gold counterpart."""

    OPERATOR = "operator"
    REFERENCES = "references"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class StepPairing:
    """The steps of both sides by their places (from 0): pairs, and those without a partner.

    If all words of a gold step are part of one predicted step, which corresponds to another gold step, it is not
    missing but joined (``joined_gold``), like "large" in "large cubes" for "cubes", "#1 that are large"; and vice versa
    (``joined_predicted``).
    """

    gold: tuple[NormalizedStep, ...]
    predicted: tuple[NormalizedStep, ...]
    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]
    joined_gold: tuple[int, ...]
    joined_predicted: tuple[int, ...]


def pair_steps(gold: Sequence[NormalizedStep], predicted: Sequence[NormalizedStep]) -> StepPairing:
    """Pair the steps so that the pairs are as similar as possible.

    Similarity is by operator, by own words, and by all words that a step reaches through its references.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    gold_reach, predicted_reach = _reached_words(gold), _reached_words(predicted)
    likeness = np.array(
        [
            [
                _likeness(one, other) + _REACHED_WORDS * _overlap(gold_reach[row], predicted_reach[column])
                for column, other in enumerate(predicted)
            ]
            for row, one in enumerate(gold)
        ]
    )
    places = np.abs(np.linspace(0, 1, len(gold))[:, None] - np.linspace(0, 1, len(predicted))[None, :])
    rows, columns = linear_sum_assignment(likeness - _PLACE * places, maximize=True)
    pairs = [
        (int(row), int(column))
        for row, column in zip(rows, columns, strict=True)
        if likeness[row, column] >= _ENOUGH - 1e-9
    ]
    joined_gold, missing = _without_partner(gold, predicted, pairs)
    joined_predicted, extra = _without_partner(predicted, gold, [(column, row) for row, column in pairs])
    return StepPairing(tuple(gold), tuple(predicted), tuple(pairs), missing, extra, joined_gold, joined_predicted)


def _without_partner(
    steps: Sequence[NormalizedStep], others: Sequence[NormalizedStep], pairs: Sequence[tuple[int, int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The places of the steps in no pair: those that are joined with another, and those that are not."""
    surplus = [others[other].words - steps[place].words for place, other in pairs]
    paired = {place for place, _ in pairs}
    joined: list[int] = []
    alone: list[int] = []
    for place, step in enumerate(steps):
        if place in paired:
            continue
        is_joined = OPERATORS[step.operator].describes and any(step.words and step.words <= more for more in surplus)
        (joined if is_joined else alone).append(place)
    return tuple(joined), tuple(alone)


def _likeness(one: NormalizedStep, other: NormalizedStep) -> float:
    value = _OWN_WORDS * _overlap(one.words, other.words)
    if one.operator == other.operator:
        value += _SAME_OPERATOR + (_SAME_PROPERTIES if one.properties == other.properties else 0.0)
    return value


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    union = one | other
    return len(one & other) / len(union) if union else 1.0


def _order(steps: Sequence[NormalizedStep]) -> list[int]:
    return order_by_references(
        {number: [target for _, target in step.edges] for number, step in enumerate(steps, start=1)}
    )


def all_words(steps: Iterable[NormalizedStep]) -> frozenset[str]:
    """The words of all the steps."""
    return frozenset().union(*(step.words for step in steps))


def _reached_words(steps: Sequence[NormalizedStep]) -> list[frozenset[str]]:
    reached: dict[int, frozenset[str]] = {}
    for number in _order(steps):
        step = steps[number - 1]
        reached[number] = step.words.union(*(reached[target] for _, target in step.edges))
    return [reached[number] for number in range(1, len(steps) + 1)]


def step_differences(alignment: StepPairing) -> Iterator[tuple[int, int, frozenset[StepDifference]]]:
    """How the two steps of each pair differ; arguments are compared only under the same operator.

    A reference to a step without a partner is followed to the nearest steps that have one: a step that is missing
    from a chain is one difference, not two. The words of joined steps are no difference.
    """
    partner = dict(alignment.pairs)
    gold_targets = _partners_reached(alignment.gold, {place: place for place in partner})
    predicted_targets = _partners_reached(alignment.predicted, {other: place for place, other in alignment.pairs})
    from_gold = all_words(alignment.gold[place] for place in alignment.joined_gold)
    from_predicted = all_words(alignment.predicted[place] for place in alignment.joined_predicted)
    for place, other in alignment.pairs:
        one, two = alignment.gold[place], alignment.predicted[other]
        found = set()
        if (one.operator, one.properties) != (two.operator, two.properties):
            found.add(StepDifference.OPERATOR)
        elif _edges(one, gold_targets) != _edges(two, predicted_targets):
            found.add(StepDifference.REFERENCES)
        if one.words - two.words - from_predicted or two.words - one.words - from_gold:
            found.add(StepDifference.WORDS)
        yield place, other, frozenset(found)


def _partners_reached(steps: Sequence[NormalizedStep], known: dict[int, int]) -> dict[int, frozenset[int]]:
    """For each step number the corresponding gold places: its partner's, or those of the steps below it."""
    reached: dict[int, frozenset[int]] = {}
    for number in _order(steps):
        if number - 1 in known:
            reached[number] = frozenset((known[number - 1],))
        else:
            below = (reached[target] for _, target in steps[number - 1].edges)
            reached[number] = frozenset().union(*below)
    return reached


def _edges(step: NormalizedStep, targets: dict[int, frozenset[int]]) -> frozenset[tuple[str, int]]:
    return frozenset((name, place) for name, number in step.edges for place in targets[number])
