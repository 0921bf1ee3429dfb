"""The service as an ASGI application: its paths, their documentation, and its middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.parsers.parser import Parser
from qdecomp.service.engine import Engine
from qdecomp.service.middleware import BoundedBodies, Monitor, Observer, RefusedError, answer_to, refusal_for
from qdecomp.service.schemas import (
    ConvertAnswer,
    ErrorAnswer,
    NextStepsAnswer,
    ParseAnswer,
    ParseAnswers,
    ScoreAnswer,
    ScoreAnswers,
    VersionAnswer,
    add_limits,
)
from qdecomp.service.settings import ServiceSettings
from qdecomp.terminal import printable
from qdecomp.version import VERSION
from qdecomp.visualization.assets import render, style_sheet

_DESCRIPTION = (
    "Decomposes questions into steps, converts steps that you write, and scores decompositions. "
    'Every error is {"error": "one line"}. A question without a decomposition is not an error of the '
    "request: its record says why there is none."
)
_MESSAGES = {
    400: "the body is not JSON",
    404: "there is nothing at this path; / is the page, /docs describes the API",
    405: "this path does not take this method",
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": reason, "model": ErrorAnswer}
    for status, reason in (
        (400, "The body is not JSON."),
        (408, "The body did not arrive in time."),
        (413, "The body is too large."),
        (415, "The content type is not application/json."),
        (422, "A field is missing, wrong or above a limit."),
        (500, "An internal error of qdecomp."),
        (502, "The language model behind the service gave no answer."),
        (503, "Too many requests wait; try again."),
        (504, "There was no answer in time."),
    )
}
# What a client may want to know beforehand.
_TOLD_LIMITS = ("max_questions", "max_question_length", "max_body", "max_seconds")
_LONGEST_NAME = 60
# What pydantic adds to the place of an error if a field has alternative types.
_ALTERNATIVES = ("str", "list[str]")
# Plain words for errors in a request that pydantic words for programmers.
_WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is not a known field",
    "string_type": "is not a string",
    "list_type": "is not a list",
    "bool_type": "is neither true nor false",
    "bool_parsing": "is neither true nor false",
    "model_attributes_type": "is not an object",
    "dict_type": "is not an object",
    # Our only own check.
    "value_error": "contains half a character (a lone surrogate)",
}


def create_app(settings: ServiceSettings, parser: Parser) -> ASGIApp:
    """The application with this parser."""
    monitor = Monitor()
    engine = Engine(settings, parser, monitor)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        engine.stop()
        monitor.stop()

    app = FastAPI(
        title="qdecomp", version=VERSION, description=_DESCRIPTION, lifespan=lifespan, docs_url=None, redoc_url=None
    )
    for kind in (RefusedError, QDecompError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _tell)
    for work, summary, meaning, model in (
        (engine.parse, "Decompose one question or many", "The answer.", ParseAnswer | ParseAnswers),
        (engine.convert, "Read steps that you wrote", "What the steps mean.", ConvertAnswer),
        (engine.next_steps, "Find out what to ask when some steps have answers", "What to ask next.", NextStepsAnswer),
        (engine.score, "Score one pair of decompositions or many", "The scores.", ScoreAnswer | ScoreAnswers),
    ):
        responses = {200: {"description": meaning, "model": model}, **_ERRORS}
        app.post(f"/{work.__name__}", summary=summary, responses=responses)(work)
    events = {200: {"description": "The events of the run.", "content": {"text/event-stream": {}}}, **_ERRORS}
    app.post("/run", summary="Let a language model answer the steps", responses=events)(engine.run)
    _add_state(app, engine, monitor)
    _add_pages(app)
    add_limits(app.openapi(), settings)
    paths = [route.path for route in app.routes if hasattr(route, "path")]
    bounded = BoundedBodies(app, settings.max_body, settings.max_seconds, engine.is_full)
    return Observer(bounded, monitor, paths, settings.log_requests)


async def _tell(request: Request, error: Exception) -> Response:
    """Report every error in one line of JSON."""
    if isinstance(error, HTTPException):
        message = _MESSAGES.get(error.status_code, error.detail)
        refusal = RefusedError(error.status_code, message, **(error.headers or {}))
    elif isinstance(error, RequestValidationError):
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        refusal = invalid_request(error.errors())
        if kind != "application/json":
            refusal = RefusedError(415, "send JSON, with the header Content-Type: application/json")
    else:
        refusal = refusal_for(error)
    return answer_to(refusal)


def invalid_request(errors: Sequence[Mapping[str, Any]]) -> RefusedError:
    """What is wrong with a body that does not match the API, in one line without its content.

    >>> invalid_request([{"type": "missing", "loc": ("body", "question"), "msg": "Field required"}]).message
    'question is missing'
    """
    first = errors[0]
    kind, place = first["type"], [part for part in first["loc"][1:] if part not in _ALTERNATIVES]
    if kind == "json_invalid":
        return RefusedError(400, f"the body is not JSON: {first.get('ctx', {}).get('error', first['msg'])}")
    # A client may have made up the name of a field.
    name = printable(".".join(map(str, place))) or "the body"
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    words = _WORDS.get(kind) or f"is not valid: {first['msg']}"
    return RefusedError(422, f"{name} {words}")


def _add_state(app: FastAPI, engine: Engine, monitor: Monitor) -> None:
    @app.head("/health", include_in_schema=False)
    @app.get("/health", summary="Whether the service can answer questions")
    async def health() -> dict[str, str]:
        """Status 200 while the process answers at all."""
        return {"status": "ok"}

    @app.get("/version", summary="The version, the parser and the limits")
    async def version() -> VersionAnswer:
        """The versions of the package and of LF-EM, the name of the parser, and what a request may have."""
        limits = {name: getattr(engine.settings, name) for name in _TOLD_LIMITS}
        return VersionAnswer(
            version=VERSION,
            parser=engine.parser.name,
            lf_em_version=METRIC_VERSION,
            language_model=None if engine.runs is None else engine.runs.model.settings.model,
            limits=limits,
        )

    @app.get("/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Requests, times, questions and batches, for all workers together."""
        text, media_type = monitor.text(engine.batcher.waiting)
        return Response(text, headers={"content-type": media_type})


def _add_pages(app: FastAPI) -> None:
    """The page with its files, and the API as a page without scripts; nothing comes from other hosts."""
    files = StaticFiles(packages=[("qdecomp.service", "page"), ("qdecomp.visualization", "scripts")])

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(request: Request) -> Response:
        return await files.get_response("page.html", request.scope)

    @app.get("/static/pictures.css", include_in_schema=False)
    async def pictures() -> Response:
        return Response(style_sheet("picture"), media_type="text/css")

    app.mount("/static", files)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        about = app.openapi()
        schemas = about["components"]["schemas"]
        return HTMLResponse(render("api.html", __package__, info=about["info"], paths=about["paths"], schemas=schemas))
