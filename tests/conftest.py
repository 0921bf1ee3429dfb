"""What all tests share: no network, one thread a process, and the way to the data beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Set before torch and transformers are imported by anything, and for every process that a test starts.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning:torchvision.io.image")

_PROJECT_ROOT = Path(__file__).resolve().parents[1]
_SHARED = _PROJECT_ROOT.parent / "shared"


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder of the clone."""
    return _PROJECT_ROOT


@pytest.fixture(scope="session")
def shared_path() -> Path:
    """The folder with Break and the reference outputs; a test that needs it is skipped where it is missing."""
    if not _SHARED.is_dir():
        pytest.skip(f"the shared data is not beside the project: {_SHARED}")
    return _SHARED
