"""The bodies of answers, as the API documents them; :mod:`qdecomp.service.answers` makes them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "ConvertAnswer",
    "ErrorAnswer",
    "HealthAnswer",
    "ParseAnswer",
    "ParseAnswers",
    "ScoreAnswer",
    "ScoreAnswers",
    "VersionAnswer",
]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorAnswer(_Answer):
    """Why a request was refused."""

    error: str = Field(description="One line.")


class StepAnswer(_Answer):
    """One step of a plan."""

    number: int = Field(description="Counted from 1.")
    text: str = Field(description="The step as it is in the decomposition.")
    question: str = Field(description="The step as a question, with references such as #1.")
    resolved: str = Field(description="The text with the texts of other steps in place of references.")
    operator: str
    properties: list[str]
    needs: list[int] = Field(description="The steps whose answers this one needs.")


class PlanAnswer(_Answer):
    """The order in which steps can be answered."""

    levels: list[list[int]] = Field(description="The steps of a level can be answered at the same time.")
    final: int = Field(description="The step that answers the question.")


class GraphAnswer(_Answer):
    """A dependency graph over the words of the question."""

    tokens: list[str]
    edges: list[tuple[int, int, str] | tuple[int, int, str, float]] = Field(
        description="Head, dependent, tag and, from a graph parser, probability."
    )


class PicturesAnswer(_Answer):
    """SVG, or null if there is nothing or too much to draw."""

    steps: str | None
    graph: str | None


class CandidateAnswer(_Answer):
    """One of the best decompositions."""

    decomposition: str
    score: float | None


class ParseAnswer(_Answer):
    """The prediction record of a question, with its steps and its plan."""

    question_id: str
    question: str
    decomposition: str | None = Field(description="QDMR text; null if there is none.")
    logical_form: list[str] | None = Field(description="A text for each step.")
    steps: list[StepAnswer]
    plan: PlanAnswer | None
    graph: GraphAnswer | None = Field(description="The graph that was asked for, or that of a graph parser.")
    score: float | None = Field(description="The logarithm of the parser's own probability.")
    confidence: float | None = Field(description="The estimated probability that the plan is right, from 0 to 1.")
    warnings: list[str] = Field(description="What is odd about the steps.")
    error: str | None = Field(description="Why there is no plan.")
    candidates: list[CandidateAnswer] | None = Field(
        default=None, description="If the service was started with candidates."
    )
    graph_error: str | None = Field(default=None, description="Why there is no graph, if one was asked for.")
    pictures: PicturesAnswer | None = Field(default=None, description="If they were asked for.")


class ParseAnswers(_Answer):
    """The answers to many questions, in order."""

    results: list[ParseAnswer]


class ConvertAnswer(ParseAnswer):
    """The same for a user's steps."""

    read_as: str | None = Field(description="The form in which the steps were read.")


class FormsAnswer(_Answer):
    """The normalised logical forms that LF-EM compares; null if a side cannot be read."""

    prediction: str | None
    gold: str | None


class ScoreAnswer(_Answer):
    """The scores of one pair."""

    scores: dict[str, float | None] = Field(description="A value for each metric.")
    errors: dict[str, str] = Field(description="By metric: what could not be read.")
    normalized: dict[str, FormsAnswer] | None = Field(default=None, description="With lf_em.")
    evidence: dict[str, list[str]] | None = Field(default=None, description="With lf_eq: a world in which they differ.")


class ScoreAnswers(_Answer):
    """The scores of many pairs, in order."""

    results: list[ScoreAnswer]
    mean: dict[str, float | None]


class HealthAnswer(_Answer):
    """Whether the service can answer questions."""

    status: str


class VersionAnswer(_Answer):
    """What is running here."""

    version: str
    parser: str
    lf_em_version: str
    limits: dict[str, float]
