"""A decomposition as a piece of HTML: the question, the numbered steps and both pictures, alone or beside gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.prediction import Prediction

from .graph_svg import graph_svg
from .steps_svg import step_texts, steps_svg
from .styles import style
from .texts import escape

__all__ = ["Side", "decomposition_html", "pictures_html", "steps_html"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the decompositions of a question that are shown beside each other, and what stands above it."""

    title: str
    prediction: Prediction


def decomposition_html(question: str, prediction: Prediction) -> str:
    """The fragment for one question, with its style, as notebooks show it."""
    sides = [Side("", prediction)]
    return (
        f'<div class="qdecomp qd-decomposition">{style("picture", "fragment")}'
        f'<p class="qd-question" dir="auto">{escape(question)}</p>{steps_html(sides)}{pictures_html(sides)}</div>'
    )


def steps_html(sides: Sequence[Side]) -> str:
    """The numbered steps of each side; where there are none, the reason."""
    return f'<div class="qd-sides">{"".join(map(_steps, sides))}</div>'


def pictures_html(sides: Sequence[Side]) -> str:
    """The pictures of each side: the steps beside each other, then the graphs, beside each other where they fit."""
    steps = [(side, _picture_of_steps(side.prediction)) for side in sides]
    graphs = [(side, _picture_of_graph(side.prediction)) for side in sides]
    parts = []
    for layout, caption, pictures in (("qd-sides", "Steps", steps), ("qd-graphs", "Dependency graph", graphs)):
        if any(picture for _, picture in pictures):
            figures = (_figure(picture, caption, side.title) for side, picture in pictures)
            parts.append(f'<div class="{layout}">{"".join(figures)}</div>')
    return "".join(parts)


def _steps(side: Side) -> str:
    return f"<section>{_title(side)}{''.join(_steps_or_error(side.prediction))}</section>"


def _title(side: Side) -> str:
    return f'<h3 class="qd-side-title">{escape(side.title)}</h3>' if side.title else ""


def _steps_or_error(prediction: Prediction) -> Iterator[str]:
    if prediction.form is not None:
        texts = step_texts(prediction.form, prediction.decomposition)
        items = (
            f'<li><span dir="auto">{escape(text)}</span> <span class="qd-operator-name qd-{step.operator.value}">'
            f"{escape(' '.join((step.operator.value, *step.properties)))}</span></li>"
            for text, step in zip(texts, prediction.form.steps, strict=True)
        )
        yield f"<ol>{''.join(items)}</ol>"
    elif prediction.decomposition:
        yield f'<p class="qd-error" dir="auto">{escape(prediction.decomposition)}</p>'
    else:
        yield '<p class="qd-note">There is no decomposition.</p>'
    if prediction.error:
        yield f'<p class="qd-error">{escape(prediction.error)}</p>'
    if prediction.score is not None:
        yield f'<p class="qd-note">score {prediction.score:.3g}</p>'


def _picture_of_steps(prediction: Prediction) -> str:
    if prediction.form is None:
        return ""
    return steps_svg(prediction.form, texts=step_texts(prediction.form, prediction.decomposition), with_style=False)


def _picture_of_graph(prediction: Prediction) -> str:
    return "" if prediction.graph is None else graph_svg(prediction.graph, with_style=False)


def _figure(picture: str, caption: str, title: str) -> str:
    """A picture in a frame that scrolls; without one, an empty figure keeps the place beside the other side."""
    if not picture:
        return "<figure></figure>"
    whole = f"{caption}: {title.lower()}" if title else caption
    return f'<figure><figcaption>{escape(whole)}</figcaption><div class="qd-scroll">{picture}</div></figure>'
