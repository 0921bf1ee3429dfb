from __future__ import annotations

import doctest
from pathlib import Path


def test_the_page_about_plans_says_what_happens(project_root: Path) -> None:
    results = doctest.testfile(str(project_root / "docs" / "plans.md"), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted >= 15
