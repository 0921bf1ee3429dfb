"""LF-EM by the number of steps of the gold decomposition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from qdecomp.evaluation.report import first_of_the_long
from qdecomp.evaluation.scoring import QuestionScores, number_of_steps

from ..cell_scores import Scores
from ..cells import ALL_ROWS, systems_of
from ..claims import better_than, oriented
from ..paper import figures_of
from ..results import Block, Result, Test
from ..scores import compare, entry
from ..settings import Settings
from ..systems import SYSTEMS
from ..table_results import result_of

__all__ = ["build"]

_LONG = 5
Chooser = Callable[[QuestionScores], bool]


def build(settings: Settings, base: Path) -> Result:
    """The table of LF-EM by steps, and tests on short and on long questions."""
    scores = Scores.of("length", settings, base)
    systems = systems_of("length", settings)
    steps = Counter(number_of_steps(example.decomposition or "") for example in scores.gold.examples)
    columns = _columns(steps)
    runs = {system.title: scores.of_system(system.name, ALL_ROWS) for system in systems}
    entries = [entry(title, column, each, chosen) for title, each in runs.items() for column, chosen in columns.items()]
    parts = {f"fewer than {_LONG} steps": _between(0, _LONG - 1), f"{_LONG} steps or more": _between(_LONG, max(steps))}
    tests = [
        Test(name, comparison)
        for name, chosen in parts.items()
        for comparison in compare(list(runs.values()), scores.gold, chosen)
    ]
    hybrid, baseline = SYSTEMS["latent_rat"].title, SYSTEMS["copynet"].title
    about = [test for test in oriented(tests, hybrid, [baseline]) if test.where != next(iter(parts))]
    claim = better_than(f"From {_LONG} steps on, {hybrid} is better than {baseline}", about, 1)
    longest = first_of_the_long(steps)
    counts = Counter({str(number): count for number, count in sorted(steps.items()) if number < longest})
    counts[f"{longest} or more"] = sum(count for number, count in steps.items() if number >= longest)
    questions = ", ".join(f"{count} with {number}" for number, count in counts.items())
    block = Block("LF-EM by number of gold steps", "steps", tuple(columns), tuple(entries), figures_of("length"))
    note = f"Questions by steps: {questions}."
    return result_of("length", settings, block, tests=tests, claims=[claim], notes=[note])


def _columns(steps: Counter[int]) -> dict[str, Chooser]:
    """A column for each number of steps, and one for all numbers from which on single ones become rare."""
    last = first_of_the_long(steps)
    columns = {str(number): _between(number, number) for number in sorted(steps) if number < last}
    name = f"{last}+" if max(steps) > last else str(last)
    return columns | {name: _between(last, max(steps))}


def _between(least: int, most: int) -> Chooser:
    return lambda question: least <= question.steps <= most
