"""The settings of a run: what a file in ``sizes/`` and the command line say, checked before anything starts."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv, write_text_atomically
from qdecomp.training.pretrained import encoder_path

from .systems import PARSERS, SYSTEMS

__all__ = ["PARTS", "ROOT", "TINY", "Given", "ParserSettings", "Settings", "read_size", "restore", "store"]

ROOT = Path(__file__).resolve().parents[1]
SIZES = Path(__file__).parent / "sizes"
SHARED_DATA = "QDECOMP_SHARED_DATA"
TINY = "tiny"
"""The encoder that a job makes: random weights, to try out the graph of jobs."""
PARTS = 4
"""A training run with a budget of updates has a checkpoint after each of this many equal parts."""

_KEYS = ("train", "dev", "encoder", "seeds", "percentages", "sources", "timed_questions", "parsers")
_PARSER_KEYS = ("config", "updates", "batch_size", "overrides")


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """How a parser is trained; without ``updates``, as long as its config says, with validation."""

    config: Path
    updates: int | None
    batch_size: int | None
    overrides: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """A cell from elsewhere: the archive of a parser, or the predictions of a system."""

    name: str
    split: str
    path: Path

    @property
    def is_archive(self) -> bool:
        """Whether it can still answer questions; otherwise it has only its predictions."""
        return self.path.name.endswith(".tar.gz")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the graph of jobs depends on."""

    size: str
    train: Path
    dev: Path
    encoder: str | None
    seeds: tuple[int, ...]
    percentages: tuple[int, ...]
    sources: tuple[str, ...]
    timed_questions: int
    parsers: Mapping[str, ParserSettings]
    given: tuple[Given, ...] = ()
    only: tuple[str, ...] = ()
    """Patterns of the cells that may be trained; all if there is none."""
    training: bool = True
    verdicts: Path | None = None
    """A file with verdicts of cells that need not be trained."""


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
    _check_keys(values, _KEYS, path, "")
    missing = [key for key in _KEYS if key not in values]
    if missing:
        raise DataError(f"{path}: {', '.join(missing)} missing")
    _check_keys(values["parsers"], PARSERS, path, "parsers.")
    settings = Settings(
        size=path.stem,
        train=_data_file(train or values["train"], path, "--train"),
        dev=_data_file(dev or values["dev"], path, "--dev"),
        encoder=values["encoder"],
        seeds=_numbers(values, "seeds", path),
        percentages=_numbers(values, "percentages", path),
        sources=tuple(map(str, values["sources"])),
        timed_questions=int(values["timed_questions"]),
        parsers={name: _parser(name, values["parsers"][name], path) for name in PARSERS if name in values["parsers"]},
        given=tuple(_given(text) for text in given),
        only=tuple(only),
        training=training,
        verdicts=verdicts.absolute() if verdicts else None,
    )
    settings = replace(settings, parsers=_changed(settings.parsers, changes))
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


def _check_keys(values: Any, known: Iterable[str], path: Path, prefix: str) -> None:
    if not isinstance(values, dict):
        raise DataError(f"{path}: {prefix.rstrip('.')} has no settings by name")
    for key in values:
        if key not in known:
            close = difflib.get_close_matches(str(key), list(known), n=1)
            hint = f"; did you mean {prefix}{close[0]}?" if close else f"; there are {', '.join(known)}"
            raise DataError(f"{path}: there is no setting {prefix}{key}{hint}")


def _numbers(values: Mapping[str, Any], key: str, path: Path) -> tuple[int, ...]:
    numbers = values[key]
    if not isinstance(numbers, list) or not numbers or not all(type(number) is int for number in numbers):
        raise DataError(f"{path}: {key} is a list of whole numbers, such as [1, 2], not {numbers!r}")
    return tuple(numbers)


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


def _parser(name: str, values: Any, path: Path) -> ParserSettings:
    _check_keys(values, _PARSER_KEYS, path, f"parsers.{name}.")
    if "config" not in values:
        raise DataError(f"{path}: parsers.{name}.config is missing")
    config = ROOT / values["config"]
    if not config.is_file():
        raise DataError(f"{path}: parsers.{name}.config: there is no file {values['config']}")
    updates, batch_size = values.get("updates"), values.get("batch_size")
    if updates is not None and (type(updates) is not int or updates < PARTS or updates % PARTS):
        raise DataError(f"{path}: parsers.{name}.updates is a multiple of {PARTS}, not {updates!r}")
    if batch_size is not None and (type(batch_size) is not int or batch_size < 1):
        raise DataError(f"{path}: parsers.{name}.batch_size is a whole number above 0, not {batch_size!r}")
    return ParserSettings(config, updates, batch_size, dict(values.get("overrides") or {}))


def _changed(parsers: Mapping[str, ParserSettings], changes: Iterable[str]) -> dict[str, ParserSettings]:
    """The parsers with further overrides, each as PARSER.KEY=VALUE."""
    changed = dict(parsers)
    for text in changes:
        where, equals, value = text.partition("=")
        name, dot, key = where.partition(".")
        if not equals or not dot or not key:
            raise DataError(f"--set {text}: say PARSER.KEY=VALUE, such as copynet.settings.lr=5e-4")
        if name not in changed:
            raise DataError(f"--set {text}: there is no parser {name!r}; there are {', '.join(parsers)}")
        changed[name] = replace(changed[name], overrides={**changed[name].overrides, key: _value(value)})
    return changed


def _value(text: str) -> Any:
    """What the text is as JSON; a text that is not JSON stands for itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _given(text: str) -> Given:
    where, equals, file = text.partition("=")
    name, _, split = where.partition("@")
    path = Path(file).absolute()
    given = Given(name, split or "train_100", path)
    if not equals or not file:
        raise DataError(f"--given {text}: say NAME=FILE or NAME@SPLIT=FILE, such as copynet@train_10=model.tar.gz")
    if given.is_archive and name not in PARSERS:
        raise DataError(f"--given {text}: there is no parser {name!r}; there are {', '.join(PARSERS)}")
    if not given.is_archive and name not in SYSTEMS:
        raise DataError(f"--given {text}: there is no system {name!r}; there are {', '.join(SYSTEMS)}")
    if not path.is_file():
        raise DataError(f"--given {text}: there is no file {file}")
    return given


def _check_content(settings: Settings, path: Path) -> None:
    """Raise for what would otherwise only be found in the middle of the work."""
    wrong = [number for number in settings.percentages if number not in (1, 5, 10, 20, 50, 100)]
    if wrong:
        raise DataError(f"{path}: percentages: {wrong[0]} is not one of 1, 5, 10, 20, 50 and 100")
    for file, option in ((settings.train, "--train"), (settings.dev, "--dev")):
        found = {example.source for example in read_break_csv(file)}
        lacking = [source for source in settings.sources if source not in found]
        if lacking:
            raise DataError(
                f"{option} {file}: has no rows of {', '.join(lacking)}, which {path} leaves out in turn; "
                f"it has {', '.join(sorted(found))}"
            )
    if settings.training and settings.encoder not in (None, TINY):
        encoder_path(str(settings.encoder))


def store(settings: Settings, path: Path) -> None:
    """Write the settings for the jobs."""
    with write_text_atomically(path) as stream:
        json.dump(asdict(settings), stream, indent=1, default=str)
        stream.write("\n")


def restore(path: Path) -> Settings:
    """The settings that were written."""
    values = json.loads(path.read_text(encoding="utf-8"))
    parsers = {
        name: ParserSettings(**each | {"config": Path(each["config"])}) for name, each in values["parsers"].items()
    }
    given = tuple(Given(each["name"], each["split"], Path(each["path"])) for each in values["given"])
    paths = {key: Path(values[key]) for key in ("train", "dev", "verdicts") if values[key] is not None}
    lists = {key: tuple(values[key]) for key in ("seeds", "percentages", "sources", "only")}
    return Settings(**values | paths | lists | {"parsers": parsers, "given": given})
