"""What is around steps: thoughts before the answer, tags, code fences, a heading, bold and italics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

_MOST_WRAPPINGS = 8

_THOUGHTS_END = re.compile(r"</(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_TAGGED = re.compile(
    r"<(?P<tag>decomposition|qdmr|answer|output|plan|final)>(?P<inner>.*?)</(?P=tag)>", re.DOTALL | re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*(?P<mark>```|~~~)[^\n]*\n(?P<inner>.*?)(?:^[ \t]*(?P=mark)|\Z)", re.DOTALL | re.MULTILINE)
# "Here is the decomposition:", "QDMR:". Not "Step 1:", and not a step that has a colon after a reference.
_HEADING = re.compile(
    r"^[\s#*_]*(?:[A-Za-z][^\n:;#]{0,120}\b)?(?:decomposition|qdmr|sub-?questions|sub-?steps|steps|plan|questions)\b"
    r"[^\n:;#0-9]{0,60}:[*_]*(?P<inner>.*)\Z",
    re.IGNORECASE,
)
_FIRST_HEADING = re.compile(
    r"^[\s#*_]*(?:final )?(?:answer|output|response|solution|result)s?:[*_]*(?P<inner>.*)\Z", re.IGNORECASE
)

# A line that belongs to a list, so whatever follows it no longer comes before the steps.
_ITEM = re.compile(
    r"^\s*(?:[-*+•‣●◦·▪–—]\s|[\[({<#]?\d{1,3}[\])}>.:]|[\"'\[{|]|return\b|(?:sub[- ]?)?step\b[ _-]*\d|[QS]\d)",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"^\s*(?:[-*+•–—]\s+)?(?:a\d*|answers?(?: \d+)?|question|input|reason(?:ing)?|explanation|rationale|note|type"
    r"|operators?|dependenc(?:y|ies)|depends on|result)\s*:(?!\s*\Z)",
    re.IGNORECASE,
)
_PROSE = re.compile(
    r"^\s*(?:here(?:'s|’s| is| are)\b|sure\b|certainly\b|of course\b|okay\b|ok[,!.]|let me\b|let['’]s\b|i hope\b"
    r"|i will\b|i have\b|i['’]ve\b|to answer\b|this (?:decomposition|plan|breaks|will|gives|answers)\b"
    r"|the (?:above|following|steps above|decomposition)\b|each step\b|these steps\b|in this (?:plan|decomposition)\b"
    r"|please\b|feel free\b|hope this\b|in summary\b|note that\b|where #\d+ (?:refers|is the)\b"
    r"|-{3,}\s*\Z|\*{3,}\s*\Z)",
    re.IGNORECASE,
)

_REFUSAL = re.compile(
    r"\A\W{0,9}(?:(?:i['’]?m|i am) (?:(?:very|so|really) )?(?:sorry|afraid|unable|not able)\b|sorry\b"
    r"|i (?:apologi[sz]e|cannot|can['’]?t|can not|could not|couldn['’]t|won['’]t|do not|don['’]t)\b|unfortunately\b"
    r"|as an ai\b"
    r"|(?:this|the) question (?:cannot|can['’]t|is (?:not|un))|there is (?:not enough|no|insufficient) information\b"
    r"|(?:could|can) you (?:please )?(?:clarify|provide|specify)\b|please (?:clarify|provide)\b)",
    re.IGNORECASE,
)
_SQL = re.compile(
    r"\A(?:SELECT\s+(?:DISTINCT\s+)?[^\n;]{1,300}\sFROM\s|WITH\s+\w+\s+AS\s*\("
    r"|(?i:select\s+(?:distinct\s+)?(?:\*|(?:count|sum|avg|max|min)\s*\([^)]{0,80}\)|\w+\.\w+)[^;]{0,300}?\sfrom\s))"
)

_EMPHASIS = (
    (re.compile(r"\*\*\*(?=\S)([^*\n]+)(?<=\S)\*\*\*"), r"\1"),
    (re.compile(r"\*\*(?=\S)([^*\n]+)(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<!\w)__(?=\S)([^_\n]+)(?<=\S)__(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)_(?=\S)([^_\n]+)(?<=\S)_(?!\w)"), r"\1"),
    (re.compile(r"`+"), ""),
    # A heading has a space after its marks; "#1" is a reference.
    (re.compile(r"^[ \t]*#{1,6}[ \t]+(?=[^\W\d]|\d+[.):])", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*>[ \t]+", re.MULTILINE), ""),
    (re.compile(r"[\u200b\u2060\ufeff]"), ""),
    (re.compile(r"\u00a0"), " "),
    (re.compile(r"\r\n?|[\u2028\u2029]"), "\n"),
)


def after_thoughts(text: str) -> str | None:
    """The text after a model's thoughts, which may be long."""
    ends = list(_THOUGHTS_END.finditer(text))
    return text[ends[-1].end() :] if ends else None


def _longest(pattern: re.Pattern[str], text: str) -> str | None:
    return max((match["inner"] for match in pattern.finditer(text)), key=len, default=None)


def _below_heading(text: str) -> str | None:
    """What follows the first heading, unless a list or a step has begun before it."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        heading = _HEADING.match(line) or (_FIRST_HEADING.match(line) if number == 0 else None)
        if heading is not None:
            return "\n".join([heading["inner"].lstrip(), *lines[number + 1 :]])
        if _ITEM.match(line):
            return None
    return None


WRAPPINGS: Mapping[str, Callable[[str], str | None]] = {
    "thoughts": after_thoughts,
    "tags": partial(_longest, _TAGGED),
    "code fence": partial(_longest, _FENCE),
    "heading": _below_heading,
}
"""What is removed, from the outside to the inside, as often as it is found: each gives what is inside, if anything."""


def unwrap(text: str) -> tuple[str, tuple[str, ...]]:
    """The text inside all wrappings, and their names."""
    names: list[str] = []
    for _ in range(_MOST_WRAPPINGS):
        found = ((name, inner) for name, inside in WRAPPINGS.items() if (inner := inside(text)) and inner.strip())
        name, inner = next(found, ("", text))
        if not name:
            break
        text = inner.strip("\n").rstrip()
        names.append(name)
    return text, tuple(dict.fromkeys(names))


def plain(text: str) -> str:
    """The text without emphasis, headings' marks and invisible characters; ``2 * 3`` and ``snake_case`` stay."""
    for pattern, replacement in _EMPHASIS:
        text = pattern.sub(replacement, text)
    return text


def no_answer(text: str) -> str | None:
    """Why a text is no decomposition: it is a refusal, or SQL."""
    if _REFUSAL.match(text):
        return "it is a refusal, not a decomposition"
    return "it is SQL, not a decomposition" if _SQL.match(text) else None


def is_note(line: str) -> bool:
    """Whether a line says something about a step, such as ``Answer: 3``, and is not a step itself."""
    return _NOTE.match(line) is not None


def is_prose(line: str) -> bool:
    """Whether a line speaks to the reader, such as ``Sure, here is the plan:``."""
    return line.rstrip().endswith(":") or _PROSE.match(line) is not None
