"""``qdecomp calibrate``: calibrate the confidence of a parser on held-out rows, or measure its calibration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from qdecomp.cli.card import renew_section
from qdecomp.cli.options import PATH
from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.evaluation.predictions import read_gold
from qdecomp.files import write_text_atomically
from qdecomp.parsers.bundle import is_bundle, read_config, read_json, write_config
from qdecomp.parsers.calibration import (
    RECOMMENDED_CONFIDENCE,
    Calibration,
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


@click.command("calibrate")
@click.option("--parser", "source", required=True, help="The folder of a bundled parser, or the file of a consensus.")
@click.option("--gold", type=PATH, help="Break's CSV to fit on, rows that the parser was not trained on.")
@click.option("--check", type=PATH, help="Break's CSV to measure on, not the rows of --gold.")
@click.option("--dry-run", is_flag=True, help="Write nothing.")
def command(source: str, gold: Path | None, check: Path | None, dry_run: bool) -> None:
    """Calibrate the confidence of a parser on held-out rows, or measure the calibration that is stored with it.

    Prints the expected calibration error and a table of thresholds. Those on the rows of --check also go into the card
    of a bundle, with a plot. Without --gold, the stored calibration is measured.
    """
    parser = parser_path(source)
    if gold is None and check is None:
        raise DataError("give --gold to fit a calibration, --check to measure the stored one, or both")
    if gold is not None:
        answers, verdicts = _answers_and_verdicts(parser, gold)
        calibration = fit_calibration(answers, verdicts)
        click.echo(_table(_measured(f"{gold.name} (fitted on it)", calibration, answers, verdicts)))
    else:
        calibration = stored_calibration(parser)
    measured = None
    if check is not None:
        measured = _measured(check.name, calibration, *_answers_and_verdicts(parser, check))
        click.echo(_table(measured))
    click.echo(json.dumps(calibration.to_json()))
    if dry_run:
        return
    if gold is not None:
        store(parser, calibration)
    if measured is not None and parser.is_dir():
        _write_plot(parser / _PLOT, reliability_bins(measured.confidences, measured.right))
        renew_section(parser, "## How sure it is", _section(measured))


def _answers_and_verdicts(parser: Path, gold_path: Path) -> tuple[list[Decomposition], list[bool]]:
    """What the parser, without a calibration, says about each question with gold, and whether LF-EM finds it right."""
    answers = ParserSource(parser).open().answers
    examples = [example for example in read_gold(gold_path).examples if example.decomposition]
    by_length = sorted(examples, key=lambda example: len(example.question))
    found: list[Decomposition] = []
    for start in progress(range(0, len(by_length), _BATCH), "parsing", -(-len(by_length) // _BATCH)):
        found += answers([example.question for example in by_length[start : start + _BATCH]])
    verdicts = [
        answer.text is not None and bool(lf_em(example.question, answer.text, example.decomposition or ""))
        for example, answer in zip(by_length, found, strict=True)
    ]
    return found, verdicts


class _Measured(NamedTuple):
    """The confidences of the plans for the rows of a file, and whether the plans are right."""

    file: str
    confidences: list[float]
    right: list[bool]

    @property
    def error(self) -> float:
        return expected_calibration_error(self.confidences, self.right)


def _measured(
    file: str, calibration: Calibration, answers: Sequence[Decomposition], verdicts: Sequence[bool]
) -> _Measured:
    pairs = [
        (confidence, verdict)
        for answer, verdict in zip(answers, verdicts, strict=True)
        if (confidence := calibration(answer)) is not None
    ]
    return _Measured(file, [confidence for confidence, _ in pairs], [verdict for _, verdict in pairs])


def _table(measured: _Measured) -> str:
    lines = [f"{measured.file}: {len(measured.right):,} plans, expected calibration error {measured.error:.4f}"]
    lines += ["threshold  kept  of these, right"]
    for row in kept_shares(measured.confidences, measured.right):
        share = "-" if row.right is None else f"{row.right:.3f}"
        lines.append(f"{row.threshold:9.1f}  {row.kept:.3f}  {share}")
    return "\n".join(lines)


def _section(measured: _Measured) -> str:
    """The section of the card on the confidence."""
    plans = f"{len(measured.right):,}"
    rows = "\n".join(
        f"| {row.threshold:.1f} | {100 * row.kept:.0f}% | {100 * row.right:.0f}% |"
        for row in kept_shares(measured.confidences, measured.right)
        if row.right is not None
    )
    return f"""\
`confidence` is the estimated probability that LF-EM would call a plan right. It was calibrated on held-out
rows. On other rows, the {plans} plans for `{measured.file}`, the mean distance between confidence and the share
of right plans is {measured.error:.3f} (expected calibration error, ten bins).
`load(min_confidence=…)` gives no plan below a threshold, of which {RECOMMENDED_CONFIDENCE} is recommended:

| threshold | plans kept | of these, right |
|---|---|---|
{rows}

![How many plans are right at which confidence]({_PLOT})"""


def stored_calibration(parser: Path) -> Calibration:
    """The calibration in the config of a bundle or the file of a consensus."""
    if parser.is_dir() and is_bundle(parser):
        found = calibration_from_json(read_config(parser).calibration)
    else:
        value = read_json(parser, "a consensus") if parser.suffix == ".json" else {}
        found = calibration_from_json(value.get("calibration"))
    if found is None:
        raise DataError(f"{parser}: it has no calibration; give --gold, rows that it was not trained on, to fit one")
    return found


def store(parser: Path, calibration: Calibration) -> None:
    """Write the calibration into the config of a bundle or the file of a consensus."""
    if parser.is_dir() and is_bundle(parser):
        write_config(parser, replace(read_config(parser), calibration=calibration.to_json()))
        return
    if parser.suffix != ".json":
        raise DataError(f"{parser}: a calibration is stored with a bundled parser or a consensus; give --dry-run")
    value = read_json(parser, "a consensus") | {"calibration": calibration.to_json()}
    with write_text_atomically(parser) as stream:
        stream.write(json.dumps(value, indent=2) + "\n")


def _write_plot(path: Path, bins: Sequence[ReliabilityBin]) -> None:
    """Write the plot as SVG: a point with its 95% interval (Wilson) for each bin, and a bar for its number of plans."""
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from scipy.stats import binomtest
    except ImportError:
        raise missing_extra("the plot of a calibration", "bundle") from None
    confidences, shares = [each.confidence for each in bins], [each.share for each in bins]
    intervals = [binomtest(each.right, each.plans).proportion_ci(method="wilson") for each in bins]
    # Rounding must not put a share outside of its interval.
    below = [max(0.0, share - interval.low) for share, interval in zip(shares, intervals, strict=True)]
    above = [max(0.0, interval.high - share) for share, interval in zip(shares, intervals, strict=True)]
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(5, 5), layout="constrained", facecolor="white")
        FigureCanvasSVG(figure)
        points, counts = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        points.plot([0, 1], [0, 1], color="0.5", linestyle="--", label="perfect")
        points.errorbar(confidences, shares, yerr=[below, above], fmt="o", capsize=3, color="#1f5fa8", label="measured")
        points.set(xlim=(0, 1), ylim=(0, 1), ylabel="share of right plans (LF-EM)")
        points.grid(color="0.9")
        points.legend(loc="upper left", frameon=False)
        counts.bar(confidences, [each.plans for each in bins], width=0.08, color="#1f5fa8")
        counts.set(xlabel="confidence", ylabel="plans")
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
