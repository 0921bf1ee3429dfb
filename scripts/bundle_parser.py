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
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from string import Template
from typing import Any

import click
from script_errors import run_script

from qdecomp.allennlp_bridge.bundling import bundle_parts, load_bundleable
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.evaluation.outputs import summarize
from qdecomp.evaluation.predictions import Gold, read_gold, read_predictions
from qdecomp.evaluation.scoring import choose_metrics, evaluate
from qdecomp.parser import Parser, load
from qdecomp.runtime.bundle import write_bundle
from qdecomp.runtime.bundle_config import BundleConfig, GraphConfig, WriterConfig
from qdecomp.terminal.progress import progress

_CARD = Path(__file__).parent / "model_card.md"
_TIMED = 200
_CONTINUED = "Training started from the weights of an earlier run. "


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


def _about_graph_parser(config: GraphConfig) -> dict[str, str]:
    special = len(config.special_tokens.appended)
    return {
        "summary": (
            "A biaffine graph parser that turns an English question into a QDMR decomposition through a dependency\n"
            "graph over its words."
        ),
        "parts": (
            f"- The encoder {config.encoder}, with its embeddings as published and its layers fine-tuned, and four\n"
            f"  feed-forward networks with biaffine scorers for edges and their {len(config.labels)} labels.\n"
            f"  {special} special tokens follow every question; they are embedded outside the encoder."
        ),
        "rounded": "The encoder's matrices",
        "search": (
            "Decoding finds the most probable valid graph: greedily if that graph is valid, otherwise by an\n"
            "  integer program."
        ),
        "config": "biaffine_graph_parser_minilm.jsonnet",
        "limit": (
            "Words that a decomposition needs and the question lacks, beyond the special tokens, cannot be written."
        ),
    }


def _about_writer(config: WriterConfig) -> dict[str, str]:
    return {
        "summary": (
            "A CopyNet-BERT parser that reads an English question and writes its QDMR decomposition word by word:\n"
            "it generates words or copies them from the question."
        ),
        "parts": (
            f"- The encoder {config.encoder}, with its embeddings as published and its layers fine-tuned, and an LSTM\n"
            f"  decoder with attention, which generates {len(config.tokens):,} tokens and copies all others."
        ),
        "rounded": "All matrices",
        "search": (
            f"A beam search with {config.beam_size} hypotheses finds the decomposition. A step refers to earlier\n"
            "  steps only, and every step but the last is used."
        ),
        "config": "copynet_bert_minilm.jsonnet",
        "limit": "Words that are neither in the question nor common in Break's decompositions cannot be written.",
    }


def about(config: BundleConfig) -> dict[str, str]:
    """What the card says about this kind of parser."""
    if isinstance(config, WriterConfig):
        return _about_writer(config)
    assert isinstance(config, GraphConfig)
    return _about_graph_parser(config)


def card_of(config: BundleConfig, scores: Mapping[str, Any], training: Mapping[str, Any], size: int) -> str:
    """The model card: the template with what is known and what was measured."""

    def row(name: str, score: Mapping[str, Any]) -> str:
        interval = f"{score['low']:.3f} to {score['high']:.3f}" if "low" in score else "too few"
        return f"| {name} | {score['questions']:,} | {score['mean']:.3f} | {interval} |"

    groups = [("all", scores["lf_em"]), *scores["lf_em_by_source"].items()]
    return Template(_CARD.read_text(encoding="utf-8")).substitute(
        name=config.name,
        **about(config),
        megabytes=f"{size / 1e6:.1f}",
        rows="\n".join(row(name, score) for name, score in groups),
        steps="\n".join(row(name, score) for name, score in scores["lf_em_by_steps"].items()),
        exact_match=f"{scores['exact_match']['mean']:.3f}",
        sari=f"{scores['sari']['mean']:.3f}",
        **{name: scores[name] for name in ("gold", "metric_version", "hardware")},
        questions=f"{scores['questions']:,}",
        valid=f"{100 * scores['valid']:.1f}",
        questions_a_second=f"{scores['questions_a_second']:.0f}",
        median_milliseconds=f"{scores['median_milliseconds']:.1f}",
        **training,
    )


def training_of(loaded: Any) -> dict[str, Any]:
    """The training settings that the card names."""
    params = loaded.config.params
    trainer, loader = params["trainer"], params["data_loader"]["batch_sampler"]
    rates = trainer["optimizer"]
    continued = "initializer" in params["model"]
    return {
        "beginning": _CONTINUED if continued else "",
        "folder": "continued/" if continued else "",
        "epochs": trainer["num_epochs"],
        "batch_size": loader["batch_size"],
        "encoder_lr": rates["parameter_groups"][0][1]["lr"],
        "lr": rates["lr"],
        "seed": params["random_seed"],
        "train_file": Path(params["train_data_path"]).name,
    }


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
    card = card_of(config, scores, training_of(loaded), size)
    write_bundle(output, replace(config, scores=scores), weights, pieces, card)
    print(f"{output}: {size / 1e6:.1f} MB, LF-EM {scores['lf_em']['mean']:.4f} on {scores['questions']:,} questions")


if __name__ == "__main__":
    run_script(main)
