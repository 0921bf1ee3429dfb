"""``qdecomp calibrate``: fit the confidence of a parser on held-out rows and store it with it, or measure it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from qdecomp.cli.card import renew_section
from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.evaluation.predictions import read_gold
from qdecomp.parsers.bundle import is_bundle, read_config, read_json, write_config
from qdecomp.parsers.calibration import (
    RECOMMENDED_CONFIDENCE,
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
from qdecomp.parsers.source import ParserSource, parser_path
from qdecomp.terminal import progress

_BATCH = 32
_PLOT = "calibration.svg"
# Text stays text, and nothing in the file depends on the time or on chance.
_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "calibration", "font.size": 10, "axes.axisbelow": True}
_BAR_WIDTH = 0.08
_DEVIATIONS = 1.959964


def answers_and_verdicts(parser: Path, gold_path: Path) -> tuple[list[Decomposition], list[bool]]:
    """What the parser, without a calibration, says about each question with gold, and whether LF-EM finds it right."""
    answers = ParserSource(parser).open().answers
    examples = [example for example in read_gold(gold_path).examples if example.decomposition]
    by_length = sorted(examples, key=lambda example: len(example.question))
    predictions: list[Decomposition] = []
    verdicts: list[bool] = []
    for start in progress(range(0, len(by_length), _BATCH), "parsing", -(-len(by_length) // _BATCH)):
        batch = by_length[start : start + _BATCH]
        for example, prediction in zip(batch, answers([each.question for each in batch]), strict=True):
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
            "`load(min_confidence=…)` gives no plan below a threshold, of which"
            f" {RECOMMENDED_CONFIDENCE} is recommended:",
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
        value = read_json(parser, "a consensus") if parser.suffix == ".json" else {}
        found = calibration_from_json(value.get("calibration"))
    if found is None:
        raise DataError(f"{parser}: it has no calibration; give --gold, rows that it was not trained on, to fit one")
    return found


def write_to_card(bundle: Path, measured: Measured) -> None:
    """Write the plot beside the card of a bundle, and what was measured into the card."""
    _write_plot(bundle / _PLOT, measured.bins)
    renew_section(bundle, "## How sure it is", measured.section())


def store(parser: Path, calibration: Calibration) -> None:
    """Write the calibration into the config of a bundle or the file of a consensus."""
    if parser.is_dir() and is_bundle(parser):
        write_config(parser, replace(read_config(parser), calibration=calibration.to_json()))
        return
    if parser.suffix != ".json":
        raise DataError(f"{parser}: a calibration is stored with a bundled parser or a consensus; give --dry-run")
    value = read_json(parser, "a consensus")
    written = parser.with_name(parser.name + ".new")
    written.write_text(json.dumps(value | {"calibration": calibration.to_json()}, indent=2) + "\n", encoding="utf-8")
    written.replace(parser)


@click.command("calibrate")
@click.option("--parser", "source", required=True, help="The folder of a bundled parser, or the file of a consensus.")
@click.option("--gold", type=click.Path(path_type=Path), help="Break's CSV to fit on; rows not trained on.")
@click.option("--check", type=click.Path(path_type=Path), help="Break's CSV to measure on, other rows than --gold.")
@click.option("--dry-run", is_flag=True, help="Write nothing.")
def command(source: str, gold: Path | None, check: Path | None, dry_run: bool) -> None:
    """Fit the confidence of a parser on held-out rows and store it with it, or measure the one that it has.

    Prints the expected calibration error and a table of thresholds, on the rows to check if there are some; a bundle
    gets them into its card, with a plot beside it. Without --gold, the stored calibration is measured.
    """
    parser = parser_path(source)
    if gold is None and check is None:
        raise DataError("give --gold to fit a calibration, --check to measure the stored one, or both")
    if gold is not None:
        predictions, verdicts = answers_and_verdicts(parser, gold)
        calibration = fit_calibration(predictions, verdicts)
        click.echo(measure(f"{gold.name} (fitted on it)", calibration, predictions, verdicts))
    else:
        calibration = stored_calibration(parser)
    measured = None
    if check is not None:
        measured = measure(check.name, calibration, *answers_and_verdicts(parser, check))
        click.echo(measured)
    click.echo(json.dumps(calibration.to_json()))
    if dry_run:
        return
    if gold is not None:
        store(parser, calibration)
    if measured is not None and parser.is_dir():
        write_to_card(parser, measured)


def _write_plot(path: Path, bins: Sequence[ReliabilityBin]) -> None:
    """Write the plot as SVG: a point with its 95% interval for each bin, and a bar for its number of plans."""
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("the plot of a calibration", "bundle") from None
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(5, 5), layout="constrained", facecolor="white")
        FigureCanvasSVG(figure)
        points, counts = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        sure, shares = [each.confidence for each in bins], [each.share for each in bins]
        points.plot([0, 1], [0, 1], color="0.5", linestyle="--", label="perfect")
        points.errorbar(sure, shares, yerr=_intervals(bins), fmt="o", capsize=3, color="#1f5fa8", label="measured")
        points.set(xlim=(0, 1), ylim=(0, 1), ylabel="share of right plans (LF-EM)")
        points.grid(color="0.9")
        points.legend(loc="upper left", frameon=False)
        counts.bar(sure, [each.plans for each in bins], width=_BAR_WIDTH, color="#1f5fa8")
        counts.set(xlabel="confidence", ylabel="plans")
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _intervals(bins: Sequence[ReliabilityBin]) -> list[list[float]]:
    """How far the 95% intervals (Wilson) reach below and above the shares."""
    pairs = [_wilson(each.right, each.plans) for each in bins]
    below = [max(0.0, each.share - low) for each, (low, _) in zip(bins, pairs, strict=True)]
    above = [max(0.0, high - each.share) for each, (_, high) in zip(bins, pairs, strict=True)]
    return [below, above]


def _wilson(right: int, plans: int) -> tuple[float, float]:
    """The 95% interval of a share, by Wilson's score, which contains the share."""
    share, squared = right / plans, _DEVIATIONS**2 / plans
    centre = (share + squared / 2) / (1 + squared)
    half = _DEVIATIONS / (1 + squared) * math.sqrt(share * (1 - share) / plans + squared / 4 / plans)
    return max(0.0, centre - half), min(1.0, centre + half)
