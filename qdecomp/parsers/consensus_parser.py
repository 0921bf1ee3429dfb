"""A parser that asks several others and answers with their consensus.

It is a JSON file that names the others, by paths relative to it, with their weights:

    {"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": 1}, {"parser": "copynet/model.tar.gz"}]}

A parser may also have a ``decoder`` and a number of ``candidates`` to ask for, and the consensus a ``calibration``, see
:mod:`qdecomp.parsers.calibration`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.backend_names import DEFAULT_BACKEND
from qdecomp.parsers.calibration import Calibration, calibration_from_json
from qdecomp.parsers.consensus import check_weights, consensus
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser_source import ParserSource, Predict, parser_path

__all__ = ["ConsensusParser", "member_paths", "open_consensus"]

_KIND = "consensus"
_CANDIDATES = 5
_ONE_GRAPH = frozenset({"greedy", "greedy_valid", "projection"})
_SETTINGS = frozenset({"parser", "weight", "decoder", "candidates"})


@dataclass(frozen=True, slots=True)
class ConsensusParser:
    """The parsers and their weights."""

    parsers: tuple[Predict, ...]
    weights: tuple[float, ...]
    candidates: int = 0
    calibration: Calibration | None = None

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """The consensus for each question of a batch."""
        answers = zip(*(parser(questions) for parser in self.parsers), strict=True)
        found = [
            consensus(question, predictions, self.weights)
            for question, predictions in zip(questions, answers, strict=True)
        ]
        return [replace(each, candidates=each.candidates[: self.candidates]) for each in found]


def open_consensus(
    path: Path,
    decoder: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    trust: bool = False,
    backend: str = DEFAULT_BACKEND,
) -> ConsensusParser:
    """The parser that a file describes; any other file is a :class:`DataError`.

    The ``backend`` is that of every parser in it.
    """
    given = dict(options or {})
    candidates = given.pop("candidates", 0)
    if decoder is not None or given:
        raise DataError(f"{path}: a consensus takes no decoder and no options; its file sets them for each parser")
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read ({type(error).__name__}: {error})") from None
    entries = value.get("parsers") if isinstance(value, dict) and value.get("kind") == _KIND else None
    if not isinstance(entries, list) or not entries:
        raise DataError(f'{path}: not a consensus, which is {{"kind": "consensus", "parsers": [{{"parser": …}}, …]}}')
    sources, weights = [], []
    for number, entry in enumerate(entries, start=1):
        source, weight = _member(entry, f"{path}: parser {number}", path, trust)
        sources.append(replace(source, backend=backend))
        weights.append(weight)
    check_weights(weights, len(sources))
    calibration = calibration_from_json(value.get("calibration"))
    return ConsensusParser(
        tuple(source.open_calibrated() for source in sources), tuple(weights), candidates, calibration
    )


def member_paths(path: Path) -> list[Path]:
    """The places of a consensus's parsers, as far as they can be opened."""
    entries = json.loads(path.read_text(encoding="utf-8"))["parsers"]
    return [parser_path(entry["parser"], path.parent) for entry in entries]


def _member(entry: Any, where: str, path: Path, trust: bool) -> tuple[ParserSource, float]:
    if not isinstance(entry, dict) or not isinstance(entry.get("parser"), str):
        raise DataError(f"{where} must be an object whose field parser is the name or path of a parser")
    unknown = sorted(entry.keys() - _SETTINGS)
    if unknown:
        raise DataError(f"{where} has an unknown field {unknown[0]!r}; the fields are {', '.join(sorted(_SETTINGS))}")
    weight, asked, decoder = entry.get("weight", 1.0), entry.get("candidates", _CANDIDATES), entry.get("decoder")
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise DataError(f"{where}: the weight is {weight!r}, not a number")
    if not isinstance(asked, int) or asked < 1 or not isinstance(decoder, str | None):
        raise DataError(f"{where}: candidates must be a whole number, 1 or more, and decoder the name of a decoder")
    member = parser_path(entry["parser"], path.parent)
    if member.resolve() == path.resolve():
        raise DataError(f"{where} is the consensus itself")
    # Greedy decoding gives only one graph.
    options = (("candidates", asked),) if asked > 1 and decoder not in _ONE_GRAPH else ()
    return ParserSource(member, decoder, options, trust), float(weight)
