"""Which parser, and how it answers: the one value that the command line, the service and workers carry.

A parser is the bundled one, the folder of another bundle, an AllenNLP archive (``model.tar.gz``), a consensus, or a
language model behind an address; another one may answer what it cannot.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding import make_decoder
from qdecomp.parsers.bundle import BUNDLED, BundleConfig, GraphConfig, Seq2SeqConfig, is_bundle, read_config
from qdecomp.parsers.calibration import calibration_from_json
from qdecomp.parsers.consensus import Member, consensus, read_consensus
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.language_model import ModelSettings, checked_url

if TYPE_CHECKING:
    from qdecomp.parsers.parser import Answers, Parser

BUNDLED_NAME = BUNDLED.name
"""The name of the parser that comes with the package."""

_MOST_CANDIDATES = 100
# What opens the archives of AllenNLP; it is imported only where one is opened.
_ARCHIVES = "qdecomp.training.archives:load_archived_parser"
# The files that matter in a folder of AllenNLP's; its logs and checkpoints change while the parser does not.
_OF_A_TRAINING = ("config.json", "weights.th", "best.th", "model.tar.gz", "vocabulary/*")
# Greedy decoding gives only one graph.
_ONE_GRAPH = frozenset({"greedy", "greedy_valid", "projection"})
# The threads of a worker take turns: not every parser can do two things at once, and none gets faster by it.
_TURN = threading.Lock()


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
    fallback: ParserSource | None = None
    """The parser that answers what this one does not, or not surely."""
    fallback_below: float = 0.5
    """The confidence below which the other one is asked."""
    together: bool = False
    """Whether both parsers answer every question, and their consensus counts."""

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, int) or not 0 <= self.candidates <= _MOST_CANDIDATES:
            raise DataError(
                f"candidates is {str(self.candidates)[:20]}; give a whole number from 0 to {_MOST_CANDIDATES}"
            )
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
    def asks_a_model(self) -> bool:
        """Whether a language model is, or may be, asked."""
        return self.model is not None or (self.fallback is not None and self.fallback.asks_a_model)

    @property
    def depends_on_batches(self) -> bool:
        """Whether the last digits of an answer depend on which questions are parsed together: not in a bundle."""
        if self.fallback is not None and self.fallback.depends_on_batches:
            return True
        if self.path is None:
            return False
        if _is_consensus(self.path):
            return any(each.depends_on_batches for _, each in self._members(self.path))
        return not _is_bundle(self.path)

    def open(self) -> Parser:
        """Load the parser."""
        from qdecomp.parsers.parser import Parser, in_front_of

        if self.fallback is not None:
            alone = replace(self, fallback=None, min_confidence=0.0).open()
            return in_front_of(alone, self.fallback.open(), self.fallback_below, self.together, source=self)
        if self.model is not None:
            from qdecomp.parsers.language_model import open_model

            if self.min_confidence:
                raise DataError(f"{self.name}: a language model gives no confidence, so it takes no min_confidence")
            model = open_model(self.model)
            return Parser(self.name, model, source=self, refuses=True, usage=model.usage)
        assert self.path is not None
        if _is_consensus(self.path):
            answers, calibration = self._open_consensus(self.path)
        elif _is_bundle(self.path):
            config = read_config(self.path)
            answers, calibration = self._open_bundle(self.path, config), calibration_from_json(config.calibration)
        else:
            answers, calibration = self._open_archive(self.path), None
        if self.min_confidence and calibration is None:
            raise DataError(
                f"{self.path}: this parser is not calibrated, so min_confidence has nothing to go by; "
                "'qdecomp calibrate' calibrates it on rows that it was not trained on"
            )
        return Parser(self.name, answers, source=self, calibration=calibration, refuses=True)

    def contents(self) -> tuple[str, ...]:
        """What the parser consists of, wherever it is: hashes of its files and, for a consensus, of its members."""
        found: list[str] = [] if self.model is None else [self.model.fingerprint()]
        if self.path is not None:
            found.append(_fingerprint(self.path))
            if _is_consensus(self.path):
                found += (each for _, source in self._members(self.path) for each in source.contents())
        if self.fallback is not None:
            found += (*self.fallback.contents(), "together" if self.together else f"below {self.fallback_below}")
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

    def _open_bundle(self, path: Path, config: BundleConfig) -> Answers:
        # The networks need onnxruntime, which only parsing needs.
        if isinstance(config, Seq2SeqConfig):
            from qdecomp.parsers.seq2seq import Seq2SeqParser

            if self.decoder is not None:
                raise DataError(f"{path}: a seq2seq parser predicts no graphs, so it takes no decoder")
            return Seq2SeqParser(path, config, _search_settings(config, self.candidates, dict(self.options)))
        from qdecomp.parsers.graph import GraphParser

        assert isinstance(config, GraphConfig)
        asked = {"candidates": self.candidates} if self.candidates else {}
        decoder = make_decoder(self.decoder or config.decoder, **asked, **dict(self.options))
        return GraphParser(path, config, decoder)

    def _open_consensus(self, path: Path) -> tuple[Answers, Any]:
        if self.decoder is not None or self.options:
            where = f"{path}: a consensus takes no decoder and no options"
            raise DataError(f"{where}; its file sets them for each parser")
        members = self._members(path)
        parsers = [source.open() for _, source in members]
        weights = [member.weight for member, _ in members]
        answers = partial(_consensus_of, parsers, weights, self.candidates)
        return answers, read_consensus(path).calibration

    def _open_archive(self, path: Path) -> Answers:
        module, _, name = _ARCHIVES.partition(":")
        try:
            load = getattr(import_module(module), name)
        except ImportError as error:
            raise DataError(f"{path}: an archive needs AllenNLP's environment, see README ({error})") from None
        asked = {"candidates": self.candidates} if self.candidates else {}
        found: Answers = load(path, self.decoder, {**dict(self.options), **asked}, trust=self.trust)
        return found

    def _members(self, consensus_path: Path) -> list[tuple[Member, ParserSource]]:
        found = []
        for member in read_consensus(consensus_path).members:
            path = parser_path(member.parser, consensus_path.parent)
            if path.resolve() == consensus_path.resolve():
                raise DataError(f"{consensus_path}: one of its parsers is the consensus itself")
            candidates = 0 if member.candidates == 1 or member.decoder in _ONE_GRAPH else member.candidates
            found.append((member, ParserSource(path, member.decoder, candidates, self.trust)))
        return found


def _search_settings(config: Seq2SeqConfig, candidates: int, options: Mapping[str, Any]) -> Any:
    from qdecomp.parsers.seq2seq import SearchSettings

    names = {each.name for each in fields(SearchSettings)}
    for option in options:
        if option not in names:
            raise DataError(f"there is no option {option!r}; the options are {', '.join(sorted(names))}")
    own = {name: getattr(config, name) for name in names if name != "candidates"}
    return SearchSettings(**{**own, "candidates": candidates, **options})


def _consensus_of(
    parsers: Sequence[Parser], weights: Sequence[float], candidates: int, questions: Sequence[str]
) -> list[Decomposition]:
    answers = zip(questions, *(parser.calibrated(questions) for parser in parsers), strict=True)
    found = [consensus(question, predictions, weights) for question, *predictions in answers]
    return [replace(each, candidates=each.candidates[:candidates]) for each in found]


def parser_source(
    source: str | Path,
    *,
    decoder: str | None = None,
    candidates: int = 0,
    trust: bool = False,
    min_confidence: float = 0.0,
    fallback: str | Path | None = None,
    fallback_below: float = 0.5,
    together: bool = False,
    **options: Any,
) -> ParserSource:
    """The source of a parser, given by its name, path or address, and of the one that answers what it does not.

    Of the ``options``, those of a language model go to that one.
    """
    of_model, others = split_options(options)
    sources = [_source_of(each, of_model) for each in (source, fallback) if each is not None]
    if of_model and all(each.model is None for each in sources):
        raise DataError(
            f"{next(iter(of_model))} is for a language model; give its address, as in http://127.0.0.1:8080/v1"
        )
    return replace(
        sources[0],
        decoder=decoder,
        candidates=candidates,
        trust=trust,
        min_confidence=min_confidence,
        options=tuple(others.items()),
        fallback=sources[1] if len(sources) > 1 else None,
        fallback_below=fallback_below,
        together=together,
    )


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of a language model, and the others."""
    names = {each.name for each in fields(ModelSettings)}
    of_model = {name: value for name, value in options.items() if name in names}
    return of_model, {name: value for name, value in options.items() if name not in names}


def _source_of(source: str | Path, options: Mapping[str, Any]) -> ParserSource:
    if not str(source).startswith(("http://", "https://")):
        return ParserSource(parser_path(source))
    return ParserSource(None, model=ModelSettings(**{"model": "", **options, "url": checked_url(str(source))}))


def source_from_json(value: Mapping[str, Any]) -> ParserSource:
    """The source that ``dataclasses.asdict`` and ``json.dumps`` made a value of."""
    found = dict(value)
    for name, read in (("path", Path), ("model", lambda each: ModelSettings(**each)), ("fallback", source_from_json)):
        found[name] = None if found.get(name) is None else read(found[name])
    found |= {"options": tuple(map(tuple, found["options"])), "content": tuple(found["content"])}
    return ParserSource(**found)


def parser_path(source: str | Path, relative_to: Path | None = None) -> Path:
    """Where a parser is, by its name or path, which may be relative to a folder; if there is none, an error."""
    path = BUNDLED if str(source) == BUNDLED_NAME else (relative_to or Path()) / Path(source).expanduser()
    if not path.exists():
        kinds = f"{BUNDLED_NAME}, a parser's folder, a model.tar.gz, a consensus.json or a language model's address"
        raise DataError(f"there is no parser {str(source)!r}; give {kinds}")
    return path


def _is_consensus(path: Path) -> bool:
    """Whether the path is that of a file that names other parsers."""
    return path.suffix == ".json" and path.is_file()


def _is_bundle(path: Path) -> bool:
    return path.is_dir() and is_bundle(path)


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


@lru_cache(maxsize=1)
def opened_on_worker(source: ParserSource) -> Parser:
    """On a worker: the parser, which must be the requested one; a process keeps the one that it loaded last."""
    try:
        here = source.here()
    except DataError:
        raise DataError(
            f"{source.name}: a worker does not have this parser; put it where all workers can read it"
        ) from None
    if here.contents() != source.content:
        raise DataError(f"{source.name}: a worker has a different parser there; give all workers the same one")
    return here.open()


def predict_on_worker(source: ParserSource, questions: Sequence[str]) -> Sequence[Decomposition]:
    """On a worker: the decompositions of a batch."""
    with _TURN:
        return opened_on_worker(source).predict(questions)
