"""What all tests share: no network, one thread per process, no reads outside, and access to the shared data."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from scripts.shared_data import SWITCH, shared_data
from tests.guard import sitecustomize as outside_reads

_PROJECT_ROOT = Path(__file__).resolve().parents[1]
_SHARED = shared_data()

# Fixtures that more than one folder of tests uses.
pytest_plugins = ["tests.trainings"]

# Set before torch and transformers are imported by anything, and for every process that a test starts.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning:torchvision.io.image")

# A program that a script started in the background ignores interrupts, and so would what it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, not about the code. Every run draws the same examples, so
# that a change fails by what is in it; `pytest --hypothesis-profile explore` draws others.
for _profile, _is_same in (("same", True), ("explore", False)):
    settings.register_profile(
        _profile, deadline=None, derandomize=_is_same, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("same")


def _keep_inside() -> Path:
    """Give tests, and all processes that they start, an empty home, and log what they read outside; return the log."""
    folder = tempfile.mkdtemp(prefix="qdecomp-tests-")
    owner = os.getpid()
    # When a forked process ends, it must leave the folder to its parent.
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    log = Path(folder) / "outside_reads.txt"
    log.touch()
    # The user's caches and settings are not the project's; those of the tests are removed with the folder.
    home = Path(folder) / "home"
    home.mkdir()
    caches = (
        "QDECOMP_CACHE",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "HF_HOME",
        "ALLENNLP_CACHE_ROOT",
        "MPLCONFIGDIR",
        "TORCH_HOME",
    )
    for name in caches:
        os.environ.pop(name, None)
    os.environ["HOME"] = str(home)
    places = [_PROJECT_ROOT, tempfile.gettempdir(), os.path.realpath(tempfile.gettempdir()), *filter(None, [_SHARED])]
    os.environ[outside_reads.ALLOWED] = os.pathsep.join([*map(str, places), *outside_reads.environment_folders()])
    os.environ[outside_reads.LOG] = str(log)
    guard = str(_PROJECT_ROOT / "tests" / "guard")
    others = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != guard]
    os.environ["PYTHONPATH"] = os.pathsep.join([guard, *others])
    outside_reads.watch()
    return log


_OUTSIDE_READS = _keep_inside()


# Folders and modules whose tests are slow as a whole; single tests say so themselves.
SLOW = (
    "tests/docs/test_guides.py",
    "tests/docs/test_site.py",
    "tests/experiments/test_graph.py",
    "tests/experiments/test_training.py",
    "tests/files/test_dask.py",
    "tests/scripts",
    "tests/service/test_page.py",
    "tests/service/test_process.py",
    "tests/test_container.py",
    "tests/visualization/test_page_in_browser.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that are slow and those that need the shared data, so that they can be run separately."""
    slow = [_PROJECT_ROOT / name for name in SLOW]
    for item in items:
        if "shared_path" in getattr(item, "fixturenames", ()):
            item.add_marker("shared_data")
        if any(item.path.is_relative_to(path) for path in slow):
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def _no_reads_outside() -> Iterator[None]:
    """Fail a test that, itself or in a process that it started, read what a standalone clone does not have."""
    before = _OUTSIDE_READS.stat().st_size
    yield
    with _OUTSIDE_READS.open(encoding="utf-8") as stream:
        stream.seek(before)
        if lines := stream.read():
            pytest.fail(f"read outside of the clone, the temporary folder and the environment:\n{lines}", pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Reads while modules were imported, or by a process that outlived its test, fail the whole run."""
    if _OUTSIDE_READS.stat().st_size and session.exitstatus == pytest.ExitCode.OK:
        print(f"\nread outside:\n{_OUTSIDE_READS.read_text(encoding='utf-8')}", file=sys.stderr)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder of the clone."""
    return _PROJECT_ROOT


@pytest.fixture(scope="session")
def shared_path() -> Path:
    """The folder with Break and the reference outputs; a test that needs it is skipped if the variable is not set."""
    if _SHARED is None:
        pytest.skip(f"{SWITCH} names no folder with Break and reference outputs (see CONTRIBUTING.md)")
    return _SHARED


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small BERT with random weights, whose vocabulary has the words of the sample set."""
    from experiments.training import make_tiny_encoder

    folder = tmp_path_factory.mktemp("tiny-encoder")
    make_tiny_encoder(folder, _PROJECT_ROOT / "data" / "train.csv")
    return folder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate folder for this test, in which temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder
