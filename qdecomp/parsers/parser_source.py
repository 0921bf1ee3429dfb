"""Where a parser is and how it is opened: the bundled one, a folder, an AllenNLP archive or a consensus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError, InternalError, as_internal_errors
from qdecomp.parsers.backend_names import DEFAULT_BACKEND
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition

__all__ = ["BUNDLED_NAME", "ParserSource", "Predict", "parser_path", "predict_each"]

BUNDLED_NAME = "minilm_break"
"""The name of the parser that comes with the package."""

Predict = Callable[[Sequence[str]], Sequence[Decomposition]]


@dataclass(frozen=True, slots=True)
class ParserSource:
    """Where a parser is and how it should decode, so that every process can open it."""

    path: Path
    decoder: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    trust: bool = False
    """Whether an archive may run the code that it names."""
    min_confidence: float = 0.0
    backend: str = DEFAULT_BACKEND
    """What computes the networks of a bundled parser that writes."""

    @property
    def is_consensus(self) -> bool:
        """Whether the path is that of a file that names other parsers."""
        return self.path.suffix == ".json" and self.path.is_file()

    def open(self) -> Predict:
        """Load the parser, with calibrated confidence if it has a calibration; it refuses what is not a question."""
        from qdecomp.parsers.careful_parser import CarefulParser

        return CarefulParser(self.open_calibrated(), self.min_confidence)

    def open_calibrated(self) -> Predict:
        """Load the parser, which answers whatever it is asked, with calibrated confidence if it has a calibration."""
        from qdecomp.parsers.calibration import CalibratedParser

        predict = self.open_as_it_is()
        calibration = getattr(predict, "calibration", None)
        return predict if calibration is None else CalibratedParser(predict, calibration)

    def open_as_it_is(self) -> Predict:
        """Load the parser alone."""
        from qdecomp.parsers.bundle import is_bundle, read_bundle

        if self.is_consensus:
            from qdecomp.parsers.consensus_parser import open_consensus

            return open_consensus(self.path, self.decoder, dict(self.options), trust=self.trust, backend=self.backend)
        if self.path.is_dir() and is_bundle(self.path):
            return read_bundle(self.path, self.decoder, backend=self.backend, **dict(self.options))
        if self.backend != DEFAULT_BACKEND:
            raise DataError(f"{self.path}: the backend {self.backend} is for bundled parsers")
        try:
            from qdecomp.training.archives import load_archived_parser
        except ImportError as error:
            raise DataError(f"{self.path}: an archive needs AllenNLP's environment, see README ({error})") from None
        return load_archived_parser(self.path, self.decoder, dict(self.options), trust=self.trust)

    def content(self) -> list[str]:
        """What the parser consists of, wherever it is: hashes of its files and, for a consensus, of its members."""
        from qdecomp.parsers.fingerprint import fingerprint

        found = [fingerprint(self.path)]
        if self.is_consensus:
            from qdecomp.parsers.consensus_parser import member_paths

            found.extend(each for path in member_paths(self.path) for each in ParserSource(path).content())
        return found

    def depends_on_batches(self) -> bool:
        """Whether the last digits of an answer depend on which questions are parsed together: not in a bundle."""
        from qdecomp.parsers.bundle import is_bundle

        if self.is_consensus:
            from qdecomp.parsers.consensus_parser import member_paths

            return any(ParserSource(path).depends_on_batches() for path in member_paths(self.path))
        return not (self.path.is_dir() and is_bundle(self.path))


def parser_path(source: str | Path, relative_to: Path | None = None) -> Path:
    """Where a parser is, by its name or path, which may be relative to a folder; if there is none, an error."""
    from qdecomp.parsers.bundle import BUNDLED

    path = BUNDLED if source == BUNDLED_NAME else (relative_to or Path()) / Path(source).expanduser()
    if not path.exists():
        kinds = f"{BUNDLED_NAME}, a parser's folder, a model.tar.gz or a consensus.json"
        raise DataError(f"there is no parser {str(source)!r}; give {kinds}")
    return path


def predict_each(predict: Predict, batch: Sequence[str]) -> Sequence[Decomposition]:
    """Predict a batch; if the code fails on a question, that is its error, and the others get their answers."""
    try:
        with as_internal_errors():
            return predict(batch)
    except InternalError as mistake:
        if len(batch) == 1:
            return [failed_decomposition(batch[0], mistake)]
    return [prediction for question in batch for prediction in predict_each(predict, [question])]
