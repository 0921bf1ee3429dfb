"""The scores of the cells that an experiment has: from their predictions, or from verdicts that were kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from qdecomp.evaluation.predictions import Gold, read_gold
from qdecomp.evaluation.scoring import SystemScores

from .cells import Cell, cells_of
from .scores import score_predictions
from .settings import Settings
from .verdicts import has_verdicts, read_verdicts, scores_of_verdicts

__all__ = ["Scores"]


@dataclass(frozen=True, slots=True)
class Scores:
    """The runs that an experiment has: of each system and split, the scores of each run."""

    gold: Gold
    runs: Mapping[tuple[str, str], tuple[SystemScores, ...]]
    cells: tuple[Cell, ...]

    @staticmethod
    def of(experiment: str, settings: Settings, base: Path) -> Scores:
        """Score all existing predictions; cells without predictions may have verdicts."""
        gold = read_gold(settings.dev)
        verdicts = read_verdicts(settings)
        runs: dict[tuple[str, str], list[SystemScores]] = {}
        found = []
        for cell in cells_of(experiment, settings):
            path = base / cell.predictions
            if path.is_file():
                scores = score_predictions(gold, cell.system.title, path)
            elif has_verdicts(experiment, cell, verdicts):
                scores = scores_of_verdicts(cell, verdicts, gold)
            else:
                continue
            runs.setdefault((cell.system.name, cell.split), []).append(scores)
            found.append(cell)
        return Scores(gold, {key: tuple(each) for key, each in runs.items()}, tuple(found))

    def of_system(self, system: str, split: str) -> tuple[SystemScores, ...]:
        """The runs of a system on a split; none if none has been made."""
        return self.runs.get((system, split), ())
