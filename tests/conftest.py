"""What all tests share: no network, one thread a process, and the way to the data beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Fixtures that more than one folder of tests uses.
pytest_plugins = ["tests.trainings"]

# Set before torch and transformers are imported by anything, and for every process that a test starts.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning:torchvision.io.image")

# How long an example takes says something about the machine, not about the code.
settings.register_profile("no_timing", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no_timing")

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


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small BERT with random weights, whose vocabulary has the words of the sample set."""
    from transformers import BertConfig, BertModel, BertTokenizer

    from qdecomp.data_structures.tokenization import tokenize
    from qdecomp.files import read_break_csv

    folder = tmp_path_factory.mktemp("tiny-encoder")
    questions = [example.question.lower() for example in read_break_csv(_PROJECT_ROOT / "data" / "train.csv")]
    words = dict.fromkeys(word for question in questions for word in tokenize(question))
    letters = [character for character in map(chr, range(33, 127)) if not character.isupper()]
    pieces = ["[PAD]", *(f"[unused{number}]" for number in range(30)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += dict.fromkeys([*letters, *(f"##{letter}" for letter in letters), *words])
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizer(str(vocabulary)).save_pretrained(folder)
    size = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
    BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=256, **size)).save_pretrained(folder)
    return folder
