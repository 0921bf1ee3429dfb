"""A line that says how a score was made: every option that changes a number, so that two papers can be compared.

>>> from qdecomp.evaluation.metrics import get_metric
>>> score = Score(0.25, 0.2, 0.31, questions=100, errors=3)
>>> signature(get_metric("em"), score, Settings())
'EM|n:100|errors:wrong|read:any|bs:2000|rs:0|v:1'
>>> signature(get_metric("em"), score, Settings(), short=True)
'EM|n:100|e:w|r:any|bs:2000|rs:0|v:1'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from qdecomp.evaluation.metrics import Metric
from qdecomp.evaluation.predictions import HowRead
from qdecomp.evaluation.statistics import Sampling, Score


@dataclass(frozen=True, slots=True)
class Settings:
    """The options that change a number, besides what is scored and by which metric."""

    sampling: Sampling = field(default_factory=Sampling)
    answered_only: bool = False
    read: HowRead = HowRead.ANY


@dataclass(frozen=True, slots=True)
class Key:
    """A part of a signature; a value of None leaves it out."""

    name: str
    short: str
    meaning: str
    value: Callable[[Metric, Score, Settings], str | None]


KEYS = (
    Key("n", "n", "the questions that the mean is over", lambda metric, score, settings: str(score.questions)),
    Key("mode", "m", "LF-EM as published, or strict", lambda metric, score, settings: metric.mode or None),
    Key(
        "errors",
        "e",
        "questions without an answer count as wrong, or are left out (answered)",
        lambda metric, score, settings: "answered" if settings.answered_only else "wrong",
    ),
    Key(
        "read",
        "r",
        "predictions are read in any form, as Break's text, or as EPR reads them",
        lambda metric, score, settings: str(settings.read),
    ),
    Key(
        "infl",
        "i",
        "where inflections come from",
        lambda metric, score, settings: _installed(metric, "lemminflect"),
    ),
    Key("tags", "t", "where tags and lemmas come from", lambda metric, score, settings: _installed(metric, "spacy")),
    Key("bs", "bs", "the resamples of the interval's bootstrap", lambda metric, score, settings: _resamples(settings)),
    Key("rs", "rs", "the seed of the bootstrap and of permutation tests", lambda _, score, settings: _seed(settings)),
    Key("v", "v", "the version of the metric", lambda metric, score, settings: metric.version),
)
"""The parts of a signature, in their order."""

# Values as the short form writes them.
_SHORT = {"wrong": "w", "answered": "a", "published": "pub", "strict": "str"}


def signature(metric: Metric, score: Score, settings: Settings, *, short: bool = False) -> str:
    """How a score was made, in one line."""
    parts = [metric.title.partition(" (")[0]]
    for key in KEYS:
        value = key.value(metric, score, settings)
        if value is not None:
            parts.append(f"{key.short}:{_shortened(value)}" if short else f"{key.name}:{value}")
    return "|".join(parts)


def _shortened(value: str) -> str:
    return _SHORT.get(value, value.replace("lemminflect-", "l"))


def _resamples(settings: Settings) -> str:
    return str(settings.sampling.resamples)


def _seed(settings: Settings) -> str:
    return str(settings.sampling.seed)


def _installed(metric: Metric, package: str) -> str | None:
    """The packages of a metric with their versions, if its first one is this."""
    if metric.packages[:1] != (package,):
        return None
    return "+".join(f"{name}-{found}" for each in metric.packages for name, found in _versions(each)[:1]) or "none"


@cache
def _versions(names: str) -> list[tuple[str, str]]:
    """Those of some packages that are installed, with their versions."""
    found = []
    for name in names.split("|"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
