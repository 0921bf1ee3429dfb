"""The bodies of requests and answers, as the API documents them; the models of answers make them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from qdecomp.data_structures.dependency_graph import dependency_graph_to_json
from qdecomp.data_structures.errors import DataError, ErrorText, QDecompError, Side, as_internal_errors
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.data_structures.tokenization import check_length, has_half_character
from qdecomp.evaluation.metrics import METRICS, Metric, MetricFunction, MetricResult
from qdecomp.parsers.calibration import is_probably_wrong
from qdecomp.parsers.decomposition import Answered, Decomposition, decomposition_from_text, failed_decomposition
from qdecomp.planning import Plan, SubQuestion
from qdecomp.service.settings import ServiceSettings
from qdecomp.visualization import graph_svg, steps_svg

if TYPE_CHECKING:
    from typing_extensions import Self

# Requests


def _whole(value: Any) -> Any:
    """JSON's escapes may produce half a character, which could not be sent back."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and has_half_character(text):
            raise ValueError("half a character")
    return value


Text = Annotated[str, AfterValidator(_whole)]
WrittenSteps = Annotated[str | list[str], AfterValidator(_whole)]
"""A decomposition: Break's text, text in another form that qdecomp reads, or a list of steps."""
Answer = Annotated[str | bool | int | float | list[str | bool | int | float], AfterValidator(_whole)]
"""What was found for a step."""

_QUESTION = "How many red cubes are there?"
_STEPS = "return cubes ;return #1 that are red ;return number of #2"


def _body(*examples: dict[str, Any], either: Sequence[Sequence[str]] = ()) -> ConfigDict:
    """The settings of a body; of the groups of fields in ``either``, a request has exactly one."""

    def describe(schema: dict[str, Any]) -> None:
        if examples:
            schema["examples"] = list(examples)
        for field in schema["properties"].values():
            # A field that may be left out: null is how that is stored, and nothing to send.
            kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
            if kinds and field.get("default", ...) is None:
                del field["anyOf"], field["default"]
                field.update(kinds[0] if len(kinds) == 1 else {"anyOf": kinds})
        if either:
            schema["oneOf"] = [
                {
                    "required": list(group),
                    "properties": {name: False for other in either if other != group for name in other},
                }
                for group in either
            ]

    return ConfigDict(extra="forbid", strict=True, json_schema_extra=describe)


class _Pictured(BaseModel):
    pictures: bool = Field(default=False, description="Add the step diagram and the graph as SVG.")
    width: Annotated[int, Field(ge=100, le=100_000)] | None = Field(
        default=None,
        description="With pictures: add the graph in lines of at most so many pixels, if it is wider than that.",
    )


class ParseRequest(_Pictured):
    """One ``question`` or many ``questions``."""

    model_config = _body(
        {"question": _QUESTION},
        {"questions": [_QUESTION, "Which rivers are in Texas?"]},
        either=(("question",), ("questions",)),
    )

    question: Text | None = Field(default=None, description="The question.")
    questions: list[Text] | None = Field(default=None, description="Many questions, in the place of one.")
    candidates: bool = Field(default=False, description="Add the best decompositions, which takes longer.")
    graph: bool = Field(default=False, description="Add the dependency graph.")


class _Written(BaseModel):
    question: Text = Field(description="The question that the steps answer.")
    decomposition: WrittenSteps = Field(description="QDMR text, another text that qdecomp reads, or a list of steps.")


class ConvertRequest(_Pictured, _Written):
    """A question and the steps that a user wrote for it."""

    model_config = _body({"question": _QUESTION, "decomposition": _STEPS})


class NextStepsRequest(_Written):
    """A question, its steps, and the answers so far."""

    model_config = _body({"question": _QUESTION, "decomposition": _STEPS, "answers": {"1": ["cube A", "cube B"]}})

    answers: dict[Text, Answer] = Field(
        default_factory=dict,
        description="By the number of the step: a text, a number, true, false, or a list of these.",
    )


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


def add_limits(description: dict[str, Any], settings: ServiceSettings) -> None:
    """Write the limits into the schemas of requests, so that programs generated from them respect them."""
    requests = (ParseRequest, ConvertRequest, NextStepsRequest, ScoredPair, ScoreRequest)
    fields = {each: description["components"]["schemas"][each.__name__]["properties"] for each in requests}
    length = {"maxLength": settings.max_question_length}
    number = {"minItems": 1, "maxItems": settings.max_questions}
    for properties in fields.values():
        properties["question"] |= length
    fields[ParseRequest]["questions"] |= number
    fields[ParseRequest]["questions"]["items"] |= length
    fields[ScoreRequest]["pairs"] |= number
    fields[ScoreRequest]["metrics"] |= {"minItems": 1}
    fields[ScoreRequest]["metrics"]["items"] |= {"enum": list(METRICS)}


# Answers


class AnyAnswer(BaseModel):
    """What is sent."""

    model_config = ConfigDict(extra="forbid")

    def fields(self) -> dict[str, Any]:
        """The fields that were set."""
        return self.model_dump(exclude_unset=True)

    def to_json(self) -> bytes:
        """The same as JSON."""
        return json.dumps(self.fields(), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class ErrorAnswer(AnyAnswer):
    """Why a request was refused."""

    error: str = Field(description="One line.")


class StepAnswer(AnyAnswer):
    """One step of a plan."""

    number: int = Field(description="Counted from 1.")
    text: str = Field(description="The step as it is in the decomposition.")
    question: str = Field(description="The step as a question, with references such as #1.")
    resolved: str = Field(description="The text with the texts of other steps in place of references.")
    operator: str
    properties: list[str]
    needs: list[int] = Field(description="The steps whose answers this one needs.")


class PlanAnswer(AnyAnswer):
    """The order in which steps can be answered."""

    levels: list[list[int]] = Field(description="The steps of a level can be answered at the same time.")
    final: int = Field(description="The step that answers the question.")


class GraphAnswer(AnyAnswer):
    """A dependency graph over the words of the question."""

    tokens: list[str]
    edges: list[tuple[int, int, str] | tuple[int, int, str, float]] = Field(
        description="Head, dependent, tag and, from a graph parser, probability."
    )


class PicturesAnswer(AnyAnswer):
    """SVG, or null if there is nothing or too much to draw."""

    steps: str | None
    graph: str | None
    wrapped_graph: str | None = Field(default=None, description="The graph in lines, if a width was given.")

    @classmethod
    def of(cls, decomposition: Decomposition, width: int | None) -> Self:
        """Draw the steps and the graph."""
        form, graph = decomposition.logical_form, decomposition.graph
        wrapped = {} if width is None else {"wrapped_graph": _drawn(graph_svg, graph, width=width)}
        return cls(steps=_drawn(steps_svg, form, decomposition.text), graph=_drawn(graph_svg, graph), **wrapped)


def _drawn(draw: Callable[..., str], value: Any, *args: Any, **options: Any) -> str | None:
    try:
        return None if value is None else draw(value, *args, **options)
    except QDecompError:
        return None


class CandidateAnswer(AnyAnswer):
    """One of the best decompositions."""

    decomposition: str
    score: float | None


class ParseAnswer(AnyAnswer):
    """The prediction record of a question, with its steps and its plan."""

    question_id: str
    question: str
    decomposition: str | None = Field(description="QDMR text; null if there is none.")
    logical_form: list[str] | None = Field(description="A text for each step.")
    graph: GraphAnswer | None = Field(description="The graph that was asked for, or that of a graph parser.")
    score: float | None = Field(description="The logarithm of the parser's own probability.")
    error: str | None = Field(description="Why there is no plan.")
    internal_error: bool | None = Field(default=None, description="True if that is a bug in qdecomp.")
    confidence: float | None = Field(description="The estimated probability that the plan is right, from 0 to 1.")
    candidates: list[CandidateAnswer] | None = Field(
        default=None, description="If they were asked for, or the service was started with candidates."
    )
    answered: Answered | None = Field(
        default=None, description="Which parser answered, if a language model may be asked."
    )
    probably_wrong: bool | None = Field(
        default=None, description="Whether the confidence is below the recommended threshold."
    )
    warnings: list[str] = Field(description="What is odd about the steps.")
    steps: list[StepAnswer]
    plan: PlanAnswer | None
    graph_error: str | None = Field(default=None, description="Why there is no graph, if one was asked for.")
    pictures: PicturesAnswer | None = Field(default=None, description="If they were asked for.")

    @classmethod
    def of(
        cls,
        decomposition: Decomposition,
        *,
        graph: bool = False,
        pictures: bool = False,
        width: int | None = None,
        **others: Any,
    ) -> Self:
        """The record with its steps and its plan and what was asked for; what fails is the error of this answer."""
        confidence = decomposition.confidence if decomposition else None
        fields = decomposition.to_dict() | {"confidence": confidence, "steps": [], "plan": None, **others}
        fields["warnings"] = list(decomposition.warnings)
        if confidence is not None:
            fields["probably_wrong"] = is_probably_wrong(decomposition)
        try:
            with as_internal_errors():
                fields |= _planned(decomposition)
                if graph or pictures:
                    found = decomposition.graph
                    fields["graph"] = None if found is None else dependency_graph_to_json(found)
                    fields["graph_error"] = decomposition.graph_error
                if pictures:
                    fields["pictures"] = PicturesAnswer.of(decomposition, width)
        except QDecompError as error:
            fields["error"] = fields["error"] or str(error)
        return cls(**fields)


def _planned(decomposition: Decomposition) -> dict[str, Any]:
    form = decomposition.logical_form
    if form is None:
        return {}
    plan = decomposition.plan()
    steps = [
        StepAnswer(
            number=step.number,
            text=step.text,
            question=str(step.question()),
            resolved=step.resolved,
            operator=logical.operator.value,
            properties=list(logical.properties),
            needs=list(step.needs),
        )
        for step, logical in zip(plan.steps, form.steps, strict=True)
    ]
    levels = [[step.number for step in level] for level in plan]
    return {"steps": steps, "plan": PlanAnswer(levels=levels, final=plan.final.number)}


class ParseAnswers(AnyAnswer):
    """The answers to many questions, in order."""

    results: list[ParseAnswer]


class ConvertAnswer(ParseAnswer):
    """The same for a user's steps."""

    read_as: str | None = Field(description="The form in which the steps were read.")

    @classmethod
    def of_written(cls, question: str, written: str | list[str], **options: Any) -> Self:
        """What a user's steps mean: as for a parser's, with the form in which they were read."""
        form: str | None = None
        try:
            with as_internal_errors():
                check_length(question)
                reading = read_decomposition(written)
                form, decomposition = reading.form, decomposition_from_text(question, reading.text)
        except QDecompError as error:
            decomposition = failed_decomposition(question, error)
        return cls.of(decomposition, graph=True, read_as=form, **options)


def plan_with_answers(question: str, written: str | list[str], given: Mapping[str, Any]) -> tuple[Plan, dict[int, Any]]:
    """The plan of a user's steps, and the answers that are known, by number."""
    plan = Decomposition.of_text(question, read_decomposition(written).text).plan()
    known = {}
    for number, answer in given.items():
        if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= len(plan.steps):
            raise DataError(f"answers has {number!r}; the steps are 1 to {len(plan.steps)}")
        known[int(number)] = answer
    return plan, known


class QuestionToAsk(AnyAnswer):
    """A step that can be asked now."""

    number: int
    question: str


class _NotKnownError(Exception):
    """A step whose answer is still to be found."""


class NextStepsAnswer(AnyAnswer):
    """How far the answers lead."""

    ask: list[QuestionToAsk] = Field(description="The steps without an answer whose references have one.")
    computed: dict[str, Any] = Field(description="By number, the answers that follow from the given ones.")
    answer: Any = Field(description="The answer to the question, or null.")

    @classmethod
    def of(cls, question: str, written: str | list[str], given: Mapping[str, Any]) -> Self:
        """The sub-questions whose references are answered, what follows by number, and the final answer.

        >>> steps = ["cities", "sizes of #1", "#1 where #2 is highest"]
        >>> NextStepsAnswer.of("Which city is larger?", steps, {"1": ["Lima", "Oslo"]}).ask
        [QuestionToAsk(number=2, question='What are the sizes of Lima and Oslo?')]
        """
        plan, known = plan_with_answers(question, written, given)
        ask: list[QuestionToAsk] = []

        def note(asked: SubQuestion) -> Any:
            ask.append(QuestionToAsk(number=asked.step.number, question=str(asked)))
            raise _NotKnownError

        run = plan.run(note, concurrency=1, answers=known)
        found = {str(number): answer for number, answer in run.answers.items() if number not in known}
        return cls(ask=ask, computed=found, answer=run.answer)


class ScoreAnswer(AnyAnswer):
    """The scores of one pair."""

    scores: dict[str, float | None] = Field(description="A value for each metric.")
    errors: dict[str, str] = Field(description="By metric: what could not be read.")
    normalized: dict[str, dict[str, str | None]] | None = Field(
        default=None, description="With lf_em: the normalised forms of both sides; null for one that cannot be read."
    )
    evidence: dict[str, list[str]] | None = Field(default=None, description="With lf_eq: a world in which they differ.")

    @classmethod
    def of(cls, pair: ScoredPair, functions: Mapping[Metric, MetricFunction]) -> Self:
        """A value for each metric, and reasons if something could not be read."""
        results = {metric: _result(pair, metric, function) for metric, function in functions.items()}
        fields: dict[str, Any] = {
            "scores": {metric.field_name: result.value for metric, result in results.items()},
            "errors": {metric.field_name: result.error for metric, result in results.items() if result.error},
        }
        for metric, result in results.items():
            if metric.name in ("lf_em", "lf_em_strict"):
                forms = {side: result.details.get(f"{side}_normalized") for side in ("prediction", "gold")}
                fields.setdefault("normalized", {})[metric.name] = forms
            elif evidence := result.details.get("evidence"):
                fields.setdefault("evidence", {})[metric.name] = list(evidence)
        return cls(**fields)


def _result(pair: ScoredPair, metric: Metric, function: MetricFunction) -> MetricResult:
    try:
        with as_internal_errors():
            check_length(pair.question)
            prediction, gold = _read("prediction", pair.prediction), _read("gold", pair.gold)
            return function(pair.question, prediction, gold)
    except QDecompError as error:
        return MetricResult(metric.worst, ErrorText.of(error))


def _read(side: Side, written: str | list[str]) -> str:
    try:
        return read_decomposition(written).text
    except QDecompError as error:
        raise error.of(side) from None


class ScoreAnswers(AnyAnswer):
    """The scores of many pairs, in order."""

    results: list[ScoreAnswer]
    mean: dict[str, float | None] = Field(description="Of each metric, over the pairs that have a value.")

    @classmethod
    def of(cls, results: Sequence[ScoreAnswer]) -> Self:
        """With the means."""
        mean: dict[str, float | None] = {}
        for name in results[0].scores:
            values = [value for result in results if (value := result.scores[name]) is not None]
            mean[name] = sum(values) / len(values) if values else None
        return cls(results=list(results), mean=mean)


class VersionAnswer(AnyAnswer):
    """What is running here."""

    version: str
    parser: str
    lf_em_version: str
    language_model: str | None = Field(description="The language model that answers the questions of /run.")
    limits: dict[str, int | float]
