"""``qdecomp serve`` and ``qdecomp mcp``: the parser as a page and an API for programs, or as tools for agents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from qdecomp.cli.options import BATCH_SIZE_OPTION, parser_options
from qdecomp.data_structures.errors import missing_extra
from qdecomp.data_structures.limits import LONGEST_QUESTION
from qdecomp.service.settings import ServiceSettings
from qdecomp.terminal import printable

if TYPE_CHECKING:
    from qdecomp.parsers.source import ParserSource

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_LIMITS: dict[str, tuple[click.IntRange | click.FloatRange, str]] = {
    "max_questions": (click.IntRange(min=1), "How many questions a request may have."),
    "max_question_length": (click.IntRange(1, LONGEST_QUESTION), "How many characters a question may have."),
    "max_body": (click.IntRange(min=1), "How many bytes a request may have."),
    "max_seconds": (click.FloatRange(min=0.1), "How many seconds an answer may take."),
    "max_waiting": (click.IntRange(min=1), "How many questions may wait; beyond that, requests are refused."),
    "max_connections": (click.IntRange(min=1), "How many connections a worker accepts."),
}
"""Those settings of the service that are limits: what number each takes, and what it means."""


def _limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    defaults = {field.name: field.default for field in fields(ServiceSettings)}
    for name, (number, meaning) in reversed(_LIMITS.items()):
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, type=number, default=defaults[name], show_default=True, help=meaning)(command)
    return command


@click.command("serve")
@parser_options
@BATCH_SIZE_OPTION
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 listens on all networks."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port; 0 picks a free one."
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="How many processes to run, each with a parser.",
)
@_limit_options
@click.option(
    "--log-requests", is_flag=True, help="Log the method, path, status and time of each request, but not its content."
)
def command(parser: ParserSource, host: str, port: int, workers: int, **limits: Any) -> None:
    """Serve a page to try the parser at / and an API for programs (/docs).

    It stores nothing and logs no questions. It has no passwords and no encryption: put a reverse proxy in front of it
    before you open it to a network. On SIGTERM it answers the requests that it has accepted, then stops.
    """
    # The matrix products for a question are too small for several threads, which would only wait for each other. The
    # libraries read this when they are loaded.
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    with _needs_extra("serve"):
        from qdecomp.service.server import serve
    serve(ServiceSettings(parser, **limits), host, port, workers, lambda line: click.echo(printable(line), err=True))


@click.command("mcp")
@parser_options
def mcp(parser: ParserSource) -> None:
    """Offer the parser to agents as tools, by the Model Context Protocol over standard input and output.

    The tools are parse, plan, next_steps, convert and score.
    """
    with _needs_extra("mcp"):
        from qdecomp.service.mcp import mcp_server
    mcp_server(parser.open(), ServiceSettings()).run()


@contextmanager
def _needs_extra(name: str) -> Iterator[None]:
    """Say what to install, if an import in the block fails for want of it; the command has the name of the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "qdecomp":
            raise
        raise missing_extra(f"qdecomp {name}", name) from None
