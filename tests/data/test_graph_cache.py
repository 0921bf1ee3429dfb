from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from qdecomp.data import graph_cache
from qdecomp.data.graph_cache import GraphCache, default_cache_folder
from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.special_tokens import PRESETS

SPECIAL = PRESETS["default"]
GOOD = ("How many red cubes are there?", "return cubes ;return #1 that are red ;return number of #2")
BAD = ("How many red cubes are there?", "return #1")


def _no_conversion(*args: object, **options: object) -> None:
    raise AssertionError("converted again")


def test_graphs_come_from_the_conversion_and_then_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, error = GraphCache(tmp_path).graphs([GOOD, BAD], SPECIAL)
    assert first == convert(*GOOD, special=SPECIAL).graph
    assert isinstance(error, QDecompError)
    monkeypatch.setattr(graph_cache, "convert", _no_conversion)
    again, same_error = GraphCache(tmp_path).graphs([GOOD, BAD], SPECIAL)
    assert again == first
    assert str(same_error) == str(error)


@pytest.mark.parametrize("change", ["version", "special tokens", "decomposition"])
def test_whatever_changes_the_graph_changes_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    GraphCache(tmp_path).graphs([GOOD], SPECIAL)
    monkeypatch.setattr(graph_cache, "convert", _no_conversion)
    cache = GraphCache(tmp_path, version="other") if change == "version" else GraphCache(tmp_path)
    pair = (GOOD[0], GOOD[1] + " ;return #3") if change == "decomposition" else GOOD
    with pytest.raises(AssertionError, match="converted again"):
        cache.graphs([pair], PRESETS["paper"] if change == "special tokens" else SPECIAL)


def test_a_damaged_file_costs_only_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = GraphCache(tmp_path)
    cache.path.write_bytes(b"this is no database" * 100)
    (graph,) = cache.graphs([GOOD], SPECIAL)
    assert isinstance(graph, DependencyGraph)
    assert "converting without it" in caplog.text


def test_a_folder_that_cannot_be_made_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (graph,) = GraphCache(tmp_path / "file" / "cache").graphs([GOOD], SPECIAL)
    assert isinstance(graph, DependencyGraph)


def _fill(folder: str, number: int) -> int:
    pairs = [(f"How many red cubes of kind {n} are there?", GOOD[1]) for n in range(number, number + 30)]
    return sum(isinstance(graph, DependencyGraph) for graph in GraphCache(folder).graphs(pairs, SPECIAL))


def test_two_processes_share_one_cache(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(_fill, [(str(tmp_path), 0), (str(tmp_path), 15)]) == [30, 30]
    assert _fill(str(tmp_path), 5) == 30


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDECOMP_CACHE", "/somewhere")
    assert default_cache_folder() == Path("/somewhere")
    monkeypatch.delenv("QDECOMP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_cache_folder() == Path("/caches/qdecomp")
