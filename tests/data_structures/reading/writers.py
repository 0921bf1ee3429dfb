"""How a decomposition would be written in each of the forms: functions from its steps to a text or a value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["REFERENCES", "WRITERS", "in_style"]

Writer = Callable[[Sequence[str]], Any]


def _lines(template: str) -> Writer:
    """A line for each step; ``{n}`` is its number and ``{step}`` its text."""
    return lambda steps: "\n".join(template.format(n=n, step=step) for n, step in enumerate(steps, start=1))


def _joined(separator: str) -> Writer:
    return lambda steps: separator.join(steps)


def _one_line(template: str) -> Writer:
    return lambda steps: " ".join(template.format(n=n, step=step) for n, step in enumerate(steps, start=1))


def _around(before: str, writer: Writer, after: str) -> Writer:
    return lambda steps: f"{before}{writer(steps)}{after}"


def _objects(steps: Sequence[str]) -> str:
    return json.dumps([{"step": n, "question": step} for n, step in enumerate(steps, start=1)])


_PROSE = ("Sure! Here is the decomposition of the question:\n\n", "\n\nThis plan answers the question step by step.")

WRITERS: dict[str, Writer] = {
    "numbered list": _lines("{n}. {step}"),
    "numbered list with return": _lines("{n}. return {step}"),
    "numbered list with full stops": _lines("{n}. {step}."),
    "numbered list in brackets": _lines("({n}) {step}"),
    "bold numbered list": _lines("**{n}.** {step}"),
    "bulleted list": _lines("- {step}"),
    "bulleted list with stars": _lines("* {step}"),
    "bulleted list with dots": _lines("• {step}"),
    "Step n:": _lines("Step {n}: {step}"),
    "bold Step n:": _lines("**Step {n}:** {step}"),
    "Step n as a heading": _lines("### Step {n}\n{step}\n"),
    "Qn:": _lines("Q{n}: {step}"),
    "#n:": _lines("#{n}: {step}"),
    "a line for each step": _lines("{step}"),
    "a line for each step with return": _lines("return {step}"),
    "italic lines": _lines("*{step}*"),
    "arrows": _joined(" -> "),
    "arrows in lines": _joined("\n→ "),
    "semicolons": _joined("; "),
    "numbers in one line": _one_line("{n}. {step}"),
    "Step n: in one line": _one_line("Step {n}: {step}"),
    "list": list,
    "JSON list": lambda steps: json.dumps(list(steps)),
    "Python list": lambda steps: repr(list(steps)),
    "JSON object": lambda steps: json.dumps({"steps": list(steps)}),
    "JSON objects": _objects,
    "JSON object with numbers": lambda steps: json.dumps({str(n): step for n, step in enumerate(steps, start=1)}),
    "code fence": _around("```\n", _lines("{n}. {step}"), "\n```"),
    "JSON in a code fence": _around("```json\n", _objects, "\n```"),
    "numbered list in prose": _around(_PROSE[0], _lines("{n}. {step}"), _PROSE[1]),
    "bulleted list in prose": _around(_PROSE[0], _lines("- {step}"), _PROSE[1]),
    "lines in prose": _around(_PROSE[0], _lines("{step}"), _PROSE[1]),
}

REFERENCES: dict[str, str] = {"[1]": r"[\1]", "{1}": r"{\1}", "step 1": r"step \1", "S1": r"S\1"}


def in_style(steps: Sequence[str], style: str) -> list[str]:
    """The steps with references written in another style."""
    return [re.sub(r"#(\d+)", REFERENCES[style], step) for step in steps]
