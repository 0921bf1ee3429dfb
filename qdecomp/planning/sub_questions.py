"""How a step reads as a separate question: "capital of #1" becomes "What is the capital of #1?".

The rules are a table. A rule is a regular expression over the step's text and a template for the question; the first
rule of the step's operator that matches is used. What no rule matches stays a phrase, which retrievers accept as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.operators import Operator
from qdecomp.planning.answer_values import as_list, as_text

if TYPE_CHECKING:
    from qdecomp.planning.plan import PlanStep


_REFERENCE = re.compile(r"#(\d+)\b")
_ASKS = "who|whom|whose|what|when|where|which|why|how"
_BE = "is|are|was|were"
_AUXILIARY = f"{_BE}|has|have|had|do|does|did|can|could|will|would"
_SINGULAR_IN_S = ("ss", "us", "is", "news", "series", "species")


class SubQuestion(str):
    """A question to be answered: a string that contains the answers of earlier steps and knows where it comes from."""

    __slots__ = ("answers", "step")

    step: PlanStep
    """The step that asks: its number, operator and logical form."""
    answers: Mapping[int, Any]
    """The answers that the step needs, by the numbers of their steps."""

    def __new__(cls, text: str, step: PlanStep, answers: Mapping[int, Any]) -> SubQuestion:
        """A question with this text."""
        question = super().__new__(cls, text)
        question.step = step
        question.answers = answers
        return question

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), self.step, dict(self.answers)


@dataclass(frozen=True, slots=True)
class Wording:
    """A way to ask steps of an operator; ``{be}`` in the question is "is" or "are", by the group ``noun``."""

    operator: Operator
    form: str
    question: str
    example: str
    """A step and its question, with an arrow between them."""

    def ask(self, text: str) -> str | None:
        """The question for a step with that text; None if it does not apply to the step."""
        match = re.fullmatch(self.form, text, re.IGNORECASE)
        if match is None:
            return None
        groups = {name: value or "" for name, value in match.groupdict().items()}
        asked = self.question.format(be=_be(groups.get("noun", "")), **groups)
        asked = " ".join(asked.split()).replace(" ,", ",").replace(" ?", "?")
        return asked[:1].upper() + asked[1:]


def _be(noun: str) -> str:
    last = noun.lower().split()[-1] if noun.split() else ""
    return "are" if last.endswith("s") and not last.endswith(_SINGULAR_IN_S) else "is"


_ASKED = (rf"(?P<all>(?:{_ASKS})\b.*?)[ ?]*", "{all}?")

WORDINGS: tuple[Wording, ...] = (
    Wording(Operator.SELECT, *_ASKED, "who wrote Emma → Who wrote Emma?"),
    Wording(Operator.PROJECT, *_ASKED, "when was #1 born → When was #1 born?"),
    Wording(Operator.PROJECT,
            r"(?:the )?(?P<noun>[^#]+?) (?P<rest>(?:of|in|at|on|for|from|by|with|to|that|which|who)\b.*#.*)",
            "what {be} the {noun} {rest}?", "capitals of #1 → What are the capitals of #1?"),
    Wording(Operator.PROJECT, r"(?:the )?(?P<noun>[^#]+?) (?P<rest>#.*)", "what {be} the {noun} {rest}?",
            "teams #1 played for → What are the teams #1 played for?"),
    Wording(Operator.FILTER, rf"(?P<sub>#\d+) (?:that |which |who )?(?P<rest>(?:{_AUXILIARY})\b.*)",
            "which of {sub} {rest}?", "#1 that are red → Which of #1 are red?"),
    Wording(Operator.FILTER, r"(?P<sub>#\d+) (?:that|which|who) (?P<rest>.+)", "which of {sub} {rest}?",
            "#1 who play chess → Which of #1 play chess?"),
    Wording(Operator.FILTER, r"(?P<sub>#\d+) where (?P<rest>.+)", "for which of {sub} is it true that {rest}?",
            "#1 where the goalkeeper scored → For which of #1 is it true that the goalkeeper scored?"),
    Wording(Operator.FILTER, r"(?P<sub>#\d+) (?P<rest>.+)", "which of {sub} are {rest}?",
            "#1 in Asia → Which of #1 are in Asia?"),
    Wording(Operator.AGGREGATE, r"(?:the )?(?:total )?(?:number|count) of (?P<rest>#\d+)", "how many {rest} are there?",
            "the number of #1 → How many #1 are there?"),
    Wording(Operator.AGGREGATE, r"(?:the )?(?P<rest>.+)", "what is the {rest}?",
            "highest of #1 → What is the highest of #1?"),
    Wording(Operator.GROUP, r"(?:the )?(?P<rest>.+)", "what is the {rest}?",
            "number of #2 for each #1 → What is the number of #2 for each #1?"),
    Wording(Operator.SUPERLATIVE, rf"(?:the )?(?P<sub>#\d+) where (?P<attribute>#\d+) (?:{_BE}) (?:the )?(?P<rest>.+)",
            "for which of {sub} is {attribute} the {rest}?",
            "#1 where #2 is highest → For which of #1 is #2 the highest?"),
    Wording(Operator.COMPARATIVE, rf"(?:the )?(?P<sub>.*?#\d+) where (?P<attribute>.*?#\d+) (?:{_BE}) (?P<rest>.+)",
            "for which of {sub} is {attribute} {rest}?",
            "#1 where #2 is more than 100 → For which of #1 is #2 more than 100?"),
    Wording(Operator.COMPARISON, r"(?:which )?(?P<rest>[^#]+?)(?: of)? (?P<each>#\d+.*)", "which {rest} of {each}?",
            "which is higher of #1 , #2 → Which is higher of #1, #2?"),
    Wording(Operator.INTERSECTION, r"(?P<noun>[^#]+?) (?P<rest>(?:of|in|at|by|for|are) both .*)",
            "which {noun} are {rest}?", "parties in both #2 and #3 → Which parties are in both #2 and #3?"),
    Wording(Operator.DISCARD, r"(?P<sub>#\d+) (?:besides|not in|discard|not) (?P<rest>.+)",
            "which of {sub} are not {rest}?", "#1 besides #2 → Which of #1 are not #2?"),
    Wording(Operator.SORT, r"(?P<sub>.+?) (?:sort|sorted|order|ordered) (?P<rest>by .+)",
            "what are {sub} sorted {rest}?", "#1 ordered by name → What are #1 sorted by name?"),
    Wording(Operator.BOOLEAN, rf"if (?P<sub>(?:(?!\b(?:{_BE})\b).)+) (?P<verb>{_BE}) (?P<rest>.+)",
            "{verb} {sub} {rest}?", "if both #1 and #2 are true → Are both #1 and #2 true?"),
    Wording(Operator.BOOLEAN, r"if (?P<rest>.+)", "is it true that {rest}?",
            "if #1 won #2 → Is it true that #1 won #2?"),
    Wording(Operator.BOOLEAN, rf"(?P<rest>(?:{_AUXILIARY}) .+?)[ ?]*", "{rest}?",
            "are there any #1 → Are there any #1?"),
    Wording(Operator.ARITHMETIC, r"(?:the )?(?P<rest>.+)", "what is the {rest}?",
            "difference of #1 and #2 → What is the difference of #1 and #2?"),
)  # fmt: skip


def in_words(step: PlanStep, answers: Mapping[int, Any]) -> str:
    """The step as a question, with the answers that are known; the others stay references such as ``#1``."""
    # "Which of Peru are in Asia?" would be odd; for one thing, the phrase says enough.
    subject = answers.get(step.needs[0]) if step.needs else None
    of_one = step.operator is Operator.FILTER and subject is not None and as_list(subject) is None
    wordings = () if of_one else (wording for wording in WORDINGS if wording.operator is step.operator)
    asked = next(filter(None, (wording.ask(step.text) for wording in wordings)), step.text.replace(" ,", ","))
    return _REFERENCE.sub(
        lambda match: as_text(answers[int(match[1])]) if int(match[1]) in answers else match[0], asked
    )
