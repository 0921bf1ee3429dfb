"""NormEM: exact match after both decompositions were brought into a normal form.

The steps are taken apart by their words (:mod:`.rules`), so that ``red cubes`` and ``cubes; #1 that are red`` become
the same nodes, and the nodes are ordered (:mod:`.ordering`). The verdicts are those of Break's official evaluator.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qdecomp.data_structures.errors import ErrorText
from qdecomp.evaluation.metrics import MetricResult
from qdecomp.evaluation.metrics.annotation import MissingAnnotationError, SpacyAnnotator, StepAnnotator, step_key
from qdecomp.evaluation.metrics.break_text import BreakText, graph_of, parse_break_text, text_of
from qdecomp.evaluation.metrics.norm_em.ordering import NormalizationError, number_by_level, sort_filter_chains
from qdecomp.evaluation.metrics.norm_em.rewriting import rewrite

__all__ = ["NormEm", "NormEmVerdict"]


@dataclass(frozen=True, slots=True)
class NormEmVerdict:
    """What the official evaluator says: the normal forms, and whether they are equal.

    ``verdict`` is None if one side has no normal form; the official mean leaves such a row out.
    """

    verdict: bool | None
    prediction: str | None
    gold: str | None


class NormEm:
    """The metric, with the annotator that it asks about words; spaCy unless another is given."""

    def __init__(self, annotator: StepAnnotator | None = None) -> None:
        self._annotator = annotator or SpacyAnnotator()

    def __call__(self, question: str, prediction: str, gold: str) -> MetricResult:
        """Score a prediction. One that is not a decomposition is wrong, with the reason, unless it is the gold text.

        The official evaluator loses steps that refer to themselves, and so calls some of these right; and it leaves a
        prediction without a normal form out of the mean, which raises the mean.
        """
        predicted, wanted = parse_break_text(prediction), parse_break_text(gold)
        try:
            official = self.verdict(predicted, wanted)
        except MissingAnnotationError as error:
            return MetricResult(None, str(error))
        details = {"prediction_normalized": official.prediction, "gold_normalized": official.gold}
        errors = []
        if problem := predicted.problem:
            errors.append(problem.of("prediction"))
        if wrong_gold := wanted.problem:
            errors.append(wrong_gold.of("gold"))
        same_text = not predicted.is_empty and predicted.flat.lower() == wanted.flat.lower()
        right = same_text or (bool(official.verdict) and problem is None)
        return MetricResult(float(right), ErrorText.of(*errors) if errors else None, details)

    def prepare(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Annotate the steps of all rows at once, which is much faster than one by one."""
        texts = dict.fromkeys(text for _, prediction, gold in rows for text in (prediction, gold))
        self._annotator.prepare(step_key(label) for text in texts for label in parse_break_text(text).labels)

    def verdict(self, prediction: BreakText, gold: BreakText) -> NormEmVerdict:
        """The official verdict."""
        predicted, wanted = self.normal_form(prediction), self.normal_form(gold)
        if predicted is None or wanted is None:
            return NormEmVerdict(None, predicted, wanted)
        return NormEmVerdict(predicted.lower() == wanted.lower(), predicted, wanted)

    def normal_form(self, text: BreakText) -> str | None:
        """The normal form; the plain text if normalization fails; None if the numbers have gaps."""
        graph = graph_of(text)
        try:
            return text_of(number_by_level(sort_filter_chains(rewrite(graph, self._annotator))))
        except NormalizationError:
            return text_of(graph.labels)
