"""Results of experiments, with what they all have in common: heading, size, and where the cells come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .paper import place_of
from .results import Block, Claim, Result, Test
from .settings import Settings

__all__ = ["result_of"]


class _Heading(NamedTuple):
    """What an experiment is called, and how its figure is drawn."""

    title: str
    plot: str
    axis: str
    paper_tables: tuple[str, ...] = ()
    """The paper's tables, if they are not a single one of the experiment's name."""


_HEADINGS = {
    "agreement": _Heading("Model agreement", "horizontal bars", "share of questions"),
    "differences": _Heading("Difference classes", "horizontal bars", "share of the wrong answers"),
    "domain_generalisation": _Heading(
        "Domain generalisation", "bars", "LF-EM", ("trained_on_all", "trained_without", "drop")
    ),
    "inference_time": _Heading("Inference time", "bars", "milliseconds"),
    "length": _Heading("LF-EM by number of steps", "lines", "LF-EM"),
    "sample_complexity": _Heading("Sample complexity", "lines", "LF-EM"),
}


def result_of(
    name: str,
    settings: Settings,
    *blocks: Block,
    tests: Iterable[Test] = (),
    claims: Iterable[Claim] = (),
    notes: Iterable[str] = (),
) -> Result:
    """What an experiment found."""
    title, plot, axis, paper_tables = _HEADINGS[name]
    place = "; ".join(map(place_of, paper_tables or (name,)))
    notes = (*notes, *_origins(settings))
    return Result(name, title, settings.size, place, blocks, plot, axis, tuple(tests), tuple(claims), notes)


def _origins(settings: Settings) -> tuple[str, ...]:
    """Where the cells come from, in words: the budget of a training run, and what was given."""
    budgets = [
        f"{name} {parser.updates} updates of {parser.batch_size or 'a batch'}"
        for name, parser in settings.parsers.items()
        if parser.updates is not None
    ]
    given = [f"{given.name} on {given.split}" for given in settings.given]
    how = f"a budget for each training ({', '.join(budgets)})" if budgets else "as long as the configs say"
    seeds = ", ".join(map(str, settings.seeds))
    notes = []
    if settings.training or not given:
        notes.append(f"Trained with {settings.encoder or 'the encoders of the configs'}, {how}; seeds: {seeds}.")
    if given:
        notes.append(f"Trained elsewhere and given: {', '.join(given)}.")
    return tuple(notes)
