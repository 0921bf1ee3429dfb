"""Which parser, and how it answers: the one value that the command line, the service and workers carry.

A parser is the bundled one, the folder of another bundle, an AllenNLP archive (``model.tar.gz``), a consensus, or a
language model behind an address or a function; another one may answer what it cannot.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bundle import BUNDLED, is_bundle, read_json
from qdecomp.parsers.calibration import Calibration, calibration_from_json
from qdecomp.parsers.consensus import check_weights
from qdecomp.parsers.language_model import ModelSettings, checked_url

if TYPE_CHECKING:
    from qdecomp.parsers.parser import Parser

BUNDLED_NAME = BUNDLED.name
"""The name of the parser that comes with the package."""

AnswerFunction = Callable[[list[dict[str, str]]], str]
"""Gives the messages of a conversation the text of the next one."""

_MOST_CANDIDATES, _MOST_MEMBERS = 100, 20
_AN_ADDRESS = "http://127.0.0.1:8080/v1"
# The files that matter in a folder of AllenNLP's; its logs and checkpoints change while the parser does not.
_OF_A_TRAINING = ("config.json", "weights.th", "best.th", "model.tar.gz", "vocabulary/*")
# Greedy decoding gives only one graph.
_ONE_GRAPH = frozenset({"greedy", "greedy_valid", "projection"})
_MEMBER_FIELDS = frozenset({"parser", "weight", "decoder", "candidates"})


@dataclass(frozen=True, slots=True)
class ParserSource:
    """Where a parser is and how it should answer, so that every process can open it."""

    path: Path | None
    """None for a language model."""
    decoder: str | None = None
    candidates: int = 0
    """How many of the best decompositions each answer has."""
    trust: bool = False
    """Whether an archive may run the code that it names."""
    min_confidence: float = 0.0
    """Below this confidence, an answer is the reason instead of a plan."""
    options: tuple[tuple[str, Any], ...] = ()
    """Options of the decoder or of the search."""
    content: tuple[str, ...] = ()
    """For workers: what the parser must consist of, see :meth:`for_workers`."""
    model: ModelSettings | None = None
    """The language model that is the parser."""
    function: AnswerFunction | None = None
    """What answers for the language model, if it has no address; it stays in its process."""
    fallback: ParserSource | None = None
    """The parser that answers what this one does not, or not surely."""
    fallback_below: float = 0.5
    """The confidence below which the other one is asked."""
    together: bool = False
    """Whether both parsers answer every question, and their consensus counts."""

    def __post_init__(self) -> None:
        _require_count("candidates", self.candidates, 0)
        for name in ("min_confidence", "fallback_below"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise DataError(f"{name} is {value!r}; give a number from 0 to 1")

    @property
    def name(self) -> str:
        """What messages and records call the parser."""
        own = self.model.model if self.model is not None else "none" if self.path is None else self.path.name
        return own if self.fallback is None else f"{own}, then {self.fallback.name}"

    @property
    def files(self) -> tuple[Path, ...]:
        """The files and folders that the parser is read from."""
        examples = [] if self.model is None or self.model.examples is None else [Path(self.model.examples)]
        own = [] if self.path is None else [self.path]
        return (*own, *examples, *(() if self.fallback is None else self.fallback.files))

    @property
    def language_model(self) -> ModelSettings | None:
        """The language model that is, or may be, asked."""
        return self.model if self.model is not None or self.fallback is None else self.fallback.language_model

    @property
    def stays_here(self) -> bool:
        """Whether a function answers, which other processes do not have."""
        return self.function is not None or (self.fallback is not None and self.fallback.stays_here)

    @property
    def is_consensus(self) -> bool:
        """Whether it is a file that names other parsers."""
        return self.path is not None and self.path.suffix == ".json" and self.path.is_file()

    @property
    def depends_on_batches(self) -> bool:
        """Whether the last digits of an answer depend on which questions are parsed together: not in a bundle."""
        behind = [] if self.fallback is None else [self.fallback]
        if self.is_consensus:
            behind += [each for _, each in self.consensus()[0]]
        elif self.path is not None and not is_bundle(self.path):
            return True
        return any(each.depends_on_batches for each in behind)

    def open(self) -> Parser:
        """Load the parser."""
        from qdecomp.parsers.parser import open_source

        return open_source(self)

    def consensus(self) -> tuple[list[tuple[float, ParserSource]], Calibration | None]:
        """The parsers that the file of a consensus names, with their weights, and its calibration."""
        path = self.path
        assert path is not None
        value = read_json(path, "a consensus")
        entries = value.get("parsers") if isinstance(value, dict) and value.get("kind") == "consensus" else None
        if not isinstance(entries, list) or not entries:
            raise DataError(
                f'{path}: not a consensus, which is {{"kind": "consensus", "parsers": [{{"parser": …}}, …]}}'
            )
        if len(entries) > _MOST_MEMBERS:
            raise DataError(f"{path}: a consensus of {len(entries):,} parsers; at most {_MOST_MEMBERS} are allowed")
        members = [_member(entry, path, number, self.trust) for number, entry in enumerate(entries, start=1)]
        check_weights([weight for weight, _ in members], len(members))
        return members, calibration_from_json(value.get("calibration"))

    def contents(self) -> tuple[str, ...]:
        """What the parser consists of, wherever it is: hashes of its files and, for a consensus, of its members."""
        found: list[str] = [] if self.model is None else [self.model.fingerprint()]
        if self.path is not None:
            found.append(_fingerprint(self.path))
        if self.is_consensus:
            found += (each for _, source in self.consensus()[0] for each in source.contents())
        if self.fallback is not None:
            how = "together, " if self.together else ""
            found += (*self.fallback.contents(), f"{how}below {self.fallback_below}")
        return tuple(found)

    def for_workers(self) -> ParserSource:
        """The source for processes with other working folders, which must find the same files."""
        model, path = self.model, self.path
        if model is not None and model.examples is not None:
            model = replace(model, examples=str(Path(model.examples).resolve()))
        if path is not None:
            path = Path(BUNDLED_NAME) if path.resolve() == BUNDLED.resolve() else path.resolve()
        fallback = None if self.fallback is None else self.fallback.for_workers()
        return replace(self, path=path, model=model, fallback=fallback, content=self.contents())

    def here(self) -> ParserSource:
        """On a worker: the source with paths of this process."""
        fallback = None if self.fallback is None else self.fallback.here()
        return replace(self, path=None if self.path is None else parser_path(self.path), fallback=fallback, content=())


def parser_source(
    source: str | Path | AnswerFunction, *, fallback: str | Path | AnswerFunction | None = None, **options: Any
) -> ParserSource:
    """The source of a parser, given by name, path, address or function, and of the one that answers what it does not.

    Of the ``options``, the fields of :class:`ModelSettings` go to the language model; the others that are no fields of
    :class:`ParserSource` are options of the decoder or of the search.
    """
    if options.get("together") and fallback is None:
        raise DataError("together needs a fallback, the second parser")
    of_model, of_source = (
        {each.name: options.pop(each.name) for each in fields(kind) if each.name in options}
        for kind in (ModelSettings, ParserSource)
    )
    sources = [_source_of(each, of_model) for each in ((source,) if fallback is None else (source, fallback))]
    if of_model and all(each.model is None for each in sources):
        raise DataError(
            f"{next(iter(of_model))} is for a language model; give its address, such as {_AN_ADDRESS}, "
            "as the parser or the fallback"
        )
    if callable(source) and (of_source.get("decoder") or of_source.get("candidates") or options):
        raise DataError("a function takes no decoder, no candidates and none of the options of other parsers")
    behind = sources[1] if len(sources) > 1 else None
    return replace(sources[0], **of_source, options=tuple(options.items()), fallback=behind)


def _source_of(source: str | Path | AnswerFunction, options: Mapping[str, Any]) -> ParserSource:
    if callable(source):
        # One question is asked at a time, and the answers of a function without the name of a model are not kept.
        own = {
            "concurrency": 1,
            "cache": "model" in options,
            "model": getattr(source, "__name__", type(source).__name__),
        }
        return ParserSource(None, model=ModelSettings(**{**own, **options}), function=source)
    if str(source).startswith(("http://", "https://")):
        return ParserSource(None, model=ModelSettings(**{"model": "", **options, "url": checked_url(str(source))}))
    return ParserSource(parser_path(source))


def parser_path(source: str | Path, relative_to: Path | None = None) -> Path:
    """Where a parser is, by its name or path, which may be relative to a folder; if there is none, an error."""
    path = BUNDLED if str(source) == BUNDLED_NAME else (relative_to or Path()) / Path(source).expanduser()
    if not os.path.exists(path):
        kinds = f"{BUNDLED_NAME}, a parser's folder, a model.tar.gz, a consensus.json or a language model's address"
        raise DataError(f"there is no parser {str(source)!r}; give {kinds}, such as {_AN_ADDRESS}")
    return path


def _require_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or not least <= value <= _MOST_CANDIDATES:
        raise DataError(f"{name} is {str(value)[:20]}; give a whole number from {least} to {_MOST_CANDIDATES}")


def _member(entry: Any, consensus: Path, number: int, trust: bool) -> tuple[float, ParserSource]:
    where = f"{consensus}: parser {number}"
    if not isinstance(entry, dict) or not isinstance(entry.get("parser"), str):
        raise DataError(f"{where} must be an object whose field parser is the name or path of a parser")
    if unknown := sorted(entry.keys() - _MEMBER_FIELDS):
        raise DataError(
            f"{where} has an unknown field {unknown[0]!r}; the fields are {', '.join(sorted(_MEMBER_FIELDS))}"
        )
    weight, asked, decoder = entry.get("weight", 1.0), entry.get("candidates", 5), entry.get("decoder")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or abs(weight) > 1e100:
        raise DataError(f"{where}: the weight is {str(weight)[:20]}, not a number")
    if not isinstance(decoder, str | None):
        raise DataError(f"{where}: decoder must be the name of a decoder")
    _require_count(f"{where}: candidates", asked, 1)
    path = parser_path(entry["parser"], consensus.parent)
    if path.resolve() == consensus.resolve():
        raise DataError(f"{consensus}: one of its parsers is the consensus itself")
    return float(weight), ParserSource(path, decoder, 0 if asked == 1 or decoder in _ONE_GRAPH else asked, trust)


def _fingerprint(path: Path) -> str:
    """A hash of a file, or of a folder's files with their names: the same for a copy, another after a new training."""
    digest = hashlib.blake2b(digest_size=16)
    try:
        for file in [path] if path.is_file() else _files(path):
            if file != path:
                digest.update(f"{file.relative_to(path).as_posix()}\0{file.stat().st_size}\0".encode())
            with file.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    return digest.hexdigest()


def _files(folder: Path) -> Iterable[Path]:
    chosen = [file for pattern in _OF_A_TRAINING for file in folder.glob(pattern)]
    is_training = any(file.name in ("weights.th", "best.th", "model.tar.gz") for file in chosen)
    return sorted(file for file in (chosen if is_training else folder.rglob("*")) if file.is_file())
