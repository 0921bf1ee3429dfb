"""The figures of an evaluation, as JSON, and one line of details for each question."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TextIO, TypeAlias

from qdecomp.evaluation.breakdown import CONFIDENCE, RESAMPLES, Breakdown, Group, break_down
from qdecomp.evaluation.metrics.metric_table import Metric, MetricResult
from qdecomp.evaluation.predictions import RowProblem
from qdecomp.evaluation.scoring import Evaluation, QuestionScores, SystemScores, field_name
from qdecomp.evaluation.significance import Comparison, compare_systems
from qdecomp.version import VERSION

__all__ = ["Summary", "detail_lines", "detail_text", "problem_counts", "summarize", "summary_to_json", "write_summary"]

_ProblemsToJson: TypeAlias = Callable[[Sequence[RowProblem]], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of an evaluation: a breakdown for each system and a comparison of every two."""

    evaluation: Evaluation
    breakdowns: tuple[Breakdown, ...]
    comparisons: tuple[Comparison, ...]
    seed: int


def summarize(evaluation: Evaluation, *, seed: int = 0) -> Summary:
    """Aggregate the scores; the seed determines the resamples of intervals and permutation tests."""
    breakdowns = tuple(break_down(system.columns, evaluation.metrics, seed=seed) for system in evaluation.systems)
    return Summary(evaluation, breakdowns, compare_systems(evaluation, seed=seed), seed)


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """A value for ``json.dumps`` with all figures, the problems of rows and the metric's version."""
    return _summary_to_json(summary, lambda problems: [_problem_to_json(problem) for problem in problems])


def write_summary(summary: Summary, stream: TextIO) -> None:
    """Write :func:`summary_to_json`, with the problems of millions of rows one by one."""
    json.dump(_summary_to_json(summary, _WrittenOneByOne), stream, ensure_ascii=False, indent=1)
    stream.write("\n")


def _summary_to_json(summary: Summary, problems_to_json: _ProblemsToJson) -> dict[str, Any]:
    from qdecomp.data_structures.lf_em import METRIC_VERSION

    evaluation = summary.evaluation
    fields = {metric.name: field_name(metric) for metric in evaluation.metrics}
    return {
        "qdecomp_version": VERSION,
        "metric_version": METRIC_VERSION,
        "gold": str(evaluation.gold.path),
        "questions": len(evaluation.gold.examples),
        "gold_problems": problems_to_json(evaluation.gold.problems),
        "interval": {"confidence": CONFIDENCE, "method": "bootstrap", "resamples": RESAMPLES, "seed": summary.seed},
        "metrics": [
            {"name": field_name(metric), "title": metric.title, "lower_is_better": metric.lower_is_better}
            for metric in evaluation.metrics
        ],
        "systems": [
            _system_to_json(system, breakdown, evaluation.metrics, problems_to_json)
            for system, breakdown in zip(evaluation.systems, summary.breakdowns, strict=True)
        ],
        "comparisons": [asdict(each) | {"metric": fields[each.metric]} for each in summary.comparisons],
    }


def _system_to_json(
    system: SystemScores, breakdown: Breakdown, metrics: Sequence[Metric], problems_to_json: _ProblemsToJson
) -> dict[str, Any]:
    return {
        "name": system.name,
        "predictions": str(system.system.path),
        "rows": system.system.rows,
        "problem_counts": problem_counts(system.system.problems),
        "problems": problems_to_json(system.system.problems),
        "overall": _group_to_json(breakdown.overall, metrics),
        "by_source": {group.name: _group_to_json(group, metrics) for group in breakdown.by_source},
        "by_steps": {group.name: _group_to_json(group, metrics) for group in breakdown.by_steps},
        "errors": {field_name(metric): system.columns.error_counts(metric.name) for metric in metrics},
    }


def _group_to_json(group: Group, metrics: Sequence[Metric]) -> dict[str, Any]:
    return {"questions": group.questions} | {
        field_name(metric): asdict(group.scores[metric.name]) for metric in metrics
    }


def problem_counts(problems: Sequence[RowProblem]) -> dict[str, int]:
    """How many rows have which kind of problem."""
    return dict(Counter(str(problem.kind) for problem in problems))


def _problem_to_json(problem: RowProblem) -> dict[str, Any]:
    return asdict(problem) | {"kind": str(problem.kind)}


class _WrittenOneByOne(list[dict[str, Any]]):
    """A list for ``json.dump``, which asks for its length and members; these are created when they are written."""

    def __init__(self, problems: Sequence[RowProblem]) -> None:
        super().__init__()
        self._problems = problems

    def __len__(self) -> int:
        return len(self._problems)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(_problem_to_json, self._problems)


def detail_lines(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """One value for each system and question, system by system in the gold file's order.

    The evaluation must have kept its questions.
    """
    for system in evaluation.systems:
        for question in system.questions:
            yield _detail_line(system.name, question, evaluation.metrics)


def detail_text(system: str, questions: Iterable[QuestionScores], metrics: Sequence[Metric]) -> str:
    """The lines of some questions as JSON lines."""
    lines = (_detail_line(system, question, metrics) for question in questions)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _detail_line(system: str, question: QuestionScores, metrics: Sequence[Metric]) -> dict[str, Any]:
    results = question.results
    errors = {field_name(metric): error for metric in metrics if (error := results[metric.name].error) is not None}
    normalised: Mapping[str, Any] = results["lf_em"].details if "lf_em" in results else {}
    world = {"lf_eq_world": results["lf_eq"].details.get("world")} if "lf_eq" in results else {}
    return {
        "system": system,
        "question_id": question.example.question_id,
        **{field_name(metric): _plain_value(metric, results[metric.name]) for metric in metrics},
        "error": errors.get("lf_em") if "lf_em" in results else next(iter(errors.values()), None),
        "errors": errors,
        "gold_normalized": normalised.get("gold_normalized"),
        "prediction_normalized": normalised.get("prediction_normalized"),
        **world,
        "steps": question.steps,
        "question": question.example.question,
        "gold": question.example.decomposition,
        "prediction": question.prediction.text,
        "prediction_form": None if question.prediction.reading is None else question.prediction.reading.form,
    }


def _plain_value(metric: Metric, result: MetricResult) -> bool | float | None:
    if result.value is None:
        return None
    return bool(result.value) if metric.is_verdict else result.value
