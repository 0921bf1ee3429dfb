"""The options that ``evaluate`` and ``report`` share, and the work behind them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from qdecomp.cli.options import CLUSTER, where_of
from qdecomp.evaluation.metrics import DEFAULT_METRICS, METRICS
from qdecomp.evaluation.predictions import name_systems, read_gold
from qdecomp.evaluation.scores import Inputs, make_settings, read_inputs
from qdecomp.evaluation.statistics import RESAMPLES, Sampling
from qdecomp.files.atomic import require_other_files
from qdecomp.files.jobs import Where
from qdecomp.files.predictions import DECOMPOSITION_NAMES
from qdecomp.terminal import printable


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """The values of :data:`SCORING_PARAMETERS`: what to score, against what, with which metrics."""

    gold: Path
    predictions: tuple[str, ...]
    more_predictions: tuple[str, ...]
    column: str | None
    metrics: str
    group_by: str | None
    answered_only: bool
    read_as: str
    compat: str | None
    strict: bool
    seed: int
    resamples: int
    processes: int
    cluster: str | None

    @property
    def where(self) -> Where:
        """Where the work is done."""
        return where_of(self.processes, self.cluster)

    def require_other_outputs(self, outputs: Mapping[str, Path | None]) -> None:
        """Raise if an output, by the name of its option, is a file that is read."""
        predictions = [path for _, path, _ in name_systems((*self.predictions, *self.more_predictions))]
        require_other_files(outputs, [self.gold, *predictions])

    def read(self, required_metrics: Sequence[str] = ()) -> Inputs:
        """Read the files and report the problems of their rows; with ``--strict``, problems end the program."""
        if not self.predictions and not self.more_predictions:
            raise click.UsageError(
                "give at least one file of predictions: --predictions [NAME=]FILE, or just [NAME=]FILE"
            )
        named = name_systems((*self.predictions, *self.more_predictions))
        settings = make_settings(
            answered_only=self.answered_only,
            read=self.read_as,
            compat=self.compat,
            sampling=Sampling(self.seed, self.resamples),
        )
        sources = {name: (path, column or self.column) for name, path, column in named}
        metrics = [*self.metrics.split(","), *required_metrics]
        inputs = read_inputs(read_gold(self.gold, self.group_by), sources, metrics, settings)
        for line in (*inputs.problems, *inputs.notes):
            print(printable(line), file=sys.stderr)
        if inputs.problems and self.strict:
            print(
                "qdecomp: nothing is scored, because --strict is given and the rows above have problems",
                file=sys.stderr,
            )
            sys.exit(1)
        return inputs


_file = click.Path(path_type=Path)
SCORING_PARAMETERS: tuple[click.Parameter, ...] = (
    click.Option(["--gold"], type=_file, required=True, help="Break's CSV with gold decompositions."),
    click.Option(
        ["--predictions"],
        multiple=True,
        metavar="[NAME=]FILE[:COLUMN]",
        help="A file of predictions, one for each system: JSON lines, JSON, a CSV, or text with a decomposition in "
        "each line. Rows are matched with the gold questions by question_id (or id) or, if there is none, by order. "
        "Decompositions may be Break's text or what language models write, such as lists and JSON. You can also leave "
        "out --predictions and give only the files.",
    ),
    click.Argument(["more_predictions"], nargs=-1, metavar="[[NAME=]FILE[:COLUMN]]..."),
    click.Option(
        ["--column"],
        metavar="NAME",
        help="The column or field of the predictions that has the decompositions.  [default: the first that is "
        f"there of {', '.join(DECOMPOSITION_NAMES)}]",
    ),
    click.Option(
        ["--metrics"],
        default=",".join(DEFAULT_METRICS),
        show_default=True,
        help=f"Comma-separated: {', '.join(METRICS)}. Strict LF-EM is always included with lf_em.",
    ),
    click.Option(
        ["--group-by"],
        metavar="COLUMN",
        help="Also score the groups of questions with the same value in this column of the gold file.",
    ),
    click.Option(
        ["--answered-only"],
        is_flag=True,
        help="Leave questions without an answer out of the means. The signature says so.",
    ),
    click.Option(
        ["--read", "read_as"],
        type=click.Choice(["any", "break"]),
        default="any",
        show_default=True,
        help="Read predictions in any form that language models write, or as Break's text only.",
    ),
    click.Option(
        ["--compat"],
        type=click.Choice(["epr"]),
        help="Count as EPR and the codebases after it do, and say what that changes.",
    ),
    click.Option(
        ["--strict"],
        is_flag=True,
        help="Stop with exit code 1 if a row is missing, extra, duplicate, malformed or empty.",
    ),
    click.Option(["--seed"], type=int, default=0, show_default=True, help="The seed of intervals and paired tests."),
    click.Option(
        ["--resamples"],
        type=click.IntRange(min=2),
        default=RESAMPLES,
        show_default=True,
        help="How often the bootstrap draws the questions again.",
    ),
    click.Option(
        ["--processes"],
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="How many cores to use for scoring. The results do not depend on it.",
    ),
    click.Option(["--cluster"], **CLUSTER),
)
"""For ``click.command(params=...)``; together the fields of :class:`ScoringOptions`."""
