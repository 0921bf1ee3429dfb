"""The settings of a run: what a file in ``sizes/`` and the command line say, checked before anything starts."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, field_validator

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv
from qdecomp.training.pretrained import encoder_path

ROOT = Path(__file__).resolve().parents[1]
SIZES = Path(__file__).parent / "sizes"
SHARED_DATA = "QDECOMP_SHARED_DATA"
SETTINGS_FILE = "settings.json"
"""What the settings of a run are stored in, for its jobs."""
TINY = "tiny"
"""The encoder that a job makes: random weights, to try out the graph of jobs."""
PARTS = 5
"""A training run with a budget is validated after each of this many equal parts, and has a checkpoint there."""
PARSERS = ("copynet", "biaffine", "latent_rat")
"""What is trained."""


@dataclass(frozen=True, slots=True)
class System:
    """A trained parser and how it decodes; ``overrides`` change its archive's config for the prediction."""

    name: str
    title: str
    parser: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    in_agreement: bool = True
    """Whether it takes part in comparisons of agreement: a training run would agree with itself."""


SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        system.name: system
        for system in (
            System("copynet", "CopyNet-BERT", "copynet"),
            # The paper's greedy decoding, and ours, which reads the same edges strictly.
            System("biaffine", "BiaffineGP", "biaffine", {"model.decoder": "projection"}),
            System("biaffine_strict", "BiaffineGP, strict", "biaffine", {"model.decoder": "greedy"}, False),
            System("biaffine_ilp", "BiaffineGP + ILP", "biaffine", {"model.decoder": "ilp"}, False),
            System("latent_rat", "Latent-RAT", "latent_rat"),
        )
    }
)
"""What is predicted with, by name; each is a row of the tables."""

Percentage = Literal[1, 5, 10, 20, 50, 100]
Budget = Annotated[int, Field(ge=PARTS, multiple_of=PARTS)]
"""A number of updates that has :data:`PARTS` equal parts."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ParserSettings(_Strict):
    """How a parser is trained; without ``updates``, as long as its config says."""

    config: Path
    updates: Budget | dict[str, Budget] | None = None
    batch_size: PositiveInt | None = None
    patience: PositiveInt | None = None
    overrides: dict[str, Any] = {}

    @field_validator("config")
    @classmethod
    def _check_config(cls, config: Path) -> Path:
        if not (ROOT / config).is_file():
            raise ValueError(f"there is no file {config}")
        return config

    def budget(self, split: str) -> int | None:
        """The updates of a training run on a split; runs on all sources, or on all but one, have one budget."""
        if not isinstance(self.updates, dict):
            return self.updates
        return self.updates[split if split.startswith("train_") else "sources"]


class Given(_Strict):
    """A cell from elsewhere: the archive of a parser, or the predictions of a system."""

    name: str
    split: str
    path: Path

    @property
    def is_archive(self) -> bool:
        """Whether it can still answer questions; otherwise it has only its predictions."""
        return self.path.name.endswith(".tar.gz")


class Settings(_Strict):
    """Everything that the graph of jobs depends on."""

    size: str
    train: Path
    dev: Path
    encoder: str | None
    expects: str | None = None
    """How long everything takes if nothing is there yet, in words."""
    held_out: Annotated[int, Field(ge=2)] | None = None
    """One training row in so many is held out to choose weights on; without it, the development rows are used."""
    seeds: Annotated[list[int], Field(min_length=1)]
    one_seed_from: int = 101
    """From this percentage on, and on all sources but one, there is only the first seed."""
    percentages: Annotated[list[Percentage], Field(min_length=1)]
    sources: list[str]
    timed_questions: PositiveInt
    parsers: dict[str, ParserSettings]
    queue: list[str] = []
    """The cells that ``--queue`` trains, as patterns, in this order."""
    given: list[Given] = []
    only: list[str] = []
    """Patterns of the cells that may be trained; all if there is none."""
    training: bool = True
    verdicts: Path | None = None
    """A file with verdicts of cells that need not be trained."""

    @field_validator("parsers")
    @classmethod
    def _check_parsers(cls, parsers: dict[str, ParserSettings]) -> dict[str, ParserSettings]:
        if unknown := [name for name in parsers if name not in PARSERS]:
            raise ValueError(f"there is no parser {unknown[0]!r}; there are {', '.join(PARSERS)}")
        return parsers


def read_size(
    name: str,
    *,
    train: Path | None = None,
    dev: Path | None = None,
    given: Iterable[str] = (),
    changes: Iterable[str] = (),
    only: Iterable[str] = (),
    training: bool = True,
    verdicts: Path | None = None,
) -> Settings:
    """The settings of a size: a name in ``sizes/`` or the path of a file; what the other options say comes first."""
    path = SIZES / f"{name}.yaml" if "/" not in name and not name.endswith(".yaml") else Path(name)
    values = _read_yaml(path)
    for key, file in (("train", train), ("dev", dev)):
        if key in values or file:
            values[key] = _data_file(file or values[key], path, f"--{key}")
    values |= {"size": path.stem, "given": [_given(text) for text in given], "only": list(only), "training": training}
    values["verdicts"] = verdicts.absolute() if verdicts else None
    _change(values.get("parsers"), changes)
    try:
        settings = Settings(**values)
    except ValidationError as error:
        raise DataError(f"{path}: {_first_problem(error)}") from None
    _check_content(settings, path)
    return settings


def _read_yaml(path: Path) -> dict[str, Any]:
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError:
        known = ", ".join(sorted(each.stem for each in SIZES.glob("*.yaml")))
        raise DataError(f"there is no size {path.stem!r} ({path}); there are {known}") from None
    except yaml.YAMLError as error:
        raise DataError(f"{path}: no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise DataError(f"{path}: has no settings")
    return values


def _first_problem(error: ValidationError) -> str:
    """What is wrong, in one line, with the setting that may be meant by an unknown one."""
    problem = error.errors()[0]
    place = [str(part) for part in problem["loc"]]
    where = ".".join(place)
    if problem["type"] == "missing":
        return f"{where} is missing"
    if problem["type"] == "extra_forbidden":
        known = ParserSettings.model_fields if len(place) > 1 else Settings.model_fields
        close = difflib.get_close_matches(place[-1], known, n=1)
        return f"there is no setting {where}" + (
            f"; did you mean {'.'.join([*place[:-1], close[0]])}?" if close else ""
        )
    if problem["type"] == "value_error":
        return f"{where}: {problem['msg'].removeprefix('Value error, ')}"
    return f"{where}: {problem['msg']}, not {problem['input']!r}"


def _data_file(given: str | Path, path: Path, option: str) -> Path:
    """A file of the project, a path from the command line, or a file of the shared data."""
    shared = os.environ.get(SHARED_DATA)
    places = [Path(given).absolute(), ROOT / given, *([Path(shared) / given] if shared else [])]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise DataError(
        f"{path}: there is no file {given}; name yours with {option} FILE, or set {SHARED_DATA} to a folder that has it"
    )


def _change(parsers: Any, changes: Iterable[str]) -> None:
    """Add overrides to the parsers, each as PARSER.KEY=VALUE."""
    for text in changes:
        where, equals, value = text.partition("=")
        name, dot, key = where.partition(".")
        if not equals or not dot or not key:
            raise DataError(f"--set {text}: say PARSER.KEY=VALUE, such as copynet.settings.lr=5e-4")
        if not isinstance(parsers, Mapping) or name not in parsers:
            raise DataError(f"--set {text}: there is no parser {name!r}; there are {', '.join(PARSERS)}")
        try:
            parsed = json.loads(value)
        except json.JSONDecodeError:
            parsed = value
        parsers[name].setdefault("overrides", {})[key] = parsed


def _given(text: str) -> Given:
    where, equals, file = text.partition("=")
    name, _, split = where.partition("@")
    given = Given(name=name, split=split or "train_100", path=Path(file).absolute())
    if not equals or not file:
        raise DataError(f"--given {text}: say NAME=FILE or NAME@SPLIT=FILE, such as copynet@train_10=model.tar.gz")
    kind, known = ("parser", PARSERS) if given.is_archive else ("system", tuple(SYSTEMS))
    if name not in known:
        raise DataError(f"--given {text}: there is no {kind} {name!r}; there are {', '.join(known)}")
    if not given.path.is_file():
        raise DataError(f"--given {text}: there is no file {file}")
    return given


def _check_content(settings: Settings, path: Path) -> None:
    """Raise for what would otherwise only be found in the middle of the work."""
    for name, parser in settings.parsers.items():
        if isinstance(parser.updates, dict):
            needed = dict.fromkeys([*(f"train_{number}" for number in settings.percentages), "train_100", "sources"])
            if lacking := [split for split in needed if split not in parser.updates]:
                raise DataError(f"{path}: parsers.{name}.updates has no budget for {', '.join(lacking)}")
    for file, option in ((settings.train, "--train"), (settings.dev, "--dev")):
        found = {example.source for example in read_break_csv(file)}
        missing = [source for source in settings.sources if source not in found]
        if missing:
            raise DataError(
                f"{option} {file}: has no rows of {', '.join(missing)}, which {path} leaves out in turn; "
                f"it has {', '.join(sorted(found))}"
            )
    if settings.training and settings.encoder not in (None, TINY):
        encoder_path(str(settings.encoder))
