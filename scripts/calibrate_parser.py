"""Fit the confidence of a bundled parser or a consensus on held-out rows, and store it with the parser.

    python scripts/calibrate_parser.py --parser FOLDER --gold held_out.csv --check dev.csv
    python scripts/calibrate_parser.py --parser FOLDER --check dev.csv

Prints the expected calibration error and a table of thresholds, on the rows to check if there are some; a bundle gets
them into its card, with a plot beside it. Without ``--gold``, the calibration that is stored with the parser is
measured. With ``--dry-run`` nothing is written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import click
from calibration_plot import write_calibration_plot
from model_card import renew_section
from script_errors import run_script

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.evaluation.predictions import read_gold
from qdecomp.parsers.bundle import is_bundle, read_config, write_config
from qdecomp.parsers.calibration import (
    Calibration,
    KeptShare,
    ReliabilityBin,
    calibration_from_json,
    expected_calibration_error,
    fit_calibration,
    kept_shares,
    reliability_bins,
)
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser_source import ParserSource, parser_path
from qdecomp.terminal import progress

_BATCH = 32
_PLOT = "calibration.svg"


def answers_and_verdicts(parser: Path, gold_path: Path) -> tuple[list[Decomposition], list[bool]]:
    """What the parser, without a calibration, says about each question with gold, and whether LF-EM finds it right."""
    predict = ParserSource(parser).open_as_it_is()
    examples = [example for example in read_gold(gold_path).examples if example.decomposition]
    by_length = sorted(examples, key=lambda example: len(example.question))
    predictions: list[Decomposition] = []
    verdicts: list[bool] = []
    for start in progress(range(0, len(by_length), _BATCH), "parsing", -(-len(by_length) // _BATCH)):
        batch = by_length[start : start + _BATCH]
        for example, prediction in zip(batch, predict([each.question for each in batch]), strict=True):
            text = prediction.text
            predictions.append(prediction)
            verdicts.append(text is not None and bool(lf_em(example.question, text, example.decomposition or "")))
    return predictions, verdicts


@dataclass(frozen=True, slots=True)
class Measured:
    """How far the confidence of a parser is from the truth on the rows of a file, and what thresholds leave."""

    rows: str
    plans: int
    error: float
    kept: list[KeptShare]
    bins: list[ReliabilityBin]

    def __str__(self) -> str:
        lines = [f"{self.rows}: {self.plans:,} plans, expected calibration error {self.error:.4f}"]
        lines += ["threshold  kept  of these, right"]
        for row in self.kept:
            share = "-" if row.right is None else f"{row.right:.3f}"
            lines.append(f"{row.threshold:9.1f}  {row.kept:.3f}  {share}")
        return "\n".join(lines)

    def section(self) -> str:
        """What the card says of it."""
        rows = [
            f"| {row.threshold:.1f} | {100 * row.kept:.0f}% | {100 * row.right:.0f}% |"
            for row in self.kept
            if row.right is not None
        ]
        lines = [
            "`confidence` is the estimated probability that LF-EM would call a plan right. It was calibrated on"
            " held-out",
            f"rows. On other rows, the {self.plans:,} plans for `{self.rows}`, the mean distance between confidence and"
            " the share",
            f"of right plans is {self.error:.3f} (expected calibration error, ten bins).",
            "`load(min_confidence=…)` gives no plan below a threshold:",
            "",
            "| threshold | plans kept | of these, right |",
            "|---|---|---|",
        ]
        return "\n".join([*lines, *rows, "", f"![How many plans are right at which confidence]({_PLOT})"])


def measure(rows: str, calibration: Calibration, predictions: list[Decomposition], verdicts: list[bool]) -> Measured:
    """Compare the confidence of plans with whether they are right."""
    pairs = [(calibration(each), verdict) for each, verdict in zip(predictions, verdicts, strict=True)]
    confidences = [confidence for confidence, _ in pairs if confidence is not None]
    right = [verdict for confidence, verdict in pairs if confidence is not None]
    return Measured(
        rows,
        len(confidences),
        expected_calibration_error(confidences, right),
        kept_shares(confidences, right),
        reliability_bins(confidences, right),
    )


def stored_calibration(parser: Path) -> Calibration:
    """The calibration that a bundle or the file of a consensus has."""
    if parser.is_dir() and is_bundle(parser):
        found = calibration_from_json(read_config(parser).calibration)
    else:
        value = json.loads(parser.read_text(encoding="utf-8")) if parser.suffix == ".json" else {}
        found = calibration_from_json(value.get("calibration"))
    if found is None:
        raise DataError(f"{parser}: it has no calibration; give --gold, rows that it was not trained on, to fit one")
    return found


def write_to_card(bundle: Path, measured: Measured) -> None:
    """Write the plot beside the card of a bundle, and what was measured into the card."""
    write_calibration_plot(bundle / _PLOT, measured.bins)
    renew_section(bundle, "## How sure it is", measured.section())


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
@click.option("--gold", type=click.Path(path_type=Path), help="Break's CSV to fit on; rows not trained on.")
@click.option("--check", type=click.Path(path_type=Path), help="Break's CSV to measure on, other rows than --gold.")
@click.option("--dry-run", is_flag=True, help="Write nothing.")
def main(source: str, gold: Path | None, check: Path | None, dry_run: bool) -> None:
    """Fit the confidence of a parser and store it with it, or measure the one that it has."""
    parser = parser_path(source)
    if gold is None and check is None:
        raise DataError("give --gold to fit a calibration, --check to measure the stored one, or both")
    if gold is not None:
        predictions, verdicts = answers_and_verdicts(parser, gold)
        calibration = fit_calibration(predictions, verdicts)
        print(measure(f"{gold.name} (fitted on it)", calibration, predictions, verdicts))
    else:
        calibration = stored_calibration(parser)
    measured = None
    if check is not None:
        measured = measure(check.name, calibration, *answers_and_verdicts(parser, check))
        print(measured)
    print(json.dumps(calibration.to_json()))
    if dry_run:
        return
    if gold is not None:
        store(parser, calibration)
    if measured is not None and parser.is_dir():
        write_to_card(parser, measured)


if __name__ == "__main__":
    run_script(main)
