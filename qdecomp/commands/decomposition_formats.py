"""How ``qdecomp parse`` shows decompositions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.text import Text

    from qdecomp.decomposition import Decomposition

__all__ = ["FORMATS", "formatted", "show"]

FORMATS = ("text", "json", "qdmr", "lf", "dot", "svg", "html", "conllu")


def show(decompositions: Sequence[Decomposition]) -> None:
    """Print steps and graph of each question, in colours if the terminal has some."""
    from rich.console import Console
    from rich.text import Text

    from qdecomp.visualization import graph_rich

    console = Console()
    for number, decomposition in enumerate(decompositions):
        if number:
            console.print()
        console.print(Text(decomposition.question, style="bold"))
        console.print(_coloured_steps(decomposition))
        if decomposition and decomposition.graph is not None:
            console.print()
            console.print(graph_rich(decomposition.graph, width=console.width))


def _coloured_steps(decomposition: Decomposition) -> Text:
    from rich.text import Text

    from qdecomp.visualization.colours import COLOURS

    form = decomposition.logical_form
    if not decomposition or form is None:
        return Text(str(decomposition))
    lines = [
        Text.assemble(
            (f"{number}. ", "dim"), (text, COLOURS[step.operator.value].terminal), (f"  {step.operator.value}", "dim")
        )
        for number, (text, step) in enumerate(zip(decomposition.steps, form.steps, strict=True), start=1)
    ]
    return Text("\n").join(lines)


def _text(decomposition: Decomposition) -> str:
    from qdecomp.visualization import graph_text

    graph = decomposition.graph
    parts = [f"{decomposition.question}\n{decomposition}"]
    return "\n\n".join(parts + ([graph_text(graph)] if decomposition and graph is not None else []))


def _json(decomposition: Decomposition) -> str:
    return json.dumps(decomposition.to_dict(), ensure_ascii=False)


def _qdmr(decomposition: Decomposition) -> str:
    return str(decomposition.qdmr)


def _lf(decomposition: Decomposition) -> str:
    return str(decomposition.logical_form)


def _graph_format(name: str) -> Callable[[Decomposition], str]:
    def show(decomposition: Decomposition) -> str:
        from qdecomp.data_structures.errors import DataError
        from qdecomp.data_structures.graph_codecs import format_conllu, format_dot
        from qdecomp.visualization import graph_svg

        if decomposition.graph is None:
            raise DataError(f"there is no {name}, as there is no graph: {decomposition.graph_error}")
        return {"dot": format_dot, "conllu": format_conllu, "svg": graph_svg}[name](decomposition.graph)

    return show


def _html(decompositions: Sequence[Decomposition]) -> str:
    from qdecomp.visualization import PageItem, page_html

    return page_html([PageItem(each.question_id, each.question, each.drawn) for each in decompositions])


# How a decomposition is written, and what stands between two of them. Those without one are told on standard error.
_WRITERS: dict[str, tuple[Callable[[Decomposition], str], str]] = {
    "text": (_text, "\n\n"),
    "json": (_json, "\n"),
    "qdmr": (_qdmr, "\n"),
    "lf": (_lf, "\n\n"),
    "dot": (_graph_format("dot"), "\n\n"),
    "svg": (_graph_format("svg"), "\n"),
    "conllu": (_graph_format("conllu"), "\n\n"),
}
_WITH_ERRORS = frozenset({"text", "json"})


def formatted(decompositions: Sequence[Decomposition], format_name: str) -> str:
    """All decompositions in one of the :data:`FORMATS`."""
    if format_name == "html":
        return _html(decompositions)
    write, separator = _WRITERS[format_name]
    texts = []
    for decomposition in decompositions:
        if decomposition or format_name in _WITH_ERRORS:
            texts.append(write(decomposition))
        else:
            click.echo(f"{decomposition.question!r}: {decomposition}", err=True)
    return separator.join(texts)
