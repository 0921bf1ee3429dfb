"""Other words for what Break's steps say: "#1 except #2" is ``#1 besides #2``, "#2 > 5" is ``#2 is more than 5``.

The reader rewrites what was not written as Break's text, and LF-Eq rewrites both sides. LF-EM compares what is there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_REF = r"\#\d+"
_BE = r"(?:(?:is|are|was|were) )?"
_NUMBER = r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|zero)\b"
_COUNTED = re.compile(r"(?:the )?(?:total )?(?:number|count|sum|average|difference|division|multiplication)\b", re.I)


class Wording(NamedTuple):
    """What people write, matched against the end of a step or all of it, and how Break says it; with an example.

    One that ``needs`` numbers is used only if every step that the match refers to computes a number, as far as its
    words say so.
    """

    pattern: re.Pattern[str]
    phrase: str
    example: str
    reads: str
    needs_numbers: bool = False


def _wording(form: str, phrase: str, example: str, reads: str, needs_numbers: bool = False) -> Wording:
    return Wording(re.compile(form, re.IGNORECASE), phrase, example, reads, needs_numbers)


def _extreme(words: str, known: str, means: str) -> tuple[Wording, ...]:
    """A thing with an attribute, and the attribute that is an extreme; Break says it with the known words, too."""
    example = words.partition("|")[0]
    return (
        _wording(
            rf"({_REF}) (?:with|(?:that|which|who) (?:has|have|had)|having) the (?:{words}|{known}) ({_REF})",
            rf"\1 where \2 is {means}",
            f"#1 with the {example} #2",
            f"#1 where #2 is {means}",
        ),
        _wording(
            rf"({_REF}) where ({_REF}) (?:is|are|was|were) (?:the )?(?:{words})",
            rf"\1 where \2 is {means}",
            f"#1 where #2 is {example}",
            f"#1 where #2 is {means}",
        ),
    )


def _compared(words: str, example: str, means: str) -> tuple[Wording, ...]:
    """A comparison with a number or a step, as a sign or as a verb."""
    return tuple(
        _wording(
            rf"({start}) {_BE}(?:{words}) ?({_REF}|{_NUMBER}.*)",
            rf"\1 {means} \2",
            f"{shown} {example} 5",
            f"{shown} {means} 5",
        )
        for start, shown in ((rf"{_REF} where {_REF}", "#1 where #2"), (rf"if {_REF}", "if #1"))
    )


WORDINGS: tuple[Wording, ...] = (
    _wording(rf"({_REF}) minus ({_REF})", r"difference of \1 and \2", "#1 minus #2", "difference of #1 and #2", True),
    _wording(
        rf"({_REF}|[^#]{{1,100}}) (?:except(?:ing)?(?: for)?|excluding|other than|but not|apart from|aside from|minus"
        rf"|with the exception of) ({_REF})",
        r"\1 besides \2",
        "#1 except #2",
        "#1 besides #2",
    ),
    _wording(
        rf"({_REF}) (?:except(?: for)?|excluding|other than|but not) ([^#]+)",
        r"\1 besides \2",
        "#1 excluding red ones",
        "#1 besides red ones",
    ),
    _wording(
        rf"(?:the )?(?:how many|amount of|quantity of) (?:the )?({_REF})",
        r"number of \1",
        "amount of #1",
        "number of #1",
    ),
    _wording(rf"(?:the )?({_REF}) count", r"number of \1", "#1 count", "number of #1"),
    _wording(
        rf"({_REF}) (?:with|(?:that|which|who) (?:has|have|had)|having) the most ({_REF})",
        r"\1 where \2 is highest",
        "#1 that has the most #2",
        "#1 where #2 is highest",
        True,
    ),
    _wording(
        rf"({_REF}) (?:with|(?:that|which|who) (?:has|have|had)|having) the (?:fewest|least) ({_REF})",
        r"\1 where \2 is lowest",
        "#1 with the fewest #2",
        "#1 where #2 is lowest",
        True,
    ),
    *_extreme("max|maximum|maximal|greatest|top", "highest|largest|biggest|longest", "highest"),
    *_extreme("min|minimum|minimal", "lowest|smallest|shortest", "lowest"),
    *_compared(">=|=>|≥|greater than or equal to", ">=", "is at least"),
    *_compared("<=|=<|≤|less than or equal to", "<=", "is at most"),
    *_compared(">|exceed(?:s|ed)?|surpass(?:es|ed)?", "exceeds", "is more than"),
    *_compared("<", "<", "is less than"),
    *_compared("==?", "==", "is equal to"),
)
"""The first that matches a step as a whole is used; the examples are tests."""

# A step with none of these has no other words.
_MAYBE = re.compile(
    r"[<>=≥≤]|\b(?:minus|except\w*|excluding|other|but|apart|aside|exception|many|amount|count|quantity|with|has|have|had"
    r"|having|max\w*|min\w*|greatest|top|exceed\w*|surpass\w*|equal)\b",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"#(\d{1,3})(?!\d)")


def usual_wording(texts: Sequence[str]) -> list[str]:
    """The texts of steps as Break would say them; each is left as it is unless a row of :data:`WORDINGS` is about it.

    >>> usual_wording(["dogs", "cats", "how many #1", "amount of #2", "#3 minus #4"])
    ['dogs', 'cats', 'number of #1', 'number of #2', 'difference of #3 and #4']
    >>> usual_wording(["dogs", "old dogs", "#1 minus #2"])[2]
    '#1 besides #2'
    """
    found: list[str] = []
    for text in texts:
        found.append(_usual(text, found) if _MAYBE.search(text) else text)
    return found


def _usual(text: str, before: Sequence[str]) -> str:
    for row in WORDINGS:
        match = row.pattern.fullmatch(text)
        if match is not None and (not row.needs_numbers or _are_numbers(match[match.lastindex or 0], before)):
            return match.expand(row.phrase)
    return text


def _are_numbers(reference: str, before: Sequence[str]) -> bool:
    numbers = [int(number) for number in _REFERENCE.findall(reference)]
    return all(0 < number <= len(before) and _COUNTED.match(before[number - 1]) for number in numbers)
