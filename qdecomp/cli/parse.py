"""``qdecomp parse``: decompose a question, or all questions in a file."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdecomp.cli import options
from qdecomp.data_structures.errors import DataError
from qdecomp.files import require_other_files, write_text_atomically
from qdecomp.files.rows import STANDARD_INPUT
from qdecomp.files.sources import is_folder_output, text_suffix
from qdecomp.parsers.bulk import FileSummary, parse_file, parse_records
from qdecomp.parsers.calibration import is_probably_wrong
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.source import ParserSource
from qdecomp.terminal import STYLES, echo_data, printable

if TYPE_CHECKING:
    from rich.text import Text

    from qdecomp.data_structures.dependency_graph import DependencyGraph

_FORMATS = ("text", "json", "qdmr", "lf", "dot", "svg", "html", "conllu")
_CANDIDATES_IF_UNSURE = 3
_FILE_SUFFIXES = frozenset((".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".pq"))


@click.command("parse")
@click.argument("questions", nargs=-1, metavar="[QUESTION]...")
@click.option(
    "--input",
    "input_path",
    type=options.PATH,
    multiple=True,
    callback=options.only_one,
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
    type=click.Choice(_FORMATS),
    help="How to show the decomposition of a question.  [default: text; always json for a file]",
)
@click.option(
    "--graph",
    "with_graph",
    is_flag=True,
    help="Also show the dependency graph, each edge with its probability. Only for the format text.",
)
@options.parser_options
@options.BATCH_SIZE_OPTION
@click.option("--processes", type=click.IntRange(min=1), help="How many cores to use for a file.  [default: all]")
@options.CLUSTER_OPTION
@options.PART_ROWS_OPTION
@options.OVERWRITE_OPTION
@options.STRICT_OPTION
def command(
    questions: Sequence[str],
    input_path: Path | None,
    parser: ParserSource,
    column: str | None,
    batch_size: int,
    output_path: str | None,
    format_name: str | None,
    with_graph: bool,
    processes: int | None,
    cluster: str | None,
    part_rows: int | None,
    overwrite: bool,
    strict: bool,
) -> None:
    """Decompose a question into steps, or all questions in a file.

    For a file, one record is written for every question, even if it has no decomposition. If a run is stopped, start it
    again with the same input, output and parser to resume it.
    """
    if not questions and input_path is None and _something_is_piped_in():
        input_path = STANDARD_INPUT
    where = options.where_of(processes, cluster)
    options.require_folder(output_path, part_rows)
    has_file, is_folder = input_path is not None, output_path is not None and is_folder_output(output_path)
    mistakes = {
        "give either questions or a file of questions with --input": bool(questions) == has_file,
        "--column only works with --input: it names a column of that file": not has_file and bool(column),
        "--graph only works with the format text; JSON records have a field for the graph": with_graph
        and (has_file or format_name not in (None, "text")),
        "a folder only works with a file of questions: give --input, or a file as --output": not has_file and is_folder,
        "--cluster only works with a file of questions: give --input and --output": cluster is not None
        and (not has_file or output_path is None),
        "the questions of a file are always written as json; qdecomp render makes a page of them": has_file
        and format_name not in (None, "json"),
    }
    for message, is_made in mistakes.items():
        if is_made:
            raise click.UsageError(message)
    read = None if input_path == STANDARD_INPUT else input_path
    require_other_files({"--output": output_path}, [read, *parser.files])
    settings: dict[str, Any] = {"column": column, "batch_size": batch_size, "where": where}
    summary = FileSummary()
    if input_path is None:
        found = list(parser.open().pipe(_whole_questions(questions), batch_size=batch_size))
        _write(found, parser, output_path, format_name or "text", with_graph)
        for decomposition in found:
            summary.add_record(decomposition.to_record())
    elif output_path is None:
        for record in parse_records(parser.open(), input_path, **settings):
            summary.add_record(record)
            echo_data(json.dumps(record, ensure_ascii=False))
    else:
        settings |= {"overwrite": overwrite, "part_rows": part_rows}
        summary = parse_file(parser.open(), input_path, output_path, **settings)
        options.show_summary(summary, output_path)
    options.show_calls(summary)
    options.end_run(summary.internal_errors, strict and summary.failed)


def _something_is_piped_in() -> bool:
    """Whether standard input is a pipe or a file, and not a terminal or nothing at all."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _whole_questions(arguments: Sequence[str]) -> Sequence[str]:
    """The questions on the command line: words without quotes are one question, others and files are refused."""
    single = [argument for argument in arguments if len(argument.split()) == 1]
    for argument in single:
        if text_suffix(argument) in _FILE_SUFFIXES or Path(argument).is_file():
            raise click.UsageError(f"{argument!r} is the name of a file; give it with --input to parse its questions")
    words = [argument for argument in single if any(map(str.isalpha, argument))]
    if len(arguments) == 1 or not words:
        return arguments
    if len(single) < len(arguments):
        raise click.UsageError(f"{words[0]!r} is a single word; put every question in quotes")
    return [" ".join(arguments)]


# How decompositions are shown. Modules that draw are imported only for what is drawn.


def _write(
    found: list[Decomposition], parser: ParserSource, output_path: str | None, format_name: str, with_graph: bool
) -> None:
    """Show the decompositions of the questions on the command line, or write them to a file."""
    if format_name == "text":
        found = _with_candidates(found, parser)
    if format_name == "text" and output_path is None:
        _show(found, with_graph)
        return
    text = _formatted(found, format_name, with_graph)
    if output_path is None:
        echo_data(text)
    else:
        with write_text_atomically(output_path) as stream:
            stream.write(text + "\n")


def _with_candidates(found: list[Decomposition], parser: ParserSource) -> list[Decomposition]:
    """Those that are probably wrong with the next candidates, if the parser can give some."""
    unsure = [each.question for each in found if is_probably_wrong(each)]
    if not unsure or parser.candidates or parser.fallback is not None:
        return found
    try:
        more = list(replace(parser, candidates=_CANDIDATES_IF_UNSURE).open().pipe(unsure))
    except DataError:
        return found
    candidates = {each.question: each.candidates for each in more}
    return [replace(each, candidates=candidates.get(each.question, ())) for each in found]


def _show(decompositions: Sequence[Decomposition], with_graph: bool) -> None:
    """Print the steps of each question, and its graph if asked for, in colour if the terminal supports it."""
    from rich.console import Console
    from rich.text import Text

    # What is piped on keeps its lines; only a terminal has a width.
    console = Console(soft_wrap=not sys.stdout.isatty())
    for number, decomposition in enumerate(decompositions):
        if number:
            console.print()
        console.print(Text(printable(decomposition.question), style="bold"))
        console.print(_coloured_steps(decomposition))
        for note, style in _notes(decomposition, with_graph):
            console.print(Text(printable(note), style=style))
        if with_graph and decomposition and decomposition.graph is not None:
            from qdecomp.visualization import graph_rich

            console.print()
            console.print(graph_rich(decomposition.graph, width=console.width))


def _coloured_steps(decomposition: Decomposition) -> Text:
    from rich.text import Text

    form = decomposition.logical_form
    if not decomposition or form is None:
        return Text(printable(str(decomposition)))
    lines = [
        Text.assemble(
            (f"{number}. ", "dim"),
            (printable(text), STYLES[step.operator.value]),
            (f"  {step.operator.value}", "dim"),
        )
        for number, (text, step) in enumerate(zip(decomposition.steps, form.steps, strict=True), start=1)
    ]
    return Text("\n").join(lines)


def _notes(decomposition: Decomposition, with_graph: bool) -> Iterator[tuple[str, str]]:
    """The lines below the steps, each with its style: who answered and how sure, candidates, warnings, no graph."""
    confidence, answered = decomposition.confidence if decomposition else None, decomposition.answered
    sure = [] if answered is None else [f"answered by {answered.by}"]
    if confidence is not None:
        sure.append(f"confidence {confidence:.2f}")
    if is_probably_wrong(decomposition):
        sure.append("probably wrong")
    if sure:
        yield ", ".join(sure), "dim"
    for candidate in decomposition.candidates[1:]:
        yield f"or: {'; '.join(Decomposition(decomposition.question, candidate.text).steps)}", "dim"
    for warning in decomposition.warnings:
        yield f"warning: {warning}", "yellow"
    if with_graph and decomposition and decomposition.graph is None:
        yield f"no graph: {decomposition.graph_error}", "yellow"


def _text(decomposition: Decomposition, with_graph: bool = False) -> str:
    notes = (note for note, _ in _notes(decomposition, with_graph))
    text = "\n".join([decomposition.question, str(decomposition), *notes])
    if not with_graph or not decomposition or decomposition.graph is None:
        return text
    from qdecomp.visualization import graph_text

    return f"{text}\n\n{graph_text(decomposition.graph)}"


def _graph(decomposition: Decomposition, name: str) -> DependencyGraph:
    if decomposition.graph is None:
        raise DataError(f"there is no {name}, because there is no graph: {decomposition.graph_error}")
    return decomposition.graph


def _graph_text(name: str, decomposition: Decomposition) -> str:
    from qdecomp.data_structures.graph_codecs import format_conllu, format_dot

    return {"dot": format_dot, "conllu": format_conllu}[name](_graph(decomposition, name))


# How a decomposition is written, and what separates two of them. Only two formats can say why there is none.
_WRITERS: dict[str, tuple[Callable[[Decomposition], str], str]] = {
    "text": (_text, "\n\n"),
    "json": (lambda decomposition: json.dumps(decomposition.to_dict(), ensure_ascii=False), "\n"),
    "qdmr": (lambda decomposition: decomposition.text or "", "\n"),
    "lf": (lambda decomposition: str(decomposition.logical_form), "\n\n"),
    "dot": (partial(_graph_text, "dot"), "\n\n"),
    "conllu": (partial(_graph_text, "conllu"), "\n\n"),
}
_WITH_ERRORS = frozenset({"text", "json", "html"})


def _formatted(decompositions: Sequence[Decomposition], format_name: str, with_graph: bool) -> str:
    """All decompositions in one of the formats; those that it cannot show are reported on standard error."""
    shown = decompositions if format_name in _WITH_ERRORS else list(filter(None, decompositions))
    if len(shown) < len(decompositions):
        for each in decompositions:
            if not each:
                click.echo(printable(f"{each.question!r}: {each}"), err=True)
    if format_name == "html":
        from qdecomp.visualization import PageItem, page_html

        return page_html([PageItem(each.question_id, each.question, each) for each in shown])
    if format_name == "svg":
        from qdecomp.visualization import graph_svg, stacked_svg

        return stacked_svg([graph_svg(_graph(each, "svg")) for each in shown])
    write, separator = _WRITERS[format_name]
    return separator.join(map(partial(_text, with_graph=True) if with_graph else write, shown))
