"""Decompositions as one HTML page that needs nothing else: no network, its one script inlined, pictures as inline SVG.

Everything can be read without the script, which adds search, filters, sorting and copying.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, UNUSED
from qdecomp.data_structures.errors import DataError, ErrorText, InternalError, as_internal_errors, is_internal
from qdecomp.data_structures.lf_em import LfEmResult, lf_em
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.special_tokens import DUMMY, DUPLICATE_TOKEN, SEPARATOR
from qdecomp.version import VERSION
from qdecomp.visualization.assets import content_policy, page_script, style
from qdecomp.visualization.fragment import REMARKS, Shown, Side, pictures_html, remark_html, steps_html
from qdecomp.visualization.svg import escape

# More questions than this are shown with their pictures folded, so that the page opens quickly.
_UNFOLDED = 60
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


Remarks = tuple[tuple[str, ...], ...]
"""For each step, how it differs from its counterpart in the other decomposition."""


@dataclass(frozen=True, slots=True)
class VerdictEvidence:
    """What a metric's verdict on a record is based on, in lines to read."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
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
    evidence: tuple[VerdictEvidence, ...] = ()

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

    def kinds(self) -> tuple[str, ...]:
        """The names of the choices that show this item: ``equal`` or ``different``, and ``failed``."""
        comparison = self.comparison()
        compared = () if comparison is None else ("equal" if comparison else "different",)
        return (*compared, *(() if self.prediction.logical_form is not None else ("failed",)))


class PagePart(NamedTuple):
    """A piece of the page, and whether a bug shows in it."""

    html: str
    has_internal_error: bool = False


def page_html(items: Sequence[PageItem], *, title: str = "Decompositions") -> str:
    """The page as one text; whatever comes from data is escaped."""
    return "".join(part.html for part in page_parts(items, title=title))


def page_parts(items: Sequence[PageItem], *, title: str = "Decompositions") -> Iterator[PagePart]:
    """The page piece by piece: the top, one piece for each item, and the end."""
    counts = Counter(kind for item in items for kind in item.kinds())
    header = f"<header><h1>{escape(title)}</h1><p>{escape(_summary(items, counts))}</p></header>"
    kinds = ["all", *(kind for kind in _CHOICES if counts[kind])]
    above = f"{header}{legend_html(with_remarks=bool(counts['different']))}{_choices(kinds, len(items), counts)}"
    yield PagePart(f'{_head(title, kinds)}{above}{_tools(items, counts)}<main class="qd-records">\n')
    unfolded = len(items) <= _UNFOLDED
    for place, item in enumerate(items, start=1):
        yield _record(place, item, unfolded)
    yield PagePart(f"</main>{page_script()}</body></html>\n")


def _tools(items: Sequence[PageItem], counts: Counter[str]) -> str:
    if len(items) == 1:
        return ""
    sources = Counter(item.source for item in items if item.source)
    steps = Counter(_number_of_steps(item) for item in items)
    filters = (
        Filter("source", "Source", [(name, f"{name} ({sources[name]:,})") for name in sorted(sources)]),
        Filter("steps", "Steps", [(str(number), f"{number} ({steps[number]:,})") for number in sorted(steps)]),
    )
    orders = {"place": "as in the file"}
    if len(sources) > 1:
        orders["source"] = "source"
    if counts["different"]:
        orders |= {"verdict": "different from gold first", "-verdict": "equal to gold first"}
    orders |= {"steps": "fewest steps first", "-steps": "most steps first"}
    if any(item.prediction.confidence is not None for item in items):
        orders |= {"confidence": "least confident first", "-confidence": "most confident first"}
    for title in dict.fromkeys(title for item in items for title in item.scores):
        orders |= {_attribute(title): f"lowest {title} first", f"-{_attribute(title)}": f"highest {title} first"}
    return tools_html(filters, orders, with_pictures=any(item.prediction.logical_form is not None for item in items))


def _attribute(title: str) -> str:
    """A score's name as an attribute of records."""
    return "score" + "".join(character for character in title.lower() if character.isascii() and character.isalnum())


def _number_of_steps(item: PageItem) -> int:
    """How many steps gold has, or else the prediction."""
    shown = item.gold if item.gold is not None and item.gold.logical_form is not None else item.prediction
    return len(shown.logical_form) if shown.logical_form is not None else 0


def _choices(kinds: Sequence[str], total: int, counts: Counter[str]) -> str:
    """Radio buttons with only their labels visible; the style of the page shows the records of the chosen kind."""
    if len(kinds) == 1:
        return ""
    buttons = "".join(
        f'<input class="qd-choice" type="radio" name="qd-show" value="{kind}" id="qd-show-{kind}"'
        f"{' checked' * (kind == 'all')}>"
        for kind in kinds
    )
    names = {"all": f"all {total:,}", **{kind: f"{counts[kind]:,} {name}" for kind, name in _CHOICES.items()}}
    labels = "".join(f'<label for="qd-show-{kind}">{names[kind]}</label>' for kind in kinds)
    return f'{buttons}<nav class="qd-choices" aria-label="Which questions to show">{labels}</nav>'


def _head(title: str, kinds: Sequence[str]) -> str:
    hidden = "".join(
        f"#qd-show-{kind}:checked~main .qd-record:not(.qd-{kind}){{display:none}}" for kind in kinds if kind != "all"
    )
    marked = ",".join(f'#qd-show-{kind}:checked~nav label[for="qd-show-{kind}"]' for kind in kinds)
    focused = ",".join(f'#qd-show-{kind}:focus-visible~nav label[for="qd-show-{kind}"]' for kind in kinds)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{content_policy()}<title>{escape(title)}</title>{style('picture', 'fragment', 'tools', 'page')}"
        f"<style>{hidden}{marked}{{border-color:var(--qd-ink);font-weight:600}}{focused}{{outline:2px solid}}</style>"
        '</head><body class="qdecomp">'
    )


def _summary(items: Sequence[PageItem], counts: Counter[str]) -> str:
    compared = counts["equal"] + counts["different"]
    parts = [f"{len(items):,} {'question' if len(items) == 1 else 'questions'}"]
    if compared:
        parts.append(f"{counts['equal']:,} of {compared:,} equal to gold by LF-EM ({counts['equal'] / compared:.1%})")
    return " · ".join([*parts, f"qdecomp {VERSION}"])


def _record(place: int, item: PageItem, unfolded: bool) -> PagePart:
    sides = [Side("Prediction" if item.gold is not None else "", item.prediction, item.prediction_remarks)]
    if item.gold is not None:
        sides.append(Side("Gold", item.gold, item.gold_remarks))
    comparison = item.comparison()
    errors = [shown.error for shown in (item.prediction, item.gold, comparison) if shown is not None]
    try:
        with as_internal_errors():
            steps, pictures = steps_html(sides), pictures_html(sides)
    except InternalError as error:
        errors.append(ErrorText.of(error))
        steps, pictures = f'<p class="qd-error">{escape(str(error))}</p>', ""
    classes = " ".join(["qd-record", "qd-decomposition", *(f"qd-{kind}" for kind in item.kinds())])
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in _attributes(place, item).items())
    decomposition = item.prediction.text
    copied = "" if decomposition is None else _copy_button("copy decomposition", decomposition)
    html = (
        f'<article class="{classes}" id="q{place}"{attributes}><div class="qd-words">'
        f'<h2 class="qd-question" dir="auto">'
        f'<a class="qd-link" href="#q{place}" aria-label="Link to this question">{place}</a>'
        f"<span>{escape(item.question)}</span>{_copy_button('copy', '')}</h2>"
        f'<p class="qd-note">{_verdict(item)}{escape(item.question_id)}{_scores(item)}{copied}</p>{steps}'
        f"{''.join(map(_evidence, item.evidence))}</div>{_folded(pictures, unfolded)}</article>\n"
    )
    return PagePart(html, any(map(is_internal, errors)))


def _copy_button(label: str, text: str) -> str:
    """A button that copies a text; an empty text stands for the question."""
    return f'<button type="button" class="qd-copy" data-copies="{escape(text)}">{label}</button>'


def _attributes(place: int, item: PageItem) -> dict[str, str]:
    """What the script filters and sorts by."""
    found = {"place": str(place), "source": item.source, "steps": str(_number_of_steps(item))}
    comparison = item.comparison()
    if comparison is not None:
        found["verdict"] = str(int(bool(comparison)))
    if item.prediction.confidence is not None:
        found["confidence"] = f"{item.prediction.confidence:.6g}"
    return found | {_attribute(title): f"{value:.6g}" for title, value in item.scores.items()}


def _scores(item: PageItem) -> str:
    scores = [f"{title} {value:.2f}" for title, value in item.scores.items()]
    if item.prediction.confidence is not None:
        confidence = item.prediction.confidence
        scores.insert(0, "confidence < 0.01" if confidence < 0.005 else f"confidence {confidence:.2f}")
    return "".join(f" · {escape(score)}" for score in scores)


def _evidence(evidence: VerdictEvidence) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in evidence.lines)
    return f'<details class="qd-evidence"><summary>{escape(evidence.title)}</summary><ul>{lines}</ul></details>'


def _folded(pictures: str, unfolded: bool) -> str:
    """The pictures in a fold; a closed one keeps them as text until the script opens it, unless there is no script."""
    if not pictures:
        return ""
    content = pictures if unfolded else f"<noscript>{pictures}</noscript>"
    opened = " open" if unfolded else ""
    return f'<details class="qd-pictures"{opened}><summary>Pictures</summary>{content}</details>'


def _verdict(item: PageItem) -> str:
    comparison = item.comparison()
    if comparison is None:
        return ""
    mark = "✓ equal to gold" if comparison else "✗ different from gold"
    reason = f" ({escape(comparison.error)})" if comparison.error else ""
    return f'<span class="qd-verdict">{mark}</span>{reason} · '


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
        rows += [(f"<dt>{remark_html(name)}</dt>", meaning) for name, meaning in REMARKS.items()]
    written = "".join(f"{term}<dd>{escape(meaning)}</dd>" for term, meaning in rows)
    return f'<details class="qd-legend"><summary>Legend</summary><dl>{written}</dl></details>'
