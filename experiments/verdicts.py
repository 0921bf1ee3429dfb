"""Verdicts of cells: which questions each cell got right, and what its training took.

Predictions are large and repeat Break's questions; verdicts are one character for each question and metric, so they can
be kept in the repository. With them, another machine can make the tables again, and train only the missing cells.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.metrics import get_metric
from qdecomp.evaluation.predictions import Gold, read_gold, read_predictions
from qdecomp.evaluation.scoring import QuestionScores, score_systems
from qdecomp.files import BreakExample, read_json_lines, write_text_atomically

from .cells import BY_VERDICTS, Cell, Key, cells_of, left_out_source
from .settings import Settings
from .training import digest, evaluated, fingerprint, overrides_of

METRICS = ("lf_em", "norm_em", "valid")
"""What a verdict is about; ``valid`` says whether the answer has a logical form at all."""


@dataclass(frozen=True, slots=True)
class CellVerdicts:
    """What a cell got right, and what tells whether it is the cell that the settings describe."""

    system: str
    split: str
    seed: int | None
    training: str | None
    """A hash of the config, the settings and all training rows; None if it was trained elsewhere."""
    questions: str
    """A hash of the questions that it was asked, with their gold decompositions."""
    minutes: float | None
    """How many minutes of a core the training took."""
    verdicts: Mapping[str, str]
    """For each metric and each of these questions, in the order of their file, 1 if the answer is right, else 0."""


def score_cell(cell: Cell, settings: Settings, base: Path) -> None:
    """Write the verdicts on a cell's predictions."""
    gold = read_gold(settings.dev)
    asked = _asked(cell, gold)
    ids = {example.question_id for example in asked}
    scored = [each for each in score_predictions(cell, gold, base, *METRICS[:2]) if each.example.question_id in ids]
    columns = {name: [each.results[name].value for each in scored] for name in METRICS[:2]}
    columns["valid"] = [each.results["lf_em"].details.get("prediction_normalized") is not None for each in scored]
    verdicts = {name: "".join("1" if value else "0" for value in column) for name, column in columns.items()}
    trained = base / cell.training
    minutes = json.loads(trained.read_text(encoding="utf-8")).get("minutes") if trained.is_file() else None
    training = None if cell.seed is None else _training(settings, base)(cell.system.parser, cell.split, cell.seed)
    found = CellVerdicts(*cell.key, training, _digest_of(asked), minutes, verdicts)
    with write_text_atomically(base / cell.verdicts) as stream:
        stream.write(json.dumps(asdict(found)) + "\n")


def score_predictions(cell: Cell, gold: Gold, base: Path, *metrics: str) -> tuple[QuestionScores, ...]:
    """The scores of a cell's predictions."""
    predictions = read_predictions(base / cell.predictions, gold, cell.system.title)
    (scores,) = score_systems(gold, [predictions], [get_metric(name) for name in metrics]).systems
    return tuple(scores.questions)


def read_verdicts(settings: Settings) -> dict[Key, CellVerdicts]:
    """The verdicts of the settings' cells in their file; an error if one is for another training or other questions."""
    if settings.verdicts is None:
        return {}
    found = _read(settings.verdicts)
    gold = read_gold(settings.dev)
    training = _training(settings, Path())
    kept = {}
    for cell in (cell for cell in _cells(settings) if cell.key in found):
        kept[cell.key] = verdicts = found[cell.key]
        what = f"{settings.verdicts}: {cell.system.name}/{cell.split}/{cell.run}"
        if verdicts.training != training(cell.system.parser, cell.split, cell.seed or 0):
            raise DataError(f"{what} was trained with another config, other settings or other rows; remove its line")
        if verdicts.questions != _digest_of(_asked(cell, gold)):
            raise DataError(f"{what} was asked other questions than those of {gold.path}; remove its line")
    return kept


def _read(path: Path) -> dict[Key, CellVerdicts]:
    try:
        cells = [CellVerdicts(**record) for _, record in read_json_lines(path)]
    except TypeError:
        raise DataError(f"{path}: these are not verdicts of experiments") from None
    return {(cell.system, cell.split, cell.seed): cell for cell in cells}


def _cells(settings: Settings) -> list[Cell]:
    """The cells of all experiments that verdicts are enough for, without those that these settings do not train."""
    cells = {cell.key: cell for experiment in BY_VERDICTS for cell in cells_of(experiment, settings)}
    return [cell for cell in cells.values() if cell.seed is not None and cell.system.parser in settings.parsers]


def _training(settings: Settings, base: Path) -> Callable[[str, str, int], str]:
    """A function from a training run to the hash of its config, settings and seed, and of all training rows."""
    rows = settings.train.read_bytes()
    configs = cache(evaluated)

    @cache
    def hashed(parser: str, split: str, seed: int) -> str:
        overrides = overrides_of(parser, split, seed, settings, base) | {"held_out": settings.held_out}
        return fingerprint(configs(settings.parsers[parser].config), overrides, rows)

    return hashed


def _asked(cell: Cell, gold: Gold) -> list[BreakExample]:
    source = left_out_source(cell.split)
    return [example for example in gold.examples if source in (None, example.source)]


def _digest_of(examples: list[BreakExample]) -> str:
    return digest(*(f"{each.question_id}\n{each.question}\n{each.decomposition}".encode() for each in examples))


def has_verdicts(experiment: str, cell: Cell, verdicts: Mapping[Key, CellVerdicts]) -> bool:
    """Whether the experiment can show the cell without its predictions."""
    return experiment in BY_VERDICTS and cell.key in verdicts


def verdicts_of(cell: Cell, kept: Mapping[Key, CellVerdicts], base: Path) -> CellVerdicts | None:
    """The verdicts of a cell: of this run, or else those that were kept."""
    path = base / cell.verdicts
    return next(iter(_read(path).values())) if path.is_file() else kept.get(cell.key)


def asked_ids(cell: Cell, gold: Gold) -> list[str]:
    """The ids of the questions that a cell was asked, in the order of its verdicts."""
    return [str(example.question_id) for example in _asked(cell, gold)]


def add_verdicts(path: Path, settings: Settings, base: Path) -> int:
    """Add the verdicts of all cells of a run to a file, and return how many they are; cells in it are replaced."""
    made = [cell for cell in _cells(settings) if (base / cell.verdicts).is_file()]
    found = _read(path) if path.exists() else {}
    for cell in made:
        found |= _read(base / cell.verdicts)
    with write_text_atomically(path) as stream:
        stream.writelines(json.dumps(asdict(found[key])) + "\n" for key in sorted(found, key=str))
    return len(made)
