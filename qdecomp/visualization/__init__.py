"""Decompositions and their graphs as pictures (SVG), HTML and terminal text."""

from qdecomp.visualization.graph_svg import graph_svg
from qdecomp.visualization.graph_text import graph_rich, graph_text
from qdecomp.visualization.page import PageItem, decomposition_html, page_html, page_parts, table_html, value_html
from qdecomp.visualization.steps_svg import steps_svg
from qdecomp.visualization.svg import stacked_svg

__all__ = [
    "PageItem",
    "decomposition_html",
    "graph_rich",
    "graph_svg",
    "graph_text",
    "page_html",
    "page_parts",
    "stacked_svg",
    "steps_svg",
    "table_html",
    "value_html",
]
