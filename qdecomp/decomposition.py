"""A question with its decomposition, and the plan of how to answer it step by step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.prediction import Prediction, prediction_record
from qdecomp.data_structures.qdmr import Qdmr, Step, order_by_references, parse_qdmr, reference_number

__all__ = ["Decomposition", "Plan", "PlanStep"]

# A step that refers to another twice, which does the same, and so on, would double at every step.
_LONGEST_RESOLVED = 2000


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A sub-question: what is asked, and the numbers of the steps whose answers it needs."""

    number: int
    text: str
    """As in the decomposition, with references: ``#1 from denver``."""
    resolved: str
    """With what the references stand for, all the way down: ``flights from denver``."""
    operator: Operator | None
    needs: tuple[int, ...]

    def fill(self, answers: Mapping[int, str]) -> str:
        """The text with the answers of earlier steps in place of the references.

        >>> PlanStep(2, "#1 from denver", "flights from denver", None, (1,)).fill({1: "UA 7"})
        'UA 7 from denver'
        """
        missing = [number for number in self.needs if number not in answers]
        if missing:
            raise DataError(f"step {self.number} needs the answer of step {missing[0]}")
        return _replace_references(self.text.split(" "), answers)


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in levels: those of one level need only answers of earlier ones, so they can be answered side by side."""

    levels: tuple[tuple[PlanStep, ...], ...]

    def __iter__(self) -> Iterator[tuple[PlanStep, ...]]:
        return iter(self.levels)

    def __len__(self) -> int:
        return len(self.levels)

    def __str__(self) -> str:
        lines = []
        for number, level in enumerate(self.levels, start=1):
            lines.append(f"Level {number}")
            lines.extend(f"  {step.number}. {step.resolved}" for step in level)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """What a parser says about a question. It prints as numbered steps.

    Where there is none, ``error`` says why, there are no steps, and the value counts as false.
    """

    question: str
    prediction: Prediction
    question_id: str = ""

    @classmethod
    def of_text(cls, question: str, decomposition: str) -> Decomposition:
        """The decomposition that a text such as ``return flights ;return #1 from denver`` says."""
        qdmr = parse_qdmr(decomposition)
        return cls(question, Prediction(str(qdmr), to_logical_form(qdmr)))

    def __bool__(self) -> bool:
        return self.prediction.decomposition is not None

    def __str__(self) -> str:
        if not self:
            return f"no decomposition: {self.error}"
        return "\n".join(f"{number}. {text}" for number, text in enumerate(self.steps, start=1))

    @property
    def steps(self) -> tuple[str, ...]:
        """The texts of the steps, without ``return``."""
        return tuple(step.text for step in self._steps())

    @property
    def qdmr(self) -> Qdmr | None:
        """The decomposition as a value; as text it is Break's form."""
        text = self.prediction.decomposition
        return None if text is None else parse_qdmr(text)

    @property
    def logical_form(self) -> LogicalForm | None:
        """The steps as operators with arguments."""
        return self.prediction.form

    @property
    def graph(self) -> DependencyGraph | None:
        """The dependency graph over the question's words, if the parser draws one."""
        return self.prediction.graph

    @property
    def confidence(self) -> float | None:
        """How probable the parser finds the whole of it, from 0 to 1."""
        score = self.prediction.score
        return None if score is None else math.exp(min(score, 0.0))

    @property
    def error(self) -> str | None:
        """Why there is no decomposition."""
        return self.prediction.error

    def to_dict(self) -> dict[str, Any]:
        """The prediction record, for ``json.dumps``."""
        return prediction_record(self.prediction, self.question_id, self.question)

    def plan(self) -> Plan:
        """The steps in levels, with what their references stand for."""
        if not self:
            raise DataError(f"there is no plan, as there is no decomposition: {self.error}")
        steps = self._steps()
        form = self.logical_form
        operators = [step.operator for step in form.steps] if form is not None else [None] * len(steps)
        levels: dict[int, int] = {}
        resolved: dict[int, str] = {}
        planned: dict[int, list[PlanStep]] = {}
        for number in order_by_references({number: step.references for number, step in enumerate(steps, start=1)}):
            step = steps[number - 1]
            needs = tuple(sorted(set(step.references)))
            levels[number] = 1 + max((levels[other] for other in needs), default=0)
            resolved[number] = _replace_references(step.tokens, resolved)
            planned.setdefault(levels[number], []).append(
                PlanStep(number, step.text, resolved[number], operators[number - 1], needs)
            )
        return Plan(tuple(tuple(sorted(planned[level], key=lambda s: s.number)) for level in sorted(planned)))

    def _steps(self) -> tuple[Step, ...]:
        qdmr = self.qdmr
        return () if qdmr is None else qdmr.steps

    def _repr_html_(self) -> str:
        from qdecomp.visualization import decomposition_html

        return decomposition_html(self.question, self.prediction)


def _replace_references(tokens: Iterable[str], texts: Mapping[int, str]) -> str:
    def replaced(token: str) -> str:
        number = reference_number(token)
        return token if number is None else texts[number]

    text = " ".join(map(replaced, tokens))
    return text if len(text) <= _LONGEST_RESOLVED else text[:_LONGEST_RESOLVED] + "…"
