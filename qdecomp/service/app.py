"""The service as an ASGI application: its paths, their documentation, and its middleware."""

from __future__ import annotations

import multiprocessing.connection
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lf_em.metric import METRIC_VERSION
from qdecomp.parsers.parser import Parser
from qdecomp.service.answer_models import (
    ConvertAnswer,
    ErrorAnswer,
    HealthAnswer,
    ParseAnswer,
    ParseAnswers,
    ScoreAnswer,
    ScoreAnswers,
    VersionAnswer,
)
from qdecomp.service.api_page import api_page
from qdecomp.service.description import add_limits
from qdecomp.service.engine import Engine, open_parser
from qdecomp.service.log import start_log
from qdecomp.service.middleware import BoundedBodies, Observer
from qdecomp.service.page_files import page_files
from qdecomp.service.refused_requests import RefusedError, invalid_request, mistake
from qdecomp.service.requests import ConvertRequest, ParseRequest, ScoreRequest
from qdecomp.service.settings import ServiceSettings, settings_from_environment
from qdecomp.terminal import printable
from qdecomp.version import VERSION

__all__ = ["app_from_environment", "create_app"]

_DESCRIPTION = (
    "Decomposes questions into steps, converts steps that you write, and scores decompositions. "
    'Every error is {"error": "one line"}. A question without a decomposition is not an error of the '
    "request: its record says why there is none."
)
# uvicorn's exit code for a worker that could not start, so that no other is tried.
_STARTUP_FAILURE = 3
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


def app_from_environment() -> ASGIApp:
    """The application of a worker process; if the parser cannot be loaded, it prints one line and the process ends."""
    start_log()
    threading.Thread(target=_end_with_parent, name="qdecomp-parent-watch", daemon=True).start()
    settings = settings_from_environment()
    try:
        return create_app(settings, open_parser(settings))
    except QDecompError as error:
        print(f"qdecomp: {printable(str(error))}", file=sys.stderr)
        sys.exit(_STARTUP_FAILURE)


def _end_with_parent() -> None:
    """Stop as on SIGTERM if the process that started this one is gone, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def create_app(settings: ServiceSettings, parser: Parser) -> ASGIApp:
    """The application with this parser."""
    engine = Engine(settings, parser)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine.start()
        yield
        engine.stop()

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
    _add_state(app, engine)
    _add_pages(app)
    add_limits(app.openapi(), settings)
    paths = [route.path for route in app.routes if hasattr(route, "path")]
    bounded = BoundedBodies(app, settings.max_body, settings.max_seconds)
    return Observer(bounded, engine.monitor, paths, settings.log_requests)


def _add_errors(app: FastAPI) -> None:
    """Report every error in one line of JSON."""

    @app.exception_handler(RefusedError)
    async def refuse(request: Request, error: RefusedError) -> Response:
        return JSONResponse({"error": error.message}, error.status, error.headers)

    @app.exception_handler(RequestValidationError)
    async def refuse_invalid(request: Request, error: RequestValidationError) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return JSONResponse({"error": "send JSON, with the header Content-Type: application/json"}, 415)
        refusal = invalid_request(error.errors())
        return JSONResponse({"error": refusal.message}, refusal.status)

    @app.exception_handler(Exception)
    async def tell_mistake(request: Request, error: Exception) -> Response:
        refusal = mistake(error)
        return JSONResponse({"error": refusal.message}, refusal.status)

    @app.exception_handler(HTTPException)
    async def refuse_path(request: Request, error: HTTPException) -> Response:
        message = _MESSAGES.get(error.status_code, error.detail)
        return JSONResponse({"error": message}, error.status_code, error.headers)


_HEALTH: dict[int | str, dict[str, Any]] = {
    200: {"model": HealthAnswer},
    503: {"description": "The parser has stopped.", "model": HealthAnswer},
}


def _answers(description: str, model: Any) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": f"{description}.", "model": model}, **_ERRORS}


def _add_work(app: FastAPI, engine: Engine) -> None:
    @app.post(
        "/parse", responses=_answers("The answer", ParseAnswer | ParseAnswers), summary="Decompose one question or many"
    )
    async def parse(request: ParseRequest) -> Response:
        """The prediction record of the question, with its steps and its plan; for many, results in order."""
        return JSONResponse(await engine.parse(request))

    @app.post("/convert", responses=_answers("What the steps mean", ConvertAnswer), summary="Read steps that you wrote")
    async def convert(request: ConvertRequest) -> Response:
        """The logical form, the plan and the graph of your steps, or why they have none."""
        return JSONResponse(await engine.convert(request))

    @app.post(
        "/score",
        responses=_answers("The scores", ScoreAnswer | ScoreAnswers),
        summary="Score one pair of decompositions or many",
    )
    async def score(request: ScoreRequest) -> Response:
        """A value for each metric, both normalised forms of LF-EM, and reasons if a side cannot be read."""
        return JSONResponse(await engine.score(request))


def _add_state(app: FastAPI, engine: Engine) -> None:
    @app.head("/health", include_in_schema=False)
    @app.get("/health", responses=_HEALTH, summary="Whether the service can answer questions")
    async def health() -> Response:
        """Status 200, or 503 if the parser has stopped."""
        alive = engine.is_alive
        return JSONResponse({"status": "ok" if alive else "the parser has stopped"}, 200 if alive else 503)

    @app.get("/version", responses={200: {"model": VersionAnswer}}, summary="The version, the parser and the limits")
    async def version() -> Response:
        """The versions of the package and of LF-EM, the name of the parser, and what a request may have."""
        about = {"version": VERSION, "parser": engine.parser.name, "lf_em_version": METRIC_VERSION}
        return JSONResponse(about | {"limits": engine.settings.limits()})

    @app.get("/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Requests, times, questions and batches, for all workers together."""
        text, media_type = engine.monitor.text()
        return Response(text, headers={"content-type": media_type})


def _add_pages(app: FastAPI) -> None:
    files = page_files()

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return _file(request, "page.html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        return _file(request, name)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(api_page(app.openapi()), media_type="text/html; charset=utf-8")

    def _file(request: Request, name: str) -> Response:
        file = files.get(name)
        if file is None:
            raise HTTPException(404)
        headers = {"cache-control": "no-cache", "etag": file.tag}
        if request.headers.get("if-none-match") == file.tag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.media_type, headers=headers)
