"""The job of one training run: start it, resume one that was killed, or see that it is done."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files import write_text_atomically

from .settings import PARTS, ROOT, TINY, ParserSettings, Settings

__all__ = [
    "ENCODER_FOLDER",
    "digest",
    "environment",
    "evaluated",
    "fingerprint",
    "overrides_of",
    "run_logged",
    "train",
]

ENCODER_FOLDER = "encoder"
_ENCODER = "settings.encoder"
_LINES_OF_A_LOG = 15


def overrides_of(parser: ParserSettings, settings: Settings, folder: Path, rows: Path, seed: int) -> dict[str, Any]:
    """What is changed in the parser's config for a cell."""
    overrides: dict[str, Any] = {"train_data_path": str(rows), "settings.seed": seed}
    if settings.encoder is not None:
        encoder = str(folder / ENCODER_FOLDER) if settings.encoder == TINY else settings.encoder
        overrides[_ENCODER] = encoder
    if parser.batch_size is not None:
        overrides["settings.batch_size"] = parser.batch_size
    if parser.updates is None:
        overrides["validation_data_path"] = str(settings.dev)
    else:
        # The rate falls to zero within the budget, so the last weights are used, and none are chosen on dev.
        overrides["validation_data_path"] = None
        overrides["trainer.num_epochs"] = PARTS
        overrides["data_loader.batches_per_epoch"] = parser.updates // PARTS
    return overrides | dict(parser.overrides)


def train(parser: ParserSettings, overrides: Mapping[str, Any], base: Path, folder: Path) -> None:
    """Train into ``folder/run`` unless that has been done with the same inputs; then write ``folder/trained.json``.

    A run with other inputs is removed, and a killed one with the same inputs is resumed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    run, state = folder / "run", folder / "state.json"
    inputs = fingerprint(evaluated(parser.config), overrides)
    with _alone(folder) as lock:
        known = json.loads(state.read_text(encoding="utf-8")) if state.is_file() else {}
        if known.get("fingerprint") != inputs:
            shutil.rmtree(run, ignore_errors=True)
            known = {"fingerprint": inputs, "overrides": dict(overrides), "finished": False}
            _write_json(state, known)
        if not known["finished"]:
            command = ["-m", "allennlp", "train", str(parser.config), "-s", str(run), "--file-friendly-logging"]
            command += ["--overrides", json.dumps(overrides), *(["--recover"] if run.exists() else [])]
            run_logged(command, base, folder / "log.txt", keep_open=[lock])
            # Only now, because an archive may be incomplete.
            _write_json(state, known | {"finished": True})
        _write_json(folder / "trained.json", {"fingerprint": inputs})


def fingerprint(config: str, overrides: Mapping[str, Any]) -> str:
    """A hash of the evaluated config, the rows and all settings; the names of folders do not count."""
    rows = Path(overrides["train_data_path"]).read_bytes()
    others = {key: value for key, value in overrides.items() if not key.endswith("_data_path")}
    others[_ENCODER] = Path(others.get(_ENCODER) or "").name
    return digest(config.encode(), rows, json.dumps(others, sort_keys=True).encode())


def digest(*parts: bytes) -> str:
    """A hash of some contents in their order."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def evaluated(config: Path) -> str:
    """The config with everything that it imports, as JSON."""
    import _jsonnet

    try:
        text: str = _jsonnet.evaluate_file(str(config), ext_vars=dict(os.environ))
    except RuntimeError as error:
        raise DataError(f"{config}: {' '.join(str(error).split())}") from None
    return text


@contextmanager
def _alone(folder: Path) -> Iterator[int]:
    """Wait until nothing else trains in this folder: a killed run may have left a training process behind."""
    import fcntl

    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def environment(base: Path) -> dict[str, str]:
    """Caches in the folder of the run, one thread unless the user says otherwise, and no warnings."""
    cache = str(base / "cache")
    defaults = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONWARNINGS": "ignore"}
    return defaults | os.environ | {"QDECOMP_CACHE": cache, "ALLENNLP_CACHE_ROOT": cache, "TQDM_MININTERVAL": "20"}


def run_logged(arguments: Sequence[str], base: Path, log: Path, keep_open: Sequence[int] = ()) -> None:
    """Run Python with these arguments in the project's root; its output goes to a file whose end is shown if it fails.

    The process holds ``keep_open`` as long as it lives, even if this one is killed.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as stream:
        streams: dict[str, Any] = {"stdout": stream, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        code = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment(base), pass_fds=keep_open, **streams
        ).returncode
    if code != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES_OF_A_LOG:]
        command = " ".join(arguments[:3])
        raise DataError("\n".join([f"{command} ended with exit code {code}; the end of {log}:", *lines]))


def _write_json(path: Path, value: Any) -> None:
    with write_text_atomically(path) as stream:
        json.dump(value, stream, indent=1, default=str)
        stream.write("\n")
