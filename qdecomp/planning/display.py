"""Plans and their runs as pieces of HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qdecomp.planning.answer_values import as_text
from qdecomp.visualization.style_sheets import style
from qdecomp.visualization.texts import escape

if TYPE_CHECKING:
    from qdecomp.planning.plan import Plan
    from qdecomp.planning.running import PlanRun

__all__ = ["plan_html", "plan_run_html"]

_LONGEST_ANSWER = 300


def plan_html(plan: Plan) -> str:
    """The levels of a plan: every step as a question, its operator, and what it needs."""
    rows = (
        (
            str(level),
            str(step.number),
            str(step.question()),
            step.operator.value if step.operator is not None else "",
            ", ".join(f"#{number}" for number in step.needs),
        )
        for level, steps in enumerate(plan, start=1)
        for step in steps
    )
    return _table(("level", "step", "question", "operator", "needs"), rows)


def plan_run_html(run: PlanRun) -> str:
    """The trace of a run: what was asked or combined, what came back, and how long it took."""
    rows = (
        (
            str(step.number),
            str(step.question),
            _shortened(as_text(step.answer)) if step.reason is None else step.reason,
            str(step.outcome),
            f"{step.seconds:.2f}",
        )
        for step in run.steps
    )
    return _table(("step", "question", "answer", "", "seconds"), rows)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_ANSWER else f"{text[: _LONGEST_ANSWER - 1]}…"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    lines = ("".join(f'<td dir="auto">{escape(cell)}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<div class="qdecomp qd-decomposition">{style("fragment")}<div class="qd-scroll"><table class="qd-plan">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )
