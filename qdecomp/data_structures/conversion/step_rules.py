"""What a step's text looks like for each operator: the rule table of QDMR → LF and the templates of LF → QDMR.

A rule is a regular expression over the step's tokens, joined by single spaces. Its named groups are arguments:
``sub`` is one argument, ``sub_1`` and ``sub_2`` are pieces of one, and ``each_sub`` holds a list of which every
member is an argument of its own. The first rule that matches wins, so the order of the rows is their priority.
Every row has an example that the tests run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..lexicon import property_phrases
from ..operators import Operator

__all__ = ["LIST_SEPARATOR", "STEP_RULES", "TEMPLATES", "StepRule", "Template"]


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
    """One way in which people write an operator's steps.

    ``references`` bounds how many references the whole step has. A rule with a ``property`` always gives that one;
    otherwise the lexicon is searched. ``approximate`` rules read what the published rules leave unread, the last of
    them by the place of the references alone.
    """

    operator: Operator
    form: str
    example: str
    reads: str
    references: tuple[int, float] = (1, float("inf"))
    property: str | None = None
    approximate: bool = False
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        expanded = self.form
        for name, expression in _MACROS.items():
            expanded = expanded.replace(f"<{name}>", expression)
        object.__setattr__(self, "pattern", re.compile(expanded, re.IGNORECASE | re.DOTALL))


_TWO_OR_MORE = (2, float("inf"))

STEP_RULES: tuple[StepRule, ...] = (
    StepRule(
        Operator.BOOLEAN,
        r"<ASK> both (?:of )?(?P<each_sub><LIST>)(?: (?:<BE> )?true)?",
        "if both #1 and #2 are true",
        "BOOLEAN[and-true](sub=#1, sub=#2)",
        property="and-true",
    ),
    StepRule(
        Operator.BOOLEAN,
        r"<ASK> both (?:of )?(?P<each_sub><LIST>) (?:<BE> )?false",
        "if both #1 and #2 are false",
        "BOOLEAN[and-false](sub=#1, sub=#2)",
        property="and-false",
    ),
    StepRule(
        Operator.BOOLEAN,
        r"<ASK> either (?:of )?(?P<each_sub><LIST>)(?: (?:<BE> )?true)?",
        "if either #1 or #2 is true",
        "BOOLEAN[or-true](sub=#1, sub=#2)",
        property="or-true",
    ),
    StepRule(
        Operator.BOOLEAN,
        r"<ASK> either (?:of )?(?P<each_sub><LIST>) (?:<BE> )?false",
        "if either #1 or #2 is false",
        "BOOLEAN[or-false](sub=#1, sub=#2)",
        property="or-false",
    ),
    StepRule(
        Operator.BOOLEAN,
        r"<ASK> (?:there (?:<BE> )?(?:any |an? )?|any (?:of )?)(?P<sub><REF>)(?: (?P<condition>.+))?",
        "are there any #1 in the left image",
        "BOOLEAN[if-exists](sub=#1, condition=in the left image)",
        property="if-exists",
    ),
    StepRule(
        Operator.BOOLEAN,
        r"<ASK> (?:(?P<condition_1>[^#]+) )?(?P<sub><REF>)(?: (?P<condition_2>.+))?",
        "if all #1 are the same as #2",
        "BOOLEAN[equals](sub=#1, condition=all #2)",
    ),
    StepRule(
        Operator.SUPERLATIVE,
        r"(?:the )?(?P<sub><REF>) where (?P<attribute_1><REF>) (?:<BE> )?(?:the )?<SUPERLATIVE>"
        r"(?: (?P<attribute_2>.+))?",
        "#2 where #3 is the lowest",
        "SUPERLATIVE[min](sub=#2, attribute=#3)",
    ),
    StepRule(
        Operator.GROUP,
        r"(?P<value>.+?) for each (?P<key>.+)",
        "the number of #2 for each #1",
        "GROUP[count](key=#1, value=#2)",
    ),
    StepRule(
        Operator.COMPARATIVE,
        r"(?:the )?(?P<sub>(?:[^#]+ )?<REF>) where (?P<attribute>(?:[^#]+ of )?<REF>) (?P<condition><COMPARES>\b.*)",
        "#1 where #2 is more than 100",
        "COMPARATIVE[more](sub=#1, attribute=#2, condition=100)",
        _TWO_OR_MORE,
    ),
    StepRule(
        Operator.INTERSECTION,
        r"(?:(?P<projection>.+?) )??(?:(?:of|in|at|by|between|for|are) )?both (?:of )?(?P<each_intersect><LIST>)",
        "parties in both #2 and #3",
        "INTERSECTION[](intersect=#2, intersect=#3, projection=parties)",
        _TWO_OR_MORE,
    ),
    StepRule(
        Operator.COMPARISON,
        r"which (?P<each_arg>[^#]*<LIST>)",
        "which is higher of #1 , #2",
        "COMPARISON[max](arg=#1, arg=#2)",
        _TWO_OR_MORE,
    ),
    StepRule(
        Operator.ARITHMETIC,
        r"(?:[^#]+? )??(?:difference|decline|division|divide)(?: of| between)? (?P<left>.+?) (?:and|,) (?P<right>.+)",
        "the difference of 100 and #1",
        "ARITHMETIC[diff](left=100, right=#1)",
    ),
    StepRule(
        Operator.ARITHMETIC,
        r"(?:[^#]+? )??(?:sum|total|multiplication|multiply)(?: of)? (?P<each_arg>.+ (?:and|,) .+)",
        "the sum of #1 , #2 and #3",
        "ARITHMETIC[sum](arg=#1, arg=#2, arg=#3)",
    ),
    StepRule(
        Operator.SORT,
        r"(?P<sub>.+?) <SORT> (?P<order>.+)",
        "#1 ordered by name",
        "SORT[](sub=#1, order=name)",
    ),
    StepRule(
        Operator.UNION,
        r"(?P<each_sub><LIST>)",
        "#1 , #2",
        "UNION[](sub=#1, sub=#2)",
        _TWO_OR_MORE,
    ),
    StepRule(
        Operator.DISCARD,
        r"(?=\#|.*\#[0-9]+\Z)(?P<sub>.+?) <BESIDES> (?P<exclude>.+)",
        "#1 besides #2",
        "DISCARD[](sub=#1, exclude=#2)",
        (1, 2),
    ),
    StepRule(
        Operator.AGGREGATE,
        r"(?:(?P<arg_1>[^#]+?) )??<AGGREGATE>(?: of)* (?P<arg_2><REF>(?: .+)?)",
        "the number of #1",
        "AGGREGATE[count](arg=#1)",
        (1, 1),
    ),
    StepRule(Operator.SELECT, r"(?P<sub>.+)", "cubes", "SELECT[](sub=cubes)", (0, 0)),
    StepRule(
        Operator.FILTER,
        r"(?P<sub><REF>)(?: (?P<condition>.+))?",
        "#1 from Toronto",
        "FILTER[](sub=#1, condition=from Toronto)",
    ),
    StepRule(
        Operator.PROJECT,
        r"(?P<projection_1>[^#]+) (?P<sub><REF>)(?: (?P<projection_2>.+))?",
        "what color is #1",
        "PROJECT[](sub=#1, projection=what color is)",
        (1, 1),
    ),
    StepRule(
        Operator.COMPARISON,
        r"(?P<each_arg>[^#]*\b<AGGREGATE>\b[^#]*<LIST>)",
        "what event happened first of #1 , #2",
        "COMPARISON[min](arg=event happened #1, arg=#2)",
        _TWO_OR_MORE,
        approximate=True,
    ),
    StepRule(
        Operator.GROUP,
        r"(?P<value>[^#]*<AGGREGATE>(?: of)? <REF>) (?:in|of|from|at|by|with|for) each (?P<key><REF>)",
        "number of #1 in each #2",
        "GROUP[count](key=#2, value=#1)",
        (2, 2),
        approximate=True,
    ),
    StepRule(
        Operator.AGGREGATE,
        r"(?:the )?<AGGREGATE>(?: of)* (?P<arg><REF> .+)",
        "number of #1 from #2",
        "AGGREGATE[count](arg=#1 from #2)",
        _TWO_OR_MORE,
        approximate=True,
    ),
    StepRule(
        Operator.PROJECT,
        r"(?P<projection_1>.+) (?P<sub><REF>)(?: (?P<projection_2>.+))?",
        "how many months before #2 is #1",
        "PROJECT[](sub=#1, projection=how many months before #2 is)",
        approximate=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Template:
    """How a logical step is written.

    ``{sub}`` stands for all arguments of that name, joined by ``separator``; ``{sub_reference}`` and ``{sub_others}``
    for their first reference and all other tokens, ``{sub_before}`` for the tokens before the first reference and
    ``{sub_rest}`` for the others, ``{sub_head}`` and ``{sub_tail}`` for the two parts at any place between tokens: such
    a template is tried at every place, the last one first. ``{property}`` is what ``properties`` has for the step's
    property (or for None, where the step has none); the template serves no other property.
    """

    text: str
    properties: Mapping[str | None, str] = field(default_factory=lambda: MappingProxyType({None: ""}))
    separator: str = " , "


def _numbered(form: str, phrase: str) -> dict[str | None, str]:
    words = {"0": "zero", "1": "one", "2": "two"}
    return {f"{form}-{number}": f"{phrase} {word}" for number, word in words.items()}


_AGGREGATED: dict[str | None, str] = {
    "max": "highest",
    "min": "lowest",
    "count": "number",
    "sum": "sum",
    "avg": "average",
}
_COMPARED: dict[str | None, str] = {
    **_numbered("equals", "is equal to"),
    **_numbered("more-than", "is more than"),
    **_numbered("less-than", "is less than"),
    "equals": "is the same as",
    "more": "is more than",
    "less": "is less than",
    None: "",
}


def _by_phrase(operator: Operator, text: str) -> tuple[Template, ...]:
    """A template for every phrase that shows a property: the words beside it may leave only one that reads back."""
    rows = property_phrases(operator)
    return tuple(Template(text, {row.property: " ".join(phrase)}) for row in rows for phrase in row.phrases)


# The first template that serves the step's property and whose text reads back to the same step is taken. Those with
# "the" in the place of an argument are for steps of which only words without a meaning stood there.
TEMPLATES: Mapping[Operator, tuple[Template, ...]] = MappingProxyType(
    {
        Operator.SELECT: (Template("{sub}"),),
        Operator.FILTER: (Template("{sub} {condition}"), Template("{sub} that {condition}")),
        Operator.PROJECT: (Template("{projection_head} {sub} {projection_tail}"),),
        Operator.AGGREGATE: (
            Template("{arg_before} {property} of {arg_rest}", {**_AGGREGATED, None: ""}),
            *_by_phrase(Operator.AGGREGATE, "{arg_before} {property} of {arg_rest}"),
        ),
        Operator.GROUP: (
            Template("{property} of {value} for each {key}", {**_AGGREGATED, None: ""}),
            *_by_phrase(Operator.GROUP, "{property} of {value} for each {key}"),
            *_by_phrase(Operator.GROUP, "{property} of {value} for each the"),
            Template("{value} for each the"),
        ),
        Operator.SUPERLATIVE: (
            Template(
                "{sub} where {attribute_reference} is {property} {attribute_others}",
                {"max": "highest", "min": "lowest", None: ""},
            ),
        ),
        Operator.COMPARATIVE: (
            Template("{sub} where {attribute} {property} {condition}", _COMPARED),
            Template("{sub} where {attribute} is {condition}", {None: ""}),
            Template("{sub} where {attribute} {property} {condition}", {"equals": "equals"}),
            Template("{sub} where {attribute} is {property} {condition}", {"more": "at least", "less": "at most"}),
            *_by_phrase(
                Operator.COMPARATIVE, "{sub} where {attribute} is {condition_head} {property} {condition_tail}"
            ),
        ),
        Operator.COMPARISON: (
            Template("which is {property} of {arg}", {**_AGGREGATED, "true": "true", "false": "false", None: ""}),
        ),
        Operator.UNION: (Template("{sub}"),),
        Operator.INTERSECTION: (Template("{projection} in both {intersect}", separator=" and "),),
        Operator.DISCARD: (Template("{sub} besides {exclude}"), Template("{sub} not {exclude}")),
        Operator.SORT: (Template("{sub} sorted by {order}"),),
        Operator.BOOLEAN: (
            Template("if {sub} {property} {condition}", _COMPARED),
            Template("if {condition} {sub} {property}", _COMPARED),
            Template("if both {sub} are {property}", {"and-true": "true", "and-false": "false"}, " and "),
            Template("if either {sub} is {property}", {"or-true": "true", "or-false": "false"}, " or "),
            Template("if there is {property} {sub} {condition}", {"if-exists": "any"}),
            Template("if {condition_head} {sub} {condition_tail}"),
            *_by_phrase(Operator.BOOLEAN, "if {sub} is {condition_head} {property} {condition_tail}"),
            *_by_phrase(Operator.BOOLEAN, "if {condition_head} {sub} is {property} {condition_tail}"),
        ),
        Operator.ARITHMETIC: (
            Template("{property} of {left} and {right}", {"diff": "difference", "div": "division"}),
            Template("{property} of {arg}", {"sum": "sum", "multiply": "multiplication"}, " and "),
            Template("{property} of {arg}", {"diff": "difference", "div": "division", None: ""}, " and "),
            # An argument says the property, beside that of the step.
            Template("{property} of {arg}", {"diff": "sum", "div": "sum", "multiply": "sum"}, " and "),
            Template("{property} of {left} and the", {"diff": "difference", "div": "division"}),
            Template("{property} of the and {right}", {"diff": "difference", "div": "division"}),
            Template(
                "{property} of the and {arg}", {"sum": "sum", "multiply": "multiplication", "diff": "sum", "div": "sum"}
            ),
        ),
    }
)
