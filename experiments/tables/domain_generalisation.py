"""LF-EM on a source whose questions were not trained on, and the drop against training on all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import stdev

from qdecomp.evaluation.scoring import QuestionScores, SystemScores

from ..cells import ALL_ROWS, systems_of, without
from ..claims import better_than, oriented
from ..paper import figures_of, place_of
from ..results import Block, Entry, Result, Test
from ..scores import Scores, compare, entry, origins, with_questions
from ..settings import Settings
from ..systems import SYSTEMS, System

__all__ = ["build"]

POOLED = "all left out"


def build(settings: Settings, base: Path) -> Result:
    """The three tables: trained on all, trained without the source, and the relative drop."""
    scores = Scores.of("domain_generalisation", settings, base)
    systems = systems_of("domain_generalisation", settings)
    sources = settings.sources
    full = [
        entry(system.title, source, scores.of_system(system.name, ALL_ROWS), _of_source(source))
        for system in systems
        for source in sources
    ]
    left_out = [
        entry(system.title, source, scores.of_system(system.name, without(source)), _of_source(source))
        for system in systems
        for source in sources
    ]
    common = _common_sources(systems, sources, scores)
    pooled = {system.title: _pooled(system, common, scores) for system in systems}
    left_out += [entry(title, POOLED, runs) for title, runs in pooled.items()]
    drops = [_drop(system, source, scores) for system in systems for source in sources]
    tests = [Test(POOLED, comparison) for comparison in compare(list(pooled.values()), scores.gold)]
    hybrid, baseline = SYSTEMS["latent_rat"].title, SYSTEMS["copynet"].title
    claim = better_than(
        f"{hybrid} is better than {baseline} on sources that were not trained on",
        oriented(tests, hybrid, [baseline]),
        1,
    )
    paper = {name: figures_of(name) for name in ("trained_on_all", "trained_without", "drop")}
    note = (
        f"{POOLED!r} are the questions of {', '.join(common) or 'no source'}, each answered by the parser that "
        "was trained without their source."
    )
    return Result(
        "domain_generalisation",
        "Domain generalisation",
        settings.size,
        "; ".join(place_of(name) for name in paper),
        (
            Block("LF-EM, trained on all sources", "source", sources, tuple(full), paper["trained_on_all"]),
            Block(
                "LF-EM, trained without the source",
                "source",
                (*sources, POOLED),
                tuple(left_out),
                paper["trained_without"],
            ),
            Block("Drop, relative to training on all", "source", sources, tuple(drops), paper["drop"]),
        ),
        plot="bars",
        axis="LF-EM",
        tests=tuple(tests),
        claims=(claim,),
        notes=(note, *origins(settings)),
    )


def _of_source(source: str) -> Callable[[QuestionScores], bool]:
    return lambda question: question.example.source == source


def _common_sources(systems: Sequence[System], sources: Sequence[str], scores: Scores) -> list[str]:
    """The sources that every system with any run was trained without."""
    having = [[bool(scores.of_system(system.name, without(source))) for source in sources] for system in systems]
    rows = [row for row in having if any(row)]
    return [source for place, source in enumerate(sources) if rows and all(row[place] for row in rows)]


def _pooled(system: System, sources: Sequence[str], scores: Scores) -> tuple[SystemScores, ...]:
    """The system's runs on the questions of all these sources, each of the training without it."""
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
    """How much of the score is lost; each seed's training without the source against that on all."""
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
