"""NormEM: exact match after both decompositions were brought into a normal form.

The steps are taken apart by their words (:mod:`.rewriting`), so that ``red cubes`` and ``cubes; #1 that are red``
become the same nodes, and the nodes are ordered (:mod:`.ordering`). The verdicts are those of Break's official
evaluator.
"""

from __future__ import annotations

from collections.abc import Iterable

from qdecomp.data_structures.errors import ErrorText
from qdecomp.evaluation.metrics import MetricResult
from qdecomp.evaluation.metrics.annotation import MissingAnnotationError, Remembered, Token, annotate, step_key
from qdecomp.evaluation.metrics.break_text import BreakText, graph_of, parse_break_text, text_of
from qdecomp.evaluation.metrics.norm_em.ordering import NormalizationError, number_by_level, sort_filter_chains
from qdecomp.evaluation.metrics.norm_em.rewriting import rewrite


class NormEm:
    """The metric, with what is known of the words of steps; spaCy's annotations unless others are given."""

    def __init__(self, annotations: Remembered[tuple[Token, ...]] | None = None) -> None:
        self._annotations = annotations or Remembered(annotate)

    def __call__(self, question: str, prediction: str, gold: str) -> MetricResult:
        """Score a prediction. One that is not a decomposition is wrong, with the reason, unless it is the gold text.

        The official evaluator loses steps that refer to themselves, and so calls some of these right; and it leaves a
        prediction without a normal form out of the mean, which raises the mean.
        """
        predicted, wanted = parse_break_text(prediction), parse_break_text(gold)
        try:
            forms = [self.normal_form(text) for text in (predicted, wanted)]
        except MissingAnnotationError as error:
            return MetricResult(None, str(error))
        problem, wrong_gold = predicted.problem, wanted.problem
        errors = [problem.of("prediction")] if problem else []
        errors += [wrong_gold.of("gold")] if wrong_gold else []
        same_form = None not in forms and len({form.lower() for form in forms if form is not None}) == 1
        same_text = not predicted.is_empty and predicted.flat.lower() == wanted.flat.lower()
        return MetricResult(
            float(same_text or (same_form and problem is None)),
            ErrorText.of(*errors) if errors else None,
            {"prediction_normalized": forms[0], "gold_normalized": forms[1]},
        )

    def prepare(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Annotate the steps of all rows at once, which is much faster than one by one."""
        labels = (label for _, *texts in rows for text in texts for label in parse_break_text(text).labels)
        self._annotations.prepare(map(step_key, labels))

    def normal_form(self, text: BreakText) -> str | None:
        """The normal form; the plain text if normalization fails; None if the numbers have gaps."""
        graph = graph_of(text)
        try:
            return text_of(number_by_level(sort_filter_chains(rewrite(graph, self._annotations))))
        except NormalizationError:
            return text_of(graph.labels)
