"""How a written sentence becomes the phrase of a step, and other words for what Break's steps say.

"How many #2 are there?" becomes ``number of #2``, "#1 except #2" becomes ``#1 besides #2``. The reader rewrites what
was not written as Break's text. LF-Eq rewrites the wordings of both sides; LF-EM compares what is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
_COUNTED = re.compile(r"(?:the )?(?:total )?(?:number|count|sum|average|difference|division|multiplication)\b", re.I)
_REFERENCE = re.compile(r"#(\d{1,3})(?!\d)")

_MACROS = {
    "<REF>": r"(\#\d+)",
    "<BE>": r"(?:is|are|was|were)",
    "<FIND>": r"(?:find|get|identify|retrieve|determine|fetch|select|list|show|keep|choose|pick)",
    "<WITH>": r"(?:with|(?:that|which|who) (?:has|have|had)|having)",
    "<NUMBER>": r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|zero)\b",
}


class Phrasing(NamedTuple):
    """What people write, an expression for all of a step, and how Break says it, from the groups of the expression."""

    form: str
    phrase: str
    example: str  # "written → read", which is a test
    certain: bool = False  # a question that needs no question mark
    needs_numbers: bool = False  # the steps that its last group refers to must compute numbers, as their words say


def _row(form: str, phrase: str, example: str, certain: bool = False, needs_numbers: bool = False) -> Phrasing:
    for name, expression in _MACROS.items():
        form = form.replace(name, expression)
    return Phrasing(form, phrase, example, certain, needs_numbers)


QUESTIONS: tuple[Phrasing, ...] = (
    _row(
        r"which (?:one )?(?:of|between) <REF>,? (?:and|or),? <REF> ([^#]+)",
        "which {2} of {0} , {1}",
        "Which of #1 and #2 is higher → which is higher of #1 , #2",
        certain=True,
    ),
    _row(
        r"which (?:one )?([^#]{0,80}?[^#\s,:])[,:]? (?:of |between )?<REF> ?(?:,|,? (?:and|or)) <REF>",
        "which {} of {} , {}",
        "Which is higher, #1 or #2 → which is higher of #1 , #2",
    ),
    _row(
        r"(?:so,? )?how many (?:of )?(?:the )?<REF>(?: (?:<BE> there|exist|do we have|in total))?",
        "number of {}",
        "How many #2 are there → number of #2",
        certain=True,
    ),
    _row(
        r"(?:of|among|from|out of) (?:the )?<REF>,? (?:which|what) (?:ones? )?(.+)",
        "{} that {}",
        "Of #1, which are red → #1 that are red",
        certain=True,
    ),
    _row(
        r"(?:which|what) (?:ones? )?(?:of|among) (?:the )?<REF> ((?!and\b|or\b)[a-z].*)",
        "{} that {}",
        "Which of #1 are red → #1 that are red",
        certain=True,
    ),
    _row(r"(?:what|who|which) <BE> <REF>(?: ['’]s|['’]s?) (.+)", "{1} of {0}", "What is #1's capital → capital of #1"),
    _row(
        r"(?:which|what) <REF> ((?:<BE>|has|have|had|do|does|did|can|could|will|would)\b.*)",
        "{} that {}",
        "Which #1 have a handle → #1 that have a handle",
    ),
    _row(
        r"(do|does|was|were|has|have|had|can|could|will|would) <REF> (.+)",
        "if {1} {0} {2}",
        "Does #1 touch #2 → if #1 does touch #2",
    ),
    _row(r"(?:what|who|which) <BE> (?:the )?(.+)", "{}", "What is the capital of #1 → capital of #1"),
)
"""For a step that ends with a question mark; the first that matches the whole is used."""

COMMANDS: tuple[Phrasing, ...] = (
    _row(
        r"(?:count|<FIND> (?:out )?how many) (?:how many )?(?:(?:the )?number of )?(?:the )?<REF>"
        r"(?: (?:<BE> there|there <BE>|exist))?",
        "number of {}",
        "Count the #2 → number of #2",
    ),
    _row(
        r"(?:filter|reduce|narrow|limit|restrict) (?:down )?<REF> (?:down )?to (?:keep |include |get |leave )?"
        r"(?:only )?(?:the )?([^#]+) ones",
        "{} that are {}",
        "Filter #1 to keep only red ones → #1 that are red",
    ),
    _row(
        r"filter <REF> (?:to|for|by|with)? ?(?:keep |include |get |leave )?(?:only )?(?:those|the ones|ones)? ?(.+)",
        "{} {}",
        "Filter #1 to those that are red → #1 that are red",
    ),
    _row(
        r"<FIND> (?:only )?the ([^#]+) ones (?:in|of|from|among) <REF>",
        "{1} that are {0}",
        "Keep only the red ones in #1 → #1 that are red",
    ),
    _row(
        r"(?:from|among|of|in) <REF>,? <FIND> (?:only )?(?:those|the ones|ones) (.+)",
        "{} {}",
        "From #1, select those that are red → #1 that are red",
    ),
    _row(
        r"<FIND> (?:only )?(?:(?:those|the ones|which|what) )?(?:of |from |among |in )?<REF>,? (?:only )?"
        r"(?:those )?((?:that|which|who|where|with|from)\b.+)",
        "{} {}",
        "Select from #1 those that are red → #1 that are red",
    ),
    _row(
        r"<FIND> (?:which|what) (?:of |among )?(?:the )?<REF> (.+)",
        "{} that {}",
        "Determine which of #1 are red → #1 that are red",
    ),
    _row(r"(?:sort|order|rank) <REF> by (.+)", "{} sorted by {}", "Sort #1 by price → #1 sorted by price"),
    _row(r"subtract <REF> from <REF>", "difference of {1} and {0}", "Subtract #1 from #2 → difference of #2 and #1"),
    _row(r"add (?:up )?<REF> (?:and|to) <REF>", "sum of {} and {}", "Add #1 and #2 → sum of #1 and #2"),
    _row(r"(?:remove|exclude|drop) <REF> from <REF>", "{1} besides {0}", "Remove #2 from #1 → #1 besides #2"),
    _row(r"(?:combine|merge|join) <REF> (?:and|with) <REF>", "{} , {}", "Combine #1 and #2 → #1 , #2"),
    _row(
        r"(?:check|determine|verify|decide|find out|see) (?:if|whether) (.+)",
        "if {}",
        "Check whether #1 is red → if #1 is red",
    ),
    _row(
        r"(?:calculate|compute|list|show|select|give|name) (?:me )?(?:all|the|every|each) (?:of )?(?:the )?(.+)",
        "{}",
        "List all red cubes → red cubes",
    ),
    _row(
        r"(?:find|get|identify|retrieve|determine|fetch|look up)(?: out)? (?:me )?(?:all )?(?:of )?((?!that\b).+)",
        "{}",
        "Find all red cubes → red cubes",
    ),
)
"""For a step that begins with a capital letter: a sentence whose verb says what others say with ``return``."""


def _extreme(words: str, known: str, means: str) -> tuple[Phrasing, ...]:
    """A thing with an attribute, and the attribute that is an extreme; Break says it with the known words, too."""
    example, reads = words.partition("|")[0], f"#1 where #2 is {means}"
    phrase = f"{{}} where {{}} is {means}"
    return (
        _row(rf"<REF> <WITH> the (?:{words}|{known}) <REF>", phrase, f"#1 with the {example} #2 → {reads}"),
        _row(rf"<REF> where <REF> <BE> (?:the )?(?:{words})", phrase, f"#1 where #2 is {example} → {reads}"),
    )


def _compared(words: str, example: str, means: str) -> tuple[Phrasing, ...]:
    """A comparison with a number or a step, as a sign or as a verb."""
    return tuple(
        _row(
            rf"({start}) (?:<BE> )?(?:{words}) ?(\#\d+|<NUMBER>.*)",
            f"{{}} {means} {{}}",
            f"{shown} {example} 5 → {shown} {means} 5",
        )
        for start, shown in ((r"\#\d+ where \#\d+", "#1 where #2"), (r"if \#\d+", "if #1"))
    )


WORDINGS: tuple[Phrasing, ...] = (
    _row("<REF> minus <REF>", "difference of {} and {}", "#1 minus #2 → difference of #1 and #2", needs_numbers=True),
    _row(
        r"(\#\d+|[^#]{1,100}) (?:except(?:ing)?(?: for)?|excluding|other than|but not|apart from|aside from|minus"
        r"|with the exception of) <REF>",
        "{} besides {}",
        "#1 except #2 → #1 besides #2",
    ),
    _row(
        r"<REF> (?:except(?: for)?|excluding|other than|but not) ([^#]+)",
        "{} besides {}",
        "#1 excluding red ones → #1 besides red ones",
    ),
    _row(r"(?:the )?(?:how many|amount of|quantity of) (?:the )?<REF>", "number of {}", "amount of #1 → number of #1"),
    _row(r"(?:the )?<REF> count", "number of {}", "#1 count → number of #1"),
    _row(
        "<REF> <WITH> the most <REF>",
        "{} where {} is highest",
        "#1 that has the most #2 → #1 where #2 is highest",
        needs_numbers=True,
    ),
    _row(
        r"<REF> <WITH> the (?:fewest|least) <REF>",
        "{} where {} is lowest",
        "#1 with the fewest #2 → #1 where #2 is lowest",
        needs_numbers=True,
    ),
    *_extreme("max|maximum|maximal|greatest|top", "highest|largest|biggest|longest", "highest"),
    *_extreme("min|minimum|minimal", "lowest|smallest|shortest", "lowest"),
    *_compared(">=|=>|≥|greater than or equal to", ">=", "is at least"),
    *_compared("<=|=<|≤|less than or equal to", "<=", "is at most"),
    *_compared(">|exceed(?:s|ed)?|surpass(?:es|ed)?", "exceeds", "is more than"),
    *_compared("<", "<", "is less than"),
    *_compared("==?", "==", "is equal to"),
)
"""For any step, as a whole; the first that matches is used."""


def without_stops_after_references(text: str) -> str:
    """Break's text without the full stop that a writer put after a last reference."""
    return _STOP_AFTER_REFERENCE.sub(r"\1", text)


def without_sentences(texts: Sequence[str]) -> list[str]:
    """The phrases of steps that were written as sentences.

    >>> without_sentences(["Find all cubes.", "Which of #1 are red?", "How many #2 are there?"])
    ['cubes', '#1 that are red', 'number of #2']
    """
    texts = [_RELATION.sub(r"\g<relation> of \g<subject>", text) for text in texts]
    texts = [" ".join(text.split("\n")).strip() for text in texts]
    without_keys = [_KEY.sub("", text) for text in texts]
    if all(shown and shown != text for shown, text in zip(without_keys, texts, strict=True)):
        texts = without_keys
    # A writer who puts steps in quotes does so with all of them; quotes around only one belong to it.
    ends = [text.rstrip(_ENDING) for text in texts]
    if len(texts) > 1 and all(len(text) > 2 and _QUOTES.get(text[0]) == text[-1] for text in ends):
        texts = [text[1:-1].strip() for text in ends]
    return [_phrase(text, number) for number, text in enumerate(texts, start=1)]


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


def usual_wording(texts: Iterable[str]) -> list[str]:
    """The texts of steps as Break would say them; each is left as it is unless a row of :data:`WORDINGS` is about it.

    >>> usual_wording(["dogs", "cats", "how many #1", "amount of #2", "#3 minus #4"])
    ['dogs', 'cats', 'number of #1', 'number of #2', 'difference of #3 and #4']
    >>> usual_wording(["dogs", "old dogs", "#1 minus #2"])[2]
    '#1 besides #2'
    """
    found: list[str] = []
    for text in texts:
        found.append(_said(WORDINGS, text, found))
    return found


def _said(rows: Iterable[Phrasing], text: str, before: Sequence[str] = ()) -> str:
    for row in rows:
        match = re.fullmatch(row.form, text, re.IGNORECASE)
        if match is not None and (not row.needs_numbers or _are_numbers(match[match.lastindex or 0], before)):
            return row.phrase.format(*match.groups())
    return text


def _are_numbers(reference: str, before: Sequence[str]) -> bool:
    numbers = [int(number) for number in _REFERENCE.findall(reference)]
    return all(0 < number <= len(before) and _COUNTED.match(before[number - 1]) for number in numbers)
