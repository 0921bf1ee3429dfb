"""A decomposition as a piece of HTML: the question, the numbered steps and both pictures, alone or next to gold.

HTML is made by f-strings here, with :func:`~qdecomp.visualization.svg.escape` around whatever comes from data:
notebooks show these pieces wherever the core is installed, and Jinja2 would be a dependency of the core for them alone.
Only the report, which has an extra of its own, is a template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Protocol

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.conversion.sdg_to_dg import placeholders_needed, to_dependency_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.qdmr import Qdmr
from qdecomp.data_structures.span_graph import SpanGraph
from qdecomp.data_structures.special_tokens import SpecialTokens, question_length
from qdecomp.visualization.assets import style
from qdecomp.visualization.graph_svg import graph_svg
from qdecomp.visualization.steps_svg import step_texts, steps_svg
from qdecomp.visualization.svg import Picture, escape

# Pictures that are not wider than this are never shrunk, not even on a phone.
_FITS_EVERYWHERE = 340

REMARKS: Mapping[str, str] = {
    "missing": "the prediction has no such step",
    "extra": "gold has no such step",
    "operator": "it computes something different from its counterpart",
    "references": "it refers to other steps",
    "words": "it has other words",
    "joined": "on the other side it is part of another step",
}
"""How a step may differ from its counterpart in the other decomposition."""


class Shown(Protocol):
    """A decomposition to draw, such as :class:`qdecomp.Decomposition`."""

    @property
    def text(self) -> str | None:
        """The steps in Break's form."""

    @property
    def logical_form(self) -> LogicalForm | None:
        """The steps as operators."""

    @property
    def graph(self) -> DependencyGraph | None:
        """The dependency graph."""

    @property
    def score(self) -> float | None:
        """The log probability."""

    @property
    def confidence(self) -> float | None:
        """The probability that it is right."""

    @property
    def error(self) -> str | None:
        """Why something is missing."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the decompositions of a question that are shown side by side, and its heading."""

    title: str
    prediction: Shown
    remarks: tuple[tuple[str, ...], ...] = ()
    """For each step, how it differs from its counterpart on the other side."""


def decomposition_html(question: str, prediction: Shown) -> str:
    """The fragment for one question, with its style, as notebooks show it."""
    side = Side("", prediction)
    return (
        f'<div class="qdecomp qd-decomposition">{style("picture", "fragment")}'
        f'<p class="qd-question" dir="auto">{escape(question)}</p>'
        f'<div class="qd-sides">{_steps(side)}{_figure_of_steps(side)}</div>{_figure_of_graph(side)}</div>'
    )


def picture_html(picture: str) -> str:
    """A picture without its own style, as notebooks show it."""
    return (
        f'<div class="qdecomp qd-decomposition">{style("picture", "fragment")}'
        f'<figure><div class="qd-scroll">{picture}</div></figure></div>'
    )


def value_html(value: Qdmr | LogicalForm | SpanGraph | DependencyGraph) -> str:
    """The picture of a value: the steps of a decomposition or logical form, the arcs of a graph over the question."""
    if isinstance(value, Qdmr):
        form = to_logical_form(value)
        return picture_html(steps_svg(form, texts=step_texts(form, str(value)), with_style=False))
    if isinstance(value, LogicalForm):
        return picture_html(steps_svg(value, with_style=False))
    if isinstance(value, SpanGraph):
        # The same graph over single tokens, with exactly the placeholders that it needs.
        resources = value.tokens[question_length(value.tokens) + 1 :]
        value = to_dependency_graph(value, SpecialTokens(tuple(resources), *placeholders_needed(value)))
    return picture_html(graph_svg(value, with_style=False))


def steps_html(sides: Sequence[Side]) -> str:
    """The numbered steps of each side; if there are none, the reason."""
    return f'<div class="qd-sides">{"".join(map(_steps, sides))}</div>'


def pictures_html(sides: Sequence[Side]) -> str:
    """The pictures of each side: the steps side by side, then the graphs, side by side if they fit."""
    parts = []
    for layout, figure in (("qd-sides", _figure_of_steps), ("qd-graphs", _figure_of_graph)):
        figures = list(map(figure, sides))
        if any(figures):
            # An empty figure keeps the place next to the other side.
            parts.append(f'<div class="{layout}">{"".join(each or "<figure></figure>" for each in figures)}</div>')
    return "".join(parts)


def _steps(side: Side) -> str:
    return f"<section>{_title(side)}{''.join(_steps_or_error(side))}</section>"


def _title(side: Side) -> str:
    return f'<h3 class="qd-side-title">{escape(side.title)}</h3>' if side.title else ""


def _steps_or_error(side: Side) -> Iterator[str]:
    prediction = side.prediction
    if prediction.logical_form is not None:
        texts = step_texts(prediction.logical_form, prediction.text)
        items = (
            f'<li><span dir="auto">{escape(text)}</span> <span class="qd-operator-name qd-{step.operator.value}">'
            f"{escape(' '.join((step.operator.value, *step.properties)))}</span>{_remarks(remarks)}</li>"
            for text, step, remarks in zip(
                texts, prediction.logical_form.steps, chain(side.remarks, repeat(())), strict=False
            )
        )
        yield f"<ol>{''.join(items)}</ol>"
    elif prediction.text:
        yield f'<p class="qd-error" dir="auto">{escape(prediction.text)}</p>'
    else:
        yield '<p class="qd-note">There is no decomposition.</p>'
    if prediction.error:
        yield f'<p class="qd-error">{escape(prediction.error)}</p>'
    if prediction.score is not None:
        yield f'<p class="qd-note">score {prediction.score:.3g}</p>'


def _remarks(names: Iterable[str]) -> str:
    return "".join(f" {remark_html(name)}" for name in names)


def _figure_of_steps(side: Side) -> str:
    form = side.prediction.logical_form
    if form is None:
        return ""
    texts = step_texts(form, side.prediction.text)
    return _figure(lambda: steps_svg(form, texts=texts, with_style=False), "Steps", side)


def _figure_of_graph(side: Side) -> str:
    graph = side.prediction.graph
    if graph is None:
        return ""
    return _figure(lambda: graph_svg(graph, with_style=False), "Dependency graph", side)


def _figure(draw: Callable[[], Picture], caption: str, side: Side) -> str:
    try:
        picture = draw()
    except GraphError as error:  # too much to draw
        picture = Picture(f'<p class="qd-error">{escape(str(error))}</p>')
    whole = f"{caption}: {side.title.lower()}" if side.title else caption
    is_wide = picture.width > _FITS_EVERYWHERE
    full = '<label><input type="checkbox" class="qd-full">full size</label>' if is_wide else ""
    return f'<figure><figcaption>{escape(whole)}{full}</figcaption><div class="qd-scroll">{picture}</div></figure>'


def remark_html(name: str) -> str:
    """The mark of a step that differs from its counterpart."""
    meaning, shown = escape(REMARKS.get(name, "")), escape(name)
    return f'<span class="qd-remark qd-remark-{shown}" title="{meaning}">{shown}</span>'


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts with its style, as notebooks show plans and their runs."""
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    lines = ("".join(f'<td dir="auto">{escape(cell)}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<div class="qdecomp qd-decomposition">{style("fragment")}<div class="qd-scroll"><table class="qd-plan">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )
