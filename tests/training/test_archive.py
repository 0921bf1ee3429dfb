"""Options of a parser from an archive are kept, with and without the name of a decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError
from qdecomp.decoding.ilp import IlpDecoder
from qdecomp.training.archives import load_archived_parser


def _model(archive: Path, decoder: str | None, options: dict[str, Any]) -> Any:
    return load_archived_parser(archive, decoder, options).__self__._model  # type: ignore[attr-defined]


@pytest.mark.parametrize("decoder", [None, "ilp"])
def test_a_time_limit_is_kept(archive: Path, decoder: str | None) -> None:
    assert _model(archive, decoder, {"time_limit": 0.25}).decoder == IlpDecoder(time_limit=0.25)


def test_candidates_and_a_time_limit_are_kept_together(archive: Path) -> None:
    parser = load(archive, time_limit=0.25, candidates=2)
    assert parser.parse("How many cubes are red?").question == "How many cubes are red?"
    found = _model(archive, None, {"time_limit": 0.25, "candidates": 2})
    assert found.decoder == IlpDecoder(time_limit=0.25, candidates=2)


def test_an_option_that_there_is_not_is_named(archive: Path) -> None:
    with pytest.raises(DataError, match="there is no option 'limit'"):
        load(archive, limit=3)
