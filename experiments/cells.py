"""The cells of the experiments: what is trained on which rows with which seed.

All paths are relative to the folder of a run, ``out/experiments/SIZE``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from .settings import SYSTEMS, Settings, System

EXPERIMENTS = (
    "sample_complexity",
    "domain_generalisation",
    "agreement",
    "length",
    "inference_time",
    "differences",
)
BY_VERDICTS = ("sample_complexity", "domain_generalisation", "length")
"""The experiments that need only the verdicts of the predictions."""
ALL_ROWS = "train_100"
"""The split with all training rows."""
ALL_SOURCES = "all_sources"
"""The same rows with the budget of the splits without a source."""
TIMES = "times.json"
"""What the measurement of times writes."""
HELD_OUT = "splits/held_out/holdout.csv"
"""The training rows that weights are chosen on, if some are held out."""
_WITHOUT = "without_"

Key = tuple[str, str, int | None]
"""The name of a system, a split and a seed."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A system whose parser was trained on the rows of a split with a seed; one trained elsewhere has no seed."""

    system: System
    split: str
    seed: int | None

    @staticmethod
    def named(system: str, split: str, run: str) -> Cell:
        """The cell whose files have this name."""
        return Cell(SYSTEMS[system], split, None if run == "given" else int(run.removeprefix("seed_")))

    @property
    def key(self) -> Key:
        """What tells it from other cells."""
        return self.system.name, self.split, self.seed

    @property
    def run(self) -> str:
        """The last part of its names."""
        return "given" if self.seed is None else f"seed_{self.seed}"

    @property
    def name(self) -> str:
        """What ``--only`` calls the training run: parser/split/seed_N."""
        return f"{self.system.parser}/{self.split}/{self.run}"

    @property
    def training(self) -> str:
        """The file that says that the parser has been trained."""
        return f"runs/{self.name}/trained.json"

    @property
    def predictions(self) -> str:
        """The file of its predictions."""
        return f"predictions/{self.system.name}/{self.split}/{self.run}.jsonl"

    @property
    def verdicts(self) -> str:
        """The file that says which of its predictions are right."""
        return f"verdicts/{self.system.name}/{self.split}/{self.run}.json"


def without(source: str) -> str:
    """The split with all training rows but those of a source."""
    return f"{_WITHOUT}{source}"


def left_out_source(split: str) -> str | None:
    """The source that a split lacks, if it is such a split."""
    return split.removeprefix(_WITHOUT) if split.startswith(_WITHOUT) else None


def all_sources(system: System, settings: Settings) -> str:
    """The split that leaving out a source is compared with: all rows, with the same budget."""
    parser = settings.parsers.get(system.parser)
    return ALL_SOURCES if parser and isinstance(parser.updates, dict) else ALL_ROWS


def systems_of(experiment: str, settings: Settings) -> tuple[System, ...]:
    """The systems that an experiment compares."""
    given = {given.name for given in settings.given}
    return tuple(
        system
        for system in SYSTEMS.values()
        if (system.parser in settings.parsers or {system.name, system.parser} & given)
        and (experiment != "agreement" or system.in_agreement)
    )


def cells_of(experiment: str, settings: Settings) -> tuple[Cell, ...]:
    """All cells of an experiment, whether wanted or not."""
    return tuple(
        Cell(system, split, seed)
        for system in systems_of(experiment, settings)
        for split in _splits(experiment, system, settings)
        for seed in _seeds(system, split, settings)
    )


def _splits(experiment: str, system: System, settings: Settings) -> tuple[str, ...]:
    if experiment == "sample_complexity":
        return tuple(f"train_{percentage}" for percentage in settings.percentages)
    if experiment == "domain_generalisation":
        return (all_sources(system, settings), *map(without, settings.sources))
    return (ALL_ROWS,)


def _seeds(system: System, split: str, settings: Settings) -> tuple[int | None, ...]:
    if given_archive(system, split, settings) or given_predictions(system, split, settings):
        return (None,)
    percentage = split.removeprefix("train_")
    share = int(percentage) if percentage.isdigit() else 100
    return tuple(settings.seeds if share < settings.one_seed_from else settings.seeds[:1])


def given_archive(system: System, split: str, settings: Settings) -> Path | None:
    """The given archive that is used for the parser trained on this split."""
    return _given(settings, system.parser, split, is_archive=True)


def given_predictions(system: System, split: str, settings: Settings) -> Path | None:
    """The given predictions that are used for this system trained on this split."""
    return _given(settings, system.name, split, is_archive=False)


def _given(settings: Settings, name: str, split: str, *, is_archive: bool) -> Path | None:
    wanted = (name, split, is_archive)
    found = (given.path for given in settings.given if (given.name, given.split, given.is_archive) == wanted)
    return next(found, None)


def is_wanted(cell: Cell, settings: Settings) -> bool:
    """Whether the cell is made in this run; the tables show others if they were made before."""
    if cell.seed is None:
        return True
    if not settings.training or cell.system.parser not in settings.parsers:
        return False
    return not settings.only or any(fnmatchcase(cell.name, pattern) for pattern in settings.only)


def timed_cells(settings: Settings) -> tuple[Cell, ...]:
    """A cell of each system whose archive can be used, all trained on all rows."""
    first: dict[str, Cell] = {}
    for cell in cells_of("inference_time", settings):
        if cell.seed is not None or given_archive(cell.system, cell.split, settings) is not None:
            first.setdefault(cell.system.name, cell)
    return tuple(first.values())


def archive_file(cell: Cell, settings: Settings) -> str:
    """The archive of a cell's parser."""
    given = given_archive(cell.system, cell.split, settings)
    return str(given) if given else f"runs/{cell.name}/run/model.tar.gz"


def training_rows(settings: Settings) -> str:
    """All rows to train on."""
    return "splits/held_out/fit.csv" if settings.held_out else str(settings.train)


def rows_files(split: str, seed: int, settings: Settings) -> tuple[str, str]:
    """The rows that a split is trained on, and those that weights are chosen on.

    Each seed draws its own subsets, but rows without a source are always the same.
    """
    if source := left_out_source(split):
        held_out = f"splits/held_out_without/{source}/train.csv" if settings.held_out else str(settings.dev)
        return f"splits/without/{source}/train.csv", held_out
    rows = training_rows(settings) if split == ALL_SOURCES else f"splits/seed_{seed}/{split}.csv"
    return rows, HELD_OUT if settings.held_out else str(settings.dev)


def questions_file(split: str, settings: Settings) -> str:
    """The development questions for a parser trained on a split: of one without a source, only that source's count."""
    source = left_out_source(split)
    return f"splits/questions/{source}/left_out.csv" if source else str(settings.dev)
