"""What a metric is, and the table of metrics by name.

A metric is one function of a question, a predicted and a gold decomposition. It scores any text: what it cannot
read gets a result with an error, never an exception. To add one, write the function and :func:`register` it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, runtime_checkable

from qdecomp.data_structures.errors import DataError

__all__ = [
    "DEFAULT_METRICS",
    "METRICS",
    "Metric",
    "MetricFunction",
    "MetricOptions",
    "MetricResult",
    "Preparable",
    "get_metric",
    "prepare",
    "register",
]


# One for all, because most of millions of results have none.
_NO_DETAILS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MetricResult:
    """The score of one prediction; a verdict is 1.0 or 0.0.

    ``value`` is None if there is no score (after a timeout, for example), and ``error`` then says why. A score with an
    error is a verdict that is false because something could not be read. ``evidence`` in the details is a sequence of
    lines that say what the verdict is based on; reports show them with the question.
    """

    value: float | None
    error: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "details", MappingProxyType(dict(self.details)) if self.details else _NO_DETAILS)

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled, but results travel between processes.
        return MetricResult, (self.value, self.error, dict(self.details))


MetricFunction: TypeAlias = Callable[[str, str, str], MetricResult]
"""From (question, prediction, gold) to the result."""


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """The user's choices for the metrics; each metric reads those that concern it."""

    annotations: Path | None = None
    """For ``norm_em``: a file with the linguistic annotations of the steps; spaCy provides what is missing."""
    annotation_cache: Path | None = None
    """For ``norm_em``: a file that keeps spaCy's annotations between runs."""
    ged_seconds: float = 20.0
    """For ``ged``: the time limit for one example."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's name on the command line, its name for people, and how to get its function.

    ``load`` imports what the metric needs, so that a metric that is not used costs nothing.
    """

    name: str
    title: str
    load: Callable[[MetricOptions], MetricFunction]
    lower_is_better: bool = False
    is_verdict: bool = True
    """Whether the only values are 0.0 and 1.0, so that the mean is a share."""


@runtime_checkable
class Preparable(Protocol):
    """A metric function that is faster if it sees all its rows beforehand."""

    def prepare(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Do the work that the rows (question, prediction, gold) have in common."""


def prepare(function: MetricFunction, rows: Iterable[tuple[str, str, str]]) -> None:
    """Let a function see its rows beforehand, if it can use that; the results are the same without."""
    if isinstance(function, Preparable):
        function.prepare(rows)


_REGISTRY: dict[str, Metric] = {}

METRICS: Mapping[str, Metric] = MappingProxyType(_REGISTRY)
"""All registered metrics by name, in the order in which they are shown."""

DEFAULT_METRICS = ("em", "sari", "lf_em")


def register(metric: Metric) -> Metric:
    """Add a metric to :data:`METRICS`; each name can be used only once."""
    if metric.name in _REGISTRY:
        raise ValueError(f"there is already a metric {metric.name!r}")
    _REGISTRY[metric.name] = metric
    return metric


def get_metric(name: str) -> Metric:
    """The metric of that name.

    >>> get_metric("sari").title
    'SARI'
    """
    try:
        return METRICS[name]
    except KeyError:
        raise DataError(f"there is no metric {name!r}; choose from {', '.join(METRICS)}") from None


def _loader(module: str, function: str) -> Callable[[MetricOptions], MetricFunction]:
    """A factory that imports its module when it is called."""

    def load(options: MetricOptions) -> MetricFunction:
        loaded = importlib.import_module(f"qdecomp.evaluation.metrics.{module}")
        metric_function: MetricFunction = getattr(loaded, function)(options)
        return metric_function

    return load


for _metric in (
    Metric("em", "EM", _loader("exact_match", "load_exact_match")),
    Metric("sari", "SARI", _loader("sari", "load_sari"), is_verdict=False),
    Metric("lf_em", "LF-EM", _loader("logical_form_match", "load_lf_em")),
    Metric("lf_em_strict", "LF-EM (strict)", _loader("logical_form_match", "load_strict_lf_em")),
    Metric("lf_eq", "LF-Eq", _loader("lf_eq", "load_lf_eq")),
    Metric("norm_em", "NormEM", _loader("norm_em", "load_norm_em")),
    Metric("ged", "GED", _loader("ged", "load_ged"), lower_is_better=True, is_verdict=False),
):
    register(_metric)
