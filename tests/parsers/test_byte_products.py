"""Products of whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdecomp.parsers.byte_products import ZEROS, ByteMatrix, ByteModel, start_session, zeros_of
from qdecomp.parsers.layers import Array, Weights
from qdecomp.parsers.weights import from_bytes, to_bytes

SHAPES = [(384, 1536), (1536, 384), (24, 50), (5, 1)]


def numbers(*shape: int) -> Array:
    found: Array = np.random.default_rng(sum(shape)).normal(0, 1, shape).astype(np.float32)
    return found


def session_of(matrix: ByteMatrix, *, small: bool, bias: Array | None = None) -> Any:
    model = ByteModel()
    rows = model.input("rows", np.float32, 2)
    if not small:
        model.input(ZEROS, np.uint8, 1)
    rounded = model.rounded_small(rows) if small else model.rounded_rows(rows)
    return start_session(model.model([(model.product(rounded, matrix, bias), np.float32, 2)]))


def product(session: Any, rows: Array) -> Array:
    given = {"rows": rows} | ({ZEROS: zeros_of(len(rows))} if len(session.get_inputs()) > 1 else {})
    found: Array = session.run(None, given)[0]
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("small", [True, False])
def test_products_are_those_of_the_matrix_but_for_rounding(shape: tuple[int, int], small: bool) -> None:
    weight, bias = numbers(shape[1], shape[0]), numbers(shape[1])
    rows = np.tanh(numbers(19, shape[0])) if small else 20 * numbers(19, shape[0])
    found = product(session_of(ByteMatrix.of(Weights({"weight": weight})), small=small, bias=bias), rows)
    # A step of a row is a 63rd or a 127th of the largest number, and each number is half a step off at most.
    step = (1 / 63 if small else np.abs(rows).max(axis=1, keepdims=True) / 127) / 2
    most = step * np.abs(from_bytes(to_bytes(weight))).sum(axis=1)
    assert (np.abs(found - (rows @ from_bytes(to_bytes(weight)).T + bias)) <= most + 1e-3).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("small", [True, False])
def test_a_row_has_the_same_product_wherever_it_stands(shape: tuple[int, int], small: bool) -> None:
    rows = np.tanh(numbers(40, shape[0]))
    session = session_of(ByteMatrix.of(Weights({"weight": numbers(shape[1], shape[0])})), small=small)
    together = product(session, rows)
    for start in range(9):
        for end in (start + 1, start + 3, start + 4, start + 8, start + 13, len(rows)):
            assert np.array_equal(product(session, rows[start:end]), together[start:end])


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_numbers_do_not_overflow(small: bool, sign: int) -> None:
    matrix = ByteMatrix(np.full((1536, 16), 127, dtype=np.int8), np.ones(16, dtype=np.float32))
    found = product(session_of(matrix, small=small), np.full((3, 1536), sign, dtype=np.float32))
    np.testing.assert_allclose(found, sign * 127 * 1536, rtol=1e-6)


def test_a_row_of_zeros_has_a_product_of_zeros() -> None:
    session = session_of(ByteMatrix.of(Weights({"weight": numbers(8, 24)})), small=False)
    rows = np.concatenate([numbers(1, 24), np.zeros((1, 24), dtype=np.float32)])
    found = product(session, rows)
    assert found[0].any()
    assert not found[1].any()


def test_matrices_are_joined_cut_padded_and_scaled() -> None:
    weight = numbers(6, 10)
    whole = ByteMatrix.of(Weights({"weight": weight}))
    left, right = (ByteMatrix.of(Weights({"weight": weight}), columns=part) for part in (slice(4), slice(4, None)))
    np.testing.assert_array_equal(np.concatenate([left.values, right.values]), whole.values)
    joined = ByteMatrix.joined([whole.times(2), whole.padded(8)])
    assert joined.values.shape == (10, 14)
    np.testing.assert_array_equal(joined.factors[:6], 2 * whole.factors)
    assert not joined.values[:, 12:].any()
