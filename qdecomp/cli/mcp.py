"""``qdecomp mcp``: the parser as tools for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from qdecomp.cli.options import parser_options
from qdecomp.data_structures.errors import missing_extra

if TYPE_CHECKING:
    from qdecomp.parsers.source import ParserSource


@click.command("mcp")
@parser_options
def command(parser: ParserSource) -> None:
    """Offer the parser to agents as tools, by the Model Context Protocol over standard input and output.

    The tools are parse, plan, next_steps, convert and score.
    """
    try:
        from qdecomp.service.mcp import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "qdecomp":
            raise
        raise missing_extra("qdecomp mcp", "mcp") from None
    from qdecomp.service.settings import ServiceSettings

    mcp_server(parser.open(), ServiceSettings()).run()
