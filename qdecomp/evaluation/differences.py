"""What kind of difference there is between a wrong prediction and the gold decomposition.

These are the error classes of the paper, as far as a program can recognise them. The steps are compared with their
words normalised as in LF-EM, but before it merges steps, so that a missing filter is a missing step. A question may
have several kinds, but ``elaboration level`` and ``tokens only`` stand alone, because they say that the rest is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import InternalError, QDecompError, as_internal_errors
from qdecomp.data_structures.lf_em import NormalizedStep, normalize_steps
from qdecomp.data_structures.operators import OPERATORS, Operator, TextEnum
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.evaluation.scoring import QuestionScores
from qdecomp.evaluation.step_alignment import StepDifference, StepPairing, all_words, pair_steps, step_differences

__all__ = [
    "Analysis",
    "ComparedSteps",
    "DifferenceKind",
    "StepRemark",
    "analyse",
    "compare_steps",
    "difference_kinds",
    "operator_confusion",
]


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

NO_STEP = "none"
"""Stands for an operator if a step has no counterpart."""


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
    gold: tuple[StepRemark, ...]
    predicted: tuple[StepRemark, ...]
    alignment: StepPairing | None
    mistake: str | None = None
    """What went wrong in the code, if it could not compare them."""

    @property
    def error(self) -> str | None:
        """Why LF-EM has no verdict, or why there is nothing to compare."""
        return self.mistake or self.question.results["lf_em"].error


def analyse(question: QuestionScores) -> Analysis:
    """Compare prediction and gold; a question that LF-EM finds right has no kinds of difference.

    If a mistake of ours prevents it, the analysis has that as ``mistake`` and nothing else.
    """
    try:
        with as_internal_errors():
            return _analyse(question)
    except InternalError as error:
        kinds = frozenset() if question.results["lf_em"].value else frozenset((DifferenceKind.NO_LOGICAL_FORM,))
        return Analysis(question, kinds, (), (), None, str(error))


def _analyse(question: QuestionScores) -> Analysis:
    result = question.results["lf_em"]
    example = question.example
    compared = compare_steps(example.question, question.prediction.text, example.decomposition)
    kinds = frozenset((DifferenceKind.NO_LOGICAL_FORM,)) if result.error else frozenset()
    if compared.alignment is not None:
        kinds = frozenset() if result.value else kinds or difference_kinds(compared.alignment)
    return Analysis(question, kinds, compared.gold, compared.predicted, compared.alignment)


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
        alignment = analysis.alignment
        if alignment is None:
            continue
        gold, predicted = alignment.gold, alignment.predicted
        pairs.update((gold[one].operator.value, predicted[other].operator.value) for one, other in alignment.pairs)
        pairs.update((gold[place].operator.value, NO_STEP) for place in alignment.missing)
        pairs.update((NO_STEP, predicted[place].operator.value) for place in alignment.extra)
    return pairs
