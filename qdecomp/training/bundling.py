"""A trained parser becomes a bundle (:mod:`qdecomp.parsers.bundle`), and training starts from a bundle.

Matrices are stored as int8 rows with a scale each (``NAME.factors``), the rest is in half precision. In a config,
``folder`` is the folder of a bundle, or the name of the parser that comes with the package::

    model+: { initializer: { regexes: [['.*', { type: 'bundle', folder: folder }]] } },
    vocabulary: { type: 'bundle', folder: folder },
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import Instance, Vocabulary
from allennlp.models.archival import Archive
from allennlp.models.model import Model
from allennlp.nn import Initializer
from safetensors.numpy import load_file, save_file
from torch import Tensor

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import special_tokens_of
from qdecomp.parsers.bundle import (
    BUNDLED,
    CARD,
    VOCABULARY,
    WEIGHTS,
    BundleConfig,
    GraphConfig,
    Seq2SeqConfig,
    read_config,
    write_config,
)
from qdecomp.training import register_components
from qdecomp.training.archives import load_archive_safely
from qdecomp.training.biaffine_parser import BiaffineGraphParser
from qdecomp.training.copynet import CopyNetBert
from qdecomp.training.fields import EDGE_LABELS, TARGET_NAMESPACE
from qdecomp.training.indexer import MAX_PIECES
from qdecomp.training.onnx_export import RANKER, write_graphs
from qdecomp.training.pretrained import encoder_path
from qdecomp.training.ranker import PlanRanker

Arrays = dict[str, npt.NDArray[Any]]
"""Weights by the names that they have in torch, as they are stored."""

_TRANSFORMER = "word_encoder.transformer."
_DECODER_WEIGHTS = "decoder."
# A tenth of the usual limit loses next to nothing, and no question takes long.
_DECODER = {"type": "ilp", "time_limit": 0.1, "coverage_penalty": 1.5}
# The biaffine scorer keeps the matrices of all labels side by side, so a new label adds columns and not a row.
_GROWS_BY_COLUMNS = "label_scorer.weight"


def load_bundleable(archive: Path) -> Archive:
    """An archive whose model can be bundled; any other is a :class:`DataError`."""
    register_components()
    loaded = load_archive_safely(archive)
    model = loaded.model
    if not isinstance(model, BiaffineGraphParser | CopyNetBert):
        raise DataError(
            f"{archive}: only a biaffine_graph_parser or a copynet_bert can be bundled, not a {type(model).__name__}"
        )
    encoder = model.word_encoder
    if isinstance(model, BiaffineGraphParser) and encoder.special_states is None:
        raise DataError(f"{archive}: a graph parser can only be bundled if its special tokens are outside the encoder")
    if isinstance(model, CopyNetBert) and encoder.special_count:
        raise DataError(f"{archive}: a seq2seq parser can only be bundled without special tokens")
    if isinstance(model, CopyNetBert) and model.decoder.has_feedback:
        raise DataError(f"{archive}: a parser with attention_feedback cannot be bundled")
    if (kind := encoder.transformer.config.model_type) != "bert":
        raise DataError(f"{archive}: the encoder must be a BERT, such as MiniLM, to be bundled, not a {kind}")
    if encoder.layer_mix is not None or encoder.pos_embedding is not None:
        raise DataError(f"{archive}: a parser with part-of-speech tags or mixed layers cannot be bundled")
    return loaded


def bundle_parts(model: Model, name: str, params: Mapping[str, Any]) -> tuple[BundleConfig, Arrays, str]:
    """Config, weights and word pieces of a bundle; ``params`` are those that the model was built from."""
    assert isinstance(model, BiaffineGraphParser | CopyNetBert)
    encoder = params["model"]["word_encoder"]["encoder"]
    transformer: Any = model.word_encoder.transformer.config
    shared: dict[str, Any] = {
        "name": name,
        "encoder": encoder,
        "heads": transformer.num_attention_heads,
        "epsilon": transformer.layer_norm_eps,
        "max_pieces": min(MAX_PIECES, transformer.max_position_embeddings),
        "scores": {},
    }
    config: BundleConfig
    rounded = [_TRANSFORMER]
    if isinstance(model, CopyNetBert):
        decoder, vocab = model.decoder, model.vocab
        rounded.append(_DECODER_WEIGHTS)
        config = Seq2SeqConfig(
            **shared,
            tokens=decoder.tokens,
            padding=vocab._padding_token,
            unknown=vocab._oov_token,
            start=START_SYMBOL,
            end=END_SYMBOL,
            beam_size=decoder.settings.beam_size,
            max_steps=decoder.settings.max_steps,
            plan_rules=decoder.settings.plan_rules,
            coverage_penalty=decoder.settings.coverage_penalty,
        )
    else:
        special = special_tokens_of(params["model"]["word_encoder"]["special_tokens"])
        assert special is not None
        assert model.word_encoder.special_states is not None
        attention: Any = model.word_encoder.special_states.layers[0].attention
        config = GraphConfig(
            **shared,
            special_heads=attention.num_heads,
            resources=special.resources,
            duplicates=special.duplicates,
            dummies=special.dummies,
            labels=model.labels,
            decoder=_DECODER,
        )
    pieces = Path(encoder_path(encoder)) / "vocab.txt"
    if not pieces.is_file():
        raise DataError(f"{pieces}: there is no such file; only encoders with a vocab.txt can be bundled")
    return config, stored(model.state_dict(), *rounded), pieces.read_text(encoding="utf-8")


def write_bundle(folder: Path, config: BundleConfig, weights: Arrays, pieces: str, card: str) -> None:
    """Write a folder that :func:`qdecomp.load` opens."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / VOCABULARY).write_text(pieces, encoding="utf-8", newline="")
    (folder / CARD).write_text(card, encoding="utf-8", newline="")
    save_file({name: np.ascontiguousarray(array) for name, array in weights.items()}, folder / WEIGHTS)
    (folder / WEIGHTS).chmod(0o644)
    write_graphs(folder, config)
    write_config(folder, config)


def add_ranker(source: Path, output: Path, model: PlanRanker) -> None:
    """Write the bundle of a seq2seq parser again, with a ranker; its calibration no longer holds, so it is left out."""
    config = read_config(source)
    if not isinstance(config, Seq2SeqConfig):
        raise DataError(f"{source}: only the plans of a seq2seq parser can be ranked")
    weights = {name: each for name, each in load_file(source / WEIGHTS).items() if not name.startswith(RANKER)}
    weights |= stored({f"{RANKER}{name}": tensor for name, tensor in model.state_dict().items()}, RANKER)
    ranked = replace(config, ranker={"heads": model.heads}, calibration=None)
    pieces, card = ((source / name).read_text(encoding="utf-8") for name in (VOCABULARY, CARD))
    write_bundle(output, ranked, weights, pieces, card)


def stored(weights: Mapping[str, Tensor], *rounded: str) -> Arrays:
    """Weights as they are stored: int8 for the matrices whose names begin with one of ``rounded``.

    A row is rounded to 255 steps between its largest value and its opposite. A single row is not worth it.
    """
    arrays: Arrays = {}
    for name, tensor in weights.items():
        array = tensor.numpy()
        if name.startswith(rounded) and array.ndim == 2 and len(array) > 1:
            factors = np.abs(array).max(axis=1) / 127
            arrays[f"{name}.factors"] = factors = np.where(factors > 0, factors, 1).astype(np.float32)
            arrays[name] = np.rint(array / factors[:, None]).astype(np.int8)
        else:
            arrays[name] = array.astype(np.float16)
    return arrays


def read_weights(folder: Path) -> dict[str, npt.NDArray[np.float32]]:
    """The weights that a bundle computes with, as floats."""
    read_config(folder)
    weights = {name: array.astype(np.float32) for name, array in load_file(folder / WEIGHTS).items()}
    scales = {name.removesuffix(".factors"): weights.pop(name) for name in list(weights) if name.endswith(".factors")}
    return weights | {name: weights[name] * factors[:, None] for name, factors in scales.items()}


@Initializer.register("bundle")
class BundleInitializer(Initializer):
    """Gives parameters the bundle's weights of the same names.

    The weights are those that the bundle computes with: most were rounded to bytes. If a parameter is larger than in
    the bundle because the training data adds words or labels, the added part keeps its values.
    """

    def __init__(self, folder: str) -> None:
        self._folder = _folder(folder)
        self._weights = read_weights(self._folder)

    def __call__(  # type: ignore[override]  # AllenNLP gives the name to every initializer
        self, tensor: Tensor, parameter_name: str, **kwargs: Any
    ) -> None:
        """Fill a parameter; a :class:`DataError` if the bundle has none of its name, or one of another shape."""
        found = self._weights.get(parameter_name)
        if found is None:
            raise DataError(
                f"{self._folder}: this bundle has no weights for {parameter_name}; does it belong to another parser?"
            )
        if not _fits(parameter_name, found.shape, tuple(tensor.shape)):
            shapes = f"{found.shape}, but the config asks for {tuple(tensor.shape)}"
            raise DataError(f"{self._folder}: {parameter_name} has the shape {shapes}")
        with torch.no_grad():
            tensor[tuple(map(slice, found.shape))] = torch.from_numpy(found).to(tensor.dtype)


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
        if isinstance(config, Seq2SeqConfig):
            # The padding and unknown tokens come first, as in AllenNLP.
            vocabulary = cls(padding_token=config.padding, oov_token=config.unknown)
            namespace, own = TARGET_NAMESPACE, config.tokens
        else:
            assert isinstance(config, GraphConfig)
            vocabulary, namespace, own = cls(), EDGE_LABELS, config.labels
        for name in own:
            vocabulary.add_token_to_namespace(name, namespace)
        counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for instance in instances:
            instance.count_vocab_items(counts)
        wanted = {name: count for name, count in (min_count or {}).items() if name in counts}
        vocabulary._extend(counter=counts, min_count=wanted)
        return vocabulary


def _folder(name: str) -> Path:
    folder = Path(name).expanduser()
    return BUNDLED if name == BUNDLED.name and not folder.exists() else folder


Vocabulary.register("bundle", constructor="from_bundle_and_instances")(BundleVocabulary)
