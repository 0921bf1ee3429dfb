"""Every experiment's figure can be drawn, even if nothing was run, and is the same each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from experiments import tables
from experiments.cells import EXPERIMENTS
from experiments.figures import draw_figure
from experiments.settings import Settings


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_figure(experiment: str, settings: Settings, predict: Callable[..., Path], tmp_path: Path) -> None:
    predict("copynet/train_100/7", lambda number, _: number % 2 == 0)
    result = getattr(tables, experiment)(settings, tmp_path)
    pictures = []
    for folder in (tmp_path / "first", tmp_path / "again"):
        draw_figure(result, folder)
        assert sorted(path.name for path in folder.iterdir()) == [f"{experiment}.png", f"{experiment}.svg"]
        assert (folder / f"{experiment}.png").read_bytes().startswith(b"\x89PNG")
        pictures.append((folder / f"{experiment}.svg").read_text(encoding="utf-8"))
    assert pictures[0] == pictures[1]
    texts = [
        element.text or "" for element in ElementTree.fromstring(pictures[0]).iter() if element.tag.endswith("text")
    ]
    assert any("not run" in text for text in texts)
    assert any(result.blocks[0].title in text for text in texts)
