"""``qdecomp parse``: decompose a question, or all questions in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdecomp.data_structures.mistakes import is_mistake
from qdecomp.terminal.escapes import echo_data, printable
from qdecomp.version import VERSION

from .cluster_option import CLUSTER_OPTION, require_one_way
from .decomposition_formats import FORMATS, formatted, show
from .parser_options import (
    BATCH_SIZE_OPTION,
    CANDIDATES_OPTION,
    DECODER_OPTION,
    MIN_CONFIDENCE_OPTION,
    PARSER_OPTION,
    TRUST_OPTION,
)
from .row_mistakes import tell_mistakes

if TYPE_CHECKING:
    from qdecomp.files.question_lines import QuestionRow
    from qdecomp.parser import Parser
    from qdecomp.terminal.processes import Spread

__all__ = ["command"]

# Parsing fewer questions takes less time than loading the parser in other processes.
_QUESTIONS_FOR_PROCESSES = 200


@click.command("parse")
@click.argument("questions", nargs=-1, metavar="[QUESTION]...")
@click.option(
    "--input",
    "input_path",
    type=click.Path(path_type=Path),
    help="A text file with one question per line, JSON lines or Parquet with a field named question, or a CSV such as "
    "Break's. Use - for standard input, which is also read if something is piped in and you give neither a question "
    "nor --input.",
)
@click.option(
    "--column", metavar="NAME", help="The column or field that has the questions.  [default: question_text or question]"
)
@click.option(
    "--output", "output_path", type=click.Path(path_type=Path), help="The file to write.  [default: standard output]"
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="How to show the decomposition of a question.  [default: text; always json for a file]",
)
@click.option(
    "--graph",
    "with_graph",
    is_flag=True,
    help="Also show the dependency graph, each edge with its probability. Only for the format text.",
)
@PARSER_OPTION
@DECODER_OPTION
@CANDIDATES_OPTION
@TRUST_OPTION
@MIN_CONFIDENCE_OPTION
@BATCH_SIZE_OPTION
@click.option("--processes", type=click.IntRange(min=1), help="How many cores to use for a file.  [default: all]")
@CLUSTER_OPTION
@click.option("--overwrite", is_flag=True, help="Start again instead of continuing an existing output file.")
@click.option("--strict", is_flag=True, help="Exit with code 1 if a question has no decomposition.")
def command(
    questions: Sequence[str],
    input_path: Path | None,
    column: str | None,
    output_path: Path | None,
    format_name: str | None,
    with_graph: bool,
    source: str,
    decoder: str | None,
    candidates: int,
    trust: bool,
    min_confidence: float,
    batch_size: int,
    processes: int | None,
    cluster: str | None,
    overwrite: bool,
    strict: bool,
) -> None:
    """Decompose a question into steps, or all questions in a file.

    For a file, one record is written for every question, even if it has no decomposition. If a run is stopped, start it
    again with the same input, output and parser to resume it.
    """
    from qdecomp.cluster import on_cluster
    from qdecomp.files import require_other_files
    from qdecomp.files.question_files import STANDARD_INPUT, read_questions, something_is_piped_in
    from qdecomp.parser import load

    if not questions and input_path is None and something_is_piped_in():
        input_path = STANDARD_INPUT
    if bool(questions) == (input_path is not None):
        raise click.UsageError("give either questions or a file of questions with --input")
    if input_path is None and column is not None:
        raise click.UsageError("--column only works with --input: it names a column of that file")
    if with_graph and (input_path is not None or format_name not in (None, "text")):
        raise click.UsageError("--graph only works with the format text; JSON records always have the graph")
    require_one_way(processes, cluster)
    if cluster is not None and (input_path is None or output_path is None):
        raise click.UsageError("--cluster only works with a file of questions: give --input and --output")
    if input_path is not None:
        if format_name not in (None, "json"):
            raise click.UsageError(
                "the questions of a file are always written as json; qdecomp render makes a page of them"
            )
        files = [] if input_path == STANDARD_INPUT else [input_path]
        require_other_files({"--output": output_path}, [*files, Path(source)])
        rows = read_questions(input_path, column)
        parser = load(source, decoder=decoder, candidates=candidates, min_confidence=min_confidence, trust=trust)
        settings = json.dumps([VERSION, parser.key(batch_size), decoder, candidates, min_confidence])
        with on_cluster(cluster) as spread:
            run = _FileRun(parser, batch_size, processes, settings, spread)
            failed = run.print(rows) if output_path is None else run.write(rows, output_path, overwrite)
        mistakes = run.mistakes
    else:
        require_other_files({"--output": output_path}, [Path(source)])
        parser = load(source, decoder=decoder, candidates=candidates, min_confidence=min_confidence, trust=trust)
        decompositions = list(parser.pipe(_whole_questions(questions), batch_size=batch_size))
        if format_name in (None, "text") and output_path is None:
            show(decompositions, with_graph=with_graph)
        else:
            _write(formatted(decompositions, format_name or "text", with_graph=with_graph), output_path)
        failed = sum(not decomposition for decomposition in decompositions)
        mistakes = sum(is_mistake(decomposition.error) for decomposition in decompositions)
    tell_mistakes(mistakes)
    if strict and failed:
        raise SystemExit(1)


def _whole_questions(arguments: Sequence[str]) -> Sequence[str]:
    """The questions on the command line: words without quotes are one question, others are refused."""
    words = [argument for argument in arguments if len(argument.split()) == 1 and any(map(str.isalpha, argument))]
    if len(arguments) > 1 and all(len(argument.split()) == 1 for argument in arguments) and words:
        return [" ".join(arguments)]
    if len(arguments) > 1 and words:
        raise click.UsageError(f"{words[0]!r} is a single word; put every question in quotes")
    return arguments


@dataclass(slots=True)
class _FileRun:
    """A parser at work on the questions of a file, and how many of them have no decomposition."""

    parser: Parser
    batch_size: int
    processes: int | None
    settings: str
    spread: Spread | None = None
    failed: int = 0
    mistakes: int = 0

    def print(self, rows: Sequence[QuestionRow]) -> int:
        """Print a record for each row."""
        for record in self._records(rows, len(rows)):
            self._count(record)
            echo_data(json.dumps(record, ensure_ascii=False))
        return self.failed

    def write(self, rows: Sequence[QuestionRow], path: Path, anew: bool) -> int:
        """Write a record for each row, or for those that an earlier run did not reach."""
        from qdecomp.files.record_output import resume_records
        from qdecomp.terminal.progress import progress

        keys = (self._key(row) for row in rows)
        with resume_records(path, keys, overwrite=anew, on_record=self._count) as writer:
            resumed = writer.done
            # From the start of the questions that are parsed together, so that every batch is the same as in an
            # uninterrupted run.
            again = resumed % self.parser.window(self.batch_size)
            rest = len(rows) - resumed + again if resumed < len(rows) else 0
            records = self._records(islice(rows, len(rows) - rest, None), rest)
            for record in islice(progress(records, "parsing", rest), again, None):
                self._count(record)
                writer.write({**record, "key": self._key(rows[writer.done])})
        kept = f", {resumed:,} of them from an earlier run" if resumed else ""
        told = f"{len(rows):,} questions{kept}; {self.failed:,} without a decomposition; {path}"
        click.echo(printable(told), err=True)
        return self.failed

    def _count(self, record: Mapping[str, Any]) -> None:
        self.failed += record["decomposition"] is None
        self.mistakes += is_mistake(record["error"])

    def _key(self, row: QuestionRow) -> str:
        return hashlib.blake2b(json.dumps([self.settings, *row]).encode(), digest_size=8).hexdigest()

    def _records(self, rows: Iterable[QuestionRow], count: int) -> Iterator[dict[str, Any]]:
        from joblib import cpu_count

        from qdecomp.bulk_parsing import question_records, records_from_workers

        if self.spread is not None:
            return records_from_workers(self.parser, rows, self.batch_size, self.spread)
        processes = self.processes or (cpu_count() if count >= _QUESTIONS_FOR_PROCESSES else 1)
        return question_records(self.parser, rows, self.batch_size, processes)


def _write(text: str, output_path: Path | None) -> None:
    from qdecomp.files import write_text_atomically

    if output_path is None:
        echo_data(text)
        return
    with write_text_atomically(output_path) as stream:
        stream.write(text + "\n")
