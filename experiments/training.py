"""The jobs of parsers: train one (start, resume after a kill, or see that it is done), predict with it, and time it."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files import write_text_atomically

from .cells import Cell, archive_file, given_predictions, questions_file, rows_files
from .settings import PARTS, ROOT, TINY, Settings

ENCODER_FOLDER = "encoder"
_ENCODER = "settings.encoder"
_LINES_OF_A_LOG = 15
_BATCH_SIZE = 64


def overrides_of(name: str, split: str, seed: int, settings: Settings, base: Path) -> dict[str, Any]:
    """What is changed in the parser's config for a cell."""
    parser = settings.parsers[name]
    rows, held_out = rows_files(split, seed, settings)
    overrides: dict[str, Any] = {"train_data_path": str(base / rows), "validation_data_path": str(base / held_out)}
    overrides["settings.seed"] = seed
    if settings.encoder is not None:
        overrides[_ENCODER] = str(base / ENCODER_FOLDER) if settings.encoder == TINY else settings.encoder
    if parser.batch_size is not None:
        overrides["settings.batch_size"] = parser.batch_size
    if (updates := parser.budget(split)) is not None:
        # The learning rate falls to zero at the end of the budget.
        overrides["trainer.num_epochs"] = PARTS
        overrides["data_loader.batches_per_epoch"] = updates // PARTS
    if parser.patience is not None:
        overrides["trainer.patience"] = parser.patience
    return overrides | parser.overrides


def check_configs(settings: Settings, base: Path) -> None:
    """Raise, before hours of training, if a config cannot be built as it would be trained."""
    for name, parser in settings.parsers.items():
        overrides = overrides_of(name, "train_100", settings.seeds[0], settings, base)
        try:
            params_of(ROOT / parser.config, overrides)
        except DataError as error:
            raise DataError(f"size {settings.size}: parsers.{name}: {error}") from None


def params_of(config: Path, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A config with these overrides, as AllenNLP reads it; an error is one line."""
    with warnings.catch_warnings():
        # Said by torchvision, whose images nobody reads.
        warnings.simplefilter("ignore")
        from allennlp.common import Params
        from allennlp.common.checks import ConfigurationError

        import qdecomp.training.plugin  # noqa: F401

    try:
        return dict(Params.from_file(str(config), params_overrides=dict(overrides)).as_dict(quiet=True))
    except ConfigurationError as error:
        raise DataError(" ".join(str(error).split())) from None


def train(config: Path, overrides: Mapping[str, Any], base: Path, folder: Path) -> None:
    """Train into ``folder/run`` unless that has been done with the same inputs; then write ``folder/trained.json``.

    A run with other inputs is removed, and a killed one with the same inputs is resumed. The file has the minutes of
    a core that the training took; those of a part that was killed do not count.
    """
    folder.mkdir(parents=True, exist_ok=True)
    run, state = folder / "run", folder / "state.json"
    contents = [Path(overrides[f"{rows}_data_path"]).read_bytes() for rows in ("train", "validation")]
    inputs = fingerprint(evaluated(config), overrides, *contents)
    with alone(folder) as lock:
        known = json.loads(state.read_text(encoding="utf-8")) if state.is_file() else {}
        if known.get("fingerprint") != inputs:
            shutil.rmtree(run, ignore_errors=True)
            known = {"fingerprint": inputs, "overrides": dict(overrides), "finished": False}
            _write_json(state, known)
        if not known["finished"]:
            before = _seconds_of_children()
            run_logged(train_command(config, overrides, run), base, folder / "log.txt", keep_open=[lock])
            # Only now, because an archive may be incomplete.
            known |= {"finished": True, "minutes": round((_seconds_of_children() - before) / 60, 1)}
            _write_json(state, known)
        _write_json(folder / "trained.json", {"fingerprint": inputs, "minutes": known["minutes"]} | _best(run))


def train_command(config: Path, overrides: Mapping[str, Any], run: Path) -> list[str]:
    """The arguments of Python that train into a folder, or go on with what a killed training left in it."""
    command = ["-m", "allennlp", "train", str(config), "-s", str(run), "--file-friendly-logging"]
    return [*command, "--overrides", json.dumps(overrides), *(["--recover"] if run.exists() else [])]


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _best(run: Path) -> dict[str, float]:
    """Where the best weights were found, and their LF-EM on the rows that they were chosen on."""
    path = run / "metrics.json"
    metrics = json.loads(path.read_text(encoding="utf-8") or "{}") if path.is_file() else {}
    names = {"best_epoch": "best_part", "epoch": "last_part", "best_validation_lf_em": "held_out_lf_em"}
    return {new: metrics[old] for old, new in names.items() if old in metrics}


def fingerprint(config: str, overrides: Mapping[str, Any], *contents: bytes) -> str:
    """A hash of the evaluated config, all settings and the rows; the names of folders do not count."""
    others = {key: value for key, value in overrides.items() if not key.endswith("_data_path")}
    others[_ENCODER] = Path(others.get(_ENCODER) or "").name
    return digest(config.encode(), json.dumps(others, sort_keys=True).encode(), *contents)


def digest(*parts: bytes) -> str:
    """A hash of some contents in their order."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def evaluated(config: Path) -> str:
    """The config with everything that it imports, as JSON."""
    import _jsonnet

    try:
        text: str = _jsonnet.evaluate_file(str(ROOT / config), ext_vars=dict(os.environ))
    except RuntimeError as error:
        raise DataError(f"{config}: {' '.join(str(error).split())}") from None
    return text


@contextmanager
def alone(folder: Path) -> Iterator[int]:
    """Wait until nothing else trains in this folder: a killed run may have left a training process behind."""
    import fcntl

    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def run_logged(arguments: Sequence[str], base: Path, log: Path, keep_open: Sequence[int] = ()) -> None:
    """Run Python with these arguments in the project's root; its output goes to a file whose end is shown if it fails.

    Caches are in the folder of the run, there is one thread unless the user says otherwise, and there are no warnings.
    The process holds ``keep_open`` as long as it lives, even if this one is killed.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    cache = str(base / "cache")
    defaults = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONWARNINGS": "ignore"}
    settings = {"QDECOMP_CACHE": cache, "ALLENNLP_CACHE_ROOT": cache, "TQDM_MININTERVAL": "20"}
    with log.open("ab") as stream:
        code = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=defaults | os.environ | settings,
            pass_fds=keep_open,
            stdout=stream,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        ).returncode
    if code != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES_OF_A_LOG:]
        command = " ".join(arguments[:3])
        raise DataError("\n".join([f"{command} ended with exit code {code}; the end of {log}:", *lines]))


def predict(cell: Cell, settings: Settings, base: Path) -> None:
    """Write the cell's predictions: the given ones, or those that its parser makes now."""
    output = base / cell.predictions
    output.parent.mkdir(parents=True, exist_ok=True)
    # A unique name, because a job that outlived its killed run may be writing the same predictions.
    temporary = output.with_name(f".{output.name}.{os.getpid()}")
    given = given_predictions(cell.system, cell.split, settings)
    try:
        if given is not None:
            shutil.copyfile(given, temporary)
        else:
            archive = str(base / archive_file(cell, settings))
            questions = str(base / questions_file(cell.split, settings))
            arguments = ["-m", "allennlp", "predict", archive, questions, "--output-file", str(temporary), "--silent"]
            arguments += ["--batch-size", str(_BATCH_SIZE), "--overrides", json.dumps(dict(cell.system.overrides))]
            run_logged(arguments, base, output.with_suffix(".log"))
        os.replace(temporary, output)
    finally:
        temporary.unlink(missing_ok=True)


def measure_times(cells: Sequence[Cell], settings: Settings, base: Path, output: Path) -> None:
    """Ask all parsers the same questions, one at a time and in turns, and write the times."""
    arguments = ["scripts/benchmark.py", "inference", "--questions", str(settings.dev), "--batch-sizes", "1"]
    arguments += ["--count", str(settings.timed_questions), "--threads", "1", "--json", str(output)]
    for cell in cells:
        overrides = json.dumps(dict(cell.system.overrides))
        arguments += ["--parser", cell.system.name, str(base / archive_file(cell, settings)), overrides]
    run_logged(arguments, base, output.with_suffix(".log"))


def make_tiny_encoder(folder: Path, questions: Path, *, seed: int = 0) -> None:
    """Write a BERT with random weights whose vocabulary has the words of a file's questions."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    from qdecomp.data_structures.tokenization import tokenize
    from qdecomp.files import read_break_csv

    texts = [example.question.lower() for example in read_break_csv(questions)]
    words = dict.fromkeys(word for text in texts for word in tokenize(text))
    letters = [character for character in map(chr, range(33, 127)) if not character.isupper()]
    pieces = ["[PAD]", *(f"[unused{number}]" for number in range(30)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += dict.fromkeys([*letters, *(f"##{letter}" for letter in letters), *words])
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizer(str(vocabulary)).save_pretrained(folder)
    size = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=256, **size))
    model.save_pretrained(folder)


def _write_json(path: Path, value: Any) -> None:
    with write_text_atomically(path) as stream:
        json.dump(value, stream, indent=1, default=str)
        stream.write("\n")
