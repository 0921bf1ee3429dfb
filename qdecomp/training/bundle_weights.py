"""Starts training from a bundle: its weights as an initializer, its words or labels as a vocabulary.

In a config, ``folder`` is the folder of a bundle, or the name of the parser that comes with the package::

    model+: { initializer: { regexes: [['.*', { type: 'bundle', folder: folder }]] } },
    vocabulary: { type: 'bundle', folder: folder },
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from allennlp.data import Instance, Vocabulary
from allennlp.nn import Initializer
from torch import Tensor

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bundle import BUNDLED, BundleConfig, GraphConfig, Seq2SeqConfig, read_config
from qdecomp.training.fields import EDGE_LABELS, TARGET_NAMESPACE
from qdecomp.training.weights import read_numbers

# The biaffine scorer keeps the matrices of all labels side by side, so a new label adds columns and not a row.
_GROWS_BY_COLUMNS = "label_scorer.weight"


@Initializer.register("bundle")
class BundleInitializer(Initializer):
    """Gives parameters the bundle's weights of the same names.

    The weights are those that the bundle computes with: most were rounded to bytes. If a parameter is larger than in
    the bundle because the training data adds words or labels, the added part keeps its values.
    """

    def __init__(self, folder: str) -> None:
        self._folder = _folder(folder)
        self._weights = read_numbers(self._folder)

    def __call__(  # type: ignore[override]  # AllenNLP gives the name to every initializer
        self, tensor: Tensor, parameter_name: str, **kwargs: Any
    ) -> None:
        """Fill a parameter; a :class:`DataError` if the bundle has none of its name, or one of another shape."""
        found = self._weights.get(parameter_name)
        if found is None:
            raise DataError(
                f"{self._folder}: this bundle has no weights for {parameter_name}; does it belong to another parser?"
            )
        values = torch.from_numpy(found)
        if not _fits(parameter_name, tuple(values.shape), tuple(tensor.shape)):
            shapes = f"{tuple(values.shape)}, but the config asks for {tuple(tensor.shape)}"
            raise DataError(f"{self._folder}: {parameter_name} has the shape {shapes}")
        with torch.no_grad():
            tensor[tuple(slice(size) for size in values.shape)] = values.to(tensor.dtype)


def _fits(name: str, own: tuple[int, ...], asked: tuple[int, ...]) -> bool:
    """Whether the config asks for the bundle's shape, or for one that only has more words or labels."""
    grows = len(own) - 1 if name == _GROWS_BY_COLUMNS else 0
    return own[:grows] == asked[:grows] and own[grows + 1 :] == asked[grows + 1 :] and own[grows] <= asked[grows]


class BundleVocabulary(Vocabulary):
    """The words that a bundle writes or the labels that it predicts, in its order, and what the training data adds."""

    @classmethod
    def from_bundle_and_instances(
        cls, instances: Iterable[Instance], folder: str, min_count: dict[str, int] | None = None
    ) -> "BundleVocabulary":
        """``min_count`` is for tokens that the bundle does not have."""
        config = read_config(_folder(folder))
        vocabulary = cls()
        if isinstance(config, Seq2SeqConfig):
            # The padding and unknown tokens come first, as in AllenNLP.
            vocabulary = cls(padding_token=config.padding, oov_token=config.unknown)
        own = (TARGET_NAMESPACE, config.tokens) if isinstance(config, Seq2SeqConfig) else (EDGE_LABELS, _labels(config))
        for name in own[1]:
            vocabulary.add_token_to_namespace(name, own[0])
        counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for instance in instances:
            instance.count_vocab_items(counts)
        wanted = {name: count for name, count in (min_count or {}).items() if name in counts}
        vocabulary._extend(counter=counts, min_count=wanted)
        return vocabulary


def _labels(config: BundleConfig) -> tuple[str, ...]:
    assert isinstance(config, GraphConfig)
    return config.labels


def _folder(name: str) -> Path:
    folder = Path(name).expanduser()
    return BUNDLED if name == BUNDLED.name and not folder.exists() else folder


Vocabulary.register("bundle", constructor="from_bundle_and_instances")(BundleVocabulary)
