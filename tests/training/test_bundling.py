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
from qdecomp.training import bundling
from qdecomp.training.bundling import BundleInitializer, BundleVocabulary, read_weights
from qdecomp.training.fields import TARGET_NAMESPACE, CopyField

NAME = "minilm_break"
EMBEDDING = "decoder._embedding.weight"


@pytest.fixture(scope="module")
def initializer() -> BundleInitializer:
    found = Initializer.by_name("bundle")(folder=NAME)
    assert isinstance(found, BundleInitializer)
    return found


def test_parameters_get_the_numbers_of_the_bundle_and_added_rows_stay(initializer: BundleInitializer) -> None:
    expected = torch.from_numpy(read_weights(BUNDLED)[EMBEDDING])
    rows, size = expected.shape
    given = torch.nn.Parameter(torch.full((rows + 2, size), 7.0))
    initializer(given, parameter_name=EMBEDDING)
    assert torch.equal(given[:rows], expected)
    assert (given[rows:] == 7).all()
    assert given.requires_grad


def test_labels_that_were_added_start_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.arange(12, dtype=np.float32).reshape(2, 6)
    monkeypatch.setattr(bundling, "read_weights", lambda folder: {"label_scorer.weight": scores})
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
    rows, size = read_weights(BUNDLED)[EMBEDDING].shape
    message = rf"_embedding\.weight has the shape \({rows}, {size}\), but the config asks"
    for shape in ((rows, size + 1), (rows - 1, size)):
        with pytest.raises(DataError, match=message):
            initializer(torch.zeros(shape), parameter_name=EMBEDDING)
    with pytest.raises(DataError, match="cannot be read"):
        BundleInitializer(str(tmp_path / "nowhere"))


def test_the_vocabulary_begins_with_the_words_of_the_bundle_also_in_an_archive(tmp_path: Path) -> None:
    config = read_config(BUNDLED)
    assert isinstance(config, Seq2SeqConfig)
    instances = [Instance({"copy": CopyField(("which", "zyzzyvas"), ["zyzzyva", "flights", "zyzzyva", "quux"])})]
    assert Vocabulary.by_name("bundle") is not None
    found = BundleVocabulary.from_bundle_and_instances(instances, NAME, min_count={TARGET_NAMESPACE: 2, "nothing": 3})
    found.save_to_files(str(tmp_path / "vocabulary"))
    for vocabulary in (found, BundleVocabulary.from_files(str(tmp_path / "vocabulary"))):
        words = vocabulary.get_index_to_token_vocabulary(TARGET_NAMESPACE)
        assert list(words.values()) == [*config.tokens, "zyzzyva"]
