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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.parsers.bundle import WEIGHTS, BundleConfig, GraphConfig, Seq2SeqConfig
from qdecomp.parsers.ranker import PLAN_FEATURES, RANKER_GRAPH

_MICROSOFT = "com.microsoft"
_OPSETS = {"": 17, _MICROSOFT: 1}
_IR_VERSION = 8
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


def write_graphs(folder: Path, config: BundleConfig) -> list[str]:
    """Write the graphs of a bundle whose weights are in the folder; the names of the files."""
    if isinstance(config, Seq2SeqConfig):
        graphs = {"encoder.onnx": _seq2seq_encoder(folder, config), "step.onnx": _seq2seq_step(folder, config)}
        if config.ranker is not None:
            graphs[RANKER_GRAPH] = _ranker(folder, config.ranker["heads"])
    else:
        assert isinstance(config, GraphConfig)
        graphs = {"model.onnx": _graph_parser(folder, config)}
    for name, graph in graphs.items():
        (folder / name).write_bytes(graph.serialized())
    return list(graphs)


@dataclass(frozen=True, slots=True)
class _Stored:
    """Where a tensor of a safetensors file is."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    length: int


def _stored_tensors(path: Path) -> dict[str, _Stored]:
    with path.open("rb") as stream:
        (size,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(size))
    return {
        name: _Stored(each["dtype"], tuple(each["shape"]), 8 + size + each["data_offsets"][0], end - start)
        for name, each in header.items()
        if name != "__metadata__"
        for start, end in [each["data_offsets"]]
    }


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A matrix (inputs, outputs): int8 with a scale for each output, or floats without scales."""

    values: str
    scales: str | None = None


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of floats to multiply with matrices; no number is larger than the ``bound``, if that is known."""

    floats: str
    bound: float | None = None
    is_fine: bool = True
    """Whether they have low parts."""


class _Graph:
    """Collects inputs, weights and operations; a method that adds an operation gives the name of its result."""

    def __init__(self, folder: Path) -> None:
        try:
            import onnx
        except ImportError:
            raise missing_extra("bundling a parser", "bundle") from None
        self._onnx = onnx
        self._path = folder / WEIGHTS
        self._stored = _stored_tensors(self._path)
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._weights: dict[str, Any] = {}
        self._nodes: list[Any] = []
        self._known: dict[_Rows, tuple[str, str | None]] = {}

    def input(self, name: str, dtype: npt.DTypeLike, *shape: str | int) -> str:
        """An array that is given when the graph runs; dimensions with the same name have the same size."""
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, value: str, dtype: npt.DTypeLike, *shape: str | int) -> None:
        """Call a value a result of the graph."""
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        for node in self._nodes:
            for names in (node.input, node.output):
                names[:] = [name if each == value else each for each in names]
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, kind, shape))

    def serialized(self) -> bytes:
        """The file."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, "qdecomp", self._inputs, self._outputs, list(self._weights.values()))
        opsets = [helper.make_opsetid(*each) for each in _OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="qdecomp")
        found: bytes = model.SerializeToString()
        return found

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
        array: npt.NDArray[Any] = np.asarray(value, dtype=dtype)
        name = f"constant {array.dtype} {array.tolist()}"
        self._weights.setdefault(name, self._onnx.numpy_helper.from_array(array, name))
        return name

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        (result,) = self.ops(kind, *inputs, domain=domain, count=1, **attributes)
        return result

    def ops(self, kind: str, *inputs: str, domain: str = "", count: int, **attributes: Any) -> list[str]:
        results = [f"{kind} {len(self._nodes)} {number}" for number in range(count)]
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, results, domain=domain, **attributes))
        return results

    def parts(self, name: str) -> list[str]:
        """The parts ``name.0.``, ``name.1.`` and so on of the stored weights."""
        numbers = (each[len(name) + 1 :].partition(".")[0] for each in self._stored if each.startswith(f"{name}."))
        return [f"{name}.{number}." for number in sorted({int(each) for each in numbers if each.isdecimal()})]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a stored weight."""
        try:
            return self._stored[name].shape
        except KeyError:
            raise DataError(f"there is no tensor {name}") from None

    def stored(self, name: str) -> str:
        """A stored weight as it is."""
        self.shape(name)
        found = self._stored[name]
        types = {"I8": "INT8", "F16": "FLOAT16", "F32": "FLOAT"}
        if name not in self._weights:
            proto = self._onnx.TensorProto
            tensor = proto(name=name, data_type=getattr(proto, types[found.dtype]), dims=found.shape)
            tensor.data_location = proto.EXTERNAL
            for key, value in (("location", WEIGHTS), ("offset", found.offset), ("length", found.length)):
                tensor.external_data.add(key=key, value=str(value))
            self._weights[name] = tensor
        return name

    def floats(self, name: str) -> str:
        """A stored weight as floats; onnxruntime computes what is constant once, except "DequantizeLinear"."""
        values = self.op("Cast", self.stored(name), to=self._onnx.TensorProto.FLOAT)
        if f"{name}.factors" not in self._stored:
            return values
        scales = self.op("Unsqueeze", self.stored(f"{name}.factors"), self.constant([1], np.int64))
        return self.op("Mul", values, scales)

    def matrix(self, name: str) -> _Matrix:
        """The matrix of a linear layer of torch, whose weight is (outputs, inputs)."""
        is_int8 = f"{name}.factors" in self._stored
        values = self.stored(name) if is_int8 else self.floats(name)
        return _Matrix(self.op("Transpose", values, perm=[1, 0]), self.stored(f"{name}.factors") if is_int8 else None)

    def split_inputs(self, matrix: _Matrix, sizes: Sequence[int]) -> list[_Matrix]:
        """Matrices of some of the inputs each."""
        return [_Matrix(values, matrix.scales) for values in self.split(matrix.values, sizes, axis=0)]

    def side_by_side(self, matrices: Sequence[_Matrix]) -> _Matrix:
        """Matrices with the same inputs as one."""
        scales = [each.scales for each in matrices if each.scales is not None]
        joined = self.op("Concat", *scales, axis=0) if scales else None
        return _Matrix(self.op("Concat", *(each.values for each in matrices), axis=1), joined)

    def split(self, value: str, sizes: Sequence[int], axis: int = -1) -> list[str]:
        """Parts of these sizes."""
        return self.ops("Split", value, self.constant(sizes, np.int64), axis=axis, count=len(sizes))

    def _quantised(self, rows: _Rows) -> tuple[str, str | None]:
        """The integers of rows, the high parts followed by the low ones, and the largest number of each row if its
        bound is not known; integers are in units of 1/63 of the bound or of that."""
        if rows in self._known:
            return self._known[rows]
        largest, scaled, step = None, rows.floats, _STEP * (rows.bound or 1.0)
        if rows.bound is None:
            # A row of zeros gives no numbers here, but in the end its product is multiplied by 0.
            largest = self.op("ReduceMax", self.op("Abs", rows.floats), axes=[-1], keepdims=1)
            scaled = self.op("Div", rows.floats, largest)
        zero = self.constant(_ZERO, np.uint8)
        integers = self.op("QuantizeLinear", scaled, self.constant(step), zero)
        if rows.is_fine:
            left = self.op("Sub", scaled, self.op("DequantizeLinear", integers, self.constant(step), zero))
            low = self.op("QuantizeLinear", left, self.constant(step * _LOW_STEP), zero)
            integers = self.op("Concat", integers, low, axis=-2)
        self._known[rows] = integers, largest
        return self._known[rows]

    def product(self, rows: _Rows, matrix: _Matrix, bias: str | None = None) -> str:
        """The product of rows with a matrix, plus the bias."""
        if matrix.scales is None:
            result = self.op("MatMul", rows.floats, matrix.values)
            return result if bias is None else self.op("Add", result, bias)
        integers, largest = self._quantised(rows)
        step, zero = self.constant(_STEP * (rows.bound or 1.0)), self.constant(_ZERO, np.uint8)
        added = [] if rows.is_fine or rows.bound is None or bias is None else ["", bias]
        inputs = (integers, matrix.values, step, matrix.scales, zero, *added)
        result = self.op("MatMulIntegerToFloat", *inputs, domain=_MICROSOFT)
        if rows.is_fine:
            high, low = self.ops("Split", result, axis=-2, count=2)
            result = self.op("Add", high, self.op("Mul", low, self.constant(_LOW_STEP)))
        if largest is not None:
            result = self.op("Mul", result, largest)
        return result if bias is None or added else self.op("Add", result, bias)

    def linear(self, rows: _Rows, name: str) -> str:
        """A linear layer of torch."""
        return self.product(rows, self.matrix(f"{name}.weight"), self.floats(f"{name}.bias"))

    def norm(self, rows: str, name: str, epsilon: float = 1e-5) -> _Rows:
        """A layer normalisation of torch; of numbers with variance 1, none is larger than the root of their count."""
        factors = (self.floats(f"{name}.{each}") for each in ("weight", "bias"))
        weight, bias = (np.abs(self._numbers(f"{name}.{each}")) for each in ("weight", "bias"))
        bound = float((weight * len(weight) ** 0.5 + bias).max())
        return _Rows(self.op("LayerNormalization", rows, *factors, axis=-1, epsilon=epsilon), bound)

    def _numbers(self, name: str) -> npt.NDArray[np.float32]:
        """The numbers of a stored vector."""
        self.shape(name)
        found = self._stored[name]
        kind = np.dtype({"F16": "<f2", "F32": "<f4"}[found.dtype])
        count = found.length // kind.itemsize
        return np.fromfile(self._path, kind, count, offset=found.offset).astype(np.float32)

    def attention(self, query: str, key: str, value: str, heads: int, bias: str) -> str:
        """Multi-head attention of rows to rows of one question, each (1, rows, size)."""
        return self.op("MultiHeadAttention", query, key, value, bias, domain=_MICROSOFT, num_heads=heads)

    def one(self, rows: str) -> str:
        """Rows as those of one question, (1, rows, size)."""
        return self.op("Unsqueeze", rows, self.constant([0], np.int64))

    def rows_of_one(self, rows: str) -> str:
        """The rows of one question, (rows, size)."""
        return self.op("Squeeze", rows, self.constant([0], np.int64))


def _words(graph: _Graph, config: BundleConfig) -> _Rows:
    """BERT: from ``pieces`` (questions, pieces) to the states of words (questions, words, size).

    A word's state is the mean of its pieces' (``shares``). The questions have the same numbers of pieces and of words.
    """
    pieces = graph.input("pieces", np.int64, "questions", "pieces")
    shares = graph.input("shares", np.float32, "questions", "words", "pieces")
    embeddings, int64 = f"{_ENCODER}embeddings.", np.int64
    table = f"{embeddings}word_embeddings.weight"
    vectors = graph.op("Gather", graph.stored(table), pieces, axis=0)
    vectors = graph.op("Cast", vectors, to=graph._onnx.TensorProto.FLOAT)
    scales = graph.op("Gather", graph.stored(f"{table}.factors"), pieces, axis=0)
    vectors = graph.op("Mul", vectors, graph.op("Unsqueeze", scales, graph.constant([-1], int64)))
    # All pieces are of the first type.
    kind = graph.op(
        "Gather", graph.floats(f"{embeddings}token_type_embeddings.weight"), graph.constant(0, int64), axis=0
    )
    positions = graph.op("Add", graph.floats(f"{embeddings}position_embeddings.weight"), kind)
    zero = graph.constant([0], int64)
    positions = graph.op("Slice", positions, zero, graph.op("Shape", pieces, start=1), zero)
    # Shape: (questions, pieces, size)
    states = graph.norm(graph.op("Add", vectors, positions), f"{embeddings}LayerNorm", config.epsilon)
    for layer in graph.parts(f"{_ENCODER}encoder.layer"):
        asked = [f"{layer}attention.self.{name}" for name in ("query", "key", "value")]
        matrix = graph.side_by_side([graph.matrix(f"{name}.weight") for name in asked])
        bias = graph.op("Concat", *(graph.floats(f"{name}.bias") for name in asked), axis=0)
        size = graph.shape(f"{asked[0]}.bias")[0]
        parts = graph.split(graph.product(states, matrix), [size] * 3)
        attended = _Rows(graph.attention(parts[0], parts[1], parts[2], config.heads, bias))
        states = _added(graph, attended, states, f"{layer}attention.output", config.epsilon)
        inner = f"{layer}intermediate.dense"
        product = graph.product(states, graph.matrix(f"{inner}.weight"))
        changed = graph.op("BiasGelu", product, graph.floats(f"{inner}.bias"), domain=_MICROSOFT)
        states = _added(graph, _Rows(changed), states, f"{layer}output", config.epsilon)
    return _Rows(graph.op("MatMul", shares, states.floats), states.bound)


def _added(graph: _Graph, rows: _Rows, states: _Rows, name: str, epsilon: float) -> _Rows:
    found = graph.op("Add", graph.linear(rows, f"{name}.dense"), states.floats)
    return graph.norm(found, f"{name}.LayerNorm", epsilon)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The matrices of a decoder layer: an LSTM, attention from its outputs to the question, a combination of both."""

    name: str
    hidden: int
    from_input: _Matrix
    from_output: _Matrix
    bias: str
    joined_output: _Matrix
    joined_context: _Matrix

    @classmethod
    def of(cls, graph: _Graph, name: str) -> _Layer:
        hidden = graph.shape(f"{name}joined.bias")[0]
        encoder = graph.shape(f"{name}joined.weight")[1] - hidden
        joined = graph.split_inputs(graph.matrix(f"{name}joined.weight"), [hidden, encoder])
        bias = graph.op("Add", *(graph.floats(f"{name}lstm.bias_{each}_l0") for each in ("ih", "hh")))
        gates = [
            _Matrix(_sigmoids_first(graph, each.values, hidden), _sigmoids_first(graph, each.scales or "", hidden))
            for each in (graph.matrix(f"{name}lstm.weight_{side}_l0") for side in ("ih", "hh"))
        ]
        from_input, from_output = gates
        output, context = joined
        return cls(name, hidden, from_input, from_output, _sigmoids_first(graph, bias, hidden), output, context)


def _layers(graph: _Graph) -> list[_Layer]:
    return [_Layer.of(graph, name) for name in graph.parts("decoder._layers")]


def _sigmoids_first(graph: _Graph, gates: str, hidden: int) -> str:
    """An array whose last axis is the gates of all units, with those of the hyperbolic tangents last."""
    parts = graph.split(gates, [hidden] * _GATES)
    return graph.op("Concat", *(parts[number] for number in _SIGMOIDS_FIRST), axis=-1)


def _seq2seq_encoder(folder: Path, config: Seq2SeqConfig) -> _Graph:
    """From the pieces of questions to what the steps of the search look up in them.

    ``same`` (questions, words, words) has the shares that the places of equal words have of each other's vectors.
    Results for each question: the keys (hidden, words) and contexts (words, hidden) of each layer, the keys for copying
    (hidden, words), what reading each word adds to the first layer's gates (words, gates), and the state before the
    first step.
    """
    graph = _Graph(folder)
    words = _words(graph, config)
    same = graph.input("same", np.float32, "questions", "words", "words")
    layers = _layers(graph)
    # All products with the words are one; its parts are for the layers, for copying and for reading.
    matrices = [each for layer in layers for each in (graph.matrix(f"{layer.name}keys.weight"), layer.joined_context)]
    matrices += [graph.matrix(f"decoder.{name}.weight") for name in ("_copy", "_word_embedding")]
    hidden, embedding = layers[0].hidden, graph.shape("decoder._word_embedding.weight")[0]
    sizes = [hidden] * (2 * len(layers) + 1) + [embedding]
    *looked_up, copied, vectors = graph.split(graph.product(words, graph.side_by_side(matrices)), sizes)
    for number, layer in enumerate(layers):
        keys, context = looked_up[2 * number : 2 * number + 2]
        scaled = graph.op("Mul", keys, graph.constant(layer.hidden**-0.5))
        turned = graph.op("Transpose", scaled, perm=[0, 2, 1])
        graph.output(f"keys_{number}", turned, np.float32, "questions", hidden, "words")
        # Attention sums to one, so the bias can be added to what is attended to.
        context = graph.op("Add", context, graph.floats(f"{layer.name}joined.bias"))
        graph.output(f"contexts_{number}", context, np.float32, "questions", "words", hidden)
    copied = graph.op("Tanh", graph.op("Add", copied, graph.floats("decoder._copy.bias")))
    graph.output("copy_keys", graph.op("Transpose", copied, perm=[0, 2, 1]), np.float32, "questions", hidden, "words")
    read = _Rows(graph.op("MatMul", same, vectors))
    gates = graph.product(read, layers[0].from_input)
    graph.output("word_gates", gates, np.float32, "questions", "words", _GATES * hidden)
    mean = _Rows(graph.op("ReduceMean", words.floats, axes=[1], keepdims=1), words.bound)
    state = []
    for layer in layers:
        begun = graph.op("Tanh", graph.linear(mean, f"{layer.name}initial"))
        output, cell = graph.split(begun, [layer.hidden] * 2)
        state += [graph.product(_Rows(output, _TANH, is_fine=False), layer.from_output), cell]
    size = (_GATES + 1) * hidden * len(layers)
    graph.output("state", graph.op("Concat", *state, axis=-1), np.float32, "questions", 1, size)
    graph.output("words", words.floats, np.float32, "questions", "words", graph.shape("decoder._copy.weight")[1])
    return graph


def _seq2seq_step(folder: Path, config: Seq2SeqConfig) -> _Graph:
    """From the last tokens of hypotheses to the most probable next ones.

    Each hypothesis has a row: the row of ``state`` that it continues (``parents``), its last token (``tokens``) and,
    if that is a word of the question, what reading the word adds to the first gates (``copied``). For what is looked
    up in a question, its hypotheses are the first of ``places`` (questions, width), which has their rows; ``slots`` has
    the place of each row. ``padding`` (questions, 1, words) is minus infinity for padding; ``targets`` (questions,
    words, tokens and words) is 1 where a copied word is that token, ``generated`` (tokens and words) is 1 for tokens,
    and ``allowed`` (questions, width, tokens and words) is 0 for what must not follow. Results: the ``count`` most
    probable tokens with their log probabilities (questions, width, count), and the next state.
    """
    graph, int64, float32 = _Graph(folder), np.int64, np.float32
    layers = _layers(graph)
    hidden, tokens = layers[0].hidden, len(config.tokens)
    if graph.shape("decoder._generate.bias") != (tokens,):
        raise DataError(
            f"there are {tokens} tokens, but the weights are for {graph.shape('decoder._generate.bias')[0]}"
        )
    slots, places = graph.input("slots", int64, "rows"), graph.input("places", int64, "questions", "width")
    padding = graph.input("padding", float32, "questions", 1, "words")
    size = (_GATES + 1) * hidden * len(layers)
    state = graph.op(
        "Gather", graph.input("state", float32, "before", size), graph.input("parents", int64, "rows"), axis=0
    )
    before = graph.split(state, [_GATES * hidden, hidden] * len(layers))
    read = graph.op("Gather", _token_gates(graph, layers[0]), graph.input("tokens", int64, "rows"), axis=0)
    added = graph.op("Add", read, graph.input("copied", float32, "rows", _GATES * hidden))
    after = []
    for number, layer in enumerate(layers):
        gates = graph.op("Add", before[2 * number], added)
        output, cell = _lstm(graph, gates, before[2 * number + 1], hidden)
        # Whatever follows, the next step needs the product of the output with the matrix of the gates.
        both = graph.side_by_side([layer.joined_output, layer.from_output])
        product = graph.product(_Rows(output, _TANH, is_fine=False), both)
        joined, next_gates = graph.split(product, [hidden, _GATES * hidden])
        after += [next_gates, cell]
        keys = graph.input(f"keys_{number}", float32, "questions", hidden, "words")
        scores = graph.op("MatMul", graph.op("Gather", output, places, axis=0), keys)
        attention = graph.op("Softmax", graph.op("Add", scores, padding), axis=-1)
        contexts = graph.input(f"contexts_{number}", float32, "questions", "words", hidden)
        context = graph.op("Reshape", graph.op("MatMul", attention, contexts), graph.constant([-1, hidden], int64))
        found = graph.op("Tanh", graph.op("Add", joined, graph.op("Gather", context, slots, axis=0)))
        result = _Rows(found, _TANH, is_fine=False)
        if number + 1 < len(layers):
            added = graph.product(result, layers[number + 1].from_input, layers[number + 1].bias)
    never = np.zeros(tokens, dtype=float32)
    never[[config.tokens.index(token) for token in (config.padding, config.start, config.unknown)]] = _NEVER
    bias = graph.op("Add", graph.floats("decoder._generate.bias"), graph.constant(never))
    generated = graph.product(result, graph.matrix("decoder._generate.weight"), bias)
    copy_keys = graph.input("copy_keys", float32, "questions", hidden, "words")
    copied = graph.op("Add", graph.op("MatMul", graph.op("Gather", found, places, axis=0), copy_keys), padding)
    scores = graph.op("Concat", graph.op("Gather", generated, places, axis=0), copied, axis=-1)
    probabilities = _shared(graph, graph.op("Softmax", scores, axis=-1), tokens)
    count = graph.input("count", int64, 1)
    best, ids = graph.ops("TopK", probabilities, count, axis=-1, count=2)
    graph.output("logarithms", graph.op("Log", best), float32, "questions", "width", "wanted")
    graph.output("best", ids, int64, "questions", "width", "wanted")
    graph.output("next_state", graph.op("Concat", *after, axis=1), float32, "rows", size)
    return graph


def _token_gates(graph: _Graph, first: _Layer) -> str:
    """What reading each token adds to the gates of the first layer (tokens, gates), with their bias."""
    double, single = graph._onnx.TensorProto.DOUBLE, graph._onnx.TensorProto.FLOAT
    matrix = graph.op("Cast", first.from_input.values, to=single)
    matrix = graph.op("Mul", matrix, first.from_input.scales or "")
    # Constant, and in double precision, since sums in single precision depend on the machine.
    sides = (graph.op("Cast", each, to=double) for each in (graph.floats("decoder._embedding.weight"), matrix))
    return graph.op("Add", graph.op("Cast", graph.op("MatMul", *sides), to=single), first.bias)


def _lstm(graph: _Graph, gates: str, cell: str, hidden: int) -> tuple[str, str]:
    """The next output and cell."""
    sigmoids, tangents = graph.split(gates, [3 * hidden, hidden])
    used, kept, shown = graph.split(graph.op("Sigmoid", sigmoids), [hidden] * 3)
    new = graph.op("Mul", used, graph.op("Tanh", tangents))
    cell = graph.op("Add", graph.op("Mul", kept, cell), new)
    return graph.op("Mul", shown, graph.op("Tanh", cell)), cell


def _shared(graph: _Graph, probabilities: str, tokens: int) -> str:
    """The probabilities of tokens, then words: the places of a word share theirs, with its token if there is one."""
    targets = graph.input("targets", np.float32, "questions", "words", "targets")
    start, end, axis = (graph.constant([place], np.int64) for place in (tokens, np.iinfo(np.int64).max, 2))
    of_words = graph.op("MatMul", graph.op("Slice", probabilities, start, end, axis), targets)
    of_tokens = graph.op("Mul", probabilities, graph.input("generated", np.float32, "targets"))
    allowed = graph.input("allowed", np.float32, "questions", "width", "targets")
    return graph.op("Mul", graph.op("Add", of_words, of_tokens), allowed)


def _ranker(folder: Path, heads: int) -> _Graph:
    """From the states of a question's words (words, size) and its plans to their log-odds (plans).

    The other inputs are those of :func:`qdecomp.parsers.ranker.ranker_inputs`, and the network is that of
    :class:`qdecomp.training.ranker.PlanRanker`.
    """
    graph, int64, float32 = _Graph(folder), np.int64, np.float32
    states = _Rows(graph.input("words", float32, "words", graph.shape(f"{RANKER}words.weight")[1]))
    of_words = graph.op(
        "Add", graph.linear(states, f"{RANKER}words"), _first(graph, "word_positions", states.floats, 0)
    )
    uses = graph.input("uses", int64, "plans", "words")
    of_words = graph.op("Add", graph.op("Gather", graph.floats(f"{RANKER}uses.weight"), uses, axis=0), of_words)
    tokens = graph.input("tokens", int64, "plans", "tokens")
    copied = graph.product(states, graph.matrix(f"{RANKER}copied.weight"))
    of_tokens = [
        graph.op("Gather", graph.floats(f"{RANKER}tokens.weight"), tokens, axis=0),
        graph.op(
            "Gather", graph.floats(f"{RANKER}steps.weight"), graph.input("steps", int64, "plans", "tokens"), axis=0
        ),
        _float_linear(graph, graph.input("sure", float32, "plans", "tokens", 2), "sure"),
        graph.op("MatMul", graph.input("places", float32, "plans", "tokens", "words"), copied),
        _first(graph, "token_positions", tokens, 1),
    ]
    summary = _float_linear(graph, graph.input("plans", float32, "plans", PLAN_FEATURES), "plan")
    summary = graph.op("Add", summary, graph.floats(f"{RANKER}summary"))
    parts = [graph.op("Unsqueeze", summary, graph.constant([1], int64)), of_words, _sum(graph, of_tokens)]
    found = graph.op("Concat", *parts, axis=1)
    # What is padding has minus infinity, or nearly.
    written = graph.input("written", float32, "plans", "tokens")
    never = graph.op("Mul", graph.op("Sub", written, graph.constant(1.0)), graph.constant(-_NEVER))
    zeros = graph.op("Mul", graph.op("Cast", uses, to=graph._onnx.TensorProto.FLOAT), graph.constant(0.0))
    one = graph.op("Slice", zeros, *_range(graph, 0, 1, 1))
    bias = graph.op("Unsqueeze", graph.op("Concat", one, zeros, never, axis=1), graph.constant([1, 2], int64))
    for layer in graph.parts(f"{RANKER}layers"):
        found = _ranker_layer(graph, layer, found, bias, heads)
    last = graph.op("Gather", found, graph.constant(0, int64), axis=1)
    normed = graph.norm(last, f"{RANKER}norm").floats
    logits = _float_linear(graph, normed, "logit")
    graph.output("logits", graph.op("Squeeze", logits, graph.constant([1], int64)), float32, "plans")
    return graph


def _ranker_layer(graph: _Graph, layer: str, states: str, bias: str, heads: int) -> str:
    size = graph.shape(f"{layer}attended.bias")[0]
    asked = graph.linear(_coarse(graph.norm(states, f"{layer}attention_norm")), f"{layer}asked")
    # Shape of each: (plans, heads, tokens, size of a head)
    split = graph.constant([0, 0, heads, size // heads], np.int64)
    parts = [graph.op("Reshape", part, split) for part in graph.split(asked, [size] * 3)]
    query, value = (graph.op("Transpose", parts[number], perm=[0, 2, 1, 3]) for number in (0, 2))
    key = graph.op("Transpose", parts[1], perm=[0, 2, 3, 1])
    scores = graph.op("Mul", graph.op("MatMul", query, key), graph.constant((size // heads) ** -0.5))
    attended = graph.op("MatMul", graph.op("Softmax", graph.op("Add", scores, bias), axis=-1), value)
    joined = graph.op("Transpose", attended, perm=[0, 2, 1, 3])
    joined = graph.op("Reshape", joined, graph.constant([0, 0, size], np.int64))
    states = graph.op("Add", states, graph.linear(_Rows(joined, is_fine=False), f"{layer}attended"))
    inner = graph.linear(_coarse(graph.norm(states, f"{layer}inner_norm")), f"{layer}inner")
    changed = _Rows(graph.op("Gelu", inner, domain=_MICROSOFT), is_fine=False)
    return graph.op("Add", states, graph.linear(changed, f"{layer}outer"))


def _coarse(rows: _Rows) -> _Rows:
    """Rows without low parts."""
    return _Rows(rows.floats, rows.bound, is_fine=False)


def _float_linear(graph: _Graph, rows: str, name: str) -> str:
    """A linear layer of the ranker for few numbers, which need not be quantised."""
    weight = graph.op("Transpose", graph.floats(f"{RANKER}{name}.weight"), perm=[1, 0])
    return graph.op("Add", graph.op("MatMul", rows, weight), graph.floats(f"{RANKER}{name}.bias"))


def _first(graph: _Graph, name: str, like: str, axis: int) -> str:
    """As many rows of a table of the ranker as ``like`` has along the axis."""
    zero = graph.constant([0], np.int64)
    count = graph.op("Shape", like, start=axis, end=axis + 1)
    return graph.op("Slice", graph.floats(f"{RANKER}{name}.weight"), zero, count, zero)


def _range(graph: _Graph, start: int, end: int, axis: int) -> list[str]:
    return [graph.constant([place], np.int64) for place in (start, end, axis)]


def _sum(graph: _Graph, values: Sequence[str]) -> str:
    total, *others = values
    for each in others:
        total = graph.op("Add", total, each)
    return total


def _graph_parser(folder: Path, config: GraphConfig) -> _Graph:
    """From the pieces of a question to probabilities: of edges (tokens, tokens), heads first, and of labels (tokens,
    tokens, labels). The tokens are the question's words, then the special tokens, which attend to the words."""
    graph = _Graph(folder)
    words = graph.rows_of_one(_words(graph, config).floats)
    special = graph.floats(f"{_SPECIAL}vectors")
    for layer in graph.parts(f"{_SPECIAL}layers"):
        special = _attending(graph, layer, special, words, config.special_heads)
    normed = graph.norm(special, f"{_SPECIAL}norm").floats
    tokens = _Rows(graph.op("Concat", words, normed, axis=0))
    found = {name: _feed_forward(graph, tokens, name) for name in ("edge_from", "edge_to", "label_from", "label_to")}
    half = graph.op("MatMul", found["edge_from"], graph.floats("edge_scorer.weight"))
    turned = {name: graph.op("Transpose", found[name], perm=[1, 0]) for name in ("edge_to", "label_to")}
    edges = graph.op("Sigmoid", graph.op("MatMul", half, turned["edge_to"]))
    graph.output("edges", edges, np.float32, "tokens", "tokens")
    size, count = graph.shape("label_scorer.weight")[0], len(config.labels)
    if graph.shape("label_scorer.weight") != (size, count * size):
        raise DataError(f"there are {count} labels, but the weights are for another number of them")
    halves = graph.op("MatMul", found["label_from"], graph.floats("label_scorer.weight"))
    # Shape: (tokens, labels, size)
    halves = graph.op("Reshape", halves, graph.constant([-1, count, size], np.int64))
    scores = graph.op("Transpose", graph.op("MatMul", halves, turned["label_to"]), perm=[0, 2, 1])
    graph.output("labels", graph.op("Softmax", scores, axis=-1), np.float32, "tokens", "tokens", count)
    return graph


def _attending(graph: _Graph, layer: str, special: str, words: str, heads: int) -> str:
    """Special tokens attend to the words of their question."""
    name = f"{layer}attention"
    weights = graph.op("Transpose", graph.floats(f"{name}.in_proj_weight"), perm=[1, 0])
    size = graph.shape(f"{name}.in_proj_weight")[1]
    query, key, value = graph.split(weights, [size] * 3)
    asking = graph.op("MatMul", graph.norm(special, f"{layer}norm").floats, query)
    keys, values = (graph.op("MatMul", words, each) for each in (key, value))
    bias = graph.floats(f"{name}.in_proj_bias")
    attended = graph.attention(graph.one(asking), graph.one(keys), graph.one(values), heads, bias)
    found = _Rows(graph.rows_of_one(attended))
    special = graph.op("Add", special, graph.linear(found, f"{name}.out_proj"))
    inner = graph.linear(graph.norm(special, f"{layer}feed_forward.0"), f"{layer}feed_forward.1")
    inner = graph.op("Gelu", inner, domain=_MICROSOFT)
    return graph.op("Add", special, graph.linear(_Rows(inner), f"{layer}feed_forward.3"))


def _feed_forward(graph: _Graph, rows: _Rows, name: str) -> str:
    """A feed-forward network with ELU, and a one after each row, for the biases of the biaffine scorers."""
    for layer in graph.parts(f"{name}._linear_layers"):
        found = graph.op("Elu", graph.linear(rows, layer.removesuffix(".")))
        rows = _Rows(found)
    first = graph.op("Slice", found, *(graph.constant([place], np.int64) for place in (0, 1, 1)))
    one = graph.op("Add", graph.op("Mul", first, graph.constant(0.0)), graph.constant(1.0))
    return graph.op("Concat", found, one, axis=1)
