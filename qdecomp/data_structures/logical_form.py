"""Logical forms: every step as an operator with properties and named arguments, and their text and JSON forms.

The text of a step is ``FILTER[](sub=#1, condition=from Toronto)``. An equals sign or a backslash that
belongs to a word is escaped with a backslash, so that every value can be read back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from qdecomp.data_structures.drawing import Drawn
from qdecomp.data_structures.errors import LogicalFormSyntaxError, QdmrSyntaxError, Reason, require_text
from qdecomp.data_structures.limits import LONGEST_STEP, MOST_STEP_WORDS, above
from qdecomp.data_structures.operators import ARGUMENT_NAMES, OPERATORS, Operator
from qdecomp.data_structures.qdmr import check_steps, is_reference, references_of

__all__ = [
    "Argument",
    "LogicalForm",
    "LogicalStep",
    "format_logical_form",
    "format_step",
    "logical_form_from_json",
    "logical_form_to_json",
    "parse_logical_form",
    "parse_step",
]


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

    @classmethod
    def of_step_tokens(cls, name: str, tokens: tuple[str, ...]) -> Argument:
        """An argument of some tokens of a :class:`~qdecomp.data_structures.qdmr.Step`, not checked once more."""
        argument = cls.__new__(cls)
        object.__setattr__(argument, "name", name)
        object.__setattr__(argument, "tokens", tokens)
        object.__setattr__(argument, "references", references_of(tokens))
        return argument

    @property
    def text(self) -> str:
        """The tokens with single spaces between them."""
        return " ".join(self.tokens)

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens that are not references."""
        if not self.references:
            return self.tokens
        return tuple([token for token in self.tokens if not is_reference(token)])


@dataclass(frozen=True, slots=True)
class LogicalStep:
    """One step: operator, properties (sorted) and arguments in the order of the operator's signature.

    ``approximate`` marks a reading that came from no rule, but from the position of the references; it is ignored in
    comparisons.
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
        # Most steps are already in order, and there are millions of them.
        if len(self.properties) > 1:
            object.__setattr__(self, "properties", tuple(sorted(set(self.properties))))
        if len(self.arguments) > 1:
            places = [signature.arguments.index(argument.name) for argument in self.arguments]
            if places != sorted(places):
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
    """Write one step; :func:`parse_step` reads it back."""
    arguments = ", ".join(f"{argument.name}={_escape(argument.text)}" for argument in step.arguments)
    return f"{step.operator.value.upper()}[{', '.join(step.properties)}]({arguments})"


_STEP = re.compile(r"\s*(?P<operator>[A-Za-z]+)\s*\[(?P<properties>[^\]]*)\]\s*\((?P<arguments>.*)\)\s*", re.DOTALL)
_ARGUMENT_START = re.compile(rf"(?:\A\s*|,\s*)({'|'.join(sorted(ARGUMENT_NAMES))})=")


def parse_step(text: str) -> LogicalStep:
    """Read one step.

    >>> parse_step("FILTER[](sub=#1, condition=from Toronto)").argument("condition")[0].tokens
    ('from', 'Toronto')
    """
    require_text(text, "a step of a logical form")
    match = _STEP.fullmatch(text)
    if match is None:
        raise LogicalFormSyntaxError(Reason("expected OPERATOR[properties](argument=…), got {!r}", text))
    properties = (name.strip() for name in match["properties"].split(","))
    return _make_step(match["operator"], [name for name in properties if name], _split_arguments(match["arguments"]))


def format_logical_form(form: LogicalForm) -> str:
    """Write all steps, one per line; :func:`parse_logical_form` reads them back."""
    return "\n".join(format_step(step) for step in form.steps)


def parse_logical_form(text: str | Iterable[str]) -> LogicalForm:
    """Read steps, one per line or one per element.

    >>> parse_logical_form(["SELECT[](sub=cubes)", "AGGREGATE[count](arg=#1)"]).steps[1].references
    (1,)
    """
    if not isinstance(text, Iterable) or isinstance(text, bytes):
        raise LogicalFormSyntaxError(
            Reason("a logical form must be a string or a list of steps, not {}", type(text).__name__)
        )
    lines = text.split("\n") if isinstance(text, str) else text
    return LogicalForm(_numbered((line for line in lines if not isinstance(line, str) or line.strip()), parse_step))


def logical_form_to_json(form: LogicalForm) -> list[dict[str, Any]]:
    """A value for ``json.dumps``; :func:`logical_form_from_json` reads it back."""
    return [
        {
            "operator": step.operator.value,
            "properties": list(step.properties),
            "arguments": [[argument.name, argument.text] for argument in step.arguments],
            "approximate": step.approximate,
        }
        for step in form.steps
    ]


def logical_form_from_json(value: Sequence[Mapping[str, Any]]) -> LogicalForm:
    """Read what :func:`logical_form_to_json` made."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise LogicalFormSyntaxError(Reason("expected a list of steps, got {}", type(value).__name__))
    return LogicalForm(_numbered(value, _step_from_json))


def _step_from_json(value: Mapping[str, Any]) -> LogicalStep:
    try:
        arguments = [(str(name), str(text)) for name, text in value["arguments"]]
        properties = [str(name) for name in value["properties"]]
        return _make_step(str(value["operator"]), properties, arguments, bool(value.get("approximate")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, LogicalFormSyntaxError):
            raise
        raise LogicalFormSyntaxError(Reason("not a step: {!r}", value)) from None


def _numbered(values: Iterable[Any], read: Any) -> tuple[LogicalStep, ...]:
    steps: list[LogicalStep] = []
    for number, value in enumerate(values, start=1):
        try:
            steps.append(read(value))
        except LogicalFormSyntaxError as error:
            raise LogicalFormSyntaxError(error.reason, number) from None
    return tuple(steps)


def _make_step(
    operator: str, properties: Sequence[str], arguments: Sequence[tuple[str, str]], approximate: bool = False
) -> LogicalStep:
    try:
        kind = Operator(operator.lower())
    except ValueError:
        raise LogicalFormSyntaxError(Reason("there is no operator {!r}", operator)) from None
    values = tuple(Argument(name, tuple(text.split())) for name, text in arguments)
    return LogicalStep(kind, tuple(properties), values, approximate)


def _split_arguments(text: str) -> list[tuple[str, str]]:
    starts = list(_ARGUMENT_START.finditer(text))
    if not starts:
        if text.strip():
            raise LogicalFormSyntaxError(Reason("expected argument=value, got {!r}", text))
        return []
    if starts[0].start() != 0:
        raise LogicalFormSyntaxError(Reason("text before the first argument: {!r}", text[: starts[0].start()]))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return [(start[1], _unescape(text[start.end() : end])) for start, end in zip(starts, ends, strict=True)]


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("=", "\\=")


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
