"""``qdecomp parse``: decompose a question, or all questions in a file."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from qdecomp.cli.decomposition_formats import FORMATS, formatted, show
from qdecomp.cli.options import (
    BATCH_SIZE_OPTION,
    CLUSTER_OPTION,
    OVERWRITE_OPTION,
    PART_ROWS_OPTION,
    exit_after_internal_errors,
    parser_options,
    require_folder,
    show_calls,
    show_summary,
    where_of,
)
from qdecomp.data_structures.errors import DataError
from qdecomp.files import require_other_files, write_text_atomically
from qdecomp.files.parts import is_folder_output
from qdecomp.files.rows import STANDARD_INPUT
from qdecomp.files.sources import text_suffix
from qdecomp.parsers.bulk import FileSummary, parse_file, parse_records
from qdecomp.parsers.calibration import is_probably_wrong
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.source import ParserSource
from qdecomp.terminal import echo_data

_CANDIDATES_IF_UNSURE = 3
_FILE_SUFFIXES = frozenset((".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".pq"))


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
@BATCH_SIZE_OPTION
@click.option("--processes", type=click.IntRange(min=1), help="How many cores to use for a file.  [default: all]")
@CLUSTER_OPTION
@PART_ROWS_OPTION
@OVERWRITE_OPTION
@click.option("--strict", is_flag=True, help="Exit with code 1 if a question has no decomposition.")
def command(strict: bool, **given: Any) -> None:
    """Decompose a question into steps, or all questions in a file.

    For a file, one record is written for every question, even if it has no decomposition. If a run is stopped, start it
    again with the same input, output and parser to resume it.
    """
    options = _ParseOptions(**given).with_piped_input()
    options.check()
    summary = options.parse_questions() if options.input_path is None else options.parse_file(options.input_path)
    exit_after_internal_errors(summary.internal_errors)
    if strict and summary.failed:
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class _ParseOptions:
    """What to parse, with which parser, and where the answers go."""

    parser: ParserSource
    batch_size: int
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
        if self.questions or self.input_path is not None or not _something_is_piped_in():
            return self
        return replace(self, input_path=STANDARD_INPUT)

    def check(self) -> None:
        """Raise if options contradict each other, or if the output would overwrite what is read."""
        has_file = self.input_path is not None
        if bool(self.questions) == has_file:
            raise click.UsageError("give either questions or a file of questions with --input")
        if not has_file and self.column is not None:
            raise click.UsageError("--column only works with --input: it names a column of that file")
        if self.with_graph and (has_file or self.format_name not in (None, "text")):
            raise click.UsageError("--graph only works with the format text; JSON records have a field for the graph")
        where_of(self.processes, self.cluster)
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
        require_other_files({"--output": self.output_path}, [read, *self.parser.files])

    def parse_questions(self) -> FileSummary:
        """Decompose the questions on the command line."""
        questions = _whole_questions(self.questions)
        decompositions = list(self.parser.open().pipe(questions, batch_size=self.batch_size))
        if self.format_name in (None, "text"):
            decompositions = self._with_candidates(decompositions)
        if self.format_name in (None, "text") and self.output_path is None:
            show(decompositions, with_graph=self.with_graph)
        else:
            text = formatted(decompositions, self.format_name or "text", with_graph=self.with_graph)
            _write(text, self.output_path)
        summary = FileSummary(len(decompositions))
        for decomposition in decompositions:
            summary.add_record(decomposition.to_record())
        show_calls(summary)
        return summary

    def _with_candidates(self, decompositions: list[Decomposition]) -> list[Decomposition]:
        """Those that are probably wrong with the next candidates, if the parser can give some."""
        unsure = [each.question for each in decompositions if is_probably_wrong(each)]
        if not unsure or self.parser.candidates or self.parser.fallback is not None:
            return decompositions
        try:
            found = list(replace(self.parser, candidates=_CANDIDATES_IF_UNSURE).open().pipe(unsure))
        except DataError:
            return decompositions
        candidates = {each.question: each.candidates for each in found}
        return [replace(each, candidates=candidates.get(each.question, ())) for each in decompositions]

    def parse_file(self, path: Path) -> FileSummary:
        """Give a record for every question of a file."""
        where = where_of(self.processes, self.cluster)
        options: dict[str, Any] = {"column": self.column, "batch_size": self.batch_size, "where": where}
        if self.output_path is None:
            summary = FileSummary()
            for record in parse_records(self.parser.open(), path, **options):
                summary.add_record(record)
                echo_data(json.dumps(record, ensure_ascii=False))
            show_calls(summary)
            return summary
        options |= {"overwrite": self.overwrite, "part_rows": self.part_rows}
        summary = parse_file(self.parser.open(), path, self.output_path, **options)
        show_summary(summary, self.output_path)
        return summary


def _whole_questions(arguments: Sequence[str]) -> Sequence[str]:
    """The questions on the command line: words without quotes are one question, others and files are refused."""
    for argument in arguments:
        if len(argument.split()) == 1 and (text_suffix(argument) in _FILE_SUFFIXES or Path(argument).is_file()):
            raise click.UsageError(f"{argument!r} is the name of a file; give it with --input to parse its questions")
    words = [argument for argument in arguments if len(argument.split()) == 1 and any(map(str.isalpha, argument))]
    if len(arguments) > 1 and all(len(argument.split()) == 1 for argument in arguments) and words:
        return [" ".join(arguments)]
    if len(arguments) > 1 and words:
        raise click.UsageError(f"{words[0]!r} is a single word; put every question in quotes")
    return arguments


def _write(text: str, output_path: str | None) -> None:
    if output_path is None:
        echo_data(text)
        return
    with write_text_atomically(output_path) as stream:
        stream.write(text + "\n")


def _something_is_piped_in() -> bool:
    """Whether standard input is a pipe or a file, and not a terminal or nothing at all."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
