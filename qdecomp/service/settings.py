"""The settings of the service: which parser, and how much of everything it accepts."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.limits import LONGEST_QUESTION
from qdecomp.parsers.bundle import BUNDLED
from qdecomp.parsers.source import ParserSource, source_from_json

_VARIABLE = "QDECOMP_SERVICE_SETTINGS"


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

    def __post_init__(self) -> None:
        counts = ("batch_size", "max_questions", "max_question_length", "max_body", "max_waiting", "max_connections")
        for name in counts:
            if getattr(self, name) < 1:
                raise DataError(f"{name} is {getattr(self, name)}; give 1 or more")
        if not self.max_seconds > 0:
            raise DataError(f"max_seconds is {self.max_seconds}; give a number above 0")

    def to_environment(self) -> None:
        """Pass the settings to the processes that this one starts."""
        os.environ[_VARIABLE] = json.dumps(asdict(self), default=str)

    def limits(self) -> dict[str, Any]:
        """What a client may want to know beforehand."""
        names = ("max_questions", "max_question_length", "max_body", "max_seconds")
        return {name: getattr(self, name) for name in names}


def settings_from_environment() -> ServiceSettings:
    """The settings that :meth:`ServiceSettings.to_environment` left."""
    values = json.loads(os.environ[_VARIABLE])
    return ServiceSettings(source_from_json(values.pop("parser")), **values)
