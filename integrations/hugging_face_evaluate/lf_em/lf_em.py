"""LF-EM and the other metrics of question decomposition for Hugging Face ``evaluate``, loaded from this folder."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

import qdecomp

_DESCRIPTION = """\
The share of predicted question decompositions whose normalised logical form is that of the gold decomposition
(LF-EM), with a bootstrap interval and a signature to cite. Predictions may be in any form that language models write.
"""
_CITATION = """\
@inproceedings{hasson-berant-2021-question,
  title = {Question Decomposition with Dependency Graphs},
  author = {Hasson, Matan and Berant, Jonathan},
  booktitle = {3rd Conference on Automated Knowledge Base Construction},
  year = {2021}
}
"""
_INPUTS = """\
predictions: decompositions, one for each question.
references: gold decompositions in Break's form, such as "return cubes ;return number of #1".
questions: the questions, whose words decide which words mean the same.
metrics: names as in "lf_em,lf_eq"; seed and resamples: of the bootstrap.
"""


class LfEm(evaluate.Metric):
    """``evaluate.load(".../lf_em").compute(predictions=…, references=…, questions=…)``."""

    def _info(self) -> evaluate.MetricInfo:
        texts = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": texts, "references": texts, "questions": texts}),
            homepage="https://allenai.github.io/Break",
        )

    def _compute(
        self,
        predictions: list[str],
        references: list[str],
        questions: list[str],
        metrics: str = "lf_em",
        seed: int = 0,
        resamples: int = 2000,
    ) -> dict[str, Any]:
        gold = list(zip(questions, references, strict=True))
        scores = qdecomp.evaluate(gold, list(predictions), metrics, seed=seed, resamples=resamples)
        result: dict[str, Any] = {}
        for metric in scores.summary.evaluation.metrics:
            score = scores[metric.name]
            result[metric.field_name] = score.mean
            result[f"{metric.field_name}_interval"] = [score.low, score.high]
            result[f"{metric.field_name}_signature"] = scores.signature(metric.name)
        return result
