"""What all tests share: the way to the data beside the project, which is never part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

_SHARED = Path(__file__).parents[1].parent / "shared"


@pytest.fixture(scope="session")
def shared_path() -> Path:
    """The folder with Break and the reference outputs; a test that needs it is skipped where it is missing."""
    if not _SHARED.is_dir():
        pytest.skip(f"the shared data is not beside the project: {_SHARED}")
    return _SHARED
