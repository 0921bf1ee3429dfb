"""``qdecomp bundle``: turn a trained parser into a folder that parses without torch, and measure it for its card."""

from __future__ import annotations

import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from qdecomp.cli.card import card_of, renew_section, training_of
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import METRIC_VERSION, lf_em
from qdecomp.evaluation.metrics import choose_metrics
from qdecomp.evaluation.metrics.break_text import sari
from qdecomp.evaluation.outputs import summarize
from qdecomp.evaluation.predictions import Gold, read_gold, read_predictions
from qdecomp.evaluation.scoring import score_systems
from qdecomp.evaluation.statistics import Group
from qdecomp.parsers.bundle import Seq2SeqConfig
from qdecomp.parsers.parser import Parser, load
from qdecomp.terminal import progress

_TIMED = 200
_EXAMPLES = "### Questions that it gets wrong"


def measure(parser: Parser, gold: Gold, folder: Path) -> dict[str, Any]:
    """LF-EM, exact match and SARI with intervals, overall and by source, and how fast that was."""
    questions = [(example.question, example.question_id) for example in gold.examples]
    path = folder / "predictions.jsonl"
    valid = 0
    processes = os.cpu_count() or 1
    # The pool loads its parsers before the clock starts.
    list(parser.pipe([question for question, _ in questions[: 2 * processes]], batch_size=1, processes=processes))
    started = time.perf_counter()
    with path.open("w", encoding="utf-8") as stream:
        answers = parser.pipe(questions, as_tuples=True, processes=processes)
        for decomposition, question_id in progress(answers, "parsing", len(questions)):
            record = replace(decomposition, question_id=question_id).to_dict()
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            valid += decomposition.logical_form is not None
    seconds = time.perf_counter() - started
    evaluation = score_systems(gold, [read_predictions(path, gold)], choose_metrics(["lf_em", "em", "sari"]))
    summary = summarize(evaluation)
    return {
        "gold": gold.path.name,
        "questions": len(questions),
        "valid": round(valid / len(questions), 4),
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


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with gold, what the parser said, and whether that is right."""

    kind: str
    question: str
    gold: str
    plan: str | None
    confidence: float
    is_right: bool

    @property
    def similarity(self) -> float:
        """How near the plan is to gold, by SARI."""
        return sari(self.question, self.plan or "", self.gold).value or 0.0


def _answers_of(parser: Path, gold: Path) -> list[Answer]:
    """The answers of a parser to all rows of a file that have a gold decomposition."""
    examples = [example for example in read_gold(gold).examples if example.decomposition]
    answers = []
    for example, found in zip(examples, load(parser).pipe([each.question for each in examples]), strict=True):
        plan = str(found.qdmr) if found else None
        right = plan is not None and bool(lf_em(example.question, plan, example.decomposition or ""))
        confidence = found.confidence or 0.0
        answers.append(Answer(example.source, example.question, example.decomposition or "", plan, confidence, right))
    return answers


def section_of(answers: Iterable[Answer], name: str) -> str:
    """The text of the section: how often each kind is wrong, and the wrong plan of each that is furthest from gold."""
    by_kind: dict[str, list[Answer]] = {}
    for answer in answers:
        by_kind.setdefault(answer.kind, []).append(answer)
    wrong = {kind: [each for each in found if not each.is_right] for kind, found in by_kind.items()}
    total, missed = sum(map(len, by_kind.values())), sum(map(len, wrong.values()))
    lines = [
        f"Of the plans for the {total:,} questions of `{name}`, {missed:,} are wrong by LF-EM. For each kind of "
        "question,",
        "this is the wrong plan that is furthest from gold by SARI. LF-EM is strict: some would lead to the answer.",
        "",
        "| kind | wrong | question | its plan | gold | confidence |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join(lines + [_row(kind, by_kind, wrong) for kind in sorted(by_kind) if wrong[kind]])


def _row(kind: str, by_kind: Mapping[str, list[Answer]], wrong: Mapping[str, list[Answer]]) -> str:
    furthest = min(wrong[kind], key=lambda answer: answer.similarity)
    cells = (
        kind.lower(),
        f"{len(wrong[kind])} of {len(by_kind[kind])}",
        furthest.question,
        _steps(furthest.plan),
        _steps(furthest.gold),
        f"{furthest.confidence:.2f}",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _steps(decomposition: str | None) -> str:
    if decomposition is None:
        return "none"
    return "; ".join(step.strip().removeprefix("return ") for step in decomposition.split(";"))


@click.command("bundle")
@click.option("--archive", type=click.Path(path_type=Path), required=True, help="The model.tar.gz of a training.")
@click.option("--gold", "gold_path", type=click.Path(path_type=Path), required=True, help="Break's CSV to measure on.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The folder to write.")
@click.option("--beam-size", type=click.IntRange(1, 100), help="Hypotheses of a seq2seq parser.  [default: its own]")
@click.option(
    "--examples",
    type=click.Path(path_type=Path),
    help="Break's CSV with rows that may be published: the card quotes those that the parser gets wrong.",
)
def command(archive: Path, gold_path: Path, output: Path, beam_size: int | None, examples: Path | None) -> None:
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
    if beam_size is not None:
        if not isinstance(config, Seq2SeqConfig):
            raise DataError(f"{archive}: a graph parser has no beam")
        config = replace(config, beam_size=beam_size)
    gold = read_gold(gold_path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_bundle(folder, config, weights, pieces, card="")
        size = sum(path.stat().st_size for path in folder.iterdir())
        scores = measure(load(folder), gold, folder)
    card = card_of(config, scores, training_of(loaded.config.params, gold_path), size)
    write_bundle(output, replace(config, scores=scores), weights, pieces, card)
    if examples is not None:
        renew_section(output, _EXAMPLES, section_of(_answers_of(output, examples), examples.name))
    click.echo(
        f"{output}: {size / 1e6:.1f} MB, LF-EM {scores['lf_em']['mean']:.4f} on {scores['questions']:,} questions"
    )
