"""How many questions per second trained parsers answer, side by side: from the text to the prediction record.

All parsers get the same questions in one process and take turns, chunk by chunk, so that whatever else the machine
does slows down all of them alike. Tokenisation is included, loading a parser is not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
from shared_data import shared_data_option

from qdecomp.data_structures.errors import DataError
from qdecomp.files import BreakExample
from qdecomp.terminal import Table, show_tables
from speed.measuring import Clock, clock, evenly_spread, json_option, peak_memory_mb, write_results

_CHUNK = 64


@dataclass(slots=True)
class Speed:
    """One parser with one batch size."""

    parser: str
    batch_size: int
    questions: int = 0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    failed: int = 0
    latencies: list[float] = field(default_factory=list)

    def add(self, records: Sequence[dict[str, Any]], measured: Clock) -> None:
        """Count a batch."""
        self.questions += len(records)
        self.wall_seconds += measured.wall
        self.cpu_seconds += measured.cpu
        self.failed += sum(record["decomposition"] is None for record in records)
        self.latencies.append(measured.wall)

    @property
    def slowest_batches(self) -> float:
        """The 95th percentile of the seconds of batches."""
        return sorted(self.latencies)[int(0.95 * (len(self.latencies) - 1))]


def load_parser(archive: str, overrides: str) -> Any:
    """The predictor of an archive."""
    from allennlp.models.archival import load_archive
    from allennlp.predictors import Predictor

    import qdecomp.training.plugin  # noqa: F401

    try:
        json.loads(overrides)
    except ValueError:
        raise DataError(f"--parser: the overrides of {archive} are not JSON: {overrides}") from None
    if not Path(archive).exists():
        raise DataError(f"--parser: there is no archive {archive}")
    return Predictor.from_archive(load_archive(archive, overrides=overrides))


def measure(parsers: dict[str, Any], questions: Sequence[BreakExample], batch_size: int) -> list[Speed]:
    """Let all parsers answer all questions in batches; a first batch of each does not count."""
    speeds = {name: Speed(name, batch_size) for name in parsers}
    for parser in parsers.values():
        parser.predict_questions(questions[:batch_size])
    for start in range(0, len(questions), _CHUNK):
        chunk = questions[start : start + _CHUNK]
        for name, parser in parsers.items():
            for first in range(0, len(chunk), batch_size):
                with clock() as measured:
                    records = parser.predict_questions(chunk[first : first + batch_size])
                speeds[name].add(records, measured)
    return list(speeds.values())


def _table(speeds: Sequence[Speed], threads: int) -> Table:
    rows = tuple(
        (
            each.parser,
            str(each.batch_size),
            f"{each.questions / each.wall_seconds:.1f}",
            f"{each.questions / each.cpu_seconds:.1f}",
            f"{1000 * each.slowest_batches:.0f}",
            str(each.failed),
        )
        for each in speeds
    )
    columns = ("parser", "batch", "questions/wall s", "questions/CPU s", "p95 ms a batch", "without decomposition")
    return Table(f"Inference on {speeds[0].questions:,} questions, {threads} thread(s)", columns, rows)


@click.command("inference")
@click.option(
    "--parser",
    "parsers",
    nargs=3,
    multiple=True,
    required=True,
    metavar="NAME ARCHIVE OVERRIDES",
    help="A name to show, a model.tar.gz, and settings to change as JSON ('{}' for none); once for each parser.",
)
@shared_data_option("--questions", "break", "dev.csv", meaning="A file.")
@click.option("--count", type=click.IntRange(min=1), default=500, show_default=True, help="How many, evenly spread.")
@click.option("--batch-sizes", default="1,32", show_default=True, help="Comma-separated.")
@click.option("--threads", type=click.IntRange(min=1), default=2, show_default=True, help="Threads of torch.")
@json_option
def command(
    parsers: Sequence[tuple[str, str, str]],
    questions: Path,
    count: int,
    batch_sizes: str,
    threads: int,
    json_path: Path | None,
) -> None:
    """Measure how many questions per second trained parsers answer, side by side."""
    import torch

    from qdecomp.training.dataset_readers import read_examples

    torch.set_num_threads(threads)
    asked = evenly_spread(read_examples(questions), count)
    loaded = {name: load_parser(archive, overrides) for name, archive, overrides in parsers}
    speeds = [speed for size in batch_sizes.split(",") for speed in measure(loaded, asked, int(size))]
    show_tables([_table(speeds, threads)])
    write_results(json_path, {"inference": [asdict(each) for each in speeds], "memory_mb": peak_memory_mb()})
