"""The scores of a system in columns: a few bytes for each question, however many there are."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from qdecomp.data_structures.errors import is_internal, patterns_of
from qdecomp.evaluation.metrics.metric_table import MetricResult

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ScoreColumns"]

_NO_VALUE = float("nan")


class ScoreColumns:
    """What the figures of a system are based on: for each question its source, its steps, its scores and its errors.

    A missing score is NaN. The texts of errors are only counted, by kind.
    """

    def __init__(self, metrics: Sequence[str]) -> None:
        self._sources = array("l")
        self._source_numbers: dict[str, int] = {}
        self._steps = array("l")
        self._values = {name: array("d") for name in metrics}
        self._failed = {name: bytearray() for name in metrics}
        self._kinds: dict[str, Counter[str]] = {name: Counter() for name in metrics}
        self.mistakes = 0
        """How many questions have a result that failed because of a mistake in the code."""

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, source: str, steps: int, results: Mapping[str, MetricResult]) -> None:
        """Add a question, with the result of each metric by its name."""
        self._sources.append(self._source_numbers.setdefault(source, len(self._source_numbers)))
        self._steps.append(steps)
        for name, values in self._values.items():
            result = results[name]
            values.append(_NO_VALUE if result.value is None else result.value)
            self._failed[name].append(result.error is not None)
            if result.error:
                self._kinds[name].update(patterns_of(result.error))
        self.mistakes += any(is_internal(result.error) for result in results.values())

    def extend(self, others: ScoreColumns) -> None:
        """Add the questions of other columns."""
        numbers = [self._source_numbers.setdefault(name, len(self._source_numbers)) for name in others._source_numbers]
        self._sources.extend(numbers[number] for number in others._sources)
        self._steps.extend(others._steps)
        for name in self._values:
            self._values[name].extend(others._values[name])
            self._failed[name].extend(others._failed[name])
            self._kinds[name].update(others._kinds[name])
        self.mistakes += others.mistakes

    def values(self, metric: str) -> np.ndarray:
        """The scores of a metric; NaN if there is none."""
        import numpy as np

        return np.asarray(self._values[metric], dtype=float)

    def failed(self, metric: str) -> np.ndarray:
        """Which questions have an error under a metric."""
        import numpy as np

        return np.asarray(self._failed[metric], dtype=bool)

    def steps(self) -> np.ndarray:
        """The numbers of gold steps."""
        import numpy as np

        return np.asarray(self._steps)

    def places_by_source(self) -> dict[str, np.ndarray]:
        """Where the questions of each source are, by its name."""
        import numpy as np

        sources = np.asarray(self._sources)
        return {name: np.flatnonzero(sources == number) for name, number in self._source_numbers.items()}

    def places_by_steps(self) -> dict[int, np.ndarray]:
        """Where the questions of each number of gold steps are."""
        import numpy as np

        steps = self.steps()
        return {int(number): np.flatnonzero(steps == number) for number in np.unique(steps)}

    def error_counts(self, metric: str) -> dict[str, int]:
        """How many questions have an error under a metric, by kind of reason, the commonest first."""
        return dict(sorted(self._kinds[metric].items(), key=lambda item: (-item[1], item[0])))
