"""DSPy: a module that answers a question hop by hop, each sub-question with a module of your own.

``AnswerPlan(dspy.ChainOfThought("question -> answer"))`` is a module like any other: it can be part of a program, and
optimizers find the predictors of your module in it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.parsers.parser import Parser, load
from qdecomp.planning.answer_values import as_text
from qdecomp.planning.running import PlanRun
from qdecomp.planning.sub_questions import SubQuestion

try:
    import dspy
except ImportError as error:
    raise ImportError(str(missing_extra("the adapter for DSPy", "dspy"))) from error

__all__ = ["AnswerPlan"]


class AnswerPlan(dspy.Module):
    """From a ``question`` to a prediction with the ``answer`` and the ``run``, the trace of all steps.

    Counts, comparisons and the like are computed. If there is no plan, your module gets the question itself, and there
    is no run. A step that fails is a :class:`qdecomp.QDecompError` that names it.
    """

    def __init__(self, answer: Any = None, parser: Parser | None = None, concurrency: int = 4) -> None:
        """``answer`` is a module from ``question`` to ``answer``, by default a ``dspy.Predict``.

        The bundled parser is used where none is given.
        """
        super().__init__()
        self.answer = answer or dspy.Predict("question -> answer")
        self._parser = parser or load()
        self._concurrency = concurrency

    def forward(self, question: str) -> dspy.Prediction:
        """Answer the steps in threads."""
        decomposition = self._parser.parse(question)
        if not decomposition:
            return dspy.Prediction(answer=self.answer(question=question).answer, run=None)

        def ask(asked: SubQuestion) -> Any:
            return self.answer(question=str(asked)).answer

        plan = decomposition.plan()
        return _prediction(plan.run(ask, concurrency=self._concurrency, answers=plan.names))

    async def aforward(self, question: str) -> dspy.Prediction:
        """Answer the steps in tasks of the event loop."""
        decomposition = await asyncio.to_thread(self._parser.parse, question)
        if not decomposition:
            return dspy.Prediction(answer=(await self.answer.acall(question=question)).answer, run=None)

        async def ask(asked: SubQuestion) -> Any:
            return (await self.answer.acall(question=str(asked))).answer

        plan = decomposition.plan()
        return _prediction(await plan.arun(ask, concurrency=self._concurrency, answers=plan.names))


def _prediction(run: PlanRun) -> dspy.Prediction:
    if not run:
        raise DataError(f"{run.plan.question!r} has no answer: {run.error}")
    return dspy.Prediction(answer=as_text(run.answer), run=run)
