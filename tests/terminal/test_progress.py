from __future__ import annotations

import pytest

from qdecomp.terminal.progress import progress


def test_progress_passes_everything_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress(range(5), "counting", 5)) == [0, 1, 2, 3, 4]
    assert capsys.readouterr().out == ""
