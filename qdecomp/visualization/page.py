"""Decompositions as one HTML page that needs nothing else: no network, no scripts, pictures as inline SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.lf_em import LfEmResult, lf_em
from qdecomp.data_structures.mistakes import OurMistakeError, as_row_errors
from qdecomp.data_structures.prediction import Prediction
from qdecomp.version import VERSION

from .fragment import Side, pictures_html, steps_html
from .style_sheets import style
from .texts import escape

__all__ = ["PageItem", "page_html", "page_parts"]

# More questions than this are shown with their pictures folded, so that the page opens quickly.
_UNFOLDED = 60
_CHOICES = {"equal": "equal to gold", "different": "different from gold", "failed": "without a logical form"}


@dataclass(frozen=True, slots=True)
class PageItem:
    """A question with what was predicted and, where there is gold, what it is compared with."""

    question_id: str
    question: str
    prediction: Prediction
    gold: Prediction | None = None

    def comparison(self) -> LfEmResult | None:
        """What LF-EM says; None without gold. What has no decomposition is wrong."""
        if self.gold is None or self.gold.decomposition is None:
            return None
        if self.prediction.decomposition is None:
            return LfEmResult(False, "prediction: no decomposition", None, None)
        try:
            with as_row_errors():
                return lf_em(self.question, self.prediction.decomposition, self.gold.decomposition)
        except OurMistakeError as error:
            return LfEmResult(False, str(error), None, None)

    def kinds(self) -> tuple[str, ...]:
        """The names of the choices that show this item: ``equal`` or ``different``, and ``failed``."""
        comparison = self.comparison()
        compared = () if comparison is None else ("equal" if comparison else "different",)
        return (*compared, *(() if self.prediction.is_valid else ("failed",)))


def page_html(items: Sequence[PageItem], *, title: str = "Decompositions") -> str:
    """The page as one text; whatever comes from data is escaped."""
    return "".join(page_parts(items, title=title))


def page_parts(items: Sequence[PageItem], *, title: str = "Decompositions") -> Iterator[str]:
    """The page piece by piece: what stands above, one piece for each item, and the end."""
    counts = Counter(kind for item in items for kind in item.kinds())
    header = f"<header><h1>{escape(title)}</h1><p>{escape(_summary(items, counts))}</p></header>"
    kinds = ["all", *(kind for kind in _CHOICES if counts[kind])]
    yield f"{_head(title, kinds)}{header}{_choices(kinds, len(items), counts)}<main>\n"
    unfolded = len(items) <= _UNFOLDED
    for place, item in enumerate(items, start=1):
        yield _record(place, item, unfolded)
    yield "</main></body></html>\n"


def _choices(kinds: Sequence[str], total: int, counts: Counter[str]) -> str:
    """Radio buttons, of which only the labels are seen; the style of the page shows the records of the chosen kind."""
    if len(kinds) == 1:
        return ""
    buttons = "".join(
        f'<input class="qd-choice" type="radio" name="qd-show" id="qd-show-{kind}"{" checked" * (kind == "all")}>'
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
        f"<title>{escape(title)}</title>{style('picture', 'fragment', 'page')}"
        f"<style>{hidden}{marked}{{border-color:var(--qd-ink);font-weight:600}}{focused}{{outline:2px solid}}</style>"
        '</head><body class="qdecomp">'
    )


def _summary(items: Sequence[PageItem], counts: Counter[str]) -> str:
    compared = counts["equal"] + counts["different"]
    parts = [f"{len(items):,} {'question' if len(items) == 1 else 'questions'}"]
    if compared:
        parts.append(f"{counts['equal']:,} of {compared:,} equal to gold by LF-EM ({counts['equal'] / compared:.1%})")
    return " · ".join([*parts, f"qdecomp {VERSION}"])


def _record(place: int, item: PageItem, unfolded: bool) -> str:
    sides = [Side("Prediction" if item.gold is not None else "", item.prediction)]
    if item.gold is not None:
        sides.append(Side("Gold", item.gold))
    try:
        with as_row_errors():
            steps, pictures = steps_html(sides), pictures_html(sides)
    except OurMistakeError as error:
        steps, pictures = f'<p class="qd-error">{escape(str(error))}</p>', ""
    folded = f"<details{' open' if unfolded else ''}><summary>Pictures</summary>{pictures}</details>"
    classes = " ".join(["qd-record", "qd-decomposition", *(f"qd-{kind}" for kind in item.kinds())])
    return (
        f'<article class="{classes}" id="q{place}"><h2 class="qd-question" dir="auto">{escape(item.question)}</h2>'
        f'<p class="qd-note">{_verdict(item)}{escape(item.question_id)}</p>'
        f"{steps}{folded if pictures else ''}</article>\n"
    )


def _verdict(item: PageItem) -> str:
    comparison = item.comparison()
    if comparison is None:
        return ""
    mark = "✓ equal to gold" if comparison else "✗ different from gold"
    reason = f" ({escape(comparison.error)})" if comparison.error else ""
    return f'<span class="qd-verdict">{mark}</span>{reason} · '
