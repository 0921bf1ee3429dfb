"""What kind of difference there is between a wrong prediction and the gold decomposition.

These are the error classes of the paper, as far as a program can recognise them. The steps are compared with their
words normalised as in LF-EM, but before it merges steps, so that a missing filter is a missing step. Every gold step is
paired with the predicted step that is most like it. A question may have several kinds, but ``elaboration level`` and
``tokens only`` stand alone, because they say that the rest is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class StepRemark:
    """A step as it was written, with its operator, and how it differs from its counterpart (empty: not at all)."""

    text: str
    operator: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question with the steps of both sides compared; without an alignment if a side has no logical form."""

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
            if steps.alignment is None:
                return Analysis(question, unreadable if result.error else frozenset(), steps)
            if result.value:
                return Analysis(question, frozenset(), steps)
            return Analysis(question, unreadable if result.error else difference_kinds(steps.alignment), steps)
    except InternalError as error:
        kinds = frozenset() if result.value else unreadable
        return Analysis(question, kinds, ComparedSteps((), (), None), str(error))


@dataclass(frozen=True, slots=True)
class ComparedSteps:
    """The steps of both sides with their differences; without an alignment if a side has no logical form."""

    gold: tuple[StepRemark, ...]
    predicted: tuple[StepRemark, ...]
    alignment: StepPairing | None


def compare_steps(question: str, prediction: str | None, gold: str | None) -> ComparedSteps:
    """Pair the steps of two decompositions and say how the two steps of each pair differ."""
    gold_side, predicted_side = _Side.of(question, gold), _Side.of(question, prediction)
    if gold_side.steps is None or predicted_side.steps is None:
        return ComparedSteps(gold_side.remarked({}), predicted_side.remarked({}), None)
    alignment = pair_steps(gold_side.steps, predicted_side.steps)
    gold_remarks, predicted_remarks = _remarks(alignment)
    return ComparedSteps(gold_side.remarked(gold_remarks), predicted_side.remarked(predicted_remarks), alignment)


@dataclass(frozen=True, slots=True)
class _Side:
    """The steps of a decomposition as texts and, if it has a logical form, normalised."""

    texts: tuple[str, ...]
    steps: tuple[NormalizedStep, ...] | None

    @staticmethod
    def of(question: str, text: str | None) -> _Side:
        try:
            qdmr = parse_qdmr(text or "")
            steps = normalize_steps(question, to_logical_form(qdmr))
        except QDecompError:
            parts = (" ".join(part.split()).removeprefix("return").strip() for part in (text or "").split(";"))
            return _Side(tuple(part for part in parts if part), None)
        return _Side(tuple(step.text for step in qdmr.steps), steps)

    def remarked(self, remarks: Mapping[int, Sequence[str]]) -> tuple[StepRemark, ...]:
        operators = [step.operator.value for step in self.steps] if self.steps else [""] * len(self.texts)
        return tuple(
            StepRemark(text, operator, tuple(remarks.get(place, ())))
            for place, (text, operator) in enumerate(zip(self.texts, operators, strict=True))
        )


def _remarks(alignment: StepPairing) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    gold = {place: ["missing"] for place in alignment.missing}
    predicted = {place: ["extra"] for place in alignment.extra}
    gold |= {place: ["joined"] for place in alignment.joined_gold}
    predicted |= {place: ["joined"] for place in alignment.joined_predicted}
    for place, other, found in step_differences(alignment):
        remarks = [difference.value for difference in StepDifference if difference in found]
        gold[place] = predicted[other] = remarks
    return gold, predicted


def difference_kinds(alignment: StepPairing) -> frozenset[DifferenceKind]:
    """The kinds of difference between two decompositions whose steps are aligned."""
    if _is_elaboration(alignment.gold, alignment.predicted):
        return frozenset((DifferenceKind.ELABORATION_LEVEL,))
    kinds = set()
    if alignment.missing:
        kinds.add(DifferenceKind.MISSING_STEP)
    if alignment.extra:
        kinds.add(DifferenceKind.EXTRA_STEP)
    found = {difference for _, _, differences in step_differences(alignment) for difference in differences}
    if StepDifference.OPERATOR in found:
        kinds.add(DifferenceKind.WRONG_OPERATOR)
    if not kinds and found == {StepDifference.WORDS}:
        return frozenset((DifferenceKind.TOKENS_ONLY,))
    if found & {StepDifference.REFERENCES, StepDifference.WORDS}:
        kinds.add(DifferenceKind.WRONG_ARGUMENT)
    # What is left are steps that are joined on one side.
    return frozenset(kinds or (DifferenceKind.ELABORATION_LEVEL,))


def _is_elaboration(gold: Sequence[NormalizedStep], predicted: Sequence[NormalizedStep]) -> bool:
    return (
        len(gold) != len(predicted)
        and all_words(gold) == all_words(predicted)
        and _computations(gold) == _computations(predicted)
    )


def _computations(steps: Sequence[NormalizedStep]) -> Counter[tuple[Operator, tuple[str, ...]]]:
    return Counter((step.operator, step.properties) for step in steps if not OPERATORS[step.operator].describes)


def operator_confusion(analyses: Iterable[Analysis]) -> Counter[tuple[str, str]]:
    """How often the counterpart of a gold operator has which operator; ``none`` is a missing or extra step."""
    pairs: Counter[tuple[str, str]] = Counter()
    for analysis in analyses:
        alignment = analysis.steps.alignment
        if alignment is None:
            continue
        gold, predicted = alignment.gold, alignment.predicted
        pairs.update((gold[one].operator.value, predicted[other].operator.value) for one, other in alignment.pairs)
        pairs.update((gold[place].operator.value, NO_STEP) for place in alignment.missing)
        pairs.update((NO_STEP, predicted[place].operator.value) for place in alignment.extra)
    return pairs


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
    gold_reach, predicted_reach = _reached_words(gold), _reached_words(predicted)
    likeness = [
        [
            _likeness(one, other) + _REACHED_WORDS * _overlap(gold_reach[row], predicted_reach[column])
            for column, other in enumerate(predicted)
        ]
        for row, one in enumerate(gold)
    ]
    gold_places, predicted_places = (
        [place / max(len(steps) - 1, 1) for place in range(len(steps))] for steps in (gold, predicted)
    )
    costs = [
        [_PLACE * abs(place - other) - value for value, other in zip(row, predicted_places, strict=True)]
        for row, place in zip(likeness, gold_places, strict=True)
    ]
    pairs = [(row, column) for row, column in _assign(costs) if likeness[row][column] >= _ENOUGH - 1e-9]
    joined_gold, missing = _without_partner(gold, predicted, pairs)
    joined_predicted, extra = _without_partner(predicted, gold, [(column, row) for row, column in pairs])
    return StepPairing(tuple(gold), tuple(predicted), tuple(pairs), missing, extra, joined_gold, joined_predicted)


def _assign(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The pairs (row, column) of least total cost, as many as there can be, by shortest augmenting paths.

    >>> _assign([[4, 1, 3], [2, 0, 5]])
    [(0, 1), (1, 0)]
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        return sorted((row, column) for column, row in _assign(list(zip(*costs, strict=True))))
    columns = range(len(costs[0]))
    row_prices, column_prices = [0.0] * len(costs), [0.0] * len(columns)
    row_of: list[int | None] = [None] * len(columns)
    for start in range(len(costs)):
        # Dijkstra over reduced costs, from a new row to the nearest column that is free.
        shortest, came_from = [float("inf")] * len(columns), [start] * len(columns)
        rows_of_seen = dict[int, int]()
        row, length = start, 0.0
        while True:
            for column in columns:
                reduced = length + costs[row][column] - row_prices[row] - column_prices[column]
                if column not in rows_of_seen and reduced < shortest[column]:
                    shortest[column], came_from[column] = reduced, row
            # Of equally near columns, a free one.
            sink = min(
                (column for column in columns if column not in rows_of_seen),
                key=lambda column: (shortest[column], row_of[column] is not None),
            )
            length = shortest[sink]
            following = row_of[sink]
            if following is None:
                break
            rows_of_seen[sink] = row = following
        row_prices[start] += length
        for column, taken in rows_of_seen.items():
            row_prices[taken] += length - shortest[column]
            column_prices[column] -= length - shortest[column]
        column, end = sink, came_from[sink]
        while True:
            previous = next((each for each, taken in rows_of_seen.items() if taken == end), None)
            row_of[column] = end
            if previous is None:
                break
            column, end = previous, came_from[previous]
    return sorted((row, column) for column, row in enumerate(row_of) if row is not None)


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
