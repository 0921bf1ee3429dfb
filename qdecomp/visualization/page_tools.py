"""What is above the records of a page: the tools of its script, and the legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, UNUSED
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.special_tokens import DUMMY, DUPLICATE_TOKEN, SEPARATOR
from qdecomp.visualization.texts import escape

__all__ = ["REMARKS", "Filter", "legend_html", "remarks_html", "tools_html"]

REMARKS: Mapping[str, str] = {
    "missing": "the prediction has no such step",
    "extra": "gold has no such step",
    "operator": "it computes something different from its counterpart",
    "references": "it refers to other steps",
    "words": "it has other words",
    "joined": "on the other side it is part of another step",
}
"""How a step may differ from its counterpart in the other decomposition."""

_EDGES = {
    SPAN: "joins the words of a step",
    DUPLICATE: f"links a {DUPLICATE_TOKEN} to the word that it repeats",
    UNUSED: "leads to a step that no other refers to",
}
_TOKENS = {
    DUPLICATE_TOKEN: "a word of the question that another step also uses",
    DUMMY: "a step without words of its own, such as a count",
    SEPARATOR: "after it come words that questions leave out, such as “size”",
}


@dataclass(frozen=True, slots=True)
class Filter:
    """A choice among values of a record's attribute ``data-{name}``."""

    name: str
    title: str
    values: Sequence[tuple[str, str]]
    """Each value, and what is shown for it."""


def tools_html(filters: Iterable[Filter], orders: Mapping[str, str], *, with_pictures: bool) -> str:
    """The form above a list of records, hidden until the script of the page runs.

    ``orders`` are what the list can be sorted by: the name of an attribute, with a minus for descending order, and what
    is shown for it.
    """
    parts = ['<label>Search<input type="search" name="search" placeholder="words, or an id"></label>']
    for each in filters:
        if len(each.values) > 1:
            parts.append(_select(each.title, f'data-filter="{each.name}"', [("", "all"), *each.values]))
    if len(orders) > 1:
        parts.append(_select("Order", 'name="sort"', list(orders.items())))
    if with_pictures:
        parts.append('<button type="button" class="qd-fold" aria-pressed="false">All pictures</button>')
    return f'<form class="qd-tools" hidden>{"".join(parts)}<output aria-live="polite"></output></form>'


def _select(title: str, attributes: str, options: Iterable[tuple[str, str]]) -> str:
    written = "".join(f'<option value="{escape(value)}">{escape(shown)}</option>' for value, shown in options)
    return f"<label>{escape(title)}<select {attributes}>{written}</select></label>"


def legend_html(*, with_remarks: bool) -> str:
    """What the colours, edges, special tokens and marks mean, folded."""
    rows = [
        (f'<dt class="qd-{operator.value}">{operator.value}</dt>', f"such as “{signature.step}”")
        for operator, signature in OPERATORS.items()
    ]
    rows += [(f'<dt class="qd-{name}">{name}</dt>', meaning) for name, meaning in _EDGES.items()]
    rows += [(f"<dt>{escape(name)}</dt>", meaning) for name, meaning in _TOKENS.items()]
    if with_remarks:
        rows += [(f"<dt>{_remark(name)}</dt>", meaning) for name, meaning in REMARKS.items()]
    written = "".join(f"{term}<dd>{escape(meaning)}</dd>" for term, meaning in rows)
    return f'<details class="qd-legend"><summary>Legend</summary><dl>{written}</dl></details>'


def remarks_html(remarks: Iterable[str]) -> str:
    """The marks after a step."""
    return "".join(f" {_remark(name)}" for name in remarks)


def _remark(name: str) -> str:
    meaning, shown = escape(REMARKS.get(name, "")), escape(name)
    return f'<span class="qd-remark qd-remark-{shown}" title="{meaning}">{shown}</span>'
