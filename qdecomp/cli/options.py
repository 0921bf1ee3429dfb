"""Options that commands share: which parser, where the work on a file is done, folders of files, and how a run ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdecomp.files.jobs import Where
from qdecomp.files.sources import is_folder_output
from qdecomp.terminal import printable

if TYPE_CHECKING:
    from qdecomp.parsers.bulk import FileSummary

PATH = click.Path(path_type=Path)
CLUSTER: dict[str, Any] = {
    "metavar": "ADDRESS",
    "help": "Use the Dask cluster whose scheduler is at this address, such as tcp://10.0.0.1:8786. "
    "The results are the same as without it.",
}
"""What click needs to know about the option."""

CLUSTER_OPTION = click.option("--cluster", **CLUSTER)
PART_ROWS_OPTION = click.option(
    "--part-rows",
    type=click.IntRange(min=1),
    help="With --output FOLDER/: how many records each file of the folder has.  [default: 10000]",
)
OVERWRITE_OPTION = click.option(
    "--overwrite", is_flag=True, help="Start again instead of continuing an existing output file."
)
STRICT_OPTION = click.option("--strict", is_flag=True, help="Exit with code 1 if a question has no decomposition.")
BATCH_SIZE_OPTION = click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="How many questions to parse at a time.",
)


def only_one(context: click.Context, option: click.Parameter, values: Sequence[Any]) -> Any:
    """The value of an option with ``multiple``; click alone would take the last one of several and say nothing."""
    if len(values) > 1:
        raise click.UsageError(f"give one {option.opts[0]}; run the command once for each")
    return next(iter(values), None)


_PARSER_OPTIONS = (
    click.option(
        "--parser",
        "source",
        default="minilm_break",
        show_default=True,
        help="The bundled parser, the folder of another one, AllenNLP's model.tar.gz, a consensus.json, or the address "
        "of a language model, such as http://127.0.0.1:8080/v1.",
    ),
    click.option(
        "--decoder",
        type=click.Choice(["greedy", "greedy_valid", "ilp", "projection"]),
        help="How a graph parser finds its graph: edge by edge (greedy), the same without edges that contradict better "
        "ones (greedy_valid), the same edges read as softly as in the paper (projection), or the best valid graph "
        "(ilp).  [default: the parser's]",
    ),
    click.option(
        "--candidates",
        type=click.IntRange(min=0),
        default=0,
        help="How many of the best decompositions to include in each answer.",
    ),
    click.option(
        "--trust",
        is_flag=True,
        help="Let an archive run the code that it names. Use it only for archives that you trust.",
    ),
    click.option(
        "--min-confidence",
        type=click.FloatRange(0, 1),
        default=0.0,
        help="Give a reason instead of a decomposition if the parser's confidence (0 to 1) is below this.",
    ),
    click.option(
        "--fallback",
        metavar="PARSER",
        help="Another parser, usually the address of a language model, which answers what this one has no plan for or "
        "is not sure of.",
    ),
    click.option(
        "--fallback-below",
        type=click.FloatRange(0, 1),
        default=0.5,
        show_default=True,
        help="The confidence below which the fallback is asked.",
    ),
    click.option(
        "--together",
        is_flag=True,
        help="Let the parser and its fallback answer every question, and take their consensus.",
    ),
    click.option("--model", metavar="NAME", help="The name of the language model at the address."),
    click.option(
        "--examples",
        metavar="FILE",
        help="A CSV with questions and decompositions; the language model's prompt has those like the question. "
        " [default: a selection that comes with qdecomp]",
    ),
    click.option("--k", type=click.IntRange(0, 50), help="How many examples the prompt has.  [default: 8]"),
    click.option(
        "--form",
        type=click.Choice(["auto", "json_schema", "grammar", "regex", "text"]),
        help="How the endpoint holds the model to the form of a plan.  [default: auto, what it supports]",
    ),
    click.option("--timeout", type=click.FloatRange(0.1, 3600), help="Seconds that an answer may take.  [default: 60]"),
    click.option("--retries", type=click.IntRange(0, 20), help="How often a failed call is repeated.  [default: 3]"),
    click.option("--concurrency", type=click.IntRange(1, 256), help="Calls at the same time.  [default: 4]"),
    click.option("--max-tokens", type=click.IntRange(min=1), help="Tokens of an answer.  [default: 600]"),
    click.option(
        "--cache/--no-cache",
        default=None,
        help="Whether the language model's answers are kept on disk.  [default: yes]",
    ),
    click.option("--max-calls", type=click.IntRange(min=1), help="Stop after this many calls of the language model."),
    click.option(
        "--key-variable",
        metavar="NAME",
        help="The environment variable that holds the endpoint's key.  [default: QDECOMP_API_KEY]",
    ),
)


def parser_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose a parser; it gets them as ``parser``, a ``ParserSource``."""

    @wraps(command)
    def with_parser(source: str, **given: Any) -> Any:
        from qdecomp.parsers.language_model import ModelSettings
        from qdecomp.parsers.source import ParserSource, parser_source

        names = given.keys() & {field.name for kind in (ParserSource, ModelSettings) for field in fields(kind)}
        options = {name: value for name in names if (value := given.pop(name)) is not None}
        if options["together"] and "fallback" not in options:
            raise click.UsageError("--together needs --fallback, the second parser")
        return command(parser=parser_source(source, **options), **given)

    for option in reversed(_PARSER_OPTIONS):
        with_parser = option(with_parser)
    return with_parser


def where_of(processes: int | None, cluster: str | None) -> Where:
    """Where the options say that the work is done; raises if they say both here and on a cluster."""
    if (processes or 1) > 1 and cluster is not None:
        raise click.UsageError("give either --processes or --cluster")
    return Where(processes if cluster is None else 1, cluster)


def require_folder(output: str | None, part_rows: int | None) -> None:
    """Raise if ``--part-rows`` is given without a folder."""
    if part_rows is not None and (output is None or not is_folder_output(output)):
        raise click.UsageError("--part-rows only works with a folder: end the name of --output with a slash")


def show_summary(summary: FileSummary, output: str) -> None:
    """Say what was written."""
    kept = f", {summary.resumed:,} of them from an earlier run" if summary.resumed else ""
    line = f"{summary.questions:,} questions{kept}; {summary.failed:,} without a decomposition; {output}"
    click.echo(printable(line), err=True)


def show_calls(summary: FileSummary) -> None:
    """Say what the answers of a language model took, if there are any."""
    if summary.calls:
        tokens = f"{summary.prompt_tokens:,} + {summary.completion_tokens:,} tokens"
        click.echo(f"{summary.asked:,} questions took {summary.calls:,} calls with {tokens}", err=True)


def end_run(internal_errors: int, has_failed: object = False) -> None:
    """Exit with code 1 if rows failed because of a bug, which is said, or in a way that ``--strict`` does not allow."""
    if internal_errors:
        rows = f"{internal_errors:,} {'row' if internal_errors == 1 else 'rows'}"
        told = f"qdecomp: {rows} failed with an internal error, please report it; all other rows are done"
        print(told, file=sys.stderr)
    if internal_errors or has_failed:
        raise SystemExit(1)
