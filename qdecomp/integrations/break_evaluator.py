"""The names that codebases import to score Break, so that only the line with the import changes.

EPR and other work on in-context learning carry the published evaluator with them. Their calls work with these names,
without spaCy and AllenNLP, and :class:`EvaluateTool` and :func:`eval_many` count as :func:`qdecomp.evaluate` does with
``compat="epr"``. New code should call ``qdecomp.evaluate``, which reads all forms of answers and gives intervals and a
signature.

>>> gold = {"question_text": "How many cubes are there?", "decomposition": "return cubes ;return number of #1"}
>>> EvaluateTool().evaluate(["1#) return cube 2#) return the number of #1"], [gold])
{'lf-em': 1.0}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em import lf_em, normalized_text
from qdecomp.data_structures.reading import BREAK_FORM, Reading
from qdecomp.evaluation import scores
from qdecomp.evaluation.predictions import HowRead, reading_of


class EvaluateTool:
    """``EvaluateTool().evaluate(preds, golds)``, with the dictionaries of Break's rows as ``golds``."""

    def evaluate(self, preds: Sequence[str], golds: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """LF-EM of predictions, under the name ``lf-em``."""
        questions = [gold["question_text"] for gold in golds]
        verdicts = eval_many(questions, preds, [gold["decomposition"] for gold in golds])
        return {"lf-em": sum(verdicts) / len(golds)}


def eval_many(
    questions: Sequence[str], preds: Sequence[str], golds: Sequence[str], n_proc: int | None = None
) -> list[bool]:
    """The verdict on each prediction; it is quick enough for one process."""
    return [eval_single(*each, index) for index, each in enumerate(zip(questions, preds, golds, strict=True))]


def eval_single(question: str, generated: str, decomposition: str, index: int = 0) -> bool:
    """The verdict on a prediction; whatever cannot be read is wrong."""
    try:
        return lf_em(question, reading_of(generated, HowRead.EPR), Reading(decomposition, BREAK_FORM)).verdict
    except QDecompError:
        return False


def evaluate(
    question_ids: Sequence[str],
    questions: Sequence[str],
    decompositions: Sequence[str],
    golds: Sequence[str],
    metadata: None = None,
    output_path_base: None = None,
    num_processes: int = 1,
) -> dict[str, float | None]:
    """Means of EM, SARI and LF-EM under the published names; predictions are read as Break's text only."""
    if metadata is not None or output_path_base is not None:
        raise DataError("for scores by source and for files call qdecomp.evaluate(…, group_by=…)")
    found = scores.evaluate(list(zip(questions, golds, strict=True)), decompositions, "em,sari,lf_em", read="break")
    names = {"exact_match": "em", "sari": "sari", "logical_form_em": "lf_em"}
    return {published: found[name].mean for published, name in names.items()}


class BreakEvaluator:
    """``BreakEvaluator().lfem(row)``, with the prediction and the gold decomposition in the row."""

    def lfem(self, x: Mapping[str, Any]) -> bool:
        """The verdict on ``x["pred"]``, by ``x["actual_target"]`` and ``x["question_text"]``."""
        return lf_em(
            x["question_text"], Reading(x["pred"], BREAK_FORM), Reading(x["actual_target"], BREAK_FORM)
        ).verdict


class _FormattedQdmr(str):
    """Break's text with the published method."""

    def to_break_standard_string(self) -> str:
        """The text."""
        return str(self)


def format_qdmr(input: str) -> _FormattedQdmr:
    """A decomposition in Break's text with single spaces."""
    return _FormattedQdmr(" ".join(input.split()))


class QDMRToQDMRStepTokensConverter:
    """From Break's text to what :class:`LogicalFromStructuralMatcher` compares."""

    def convert(self, question_id: object, question_text: str, decomposition: str) -> str:
        """The normalised logical form; raises if there is none."""
        return normalized_text(question_text, decomposition)


class LogicalFromStructuralMatcher:
    """Compares the results of :class:`QDMRToQDMRStepTokensConverter`. The name is spelled as published."""

    def is_match(self, question_id: object, question_text: str, graph1: str, graph2: str) -> bool:
        """Whether two decompositions have the same normalised logical form."""
        return graph1 == graph2


class NormalizedGraphMatchScorer:
    """Is made by these codebases but not used; for NormEM use ``qdecomp.evaluate(…, metrics="norm_em")``."""
