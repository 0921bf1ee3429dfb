"""Turn a trained parser into the folder that comes with the package, and measure it for its card.

    python scripts/bundle_parser.py --archive out/biaffine/model.tar.gz --gold break/dev.csv --output FOLDER

The card's figures are those of the bundled parser itself, with its rounded weights.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from model_card import card_of, training_of
from script_errors import run_script

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.evaluation.metrics import choose_metrics
from qdecomp.evaluation.outputs import summarize
from qdecomp.evaluation.predictions import Gold, read_gold, read_predictions
from qdecomp.evaluation.scoring import evaluate
from qdecomp.parsers.bundle import write_bundle
from qdecomp.parsers.bundle_config import WriterConfig
from qdecomp.parsers.parser import Parser, load
from qdecomp.terminal import progress
from qdecomp.training.bundling import bundle_parts, load_bundleable

_TIMED = 200


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
    evaluation = evaluate(gold, [read_predictions(path, gold)], choose_metrics(["lf_em", "em", "sari"]))
    (breakdown,) = summarize(evaluation).breakdowns
    return {
        "gold": gold.path.name,
        "questions": len(questions),
        "valid": round(valid / len(questions), 4),
        "lf_em": _rounded(breakdown.overall.scores["lf_em"]),
        "exact_match": _rounded(breakdown.overall.scores["em"]),
        "sari": _rounded(breakdown.overall.scores["sari"]),
        "lf_em_by_source": {group.name: _rounded(group.scores["lf_em"]) for group in breakdown.by_source},
        "lf_em_by_steps": {group.name: _rounded(group.scores["lf_em"]) for group in breakdown.by_steps},
        "metric_version": METRIC_VERSION,
        "questions_a_second": round(len(questions) / seconds, 1),
        "median_milliseconds": round(1000 * _median_seconds(parser, gold), 1),
        "hardware": f"{os.cpu_count()} cores of {_processor()}",
    }


def _rounded(score: Any) -> dict[str, float | int]:
    values = asdict(score)
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


@click.command()
@click.option("--archive", type=click.Path(path_type=Path), required=True, help="The model.tar.gz of a training.")
@click.option("--gold", "gold_path", type=click.Path(path_type=Path), required=True, help="Break's CSV to measure on.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The folder to write.")
@click.option("--beam-size", type=click.IntRange(min=1), help="How many hypotheses a writer keeps.  [default: its own]")
def main(archive: Path, gold_path: Path, output: Path, beam_size: int | None) -> None:
    """Turn a trained graph parser or CopyNet-BERT into a folder for qdecomp.load."""
    loaded = load_bundleable(archive)
    config, weights, pieces = bundle_parts(loaded.model, output.resolve().name, loaded.config.params)
    if beam_size is not None:
        if not isinstance(config, WriterConfig):
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
    print(f"{output}: {size / 1e6:.1f} MB, LF-EM {scores['lf_em']['mean']:.4f} on {scores['questions']:,} questions")


if __name__ == "__main__":
    run_script(main)
