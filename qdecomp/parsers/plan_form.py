r"""The form of a plan, defined once, for language models that can be held to a form: 1 to N steps, of which each refers
to earlier steps only.

:func:`json_schema`, :func:`gbnf` (the grammars of llama.cpp) and :func:`regular_expression` are made from the same
expression of a step. In JSON, the steps are the strings of ``{"steps": […]}``; as text, they are numbered lines.

>>> print(gbnf(2).splitlines()[0])
root ::= "1. " step1 ("\n2. " step2)?
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

MOST_STEPS_ASKED = 12
"""The steps that a model may write; of Break's decompositions, 99 in 100 have fewer."""

# An expression is a text that is written as it is, or one of these.
_Expression = Any
# The steps of a text are lines.
_CONTROL = "\\x00-\\x1F"


class _Set(str):
    """Any character but these, as inside of ``[^…]``."""


class _Sequence(tuple[_Expression, ...]):
    pass


class _Choice(tuple[_Expression, ...]):
    pass


class _Rule(str):
    """The name of a rule of a grammar, which a regular expression does not have."""


class _Repeated(tuple[_Expression, str]):
    """An expression, and how often: ``*`` or ``?``."""


def _step(number: int, forbidden: str) -> _Expression:
    """What a step may be: words, and references to the steps before it; ``forbidden`` characters are in neither."""
    rest = _Repeated((_Set(f"#{_CONTROL}{forbidden}"), "*"))
    words = _Sequence((_Set(f"# {_CONTROL}{forbidden}"), rest))
    if number == 1:
        return words
    earlier = _Choice(map(str, range(1, number))) if number > 2 else "1"
    # "#1" must not be the beginning of "#12".
    reference = _Sequence(("#", earlier, _Repeated((_Sequence((_Set(f"#0-9{_CONTROL}{forbidden}"), rest)), "?"))))
    return _Sequence((_Choice((words, reference)), _Repeated((reference, "*"))))


def _as_regex(expression: _Expression) -> str:
    if isinstance(expression, _Set):
        return f"[^{expression}]"
    if isinstance(expression, _Sequence):
        return "".join(map(_as_regex, expression))
    if isinstance(expression, _Choice):
        return f"(?:{'|'.join(map(_as_regex, expression))})"
    if isinstance(expression, _Repeated):
        inner, times = expression
        return f"{_as_regex(inner)}{times}" if isinstance(inner, _Set) else f"(?:{_as_regex(inner)}){times}"
    text = str(expression)
    return "".join("\\n" if each == "\n" else each if each in "# " else re.escape(each) for each in text)


def _as_gbnf(expression: _Expression) -> str:
    if isinstance(expression, _Set):
        return f"[^{expression}]"
    if isinstance(expression, _Sequence):
        return " ".join(map(_as_gbnf, expression))
    if isinstance(expression, _Choice):
        return f"({' | '.join(map(_as_gbnf, expression))})"
    if isinstance(expression, _Repeated):
        inner, times = expression
        return f"{_as_gbnf(inner)}{times}" if isinstance(inner, _Set) else f"({_as_gbnf(inner)}){times}"
    if isinstance(expression, _Rule):
        return str(expression)
    text = str(expression).replace("\n", "\\n")
    return f'"{text}"'


def _lines(steps: int, step: Callable[[int], _Expression]) -> _Expression:
    """The steps as numbered lines, of which all but the first may be missing at the end."""
    further: _Expression = _Sequence(())
    for number in range(steps, 1, -1):
        line = _Sequence((f"\n{number}. ", step(number), *further))
        further = _Sequence((_Repeated((line, "?")),))
    return _Sequence(("1. ", step(1), *further))


def regular_expression(steps: int = MOST_STEPS_ASKED) -> str:
    r"""What numbered lines match as a whole.

    >>> plan = re.compile(regular_expression())
    >>> texts = ("1. mugs\n2. #1 that are red", "1. mugs\n2. #2 that are red", "1. mugs\n3. #1", "Sure! 1. mugs")
    >>> [plan.fullmatch(text) is not None for text in texts]
    [True, False, False, False]
    """
    return _as_regex(_lines(steps, lambda number: _step(number, "")))


def gbnf(steps: int = MOST_STEPS_ASKED) -> str:
    """A grammar of numbered lines for llama.cpp."""
    root = _lines(steps, lambda number: _Rule(f"step{number}"))
    rules = (f"step{number} ::= {_as_gbnf(_step(number, ''))}" for number in range(1, steps + 1))
    return "\n".join([f"root ::= {_as_gbnf(root)}", *rules])


def json_schema(steps: int = MOST_STEPS_ASKED) -> dict[str, Any]:
    """A schema of ``{"steps": […]}``: for each number of steps, what each of them may be."""
    # In the source of a JSON string, these would end it or begin an escape.
    patterns = {f"step{number}": _as_regex(_step(number, '"\\\\')) for number in range(1, steps + 1)}
    names = [{"$ref": f"#/$defs/{name}"} for name in patterns]
    lists = [
        {"type": "array", "prefixItems": names[:count], "minItems": count, "maxItems": count}
        for count in range(1, steps + 1)
    ]
    return {
        "type": "object",
        "properties": {"steps": {"anyOf": lists}},
        "required": ["steps"],
        "additionalProperties": False,
        "$defs": {name: {"type": "string", "pattern": f"^{pattern}$"} for name, pattern in patterns.items()},
    }
