"""The service with simple parsers, so that these tests need no trained one; skipped without the extra."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from qdecomp.parsers.consensus import Answers
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_text, failed_decomposition
from qdecomp.parsers.parser import Parser
from qdecomp.parsers.source import ParserSource, parser_source

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

NEEDS = "pip install 'question-decomposition[serve]' (in a clone: pip install '.[serve]')"


def toy_predict(questions: Sequence[str]) -> list[Decomposition]:
    """Counts whatever is asked for: always the same two steps, with the question's last word."""
    return [
        decomposition_from_text(question, f"return {question.split()[-1]} ;return number of #1", -0.5)
        if question
        else failed_decomposition(question, "the question is empty")
        for question in questions
    ]


def parser_of(answers: Answers) -> Parser:
    """A parser that has these answers."""
    return Parser(ParserSource(Path("toy")), answers)


@pytest.fixture
def client_of() -> Iterator[Callable[..., TestClient]]:
    """Start an application: give limits of :class:`ServiceSettings`, another parser, the address of a model.

    Without a limit on the time, an answer comes however slow the machine is.
    """
    pytest.importorskip("fastapi", reason=f"the service is not installed: {NEEDS}")
    from fastapi.testclient import TestClient

    from qdecomp.service.app import create_app
    from qdecomp.service.settings import ServiceSettings

    opened: list[TestClient] = []

    def start(parser: Parser | None = None, model: str | None = None, **limits: int | float | bool) -> TestClient:
        source = parser_source("minilm_break", fallback=model, **({"model": "tiny", "retries": 0} if model else {}))
        settings = ServiceSettings(source, **{"max_seconds": 600.0, **limits})
        client = TestClient(create_app(settings, parser or parser_of(toy_predict)))
        opened.append(client)
        return client.__enter__()

    yield start
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def client(client_of: Callable[..., TestClient]) -> TestClient:
    return client_of()


@pytest.fixture
def anyio_backend() -> str:
    """The loop of tests that are coroutines."""
    return "asyncio"
