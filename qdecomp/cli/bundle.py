"""``qdecomp bundle``: turn a trained parser into a folder that parses without torch, and measure it for its card."""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from qdecomp.cli.card import card_of, renew_section
from qdecomp.cli.options import PATH
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import METRIC_VERSION, lf_em
from qdecomp.evaluation.metrics import choose_metrics
from qdecomp.evaluation.metrics.break_text import sari
from qdecomp.evaluation.outputs import summarize
from qdecomp.evaluation.predictions import Gold, read_gold, read_predictions
from qdecomp.evaluation.scoring import score_systems
from qdecomp.evaluation.statistics import Group
from qdecomp.parsers.parser import Parser, load
from qdecomp.terminal import progress

_TIMED = 200
_EXAMPLES = "### Questions that it gets wrong"


def measure(parser: Parser, gold: Gold) -> dict[str, Any]:
    """LF-EM, exact match and SARI with intervals, overall and by source, and how fast that was."""
    questions = [example.question for example in gold.examples]
    processes = os.cpu_count() or 1
    # The pool loads its parsers before the clock starts.
    list(parser.pipe(questions[: 2 * processes], batch_size=1, processes=processes))
    started = time.perf_counter()
    answers = list(progress(parser.pipe(questions, processes=processes), "parsing", len(questions)))
    seconds = time.perf_counter() - started
    predictions = read_predictions([answer.text for answer in answers], gold)
    evaluation = score_systems(gold, [predictions], choose_metrics(["lf_em", "em", "sari"]))
    summary = summarize(evaluation)
    return {
        "gold": gold.path.name,
        "questions": len(questions),
        "valid": round(sum(answer.logical_form is not None for answer in answers) / len(questions), 4),
        "lf_em": _mean(summary.overall),
        "exact_match": _mean(summary.overall, "em"),
        "sari": _mean(summary.overall, "sari"),
        "lf_em_by_source": {group.name: _mean(group) for group in summary.by_source},
        "lf_em_by_steps": {group.name: _mean(group) for group in summary.by_steps},
        "metric_version": METRIC_VERSION,
        "questions_a_second": round(len(questions) / seconds, 1),
        "median_milliseconds": round(1000 * _median_seconds(parser, gold), 1),
        "hardware": f"{os.cpu_count()} cores of {_processor()}",
    }


def _mean(group: Group, metric: str = "lf_em") -> dict[str, float | int]:
    (scores,) = group.scores.values()
    values = asdict(scores[metric])
    numbers = {name: round(values[name], 4) for name in ("mean", "low", "high") if values[name] is not None}
    return numbers | {"questions": values["questions"]}


def _median_seconds(parser: Parser, gold: Gold) -> float:
    """The time for one question, asked alone."""
    seconds = []
    for example in gold.examples[:: max(1, len(gold.examples) // _TIMED)]:
        started = time.perf_counter()
        parser.parse(example.question)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


class Answer(NamedTuple):
    """A question with gold, what the parser said, and whether that is right."""

    kind: str
    question: str
    gold: str
    plan: str | None
    confidence: float
    is_right: bool


def _answers_of(parser: Path, gold: Path) -> Iterator[Answer]:
    """The answers of a parser to all rows of a file that have a gold decomposition."""
    examples = [example for example in read_gold(gold).examples if example.decomposition]
    for example, found in zip(examples, load(parser).pipe([each.question for each in examples]), strict=True):
        plan, decomposition = str(found.qdmr) if found else None, example.decomposition or ""
        right = plan is not None and bool(lf_em(example.question, plan, decomposition))
        yield Answer(example.source, example.question, decomposition, plan, found.confidence or 0.0, right)


def section_of(answers: Iterable[Answer], name: str) -> str:
    """The text of the section: how often each kind is wrong, and the wrong plan of each that is furthest from gold."""
    by_kind: dict[str, list[Answer]] = {}
    for answer in answers:
        by_kind.setdefault(answer.kind, []).append(answer)
    rows = []
    total, missed = sum(map(len, by_kind.values())), 0
    for kind, found in sorted(by_kind.items()):
        wrong = [answer for answer in found if not answer.is_right]
        missed += len(wrong)
        if wrong:
            far = min(wrong, key=lambda answer: sari(answer.question, answer.plan or "", answer.gold).value or 0.0)
            share = f"{len(wrong)} of {len(found)}"
            cells = (kind.lower(), share, far.question, _steps(far.plan), _steps(far.gold), f"{far.confidence:.2f}")
            rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    head = f"""\
Of the plans for the {total:,} questions of `{name}`, {missed:,} are wrong by LF-EM. For each kind of question,
this is the wrong plan that is furthest from gold by SARI. LF-EM is strict: some would lead to the answer.

| kind | wrong | question | its plan | gold | confidence |
|---|---|---|---|---|---|"""
    return "\n".join([head, *rows])


def _steps(decomposition: str | None) -> str:
    if decomposition is None:
        return "none"
    return "; ".join(step.strip().removeprefix("return ") for step in decomposition.split(";"))


@click.command("bundle")
@click.option("--archive", type=PATH, required=True, help="The model.tar.gz of a training.")
@click.option("--gold", "gold_path", type=PATH, required=True, help="Break's CSV to measure on.")
@click.option("--output", type=PATH, required=True, help="The folder to write.")
@click.option(
    "--examples",
    type=PATH,
    help="Break's CSV with rows that may be published: the card quotes those that the parser gets wrong.",
)
def command(archive: Path, gold_path: Path, output: Path, examples: Path | None) -> None:
    """Turn a trained graph parser or CopyNet-BERT into a folder for qdecomp.load.

    Bundling needs the environment of the training; parsing with the folder does not. The figures on its card are those
    of the bundled parser itself, with its quantised weights.
    """
    try:
        from qdecomp.training.bundling import bundle_parts, load_bundleable, write_bundle
    except ImportError as error:
        raise DataError(f"{archive}: an archive needs AllenNLP's environment, see README ({error})") from None
    loaded = load_bundleable(archive)
    config, weights, pieces = bundle_parts(loaded.model, output.resolve().name, loaded.config.params)
    gold = read_gold(gold_path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_bundle(folder, config, weights, pieces, card="")
        size = sum(path.stat().st_size for path in folder.iterdir())
        scores = measure(load(folder), gold)
    card = card_of(config, scores, loaded.config.params, gold_path, size)
    write_bundle(output, replace(config, scores=scores), weights, pieces, card)
    if examples is not None:
        renew_section(output, _EXAMPLES, section_of(_answers_of(output, examples), examples.name))
    click.echo(
        f"{output}: {size / 1e6:.1f} MB, LF-EM {scores['lf_em']['mean']:.4f} on {scores['questions']:,} questions"
    )
