"""What a cascade of two parsers is worth: how many plans are right against the share of questions that cost a call.

``--small`` has the predictions of the parser in front, with their confidence. The one behind it is asked where the
first is not sure or has no plan. Whether a plan is right is decided by ``--gold`` and a metric, for the predictions of
the second parser in ``--large``, or by ``--verdicts``: a file for each, with a ``question_id`` and a ``verdict``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.metrics import get_metric
from qdecomp.files import RowFile, read_break_csv, require_other_files, write_text_atomically
from qdecomp.parsers.bulk import predictions_of, read_joined
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_record
from qdecomp.terminal import Table, show_tables

_THRESHOLDS = tuple(step / 10 for step in range(11))
_VERDICTS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Judged(NamedTuple):
    """A question: how sure the small parser is (below 0 without a plan), and whether each of the two is right."""

    confidence: float
    small: bool
    large: bool


class Point(NamedTuple):
    """A threshold, the share of questions that are passed on at it, and the share that is right in the end."""

    below: float
    calls: float
    right: float


@click.command("cascade")
@click.option("--small", required=True, type=click.Path(path_type=Path), help="Predictions with a confidence.")
@click.option("--large", type=click.Path(path_type=Path), help="Predictions of what is asked behind it, for --gold.")
@click.option("--gold", type=click.Path(path_type=Path), help="Break's CSV with gold decompositions.")
@click.option("--metric", default="lf_eq", show_default=True, help="The metric that decides, with --gold.")
@click.option("--verdicts", nargs=2, type=click.Path(path_type=Path), help="Two files of verdicts instead of --gold.")
@click.option("--target", type=click.FloatRange(0, 1), default=0.9, show_default=True, help="The share to be right.")
@click.option("--figure", type=click.Path(path_type=Path), help="Draw the curve: a file such as curve.svg.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write all points of the curve.")
def command(
    small: Path,
    large: Path | None,
    gold: Path | None,
    metric: str,
    verdicts: tuple[Path, Path] | None,
    target: float,
    figure: Path | None,
    json_path: Path | None,
) -> None:
    """How many plans are right against the share of questions that cost a call of the second parser."""
    if large is not None and gold is not None and not verdicts:
        judged = list(_by_gold(small, large, gold, metric))
    elif verdicts and gold is None:
        judged = list(_by_verdicts(small, verdicts))
    else:
        raise click.UsageError("give either --gold with --large, or --verdicts")
    read = [path for path in (small, large, gold, *(verdicts or ())) if path is not None]
    require_other_files({"--figure": figure, "--json": json_path}, read)
    if not judged:
        raise DataError(f"{small}: none of its questions has a verdict or gold")
    points = curve(judged)
    show_tables([_table(points, judged, target)])
    if json_path is not None:
        with write_text_atomically(json_path) as stream:
            stream.write(json.dumps([point._asdict() for point in points], indent=1) + "\n")
    if figure is not None:
        _draw(points, figure)


def _by_gold(small: Path, large: Path, gold: Path, metric: str) -> Iterator[Judged]:
    golds = {row.question_id: row.decomposition for row in read_break_csv(gold) if row.decomposition}
    score = get_metric(metric).load()
    for question in read_joined([small, large], gold)[0]:
        expected = golds.get(question.question_id)
        if expected is None:
            continue
        first, second = predictions_of(question)
        right = [bool(each and score(question.question, each.text, expected).value) for each in (first, second)]
        yield Judged(_confidence(first), *right)


def _by_verdicts(small: Path, verdicts: tuple[Path, Path]) -> Iterator[Judged]:
    found = [_verdicts(path) for path in verdicts]
    for row in RowFile(small):
        question_id = str(row.fields.get("question_id"))
        if all(question_id in each for each in found):
            yield Judged(_confidence(decomposition_from_record(row.fields)), *(each[question_id] for each in found))


def _verdicts(path: Path) -> dict[str, bool]:
    found = {}
    for row in RowFile(path):
        verdict = _VERDICTS.get(str(row.fields.get("verdict")).strip().lower())
        if row.error is not None or verdict is None or not row.fields.get("question_id"):
            raise DataError(f"{path}: row {row.number}: {row.error or 'a question_id and a verdict (true, false)'}")
        found[str(row.fields["question_id"])] = verdict
    return found


def _confidence(found: Decomposition) -> float:
    """How sure the first parser is; without a plan the second one is asked at every threshold."""
    return -1.0 if not found else 1.0 if found.confidence is None else found.confidence


def curve(judged: Sequence[Judged]) -> list[Point]:
    """A point for each number of questions that a threshold passes on, from the fewest to all.

    >>> [(point.calls, point.right) for point in curve([Judged(0.9, True, True), Judged(0.2, False, True)])]
    [(0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """
    thresholds = sorted({0.0, *(each.confidence for each in judged if each.confidence > 0)})
    points = [_point(judged, below) for below in thresholds]
    everything = Point(1.0, 1.0, sum(each.large for each in judged) / len(judged))
    return [*dict.fromkeys(points), everything]


def _point(judged: Sequence[Judged], below: float) -> Point:
    passed = [each.confidence < below for each in judged]
    right = sum(each.large if is_passed else each.small for each, is_passed in zip(judged, passed, strict=True))
    return Point(below, sum(passed) / len(judged), right / len(judged))


def _table(points: Sequence[Point], judged: Sequence[Judged], target: float) -> Table:
    shown = [_point(judged, below) for below in _THRESHOLDS] + [points[-1]]
    names = [*(f"{below:.1f}" for below in _THRESHOLDS), "always"]
    rows = tuple(
        (name, f"{100 * point.calls:.0f}%", f"{100 * point.right:.1f}%")
        for name, point in zip(names, shown, strict=True)
    )
    enough = next((point for point in points if point.right >= target), None)
    note = f"{100 * target:.0f}% are right " + (
        "at no threshold" if enough is None else f"from {100 * enough.calls:.0f}% on, below {enough.below:.2f}"
    )
    return Table(f"{len(judged):,} questions", ("asked below", "calls", "right"), rows, note=note)


def _draw(points: Sequence[Point], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.5))
    axes.plot([100 * point.calls for point in points], [100 * point.right for point in points])
    axes.set_xlabel("questions that cost a call (%)")
    axes.set_ylabel("plans that are right (%)")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
