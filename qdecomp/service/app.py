"""The service as an ASGI application: its paths, their documentation, and its middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.parsers.parser import Parser
from qdecomp.service.engine import Engine
from qdecomp.service.middleware import BoundedBodies, Monitor, Observer
from qdecomp.service.page import api_page, page_files
from qdecomp.service.refusals import RefusedError, internal_error, invalid_request
from qdecomp.service.schemas import (
    ConvertAnswer,
    ConvertRequest,
    ErrorAnswer,
    HealthAnswer,
    NextStepsAnswer,
    NextStepsRequest,
    ParseAnswer,
    ParseAnswers,
    ParseRequest,
    ScoreAnswer,
    ScoreAnswers,
    ScoreRequest,
    VersionAnswer,
    add_limits,
)
from qdecomp.service.settings import ServiceSettings
from qdecomp.version import VERSION

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
        (503, "Too many requests wait; try again."),
        (504, "There was no answer in time."),
    )
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
        title="qdecomp",
        version=VERSION,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    _add_errors(app)
    _add_work(app, engine)
    _add_state(app, engine, monitor)
    _add_pages(app)
    add_limits(app.openapi(), settings)
    paths = [route.path for route in app.routes if hasattr(route, "path")]
    bounded = BoundedBodies(app, settings.max_body, settings.max_seconds, engine.is_full)
    return Observer(bounded, monitor, paths, settings.log_requests)


def _add_errors(app: FastAPI) -> None:
    """Report every error in one line of JSON."""

    def told(refusal: RefusedError) -> Response:
        return JSONResponse({"error": refusal.message}, refusal.status, refusal.headers)

    @app.exception_handler(RefusedError)
    async def refuse(request: Request, error: RefusedError) -> Response:
        return told(error)

    @app.exception_handler(RequestValidationError)
    async def refuse_invalid(request: Request, error: RequestValidationError) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return told(RefusedError(415, "send JSON, with the header Content-Type: application/json"))
        return told(invalid_request(error.errors()))

    @app.exception_handler(Exception)
    async def tell_internal_error(request: Request, error: Exception) -> Response:
        return told(internal_error(error))

    @app.exception_handler(HTTPException)
    async def refuse_path(request: Request, error: HTTPException) -> Response:
        return told(RefusedError(error.status_code, _MESSAGES.get(error.status_code, error.detail), error.headers))


def _answers(description: str, model: Any) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": f"{description}.", "model": model}, **_ERRORS}


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def _add_work(app: FastAPI, engine: Engine) -> None:
    @app.post(
        "/parse", responses=_answers("The answer", ParseAnswer | ParseAnswers), summary="Decompose one question or many"
    )
    async def parse(request: ParseRequest) -> Response:
        """The prediction record of the question, with its steps and its plan; for many, results in order."""
        return _json(await engine.parse(request))

    @app.post("/convert", responses=_answers("What the steps mean", ConvertAnswer), summary="Read steps that you wrote")
    async def convert(request: ConvertRequest) -> Response:
        """The logical form, the plan and the graph of your steps, or why they have none."""
        return _json(await engine.convert(request))

    @app.post(
        "/next_steps",
        responses=_answers("What to ask next", NextStepsAnswer),
        summary="Find out what to ask when some steps have answers",
    )
    async def next_steps(request: NextStepsRequest) -> Response:
        """The sub-questions that can be asked, what follows from the answers, and in the end the answer."""
        return _json(await engine.next_steps(request))

    @app.post(
        "/score",
        responses=_answers("The scores", ScoreAnswer | ScoreAnswers),
        summary="Score one pair of decompositions or many",
    )
    async def score(request: ScoreRequest) -> Response:
        """A value for each metric, both normalised forms of LF-EM, and reasons if a side cannot be read."""
        return _json(await engine.score(request))


def _add_state(app: FastAPI, engine: Engine, monitor: Monitor) -> None:
    @app.head("/health", include_in_schema=False)
    @app.get("/health", responses={200: {"model": HealthAnswer}}, summary="Whether the service can answer questions")
    async def health() -> Response:
        """Status 200 while the process answers at all."""
        return _json(HealthAnswer(status="ok").to_json())

    @app.get("/version", responses={200: {"model": VersionAnswer}}, summary="The version, the parser and the limits")
    async def version() -> Response:
        """The versions of the package and of LF-EM, the name of the parser, and what a request may have."""
        limits = engine.settings.limits()
        answer = VersionAnswer(version=VERSION, parser=engine.parser.name, lf_em_version=METRIC_VERSION, limits=limits)
        return _json(answer.to_json())

    @app.get("/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Requests, times, questions and batches, for all workers together."""
        text, media_type = monitor.text(engine.waiting)
        return Response(text, headers={"content-type": media_type})


def _add_pages(app: FastAPI) -> None:
    files = page_files()

    def sent(request: Request, name: str) -> Response:
        file = files.get(name)
        if file is None:
            raise HTTPException(404)
        headers = {"cache-control": "no-cache", "etag": file.tag}
        if request.headers.get("if-none-match") == file.tag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.media_type, headers=headers)

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return sent(request, "page.html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        return sent(request, name)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(api_page(app.openapi()), media_type="text/html; charset=utf-8")
