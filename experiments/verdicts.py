"""Verdicts of cells in a small file: which questions each cell got right.

Predictions are large and repeat Break's questions; verdicts are one character for each question, so they can be kept in
the repository. With them, another machine can make the tables again, and train only the cells that are missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.metrics import MetricResult
from qdecomp.evaluation.predictions import Gold, PredictionRow, SystemPredictions, read_gold
from qdecomp.evaluation.scoring import QuestionScores, ScoreColumns, SystemScores
from qdecomp.files import BreakExample, read_json_lines, write_text_atomically

from .cells import BY_VERDICTS, Cell, cells_of, left_out_source
from .scores import LF_EM, score_predictions, value_of, with_questions
from .settings import Settings
from .training import digest, evaluated, fingerprint, overrides_of

__all__ = ["add_verdicts", "has_verdicts", "read_verdicts", "scores_of_verdicts"]

Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class CellVerdicts:
    """What a cell got right, and what tells whether it is the cell that the settings describe."""

    system: str
    split: str
    seed: int
    training: str
    """A hash of the config, the settings and all training rows."""
    questions: str
    """A hash of the questions that it was asked, with their gold decompositions."""
    right: str
    """For each of these questions, in the order of their file, 1 if LF-EM calls the answer right, else 0."""


def read_verdicts(settings: Settings) -> dict[Key, CellVerdicts]:
    """The verdicts of the settings' cells in their file; an error if one is for another training or other questions."""
    if settings.verdicts is None:
        return {}
    found = _read(settings.verdicts)
    gold = read_gold(settings.dev)
    trainings = _Trainings(settings)
    cells = [cell for cell in _cells(settings) if _key(cell) in found]
    for cell in cells:
        _check(found[_key(cell)], cell, trainings, gold)
    return {_key(cell): found[_key(cell)] for cell in cells}


def _read(path: Path) -> dict[Key, CellVerdicts]:
    try:
        cells = [CellVerdicts(**record) for _, record in read_json_lines(path)]
    except TypeError:
        raise DataError(f"{path}: these are not verdicts of experiments") from None
    return {(cell.system, cell.split, cell.seed): cell for cell in cells}


def _cells(settings: Settings) -> list[Cell]:
    """The cells of all experiments that verdicts are enough for, without those that these settings do not train."""
    cells = {cell.predictions: cell for experiment in BY_VERDICTS for cell in cells_of(experiment, settings)}
    return [cell for cell in cells.values() if cell.seed is not None and cell.system.parser in settings.parsers]


def _check(kept: CellVerdicts, cell: Cell, trainings: _Trainings, gold: Gold) -> None:
    what = f"the verdicts of {cell.system.name}/{cell.split}/{cell.run}: it"
    if kept.training != trainings.of(cell):
        raise DataError(f"{what} was trained with another config, other settings or other rows; remove its line")
    asked = list(_asked(cell, gold))
    if kept.questions != _digest_of(asked) or len(kept.right) != len(asked):
        raise DataError(f"{what} was asked other questions than those of {gold.path}; remove its line")


def _key(cell: Cell) -> Key:
    return (cell.system.name, cell.split, cell.seed or 0)


class _Trainings:
    """Hashes of trainings; each config is evaluated once, which takes a while."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._configs: dict[str, str] = {}

    def of(self, cell: Cell) -> str:
        """The hash of a cell's config, settings and seed, and of all training rows."""
        name = cell.system.parser
        parser = self._settings.parsers[name]
        if name not in self._configs:
            self._configs[name] = evaluated(parser.config)
        overrides = overrides_of(parser, self._settings, Path(), self._settings.train, cell.seed or 0)
        return fingerprint(self._configs[name], overrides)


def _asked(cell: Cell, gold: Gold) -> Iterator[BreakExample]:
    source = left_out_source(cell.split)
    return (example for example in gold.examples if source in (None, example.source))


def _digest_of(examples: Iterable[BreakExample]) -> str:
    return digest(*(f"{each.question_id}\n{each.question}\n{each.decomposition}".encode() for each in examples))


def has_verdicts(experiment: str, cell: Cell, verdicts: Mapping[Key, CellVerdicts]) -> bool:
    """Whether the experiment can show the cell without its predictions."""
    return experiment in BY_VERDICTS and cell.seed is not None and _key(cell) in verdicts


def scores_of_verdicts(cell: Cell, verdicts: Mapping[Key, CellVerdicts], gold: Gold) -> SystemScores:
    """The cell's scores, without its predictions."""
    kept = verdicts[_key(cell)]
    unknown = PredictionRow(None, "only the verdict is known")
    questions = [
        QuestionScores(example, unknown, {LF_EM: MetricResult(float(verdict))})
        for example, verdict in zip(_asked(cell, gold), kept.right, strict=True)
    ]
    system = SystemPredictions(cell.system.title, Path(), len(questions), ())
    return with_questions(SystemScores(system, ScoreColumns((LF_EM,))), questions)


def add_verdicts(path: Path, settings: Settings, base: Path) -> int:
    """Add the verdicts of all predictions in the folder of a run to a file, and return how many cells they are of.

    A cell that is already in the file is replaced.
    """
    gold = read_gold(settings.dev)
    trainings = _Trainings(settings)
    made = [cell for cell in _cells(settings) if (base / cell.predictions).is_file()]
    found = _read(path) if path.exists() else {}
    for cell in made:
        asked = list(_asked(cell, gold))
        ids = {example.question_id for example in asked}
        scored = score_predictions(gold, cell.system.title, base / cell.predictions).questions
        right = "".join(str(int(value_of(each))) for each in scored if each.example.question_id in ids)
        found[_key(cell)] = CellVerdicts(*_key(cell), trainings.of(cell), _digest_of(asked), right)
    with write_text_atomically(path) as stream:
        stream.writelines(json.dumps(asdict(found[key])) + "\n" for key in sorted(found))
    return len(made)
