"""The options that choose a parser and how it answers, which ``parse`` and ``serve`` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from qdecomp.parsers.parser import Parser
    from qdecomp.parsers.source import ParserSource

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ParserOptions:
    """The values of :func:`parser_options`: which parser, and how it answers."""

    source: str
    decoder: str | None
    candidates: int
    trust: bool
    min_confidence: float
    batch_size: int

    def parser_source(self) -> ParserSource:
        """Which parser, and how it answers; if there is none, a :class:`DataError`."""
        from qdecomp.parsers.source import ParserSource, parser_path

        return ParserSource(parser_path(self.source), self.decoder, self.candidates, self.trust, self.min_confidence)

    def load(self) -> Parser:
        """The parser."""
        return self.parser_source().open()


_OPTIONS = (
    click.option(
        "--parser",
        "source",
        default="minilm_break",
        show_default=True,
        help="The bundled parser, the folder of another one, AllenNLP's model.tar.gz, or a consensus.json.",
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
        "--batch-size",
        type=click.IntRange(min=1),
        default=32,
        show_default=True,
        help="How many questions to parse at a time.",
    ),
)


def parser_options(command: _Command) -> _Command:
    """Give a command these options; together they are the fields of :class:`ParserOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
