"""The parser as tools for agents, by the Model Context Protocol over standard input and output.

Every tool is stateless: what it needs is in its arguments. The limits are those of the HTTP service.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.limits import above
from qdecomp.evaluation.metrics import DEFAULT_METRICS, choose_metrics
from qdecomp.parsers.parser import Parser
from qdecomp.service.schemas import ConvertAnswer, NextStepsAnswer, ParseAnswer, ScoreAnswer, ScoredPair
from qdecomp.service.settings import ServiceSettings
from qdecomp.version import VERSION

_INSTRUCTIONS = (
    "Splits complex questions into simple steps that refer to each other as #1, #2 and so on. Call parse for a "
    "question, then next_steps with the answers so far until it has an answer."
)


def mcp_server(parser: Parser, settings: ServiceSettings) -> MCPServer:
    """A server with all tools; ``run()`` serves standard input and output until it is closed."""
    server: MCPServer = MCPServer("qdecomp", version=VERSION, instructions=_INSTRUCTIONS, log_level="ERROR")

    def tool(function: Callable[..., dict[str, Any]]) -> None:
        """Offer a function; the agent sees what is wrong with its arguments."""

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> dict[str, Any]:
            try:
                return function(*args, **kwargs)
            except QDecompError as error:
                raise ToolError(str(error)) from None

        server.add_tool(checked)

    def short(question: str) -> str:
        if reason := above(settings.max_question_length, len(question), "characters"):
            raise DataError(f"the question is too long: {reason}")
        return question

    @tool
    def parse(question: str) -> dict[str, Any]:
        """Decompose a complex question into steps, with operators, confidence and warnings."""
        return ParseAnswer.of(parser.parse(short(question))).fields()

    @tool
    def plan(question: str) -> dict[str, Any]:
        """The sub-questions of a complex question in levels; those of a level can be answered at the same time."""
        decomposition = parser.parse(short(question))
        levels = [
            [{"number": step.number, "question": step.question()} for step in level] for level in decomposition.plan()
        ]
        return {"decomposition": decomposition.text, "confidence": decomposition.confidence, "levels": levels}

    @tool
    def next_steps(question: str, decomposition: str, answers: dict[str, Any] | None = None) -> dict[str, Any]:
        """What can be asked now: the sub-questions whose references are answered, and what follows from the answers.

        answers maps numbers of steps to what was found for them: a string, a number, true or false, or a list. The
        decomposition is that of parse. When the question is answered, answer has the result.
        """
        return NextStepsAnswer.of(short(question), decomposition, answers or {}).fields()

    @tool
    def convert(question: str, decomposition: str) -> dict[str, Any]:
        """Check steps that somebody wrote: their logical form, their graph over the question's words, their plan."""
        return ConvertAnswer.of_written(short(question), decomposition).fields()

    @tool
    def score(question: str, prediction: str, gold: str, metrics: list[str] | None = None) -> dict[str, Any]:
        """Compare a decomposition with a gold one: exact match, SARI and LF-EM unless other metrics are named."""
        functions = {metric: metric.load() for metric in choose_metrics(metrics or DEFAULT_METRICS)}
        pair = ScoredPair(question=short(question), prediction=prediction, gold=gold)
        return ScoreAnswer.of(pair, functions).fields()

    return server
