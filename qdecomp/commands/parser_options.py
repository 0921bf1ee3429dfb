"""The options that choose a parser and how it answers, which ``parse`` and ``serve`` share."""

from __future__ import annotations

import click

__all__ = [
    "BATCH_SIZE_OPTION",
    "CANDIDATES_OPTION",
    "DECODER_OPTION",
    "MIN_CONFIDENCE_OPTION",
    "PARSER_OPTION",
    "TRUST_OPTION",
]

PARSER_OPTION = click.option(
    "--parser",
    "source",
    default="minilm_break",
    show_default=True,
    help="The bundled parser, the folder of another one, AllenNLP's model.tar.gz, or a consensus.json.",
)
DECODER_OPTION = click.option(
    "--decoder",
    type=click.Choice(["greedy", "ilp"]),
    help="How a graph parser finds its graph: edge by edge, or the best valid one (ilp).  [default: the parser's]",
)
CANDIDATES_OPTION = click.option(
    "--candidates",
    type=click.IntRange(min=0),
    default=0,
    help="How many of the best decompositions to include in each answer.",
)
TRUST_OPTION = click.option(
    "--trust", is_flag=True, help="Let an archive run the code that it names. Use it only for archives that you trust."
)
MIN_CONFIDENCE_OPTION = click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Give a reason instead of a decomposition if the parser's confidence (0 to 1) is below this.",
)
BATCH_SIZE_OPTION = click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="How many questions to parse at a time.",
)
