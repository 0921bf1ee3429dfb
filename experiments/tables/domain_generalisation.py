"""LF-EM on a source whose questions were not trained on, and the drop compared with training on all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import stdev

from qdecomp.evaluation.scoring import QuestionScores, SystemScores

from ..cell_scores import Scores
from ..cells import ALL_ROWS, systems_of, without
from ..claims import better_than, oriented
from ..paper import figures_of
from ..results import Block, Claim, Entry, Result, Test
from ..scores import compare, entry, with_questions
from ..settings import Settings
from ..systems import SYSTEMS, System
from ..table_results import result_of

__all__ = ["build"]

POOLED = "all left out"


def build(settings: Settings, base: Path) -> Result:
    """The three tables: trained on all, trained without the source, and the relative drop."""
    scores = Scores.of("domain_generalisation", settings, base)
    systems = systems_of("domain_generalisation", settings)
    sources = settings.sources
    full = [_entry(system, source, ALL_ROWS, scores) for system in systems for source in sources]
    left_out = [_entry(system, source, without(source), scores) for system in systems for source in sources]
    common = _common_sources(systems, sources, scores)
    pooled = {system.title: _pooled(system, common, scores) for system in systems}
    left_out += [entry(title, POOLED, runs) for title, runs in pooled.items()]
    drops = [_drop(system, source, scores) for system in systems for source in sources]
    tests = [Test(POOLED, comparison) for comparison in compare(list(pooled.values()), scores.gold)]
    note = (
        f"{POOLED!r} are the questions of {', '.join(common) or 'no source'}, each answered by the parser that "
        "was trained without their source."
    )
    return result_of(
        "domain_generalisation",
        settings,
        _block("LF-EM, trained on all sources", sources, full, "trained_on_all"),
        _block("LF-EM, trained without the source", (*sources, POOLED), left_out, "trained_without"),
        _block("Drop, relative to training on all", sources, drops, "drop"),
        tests=tests,
        claims=[_claim(tests)],
        notes=[note],
    )


def _entry(system: System, source: str, split: str, scores: Scores) -> Entry:
    return entry(system.title, source, scores.of_system(system.name, split), _of_source(source))


def _block(title: str, columns: tuple[str, ...], entries: Sequence[Entry], paper_table: str) -> Block:
    return Block(title, "source", columns, tuple(entries), figures_of(paper_table))


def _claim(tests: Sequence[Test]) -> Claim:
    hybrid, baseline = SYSTEMS["latent_rat"].title, SYSTEMS["copynet"].title
    text = f"{hybrid} is better than {baseline} on sources that were not trained on"
    return better_than(text, oriented(tests, hybrid, [baseline]), 1)


def _of_source(source: str) -> Callable[[QuestionScores], bool]:
    return lambda question: question.example.source == source


def _common_sources(systems: Sequence[System], sources: Sequence[str], scores: Scores) -> list[str]:
    """The sources that every system with any run was trained without."""
    having = [[bool(scores.of_system(system.name, without(source))) for source in sources] for system in systems]
    rows = [row for row in having if any(row)]
    return [source for place, source in enumerate(sources) if rows and all(row[place] for row in rows)]


def _pooled(system: System, sources: Sequence[str], scores: Scores) -> tuple[SystemScores, ...]:
    """The system's runs on the questions of all these sources, each from the training run without that source."""
    by_source = {source: scores.of_system(system.name, without(source)) for source in sources}
    number = min((len(runs) for runs in by_source.values()), default=0)
    return tuple(
        with_questions(
            next(iter(by_source.values()))[place],
            [
                question
                for source, runs in by_source.items()
                for question in runs[place].questions
                if question.example.source == source
            ],
        )
        for place in range(number)
    )


def _drop(system: System, source: str, scores: Scores) -> Entry:
    """How much of the score is lost: each seed's training run without the source against that on all."""
    pairs = zip(scores.of_system(system.name, ALL_ROWS), scores.of_system(system.name, without(source)), strict=False)
    figures = [
        (entry("", "", [full], _of_source(source)), entry("", "", [left], _of_source(source))) for full, left in pairs
    ]
    drops = [(left.value or 0.0) / full.value - 1 for full, left in figures if full.value]
    if not figures or not drops:
        return Entry(system.title, source)
    deviation = stdev(drops) if len(drops) > 1 else None
    questions = figures[0][0].questions
    return Entry(system.title, source, sum(drops) / len(drops), deviation, runs=len(drops), questions=questions)
