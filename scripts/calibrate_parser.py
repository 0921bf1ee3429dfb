"""Fit the confidence of a bundled parser or a consensus on held-out rows, and store it with the parser.

    python scripts/calibrate_parser.py --parser FOLDER --gold held_out.csv --check dev.csv

Prints the expected calibration error and a table of thresholds, for the rows of ``--check`` if there are any. With
``--dry-run`` nothing is stored.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click
from script_errors import run_script

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.prediction import Prediction
from qdecomp.decoding.calibration import (
    Calibration,
    expected_calibration_error,
    fit_calibration,
    kept_shares,
)
from qdecomp.evaluation.predictions import read_gold
from qdecomp.parser import ParserSource, parser_path
from qdecomp.runtime.bundle import is_bundle, read_config, write_config
from qdecomp.terminal.progress import progress

_BATCH = 32


def answers_and_verdicts(parser: Path, gold_path: Path) -> tuple[list[Prediction], list[bool]]:
    """What the parser, without a calibration, says about each question with gold, and whether LF-EM finds it right."""
    predict = ParserSource(parser).open_as_it_is()
    examples = [example for example in read_gold(gold_path).examples if example.decomposition]
    by_length = sorted(examples, key=lambda example: len(example.question))
    predictions: list[Prediction] = []
    verdicts: list[bool] = []
    for start in progress(range(0, len(by_length), _BATCH), "parsing", -(-len(by_length) // _BATCH)):
        batch = by_length[start : start + _BATCH]
        for example, prediction in zip(batch, predict([each.question for each in batch]), strict=True):
            text = prediction.decomposition
            predictions.append(prediction)
            verdicts.append(text is not None and bool(lf_em(example.question, text, example.decomposition or "")))
    return predictions, verdicts


def show(name: str, calibration: Calibration, predictions: list[Prediction], verdicts: list[bool]) -> None:
    """Print how far the confidence is from the truth, and what thresholds keep."""
    pairs = [(calibration(each), verdict) for each, verdict in zip(predictions, verdicts, strict=True)]
    confidences = [confidence for confidence, _ in pairs if confidence is not None]
    right = [verdict for confidence, verdict in pairs if confidence is not None]
    error = expected_calibration_error(confidences, right)
    print(f"{name}: {len(confidences):,} plans, expected calibration error {error:.4f}")
    print("threshold  kept  of these, right")
    for row in kept_shares(confidences, right):
        share = "-" if row.right is None else f"{row.right:.3f}"
        print(f"{row.threshold:9.1f}  {row.kept:.3f}  {share}")


def store(parser: Path, calibration: Calibration) -> None:
    """Write the calibration into the config of a bundle or the file of a consensus."""
    if parser.is_dir() and is_bundle(parser):
        write_config(parser, replace(read_config(parser), calibration=calibration.to_json()))
        return
    if parser.suffix != ".json":
        raise DataError(f"{parser}: a calibration is stored with a bundled parser or a consensus; give --dry-run")
    value = json.loads(parser.read_text(encoding="utf-8"))
    written = parser.with_name(parser.name + ".new")
    written.write_text(json.dumps(value | {"calibration": calibration.to_json()}, indent=2) + "\n", encoding="utf-8")
    written.replace(parser)


@click.command()
@click.option("--parser", "source", required=True, help="The folder of a bundled parser, or the file of a consensus.")
@click.option("--gold", type=click.Path(path_type=Path), required=True, help="Break's CSV; rows not trained on.")
@click.option(
    "--check", type=click.Path(path_type=Path), help="Break's CSV to measure on, with other rows than --gold."
)
@click.option("--dry-run", is_flag=True, help="Store nothing.")
def main(source: str, gold: Path, check: Path | None, dry_run: bool) -> None:
    """Fit the confidence of a parser and store it with the parser."""
    parser = parser_path(source)
    predictions, verdicts = answers_and_verdicts(parser, gold)
    calibration = fit_calibration(predictions, verdicts)
    show(f"{gold.name} (fitted on it)", calibration, predictions, verdicts)
    if check is not None:
        show(check.name, calibration, *answers_and_verdicts(parser, check))
    print(json.dumps(calibration.to_json()))
    if not dry_run:
        store(parser, calibration)


if __name__ == "__main__":
    run_script(main)
