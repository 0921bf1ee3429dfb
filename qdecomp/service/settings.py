"""The settings of the service: which parser, and how much of everything it accepts."""

from __future__ import annotations

from dataclasses import dataclass, field

from qdecomp.data_structures.limits import LONGEST_QUESTION
from qdecomp.parsers.bundle import BUNDLED
from qdecomp.parsers.source import ParserSource


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The parser and the limits of one service; every worker process has the same."""

    parser: ParserSource = field(default_factory=lambda: ParserSource(BUNDLED))
    batch_size: int = 32
    """The most questions that are parsed together."""
    max_questions: int = 64
    """Questions, or pairs to score, of one request."""
    max_question_length: int = LONGEST_QUESTION
    """Characters of a question."""
    max_body: int = 1_000_000
    """Bytes of a request's body."""
    max_waiting: int = 64
    """Questions, or other jobs, that may wait at the same time; more are refused until there is room."""
    max_seconds: float = 30.0
    """For an answer, and for the body of a request to arrive."""
    max_connections: int = 512
    log_requests: bool = False
