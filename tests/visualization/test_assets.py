"""Colours that can be told apart and read."""

from __future__ import annotations

import pytest

from qdecomp.data_structures.edge_tags import STRUCTURAL_TAGS
from qdecomp.data_structures.operators import Operator
from qdecomp.visualization.assets import COLOURS, SURFACES, UNKNOWN, style_sheet

LIGHT, DARK = 0, 1


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
@pytest.mark.parametrize("background", ["paper", "raised"])
def test_every_text_can_be_read(scheme: int, background: str) -> None:
    behind = luminance(SURFACES[background][scheme])
    texts = {**COLOURS, **{name: SURFACES[name] for name in ("ink", "quiet", "good", "bad")}}
    for name, colours in texts.items():
        darker, lighter = sorted((luminance(colours[scheme]), behind))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, name


def test_every_operator_and_tag_has_a_colour_of_its_own() -> None:
    assert set(COLOURS) == {*(operator.value for operator in Operator), *STRUCTURAL_TAGS, UNKNOWN}
    for scheme in (LIGHT, DARK):
        assert len({colours[scheme] for colours in COLOURS.values()}) == len(COLOURS)


def test_the_style_of_a_picture_stays_below_its_class() -> None:
    selectors = [rule.rpartition("}")[2] for rule in style_sheet().split("{")[:-1]]
    assert all(selector.startswith((".qdecomp", "@media")) for selector in selectors)
    assert "prefers-color-scheme:dark" in style_sheet()
