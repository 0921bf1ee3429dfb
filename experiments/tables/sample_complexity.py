"""LF-EM as a function of the number of training rows."""

from __future__ import annotations

from pathlib import Path

from ..cell_scores import Scores
from ..cells import systems_of
from ..claims import better_than, oriented
from ..paper import figures_of
from ..results import Block, Result, Test
from ..scores import compare, entry
from ..settings import Settings
from ..systems import SYSTEMS
from ..table_results import result_of

__all__ = ["build"]

_LITTLE = 10
_GRAPH_PARSERS = ("biaffine", "biaffine_ilp")
_WRITERS = ("copynet", "latent_rat")


def build(settings: Settings, base: Path) -> Result:
    """The table of LF-EM by percentage of the training rows."""
    scores = Scores.of("sample_complexity", settings, base)
    systems = systems_of("sample_complexity", settings)
    columns = {f"{percentage}%": f"train_{percentage}" for percentage in settings.percentages}
    entries = [
        entry(system.title, column, scores.of_system(system.name, split))
        for system in systems
        for column, split in columns.items()
    ]
    tests = [
        Test(column, comparison)
        for column, split in columns.items()
        for comparison in compare([scores.of_system(system.name, split) for system in systems], scores.gold)
    ]
    little = [f"{percentage}%" for percentage in settings.percentages if percentage <= _LITTLE]
    claims = []
    for name in _GRAPH_PARSERS if little else ():
        title, others = SYSTEMS[name].title, [SYSTEMS[other].title for other in _WRITERS]
        about = [test for test in oriented(tests, title, others) if test.where in little]
        text = f"With {_LITTLE}% of the rows or fewer, {title} is better than {' and '.join(others)}"
        claims.append(better_than(text, about, len(little) * len(others)))
    block = Block(
        "LF-EM by share of the training rows",
        "trained on",
        tuple(columns),
        tuple(entries),
        figures_of("sample_complexity"),
    )
    return result_of("sample_complexity", settings, block, tests=tests, claims=claims)
