"""``qdecomp.evaluate``: predictions in, scores out, with intervals, paired tests and a line to cite.

>>> gold = [{"question": "How many red cubes are there?", "decomposition": "cubes; #1 that are red; number of #2"}]
>>> scores = evaluate(gold, ["1. red cubes\\n2. number of #1"], metrics="lf_em")
>>> scores["lf_em"].mean
1.0
>>> scores.signature("lf_em", short=True).split("|")[:5]
['LF-EM', 'n:1', 'm:pub', 'e:w', 'r:any']
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.formats import FORMATS, problem_lines, reading_lines
from qdecomp.evaluation.metrics import DEFAULT_METRICS, METRICS, Metric, choose_metrics
from qdecomp.evaluation.outputs import Summary, detail_lines, signature, summarize, summary_to_json
from qdecomp.evaluation.predictions import (
    Gold,
    GoldSource,
    GroupBy,
    HowRead,
    SystemPredictions,
    name_systems,
    read_gold,
    read_predictions,
)
from qdecomp.evaluation.scoring import Evaluation, score_systems
from qdecomp.evaluation.statistics import RESAMPLES, Score, Settings
from qdecomp.files.jobs import Where

_LF_EM = "lf_em"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is scored, and how: the gold questions, the systems' predictions, the metrics and the settings."""

    gold: Gold
    systems: tuple[SystemPredictions, ...]
    metrics: tuple[Metric, ...]
    settings: Settings
    problems: Sequence[str]
    """The rows that cannot be used, in words."""
    notes: Sequence[str]
    """The problems, and how predictions were read, in words."""
    otherwise_read: tuple[SystemPredictions, ...]
    """The same predictions read in any form, if they are read as EPR does and scored by LF-EM."""

    def score(self, **options: Any) -> Scores:
        """Score the systems; the options are those of :func:`~qdecomp.evaluation.scoring.score_systems`."""
        answered_only = self.settings.answered_only
        evaluation = score_systems(self.gold, self.systems, self.metrics, answered_only=answered_only, **options)
        return Scores(summarize(evaluation, self.settings), (*self.notes, *self._compared(evaluation)))

    def _compared(self, as_epr: Evaluation) -> Iterator[str]:
        """What reading as EPR does changes, in a line for each system."""
        as_any = score_systems(self.gold, self.otherwise_read, [METRICS[_LF_EM]], each=lambda *_: None)
        for system, otherwise in zip(as_epr.systems, as_any.systems, strict=False):
            theirs, ours = system.values(_LF_EM), otherwise.values(_LF_EM)
            refused = sum("EPR counts" in (row.reason or "") for row in system.system.predictions)
            yield (
                f"{system.name}: LF-EM is {100 * theirs.mean():.1f} as EPR counts and {100 * ours.mean():.1f} as "
                f"qdecomp does; {int((theirs != ours).sum()):,} of {len(theirs):,} verdicts differ, and EPR refuses "
                f"{refused:,} predictions because of #13"
            )


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one or more systems. It prints as tables.

    ``notes`` are lines about rows that could not be used, and about how predictions were read.
    """

    summary: Summary
    notes: tuple[str, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.summary.overall.scores)

    def __getitem__(self, key: str | tuple[str, str]) -> Score:
        """The score by a metric, or by a system and a metric if there are several systems."""
        if not isinstance(key, tuple):
            if len(self.systems) > 1:
                raise KeyError(f"there are several systems; give one of {', '.join(self.systems)} and a metric")
            key = self.systems[0], key
        system, metric = key
        found = self.summary.overall.scores.get(system, {}).get(metric.replace("-", "_"))
        if found is None:
            names = ", ".join(each.name for each in self.summary.evaluation.metrics)
            raise KeyError(f"no score {key!r}; systems: {', '.join(self.systems)}; metrics: {names}")
        return found

    def signature(self, metric: str = _LF_EM, *, system: str | None = None, short: bool = False) -> str:
        """How a score was made, with the score, as a line to cite."""
        score = self[metric if system is None else (system, metric)]
        return signature(METRICS[metric.replace("-", "_")], score, self.summary.settings, short=short)

    def format(self, form: str = "text") -> str:
        """All scores as ``text``, ``markdown``, ``latex``, ``csv`` or ``json``."""
        if form not in FORMATS:
            raise DataError(f"there is no format {form!r}; choose from {', '.join(FORMATS)}")
        return FORMATS[form](self.summary)

    def __str__(self) -> str:
        return self.format()

    def to_dict(self) -> dict[str, Any]:
        """All figures, as ``scores.schema.json`` describes them."""
        return summary_to_json(self.summary)

    def details(self) -> list[dict[str, Any]]:
        """A value for each system and question."""
        return list(detail_lines(self.summary.evaluation))


def evaluate(
    gold: GoldSource,
    predictions: Any,
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    *,
    column: str | None = None,
    group_by: GroupBy | None = None,
    answered_only: bool = False,
    read: str = "any",
    compat: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    processes: int = 1,
) -> Scores:
    """Score predicted decompositions against gold ones.

    ``gold`` is Break's CSV, or rows with ``question``, ``decomposition`` and perhaps ``question_id``. ``predictions``
    are a file, a list in the order of the gold questions, a mapping by id, or a mapping from systems' names to these.
    ``evaluate(predictions, gold)`` with two lists, as EPR calls it, means the same.

    ``metrics`` are names as in ``"lf_em,lf_eq"``; ``column`` is the field of the decompositions; ``group_by`` is a
    column of the gold rows, ``source``, ``steps``, or a function of an example. With ``answered_only``, questions
    without an answer are left out of the means. ``read`` is ``any`` form, or only ``break``'s. ``compat="epr"``
    counts as EPR does. All options that change a number are in the signature.
    """
    if isinstance(gold, list | tuple) and not _is_gold(gold) and _is_gold(predictions):
        gold, predictions = predictions, gold
    questions = read_gold(gold, group_by)
    sources = _systems(predictions, questions, column)
    names = metrics.split(",") if isinstance(metrics, str) else metrics
    settings: dict[str, Any] = {"seed": seed, "resamples": resamples, "answered_only": answered_only}
    inputs = read_inputs(questions, sources, names, read=read, compat=compat, **settings)
    if inputs.problems:
        warnings.warn(f"{inputs.problems[0]}; all are in the notes of the scores", stacklevel=2)
    return inputs.score(where=Where(processes))


def _is_gold(value: Any) -> bool:
    """Whether a value is rows with questions; prediction records look like that, too."""
    first = next(iter(value), None) if isinstance(value, Sequence) and not isinstance(value, str) else None
    return isinstance(first, Mapping) and "decomposition" in first and ("question_text" in first or "question" in first)


def read_inputs(
    gold: Gold,
    sources: Mapping[str, tuple[Any, str | None]],
    metrics: Iterable[str],
    *,
    seed: int,
    resamples: int,
    answered_only: bool,
    read: str,
    compat: str | None,
) -> Inputs:
    """Read the predictions of systems, each given by its name, with a file or value and a column in it."""
    if compat not in (None, "epr"):
        raise DataError(f"there is no compat {compat!r}; choose epr")
    if read not in ("any", "break"):
        raise DataError(f"predictions cannot be read as {read!r}; choose any or break")
    if compat and (answered_only or read != "any"):
        raise DataError("compat epr counts every question and reads predictions in its own way; leave the others out")
    if not sources:
        raise DataError("there are no predictions to score")
    if resamples < 2:
        raise DataError("an interval needs at least 2 resamples")
    names = [name.strip().replace("-", "_") for name in metrics if name.strip()]
    if not names:
        raise DataError(f"metrics: name at least one of {', '.join(METRICS)}")
    chosen = choose_metrics(names)

    def read_systems(read: HowRead) -> tuple[SystemPredictions, ...]:
        return tuple(
            read_predictions(source, gold, name, column=column, read=read) for name, (source, column) in sources.items()
        )

    settings = Settings(seed, resamples, answered_only, HowRead(compat or read))
    otherwise = read_systems(HowRead.ANY) if compat and _LF_EM in names else ()
    systems = read_systems(settings.read)
    problems = problem_lines(gold.path, gold.problems)
    problems += [line for each in systems for line in problem_lines(each.path, each.problems)]
    notes = [*problems]
    for each in systems:
        notes += reading_lines(each.path, (row.reading for row in each.predictions if row.reading is not None))
    return Inputs(gold, systems, chosen, settings, problems, notes, otherwise)


def _systems(predictions: Any, gold: Gold, column: str | None) -> dict[str, tuple[Any, str | None]]:
    """The predictions of each system, and the column that they are in."""
    if isinstance(predictions, str | Path):
        predictions = [predictions]
    if isinstance(predictions, Mapping):
        # A mapping is by id if any key is one, or if its values are decompositions or records.
        if not any(gold.examples.find(str(key)) is not None for key in predictions):
            return {str(name): (_kept(each), column) for name, each in predictions.items()}
        return {"predictions": (predictions, column)}
    rows = _kept(predictions)
    if isinstance(rows, list) and rows and all(map(_is_file, rows)):
        return {name: (path, of_system or column) for name, path, of_system in name_systems(map(str, rows))}
    return {"predictions": (rows, column)}


def _kept(values: Any) -> Any:
    """Values that can be read more than once."""
    is_kept = isinstance(values, str | Path | Mapping | Sequence) or hasattr(values, "iterrows")
    return values if is_kept else list(values)


def _is_file(value: Any) -> bool:
    if isinstance(value, Path):
        return True
    if not isinstance(value, str):
        return False
    file = value.partition("=")[2]
    # Unlike Path.exists, this is also false for a text that is too long for a name.
    return any(map(os.path.exists, (value, value.rpartition(":")[0], file, file.rpartition(":")[0])))
