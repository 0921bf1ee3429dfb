"""The bodies of requests, as the API documents them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from qdecomp.data_structures.tokenization import has_half_character

__all__ = ["ConvertRequest", "ParseRequest", "ScoreRequest", "ScoredPair", "WrittenSteps"]


def _whole(text: str) -> str:
    if has_half_character(text):
        raise ValueError("half a character")
    return text


Text = Annotated[str, AfterValidator(_whole)]
"""A text that can be sent back: JSON's escapes may give half a character, which no encoding has."""


def _whole_steps(written: str | list[str]) -> str | list[str]:
    for text in [written] if isinstance(written, str) else written:
        _whole(text)
    return written


WrittenSteps = Annotated[str | list[str], AfterValidator(_whole_steps)]
"""A decomposition: Break's text, a text in another form that qdecomp reads, or a list of steps."""

_QUESTION = "How many red cubes are there?"
_STEPS = "return cubes ;return #1 that are red ;return number of #2"


def _body(*examples: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": list(examples)})


class ParseRequest(BaseModel):
    """One ``question`` or many ``questions``."""

    model_config = _body({"question": _QUESTION}, {"questions": [_QUESTION, "Which rivers are in Texas?"]})

    question: Text | None = None
    questions: list[Text] | None = None
    graph: bool = Field(default=False, description="Add the dependency graph.")
    pictures: bool = Field(default=False, description="Add the step diagram and the graph as SVG.")


class ConvertRequest(BaseModel):
    """A question and the steps that somebody wrote for it."""

    model_config = _body({"question": _QUESTION, "decomposition": _STEPS})

    question: Text
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
    )

    question: Text | None = None
    prediction: WrittenSteps | None = None
    gold: WrittenSteps | None = None
    pairs: list[ScoredPair] | None = None
    metrics: list[Text] | None = Field(
        default=None,
        description="em, sari, lf_em (with lf_em_strict), lf_eq, norm_em, ged; by default the first three.",
    )
