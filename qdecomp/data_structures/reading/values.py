"""What reading gives: the steps as they were written, and the decomposition with the form in which it was found."""

from __future__ import annotations

from dataclasses import dataclass

from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.qdmr import Qdmr, parse_qdmr


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """The text of a step, the number that its writer gave it, and the places of the steps that it is said to need."""

    text: str
    label: int | None = None
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A decomposition as Break's text, and how it was originally written.

    ``form`` says how the steps were separated (``"Break's text"`` if nothing had to be done), ``wrapped_in`` what was
    around them, and ``references`` how the steps named each other. ``doubt`` says why the text may have been misread;
    there is a text even if it is not a decomposition, except for a refusal or SQL.
    """

    text: str
    form: str
    references: str = "#1"
    wrapped_in: tuple[str, ...] = ()
    doubt: str | None = None

    @property
    def qdmr(self) -> Qdmr:
        """The decomposition; a text that is not one raises :class:`~qdecomp.data_structures.errors.QdmrSyntaxError`."""
        if not self.text and self.doubt is not None:
            raise QdmrSyntaxError(self.doubt)
        return parse_qdmr(self.text)

    @property
    def steps(self) -> tuple[str, ...]:
        """The texts of the steps, without ``return``; raises as :attr:`qdmr` does."""
        return tuple(step.text for step in self.qdmr.steps)

    def __str__(self) -> str:
        return self.text


def consecutive(labels: list[int]) -> bool:
    """Whether labels count steps: from 1 or, as programmers do, from 0."""
    return bool(labels) and labels[0] in (0, 1) and labels == list(range(labels[0], labels[0] + len(labels)))


def small_number(digits: str) -> int:
    """The number of a step. Nine digits are more than any has; Python refuses to convert thousands of them."""
    return int(digits.lstrip("0")[:9] or "0")
