"""The tables: a function for each experiment, of its name, that builds the :class:`~experiments.results.Result`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import pandas as pd

from qdecomp.evaluation.differences import DifferenceKind, analyse
from qdecomp.evaluation.predictions import read_gold
from qdecomp.evaluation.report import first_of_the_long
from qdecomp.evaluation.scoring import QuestionScores
from qdecomp.evaluation.statistics import mean_interval

from .cells import ALL_ROWS, TIMES, all_sources, cells_of, systems_of, without
from .results import NOT_RUN, Block, Claim, Entry, Result, Verdict, better_than, paper_figures, place_in_paper
from .scores import LF_EM, Scores, compare, figure
from .settings import SYSTEMS, Settings, System
from .verdicts import score_predictions

POOLED = "all left out"
_COPYNET, _LATENT_RAT = SYSTEMS["copynet"].title, SYSTEMS["latent_rat"].title
_STANDARD = {"LF-EM": LF_EM, "NormEM": "norm_em"}
_GRAPH_PARSERS = ("biaffine", "biaffine_ilp")
_LITTLE = 10
_LONG = 5
_MANY_TIMES = 5


class _Heading(NamedTuple):
    """What an experiment is called, how its figure is drawn, and its tables in the paper."""

    title: str
    plot: str
    axis: str
    paper_tables: tuple[str, ...]


_HEADINGS = {
    "agreement": _Heading("Model agreement", "horizontal bars", "share of questions", ("agreement",)),
    "differences": _Heading("Difference classes", "horizontal bars", "share of the wrong answers", ("differences",)),
    "domain_generalisation": _Heading(
        "Domain generalisation", "bars", "LF-EM", ("trained_on_all", "trained_without", "drop")
    ),
    "inference_time": _Heading("Inference time", "bars", "milliseconds", ("inference_time",)),
    "length": _Heading("LF-EM by number of steps", "lines", "LF-EM", ("length",)),
    "sample_complexity": _Heading("Sample complexity", "lines", "LF-EM", ("sample_complexity", "standard")),
}


def _result(name: str, settings: Settings, *blocks: Block, notes: tuple[str, ...] = (), **found: Any) -> Result:
    heading = _HEADINGS[name]
    place = "; ".join(map(place_in_paper, heading.paper_tables))
    notes = (*notes, *_origins(settings))
    return Result(name, heading.title, settings.size, place, blocks, heading.plot, heading.axis, notes=notes, **found)


def _origins(settings: Settings) -> list[str]:
    """Where the cells come from, in words: the budget of a training run, and what was given."""
    given = [f"{given.name} on {given.split}" for given in settings.given]
    notes = []
    if settings.training or not given:
        budgets = [
            f"{name} {json.dumps(parser.updates)} updates of {parser.batch_size or 'a batch'}"
            for name, parser in settings.parsers.items()
            if parser.updates is not None
        ]
        how = f"at most {', '.join(budgets)}" if budgets else "as long as the configs say"
        chosen = f"one training row in {settings.held_out}" if settings.held_out else "the development rows"
        seeds = ", ".join(map(str, settings.seeds))
        encoder = settings.encoder or "the encoders of the configs"
        notes.append(f"Trained with {encoder}, {how}; the best weights on {chosen}; seeds: {seeds}.")
    if given:
        notes.append(f"Trained elsewhere and given: {', '.join(given)}.")
    return notes


def sample_complexity(settings: Settings, base: Path) -> Result:
    """LF-EM as a function of the number of training rows, with NormEM, valid answers and minutes of training."""
    scores = Scores.of("sample_complexity", settings, base)
    systems = systems_of("sample_complexity", settings)
    columns = {f"{percentage}%": f"train_{percentage}" for percentage in settings.percentages}

    def block(title: str, metric: str, paper: Mapping[str, Mapping[str, float]]) -> Block:
        entries = [
            figure(system.title, column, scores.of_system(system.name, split, metric))
            for system in systems
            for column, split in columns.items()
        ]
        return Block(title, "trained on", tuple(columns), tuple(entries), paper)

    # Without the systems of which the paper has figures for the test set only.
    paper = {row: figures for row, figures in paper_figures("standard").items() if "LF-EM" in figures}
    standard = tuple(
        figure(system.title, column, scores.of_system(system.name, ALL_ROWS, metric))
        for system in systems
        for column, metric in _STANDARD.items()
    )
    tests = [
        test
        for column, split in columns.items()
        for test in compare(column, {each.title: scores.of_system(each.name, split) for each in systems}, scores.gold)
    ]
    little = [f"{percentage}%" for percentage in settings.percentages if percentage <= _LITTLE]
    claims = [
        better_than(
            f"With {_LITTLE}% of the rows or fewer, {SYSTEMS[name].title} is better than {_COPYNET} and {_LATENT_RAT}",
            SYSTEMS[name].title,
            [_COPYNET, _LATENT_RAT],
            [test for test in tests if test.where in little],
            2 * len(little),
        )
        for name in (_GRAPH_PARSERS if little else ())
    ]
    minutes = [
        Entry(system.title, column, mean(found) if found else None, runs=len(found))
        for system in systems
        if system.in_agreement
        for column, split in columns.items()
        for found in [scores.minutes.get((system.name, split), [])]
    ]
    return _result(
        "sample_complexity",
        settings,
        block("LF-EM by share of the training rows", LF_EM, paper_figures("sample_complexity")),
        Block("Standard setup: trained on all rows", "metric", tuple(_STANDARD), standard, paper),
        block("NormEM by share of the training rows", "norm_em", paper_figures("norm_em")),
        block("Answers with a logical form", "valid", {}),
        Block("Minutes of a core for a training run", "trained on", tuple(columns), tuple(minutes), {}, decimals=1),
        tests=tuple(tests),
        claims=tuple(claims),
    )


def domain_generalisation(settings: Settings, base: Path) -> Result:
    """LF-EM on a source whose questions were not trained on, and the drop compared with training on all."""
    scores = Scores.of("domain_generalisation", settings, base)
    systems = systems_of("domain_generalisation", settings)

    def runs(system: System, source: str, split: str) -> pd.DataFrame:
        return scores.chosen(scores.of_system(system.name, split), "source", source)

    full, left_out, drops = [], [], []
    for system in systems:
        for source in settings.sources:
            all_rows, left = runs(system, source, all_sources(system, settings)), runs(system, source, without(source))
            full.append(figure(system.title, source, all_rows))
            left_out.append(figure(system.title, source, left))
            # Of each seed, how much the run without the source loses.
            lost = left.mean() / all_rows.mean() - 1
            values = lost[lost.abs() != float("inf")].dropna()
            drops.append(
                figure(system.title, source, values.to_frame().T) if len(values) else Entry(system.title, source)
            )
    having = [
        {source for source in settings.sources if (each.name, without(source)) in scores.runs} for each in systems
    ]
    common = [source for source in settings.sources if any(having) and all(source in each for each in having if each)]
    pooled = {
        each.title: pd.concat([runs(each, source, without(source)) for source in common]).dropna(axis=1)
        for each, sources in zip(systems, having, strict=True)
        if common and sources
    }
    left_out += [figure(each.title, POOLED, pooled.get(each.title, pd.DataFrame())) for each in systems]
    tests = compare(POOLED, pooled, scores.gold)
    text = f"{_LATENT_RAT} is better than {_COPYNET} on sources that were not trained on"
    note = (
        f"{POOLED!r} are the questions of {', '.join(common) or 'no source'}, each answered by the parser that "
        "was trained without their source."
    )
    sources = tuple(settings.sources)
    return _result(
        "domain_generalisation",
        settings,
        Block("LF-EM, trained on all sources", "source", sources, tuple(full), paper_figures("trained_on_all")),
        Block(
            "LF-EM, trained without the source",
            "source",
            (*sources, POOLED),
            tuple(left_out),
            paper_figures("trained_without"),
        ),
        Block("Drop, relative to training on all", "source", sources, tuple(drops), paper_figures("drop")),
        tests=tuple(tests),
        claims=(better_than(text, _LATENT_RAT, [_COPYNET], tests, 1),),
        notes=(note,),
    )


def length(settings: Settings, base: Path) -> Result:
    """LF-EM by the number of steps of the gold decomposition, and tests on short and on long questions."""
    scores = Scores.of("length", settings, base)
    runs = {system.title: scores.of_system(system.name, ALL_ROWS) for system in systems_of("length", settings)}
    counts = Counter(sorted(scores.questions["steps"]))
    last, most = first_of_the_long(counts), max(counts)
    columns = {str(steps): (steps, steps) for steps in counts if steps < last}
    columns[f"{last}+" if most > last else str(last)] = (last, most)
    entries = [
        figure(title, column, scores.chosen(each, "steps", *between))
        for title, each in runs.items()
        for column, between in columns.items()
    ]
    parts = {f"fewer than {_LONG} steps": (0, _LONG - 1), f"{_LONG} steps or more": (_LONG, most)}
    short, long = (
        compare(name, {title: scores.chosen(each, "steps", *part) for title, each in runs.items()}, scores.gold)
        for name, part in parts.items()
    )
    text = f"From {_LONG} steps on, {_LATENT_RAT} is better than {_COPYNET}"
    questions = ", ".join(f"{count} with {steps}" for steps, count in counts.items())
    return _result(
        "length",
        settings,
        Block("LF-EM by number of gold steps", "steps", tuple(columns), tuple(entries), paper_figures("length")),
        tests=(*short, *long),
        claims=(better_than(text, _LATENT_RAT, [_COPYNET], long, 1),),
        notes=(f"Questions by steps: {questions}.",),
    )


def _answers(experiment: str, settings: Settings, base: Path) -> dict[str, list[tuple[QuestionScores, ...]]]:
    """The scored predictions of each system's runs, for what verdicts are not enough for."""
    gold = read_gold(settings.dev)
    found: dict[str, list[tuple[QuestionScores, ...]]] = {each.title: [] for each in systems_of(experiment, settings)}
    for cell in cells_of(experiment, settings):
        if (base / cell.predictions).is_file():
            found[cell.system.title].append(score_predictions(cell, gold, base, LF_EM))
    return found


def agreement(settings: Settings, base: Path) -> Result:
    """Which parsers are right on the same questions, and how far to trust an answer on which several agree."""
    answers = _answers("agreement", settings, base)
    subsets = [each for size in range(len(answers), 0, -1) for each in combinations(answers, size)]
    columns = (*map(" + ".join, subsets), "none", "at least one")
    right: dict[str, dict[int, pd.Series[float]]] = {column: {} for column in columns}
    same: dict[tuple[str, ...], dict[int, pd.Series[float]]] = {each: {} for each in subsets if len(each) > 1}
    correct: dict[tuple[str, ...], dict[int, pd.Series[float]]] = {each: {} for each in same}
    # Only runs of the same seed are compared.
    for place, runs in enumerate(zip(*answers.values(), strict=False)):
        verdicts = pd.DataFrame({title: _values(run) for title, run in zip(answers, runs, strict=True)})
        forms = pd.DataFrame({title: _normalised(run) for title, run in zip(answers, runs, strict=True)})
        who = verdicts.apply(lambda row: " + ".join(row.index[row == 1]) or "none", axis=1)
        for column in columns:
            right[column][place] = (who != "none" if column == "at least one" else who == column).astype(float)
        for subset in same:
            chosen = forms[list(subset)]
            agree = chosen.notna().all(axis=1) & chosen.eq(chosen[subset[0]], axis=0).all(axis=1)
            same[subset][place] = agree.astype(float)
            correct[subset][place] = verdicts[subset[0]].where(agree)
    agreeing = [
        figure(" + ".join(subset), column, pd.DataFrame(runs[subset]).dropna(how="all"))
        for subset in same
        for column, runs in (("share of questions", same), ("LF-EM of these", correct))
    ]
    missing = [title for title, runs in answers.items() if not runs]
    entries = tuple(figure("right", column, pd.DataFrame(runs)) for column, runs in right.items())
    title = "Share of questions that exactly these parsers have right"
    return _result(
        "agreement",
        settings,
        Block(title, "parsers", columns, entries, paper_figures("agreement"), columns_below=True),
        Block(
            "Where parsers give the same answer",
            "parsers",
            ("share of questions", "LF-EM of these"),
            tuple(agreeing),
            {},
        ),
        notes=(f"{', '.join(missing)}: not run, so there is nothing to compare.",) if missing else (),
    )


def _values(run: tuple[QuestionScores, ...]) -> list[float]:
    return [question.results[LF_EM].value or 0.0 for question in run]


def _normalised(run: tuple[QuestionScores, ...]) -> list[str | None]:
    return [question.results[LF_EM].details.get("prediction_normalized") for question in run]


def differences(settings: Settings, base: Path) -> Result:
    """What kinds of differences the wrong answers have, as far as a program can recognise them."""
    entries, notes = [], []
    for title, runs in _answers("differences", settings, base).items():
        wrong = [[found.kinds for question in run if (found := analyse(question)).kinds] for run in runs]
        for kind in DifferenceKind:
            values = {place: pd.Series([float(kind in each) for each in kinds]) for place, kinds in enumerate(wrong)}
            entries.append(figure(title, str(kind), pd.DataFrame(values)))
        if wrong:
            notes.append(f"{title}: {' and '.join(f'{len(kinds):,}' for kinds in wrong)} wrong answers.")
    meanings = " ".join(f"*{kind}*: {kind.meaning}" for kind in DifferenceKind)
    notes.append(f"An answer may have several kinds. {meanings}")
    columns, paper = tuple(map(str, DifferenceKind)), paper_figures("differences")
    block = Block("Share of the wrong answers", "difference", columns, tuple(entries), paper, columns_below=True)
    return _result("differences", settings, block, notes=tuple(notes))


def inference_time(settings: Settings, base: Path) -> Result:
    """The time for one question, asked alone on one thread, from its text to the prediction record."""
    path = base / TIMES
    measured = json.loads(path.read_text(encoding="utf-8"))["inference"] if path.is_file() else []
    by_system = {each["parser"]: each for each in measured}
    columns = ("milliseconds", "median", "milliseconds of CPU")
    entries = []
    for system in systems_of("inference_time", settings):
        speed = by_system.get(system.name)
        if speed is None:
            entries += [Entry(system.title, column) for column in columns]
            continue
        times, count = [1000 * seconds for seconds in speed["latencies"]], speed["questions"]
        entries.append(Entry(system.title, columns[0], mean(times), None, *mean_interval(times), 1, count))
        entries.append(Entry(system.title, columns[1], median(times), runs=1, questions=count))
        entries.append(Entry(system.title, columns[2], 1000 * speed["cpu_seconds"] / count, runs=1, questions=count))
    paper = paper_figures("inference_time")
    note = (
        "Batches of one question, one thread, all parsers in turns in one process; tokenisation and the reading of the "
        "answer are included, loading is not. The paper timed the forward pass."
    )
    return _result(
        "inference_time",
        settings,
        Block("Time of one question", "parser", columns, tuple(entries), paper, decimals=1),
        claims=tuple(_faster(by_system, name) for name in _GRAPH_PARSERS),
        notes=(note,),
    )


def _faster(by_system: Mapping[str, Any], name: str) -> Claim:
    """By CPU time, which other work on the machine affects least."""
    text = f"{SYSTEMS[name].title} is many times ({_MANY_TIMES} or more) faster than {_COPYNET}"
    if not {name, "copynet"} <= by_system.keys():
        return Claim(text, Verdict.NOT_RUN, NOT_RUN)
    ratio = by_system["copynet"]["cpu_seconds"] / by_system[name]["cpu_seconds"]
    verdict = Verdict.HOLDS if ratio >= _MANY_TIMES else Verdict.DOES_NOT_HOLD
    return Claim(text, verdict, f"{ratio:.1f} times by CPU time; the paper: 16 times")
