"""The weights of a bundle in a safetensors file, and training that starts from them.

Matrices are int8 rows with a scale each, the rest is in half precision.

In a config, ``folder`` is the folder of a bundle, or the name of the parser that comes with the package::

    model+: { initializer: { regexes: [['.*', { type: 'bundle', folder: folder }]] } },
    vocabulary: { type: 'bundle', folder: folder },
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from allennlp.data import Instance, Vocabulary
from allennlp.nn import Initializer
from torch import Tensor

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.parsers.bundle import BUNDLED, WEIGHTS, BundleConfig, GraphConfig, Seq2SeqConfig, read_config
from qdecomp.training.fields import EDGE_LABELS, TARGET_NAMESPACE

Array = npt.NDArray[np.float32]

_FACTORS = ".factors"
_LARGEST = 127
_NUMBERS = (np.dtype(np.float16), np.dtype(np.float32))


@dataclass(frozen=True, slots=True)
class Int8Rows:
    """A matrix as int8 with a scale for each row."""

    values: npt.NDArray[np.int8]
    factors: Array


def quantised(matrix: Array) -> Int8Rows:
    """Round each row to 255 steps between its largest value and its opposite."""
    factors = np.abs(matrix).max(axis=1) / _LARGEST
    factors = np.where(factors > 0, factors, 1).astype(np.float32)
    return Int8Rows(np.rint(matrix / factors[:, None]).astype(np.int8), factors)


def dequantised(rows: Int8Rows) -> Array:
    """Undo :func:`quantised`, to within half a step."""
    found: Array = rows.values.astype(np.float32) * rows.factors[:, None]
    return found


def write_weights(path: Path, weights: Mapping[str, Array | Int8Rows]) -> None:
    """Write a file that :func:`read_weights` reads."""
    from safetensors.numpy import save_file

    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, value in weights.items():
        if isinstance(value, Int8Rows):
            arrays[name], arrays[name + _FACTORS] = value.values, value.factors
        else:
            arrays[name] = value.astype(np.float16)
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)
    path.chmod(0o644)


def read_weights(path: Path) -> dict[str, Array | Int8Rows]:
    """Read what :func:`write_weights` wrote."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise missing_extra("starting from a bundle", "bundle") from None
    try:
        arrays = load_file(path)
    # Besides its own errors, the library lets through those about types and sizes that NumPy does not support.
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError, MemoryError) as error:
        raise DataError(f"{path}: the weights cannot be read ({' '.join(str(error).split())})") from None
    weights: dict[str, Array | Int8Rows] = {}
    for name, array in arrays.items():
        if name.endswith(_FACTORS) and name.removesuffix(_FACTORS) in arrays:
            continue
        factors = arrays.get(name + _FACTORS)
        if wrong := _what_is_wrong(array, factors):
            raise DataError(f"{path}: {name}: {wrong}")
        weights[name] = array.astype(np.float32) if factors is None else Int8Rows(array, factors)
    return weights


def _what_is_wrong(array: npt.NDArray[Any], factors: npt.NDArray[Any] | None) -> str | None:
    """Why an array cannot be weights: int8 has factors, one for each row, and everything else is floats."""
    if factors is None:
        return None if array.dtype in _NUMBERS else f"numbers of the type {array.dtype}, without factors"
    if array.dtype != np.int8 or array.ndim != 2:
        return f"factors for numbers of the type {array.dtype} in {array.ndim} dimensions; they are for rows of int8"
    if factors.dtype not in _NUMBERS or factors.shape != array.shape[:1]:
        return f"factors of the shape {factors.shape} and type {factors.dtype} for {len(array)} rows"
    return None


def read_numbers(folder: Path) -> dict[str, Array]:
    """The weights of a bundle as floats."""
    read_config(folder)
    weights = read_weights(folder / WEIGHTS)
    return {name: dequantised(value) if isinstance(value, Int8Rows) else value for name, value in weights.items()}


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
