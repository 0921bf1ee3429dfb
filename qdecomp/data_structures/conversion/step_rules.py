"""How people write the steps of each operator: the rule table of QDMR → LF.

A rule is a regular expression over the step's tokens, joined by single spaces. Its named groups are arguments:
``sub`` is one argument, ``sub_1`` and ``sub_2`` are pieces of one, and ``each_sub`` holds a list in which every
member is a separate argument. The first rule that matches wins, so the order of the rows is their priority.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from qdecomp.data_structures.lexicon import property_phrases
from qdecomp.data_structures.operators import Operator


def _alternatives(*operators: Operator) -> str:
    """All property phrases of some operators, longest first, so that the longest one matches."""
    phrases = {
        " ".join(phrase) for operator in operators for row in property_phrases(operator) for phrase in row.phrases
    }
    return "|".join(re.escape(phrase) for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


LIST_SEPARATOR = re.compile(r" (?:, and|, or|,|and|or) ")
_MACROS = {
    "REF": r"\#[0-9]+",
    "LIST": r"\#[0-9]+(?: (?:, and|, or|,|and|or) \#[0-9]+)+",
    "ASK": r"(?:if|is|are|did)",
    "BE": r"(?:is|are|was|were)",
    "AGGREGATE": f"(?:{_alternatives(Operator.AGGREGATE)})",
    "SUPERLATIVE": f"(?:{_alternatives(Operator.SUPERLATIVE)})",
    "COMPARES": (
        r"(?:is|are|was|were|be|has|have|had|do|does|did|at|not|no|equals?|more|less|fewer|higher|lower|larger|smaller"
        r"|bigger|longer|shorter|includes?|contains?)"
    ),
    "SORT": r"(?:sort|sorted|order|ordered) by",
    "BESIDES": r"(?:besides|not in|discard|not)",
}


@dataclass(frozen=True, slots=True)
class StepRule:
    """One way in which people write an operator's steps; the example, ``step → logical form``, is a test."""

    operator: Operator
    form: str
    example: str
    references: tuple[int, float] = (1, float("inf"))  # the fewest and the most that the step may have
    shows: str | None = None  # a property; if there is none, the lexicon is searched
    approximate: bool = False  # reads what the published rules cannot, the last by the places of references alone

    @property
    def expression(self) -> str:
        """The regular expression that a whole step must match, whatever its case."""
        expanded = self.form
        for name, meaning in _MACROS.items():
            expanded = expanded.replace(f"<{name}>", meaning)
        return expanded


_TWO_OR_MORE = (2, float("inf"))

STEP_RULES: tuple[StepRule, ...] = (
    *(
        StepRule(
            Operator.BOOLEAN,
            rf"<ASK> {word} (?:of )?(?P<each_sub><LIST>){ending}",
            f"if {word} #1 {link} #2 {be} {value} → BOOLEAN[{link}-{value}](sub=#1, sub=#2)",
            shows=f"{link}-{value}",
        )
        for word, link, be in (("both", "and", "are"), ("either", "or", "is"))
        for value, ending in (("true", "(?: (?:<BE> )?true)?"), ("false", " (?:<BE> )?false"))
    ),
    StepRule(
        Operator.BOOLEAN,
        r"<ASK> (?:there (?:<BE> )?(?:any |an? )?|any (?:of )?)(?P<sub><REF>)(?: (?P<condition>.+))?",
        "are there any #1 in the left image → BOOLEAN[if-exists](sub=#1, condition=in the left image)",
        shows="if-exists",
    ),
    StepRule(
        Operator.BOOLEAN,
        r"<ASK> (?:(?P<condition_1>[^#]+) )?(?P<sub><REF>)(?: (?P<condition_2>.+))?",
        "if all #1 are the same as #2 → BOOLEAN[equals](sub=#1, condition=all #2)",
    ),
    StepRule(
        Operator.SUPERLATIVE,
        r"(?:the )?(?P<sub><REF>) where (?P<attribute_1><REF>) (?:<BE> )?(?:the )?<SUPERLATIVE>"
        r"(?: (?P<attribute_2>.+))?",
        "#2 where #3 is the lowest → SUPERLATIVE[min](sub=#2, attribute=#3)",
    ),
    StepRule(
        Operator.GROUP,
        r"(?P<value>.+?) for each (?P<key>.+)",
        "the number of #2 for each #1 → GROUP[count](key=#1, value=#2)",
    ),
    StepRule(
        Operator.COMPARATIVE,
        r"(?:the )?(?P<sub>(?:[^#]+ )?<REF>) where (?P<attribute>(?:[^#]+ of )?<REF>) (?P<condition><COMPARES>\b.*)",
        "#1 where #2 is more than 100 → COMPARATIVE[more](sub=#1, attribute=#2, condition=100)",
        _TWO_OR_MORE,
    ),
    StepRule(
        Operator.INTERSECTION,
        r"(?:(?P<projection>.+?) )??(?:(?:of|in|at|by|between|for|are) )?both (?:of )?(?P<each_intersect><LIST>)",
        "parties in both #2 and #3 → INTERSECTION[](intersect=#2, intersect=#3, projection=parties)",
        _TWO_OR_MORE,
    ),
    StepRule(
        Operator.COMPARISON,
        r"which (?P<each_arg>[^#]*<LIST>)",
        "which is higher of #1 , #2 → COMPARISON[max](arg=#1, arg=#2)",
        _TWO_OR_MORE,
    ),
    StepRule(
        Operator.ARITHMETIC,
        r"(?:[^#]+? )??(?:difference|decline|division|divide)(?: of| between)? (?P<left>.+?) (?:and|,) (?P<right>.+)",
        "the difference of 100 and #1 → ARITHMETIC[diff](left=100, right=#1)",
    ),
    StepRule(
        Operator.ARITHMETIC,
        r"(?:[^#]+? )??(?:sum|total|multiplication|multiply)(?: of)? (?P<each_arg>.+ (?:and|,) .+)",
        "the sum of #1 , #2 and #3 → ARITHMETIC[sum](arg=#1, arg=#2, arg=#3)",
    ),
    StepRule(Operator.SORT, r"(?P<sub>.+?) <SORT> (?P<order>.+)", "#1 ordered by name → SORT[](sub=#1, order=name)"),
    StepRule(Operator.UNION, r"(?P<each_sub><LIST>)", "#1 , #2 → UNION[](sub=#1, sub=#2)", _TWO_OR_MORE),
    StepRule(
        Operator.DISCARD,
        r"(?=\#|.*\#[0-9]+\Z)(?P<sub>.+?) <BESIDES> (?P<exclude>.+)",
        "#1 besides #2 → DISCARD[](sub=#1, exclude=#2)",
        (1, 2),
    ),
    StepRule(
        Operator.AGGREGATE,
        r"(?:(?P<arg_1>[^#]+?) )??<AGGREGATE>(?: of)* (?P<arg_2><REF>(?: .+)?)",
        "the number of #1 → AGGREGATE[count](arg=#1)",
        (1, 1),
    ),
    StepRule(Operator.SELECT, r"(?P<sub>.+)", "cubes → SELECT[](sub=cubes)", (0, 0)),
    StepRule(
        Operator.FILTER,
        r"(?P<sub><REF>)(?: (?P<condition>.+))?",
        "#1 from Toronto → FILTER[](sub=#1, condition=from Toronto)",
    ),
    StepRule(
        Operator.PROJECT,
        r"(?P<projection_1>[^#]+) (?P<sub><REF>)(?: (?P<projection_2>.+))?",
        "what color is #1 → PROJECT[](sub=#1, projection=what color is)",
        (1, 1),
    ),
    StepRule(
        Operator.COMPARISON,
        r"(?P<each_arg>[^#]*\b<AGGREGATE>\b[^#]*<LIST>)",
        "what event happened first of #1 , #2 → COMPARISON[min](arg=event happened #1, arg=#2)",
        _TWO_OR_MORE,
        approximate=True,
    ),
    StepRule(
        Operator.GROUP,
        r"(?P<value>[^#]*<AGGREGATE>(?: of)? <REF>) (?:in|of|from|at|by|with|for) each (?P<key><REF>)",
        "number of #1 in each #2 → GROUP[count](key=#2, value=#1)",
        (2, 2),
        approximate=True,
    ),
    StepRule(
        Operator.AGGREGATE,
        r"(?:the )?<AGGREGATE>(?: of)* (?P<arg><REF> .+)",
        "number of #1 from #2 → AGGREGATE[count](arg=#1 from #2)",
        _TWO_OR_MORE,
        approximate=True,
    ),
    StepRule(
        Operator.PROJECT,
        r"(?P<projection_1>.+) (?P<sub><REF>)(?: (?P<projection_2>.+))?",
        "how many months before #2 is #1 → PROJECT[](sub=#1, projection=how many months before #2 is)",
        approximate=True,
    ),
)
"""The rules in the order in which they are tried; the first one that matches a step gives its operator."""
