"""How a written sentence becomes the phrase of a step: full stops, quotes, verbs of command, sub-questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_STOP_AFTER_REFERENCE = re.compile(r"(#\d+)[.?!]+(?=\s*(?:;|\Z))")
_RETURN = re.compile(r"\A\s*returns?\b\s*:?\s*(?=\S)", re.IGNORECASE)
_ENDING = " \t\n.,;:|!"
_ABBREVIATION = re.compile(
    r"(?:\b[^\W\d]\.)+\Z|\b(?:inc|jr|sr|st|co|corp|ltd|mr|mrs|ms|dr|vs|no|etc|mt|ft)\.\Z", re.IGNORECASE
)
_LONGEST_ABBREVIATION = 10
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`"}
# "find cubes → #1": what the answer of the step is called.
_NAMED_AT_END = re.compile(r"(?<!\s)\s*(?:-+>|=+>|→|⇒|\bas\b|\(|\[)\s*#?(?P<n>\d+)\s*[)\]]?\s*\Z")
_KEY = re.compile(r"\A\s*(?:step|text|question|sub[-_ ]?question)\s*:\s*", re.IGNORECASE)

# "#1 >> country", as MuSiQue writes its sub-questions.
_RELATION = re.compile(r"\A\s*(?P<subject>[^>\s][^>]*[^>\s]|[^>\s])\s+>>\s+(?P<relation>[^>]*[^>\s])\s*\Z")

_REFERENCE = r"(?P<ref>\#\d+)"
_BE = r"(?:is|are|was|were)"


class Phrasing(NamedTuple):
    """How a sentence becomes a phrase; the example shows both. A ``certain`` question needs no question mark."""

    pattern: re.Pattern[str]
    phrase: str
    example: str
    reads: str
    certain: bool = False


def _phrasing(form: str, phrase: str, example: str, reads: str, certain: bool = False) -> Phrasing:
    return Phrasing(re.compile(form, re.IGNORECASE), phrase, example, reads, certain)


QUESTIONS: tuple[Phrasing, ...] = (
    _phrasing(
        rf"which (?:one )?(?:of|between) {_REFERENCE},? (?:and|or),? (?P<other>\#\d+) (?P<rest>[^#]+)",
        r"which \g<rest> of \g<ref> , \g<other>",
        "Which of #1 and #2 is higher",
        "which is higher of #1 , #2",
        certain=True,
    ),
    _phrasing(
        rf"which (?:one )?(?P<rest>[^#]{{0,80}}?[^#\s,:])[,:]? (?:of |between )?{_REFERENCE} ?(?:,|,? (?:and|or))"
        r" (?P<other>\#\d+)",
        r"which \g<rest> of \g<ref> , \g<other>",
        "Which is higher, #1 or #2",
        "which is higher of #1 , #2",
    ),
    _phrasing(
        rf"(?:so,? )?how many (?:of )?(?:the )?{_REFERENCE}(?: (?:{_BE} there|exist|do we have|in total))?",
        r"number of \g<ref>",
        "How many #2 are there",
        "number of #2",
        certain=True,
    ),
    _phrasing(
        rf"(?:of|among|from|out of) (?:the )?{_REFERENCE},? (?:which|what) (?:ones? )?(?P<rest>.+)",
        r"\g<ref> that \g<rest>",
        "Of #1, which are red",
        "#1 that are red",
        certain=True,
    ),
    _phrasing(
        rf"(?:which|what) (?:ones? )?(?:of|among) (?:the )?{_REFERENCE} (?P<rest>(?!and\b|or\b)[a-z].*)",
        r"\g<ref> that \g<rest>",
        "Which of #1 are red",
        "#1 that are red",
        certain=True,
    ),
    _phrasing(
        rf"(?:what|who|which) {_BE} {_REFERENCE}(?: ['’]s|['’]s?) (?P<rest>.+)",
        r"\g<rest> of \g<ref>",
        "What is #1's capital",
        "capital of #1",
    ),
    _phrasing(
        rf"(?:which|what) {_REFERENCE} (?P<rest>(?:{_BE}|has|have|had|do|does|did|can|could|will|would)\b.*)",
        r"\g<ref> that \g<rest>",
        "Which #1 have a handle",
        "#1 that have a handle",
    ),
    _phrasing(
        rf"(?P<verb>do|does|was|were|has|have|had|can|could|will|would) {_REFERENCE} (?P<rest>.+)",
        r"if \g<ref> \g<verb> \g<rest>",
        "Does #1 touch #2",
        "if #1 does touch #2",
    ),
    _phrasing(
        rf"(?:what|who|which) {_BE} (?:the )?(?P<rest>.+)", r"\g<rest>", "What is the capital of #1", "capital of #1"
    ),
)
"""For a step that ends with a question mark; the first that matches the whole is used."""

_FIND = r"(?:find|get|identify|retrieve|determine|fetch|select|list|show|keep|choose|pick)"

COMMANDS: tuple[Phrasing, ...] = (
    _phrasing(
        rf"(?:count|{_FIND} (?:out )?how many) (?:how many )?(?:(?:the )?number of )?(?:the )?{_REFERENCE}"
        rf"(?: (?:{_BE} there|there {_BE}|exist))?",
        r"number of \g<ref>",
        "Count the #2",
        "number of #2",
    ),
    _phrasing(
        rf"(?:filter|reduce|narrow|limit|restrict) (?:down )?{_REFERENCE} (?:down )?to (?:keep |include |get |leave )?"
        r"(?:only )?(?:the )?(?P<rest>[^#]+) ones",
        r"\g<ref> that are \g<rest>",
        "Filter #1 to keep only red ones",
        "#1 that are red",
    ),
    _phrasing(
        rf"filter {_REFERENCE} (?:to|for|by|with)? ?(?:keep |include |get |leave )?(?:only )?(?:those|the ones|ones)? ?"
        r"(?P<rest>.+)",
        r"\g<ref> \g<rest>",
        "Filter #1 to those that are red",
        "#1 that are red",
    ),
    _phrasing(
        rf"{_FIND} (?:only )?the (?P<rest>[^#]+) ones (?:in|of|from|among) {_REFERENCE}",
        r"\g<ref> that are \g<rest>",
        "Keep only the red ones in #1",
        "#1 that are red",
    ),
    _phrasing(
        rf"(?:from|among|of|in) {_REFERENCE},? {_FIND} (?:only )?(?:those|the ones|ones) (?P<rest>.+)",
        r"\g<ref> \g<rest>",
        "From #1, select those that are red",
        "#1 that are red",
    ),
    _phrasing(
        rf"{_FIND} (?:only )?(?:(?:those|the ones|which|what) )?(?:of |from |among |in )?{_REFERENCE},? (?:only )?"
        r"(?:those )?(?P<rest>(?:that|which|who|where|with|from)\b.+)",
        r"\g<ref> \g<rest>",
        "Select from #1 those that are red",
        "#1 that are red",
    ),
    _phrasing(
        rf"{_FIND} (?:which|what) (?:of |among )?(?:the )?{_REFERENCE} (?P<rest>.+)",
        r"\g<ref> that \g<rest>",
        "Determine which of #1 are red",
        "#1 that are red",
    ),
    _phrasing(
        rf"(?:sort|order|rank) {_REFERENCE} by (?P<rest>.+)",
        r"\g<ref> sorted by \g<rest>",
        "Sort #1 by price",
        "#1 sorted by price",
    ),
    _phrasing(
        rf"subtract {_REFERENCE} from (?P<rest>\#\d+)",
        r"difference of \g<rest> and \g<ref>",
        "Subtract #1 from #2",
        "difference of #2 and #1",
    ),
    _phrasing(
        rf"add (?:up )?{_REFERENCE} (?:and|to) (?P<rest>\#\d+)",
        r"sum of \g<ref> and \g<rest>",
        "Add #1 and #2",
        "sum of #1 and #2",
    ),
    _phrasing(
        rf"(?:remove|exclude|drop) {_REFERENCE} from (?P<rest>\#\d+)",
        r"\g<rest> besides \g<ref>",
        "Remove #2 from #1",
        "#1 besides #2",
    ),
    _phrasing(
        rf"(?:combine|merge|join) {_REFERENCE} (?:and|with) (?P<rest>\#\d+)",
        r"\g<ref> , \g<rest>",
        "Combine #1 and #2",
        "#1 , #2",
    ),
    _phrasing(
        r"(?:check|determine|verify|decide|find out|see) (?:if|whether) (?P<rest>.+)",
        r"if \g<rest>",
        "Check whether #1 is red",
        "if #1 is red",
    ),
    _phrasing(
        r"(?:calculate|compute|list|show|select|give|name) (?:me )?(?:all|the|every|each) (?:of )?(?:the )?"
        r"(?P<rest>.+)",
        r"\g<rest>",
        "List all red cubes",
        "red cubes",
    ),
    _phrasing(
        r"(?:find|get|identify|retrieve|determine|fetch|look up)(?: out)? (?:me )?(?:all )?(?:of )?"
        r"(?P<rest>(?!that\b).+)",
        r"\g<rest>",
        "Find all red cubes",
        "red cubes",
    ),
)
"""For a step that begins with a capital letter: a sentence whose verb says what others say with ``return``."""


def without_stops_after_references(text: str) -> str:
    """Break's text without the full stop that a writer put after a last reference.

    >>> without_stops_after_references("return cubes ;return spheres ;return #1 , #2.")
    'return cubes ;return spheres ;return #1 , #2'
    """
    has_stop = "." in text or "?" in text or "!" in text
    return _STOP_AFTER_REFERENCE.sub(r"\1", text) if has_stop else text


def without_sentences(texts: Sequence[str]) -> list[str]:
    """The phrases of steps that were written as sentences.

    >>> without_sentences(["Find all cubes.", "Which of #1 are red?", "How many #2 are there?"])
    ['cubes', '#1 that are red', 'number of #2']
    """
    texts = [_RELATION.sub(r"\g<relation> of \g<subject>", text) for text in texts]
    texts = [" ".join(text.split("\n")).strip() for text in texts]
    for strip in (_without_keys, _without_quotes):
        texts = strip(texts)
    return [_phrase(text, number) for number, text in enumerate(texts, start=1)]


def _without_keys(texts: Sequence[str]) -> list[str]:
    shown = [_KEY.sub("", text) for text in texts]
    return shown if all(map(str.__ne__, texts, shown)) and all(shown) else list(texts)


def _without_quotes(texts: Sequence[str]) -> list[str]:
    """A writer who puts steps in quotes does so with all of them; quotes around only one belong to it."""
    ends = [text.rstrip(_ENDING) for text in texts]
    quoted = all(len(text) > 2 and _QUOTES.get(text[0]) == text[-1] for text in ends)
    return [text[1:-1].strip() for text in ends] if quoted and len(texts) > 1 else list(texts)


def _phrase(text: str, number: int) -> str:
    if _RETURN.match(text):
        text = _RETURN.sub("", text, count=1)
    named = _NAMED_AT_END.search(text)
    if named is not None and int(named["n"][:9]) == number:
        text = text[: named.start()]
    text = _without_end(text)
    if text.endswith("?"):
        text = _said(QUESTIONS, text.rstrip(_ENDING + "?"))
    else:
        text = _said(COMMANDS if text[:1].isupper() else (), text)
        text = _said([each for each in QUESTIONS if each.certain], text)
    # Break's text has no way to write a semicolon.
    return text.replace(";", ",")


def _without_end(text: str) -> str:
    bare = text.rstrip(_ENDING)
    abbreviated = text[: len(bare) + 1]
    # Only the end matters: from each letter of "a.a.a.…x", the pattern would run through all that follow.
    return abbreviated if _ABBREVIATION.search(abbreviated[-_LONGEST_ABBREVIATION:]) else bare


def _said(phrasings: Sequence[Phrasing], sentence: str) -> str:
    for phrasing in phrasings:
        match = phrasing.pattern.fullmatch(sentence)
        if match is not None:
            return match.expand(phrasing.phrase)
    return sentence
