"""What can be asked next when some steps of a plan have answers: the same for the page, the API and agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.planning import SubQuestion


class _NotKnownError(Exception):
    """A step whose answer is still to be found."""


def next_steps(question: str, written: str | list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The sub-questions whose references are answered, what follows from the answers by number, and the final answer.

    >>> steps = ["cities", "sizes of #1", "#1 where #2 is highest"]
    >>> found = next_steps("Which city is larger?", steps, {"1": ["Lima", "Oslo"]})
    >>> [asked["question"] for asked in found["ask"]]
    ['What are the sizes of Lima and Oslo?']
    """
    plan = Decomposition.of_text(question, read_decomposition(written).text).plan()
    known = {}
    for number, answer in given.items():
        if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= len(plan.steps):
            raise DataError(f"answers has {number!r}; the steps are 1 to {len(plan.steps)}")
        known[int(number)] = answer
    ask: list[SubQuestion] = []

    def note(asked: SubQuestion) -> Any:
        ask.append(asked)
        raise _NotKnownError

    run = plan.run(note, concurrency=1, answers=known)
    found = {str(number): answer for number, answer in run.answers.items() if number not in known}
    return {
        "ask": [{"number": asked.step.number, "question": str(asked)} for asked in ask],
        "computed": found,
        "answer": run.answer,
    }
