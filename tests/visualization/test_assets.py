"""The style sheets of pages: every rule is there once, and a verdict has the colour of what it says."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import qdecomp.visualization
from qdecomp.visualization.assets import style

SHEETS = sorted((Path(qdecomp.visualization.__file__).parent / "styles").glob("*.css"))


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.stem)
def test_a_sheet_says_nothing_twice(sheet: Path) -> None:
    rules = re.findall(r"^([^@{}\n][^{}]*\{[^{}]+\})", sheet.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert rules
    assert [rule for rule, count in Counter(rules).items() if count > 1] == []


def test_a_right_verdict_and_a_wrong_one_have_their_own_colours() -> None:
    sheet = style("page")
    assert ".qd-equal .qd-verdict { color: var(--qd-good); }" in sheet
    assert ".qd-different .qd-verdict { color: var(--qd-bad); }" in sheet
    assert sheet.count(".qd-verdict { color:") == 2
