"""The networks of a bundled parser as ONNX graphs, made once, when the parser is bundled.

The graphs name the tensors of ``weights.safetensors`` as external data, so each weight is stored once, under its torch
name. Matrices that are stored as int8 with a scale for each output are multiplied as int8. The rows that they are
multiplied with are quantised, those of the encoder to a high and a low part of seven bits each, so that next to nothing
is lost, and those of the decoder, which are between -1 and 1, to seven bits. Sums of integers are exact, so a row's
product does not depend on the rows beside it, and seven unsigned bits times eight signed ones overflow on no processor.
A row's scale is its own or constant. Products of floats are within one question, in shapes that only that question
determines: questions are encoded together only if they have the same numbers of pieces and of words.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import missing_extra
from qdecomp.parsers.bundle import WEIGHTS, BundleConfig, GraphConfig, Seq2SeqConfig
from qdecomp.parsers.network import PLAN_FEATURES, RANKER_GRAPH

_MICROSOFT = "com.microsoft"
_OF_MICROSOFT = frozenset({"BiasGelu", "Gelu", "MatMulIntegerToFloat", "MultiHeadAttention"})
_OPSETS = {"": 17, _MICROSOFT: 1}
_IR_VERSION = 8
_FLOAT, _DOUBLE = 1, 11
_TYPES = {"F32": _FLOAT, "I8": 3, "F16": 10}
"""ONNX's numbers for the types of safetensors."""
_ENCODER = "word_encoder.transformer."
_SPECIAL = "word_encoder.special_states."
RANKER = "ranker."
"""What the names of a ranker's weights begin with."""
# A quantised row has integers from -63 to 63, its low part, what the high part leaves, too.
_ZERO, _STEP, _LOW_STEP = 64, 1 / 63, 1 / 126
# torch stacks the gates of an LSTM in this order: input, forget, cell, output.
_GATES = 4
_SIGMOIDS_FIRST = (0, 1, 3, 2)
_NEVER = -1e30
_TANH = 1.0


def write_graphs(folder: Path, config: BundleConfig) -> None:
    """Write the graphs of a bundle whose weights are in the folder."""
    for name in config.graphs:
        graph = _Graph(folder)
        _NETWORKS[name](graph, config)
        (folder / name).write_bytes(graph.serialized())


@dataclass(frozen=True, slots=True)
class _Value:
    """An array of a graph; Python's operators add operations to the graph."""

    graph: _Graph
    name: str

    def __add__(self, other: Any) -> _Value:
        return self.graph.op("Add", self, other)

    def __sub__(self, other: Any) -> _Value:
        return self.graph.op("Sub", self, other)

    def __mul__(self, other: Any) -> _Value:
        return self.graph.op("Mul", self, other)

    def __matmul__(self, other: Any) -> _Value:
        return self.graph.op("MatMul", self, other)

    def __getitem__(self, rows: Any) -> _Value:
        return self.graph.op("Gather", self, rows, axis=0)

    def transposed(self, *axes: int) -> _Value:
        return self.graph.op("Transpose", self, perm=axes)


class _Matrix(NamedTuple):
    """A matrix (inputs, outputs): int8 with a scale for each output, or floats without scales."""

    values: _Value
    scales: _Value | None = None


class _Rows(NamedTuple):
    """Rows of floats to multiply with matrices; no number is larger than the ``bound``, if that is known."""

    floats: _Value
    bound: float | None = None
    is_fine: bool = True
    """Whether they have low parts."""


class _Graph:
    """Collects inputs, weights and operations; an operand that is no value of the graph is a constant."""

    def __init__(self, folder: Path) -> None:
        try:
            import onnx
        except ImportError:
            raise missing_extra("bundling a parser", "bundle") from None
        self._onnx = onnx
        self._path = folder / WEIGHTS
        with self._path.open("rb") as stream:
            (size,) = struct.unpack("<Q", stream.read(8))
            self._stored: dict[str, dict[str, Any]] = json.loads(stream.read(size))
        self._start = 8 + size
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._weights: dict[str, Any] = {}
        self._nodes: list[Any] = []
        self._known: dict[_Rows, tuple[_Value, _Value | None]] = {}

    def input(self, name: str, *shape: str | int, dtype: npt.DTypeLike = np.float32) -> _Value:
        """An array that is given when the graph runs; dimensions with the same name have the same size."""
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, shape))
        return _Value(self, name)

    def ids(self, name: str, *shape: str | int) -> _Value:
        """An input of whole numbers."""
        return self.input(name, *shape, dtype=np.int64)

    def output(self, name: str, value: _Value, *shape: str | int, dtype: npt.DTypeLike = np.float32) -> None:
        """Call a value a result of the graph."""
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        for node in self._nodes:
            for names in (node.input, node.output):
                names[:] = [name if each == value.name else each for each in names]
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, kind, shape))

    def serialized(self) -> bytes:
        """The file."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, "qdecomp", self._inputs, self._outputs, list(self._weights.values()))
        opsets = [helper.make_opsetid(*each) for each in _OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="qdecomp")
        found: bytes = model.SerializeToString()
        return found

    def constant(self, value: npt.ArrayLike) -> _Value:
        """Python's floats are in single precision, its integers have 64 bits."""
        array = np.asarray(value)
        array = array.astype(np.float32) if array.dtype == np.float64 else array
        name = f"constant {array.dtype} {array.tolist()}"
        self._weights.setdefault(name, self._onnx.numpy_helper.from_array(array, name))
        return _Value(self, name)

    def op(self, kind: str, *operands: Any, **attributes: Any) -> _Value:
        (result,) = self.ops(kind, *operands, count=1, **attributes)
        return result

    def ops(self, kind: str, *operands: Any, count: int, **attributes: Any) -> list[_Value]:
        """The results of an operation; an operand that is None is left out."""
        values = [each if isinstance(each, _Value | None) else self.constant(each) for each in operands]
        inputs = ["" if each is None else each.name for each in values]
        results = [f"{kind} {len(self._nodes)} {number}" for number in range(count)]
        domain = _MICROSOFT if kind in _OF_MICROSOFT else ""
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, results, domain=domain, **attributes))
        return [_Value(self, name) for name in results]

    def cast(self, value: _Value, to: int = _FLOAT) -> _Value:
        return self.op("Cast", value, to=to)

    def split(self, value: _Value, sizes: Sequence[int], axis: int = -1) -> list[_Value]:
        """Parts of these sizes."""
        return self.ops("Split", value, sizes, axis=axis, count=len(sizes))

    def parts(self, name: str) -> list[str]:
        """The parts ``name.0.``, ``name.1.`` and so on of the stored weights."""
        numbers = (each[len(name) + 1 :].partition(".")[0] for each in self._stored if each.startswith(f"{name}."))
        return [f"{name}.{number}." for number in sorted({int(each) for each in numbers if each.isdecimal()})]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a stored weight."""
        return tuple(self._stored[name]["shape"])

    def stored(self, name: str) -> _Value:
        """A stored weight as it is."""
        if name not in self._weights:
            found = self._stored[name]
            start, end = found["data_offsets"]
            proto = self._onnx.TensorProto
            tensor = proto(name=name, data_type=_TYPES[found["dtype"]], dims=found["shape"])
            tensor.data_location = proto.EXTERNAL
            for key, value in (("location", WEIGHTS), ("offset", self._start + start), ("length", end - start)):
                tensor.external_data.add(key=key, value=str(value))
            self._weights[name] = tensor
        return _Value(self, name)

    def floats(self, name: str) -> _Value:
        """A stored weight as floats; onnxruntime computes what is constant once, except "DequantizeLinear"."""
        values = self.cast(self.stored(name))
        if f"{name}.factors" not in self._stored:
            return values
        return values * self.op("Unsqueeze", self.stored(f"{name}.factors"), [1])

    def matrix(self, name: str) -> _Matrix:
        """The matrix of a linear layer of torch, whose weight is (outputs, inputs)."""
        if f"{name}.factors" not in self._stored:
            return _Matrix(self.floats(name).transposed(1, 0))
        return _Matrix(self.stored(name).transposed(1, 0), self.stored(f"{name}.factors"))

    def side_by_side(self, matrices: Sequence[_Matrix]) -> _Matrix:
        """Matrices with the same inputs as one."""
        scales = [each.scales for each in matrices if each.scales is not None]
        joined = self.op("Concat", *scales, axis=0) if scales else None
        return _Matrix(self.op("Concat", *(each.values for each in matrices), axis=1), joined)

    def _quantised(self, rows: _Rows) -> tuple[_Value, _Value | None]:
        """The integers of rows, the high parts followed by the low ones, and the largest number of each row if its
        bound is not known; integers are in units of 1/63 of the bound or of that."""
        if rows in self._known:
            return self._known[rows]
        largest, scaled, step = None, rows.floats, _STEP * (rows.bound or 1.0)
        if rows.bound is None:
            # A row of zeros gives no numbers here, but in the end its product is multiplied by 0.
            largest = self.op("ReduceMax", self.op("Abs", rows.floats), axes=[-1], keepdims=1)
            scaled = self.op("Div", rows.floats, largest)
        zero = self.constant(np.uint8(_ZERO))
        integers = self.op("QuantizeLinear", scaled, step, zero)
        if rows.is_fine:
            left = scaled - self.op("DequantizeLinear", integers, step, zero)
            low = self.op("QuantizeLinear", left, step * _LOW_STEP, zero)
            integers = self.op("Concat", integers, low, axis=-2)
        self._known[rows] = integers, largest
        return self._known[rows]

    def product(self, rows: _Rows, matrix: _Matrix, bias: _Value | None = None) -> _Value:
        """The product of rows with a matrix, plus the bias."""
        if matrix.scales is None:
            result = rows.floats @ matrix.values
            return result if bias is None else result + bias
        integers, largest = self._quantised(rows)
        added = [] if rows.is_fine or rows.bound is None or bias is None else [None, bias]
        step = _STEP * (rows.bound or 1.0)
        result = self.op("MatMulIntegerToFloat", integers, matrix.values, step, matrix.scales, np.uint8(_ZERO), *added)
        if rows.is_fine:
            high, low = self.ops("Split", result, axis=-2, count=2)
            result = high + low * _LOW_STEP
        if largest is not None:
            result = result * largest
        return result if bias is None or added else result + bias

    def linear(self, rows: _Rows, name: str) -> _Value:
        """A linear layer of torch."""
        return self.product(rows, self.matrix(f"{name}.weight"), self.floats(f"{name}.bias"))

    def norm(self, rows: _Value, name: str, epsilon: float = 1e-5, *, is_fine: bool = True) -> _Rows:
        """A layer normalisation of torch; of numbers with variance 1, none is larger than the root of their count."""
        factors = [self.floats(f"{name}.{each}") for each in ("weight", "bias")]
        weight, bias = (np.abs(self._numbers(f"{name}.{each}")) for each in ("weight", "bias"))
        bound = float((weight * len(weight) ** 0.5 + bias).max())
        return _Rows(self.op("LayerNormalization", rows, *factors, axis=-1, epsilon=epsilon), bound, is_fine)

    def _numbers(self, name: str) -> npt.NDArray[np.float32]:
        """The numbers of a stored vector, which are in half precision."""
        start, (count,) = self._start + self._stored[name]["data_offsets"][0], self.shape(name)
        return np.fromfile(self._path, "<f2", count, offset=start).astype(np.float32)


def _words(graph: _Graph, config: BundleConfig) -> _Rows:
    """BERT: from ``pieces`` (questions, pieces) to the states of words (questions, words, size).

    A word's state is the mean of its pieces' (``shares``). The questions have the same numbers of pieces and of words.
    """
    pieces = graph.ids("pieces", "questions", "pieces")
    shares = graph.input("shares", "questions", "words", "pieces")
    embeddings = f"{_ENCODER}embeddings."
    table = f"{embeddings}word_embeddings.weight"
    vectors = graph.cast(graph.stored(table)[pieces])
    vectors = vectors * graph.op("Unsqueeze", graph.stored(f"{table}.factors")[pieces], [-1])
    # All pieces are of the first type.
    kind = graph.floats(f"{embeddings}token_type_embeddings.weight")[0]
    positions = graph.floats(f"{embeddings}position_embeddings.weight") + kind
    positions = graph.op("Slice", positions, [0], graph.op("Shape", pieces, start=1), [0])

    def added(rows: _Value, name: str) -> _Rows:
        found = graph.linear(_Rows(rows), f"{name}.dense") + states.floats
        return graph.norm(found, f"{name}.LayerNorm", config.epsilon)

    # Shape: (questions, pieces, size)
    states = graph.norm(vectors + positions, f"{embeddings}LayerNorm", config.epsilon)
    for layer in graph.parts(f"{_ENCODER}encoder.layer"):
        asked = [f"{layer}attention.self.{name}" for name in ("query", "key", "value")]
        matrix = graph.side_by_side([graph.matrix(f"{name}.weight") for name in asked])
        bias = graph.op("Concat", *(graph.floats(f"{name}.bias") for name in asked), axis=0)
        parts = graph.split(graph.product(states, matrix), [graph.shape(f"{name}.bias")[0] for name in asked])
        states = added(graph.op("MultiHeadAttention", *parts, bias, num_heads=config.heads), f"{layer}attention.output")
        inner = f"{layer}intermediate.dense"
        product = graph.product(states, graph.matrix(f"{inner}.weight"))
        states = added(graph.op("BiasGelu", product, graph.floats(f"{inner}.bias")), f"{layer}output")
    return _Rows(shares @ states.floats, states.bound)


class _Layer(NamedTuple):
    """The matrices of a decoder layer: an LSTM, attention from its outputs to the question, a combination of both."""

    name: str
    hidden: int
    from_input: _Matrix
    from_output: _Matrix
    bias: _Value
    joined_output: _Matrix
    joined_context: _Matrix


def _decoder_layer(graph: _Graph, name: str) -> _Layer:
    outputs, inputs = graph.shape(f"{name}joined.weight")
    weight = graph.matrix(f"{name}joined.weight")
    joined = [_Matrix(part, weight.scales) for part in graph.split(weight.values, [outputs, inputs - outputs], axis=0)]
    bias = graph.floats(f"{name}lstm.bias_ih_l0") + graph.floats(f"{name}lstm.bias_hh_l0")

    def sigmoids_first(gates: _Value | None) -> _Value:
        """An array whose last axis is the gates of all units, with those of the hyperbolic tangents last."""
        assert gates is not None
        parts = graph.split(gates, [outputs] * _GATES)
        return graph.op("Concat", *(parts[number] for number in _SIGMOIDS_FIRST), axis=-1)

    sides = (graph.matrix(f"{name}lstm.weight_{side}_l0") for side in ("ih", "hh"))
    from_input, from_output = (_Matrix(sigmoids_first(side.values), sigmoids_first(side.scales)) for side in sides)
    return _Layer(name, outputs, from_input, from_output, sigmoids_first(bias), *joined)


def _seq2seq_encoder(graph: _Graph, config: Seq2SeqConfig) -> None:
    """From the pieces of questions to what the steps of the search look up in them.

    ``same`` (questions, words, words) has the shares that the places of equal words have of each other's vectors.
    Results for each question: the keys (hidden, words) and contexts (words, hidden) of each layer, the keys for copying
    (hidden, words), what reading each word adds to the first layer's gates (words, gates), and the state before the
    first step.
    """
    words = _words(graph, config)
    same = graph.input("same", "questions", "words", "words")
    layers = [_decoder_layer(graph, name) for name in graph.parts("decoder._layers")]
    # All products with the words are one; its parts are for the layers, for copying and for reading.
    matrices = [each for layer in layers for each in (graph.matrix(f"{layer.name}keys.weight"), layer.joined_context)]
    matrices += [graph.matrix(f"decoder.{name}.weight") for name in ("_copy", "_word_embedding")]
    hidden, embedding = layers[0].hidden, graph.shape("decoder._word_embedding.weight")[0]
    sizes = [hidden] * (2 * len(layers) + 1) + [embedding]
    *looked_up, copied, vectors = graph.split(graph.product(words, graph.side_by_side(matrices)), sizes)
    for number, layer in enumerate(layers):
        keys, context = looked_up[2 * number : 2 * number + 2]
        keys = (keys * hidden**-0.5).transposed(0, 2, 1)
        graph.output(f"keys_{number}", keys, "questions", hidden, "words")
        # Attention sums to one, so the bias can be added to what is attended to.
        context = context + graph.floats(f"{layer.name}joined.bias")
        graph.output(f"contexts_{number}", context, "questions", "words", hidden)
    copied = graph.op("Tanh", copied + graph.floats("decoder._copy.bias"))
    graph.output("copy_keys", copied.transposed(0, 2, 1), "questions", hidden, "words")
    gates = graph.product(_Rows(same @ vectors), layers[0].from_input)
    graph.output("word_gates", gates, "questions", "words", _GATES * hidden)
    mean = _Rows(graph.op("ReduceMean", words.floats, axes=[1], keepdims=1), words.bound)
    state = []
    for layer in layers:
        output, cell = graph.split(graph.op("Tanh", graph.linear(mean, f"{layer.name}initial")), [hidden] * 2)
        state += [graph.product(_Rows(output, _TANH, is_fine=False), layer.from_output), cell]
    size = (_GATES + 1) * hidden * len(layers)
    graph.output("state", graph.op("Concat", *state, axis=-1), "questions", 1, size)
    graph.output("words", words.floats, "questions", "words", graph.shape("decoder._copy.weight")[1])


def _seq2seq_step(graph: _Graph, config: Seq2SeqConfig) -> None:
    """From the last tokens of hypotheses to the most probable next ones.

    Each hypothesis has a row: the row of ``state`` that it continues (``parents``), its last token (``tokens``) and,
    if that is a word of the question, what reading the word adds to the first gates (``copied``). For what is looked
    up in a question, its hypotheses are the first of ``places`` (questions, width), which has their rows; ``slots`` has
    the place of each row. ``padding`` (questions, 1, words) is minus infinity for padding; ``targets`` (questions,
    words, tokens and words) is 1 where a copied word is that token, ``generated`` (tokens and words) is 1 for tokens,
    and ``allowed`` (questions, width, tokens and words) is 0 for what must not follow. Results: the ``count`` most
    probable tokens with their log probabilities (questions, width, count), and the next state.
    """
    layers = [_decoder_layer(graph, name) for name in graph.parts("decoder._layers")]
    hidden, tokens = layers[0].hidden, len(config.tokens)
    slots, places = graph.ids("slots", "rows"), graph.ids("places", "questions", "width")
    padding = graph.input("padding", "questions", 1, "words")
    size = (_GATES + 1) * hidden * len(layers)
    state = graph.input("state", "before", size)[graph.ids("parents", "rows")]
    before = graph.split(state, [_GATES * hidden, hidden] * len(layers))
    # What reading each token adds to the gates of the first layer (tokens, gates), with their bias: constant, and in
    # double precision, since sums in single precision depend on the machine.
    first = layers[0].from_input
    matrix = graph.cast(first.values) * first.scales
    factors = [graph.cast(each, _DOUBLE) for each in (graph.floats("decoder._embedding.weight"), matrix)]
    read = graph.cast(factors[0] @ factors[1]) + layers[0].bias
    added = read[graph.ids("tokens", "rows")] + graph.input("copied", "rows", _GATES * hidden)
    after = []
    for number, layer in enumerate(layers):
        sigmoids, tangents = graph.split(before[2 * number] + added, [3 * hidden, hidden])
        used, kept, shown = graph.split(graph.op("Sigmoid", sigmoids), [hidden] * 3)
        new = used * graph.op("Tanh", tangents)
        cell = kept * before[2 * number + 1] + new
        output = shown * graph.op("Tanh", cell)
        # Whatever follows, the next step needs the product of the output with the matrix of the gates.
        both = graph.side_by_side([layer.joined_output, layer.from_output])
        product = graph.product(_Rows(output, _TANH, is_fine=False), both)
        joined, next_gates = graph.split(product, [hidden, _GATES * hidden])
        after += [next_gates, cell]
        keys = graph.input(f"keys_{number}", "questions", hidden, "words")
        attention = graph.op("Softmax", output[places] @ keys + padding, axis=-1)
        contexts = graph.input(f"contexts_{number}", "questions", "words", hidden)
        context = graph.op("Reshape", attention @ contexts, [-1, hidden])
        found = graph.op("Tanh", joined + context[slots])
        result = _Rows(found, _TANH, is_fine=False)
        if number + 1 < len(layers):
            added = graph.product(result, layers[number + 1].from_input, layers[number + 1].bias)
    never = np.zeros(tokens, dtype=np.float32)
    never[[config.tokens.index(token) for token in (config.padding, config.start, config.unknown)]] = _NEVER
    bias = graph.floats("decoder._generate.bias") + never
    generated = graph.product(result, graph.matrix("decoder._generate.weight"), bias)
    copy_keys = graph.input("copy_keys", "questions", hidden, "words")
    copied = found[places] @ copy_keys + padding
    scores = graph.op("Concat", generated[places], copied, axis=-1)
    probabilities = graph.op("Softmax", scores, axis=-1)
    # The places of a word share their probability, with its token if there is one.
    targets = graph.input("targets", "questions", "words", "targets")
    of_words = graph.op("Slice", probabilities, [tokens], [np.iinfo(np.int64).max], [2]) @ targets
    of_tokens = probabilities * graph.input("generated", "targets")
    shared = (of_words + of_tokens) * graph.input("allowed", "questions", "width", "targets")
    best, ids = graph.ops("TopK", shared, graph.ids("count", 1), axis=-1, count=2)
    graph.output("logarithms", graph.op("Log", best), "questions", "width", "wanted")
    graph.output("best", ids, "questions", "width", "wanted", dtype=np.int64)
    graph.output("next_state", graph.op("Concat", *after, axis=1), "rows", size)


def _ranker(graph: _Graph, config: Seq2SeqConfig) -> None:
    """From the states of a question's words (words, size) and its plans to their log-odds (plans).

    The other inputs are those of :func:`qdecomp.parsers.network.ranker_inputs`, and the network is that of
    :class:`qdecomp.training.ranker.PlanRanker`.
    """

    def table(name: str) -> _Value:
        return graph.floats(f"{RANKER}{name}.weight")

    def first(name: str, like: _Value, axis: int) -> _Value:
        """As many rows of a table as ``like`` has along the axis."""
        zero, count = graph.constant([0]), graph.op("Shape", like, start=axis, end=axis + 1)
        return graph.op("Slice", table(name), zero, count, zero)

    def linear(rows: _Value, name: str) -> _Value:
        """A linear layer for few numbers, which need not be quantised."""
        return rows @ table(name).transposed(1, 0) + graph.floats(f"{RANKER}{name}.bias")

    assert config.ranker is not None
    states = _Rows(graph.input("words", "words", graph.shape(f"{RANKER}words.weight")[1]))
    of_words = graph.linear(states, f"{RANKER}words") + first("word_positions", states.floats, 0)
    uses = graph.ids("uses", "plans", "words")
    of_words = table("uses")[uses] + of_words
    tokens = graph.ids("tokens", "plans", "tokens")
    copied = graph.product(states, graph.matrix(f"{RANKER}copied.weight"))
    of_tokens = [
        table("tokens")[tokens],
        table("steps")[graph.ids("steps", "plans", "tokens")],
        linear(graph.input("sure", "plans", "tokens", 2), "sure"),
        graph.input("places", "plans", "tokens", "words") @ copied,
        first("token_positions", tokens, 1),
    ]
    summary = linear(graph.input("plans", "plans", PLAN_FEATURES), "plan") + graph.floats(f"{RANKER}summary")
    found = graph.op("Concat", graph.op("Unsqueeze", summary, [1]), of_words, reduce(add, of_tokens), axis=1)
    # What is padding has minus infinity, or nearly.
    never = (graph.input("written", "plans", "tokens") - 1.0) * -_NEVER
    zeros = graph.cast(uses) * 0.0
    one = graph.op("Slice", zeros, [0], [1], [1])
    bias = graph.op("Unsqueeze", graph.op("Concat", one, zeros, never, axis=1), [1, 2])
    for layer in graph.parts(f"{RANKER}layers"):
        found = _ranker_layer(graph, layer, found, bias, config.ranker["heads"])
    last = graph.op("Gather", found, 0, axis=1)
    logits = linear(graph.norm(last, f"{RANKER}norm").floats, "logit")
    graph.output("logits", graph.op("Squeeze", logits, [1]), "plans")


def _ranker_layer(graph: _Graph, layer: str, states: _Value, bias: _Value, heads: int) -> _Value:
    size = graph.shape(f"{layer}attended.bias")[0]
    asked = graph.linear(graph.norm(states, f"{layer}attention_norm", is_fine=False), f"{layer}asked")
    # Shape of each: (plans, heads, tokens, size of a head)
    split = graph.constant([0, 0, heads, size // heads])
    parts = [graph.op("Reshape", part, split) for part in graph.split(asked, [size] * 3)]
    query, value, key = (
        parts[0].transposed(0, 2, 1, 3),
        parts[2].transposed(0, 2, 1, 3),
        parts[1].transposed(0, 2, 3, 1),
    )
    scores = query @ key * (size // heads) ** -0.5
    attended = (graph.op("Softmax", scores + bias, axis=-1) @ value).transposed(0, 2, 1, 3)
    joined = _Rows(graph.op("Reshape", attended, [0, 0, size]), is_fine=False)
    states = states + graph.linear(joined, f"{layer}attended")
    inner = graph.linear(graph.norm(states, f"{layer}inner_norm", is_fine=False), f"{layer}inner")
    return states + graph.linear(_Rows(graph.op("Gelu", inner), is_fine=False), f"{layer}outer")


def _graph_parser(graph: _Graph, config: GraphConfig) -> None:
    """From the pieces of a question to probabilities: of edges (tokens, tokens), heads first, and of labels (tokens,
    tokens, labels). The tokens are the question's words, then the special tokens, which attend to the words."""
    words = graph.op("Squeeze", _words(graph, config).floats, [0])
    special = graph.floats(f"{_SPECIAL}vectors")
    for layer in graph.parts(f"{_SPECIAL}layers"):
        special = _attending(graph, layer, special, words, config.special_heads)
    normed = graph.norm(special, f"{_SPECIAL}norm").floats
    tokens = _Rows(graph.op("Concat", words, normed, axis=0))
    found = {name: _feed_forward(graph, tokens, name) for name in ("edge_from", "edge_to", "label_from", "label_to")}
    half = found["edge_from"] @ graph.floats("edge_scorer.weight")
    edge_to, label_to = (found[name].transposed(1, 0) for name in ("edge_to", "label_to"))
    graph.output("edges", graph.op("Sigmoid", half @ edge_to), "tokens", "tokens")
    size, count = graph.shape("label_scorer.weight")[0], len(config.labels)
    halves = found["label_from"] @ graph.floats("label_scorer.weight")
    # Shape: (tokens, labels, size)
    halves = graph.op("Reshape", halves, [-1, count, size])
    scores = (halves @ label_to).transposed(0, 2, 1)
    graph.output("labels", graph.op("Softmax", scores, axis=-1), "tokens", "tokens", count)


def _attending(graph: _Graph, layer: str, special: _Value, words: _Value, heads: int) -> _Value:
    """Special tokens attend to the words of their question."""
    name = f"{layer}attention"
    weights = graph.floats(f"{name}.in_proj_weight").transposed(1, 0)
    query, key, value = graph.split(weights, [graph.shape(f"{name}.in_proj_weight")[1]] * 3)
    asking = graph.norm(special, f"{layer}norm").floats @ query
    keys, values = words @ key, words @ value
    bias = graph.floats(f"{name}.in_proj_bias")
    parts = [graph.op("Unsqueeze", each, [0]) for each in (asking, keys, values)]
    attended = graph.op("MultiHeadAttention", *parts, bias, num_heads=heads)
    special = special + graph.linear(_Rows(graph.op("Squeeze", attended, [0])), f"{name}.out_proj")
    inner = graph.linear(graph.norm(special, f"{layer}feed_forward.0"), f"{layer}feed_forward.1")
    return special + graph.linear(_Rows(graph.op("Gelu", inner)), f"{layer}feed_forward.3")


def _feed_forward(graph: _Graph, rows: _Rows, name: str) -> _Value:
    """A feed-forward network with ELU, and a one after each row, for the biases of the biaffine scorers."""
    for layer in graph.parts(f"{name}._linear_layers"):
        rows = _Rows(graph.op("Elu", graph.linear(rows, layer.removesuffix("."))))
    one = graph.op("Slice", rows.floats, [0], [1], [1]) * 0.0 + 1.0
    return graph.op("Concat", rows.floats, one, axis=1)


_NETWORKS: Mapping[str, Callable[[_Graph, Any], None]] = {
    "encoder.onnx": _seq2seq_encoder,
    "step.onnx": _seq2seq_step,
    RANKER_GRAPH: _ranker,
    "model.onnx": _graph_parser,
}
