"""Logical forms: every step as an operator with properties and named arguments, and their text form.

The text of a step is ``FILTER[](sub=#1, condition=from Toronto)``. An equals sign or a backslash that
belongs to a word is escaped with a backslash, so that every value can be read back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from qdecomp.data_structures.errors import LogicalFormSyntaxError, QdmrSyntaxError, Reason, require_text
from qdecomp.data_structures.limits import LONGEST_STEP, MOST_STEP_WORDS, above
from qdecomp.data_structures.operators import ARGUMENT_NAMES, OPERATORS, Operator
from qdecomp.data_structures.qdmr import Drawn, check_steps, is_reference, references_of


@dataclass(frozen=True, slots=True)
class Argument:
    """A name such as ``condition`` with its tokens: words and references such as ``#2``."""

    name: str
    tokens: tuple[str, ...]
    references: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The numbers of the steps that this argument refers to, in order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "references", references_of(self.tokens))
        if not self.tokens or tuple(self.text.split()) != self.tokens:
            raise LogicalFormSyntaxError(Reason("{}: not a list of tokens: {!r}", self.name, self.tokens))

    @property
    def text(self) -> str:
        """The tokens with single spaces between them."""
        return " ".join(self.tokens)

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens that are not references."""
        return tuple([token for token in self.tokens if not is_reference(token)])


@dataclass(frozen=True, slots=True)
class LogicalStep:
    """One step: operator, properties (sorted) and arguments in the order of the operator's signature.

    ``approximate`` marks a reading that no published rule gives; it is ignored in comparisons.
    """

    operator: Operator
    properties: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    approximate: bool = field(default=False, compare=False)
    references: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The numbers of the steps that this one refers to, argument by argument."""

    def __post_init__(self) -> None:
        words = length = 0
        for argument in self.arguments:
            words += len(argument.tokens)
            length += len(argument.text)
        if words > MOST_STEP_WORDS or length > LONGEST_STEP:
            reason = above(MOST_STEP_WORDS, words, "words") or above(LONGEST_STEP, length, "characters")
            raise LogicalFormSyntaxError(reason or "")
        signature = OPERATORS[self.operator]
        for name in self.properties:
            if name not in signature.properties:
                raise LogicalFormSyntaxError(Reason("{} has no property {!r}", self.operator, name))
        for argument in self.arguments:
            if argument.name not in signature.arguments:
                raise LogicalFormSyntaxError(Reason("{} has no argument {!r}", self.operator, argument.name))
        if len(self.properties) > 1:
            object.__setattr__(self, "properties", tuple(sorted(set(self.properties))))
        if len(self.arguments) > 1:
            in_order = sorted(self.arguments, key=lambda argument: signature.arguments.index(argument.name))
            object.__setattr__(self, "arguments", tuple(in_order))
        references = tuple([number for argument in self.arguments for number in argument.references])
        object.__setattr__(self, "references", references)

    def __str__(self) -> str:
        return format_step(self)

    def argument(self, name: str) -> tuple[Argument, ...]:
        """The arguments of that name: none, one, or several as in a union."""
        return tuple(argument for argument in self.arguments if argument.name == name)


@dataclass(frozen=True, slots=True)
class LogicalForm(Drawn):
    """The logical steps of a question. Their references name steps that exist and form no cycle."""

    steps: tuple[LogicalStep, ...]

    def __post_init__(self) -> None:
        try:
            check_steps([step.references for step in self.steps])
        except QdmrSyntaxError as error:
            raise LogicalFormSyntaxError(error.reason, error.step) from None

    def __str__(self) -> str:
        return format_logical_form(self)

    def __len__(self) -> int:
        return len(self.steps)


def format_step(step: LogicalStep) -> str:
    """Write one step."""
    escaped = [(argument.name, re.sub(r"([\\=])", r"\\\1", argument.text)) for argument in step.arguments]
    arguments = ", ".join(f"{name}={text}" for name, text in escaped)
    return f"{step.operator.value.upper()}[{', '.join(step.properties)}]({arguments})"


_STEP = re.compile(r"\s*(?P<operator>[A-Za-z]+)\s*\[(?P<properties>[^\]]*)\]\s*\((?P<arguments>.*)\)\s*", re.DOTALL)
_ARGUMENT_START = re.compile(rf"(?:\A\s*|,\s*)({'|'.join(sorted(ARGUMENT_NAMES))})=")


def parse_step(text: str) -> LogicalStep:
    """Read what :func:`format_step` wrote."""
    require_text(text, "a step of a logical form")
    match = _STEP.fullmatch(text)
    if match is None:
        raise LogicalFormSyntaxError(Reason("expected OPERATOR[properties](argument=…), got {!r}", text))
    try:
        operator = Operator(match["operator"].lower())
    except ValueError:
        raise LogicalFormSyntaxError(Reason("there is no operator {!r}", match["operator"])) from None
    properties = (name.strip() for name in match["properties"].split(","))
    arguments = [Argument(name, tuple(value.split())) for name, value in _split_arguments(match["arguments"])]
    return LogicalStep(operator, tuple(filter(None, properties)), tuple(arguments))


def format_logical_form(form: LogicalForm) -> str:
    """Write all steps, one per line; :func:`parse_logical_form` reads them back."""
    return "\n".join(map(format_step, form.steps))


def parse_logical_form(text: str | Iterable[str]) -> LogicalForm:
    """Read steps, one per line or one per element."""
    if not isinstance(text, Iterable) or isinstance(text, bytes):
        reason = Reason("a logical form must be a string or a list of steps, not {}", type(text).__name__)
        raise LogicalFormSyntaxError(reason)
    steps: list[LogicalStep] = []
    for line in text.split("\n") if isinstance(text, str) else text:
        if isinstance(line, str) and not line.strip():
            continue
        try:
            steps.append(parse_step(line))
        except LogicalFormSyntaxError as error:
            raise LogicalFormSyntaxError(error.reason, len(steps) + 1) from None
    return LogicalForm(tuple(steps))


def _split_arguments(text: str) -> list[tuple[str, str]]:
    starts = list(_ARGUMENT_START.finditer(text))
    if not text.strip():
        return []
    if not starts:
        raise LogicalFormSyntaxError(Reason("expected argument=value, got {!r}", text))
    if starts[0].start() != 0:
        raise LogicalFormSyntaxError(Reason("text before the first argument: {!r}", text[: starts[0].start()]))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    values = [text[start.end() : end] for start, end in zip(starts, ends, strict=True)]
    unescaped = [re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL) for value in values]
    return [(start[1], value) for start, value in zip(starts, unescaped, strict=True)]
