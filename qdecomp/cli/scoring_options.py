"""The options that ``evaluate`` and ``report`` share, and the work behind them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from qdecomp.cli.options import CLUSTER, where_of
from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.metrics import DEFAULT_METRICS, METRICS, Metric, choose_metrics
from qdecomp.evaluation.predictions import Gold, SystemPredictions, name_systems, read_gold, read_predictions
from qdecomp.evaluation.scoring import Evaluation, QuestionScores, evaluate
from qdecomp.files.atomic import require_other_files
from qdecomp.files.jobs import Where
from qdecomp.terminal import printable


@dataclass(frozen=True, slots=True)
class ScoringFiles:
    """What is scored: the gold questions, the systems' predictions, and the metrics."""

    gold: Gold
    systems: tuple[SystemPredictions, ...]
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """The values of :data:`SCORING_PARAMETERS`: what to score, against what, with which metrics."""

    gold: Path
    predictions: tuple[str, ...]
    more_predictions: tuple[str, ...]
    column: str
    metrics: str
    strict: bool
    seed: int
    processes: int
    cluster: str | None

    def require_other_outputs(self, outputs: Mapping[str, Path | None]) -> None:
        """Raise if an output, by the name of its option, is a file that is read."""
        predictions = [path for _, path in name_systems((*self.predictions, *self.more_predictions))]
        require_other_files(outputs, [self.gold, *predictions])

    def read(self, required_metrics: Sequence[str] = ()) -> ScoringFiles:
        """Read the files and report the problems of their rows; with ``--strict``, problems end the program."""
        where_of(self.processes, self.cluster)
        names = [name.strip() for name in self.metrics.split(",") if name.strip()]
        if not names:
            raise DataError(f"--metrics: name at least one of {', '.join(METRICS)}")
        metrics = choose_metrics([*names, *required_metrics])
        named = name_systems((*self.predictions, *self.more_predictions))
        if not named:
            raise click.UsageError(
                "give at least one file of predictions: --predictions [NAME=]FILE, or just [NAME=]FILE"
            )
        gold = read_gold(self.gold)
        systems = [read_predictions(path, gold, name, column=self.column) for name, path in named]
        if _tell_problems(gold, systems) and self.strict:
            print(
                "qdecomp: nothing is scored, because --strict is given and the rows above have problems",
                file=sys.stderr,
            )
            sys.exit(1)
        return ScoringFiles(gold, tuple(systems), metrics)

    def score(
        self,
        files: ScoringFiles,
        *,
        keep_questions: bool = True,
        each: Callable[[str, QuestionScores], object] | None = None,
    ) -> Evaluation:
        """Score what was read, as :func:`~qdecomp.evaluation.scoring.evaluate` does."""
        where = Where(self.processes, self.cluster)
        return evaluate(files.gold, files.systems, files.metrics, where=where, keep_questions=keep_questions, each=each)


def _tell_problems(gold: Gold, systems: Sequence[SystemPredictions]) -> bool:
    from qdecomp.evaluation.outputs import problem_lines, reading_lines

    problems = problem_lines(gold.path, gold.problems)
    for system in systems:
        problems += problem_lines(system.path, system.problems)
    notes = [line for system in systems for line in reading_lines(system.path, system.readings)]
    for line in (*problems, *notes):
        print(printable(line), file=sys.stderr)
    return bool(problems)


_file = click.Path(path_type=Path)
SCORING_PARAMETERS: tuple[click.Parameter, ...] = (
    click.Option(["--gold"], type=_file, required=True, help="Break's CSV with gold decompositions."),
    click.Option(
        ["--predictions"],
        multiple=True,
        metavar="[NAME=]FILE",
        help="A file of predictions, one for each system: JSON lines, or a CSV with a column named decomposition. Rows "
        "are matched with the gold questions by question_id or, if there is none, by their order. Decompositions may "
        "be Break's text or what language models write, such as lists and JSON. You can also leave out --predictions "
        "and give only the files.",
    ),
    click.Argument(["more_predictions"], nargs=-1, metavar="[[NAME=]FILE]..."),
    click.Option(
        ["--column"],
        default="decomposition",
        show_default=True,
        metavar="NAME",
        help="The column or field of the predictions that has the decompositions.",
    ),
    click.Option(
        ["--metrics"],
        default=",".join(DEFAULT_METRICS),
        show_default=True,
        help=f"Comma-separated: {', '.join(METRICS)}. Strict LF-EM is always included with lf_em.",
    ),
    click.Option(
        ["--strict"],
        is_flag=True,
        help="Stop with exit code 1 if a row is missing, extra, duplicate, malformed or empty.",
    ),
    click.Option(["--seed"], type=int, default=0, show_default=True, help="The seed of intervals and paired tests."),
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
