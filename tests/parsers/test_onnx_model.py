"""Models that onnxruntime reads."""

from __future__ import annotations

import numpy as np

from qdecomp.parsers.byte_products import start_session
from qdecomp.parsers.onnx_model import ModelWriter


def test_a_model_computes_what_was_written() -> None:
    """With a constant, whole numbers below zero and lists as attributes, a decimal attribute, and two results."""
    model = ModelWriter()
    rows = model.input("rows", np.float32, 2)
    turned = model.op("Transpose", model.op("Add", rows, model.constant([[1.0, -2.0]])), perm=[1, 0])
    sums = model.op("ReduceSum", turned, model.constant([-1], np.int64), keepdims=0)
    leaky = model.op("LeakyRelu", turned, alpha=0.25)
    first, second = model.ops("Split", leaky, axis=-2, count=2)
    session = start_session(model.model([(sums, np.float32, 1), (first, np.float32, 2), (second, np.float32, 2)]))
    found = session.run(None, {"rows": np.array([[1, 1], [2, 0], [3, 5]], dtype=np.float32)})
    for ours, expected in zip(found, ([9, 0], [[2, 3, 4]], [[-0.25, -0.5, 3]]), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_large_and_many_constants_are_kept() -> None:
    """Lengths of several bytes are written as such."""
    model = ModelWriter()
    numbers = np.arange(70_000, dtype=np.float32)
    total = model.input("start", np.float32, 1)
    for _ in range(200):
        total = model.op("Add", total, model.constant(numbers))
    session = start_session(model.model([(total, np.float32, 1)]))
    (found,) = session.run(None, {"start": np.zeros_like(numbers)})
    np.testing.assert_allclose(found, 200 * numbers, rtol=1e-5)
