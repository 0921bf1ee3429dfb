r"""The form of a plan, defined once, for language models that can be held to a form: 1 to N steps, of which each refers
to earlier steps only.

:func:`json_schema`, :func:`gbnf` (the grammars of llama.cpp) and :func:`regular_expression` are made from the same
expression of a step. In JSON, the steps are the strings of ``{"steps": […]}``; as text, they are numbered lines.

>>> print(gbnf().splitlines()[1])
step1 ::= [^# \x00-\x1F] [^#\x00-\x1F]*
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

MOST_STEPS_ASKED = 12
"""The steps that a model may write; of Break's decompositions, 99 in 100 have fewer."""
_NUMBERS = range(1, MOST_STEPS_ASKED + 1)
# The steps of a text are lines.
_CONTROL = "\\x00-\\x1F"


class _Dialect(NamedTuple):
    """How a text, a sequence, and a group of alternatives are written."""

    text: Callable[[str], str]
    between: str
    group: str
    alternative: str

    def sequence(self, *parts: str) -> str:
        return self.between.join(parts)

    def choice(self, *options: str) -> str:
        return f"{self.group}{self.alternative.join(options)})"

    def line(self, number: int, step: str) -> list[str]:
        return [self.text(f"{number}. " if number == 1 else f"\n{number}. "), step]

    def step(self, number: int, forbidden: str = "") -> str:
        """Words, and references to the steps before it; ``forbidden`` characters are in neither."""
        rest = f"[^#{_CONTROL}{forbidden}]*"
        words = self.sequence(f"[^# {_CONTROL}{forbidden}]", rest)
        if number == 1:
            return words
        earlier = [self.text(str(each)) for each in range(1, number)]
        # "#1" must not be the beginning of "#12".
        behind = self.choice(self.sequence(f"[^#0-9{_CONTROL}{forbidden}]", rest)) + "?"
        reference = self.sequence(self.text("#"), self.choice(*earlier) if number > 2 else earlier[0], behind)
        return self.sequence(self.choice(words, reference), self.choice(reference) + "*")

    def lines(self, steps: list[str]) -> str:
        """The steps as numbered lines, of which all but the first may be missing at the end."""
        further: list[str] = []
        for number in range(len(steps), 1, -1):
            further = [self.choice(self.sequence(*self.line(number, steps[number - 1]), *further)) + "?"]
        return self.sequence(*self.line(1, steps[0]), *further)


_REGEX = _Dialect(lambda text: text.replace(".", "\\.").replace("\n", "\\n"), "", "(?:", "|")
_GBNF = _Dialect(lambda text: '"{}"'.format(text.replace("\n", "\\n")), " ", "(", " | ")


def regular_expression() -> str:
    r"""What numbered lines match as a whole.

    >>> import re
    >>> plan = re.compile(regular_expression())
    >>> texts = ("1. mugs\n2. #1 that are red", "1. mugs\n2. #2 that are red", "1. mugs\n3. #1", "Sure! 1. mugs")
    >>> [plan.fullmatch(text) is not None for text in texts]
    [True, False, False, False]
    """
    return _REGEX.lines(list(map(_REGEX.step, _NUMBERS)))


def gbnf() -> str:
    """A grammar of numbered lines for llama.cpp."""
    rules = [f"step{number} ::= {_GBNF.step(number)}" for number in _NUMBERS]
    return "\n".join([f"root ::= {_GBNF.lines([f'step{number}' for number in _NUMBERS])}", *rules])


def json_schema() -> dict[str, Any]:
    """A schema of ``{"steps": […]}``: for each number of steps, what each of them may be."""
    # In the source of a JSON string, these would end it or begin an escape.
    patterns = {f"step{number}": _REGEX.step(number, '"\\\\') for number in _NUMBERS}
    names = [{"$ref": f"#/$defs/{name}"} for name in patterns]
    lists = [
        {"type": "array", "prefixItems": names[:count], "minItems": count, "maxItems": count} for count in _NUMBERS
    ]
    return {
        "type": "object",
        "properties": {"steps": {"anyOf": lists}},
        "required": ["steps"],
        "additionalProperties": False,
        "$defs": {name: {"type": "string", "pattern": f"^{pattern}$"} for name, pattern in patterns.items()},
    }
