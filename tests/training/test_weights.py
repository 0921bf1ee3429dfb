"""Training can start from the weights and words of a bundle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from allennlp.data import Instance, Vocabulary
from allennlp.nn import Initializer

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bundle import BUNDLED, Seq2SeqConfig, read_config
from qdecomp.training import weights
from qdecomp.training.fields import TARGET_NAMESPACE, CopyField
from qdecomp.training.weights import BundleInitializer, BundleVocabulary, read_numbers

NAME = "minilm_break"
EMBEDDING = "decoder._embedding.weight"


@pytest.fixture(scope="module")
def initializer() -> BundleInitializer:
    found = Initializer.by_name("bundle")(folder=NAME)
    assert isinstance(found, BundleInitializer)
    return found


def test_parameters_get_the_numbers_of_the_bundle(initializer: BundleInitializer) -> None:
    expected = torch.from_numpy(read_numbers(BUNDLED)[EMBEDDING])
    given = torch.nn.Parameter(torch.zeros(expected.shape))
    initializer(given, parameter_name=EMBEDDING)
    assert torch.equal(given, expected)
    assert given.requires_grad


def test_rows_that_were_added_stay_as_they_are(initializer: BundleInitializer) -> None:
    rows, size = read_numbers(BUNDLED)[EMBEDDING].shape
    given = torch.full((rows + 2, size), 7.0)
    initializer(given, parameter_name=EMBEDDING)
    assert (given[rows:] == 7).all()
    assert not (given[:rows] == 7).any()


def test_labels_that_were_added_start_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.arange(12, dtype=np.float32).reshape(2, 6)
    monkeypatch.setattr(weights, "read_numbers", lambda folder: {"label_scorer.weight": scores})
    initializer = BundleInitializer(NAME)
    # Two outputs of three columns in the bundle, three of them in the training.
    given = torch.zeros(2, 9)
    initializer(given, parameter_name="label_scorer.weight")
    assert given[:, :6].tolist() == scores.tolist()
    assert not given[:, 6:].any()
    with pytest.raises(DataError, match=r"label_scorer\.weight has the shape \(2, 6\)"):
        initializer(torch.zeros(3, 6), parameter_name="label_scorer.weight")


def test_what_does_not_fit_is_one_line(initializer: BundleInitializer, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no weights for edge_scorer\.weight"):
        initializer(torch.zeros(2), parameter_name="edge_scorer.weight")
    rows, size = read_numbers(BUNDLED)[EMBEDDING].shape
    for shape in ((rows, size + 1), (rows - 1, size)):
        with pytest.raises(
            DataError, match=rf"_embedding\.weight has the shape \({rows}, {size}\), but the config asks"
        ):
            initializer(torch.zeros(shape), parameter_name=EMBEDDING)
    with pytest.raises(DataError, match="cannot be read"):
        BundleInitializer(str(tmp_path / "nowhere"))


def test_the_vocabulary_begins_with_the_words_of_the_bundle() -> None:
    config = read_config(BUNDLED)
    assert isinstance(config, Seq2SeqConfig)
    target = ["zyzzyva", "flights", "zyzzyva", "quux"]
    instances = [Instance({"copy": CopyField(("which", "zyzzyvas"), target)})]
    vocabulary = Vocabulary.by_name("bundle")
    assert vocabulary is not None
    found = BundleVocabulary.from_bundle_and_instances(instances, NAME, min_count={TARGET_NAMESPACE: 2, "nothing": 3})
    words = [found.get_token_from_index(number, TARGET_NAMESPACE) for number in range(len(config.tokens))]
    assert words == list(config.tokens)
    added = found.get_vocab_size(TARGET_NAMESPACE) - len(config.tokens)
    assert added == 1
    assert found.get_token_index("zyzzyva", TARGET_NAMESPACE) == len(config.tokens)


def test_an_archive_finds_the_vocabulary_in_its_files(tmp_path: Path) -> None:
    found = BundleVocabulary.from_bundle_and_instances([], NAME)
    found.save_to_files(str(tmp_path / "vocabulary"))
    again = BundleVocabulary.from_files(str(tmp_path / "vocabulary"))
    assert again.get_index_to_token_vocabulary(TARGET_NAMESPACE) == found.get_index_to_token_vocabulary(
        TARGET_NAMESPACE
    )
