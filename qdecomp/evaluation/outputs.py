"""The figures of an evaluation as values: JSON, rows of a table, a line of details for each question, and signatures.

A signature is a line that says how a score was made, with every option that changes a number, so that two papers can be
compared.

>>> from qdecomp.evaluation.metrics import get_metric
>>> score = Score(0.25, 0.2, 0.31, questions=100, errors=3)
>>> signature(get_metric("em"), score, Settings())
'EM|n:100|errors:wrong|read:any|bs:2000|rs:0|v:1'
>>> signature(get_metric("em"), score, Settings(), short=True)
'EM|n:100|e:w|r:any|bs:2000|rs:0|v:1'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from typing import Any

import numpy as np

from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.evaluation.metrics import Metric
from qdecomp.evaluation.scoring import Evaluation, QuestionScores, SystemScores
from qdecomp.evaluation.statistics import CONFIDENCE, DEFAULT_SETTINGS, Group, Score, Settings, places_by, score_groups
from qdecomp.version import VERSION

SCHEMA_VERSION = 1
"""The version of the JSON that ``scores.schema.json`` describes."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of an evaluation: on all questions, and on those of each group."""

    evaluation: Evaluation
    overall: Group
    by_source: tuple[Group, ...]
    by_steps: tuple[Group, ...]
    by_group: tuple[Group, ...]
    settings: Settings


def summarize(evaluation: Evaluation, settings: Settings = DEFAULT_SETTINGS) -> Summary:
    """Aggregate the scores on all questions and on those of each group."""
    gold = evaluation.gold
    (overall,) = score_groups(evaluation, {"all": np.arange(len(gold.examples))}, settings)
    keys = (map(attrgetter("source"), gold.examples), map(attrgetter("steps"), gold.examples), gold.groups)
    by_source, by_steps, by_group = (score_groups(evaluation, places_by(each), settings) for each in keys)
    return Summary(evaluation, overall, by_source, by_steps, by_group, settings)


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """A value for ``json.dumps`` with all figures, the problems of rows and the metric's version."""
    evaluation, settings = summary.evaluation, summary.settings
    fields = {metric.name: metric.field_name for metric in evaluation.metrics}
    return {
        "schema": SCHEMA_VERSION,
        "qdecomp_version": VERSION,
        "metric_version": METRIC_VERSION,
        "gold": str(evaluation.gold.path),
        "questions": len(evaluation.gold.examples),
        "gold_problems": [asdict(problem) for problem in evaluation.gold.problems],
        "interval": {
            "confidence": CONFIDENCE,
            "method": "bootstrap",
            "seed": settings.seed,
            "resamples": settings.resamples,
        },
        "read": str(settings.read),
        "answered_only": settings.answered_only,
        "metrics": [
            {
                "name": metric.field_name,
                "title": metric.title,
                "lower_is_better": metric.lower_is_better,
                "version": metric.version,
                "best": summary.overall.best(metric),
            }
            for metric in evaluation.metrics
        ],
        "systems": [_system_to_json(system, summary) for system in evaluation.systems],
        "comparisons": [asdict(each) | {"metric": fields[each.metric]} for each in summary.overall.comparisons],
    }


def _system_to_json(system: SystemScores, summary: Summary) -> dict[str, Any]:
    metrics = summary.evaluation.metrics

    def figures(group: Group) -> dict[str, Any]:
        scores = group.scores[system.name]
        return {"questions": group.questions} | {each.field_name: asdict(scores[each.name]) for each in metrics}

    return {
        "name": system.name,
        "predictions": str(system.system.path),
        "rows": system.system.rows,
        "problem_counts": dict(Counter(problem.kind for problem in system.system.problems)),
        "problems": [asdict(problem) for problem in system.system.problems],
        "overall": figures(summary.overall),
        "by_source": {group.name: figures(group) for group in summary.by_source},
        "by_steps": {group.name: figures(group) for group in summary.by_steps},
        "by_group": {group.name: figures(group) for group in summary.by_group},
        "signatures": {
            each.field_name: signature(each, summary.overall.scores[system.name][each.name], summary.settings)
            for each in metrics
        },
        "errors": {metric.field_name: system.error_counts(metric.name) for metric in metrics},
    }


def detail_lines(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """One value for each system and question that was kept, system by system in the gold file's order."""
    for system in evaluation.systems:
        for question in system.questions:
            yield detail_line(system.name, question, evaluation.metrics)


def detail_line(system: str, question: QuestionScores, metrics: Sequence[Metric]) -> dict[str, Any]:
    """The results for a question with its texts, a value for ``json.dumps``."""
    results = question.results
    errors = {metric.field_name: error for metric in metrics if (error := results[metric.name].error) is not None}
    values = {
        each.field_name: bool(value) if each.is_verdict and value is not None else value
        for each in metrics
        for value in (results[each.name].value,)
    }
    normalised: Mapping[str, Any] = results["lf_em"].details if "lf_em" in results else {}
    world = {"lf_eq_world": results["lf_eq"].details.get("world")} if "lf_eq" in results else {}
    return {
        "system": system,
        "question_id": question.example.question_id,
        **values,
        "error": errors.get("lf_em") if "lf_em" in results else next(iter(errors.values()), None),
        "errors": errors,
        "gold_normalized": normalised.get("gold_normalized"),
        "prediction_normalized": normalised.get("prediction_normalized"),
        **world,
        "steps": question.example.steps,
        "question": question.example.question,
        "gold": question.example.decomposition,
        "prediction": question.prediction.text,
        "prediction_form": None if question.prediction.reading is None else question.prediction.reading.form,
    }


def score_rows(summary: Summary) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """The columns and rows of a table with a row for each system, group of questions and metric."""
    parts = {"all": (summary.overall,), "group": summary.by_group, "source": summary.by_source}
    columns = ("system", "part", "group", "questions", "metric", "mean", "low", "high", "scored", "errors", "best")
    return (*columns, "signature"), (
        (
            *(system, part, group.name, group.questions, metric.field_name, *astuple(score)),
            *(group.best(metric) == system, signature(metric, score, summary.settings)),
        )
        for system in summary.overall.scores
        for part, groups in {**parts, "steps": summary.by_steps}.items()
        for group in groups
        for metric in summary.evaluation.metrics
        for score in (group.scores[system][metric.name],)
    )


# The short forms of a signature's keys and values.
_SHORT = {
    **{"mode": "m", "errors": "e", "read": "r", "infl": "i", "tags": "t"},
    **{"wrong": "w", "answered": "a", "published": "pub", "strict": "str"},
}


def signature(metric: Metric, score: Score, settings: Settings, *, short: bool = False) -> str:
    """How a score was made, in one line."""
    packages = "+".join(found for each in metric.packages if (found := _first_installed(each))) or "none"
    parts = {
        "n": str(score.questions),
        "mode": metric.mode,
        "errors": "answered" if settings.answered_only else "wrong",
        "read": str(settings.read),
        "infl": packages if metric.packages[:1] == ("lemminflect",) else "",
        "tags": packages if metric.packages[:1] == ("spacy",) else "",
        "bs": str(settings.resamples),
        "rs": str(settings.seed),
        "v": metric.version,
    }
    if short:
        parts = {
            _SHORT.get(key, key): _SHORT.get(value, value.replace("lemminflect-", "l")) for key, value in parts.items()
        }
    return "|".join([metric.title.partition(" (")[0], *(f"{key}:{value}" for key, value in parts.items() if value)])


@cache
def _first_installed(names: str) -> str | None:
    """The first of some packages that is installed, with its version."""
    for name in names.split("|"):
        try:
            return f"{name}-{version(name)}"
        except PackageNotFoundError:
            continue
    return None
