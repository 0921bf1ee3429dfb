"""What is obviously wrong with a plan, and what is not a question: a table of checks, with words from data files.

A warning does not mean that a plan is wrong, but that a person would look at it twice. Each check was measured on
decompositions by people, on which it must be silent: RESULTS.md has how often it is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any

from qdecomp.data_structures.lexicon import skipped_words, stop_words
from qdecomp.data_structures.lexicon.inflections import variants
from qdecomp.data_structures.limits import LONGEST_QUESTION
from qdecomp.data_structures.qdmr import Qdmr, is_reference, reference_number
from qdecomp.data_structures.tokenization import tokenize

Finding = tuple[int, str]
"""A step, 0 for the whole plan, and what is odd about it."""

_SIGNS = frozenset(".?!:;,")
_ARTICLES = frozenset(("a", "an", "the"))
_SHORTEST_CONTENT = 3
# Words that share this many letters at their beginning count as forms of one word.
_BEGINNING = 4
_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[a-zA-ZÀ-ɏ]")
# The share of letters from other alphabets from which a question counts as being in another language.
_FOREIGN_LETTERS = 0.3
_FOREIGN_WORDS = 2
_IN_NO_STEP = "the question's {!r} is in no step"

_UNFINISHED = re.compile(r"(?:.* )?(than|at least|at most|equals? to|same as|is (?:more|less|higher|lower)|each)")
_UP = (
    "at least|no less|no fewer|not less|more|most|exceeds?|exceeding|max|maximum"
    "|(?:bigg|great|heavi|high|larg|long|tall)(?:er|est)"
)
_DOWN = "at most|no more|not more|less|(?<!at )least|min|minimum|(?:few|light|low|short|small)(?:er|est)"
# In a step, "over" and "under" may be places, and "at least one" and "more than zero" are what is not empty.
_ASKED_DIRECTION = re.compile(rf"\b(?:more or less|(?P<up>{_UP}|over|above)|(?P<down>{_DOWN}|under|below))\b")
_SAID_DIRECTION = re.compile(rf"\b(?:(?P<up>{_UP})(?! (?:than )?(?:zero|one|0|1)\b)|(?P<down>{_DOWN}))\b")
# The oldest has the highest age or the lowest year, the nearest the lowest distance, and "max 5" means 5 or less.
_EITHER_WAY = re.compile(
    r"\b(?:not|n't|no|never|without|max|maximum|min|minimum|best|worst"
    r"|(?:cheap|clos|earli|fast|lat|near|new|old|slow|young)(?:er|est))\b"
)


@cache
def _words() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("checks.json").read_text(encoding="utf-8"))
    return {name: frozenset(value) if isinstance(value, list) else value for name, value in found.items()}


@cache
def _left_out() -> frozenset[str]:
    text = files(__package__).joinpath("left_out_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


@dataclass(frozen=True, slots=True)
class _Plan:
    """The words of a question and of its steps, in lower case."""

    question: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    said: frozenset[str]
    """The words of all steps; of those that are joined by signs, each part."""
    asked: tuple[str, ...]
    """The clauses of the question of which a step says something, or else all of it: the rest is talk around it."""


def _plan_of(question: str, qdmr: Qdmr) -> _Plan:
    words = tuple(word.lower() for word in tokenize(question))
    steps = tuple(tuple(token.lower() for token in step.tokens) for step in qdmr.steps)
    tokens = {word for step in steps for word in step if not is_reference(word)}
    said = frozenset(part for word in tokens for part in (word, *re.split(r"\W+", word)) if part)
    ends = [-1, *(place for place, word in enumerate(words) if word in _SIGNS), len(words)]
    clauses = [words[first + 1 : last + 1] for first, last in pairwise(ends)]
    said_in_part = [clause for clause in clauses if any(_is_content(word) and _is_said(word, said) for word in clause)]
    return _Plan(words, steps, said, tuple(chain.from_iterable(said_in_part or clauses)))


def _is_content(word: str) -> bool:
    """Whether a step should say the word: people rarely leave it out or say it in another way."""
    is_word = word[:1].isalpha() and len(word) >= _SHORTEST_CONTENT and not word.endswith("ly")
    return is_word and not (word in stop_words() or word in skipped_words() or word[:_BEGINNING] in _left_out())


def _is_said(word: str, said: frozenset[str]) -> bool:
    """Whether a step has the word in some form."""
    beginning = word[:_BEGINNING]
    return any(other.startswith(beginning) for other in said) or not said.isdisjoint(variants(word))


def _unfinished_step(plan: _Plan) -> Iterator[Finding]:
    for number, step in enumerate(plan.steps, start=1):
        if match := _UNFINISHED.fullmatch(" ".join(step)):
            yield number, f"it ends in {match[1]!r}, and something is missing after it"


def _repeated_word(plan: _Plan) -> Iterator[Finding]:
    asked = set(pairwise(plan.question))
    for number, step in enumerate(plan.steps, start=1):
        twice = [first for first, second in pairwise(step) if first == second and (first, first) not in asked]
        if words := [word for word in twice if word.isalpha() or is_reference(word)]:
            yield number, f"{words[0]!r} twice in a row"


def _opposite_comparison(plan: _Plan) -> Iterator[Finding]:
    question = " ".join(plan.question)
    asked = {match.lastgroup: match[0] for match in _ASKED_DIRECTION.finditer(question) if match.lastgroup}
    if len(asked) != 1 or _EITHER_WAY.search(question):
        return
    for number, step in enumerate(plan.steps, start=1):
        for match in _SAID_DIRECTION.finditer(" ".join(step)):
            if match.lastgroup not in asked:
                yield number, f"{match[0]!r} is the opposite of the question's {next(iter(asked.values()))!r}"
                break


def _unused_step(plan: _Plan) -> Iterator[Finding]:
    used = {word for step in plan.steps for word in step}
    for number in range(1, len(plan.steps)):
        if f"#{number}" not in used:
            yield number, "no other step uses it"


def _repeated_step(plan: _Plan) -> Iterator[Finding]:
    """A step that equals an earlier one, or that repeats what the step it refers to did."""
    seen: dict[tuple[str, ...], int] = {}
    patterns: list[list[str]] = []
    for number, step in enumerate(plan.steps, start=1):
        words = tuple(word for word in step if word not in _ARTICLES)
        patterns.append(["#" if is_reference(word) else word for word in words])
        references = _references(words)
        if words in seen:
            yield number, f"it repeats step {seen[words]}"
        elif len(references) == 1 and 0 < references[0] < number and patterns[references[0] - 1] == patterns[-1]:
            yield number, f"it does with step {references[0]} what that one did already"
        seen.setdefault(words, number)


def _one_side_twice(plan: _Plan) -> Iterator[Finding]:
    """A comparison, a sum or a group of one thing with itself; only sorting by itself is fine."""
    for number, step in enumerate(plan.steps, start=1):
        references = _references(step)
        if len(references) > 1 and len(set(references)) == 1 and _words()["sorting"].isdisjoint(step):
            yield number, f"#{references[0]} with itself"


def _references(words: Sequence[str]) -> list[int]:
    return [number for number in map(reference_number, words) if number is not None]


def _lost_number(plan: _Plan) -> Iterator[Finding]:
    said = " ".join(word for step in plan.steps for word in step)
    for word in dict.fromkeys(plan.question):
        if word.isdigit() and len(word) > 1 and word not in said:
            yield 0, f"the question's number {word} is in no step"


def _lost_word(plan: _Plan) -> Iterator[Finding]:
    places = [place for place, word in enumerate(plan.asked) if _is_content(word) and not _is_said(word, plan.said)]
    lost = dict.fromkeys(plan.asked[place] for place in places if not _is_class(plan.asked, place))
    if lost:
        yield 0, f"the question's {', '.join(map(repr, lost))} {'is' if len(lost) == 1 else 'are'} in no step"


def _is_class(words: Sequence[str], place: int) -> bool:
    """Whether a word only says what the compared things are: "Which river is longer, …", "of the two rivers"."""
    before = words[max(0, place - 3) : place]
    return not {":", "or"}.isdisjoint(words) and ("two" in before or not _words()["asking"].isdisjoint(before))


def _lost(asked: str, said: str, message: str, plan: _Plan) -> Iterator[Finding]:
    """The question says something, and the steps say it in none of the known ways."""
    match = re.search(rf"(?<!\w)(?:{asked})(?!\w)", " ".join(plan.question))
    if match and not any(re.fullmatch(said, word) for word in plan.said):
        yield 0, message.format(match[0])


def _lost_negation(plan: _Plan) -> Iterator[Finding]:
    negation = (
        r"except|excluding|n['’]t|neither|never|nobody|none|nor|not(?! only| more| less| \w+er\b)|nothing|without"
    )
    taken_away = (
        r"0|besides|differen(?:t|ce)|except|excluding|false|lowest|n['’]t|neither|never|no|nobody|none|nor|not|nothing"
        r"|one|only|other|unlike|without|zero|(?:dis|in|non|un)\w{5,}"
    )
    message = f"{_IN_NO_STEP}, and nothing is taken away"
    yield from _lost(
        rf"(?<!or )(?:{negation}|no longer|other than)", taken_away, message, replace(plan, question=plan.asked)
    )


def _turned_duty(plan: _Plan) -> Iterator[Finding]:
    for duty, negation in pairwise(plan.question):
        if duty in ("may", "must", "should") and negation in ("not", "n't", "n’t"):
            for number, step in enumerate(plan.steps, start=1):
                if duty in step and "not" not in step:
                    yield number, f"{duty!r}, where the question has {duty + ' not'!r}"


def _other_answer(plan: _Plan) -> Iterator[Finding]:
    """The last step gives something else than the question's first words ask for."""
    words, number, last = plan.question, len(plan.steps), plan.steps[-1] if plan.steps else ()
    if not words or all(is_reference(word) or word in (",", "and") for word in last):
        return
    if words[0] in _words()["yes_or_no"]:
        # "Is there a flight?" may be answered by the flights.
        asks_for_more = _SIGNS - {","} | {"any", "or", "tell", "there", "you"} | _words()["asking"]
        answers = {"if", "whether", "any", "true", "false", "which"} | _words()["yes_or_no"]
        if asks_for_more.isdisjoint(words[:-1]) and answers.isdisjoint(last[:2]):
            yield number, "the question asks for yes or no, and this is something else"
    elif words[0] in _words()["asking"] and last[0] == "if":
        yield number, f"the question asks {words[0]!r}, and this is yes or no"
    elif words[:2] == ("how", "many") and last[0] != "how" and _words()["number"].isdisjoint(plan.said):
        yield number, "the question asks 'how many', and no step gives a number"


PLAN_CHECKS: Mapping[str, Callable[[_Plan], Iterator[Finding]]] = MappingProxyType(
    {
        "unfinished step": _unfinished_step,
        "repeated word": _repeated_word,
        "opposite comparison": _opposite_comparison,
        "unused step": _unused_step,
        "repeated step": _repeated_step,
        "one side twice": _one_side_twice,
        "lost number": _lost_number,
        "lost word": _lost_word,
        "lost negation": _lost_negation,
        "lost superlative": partial(
            _lost,
            r"best(?! of)|worst|max(?:imum)?|min(?:imum)?|(?<!at )most(?! of| recent)"
            r"|(?:bigg|cheap|clos|deep|earli|fast|few|great|heavi|high|larg|lat|light|long|low|near|new|old|rich|short"
            r"|slow|small|tall|wid|young)est",
            r"first|half|higher|last|least|less|lower|max|maximum|min|minimum|more|most|next|order|recent|second|sorted"
            r"|third|top|worst|\w+est",
            _IN_NO_STEP,
        ),
        "lost share": partial(
            _lost,
            "fraction|percentage|proportion|ratio",
            "%|divided|division|fractions?|many|percent.*|proportions?|rate|ratios?|share",
            "the question asks for a {}, and no step divides",
        ),
        "lost median": partial(_lost, "median", "median", _IN_NO_STEP),
        "lost group": partial(
            _lost,
            "^for each|broken down by|grouped by",
            "each|every|group|per",
            "the question asks for groups, and no step has 'for each'",
        ),
        "lost difference": partial(
            _lost,
            r"how (?:much|many) (?:more|less|fewer|\w+er)\b.* than",
            "differences?|divided|division|less|minus|subtraction",
            "the question asks for a difference, and no step has one",
        ),
        "turned duty": _turned_duty,
        "other answer": _other_answer,
    }
)
"""The checks by name; each gives the numbers of odd steps and what is odd about them, 0 for the plan as a whole."""


def plan_warnings(
    question: str, qdmr: Qdmr, checks: Iterable[Callable[[_Plan], Iterator[Finding]]] = tuple(PLAN_CHECKS.values())
) -> tuple[str, ...]:
    """What is odd about a plan: about all of it, then step by step.

    >>> from qdecomp.data_structures.qdmr import parse_qdmr
    >>> plan_warnings("Which firms have more staff?", parse_qdmr("return firms ;return staff of #1 that is more than"))
    ("step 2: it ends in 'than', and something is missing after it",)
    """
    plan = _plan_of(question, qdmr)
    found = sorted((pair for check in checks for pair in check(plan)), key=lambda pair: pair[0])
    return tuple(f"step {number}: {message}" if number else message for number, message in found)


def not_a_question(question: str) -> str | None:
    """Why a text is not a question that can be split into steps; None if it may be one.

    >>> not_a_question("hello")
    'not a question: a single word'
    >>> not_a_question("¿Cuántos ríos hay en Texas?")
    'not a question in English: it looks like Spanish'
    """
    if not isinstance(question, str) or len(question) > LONGEST_QUESTION:
        # There is no need to check it: a parser refuses it because of its type or its length.
        return None
    words = [word.lower() for word in tokenize(question) if any(map(str.isalnum, word))]
    if not words:
        return None
    letters = _LETTERS.findall(question)
    if letters and sum(not _LATIN.match(letter) for letter in letters) > _FOREIGN_LETTERS * len(letters):
        return "not a question in English: most of its letters are of another alphabet"
    if len(words) == 1:
        return "not a question: a single word"
    if all(word in _words()["greetings"] for word in words):
        return "not a question: only words of greeting"
    english = sum(word in stop_words() or word in _words()["greetings"] for word in words)
    for language, known in _words()["foreign"].items():
        foreign = sum(word in known for word in words)
        if foreign >= _FOREIGN_WORDS and foreign > english:
            return f"not a question in English: it looks like {language}"
    return None
