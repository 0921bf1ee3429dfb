"""Steps as they were written, and lists of them: numbered, labelled and bulleted, in lines or in one line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from qdecomp.data_structures.reading.markup import is_note, is_prose

NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# Without "a", the pattern that ignores case also takes "fıve" and "ſix".
_NUMBER = rf"(?P<n>\d{{1,3}}|(?a:{'|'.join(NUMBER_WORDS)}))"
# What may come between the start of a line and a label.
_BEFORE = r"[ \t]*(?:[-*+•‣●◦·▪–—→][ \t]+)?"
_BULLET_MARK = r"(?:[-*+•‣●◦·▪▸►➤➢✓✔☐–—]|\[[ xX]\])(?:[ \t]*\[[ xX]\])?[ \t]+"


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """The text of a step, the number that its writer gave it, and the places of the steps that it is said to need."""

    text: str
    label: int | None = None
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Numbering:
    """A way to number steps; the group ``n`` of ``label`` is the number."""

    name: str
    label: str
    easily_mistaken: bool = False  # for a reference: counts only at the start of the text or after prose
    at_line: re.Pattern[str] = field(init=False, repr=False, compare=False)
    anywhere: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        line = rf"^(?P<before>{_BEFORE})(?:{self.label})[ \t]*"
        object.__setattr__(self, "at_line", re.compile(line, re.IGNORECASE))
        object.__setattr__(self, "anywhere", re.compile(rf"(?:(?<=[\s;,.|])|\A)(?:{self.label})\s*", re.IGNORECASE))


_AFTER_LABEL = r"(?:\s*\([^()\n#]{1,40}\))?[ \t]*(?:[:.)=–—-]+(?=\s|#|[^\W\d])|$)"
NUMBERINGS: tuple[Numbering, ...] = (
    Numbering("Step n:", rf"(?:sub[- _]?)?step[ \t_-]*#?{_NUMBER}\b{_AFTER_LABEL}"),
    Numbering(
        "Qn:",
        r"(?:[QST]|sub[- _]?q|(?:sub[- _]?)?(?:question|query|task|operation|goal))[ \t_-]*#?"
        rf"{_NUMBER}\b{_AFTER_LABEL}",
    ),
    Numbering(
        "#n:", r"\(?\#(?P<n>\d{1,3})\)?[ \t]*(?:[:=](?=\s|#|\w)|[.)](?=\s)|<-|←|[–—-](?=\s))", easily_mistaken=True
    ),
    Numbering("[n]", r"(?:\[(?P<n>\d{1,3})\]|\{(?P<m>\d{1,3})\})[ \t]*[:.=]?(?=\s|#|\w)", easily_mistaken=True),
    Numbering("1.", r"\(?(?P<n>\d{1,3})(?:\.\)|[.):](?=\s|#|[^\W\d]|[\"'\[{])|[ \t][–—-](?=\s)|\ufe0f?\u20e3)"),
    Numbering("a.", r"\(?(?P<n>(?a:[a-j]))[.)](?=\s)"),
    Numbering("<step n>", r"<(?:step|question|q|s)[ _-]?(?P<n>\d{1,3})>"),
)
"""The first one that numbers the lines of a text, in order and without a gap, is the one that its writer used."""

BULLET = re.compile(rf"^(?P<before>[ \t]*){_BULLET_MARK}")


def in_lines(text: str, numbering: Numbering) -> list[WrittenStep]:
    """The members of the longest list of lines with these labels; none if they do not count 1, 2, 3 …"""
    lines = text.split("\n")
    runs: list[list[tuple[int, re.Match[str], int]]] = []
    for place, line in enumerate(lines):
        match = numbering.at_line.match(line)
        if match is None:
            continue
        label = _label(match)
        if runs and label == runs[-1][-1][2] + 1:
            runs[-1].append((place, match, label))
        elif label in (0, 1):
            runs.append([(place, match, label)])
    if not runs:
        return []
    run = max(reversed(runs), key=len)
    alone = len(run) == 1 or numbering.easily_mistaken
    before = lines[: run[0][0]]
    if alone and before and before[-1].strip() and not is_prose(before[-1]):
        return []
    if len(run) == 1 and in_one_line(text, numbering):
        return []
    texts = member_texts(lines, [(place, match) for place, match, _ in run])
    return [WrittenStep(text, label) for text, (_, _, label) in zip(texts, run, strict=True)]


def in_one_line(text: str, numbering: Numbering) -> list[WrittenStep]:
    """The members of a list inside a line, such as ``(1) cubes (2) #1 that are red``; at least two."""
    found: list[tuple[re.Match[str], int]] = []
    for match in numbering.anywhere.finditer(text):
        label = _label(match)
        if label == found[-1][1] + 1 if found else label in (0, 1):
            found.append((match, label))
    if len(found) < 2 or (found[0][0].start() > 0 and not is_prose(text[: found[0][0].start()])):
        return []
    # What follows the last member after an empty line is prose.
    end = found[-1][0].end() + len(text[found[-1][0].end() :].partition("\n\n")[0])
    ends = [*(match.start() for match, _ in found[1:]), end]
    return [
        WrittenStep(text[match.end() : end].strip(), label) for (match, label), end in zip(found, ends, strict=True)
    ]


def without_labels(texts: Sequence[str]) -> list[WrittenStep]:
    """Texts that are known to be steps, without the labels that they may have, such as ``Step 1:``."""
    for numbering in NUMBERINGS:
        found = [match for text in texts if (match := numbering.at_line.match(text))]
        labels = [_label(match) for match in found]
        certain = not numbering.easily_mistaken or len(found) > 1
        if len(found) == len(texts) and consecutive(labels) and certain:
            pairs = zip(texts, found, labels, strict=True)
            return [WrittenStep(text[match.end() :], label) for text, match, label in pairs]
    return [WrittenStep(text) for text in texts]


def member_texts(lines: Sequence[str], starts: Sequence[tuple[int, re.Match[str]]]) -> list[str]:
    """The text of each member: the rest of its line, or the next line if a label stands alone, and wrapped lines."""
    places = [place for place, _ in starts] + [len(lines)]
    texts = []
    for (place, match), end in zip(starts, places[1:], strict=True):
        parts = [lines[place][match.end() :].strip()]
        for line in lines[place + 1 : end]:
            stripped = line.strip()
            if not parts[0]:
                # A label may stand alone above its text, which may itself be a member of a list.
                parts[0] = BULLET.sub("", stripped)
            elif stripped and _continues(line, len(match["before"])):
                parts.append(stripped)
            else:
                break
        texts.append(" ".join(parts))
    return texts


def _continues(line: str, indent: int) -> bool:
    if BULLET.match(line) or is_note(line) or is_prose(line):
        return False
    stripped = line.lstrip()
    return len(line) - len(stripped) > indent or re.match("[a-z#]", stripped) is not None


def _label(match: re.Match[str]) -> int:
    text = next(group for name, group in match.groupdict().items() if name != "before" and group is not None).lower()
    return ord(text) - ord("a") + 1 if len(text) == 1 and text.isalpha() else number_of(text)


def consecutive(labels: list[int]) -> bool:
    """Whether labels count steps: from 1 or, as programmers do, from 0."""
    return bool(labels) and labels[0] in (0, 1) and labels == list(range(labels[0], labels[0] + len(labels)))


def number_of(text: str) -> int:
    """The number of a step, in words or in digits: nine are enough, and Python refuses to convert thousands of them."""
    return NUMBER_WORDS.index(text.lower()) if text.isalpha() else int(text.lstrip("0")[:9] or "0")
