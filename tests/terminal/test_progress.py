from __future__ import annotations

from itertools import count

import pytest

from qdecomp.terminal.progress import progress


def test_everything_is_passed_on_with_a_line_every_five_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # An item takes three seconds.
    clock = count(step=3)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    assert list(progress(range(5), "counting\x1b", 5000)) == [0, 1, 2, 3, 4]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "counting\\u001b: 2 of 5,000 (0 a second)",
        "counting\\u001b: 4 of 5,000 (0 a second)",
    ]
