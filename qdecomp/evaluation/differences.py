"""What kind of difference there is between a wrong prediction and the gold decomposition.

These are the error classes of the paper, as far as a program can recognise them. The steps are compared with their
words normalised as in LF-EM, but before it merges steps, so that a missing filter is a missing step. Every gold step is
paired with the predicted step that is most like it. A question may have several kinds, but ``elaboration level`` and
``tokens only`` stand alone, because they say that the rest is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import InternalError, QDecompError, as_internal_errors
from qdecomp.data_structures.lf_em import NormalizedStep, normalize_steps
from qdecomp.data_structures.operators import OPERATORS, Operator, TextEnum
from qdecomp.data_structures.qdmr import order_by_references, parse_qdmr
from qdecomp.evaluation.scoring import QuestionScores

NO_STEP = "none"
"""Stands for an operator if a step has no counterpart."""

# How much each similarity of two steps weighs; the weights add up to 1.
_SAME_OPERATOR = 0.4
_SAME_PROPERTIES = 0.1
_OWN_WORDS = 0.25
_REACHED_WORDS = 0.25
# Steps that are less similar than this do not correspond. Equal operators, or else the same words over the same steps,
# are enough.
_ENOUGH = 0.5
# Among equally good partners, the one at the same place is chosen.
_PLACE = 0.001


class DifferenceKind(TextEnum):
    """A class of differences, with what it means."""

    MISSING_STEP = "missing step"
    EXTRA_STEP = "extra step"
    WRONG_OPERATOR = "wrong operator"
    WRONG_ARGUMENT = "wrong argument"
    ELABORATION_LEVEL = "elaboration level"
    TOKENS_ONLY = "tokens only"
    NO_LOGICAL_FORM = "no logical form"

    @property
    def meaning(self) -> str:
        """The rule in a sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    DifferenceKind.MISSING_STEP: "A gold step has no counterpart in the prediction.",
    DifferenceKind.EXTRA_STEP: "A predicted step has no counterpart in the gold decomposition.",
    DifferenceKind.WRONG_OPERATOR: "A step computes something else: another operator or property.",
    DifferenceKind.WRONG_ARGUMENT: "The same operator, but applied to other steps or with other words.",
    DifferenceKind.ELABORATION_LEVEL: "The same words and the same computations, cut into more or fewer steps.",
    DifferenceKind.TOKENS_ONLY: "The same steps and references; only words differ.",
    DifferenceKind.NO_LOGICAL_FORM: "A side is missing, or LF-EM cannot read it as a logical form.",
}


# The kind of difference that a remark on a step is a sign of.
_KINDS = {
    "missing": DifferenceKind.MISSING_STEP,
    "extra": DifferenceKind.EXTRA_STEP,
    "operator": DifferenceKind.WRONG_OPERATOR,
    "references": DifferenceKind.WRONG_ARGUMENT,
    "words": DifferenceKind.WRONG_ARGUMENT,
}


@dataclass(frozen=True, slots=True)
class StepRemark:
    """A step as it was written, with its operator, and how it differs from its counterpart (empty: not at all).

    A step without a counterpart is ``missing`` or ``extra``. If all its words are part of a step of the other side that
    corresponds to another one, it is ``joined`` instead, like "large" in "large cubes" for "cubes", "#1 that are
    large".
    """

    text: str
    operator: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedSteps:
    """The steps of both sides with their differences."""

    gold: tuple[StepRemark, ...]
    predicted: tuple[StepRemark, ...]
    pairs: tuple[tuple[int, int], ...] | None = None
    """The places (from 0) of the steps that correspond; None if a side has no logical form."""
    has_same_content: bool = False
    """Whether both sides have the same words and computations."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question with the steps of both sides compared."""

    question: QuestionScores
    kinds: frozenset[DifferenceKind]
    steps: ComparedSteps
    internal_error: str | None = None
    """The internal error, if there was one."""

    @property
    def error(self) -> str | None:
        """Why LF-EM has no verdict, or why there is nothing to compare."""
        return self.internal_error or self.question.results["lf_em"].error


def analyse(question: QuestionScores) -> Analysis:
    """Compare prediction and gold; a question that LF-EM finds right has no kinds of difference.

    After an internal error, the analysis has that as ``internal_error`` and no steps.
    """
    result, example = question.results["lf_em"], question.example
    unreadable = frozenset((DifferenceKind.NO_LOGICAL_FORM,))
    try:
        with as_internal_errors():
            steps = compare_steps(example.question, question.prediction.text, example.decomposition)
            if result.error:
                return Analysis(question, unreadable, steps)
            is_right = result.value or steps.pairs is None
            return Analysis(question, frozenset() if is_right else _kinds(steps), steps)
    except InternalError as error:
        kinds = frozenset() if result.value else unreadable
        return Analysis(question, kinds, ComparedSteps((), ()), str(error))


def _kinds(steps: ComparedSteps) -> frozenset[DifferenceKind]:
    found = {remark for step in (*steps.gold, *steps.predicted) for remark in step.remarks} - {"joined"}
    if not found or (steps.has_same_content and len(steps.gold) != len(steps.predicted)):
        return frozenset((DifferenceKind.ELABORATION_LEVEL,))
    return frozenset((DifferenceKind.TOKENS_ONLY,) if found == {"words"} else map(_KINDS.__getitem__, found))


def operator_confusion(analyses: Iterable[Analysis]) -> Counter[tuple[str, str]]:
    """How often the counterpart of a gold operator has which operator; ``none`` is a missing or extra step."""
    pairs: Counter[tuple[str, str]] = Counter()
    for steps in (analysis.steps for analysis in analyses):
        pairs.update((steps.gold[one].operator, steps.predicted[other].operator) for one, other in steps.pairs or ())
        pairs.update((step.operator, NO_STEP) for step in steps.gold if "missing" in step.remarks)
        pairs.update((NO_STEP, step.operator) for step in steps.predicted if "extra" in step.remarks)
    return pairs


def compare_steps(question: str, prediction: str | None, gold: str | None) -> ComparedSteps:
    """Pair the steps of two decompositions and say how the two steps of each pair differ.

    They differ in ``operator`` or else in ``references``, and in ``words``; the words of joined steps do not count.
    A reference to a step without a partner is followed to the nearest steps that have one: a step that is missing from
    a chain is one difference, not two.
    """
    (gold_texts, gold_steps), (texts, steps) = _steps_of(question, gold), _steps_of(question, prediction)
    if gold_steps is None or steps is None:
        return ComparedSteps(_remarked(gold_texts, gold_steps, repeat(())), _remarked(texts, steps, repeat(())))
    pairs = _pair_steps(gold_steps, steps)
    gold_of = {other: place for place, other in pairs}
    joined_gold, joined = _joined(gold_steps, steps, pairs), _joined(steps, gold_steps, list(gold_of.items()))
    gold_remarks: list[tuple[str, ...]] = [("missing",)] * len(gold_steps)
    remarks: list[tuple[str, ...]] = [("extra",)] * len(steps)
    for side, places in ((gold_remarks, joined_gold), (remarks, joined)):
        for place in places:
            side[place] = ("joined",)
    gold_edges, edges = _edges(gold_steps, {place: place for place, _ in pairs}), _edges(steps, gold_of)
    gold_surplus, surplus = _words(steps[place] for place in joined), _words(gold_steps[place] for place in joined_gold)
    for place, other in pairs:
        one, two = gold_steps[place], steps[other]
        same_operator = (one.operator, one.properties) == (two.operator, two.properties)
        differs = {
            "operator": not same_operator,
            "references": same_operator and gold_edges[place] != edges[other],
            "words": one.words - two.words - gold_surplus or two.words - one.words - surplus,
        }
        gold_remarks[place] = remarks[other] = tuple(name for name, does in differs.items() if does)
    same_content = _words(gold_steps) == _words(steps) and _computations(gold_steps) == _computations(steps)
    remarked = _remarked(gold_texts, gold_steps, gold_remarks), _remarked(texts, steps, remarks)
    return ComparedSteps(*remarked, tuple(pairs), same_content)


def _steps_of(question: str, text: str | None) -> tuple[list[str], tuple[NormalizedStep, ...] | None]:
    """The steps of a decomposition as texts and, if it has a logical form, normalised."""
    try:
        qdmr = parse_qdmr(text or "")
        steps = normalize_steps(question, to_logical_form(qdmr))
    except QDecompError:
        parts = (" ".join(part.split()).removeprefix("return").strip() for part in (text or "").split(";"))
        return [part for part in parts if part], None
    return [step.text for step in qdmr.steps], steps


def _remarked(
    texts: Sequence[str], steps: Sequence[NormalizedStep] | None, remarks: Iterable[tuple[str, ...]]
) -> tuple[StepRemark, ...]:
    operators = [step.operator.value for step in steps] if steps else [""] * len(texts)
    return tuple(map(StepRemark, texts, operators, remarks))


def _words(steps: Iterable[NormalizedStep]) -> frozenset[str]:
    return frozenset().union(*(step.words for step in steps))


def _computations(steps: Sequence[NormalizedStep]) -> Counter[tuple[Operator, tuple[str, ...]]]:
    return Counter((step.operator, step.properties) for step in steps if not OPERATORS[step.operator].describes)


def _joined(
    steps: Sequence[NormalizedStep], others: Sequence[NormalizedStep], pairs: Sequence[tuple[int, int]]
) -> list[int]:
    """The places of the steps in no pair that are part of a step of the other side."""
    surplus = [others[other].words - steps[place].words for place, other in pairs]
    return [
        place
        for place in sorted(set(range(len(steps))) - {place for place, _ in pairs})
        if OPERATORS[steps[place].operator].describes
        and any(steps[place].words and steps[place].words <= more for more in surplus)
    ]


def _pair_steps(gold: Sequence[NormalizedStep], predicted: Sequence[NormalizedStep]) -> list[tuple[int, int]]:
    """The pairs of steps, by their places, that are as similar as possible.

    Similarity is by operator, by own words, and by all words that a step reaches through its references.
    """
    gold_reach = _reached(gold, lambda place, below: gold[place].words | below)
    predicted_reach = _reached(predicted, lambda place, below: predicted[place].words | below)
    likeness = [
        [
            _likeness(one, other) + _REACHED_WORDS * _overlap(gold_reach[row], predicted_reach[column])
            for column, other in enumerate(predicted)
        ]
        for row, one in enumerate(gold)
    ]
    last_row, last_column = max(len(gold) - 1, 1), max(len(predicted) - 1, 1)
    costs = [
        [_PLACE * abs(row / last_row - column / last_column) - value for column, value in enumerate(values)]
        for row, values in enumerate(likeness)
    ]
    return [(row, column) for row, column in _assign(costs) if likeness[row][column] >= _ENOUGH - 1e-9]


def _assign(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The pairs (row, column) of least total cost, as many as there can be, by shortest augmenting paths.

    >>> _assign([[4, 1, 3], [2, 0, 5]])
    [(0, 1), (1, 0)]
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        return sorted((row, column) for column, row in _assign(list(zip(*costs, strict=True))))
    row_prices, column_prices = [0.0] * len(costs), [0.0] * len(costs[0])
    row_of: dict[int, int] = {}
    for start in range(len(costs)):
        # Dijkstra over reduced costs, from a new row to the nearest column that is free; each column with the column
        # before it on its path.
        shortest = dict.fromkeys(range(len(costs[0])), float("inf"))
        before = dict.fromkeys(shortest, -1)
        seen: dict[int, float] = {}
        row, length, sink = start, 0.0, -1
        while True:
            for column in shortest:
                reduced = length + costs[row][column] - row_prices[row] - column_prices[column]
                if reduced < shortest[column]:
                    shortest[column], before[column] = reduced, sink
            # Of equally near columns, a free one.
            sink = min(shortest, key=lambda column: (shortest[column], column in row_of))
            length = seen[sink] = shortest.pop(sink)
            if sink not in row_of:
                break
            row = row_of[sink]
        row_prices[start] += length
        for column, near in seen.items():
            if column in row_of:
                row_prices[row_of[column]] += length - near
                column_prices[column] -= length - near
        while sink >= 0:
            row_of[sink] = start if before[sink] < 0 else row_of[before[sink]]
            sink = before[sink]
    return sorted((row, column) for column, row in row_of.items())


def _likeness(one: NormalizedStep, other: NormalizedStep) -> float:
    value = _OWN_WORDS * _overlap(one.words, other.words)
    if one.operator == other.operator:
        value += _SAME_OPERATOR + (_SAME_PROPERTIES if one.properties == other.properties else 0.0)
    return value


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    union = one | other
    return len(one & other) / len(union) if union else 1.0


def _reached(
    steps: Sequence[NormalizedStep], of_step: Callable[[int, frozenset[Any]], frozenset[Any]]
) -> list[frozenset[Any]]:
    """What ``of_step`` makes of each step's place and of what the steps that it refers to reach."""
    reached: dict[int, frozenset[Any]] = {}
    targets = {number: [target for _, target in step.edges] for number, step in enumerate(steps, start=1)}
    for number in order_by_references(targets):
        reached[number] = of_step(number - 1, frozenset().union(*(reached[target] for target in targets[number])))
    return [reached[number] for number in targets]


def _edges(steps: Sequence[NormalizedStep], known: Mapping[int, int]) -> list[frozenset[tuple[str, int]]]:
    """The references of each step to gold places: those of the partners of the steps that it names, or below them."""
    reached = _reached(steps, lambda place, below: frozenset((known[place],)) if place in known else below)
    return [frozenset((name, place) for name, number in step.edges for place in reached[number - 1]) for step in steps]
