"""``qdecomp serve``: a page to try the parser, and an API for other programs."""

from __future__ import annotations

import os

import click

from qdecomp.terminal.escapes import printable

from .parser_options import (
    BATCH_SIZE_OPTION,
    CANDIDATES_OPTION,
    DECODER_OPTION,
    MIN_CONFIDENCE_OPTION,
    PARSER_OPTION,
    TRUST_OPTION,
)

__all__ = ["command"]

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@click.command("serve")
@PARSER_OPTION
@DECODER_OPTION
@CANDIDATES_OPTION
@MIN_CONFIDENCE_OPTION
@TRUST_OPTION
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
@BATCH_SIZE_OPTION
@click.option(
    "--max-questions",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="How many questions a request may have.",
)
@click.option(
    "--max-question-length",
    type=click.IntRange(1, 2000),
    default=2000,
    show_default=True,
    help="How many characters a question may have.",
)
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="How many bytes a request may have.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="How many seconds an answer may take.",
)
@click.option(
    "--max-waiting",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="How many questions may wait; beyond that, requests are refused.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(min=1),
    default=512,
    show_default=True,
    help="How many connections a worker accepts.",
)
@click.option(
    "--log-requests", is_flag=True, help="Log the method, path, status and time of each request, but not its content."
)
def command(source: str, host: str, port: int, workers: int, **limits: object) -> None:
    """Serve a page to try the parser at / and an API for programs (/docs).

    It stores nothing and logs no questions. It has no passwords and no encryption: put a reverse proxy in front of it
    before you open it to a network. On SIGTERM it answers the requests that it has accepted, then stops.
    """
    from qdecomp.files.extras import missing_extra

    # The matrix products for a question are too small for several threads, which would only wait for each other. The
    # libraries read this when they are loaded.
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    try:
        from qdecomp.service.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "qdecomp":
            raise
        raise missing_extra("qdecomp serve", "serve") from None
    from qdecomp.service.settings import ServiceSettings

    settings = ServiceSettings(parser=source, **limits)  # type: ignore[arg-type]
    serve(settings, host, port, workers, lambda line: click.echo(printable(line), err=True))
