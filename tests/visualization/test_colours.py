from __future__ import annotations

import pytest

from qdecomp.data_structures.edge_tags import STRUCTURAL_TAGS
from qdecomp.data_structures.operators import Operator
from qdecomp.visualization.colours import COLOURS, SURFACES, UNKNOWN, colour_css

_TEXTS = {**COLOURS, **{name: SURFACES[name] for name in ("ink", "quiet", "good", "bad")}}


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("background", ["paper", "raised"])
def test_every_text_can_be_read(scheme: str, background: str) -> None:
    behind = getattr(SURFACES[background], scheme)
    contrasts = {name: contrast(getattr(colour, scheme), behind) for name, colour in _TEXTS.items()}
    assert min(contrasts.values()) >= 4.5, min(contrasts, key=contrasts.__getitem__)


def test_every_operator_and_tag_has_a_colour_of_its_own() -> None:
    assert set(COLOURS) == {*(operator.value for operator in Operator), *STRUCTURAL_TAGS, UNKNOWN}
    for scheme in ("light", "dark"):
        assert len({getattr(colour, scheme) for colour in COLOURS.values()}) == len(COLOURS)


def test_the_style_stays_below_its_class() -> None:
    selectors = [rule.rpartition("}")[2] for rule in colour_css().split("{")[:-1]]
    assert all(selector.startswith((".qdecomp", "@media")) for selector in selectors)
    assert "prefers-color-scheme:dark" in colour_css()
