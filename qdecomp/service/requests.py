"""The bodies of requests, as the API documents them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from qdecomp.data_structures.tokenization import has_half_character

__all__ = ["ConvertRequest", "ParseRequest", "ScoreRequest", "ScoredPair", "WrittenSteps"]


def _whole(text: str) -> str:
    if has_half_character(text):
        raise ValueError("half a character")
    return text


Text = Annotated[str, AfterValidator(_whole)]
"""A text that can be sent back: JSON's escapes may produce half a character, which cannot be encoded."""


def _whole_steps(written: str | list[str]) -> str | list[str]:
    for text in [written] if isinstance(written, str) else written:
        _whole(text)
    return written


WrittenSteps = Annotated[str | list[str], AfterValidator(_whole_steps)]
"""A decomposition: Break's text, text in another form that qdecomp reads, or a list of steps."""

_QUESTION = "How many red cubes are there?"
_STEPS = "return cubes ;return #1 that are red ;return number of #2"


def _body(*examples: dict[str, Any], either: Sequence[Sequence[str]] = ()) -> ConfigDict:
    """The settings of a body; of the groups of fields in ``either``, a request has exactly one."""

    def describe(schema: dict[str, Any]) -> None:
        if examples:
            schema["examples"] = list(examples)
        for field in schema["properties"].values():
            _without_null(field)
        if either:
            schema["oneOf"] = [
                {
                    "required": list(group),
                    "properties": {name: False for other in either if other != group for name in other},
                }
                for group in either
            ]

    return ConfigDict(extra="forbid", strict=True, json_schema_extra=describe)


def _without_null(field: dict[str, Any]) -> None:
    """A field that may be left out: null is how that is stored, and nothing to send."""
    kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
    if kinds and field.get("default", ...) is None:
        del field["anyOf"], field["default"]
        field.update(kinds[0] if len(kinds) == 1 else {"anyOf": kinds})


class ParseRequest(BaseModel):
    """One ``question`` or many ``questions``."""

    model_config = _body(
        {"question": _QUESTION},
        {"questions": [_QUESTION, "Which rivers are in Texas?"]},
        either=(("question",), ("questions",)),
    )

    question: Text | None = Field(default=None, description="The question.")
    questions: list[Text] | None = Field(default=None, description="Many questions, in the place of one.")
    graph: bool = Field(default=False, description="Add the dependency graph.")
    pictures: bool = Field(default=False, description="Add the step diagram and the graph as SVG.")


class ConvertRequest(BaseModel):
    """A question and the steps that a user wrote for it."""

    model_config = _body({"question": _QUESTION, "decomposition": _STEPS})

    question: Text = Field(description="The question that the steps answer.")
    decomposition: WrittenSteps = Field(description="QDMR text, another text that qdecomp reads, or a list of steps.")
    pictures: bool = Field(default=False, description="Add the step diagram and the graph as SVG.")


class ScoredPair(BaseModel):
    """A question with a predicted and a gold decomposition."""

    model_config = _body()

    question: Text
    prediction: WrittenSteps
    gold: WrittenSteps


class ScoreRequest(BaseModel):
    """One pair (``question``, ``prediction``, ``gold``) or many ``pairs``."""

    model_config = _body(
        {"question": _QUESTION, "prediction": ["red cubes", "number of #1"], "gold": _STEPS},
        {"pairs": [{"question": _QUESTION, "prediction": _STEPS, "gold": _STEPS}], "metrics": ["lf_em", "lf_eq"]},
        either=(("question", "prediction", "gold"), ("pairs",)),
    )

    question: Text | None = Field(default=None, description="The question of both.")
    prediction: WrittenSteps | None = Field(default=None, description="The decomposition that is scored.")
    gold: WrittenSteps | None = Field(default=None, description="The decomposition that is right.")
    pairs: list[ScoredPair] | None = Field(default=None, description="Many such pairs, in the place of one.")
    metrics: list[Text] | None = Field(
        default=None,
        description="em, sari, lf_em (with lf_em_strict), lf_eq, norm_em, ged; by default the first three.",
    )
