"""Decompositions as HTML: pieces for notebooks, and a page that needs nothing else.

The page loads nothing from the network; its one script is inlined, its pictures are inline SVG. Everything can be read
without the script, which adds search, filters, sorting and copying.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from typing import Any, NamedTuple

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.conversion.sdg_to_dg import placeholders_needed, to_dependency_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, UNUSED
from qdecomp.data_structures.errors import (
    DataError,
    ErrorText,
    GraphError,
    InternalError,
    as_internal_errors,
    is_internal,
)
from qdecomp.data_structures.lf_em import LfEmResult, lf_em
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.qdmr import Qdmr
from qdecomp.data_structures.span_graph import SpanGraph
from qdecomp.data_structures.special_tokens import DUMMY, DUPLICATE_TOKEN, SEPARATOR, SpecialTokens, question_length
from qdecomp.version import VERSION
from qdecomp.visualization.assets import Html, page_script, render
from qdecomp.visualization.graph_svg import graph_svg
from qdecomp.visualization.steps_svg import step_texts, steps_svg
from qdecomp.visualization.svg import Picture, escape

# Wider graphs are wrapped: two of these fit side by side on a screen, and one on a phone if it is shrunk a little.
_GRAPH_WIDTH = 560
# More questions than this are shown with their pictures folded, so that the page opens quickly.
_UNFOLDED = 60
_REMARKS = {
    "missing": "the prediction has no such step",
    "extra": "gold has no such step",
    "operator": "it computes something different from its counterpart",
    "references": "it refers to other steps",
    "words": "it has other words",
    "joined": "on the other side it is part of another step",
}
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
_CHOICES = {"equal": "equal to gold", "different": "different from gold", "failed": "without a logical form"}

Shown = Any
"""A :class:`qdecomp.Decomposition`, which belongs to a layer above this one."""

Remarks = tuple[tuple[str, ...], ...]
"""For each step, how it differs from its counterpart in the other decomposition."""


def decomposition_html(question: str, shown: Shown) -> str:
    """The question, the numbered steps and both pictures, as notebooks show them."""
    return render("decomposition.html", question=question, side=_side("", shown), remarks=_REMARKS)


def value_html(value: Qdmr | LogicalForm | SpanGraph | DependencyGraph) -> str:
    """The picture of a value: the steps of a decomposition or logical form, the arcs of a graph over the question."""
    if isinstance(value, SpanGraph):
        # The same graph over single tokens, with exactly the placeholders that it needs.
        resources = value.tokens[question_length(value.tokens) + 1 :]
        value = to_dependency_graph(value, SpecialTokens(tuple(resources), *placeholders_needed(value)))
    if isinstance(value, DependencyGraph):
        return render("value.html", picture=_graph(value))
    form, text = (to_logical_form(value), str(value)) if isinstance(value, Qdmr) else (value, None)
    return render("value.html", picture=steps_svg(form, text, with_style=False))


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts with its style, as notebooks show plans and their runs."""
    return render("value.html", picture=None, heads=heads, rows=rows)


def _graph(graph: DependencyGraph) -> Picture:
    return graph_svg(graph, width=_GRAPH_WIDTH, with_style=False)


def _side(title: str, shown: Shown, remarks: Remarks = ()) -> dict[str, Any]:
    """What a template shows of one of the decompositions that stand side by side."""
    form, graph = shown.logical_form, shown.graph
    side = {"title": title, "shown": shown, "steps": None, "diagram": None, "graph": None}
    if form is not None:
        texts = step_texts(form, shown.text)
        side["steps"] = list(zip(texts, form.steps, chain(remarks, repeat(())), strict=False))
        side["diagram"] = _drawn(lambda: steps_svg(form, shown.text, with_style=False))
    if graph is not None:
        side["graph"] = _drawn(lambda: _graph(graph))
    return side


def _drawn(draw: Callable[[], Picture]) -> Html:
    try:
        return draw()
    except GraphError as error:  # too much to draw
        return Html(f'<p class="qd-error">{escape(str(error))}</p>')


@dataclass(frozen=True)
class PageItem:
    """A question with what was predicted and, if there is gold, what it is compared with."""

    question_id: str
    question: str
    prediction: Shown
    gold: Shown | None = None
    source: str = ""
    """The part of the data that the question comes from."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Other scores to show and to sort by: their titles and values."""
    prediction_remarks: Remarks = ()
    gold_remarks: Remarks = ()

    @cached_property
    def comparison(self) -> LfEmResult | None:
        """What LF-EM says; None without gold. What has no decomposition is wrong."""
        if self.gold is None or self.gold.text is None:
            return None
        if self.prediction.text is None:
            return LfEmResult(False, ErrorText.of(DataError("no decomposition").of("prediction")), None, None)
        try:
            with as_internal_errors():
                return lf_em(self.question, self.prediction.text, self.gold.text)
        except InternalError as error:
            return LfEmResult(False, ErrorText.of(error), None, None)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The names of the choices that show this item: ``equal`` or ``different``, and ``failed``."""
        compared = () if self.comparison is None else ("equal" if self.comparison else "different",)
        return compared if self.prediction.logical_form is not None else (*compared, "failed")

    @cached_property
    def steps(self) -> int:
        """How many steps gold has, or else the prediction."""
        sides = (side.logical_form for side in (self.gold, self.prediction) if side is not None)
        return next((len(form) for form in sides if form is not None), 0)


class PagePart(NamedTuple):
    """A piece of the page, and whether a bug shows in it."""

    html: str
    has_internal_error: bool = False


def page_html(items: Sequence[PageItem], *, title: str = "Decompositions") -> str:
    """The page as one text; whatever comes from data is escaped."""
    return "".join(part.html for part in page_parts(items, title=title))


def page_parts(items: Sequence[PageItem], *, title: str = "Decompositions") -> Iterator[PagePart]:
    """The page piece by piece: the top, one piece for each item, and the end."""
    counts = Counter(kind for item in items for kind in item.kinds)
    top = render(
        "page_top.html",
        title=title,
        summary=_summary(len(items), counts),
        kinds={
            "all": f"all {len(items):,}",
            **{kind: f"{counts[kind]:,} {name}" for kind, name in _CHOICES.items() if counts[kind]},
        },
        operators=OPERATORS,
        edges=_EDGES,
        tokens=_TOKENS,
        remarks=_REMARKS,
        tools=_tools(items, counts) if len(items) > 1 else "",
    )
    yield PagePart(top)
    unfolded = len(items) <= _UNFOLDED
    for place, item in enumerate(items, start=1):
        yield _record(place, item, unfolded)
    yield PagePart(f"</main>{page_script()}</body></html>\n")


def _summary(total: int, counts: Counter[str]) -> str:
    compared = counts["equal"] + counts["different"]
    parts = [f"{total:,} {'question' if total == 1 else 'questions'}"]
    if compared:
        parts.append(f"{counts['equal']:,} of {compared:,} equal to gold by LF-EM ({counts['equal'] / compared:.1%})")
    return " · ".join([*parts, f"qdecomp {VERSION}"])


def _tools(items: Sequence[PageItem], counts: Counter[str]) -> str:
    filters = (
        counted("source", "Source", (item.source for item in items if item.source)),
        counted("steps", "Steps", (item.steps for item in items)),
    )
    orders = {"place": "as in the file"}
    if len(filters[0].values) > 1:
        orders["source"] = "source"
    if counts["different"]:
        orders |= {"verdict": "different from gold first", "-verdict": "equal to gold first"}
    orders |= {"steps": "fewest steps first", "-steps": "most steps first"}
    if any(item.prediction.confidence is not None for item in items):
        orders |= {"confidence": "least confident first", "-confidence": "most confident first"}
    for title in dict.fromkeys(title for item in items for title in item.scores):
        orders |= {_attribute(title): f"lowest {title} first", f"-{_attribute(title)}": f"highest {title} first"}
    with_pictures = any(item.prediction.logical_form is not None for item in items)
    return render("tools.html", filters=filters, orders=orders, with_pictures=with_pictures)


def _attribute(title: str) -> str:
    """A score's name as an attribute of records."""
    return "score" + "".join(character for character in title.lower() if character.isascii() and character.isalnum())


def _record(place: int, item: PageItem, unfolded: bool) -> PagePart:
    title, failure = "Prediction" if item.gold is not None else "", None
    both = ((title, item.prediction, item.prediction_remarks), ("Gold", item.gold, item.gold_remarks))
    try:
        with as_internal_errors():
            sides = [_side(*side) for side in both if side[1] is not None]
    except InternalError as error:
        sides, failure = [], ErrorText.of(error)
    comparison, confidence = item.comparison, item.prediction.confidence
    notes = [item.question_id, *(f"{title} {value:.2f}" for title, value in item.scores.items())]
    # What the script filters and sorts by.
    attributes = {"place": place, "source": item.source, "steps": item.steps}
    if comparison is not None:
        attributes["verdict"] = int(bool(comparison))
    if confidence is not None:
        notes.insert(1, "confidence < 0.01" if confidence < 0.005 else f"confidence {confidence:.2f}")
        attributes["confidence"] = f"{confidence:.6g}"
    attributes |= {_attribute(title): f"{value:.6g}" for title, value in item.scores.items()}
    html = render(
        "record.html",
        place=place,
        item=item,
        attributes={f"data-{name}": value for name, value in attributes.items()},
        comparison=comparison,
        notes=notes,
        sides=sides,
        failure=failure,
        unfolded=unfolded,
        remarks=_REMARKS,
    )
    errors = [failure, *(each.error for each in (item.prediction, item.gold, comparison) if each is not None)]
    return PagePart(html, any(map(is_internal, errors)))


class Filter(NamedTuple):
    """A choice among values of a record's attribute ``data-{name}``."""

    name: str
    title: str
    values: list[tuple[str, str]]
    """Each value, and what is shown for it."""


def counted(name: str, title: str, values: Iterable[Any], shown: Callable[[Any], str] = str) -> Filter:
    """A filter among the values that occur, each shown with how often it does."""
    counts = sorted(Counter(values).items())
    return Filter(name, title, [(str(value), f"{shown(value)} ({count:,})") for value, count in counts])
