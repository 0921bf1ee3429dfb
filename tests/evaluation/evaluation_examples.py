"""Small evaluations for tests, with metrics whose values are prescribed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import strategies as st

from qdecomp.evaluation.metrics import Metric, MetricResult
from qdecomp.evaluation.predictions import Gold, PredictionRow, SystemPredictions
from qdecomp.evaluation.scoring import Evaluation, score_systems
from qdecomp.files.break_csv import BreakExample, example_store


def gold_of(decompositions: Mapping[str, str | None]) -> Gold:
    """Gold questions by id."""
    examples = tuple(
        BreakExample(row, question_id, f"question {row}?", decomposition)
        for row, (question_id, decomposition) in enumerate(decompositions.items(), start=1)
    )
    return Gold(Path("gold.csv"), example_store(examples))


def system_of(name: str, texts: Sequence[str | None]) -> SystemPredictions:
    """A system with these predictions; None is a missing one."""
    predictions = tuple(PredictionRow(text, None if text else "prediction: missing") for text in texts)
    return SystemPredictions(name, Path(f"{name}.jsonl"), len(texts), predictions)


def told_metric(name: str, *, is_verdict: bool = True, lower_is_better: bool = False) -> Metric:
    """A metric whose value is the prediction read as a number; other predictions are errors without a value."""

    def function(question: str, prediction: str, gold: str) -> MetricResult:
        try:
            return MetricResult(float(prediction))
        except ValueError:
            return MetricResult(None, f"prediction: step 2: {prediction!r} is no number")

    return Metric(name, name.upper(), function, lower_is_better, is_verdict)


def told_evaluation(values: Mapping[str, Sequence[str | None]], metrics: Sequence[Metric]) -> Evaluation:
    """Systems whose predictions are the values of :func:`told_metric`, on as many questions."""
    count = len(next(iter(values.values())))
    gold = gold_of({f"{'GEO' if row % 2 else 'DROP'}_dev_{row}": "return x ;" * (1 + row % 3) for row in range(count)})
    return score_systems(gold, [system_of(name, texts) for name, texts in values.items()], metrics)


_VOCABULARY = ("cubes", "red", "large", "size", "number", "of", "is", "highest", "rivers")
_WORDS = st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=3)


@st.composite
def decompositions(draw: st.DrawFn) -> str:
    """Texts of a few steps whose references name earlier steps."""
    parts = []
    for number in range(draw(st.integers(1, 6))):
        words = draw(_WORDS)
        references = [f"#{draw(st.integers(1, number))}"] * draw(st.integers(0, 2)) if number else []
        parts.append("return " + " ".join([*references, *words]))
    return " ;".join(parts)
