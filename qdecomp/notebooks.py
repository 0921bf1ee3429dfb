"""Shows decompositions, logical forms and graphs in notebooks.

The values know nothing about pictures, and drawing is imported only when something is shown. So the classes get the
methods that notebooks call here, when the package is imported.
"""

from __future__ import annotations

from typing import Any

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.conversion.sdg_to_dg import placeholders_needed, to_dependency_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.qdmr import Qdmr
from qdecomp.data_structures.span_graph import SpanGraph
from qdecomp.data_structures.special_tokens import SpecialTokens, question_length

__all__ = ["SHOWN", "html_of", "show_in_notebooks"]

SHOWN = (Qdmr, LogicalForm, SpanGraph, DependencyGraph)
"""What a notebook shows as a picture."""


def html_of(value: Any) -> str:
    """The picture of a value: the steps of a decomposition or logical form, the arcs of a graph over the question."""
    from qdecomp.visualization import graph_svg, picture_html, steps_svg
    from qdecomp.visualization.steps_svg import step_texts

    if isinstance(value, Qdmr):
        form = to_logical_form(value)
        return picture_html(steps_svg(form, texts=step_texts(form, str(value)), with_style=False))
    if isinstance(value, LogicalForm):
        return picture_html(steps_svg(value, with_style=False))
    graph = _drawable(value) if isinstance(value, SpanGraph) else value
    return picture_html(graph_svg(graph, with_style=False))


def _drawable(graph: SpanGraph) -> DependencyGraph:
    """The same graph over single tokens, with exactly the placeholders that it needs."""
    resources = graph.tokens[question_length(graph.tokens) + 1 :]
    return to_dependency_graph(graph, SpecialTokens(tuple(resources), *placeholders_needed(graph)))


def show_in_notebooks() -> None:
    """Add the method that notebooks call to the classes."""
    for shown in SHOWN:
        setattr(shown, "_repr_html_", html_of)  # noqa: B010
