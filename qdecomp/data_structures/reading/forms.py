"""The table of forms: how a text is recognised as one of them, and how it is split into steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from qdecomp.data_structures.reading.lists import (
    BULLET,
    NUMBERINGS,
    WrittenStep,
    in_lines,
    in_one_line,
    member_texts,
    number_of,
)
from qdecomp.data_structures.reading.markup import is_note, is_prose
from qdecomp.data_structures.reading.structured import has_text, steps_in_text, steps_of_value

_EACH_LINE = re.IGNORECASE | re.MULTILINE
_BREAK = re.compile(r"\A[\s\"'“‘]*return(?!s\b|ed\b|ing\b)", re.IGNORECASE)
_BREAK_INSIDE = re.compile(r"\breturn\b[^;\n]*(?:;\s*return\b[^;\n]*)+;?", re.IGNORECASE)
# A separator takes the spaces before it and is searched for only where they begin, so many spaces cost no more than
# few.
_SPACES = r"(?<!\s)\s*"
_NEXT_RETURN = re.compile(rf"{_SPACES}[,.|]\s+(?:and |then )*(?=return\b)", re.IGNORECASE)
_ARROW = re.compile(rf"{_SPACES}(?:(?<!-)-+>|(?<!=)=+>|[→⇒➔➜➡⟶↓⬇])\ufe0f?\s*")
_TAGGED = re.compile(
    r"<(?P<tag>(?:step|li|item|sub-?question|question|q|s)[ _-]?\d{0,3})\b[^>]*>(?P<text>.*?)</(?P=tag)>",
    re.DOTALL | re.IGNORECASE,
)
# Self-ask: follow-up questions, each with an answer.
_FOLLOW_UP = re.compile(r"^[ \t]*(?:[-*][ \t]+)?follow[ -]?up(?: question)?(?: \d{1,2})?:[ \t]*", _EACH_LINE)
_FOLLOWED = re.compile(
    r"\A[ \t]*(?:intermediate )?answer(?: \d{1,2})?:[ \t]*(?P<answer>.{1,80}?)[.\s]*\Z", re.IGNORECASE
)
# Least-to-most: 'To answer "…", we need to know: "…", "…".'
_FIRST_SOLVE = re.compile(
    r"\bto (?:answer|solve)(?: the (?:question|problem))? [\"“](?P<last>[^\"“”\n]+)[\"”],? (?:we|you|i) (?:first )?"
    r"(?:need|have) to (?:first )?(?:know|answer|solve|find out|ask)\b"
    r"(?: the following[^:\"“\n]{0,40})?:?(?P<before>[^\n]*)",
    re.IGNORECASE,
)
_IN_QUOTES = re.compile(r"[\"“]([^\"“”\n]+)[\"”]")
_CHAIN = re.compile(r"(?<!\s)[^\S\n]+>>[^\S\n]+")
_RECORD = re.compile(r"^(?P<indent>[ \t]*)-[ \t]+(?=[A-Za-z][\w -]{0,30}:(?:[ \t]|$))", re.MULTILINE)
_FIELD = re.compile(r"\A\s*(?P<name>[A-Za-z][\w -]{0,30}):(?:\s+(?P<value>.*))?\Z")
_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s:|-]+\Z")
# How prompts with Break's examples number steps; the first label is often part of the prompt.
_HASHED_LABEL = re.compile(r"(?<![^\s;])(\d{1,3})#\)\s*")
_ORDER = re.compile(
    r"(?:\A|(?<=[.;,])\s*|(?<=\n)[^\S\n]*|\n)(?:and )?"
    r"(?:first|second|third|fourth|fifth|sixth|next|then|after that|finally|last)(?:ly)?[,:]\s+",
    re.IGNORECASE,
)
_TOO_LONG_FOR_A_STEP = 60


@dataclass(frozen=True, slots=True)
class Form:
    """How a writer separates steps."""

    name: str
    shown_by: re.Pattern[str]  # what must be found in a text
    split: Callable[[str], list[WrittenStep]]  # gives its steps, or none if the text is not certainly in this form


def _steps(texts: Iterable[str]) -> list[WrittenStep]:
    return list(map(WrittenStep, texts))


def _break_steps(text: str) -> list[WrittenStep]:
    """Break's text: it begins with ``return``, and only semicolons end a step."""
    text = text.strip()
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    if any(not line.endswith(";") and not below.startswith(";") for line, below in pairwise(lines)):
        return []
    if _HASHED_LABEL.search(text) or (";" not in text and (_NEXT_RETURN.search(text) or _ARROW.search(text))):
        return []
    return [WrittenStep(text)]


def _break_inside(text: str) -> list[WrittenStep]:
    match = _BREAK_INSIDE.search(text)
    return [] if match is None else _steps(part for part in match[0].split(";") if part.strip())


def _table(text: str) -> list[WrittenStep]:
    """The rows of a Markdown table: its first column, or its second if the first one numbers the rows."""
    rows = [
        [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]
        for line in text.split("\n")
        if line.strip().startswith("|")
    ]
    rule = next((place for place, row in enumerate(rows) if _RULE.match("|".join(row))), 0)
    if rule == 0 or not rows[rule + 1 :]:
        return []
    width = len(rows[rule - 1])
    body = [row for row in rows[rule + 1 :] if len(row) == width]
    numbers = [row[0].strip("#.) ").lower().removeprefix("step").strip() for row in body]
    numbered = width > 1 and all(number.isdecimal() for number in numbers)
    column = 1 if numbered else 0
    labels = [number_of(number) if numbered else None for number in numbers]
    return [WrittenStep(row[column], label) for row, label in zip(body, labels, strict=True)]


def _hashed(text: str) -> list[WrittenStep]:
    """``1#) return cubes 2#) return number of #1``, with or without the first label; what follows is not of it."""
    begin, *rest = _HASHED_LABEL.split(text.strip())
    labelled = list(zip(map(int, rest[::2]), rest[1::2], strict=True))
    if begin.strip(" ;\n"):
        labelled.insert(0, (1, begin))
    # A model goes on with a next question, whose steps begin with 1 again.
    steps = [WrittenStep(part, number) for place, (number, part) in enumerate(labelled, 1) if number == place]
    if not steps or [step.label for step in steps] != [number for number, _ in labelled[: len(steps)]]:
        return []
    steps[-1] = WrittenStep(steps[-1].text.partition("\n")[0], steps[-1].label)
    return [WrittenStep(step.text.strip(" ;\n"), step.label) for step in steps]


def _bullets(text: str) -> list[WrittenStep]:
    lines = text.split("\n")
    starts = [(place, match) for place, line in enumerate(lines) if (match := BULLET.match(line)) and not is_note(line)]
    if not starts:
        return []
    # What is indented further is about the member above it.
    outermost = min(len(match["before"].expandtabs(4)) for _, match in starts)
    starts = [(place, match) for place, match in starts if len(match["before"].expandtabs(4)) == outermost]
    before = lines[: starts[0][0]]
    if len(starts) == 1 and before and before[-1].strip() and not is_prose(before[-1]):
        return []
    return _steps(member_texts(lines, starts))


def _records(text: str) -> list[WrittenStep]:
    """YAML's lists of objects, without a YAML library: to one, ``#1`` begins a comment, and ``a: b: c`` is an error."""
    lines = text.split("\n")
    starts = [match for line in lines if (match := _RECORD.match(line))]
    indent = min(len(match["indent"].expandtabs(4)) for match in starts)
    records: list[dict[str, Any]] = []
    name = ""
    for line in lines:
        start = _RECORD.match(line)
        if start is not None and len(start["indent"].expandtabs(4)) == indent:
            records.append({})
            line = line[start.end() :]
        elif not records or not line.strip():
            continue
        elif len(line) - len(line.lstrip()) <= indent:
            break
        field = _FIELD.match(line)
        if field is not None:
            name = field["name"]
            value = (field["value"] or "").strip()
            is_list = value.startswith("[") and value.endswith("]")
            records[-1][name] = value[1:-1].split(",") if is_list else value.strip("\"'")
        elif name and BULLET.match(line):
            listed = records[-1][name]
            member = BULLET.sub("", line).strip().strip("\"'")
            records[-1][name] = [*(listed if isinstance(listed, list) else []), member]
    return steps_of_value(records) if all(map(has_text, records)) else []


def _follow_ups(text: str) -> list[WrittenStep]:
    """The questions; where one repeats the answer of an earlier one, it refers to it."""
    steps: list[WrittenStep] = []
    answers: list[str | None] = []
    for part in _FOLLOW_UP.split(text)[1:]:
        question, _, rest = part.strip().partition("\n")
        for number, answer in enumerate(answers, start=1):
            if answer is not None:
                question = re.sub(rf"(?<![\w#]){re.escape(answer)}(?!\w)", f"#{number}", question)
        steps.append(WrittenStep(question.strip()))
        answered = _FOLLOWED.match(rest.strip().partition("\n")[0])
        answers.append(answered["answer"].strip() if answered is not None else None)
    return steps if all(step.text for step in steps) else []


def _first_solve(text: str) -> list[WrittenStep]:
    match = _FIRST_SOLVE.search(text)
    questions = [] if match is None else _IN_QUOTES.findall(match["before"])
    return _steps([*questions, match["last"]]) if match is not None and questions else []


def _chain(text: str) -> list[WrittenStep]:
    """Relations one after the other, ``Green >> performer >> spouse``; or steps, if they refer to each other."""
    if "\n" in text.strip():
        return []
    first, *rest = (part.strip() for part in _CHAIN.split(text.strip()))
    if not any("#" in part for part in rest):
        rest = [f"{part} of #{place}" for place, part in enumerate(rest, start=1)]
    return _steps([first, *rest])


def _ordered(text: str) -> list[WrittenStep]:
    parts = [part for part in _ORDER.split(text.strip())[1:] if part]
    return _steps(part.partition("\n\n")[0].strip() for part in parts) if len(parts) > 1 else []


def _separated(name: str, separator: str) -> Form:
    pattern = re.compile(separator, re.IGNORECASE)

    def split(text: str) -> list[WrittenStep]:
        lines = [line for line in text.split("\n") if not is_prose(line)]
        paragraphs = re.split(r"\n\n+", "\n".join(map(str.strip, lines)).strip())
        # The separators may be on lines of their own; what follows the last of them without a separator is prose.
        while len(paragraphs) > 1 and not pattern.search(paragraphs[-1]):
            paragraphs.pop()
        parts = [part.strip() for part in pattern.split("\n".join(paragraphs))]
        steps = _steps(filter(None, parts))
        return steps if len(steps) > 1 else []

    return Form(name, pattern, split)


def _lines(text: str) -> list[WrittenStep]:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    kept = [line for line in lines if not is_prose(line) and not is_note(line)]
    return [] if any(len(line.split()) > _TOO_LONG_FOR_A_STEP for line in kept) else _steps(kept)


def _escaped_lines(text: str) -> list[WrittenStep]:
    text = text.replace("\\n", "\n")
    return next((steps for form in FORMS if form.shown_by.search(text) and (steps := form.split(text))), [])


BREAK = Form("Break's text", _BREAK, _break_steps)
"""The form that all others are turned into; its text is left as it is."""

FORMS: tuple[Form, ...] = (
    BREAK,
    Form("1#)", _HASHED_LABEL, _hashed),
    Form("lines with \\n", re.compile(r"\A[^\n]*\\n[^\n]*\Z"), _escaped_lines),
    Form("JSON", re.compile(r"[\[{]\s*[\"'{]"), steps_in_text),
    Form("tags", _TAGGED, lambda text: _steps(match["text"].strip() for match in _TAGGED.finditer(text))),
    Form("table", re.compile(r"^[^\S\n]*\|[ \t:|-]+$", re.MULTILINE), _table),
    Form("Break's text inside of prose", _BREAK_INSIDE, _break_inside),
    *(
        Form(f"lines with {each.name}", re.compile(each.at_line.pattern, _EACH_LINE), partial(in_lines, numbering=each))
        for each in NUMBERINGS
    ),
    *(Form(f"{each.name} in one line", each.anywhere, partial(in_one_line, numbering=each)) for each in NUMBERINGS),
    Form("YAML", _RECORD, _records),
    Form("follow-up questions", _FOLLOW_UP, _follow_ups),
    Form("to answer …, we need to know …", _FIRST_SOLVE, _first_solve),
    Form("bulleted list", re.compile(BULLET.pattern, re.MULTILINE), _bullets),
    Form("first … then …", re.compile(r"\A\s*first(?:ly)?[,:]", re.IGNORECASE), _ordered),
    Form(">>", _CHAIN, _chain),
    _separated("arrows", _ARROW.pattern),
    _separated("@@SEP@@", rf"{_SPACES}(?:@@SEP@@|\[SEP\]|<sep>)\s*"),
    _separated("<br>", rf"{_SPACES}<br\s*/?>\s*"),
    _separated("pipes", r"(?<!\s)\s+\|\|?\s+"),
    Form("sentences with return", _NEXT_RETURN, lambda text: _steps(_NEXT_RETURN.split(text.strip()))),
    Form(
        "lines with return",
        re.compile(r"^[^\S\n]*return\b", _EACH_LINE),
        lambda text: _steps(line for line in map(str.strip, text.split("\n")) if _BREAK.match(line)),
    ),
    _separated("semicolons", rf"{_SPACES};\s*"),
    Form("a line for each step", re.compile(r"\n"), _lines),
    Form("one step", re.compile(""), lambda text: _steps([" ".join(text.split())])),
)
"""In the order in which they are tried; the last one fits everything."""
