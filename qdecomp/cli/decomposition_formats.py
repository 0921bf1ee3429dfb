"""How ``qdecomp parse`` shows decompositions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from qdecomp.parsers.calibration import is_probably_wrong
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.terminal import STYLES, printable

if TYPE_CHECKING:
    from rich.text import Text

    from qdecomp.data_structures.dependency_graph import DependencyGraph

FORMATS = ("text", "json", "qdmr", "lf", "dot", "svg", "html", "conllu")


def show(decompositions: Sequence[Decomposition], *, with_graph: bool = False) -> None:
    """Print the steps of each question, and its graph if asked for, in colour if the terminal supports it."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for number, decomposition in enumerate(decompositions):
        if number:
            console.print()
        console.print(Text(printable(decomposition.question), style="bold"))
        console.print(_coloured_steps(decomposition))
        if (confidence := _confidence(decomposition)) is not None:
            console.print(Text(printable(confidence), style="dim"))
        for candidate in _other_candidates(decomposition):
            console.print(Text(printable(candidate), style="dim"))
        for warning in decomposition.warnings:
            console.print(Text(f"warning: {printable(warning)}", style="yellow"))
        if with_graph and decomposition and decomposition.graph is not None:
            from qdecomp.visualization import graph_rich

            console.print()
            console.print(graph_rich(_printable_graph(decomposition.graph), width=console.width))


def _printable_graph(graph: DependencyGraph) -> DependencyGraph:
    """The graph with words that are safe to print, which keep their printed width."""
    return replace(graph, tokens=tuple(map(printable, graph.tokens)))


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


def _confidence(decomposition: Decomposition) -> str | None:
    confidence, answered = decomposition.confidence if decomposition else None, decomposition.answered
    by = [] if answered is None else [f"answered by {answered.by}"]
    known = [] if confidence is None else [f"confidence {confidence:.2f}"]
    return ", ".join([*by, *known, *(["probably wrong"] if is_probably_wrong(decomposition) else [])]) or None


def _other_candidates(decomposition: Decomposition) -> list[str]:
    """A line for each further candidate."""
    texts = (candidate.text for candidate in decomposition.candidates[1:])
    return [f"or: {'; '.join(Decomposition(decomposition.question, text).steps)}" for text in texts]


def _text(decomposition: Decomposition) -> str:
    warnings = (f"warning: {warning}" for warning in decomposition.warnings)
    others = _other_candidates(decomposition)
    lines = (decomposition.question, str(decomposition), _confidence(decomposition), *others, *warnings)
    return "\n".join(line for line in lines if line is not None)


def _text_with_graph(decomposition: Decomposition) -> str:
    from qdecomp.visualization import graph_text

    graph = decomposition.graph
    text = _text(decomposition)
    return f"{text}\n\n{graph_text(graph)}" if decomposition and graph is not None else text


def _json(decomposition: Decomposition) -> str:
    return json.dumps(decomposition.to_dict(), ensure_ascii=False)


def _qdmr(decomposition: Decomposition) -> str:
    return str(decomposition.qdmr)


def _lf(decomposition: Decomposition) -> str:
    return str(decomposition.logical_form)


def _graph_format(name: str) -> Callable[[Decomposition], str]:
    def show(decomposition: Decomposition) -> str:
        from qdecomp.data_structures.graph_codecs import format_conllu, format_dot

        return {"dot": format_dot, "conllu": format_conllu}[name](_graph(decomposition, name))

    return show


def _graph(decomposition: Decomposition, name: str) -> DependencyGraph:
    from qdecomp.data_structures.errors import DataError

    if decomposition.graph is None:
        raise DataError(f"there is no {name}, because there is no graph: {decomposition.graph_error}")
    return decomposition.graph


def _svg(decompositions: Sequence[Decomposition]) -> str:
    """One picture: the graphs of all questions, one below another."""
    from qdecomp.visualization import graph_svg, stacked_svg

    return stacked_svg([graph_svg(_graph(decomposition, "svg")) for decomposition in decompositions])


def _html(decompositions: Sequence[Decomposition]) -> str:
    from qdecomp.visualization import PageItem, page_html

    return page_html([PageItem(each.question_id, each.question, each) for each in decompositions])


# How a decomposition is written, and what separates two of them. Questions without one are reported on standard error.
_WRITERS: dict[str, tuple[Callable[[Decomposition], str], str]] = {
    "text": (_text, "\n\n"),
    "json": (_json, "\n"),
    "qdmr": (_qdmr, "\n"),
    "lf": (_lf, "\n\n"),
    "dot": (_graph_format("dot"), "\n\n"),
    "conllu": (_graph_format("conllu"), "\n\n"),
}
_WITH_ERRORS = frozenset({"text", "json"})


def formatted(decompositions: Sequence[Decomposition], format_name: str, *, with_graph: bool = False) -> str:
    """All decompositions in one of the :data:`FORMATS`; ``with_graph`` adds the graphs to the text."""
    if format_name == "html":
        return _html(decompositions)
    if format_name == "svg":
        return _svg(_with_steps(decompositions))
    write, separator = _WRITERS[format_name]
    if with_graph:
        write = _text_with_graph
    shown = decompositions if format_name in _WITH_ERRORS else _with_steps(decompositions)
    return separator.join(map(write, shown))


def _with_steps(decompositions: Sequence[Decomposition]) -> list[Decomposition]:
    """Those that have steps; the others are reported on standard error."""
    for decomposition in decompositions:
        if not decomposition:
            click.echo(printable(f"{decomposition.question!r}: {decomposition}"), err=True)
    return [decomposition for decomposition in decompositions if decomposition]
