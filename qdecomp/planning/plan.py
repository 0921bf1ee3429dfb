"""The steps of a decomposition as sub-questions, in levels that can be answered in parallel."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.logical_form import LogicalForm, LogicalStep, format_step, parse_logical_form
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.qdmr import Step, levels_of, parse_qdmr, reference_number
from qdecomp.data_structures.tokenization import with_whole_numbers
from qdecomp.planning.answer_values import as_text, plain_answer
from qdecomp.planning.combining import is_combined
from qdecomp.planning.retrieval import Passage, Read, Retrieval, Retriever, Search, aretrieve, retrieve
from qdecomp.planning.running import PlanRun, RunOptions, StepRun, StepStart, astream_plan, run_plan
from qdecomp.planning.sub_questions import SubQuestion, in_words

# If a step refers to another twice, and that one does the same, and so on, the text doubles with every step.
_LONGEST_RESOLVED = 2000

# The log-odds that a question needs two hops or more, by the hops of its plan (none, one, more): a constant and the
# part of the confidence. Fitted on 500 of Break's development questions, whose gold plans say how many hops there are.
_LOG_ODDS_OF_SPLIT = ((-1.34, -2.18), (-0.35, -2.70), (1.00, 0.64))


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A sub-question: what is asked, and the numbers of the steps whose answers it needs."""

    number: int
    text: str
    """As in the decomposition, with references: ``#1 from denver``."""
    resolved: str
    """With the references replaced by what they stand for, all the way down: ``flights from denver``."""
    operator: Operator | None
    needs: tuple[int, ...]
    logical: LogicalStep | None = field(default=None, repr=False)
    """The operator with its arguments, if the decomposition has a logical form."""

    def fill(self, answers: Mapping[int, Any]) -> str:
        """The text with the answers of earlier steps in place of the references: strings, numbers or lists of them.

        >>> PlanStep(2, "#1 from denver", "flights from denver", None, (1,)).fill({1: ["UA 7", "UA 9"]})
        'UA 7 and UA 9 from denver'
        """
        if missing := [number for number in self.needs if number not in answers]:
            raise DataError(f"step {self.number} needs the answer of step {missing[0]}")
        return _replace_references(self.text.split(" "), {number: as_text(answers[number]) for number in self.needs})

    def question(self, answers: Mapping[int, Any] | None = None) -> SubQuestion:
        """The step as a separate question; what is not yet answered stays a reference.

        >>> step = PlanStep(2, "capital of #1", "capital of the largest country", Operator.PROJECT, (1,))
        >>> step.question(), step.question({1: "Peru"})
        ('What is the capital of #1?', 'What is the capital of Peru?')
        """
        known = {number: answer for number, answer in (answers or {}).items() if number in self.needs}
        return SubQuestion(in_words(self, known), self, known)


@dataclass(frozen=True, slots=True)
class Calls:
    """How many questions a run asks: ``expected`` if all steps that can be computed are, and never more than ``most``.

    There are fewer only if an earlier answer is an empty list, about which there is nothing to ask.
    """

    expected: int
    most: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in levels: those of one level need only answers of earlier levels, so they can be answered in parallel."""

    levels: tuple[tuple[PlanStep, ...], ...]
    question: str = ""
    """The question that the plan is for."""
    confidence: float | None = None
    """How sure the parser is of it, from 0 to 1, if known."""

    def __iter__(self) -> Iterator[tuple[PlanStep, ...]]:
        return iter(self.levels)

    def __len__(self) -> int:
        return len(self.levels)

    def __str__(self) -> str:
        return "\n".join(
            line
            for number, level in enumerate(self.levels, start=1)
            for line in (f"Level {number}", *(f"  {step.number}. {step.resolved}" for step in level))
        )

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """All steps in the order of the decomposition."""
        return tuple(sorted((step for level in self.levels for step in level), key=lambda step: step.number))

    @property
    def final(self) -> PlanStep:
        """The step whose answer is the question's: the last one that no other needs."""
        needed = self._needed
        return next(step for step in reversed(self.steps) if step.number not in needed)

    @property
    def _needed(self) -> set[int]:
        return {number for step in self.steps for number in step.needs}

    @property
    def calls(self) -> Calls:
        """How many questions :meth:`run` asks, known before anything is asked."""
        return Calls(sum(not is_combined(step) for step in self.steps), len(self.steps))

    @property
    def names(self) -> dict[int, str]:
        """The steps that only name something, such as a person or a place: ``run(…, answers=plan.names)`` asks none.

        >>> from qdecomp import Decomposition
        >>> Decomposition.of_text("", "return the Lord of the Rings ;return rivers in Texas").plan().names
        {1: 'the Lord of the Rings'}
        """
        return {
            step.number: step.text
            for step in self.steps
            if step.operator is Operator.SELECT and not step.needs and _is_name(step.text.split())
        }

    def questions(self, answers: Mapping[int, Any] | None = None) -> dict[int, SubQuestion]:
        """Every step as a question or a phrase for a retriever, by number; unknown answers stay ``#1`` and so on."""
        known = {number: plain_answer(answer) for number, answer in (answers or {}).items()}
        return {step.number: step.question(known) for step in self.steps}

    @property
    def split(self) -> float:
        """The probability that the question needs several hops, so that one search or one call may not be enough.

        A hop asks for something about an earlier answer; narrowing a list down is none, and what can be computed is
        none. It follows from the plan and its confidence, so it costs nothing.
        """
        hops = sum(
            bool(step.needs) and step.operator is not Operator.FILTER and not is_combined(step) for step in self.steps
        )
        constant, slope = _LOG_ODDS_OF_SPLIT[min(hops, 2)]
        sure = 0.5 if self.confidence is None else self.confidence
        return 1 / (1 + math.exp(-constant - slope * sure))

    def standalone_questions(self) -> dict[int, str]:
        """Questions that can be asked in any order, by step: references are replaced by what they stand for.

        Two kinds of steps are left out: what a step selects is part of the questions that use it, and a step that
        combines several answers, such as a comparison, is left to whatever reads the answers.
        """
        needed, resolved = self._needed, {step.number: step.resolved for step in self.steps}
        return {
            step.number: str(step.question({number: resolved[number] for number in step.needs}))
            for step in self.steps
            if not (step.operator is Operator.SELECT and step.number in needed)
            and not (is_combined(step) and len(step.needs) > 1)
        }

    def run(
        self,
        answer: Callable[[SubQuestion], Any],
        *,
        concurrency: int = 4,
        combine: bool = True,
        answers: Mapping[int, Any] | None = None,
        timeout: float | None = None,
        retries: int = 0,
        pause: float = 1.0,
        cache: MutableMapping[str, Any] | None = None,
    ) -> PlanRun:
        """Answer all steps with a function from a question to its answer, and keep a trace.

        A step is asked as soon as the answers that it needs are known, at most ``concurrency`` at a time, in threads;
        with 1 and without ``timeout``, all calls are in the caller's thread. What need not be asked (counts, unions,
        comparisons, arithmetic …) is computed, unless ``combine`` is false or the types of the answers do not allow it.
        Steps in ``answers`` are known already. An answer is what :func:`~qdecomp.planning.answer_values.plain_answer`
        accepts; anything else is an error, as is what takes more than ``timeout`` seconds. After an error, a step is
        asked up to ``retries`` more times, after ``pause`` seconds and then twice as long each time. If it still has no
        answer, those that need it have none either, and the run says why. ``cache``, any mutable mapping, keeps answers
        by the text of the question.
        """
        return run_plan(self, answer, RunOptions(concurrency, combine, answers, timeout, retries, pause, cache))

    async def arun(self, answer: Callable[[SubQuestion], Awaitable[Any]], **options: Any) -> PlanRun:
        """Like :meth:`run` and with its options, with an ``async`` function."""
        async with aclosing(astream_plan(self, answer, RunOptions(**options))) as events:
            async for event in events:
                if isinstance(event, PlanRun):
                    return event
        raise AssertionError("a run ends with its trace")

    def astream(
        self, answer: Callable[[SubQuestion], Awaitable[Any]], **options: Any
    ) -> AsyncGenerator[StepStart | StepRun | PlanRun, None]:
        """Like :meth:`arun`, with what happens as it happens: a :class:`~qdecomp.planning.running.StepStart` for each
        step that is asked, a :class:`~qdecomp.planning.running.StepRun` for each that is done, and the run at the end.
        """
        return astream_plan(self, answer, RunOptions(**options))

    def to_dict(self) -> dict[str, Any]:
        """The plan for ``json.dumps``."""
        logical = [step.logical for step in self.steps]
        return {
            "question": self.question,
            "decomposition": " ;".join(f"return {step.text}" for step in self.steps),
            "logical_form": None if None in logical else [format_step(step) for step in logical if step is not None],
            "confidence": self.confidence,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Plan:
        """What :meth:`to_dict` was called on."""
        try:
            form = record["logical_form"]
            return plan_of_steps(
                parse_qdmr(record["decomposition"]).steps,
                None if form is None else parse_logical_form(form),
                record["question"],
                record["confidence"],
            )
        except (KeyError, TypeError) as error:
            raise DataError(f"not the record of a plan: {type(error).__name__}: {error}") from None

    def retrieve(
        self, search: Search, k: int = 10, *, read: Read | None = None, beam: int = 3, searches: int = 60
    ) -> Retrieval:
        """Find the passages for the question with any retriever, hop after hop; see :mod:`qdecomp.planning.retrieval`.

        ``search(query, k)`` gives at most k passages, best first: values with ``title``, ``text`` and, if there are
        any, ``score`` and ``id``. It is called at most ``searches`` times. Names in what was found link the hops, and
        what ``read(question, passages)`` says: a string, a list of strings or None. ``beam`` answers of a step are
        followed.
        """
        return retrieve(Retriever(self, search, k, read, beam, searches).run())

    async def aretrieve(
        self,
        search: Callable[[str, int], Awaitable[Iterable[Any]]],
        k: int = 10,
        *,
        read: Callable[[str, Sequence[Passage]], Awaitable[Any]] | None = None,
        beam: int = 3,
        searches: int = 60,
    ) -> Retrieval:
        """Like :meth:`retrieve`, with ``async`` functions."""
        return await aretrieve(Retriever(self, search, k, read, beam, searches).run())

    def _repr_html_(self) -> str:
        from qdecomp.visualization import table_html

        rows = [
            (
                str(level),
                str(step.number),
                str(step.question()),
                step.operator or "",
                ", ".join(map("#{}".format, step.needs)),
            )
            for level, steps in enumerate(self, start=1)
            for step in steps
        ]
        return table_html(("level", "step", "question", "operator", "needs"), rows)


def plan_of_steps(
    steps: tuple[Step, ...], form: LogicalForm | None, question: str = "", confidence: float | None = None
) -> Plan:
    """The plan of a decomposition's steps."""
    logical = form.steps if form is not None else (None,) * len(steps)
    if len(logical) != len(steps):
        raise DataError(f"there is no plan: {len(steps)} steps, but {len(logical)} in the logical form")
    needs = {number: tuple(sorted(set(step.references))) for number, step in enumerate(steps, start=1)}
    levels = levels_of(needs)
    resolved: dict[int, str] = {}
    planned: dict[int, list[PlanStep]] = {}
    for number in sorted(levels, key=lambda number: (levels[number], number)):
        step, reading = steps[number - 1], logical[number - 1]
        text = with_whole_numbers(step.text, question)
        resolved[number] = _replace_references(text.split(" "), resolved)
        operator = None if reading is None else reading.operator
        planned.setdefault(levels[number], []).append(
            PlanStep(number, text, resolved[number], operator, needs[number], reading)
        )
    return Plan(tuple(map(tuple, planned.values())), question, confidence)


def _is_name(words: list[str]) -> bool:
    if len(words) > 1 and words[0].lower() in ("a", "an", "the"):
        words = words[1:]
    return all(word[:1].isupper() or word[:1].isdigit() for word in (words[0], words[-1]))


def _replace_references(tokens: Iterable[str], texts: Mapping[int, str]) -> str:
    def replaced(token: str) -> str:
        number = reference_number(token)
        return token if number is None else texts[number]

    text = " ".join(map(replaced, tokens))
    return text if len(text) <= _LONGEST_RESOLVED else text[:_LONGEST_RESOLVED] + "…"
