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
from qdecomp.files.break_csv import BreakExample
from qdecomp.files.jobs import in_chunks
from qdecomp.parsers.bundle import is_bundle, read_config, read_json, write_config
from qdecomp.parsers.calibration import (
    RECOMMENDED_CONFIDENCE,
    Calibration,
    Kind,
    ReliabilityBin,
    calibration_from_json,
    expected_calibration_error,
    fit_calibration,
    fit_kind,
    kept_shares,
    reliability_bins,
)
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.seq2seq import Seq2SeqParser
from qdecomp.parsers.source import ParserSource, parser_path
from qdecomp.terminal import progress

_BATCH = 32
_PLOT = "calibration.svg"
# Text stays text, and nothing in the file depends on the time or on chance.
_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "calibration", "font.size": 10, "axes.axisbelow": True}


@click.command("calibrate")
@click.option("--parser", "source", required=True, help="The folder of a bundled parser, or the file of a consensus.")
@click.option(
    "--gold",
    "golds",
    type=PATH,
    multiple=True,
    help="Break's CSV to fit on, rows that the parser was not trained on; of two kinds of questions, two files.",
)
@click.option("--check", type=PATH, help="Break's CSV to measure on, not the rows of --gold.")
@click.option("--dry-run", is_flag=True, help="Write nothing.")
def command(source: str, golds: tuple[Path, ...], check: Path | None, dry_run: bool) -> None:
    """Calibrate the confidence of a parser on held-out rows, or measure the calibration that is stored with it.

    Prints the expected calibration error and a table of thresholds. Those on the rows of --check also go into the card
    of a bundle, with a plot. Without --gold, the stored calibration is measured. From two files, a bundled seq2seq
    parser also learns to tell their questions apart: at equal scores, plans for the one kind may be right more often.
    """
    parser = parser_path(source)
    if not golds and check is None:
        raise DataError("give --gold to fit a calibration, --check to measure the stored one, or both")
    if len(golds) > 2 or len({gold.resolve() for gold in golds}) < len(golds):
        raise DataError("--gold takes one file, or two with different kinds of questions")
    if golds:
        kind = _fitted_kind(parser, golds) if len(golds) == 2 else None
        found = [_answers_and_verdicts(parser, gold, kind) for gold in golds]
        answers, verdicts = ([each for part in parts for each in part] for parts in zip(*found, strict=True))
        calibration = replace(fit_calibration(answers, verdicts), kind=kind)
        for gold, part in zip(golds, found, strict=True):
            click.echo(_table(_measured(f"{gold.name} (fitted on it)", calibration, *part)))
    else:
        calibration = stored_calibration(parser)
    measured = None
    if check is not None:
        measured = _measured(check.name, calibration, *_answers_and_verdicts(parser, check, calibration.kind))
        click.echo(_table(measured))
    click.echo(json.dumps(calibration.to_json()))
    if dry_run:
        return
    if golds:
        store(parser, calibration)
    if measured is not None and parser.is_dir():
        _write_plot(parser / _PLOT, reliability_bins(measured.confidences, measured.right))
        renew_section(parser, "## How sure it is", _section(measured))


def _fitted_kind(parser: Path, golds: Sequence[Path]) -> Kind:
    """What tells the questions of two files apart."""
    answers = ParserSource(parser).open().answers
    if not isinstance(answers, Seq2SeqParser):
        raise DataError(
            f"{parser}: give one --gold; only a bundled seq2seq parser can tell two kinds of questions apart"
        )
    first, others = (
        [words for batch in _batches(gold) for _, words in answers.word_states([each.question for each in batch])]
        for gold in golds
    )
    return fit_kind(first, others)


def _answers_and_verdicts(parser: Path, gold: Path, kind: Kind | None) -> tuple[list[Decomposition], list[bool]]:
    """What the parser says about each question with gold, of which ``kind`` knows the kind, and LF-EM's verdict."""
    answers = ParserSource(parser).open().answers
    if isinstance(answers, Seq2SeqParser):
        answers.kind = kind
    found: list[Decomposition] = []
    verdicts: list[bool] = []
    for batch in progress(batches := _batches(gold), "parsing", len(batches)):
        questions = [each.question for each in batch]
        decompositions = answers(questions)
        found += decompositions
        verdicts += [
            answer.text is not None and bool(lf_em(example.question, answer.text, example.decomposition or ""))
            for example, answer in zip(batch, decompositions, strict=True)
        ]
    return found, verdicts


def _batches(gold: Path) -> list[list[BreakExample]]:
    """The rows with a decomposition, by length."""
    rows = [example for example in read_gold(gold).examples if example.decomposition]
    return list(in_chunks(sorted(rows, key=lambda example: len(example.question)), _BATCH))


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
