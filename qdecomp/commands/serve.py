"""``qdecomp serve``: a page to try the parser, and an API for other programs."""

from __future__ import annotations

import click

from qdecomp.terminal.escapes import printable

__all__ = ["command"]


@click.command("serve")
@click.option(
    "--parser",
    "source",
    default="minilm_break",
    show_default=True,
    help="The bundled parser, the folder of another one, AllenNLP's model.tar.gz, or a consensus.json.",
)
@click.option("--decoder", type=click.Choice(["greedy", "ilp"]), help="How graphs are found.  [default: the parser's]")
@click.option("--candidates", type=click.IntRange(min=0), default=0, help="Best decompositions to put into answers.")
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.0, help="Give no decomposition below this.")
@click.option("--trust", is_flag=True, help="Let an archive from elsewhere run code that it names.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0 is every network.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes, each with a parser."
)
@click.option("--batch-size", type=click.IntRange(min=1), default=32, show_default=True, help="Questions at a time.")
@click.option("--max-questions", type=click.IntRange(min=1), default=64, show_default=True, help="In one request.")
@click.option(
    "--max-question-length", type=click.IntRange(1, 2000), default=2000, show_default=True, help="In characters."
)
@click.option("--max-body", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="In bytes.")
@click.option("--max-seconds", type=click.FloatRange(min=0.1), default=30.0, show_default=True, help="For an answer.")
@click.option("--max-waiting", type=click.IntRange(min=1), default=256, show_default=True, help="Questions that wait.")
@click.option("--max-connections", type=click.IntRange(min=1), default=512, show_default=True, help="For each worker.")
@click.option("--log-requests", is_flag=True, help="Write method, path, status and time of each request, no content.")
def command(source: str, host: str, port: int, workers: int, **limits: object) -> None:
    """Serve a page to try the parser at / and an API for programs (/docs).

    It keeps nothing and logs no question. It has no passwords and no encryption: put a reverse proxy in front of it
    before you open it to a network. SIGTERM stops it after the requests that it has accepted.
    """
    from qdecomp.files.extras import missing_extra

    try:
        from qdecomp.service.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "qdecomp":
            raise
        raise missing_extra("qdecomp serve", "serve") from None
    from qdecomp.service.settings import ServiceSettings

    settings = ServiceSettings(parser=source, **limits)  # type: ignore[arg-type]
    serve(settings, host, port, workers, lambda line: click.echo(printable(line), err=True))
