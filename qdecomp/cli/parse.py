"""``qdecomp parse``: decompose a question, or all questions in a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdecomp.cli.cluster_option import CLUSTER_OPTION, require_one_way
from qdecomp.cli.decomposition_formats import FORMATS, formatted, show
from qdecomp.cli.internal_errors import exit_after_internal_errors
from qdecomp.cli.parser_options import ParserOptions, parser_options
from qdecomp.cli.part_options import PART_ROWS_OPTION, require_folder
from qdecomp.data_structures.errors import is_internal
from qdecomp.terminal import echo_data, printable
from qdecomp.version import VERSION

if TYPE_CHECKING:
    from qdecomp.bulk.bulk_parsing import ParsingOutcome
    from qdecomp.files.readers.question_lines import QuestionRow
    from qdecomp.files.records.record_lines import RecordLine
    from qdecomp.parsers.parser import Parser
    from qdecomp.workers.processes import Spread

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
    "--output",
    "output_path",
    metavar="PATH",
    help="The file to write, or a folder of files if the name ends with a slash.  [default: standard output]",
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
@parser_options
@click.option("--processes", type=click.IntRange(min=1), help="How many cores to use for a file.  [default: all]")
@CLUSTER_OPTION
@PART_ROWS_OPTION
@click.option("--overwrite", is_flag=True, help="Start again instead of continuing an existing output file.")
@click.option("--strict", is_flag=True, help="Exit with code 1 if a question has no decomposition.")
def command(strict: bool, **given: Any) -> None:
    """Decompose a question into steps, or all questions in a file.

    For a file, one record is written for every question, even if it has no decomposition. If a run is stopped, start it
    again with the same input, output and parser to resume it.
    """
    options = _ParseOptions(**given).with_piped_input()
    options.check()
    counts = options.parse_questions() if options.input_path is None else options.parse_file(options.input_path)
    exit_after_internal_errors(counts.mistakes)
    if strict and counts.failed:
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many questions have no decomposition, and on how many of these our code failed."""

    failed: int
    mistakes: int


@dataclass(frozen=True, slots=True)
class _ParseOptions(ParserOptions):
    """What to parse, with which parser, and where the answers go."""

    questions: Sequence[str]
    input_path: Path | None
    column: str | None
    output_path: str | None
    format_name: str | None
    with_graph: bool
    processes: int | None
    cluster: str | None
    part_rows: int | None
    overwrite: bool

    def with_piped_input(self) -> _ParseOptions:
        """The options with standard input as the file, if nothing else is to be parsed and something is piped in."""
        from qdecomp.files.readers.question_files import STANDARD_INPUT, something_is_piped_in

        if self.questions or self.input_path is not None or not something_is_piped_in():
            return self
        return replace(self, input_path=STANDARD_INPUT)

    def check(self) -> None:
        """Raise if options contradict each other, or if the output would overwrite what is read."""
        from qdecomp.files import require_other_files
        from qdecomp.files.readers.question_files import STANDARD_INPUT
        from qdecomp.files.storage.part_folders import is_folder_output

        has_file = self.input_path is not None
        if bool(self.questions) == has_file:
            raise click.UsageError("give either questions or a file of questions with --input")
        if not has_file and self.column is not None:
            raise click.UsageError("--column only works with --input: it names a column of that file")
        if self.with_graph and (has_file or self.format_name not in (None, "text")):
            raise click.UsageError("--graph only works with the format text; JSON records have a field for the graph")
        require_one_way(self.processes, self.cluster)
        require_folder(self.output_path, self.part_rows)
        if not has_file and self.output_path is not None and is_folder_output(self.output_path):
            raise click.UsageError("a folder only works with a file of questions: give --input, or a file as --output")
        if self.cluster is not None and (not has_file or self.output_path is None):
            raise click.UsageError("--cluster only works with a file of questions: give --input and --output")
        if has_file and self.format_name not in (None, "json"):
            raise click.UsageError(
                "the questions of a file are always written as json; qdecomp render makes a page of them"
            )
        read = None if self.input_path == STANDARD_INPUT else self.input_path
        require_other_files({"--output": self.output_path}, [read, Path(self.source)])

    def parse_questions(self) -> _Counts:
        """Decompose the questions on the command line."""
        questions = _whole_questions(self.questions)
        decompositions = list(self.load().pipe(questions, batch_size=self.batch_size))
        if self.format_name in (None, "text") and self.output_path is None:
            show(decompositions, with_graph=self.with_graph)
        else:
            text = formatted(decompositions, self.format_name or "text", with_graph=self.with_graph)
            _write(text, self.output_path)
        mistakes = sum(is_internal(decomposition.error) for decomposition in decompositions)
        return _Counts(sum(not decomposition for decomposition in decompositions), mistakes)

    def parse_file(self, path: Path) -> _Counts:
        """Give a record for every question of a file."""
        from qdecomp.files.readers.question_files import read_questions
        from qdecomp.workers import on_cluster

        rows = read_questions(path, self.column)
        parser = self.load()
        key = [VERSION, parser.key(self.batch_size), self.decoder, self.candidates, self.min_confidence]
        with on_cluster(self.cluster) as spread:
            run = _FileRun(parser, self.batch_size, self.processes, json.dumps(key), spread)
            if self.output_path is None:
                run.print(rows)
            else:
                run.write(rows, self.output_path, self.overwrite, self.part_rows)
        return _Counts(run.failed, run.mistakes)


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

    def print(self, rows: Sequence[QuestionRow]) -> None:
        """Print a record for each row."""
        from qdecomp.bulk.bulk_parsing import ParsingOutcome, question_records

        for record in question_records(self.parser, rows, self.batch_size, self._processes_for(len(rows))):
            self._count(ParsingOutcome.of(record))
            echo_data(json.dumps(record, ensure_ascii=False))

    def write(self, rows: Sequence[QuestionRow], path: str, anew: bool, part_rows: int | None) -> None:
        """Write a record for each row, or for those that an earlier run did not reach."""
        from qdecomp.bulk.bulk_parsing import ParsingOutcome, question_key
        from qdecomp.files.records.record_output import resume_records
        from qdecomp.terminal import progress

        def count(record: Mapping[str, Any]) -> None:
            self._count(ParsingOutcome.of(record))

        keys = (question_key(self.settings, row) for row in rows)
        with resume_records(path, keys, overwrite=anew, on_record=count, part_rows=part_rows) as writer:
            resumed = writer.done
            # From the start of the questions that are parsed together, so that every batch is the same as in an
            # uninterrupted run.
            again = resumed % self.parser.window(self.batch_size)
            rest = len(rows) - resumed + again if resumed < len(rows) else 0
            lines = self._lines(islice(rows, len(rows) - rest, None), rest)
            for line, outcome in islice(progress(lines, "parsing", rest), again, None):
                self._count(outcome)
                writer.write(line)
        kept = f", {resumed:,} of them from an earlier run" if resumed else ""
        told = f"{len(rows):,} questions{kept}; {self.failed:,} without a decomposition; {path}"
        click.echo(printable(told), err=True)

    def _count(self, outcome: ParsingOutcome) -> None:
        self.failed += outcome.has_failed
        self.mistakes += outcome.is_mistake

    def _lines(self, rows: Iterable[QuestionRow], count: int) -> Iterator[RecordLine]:
        from qdecomp.bulk.bulk_parsing import question_lines

        processes = self._processes_for(count)
        return question_lines(self.parser, rows, self.settings, self.batch_size, processes, self.spread)

    def _processes_for(self, count: int) -> int:
        from joblib import cpu_count

        return int(self.processes or (cpu_count() if count >= _QUESTIONS_FOR_PROCESSES else 1))


def _write(text: str, output_path: str | None) -> None:
    from qdecomp.files import write_text_atomically

    if output_path is None:
        echo_data(text)
        return
    with write_text_atomically(output_path) as stream:
        stream.write(text + "\n")
