"""What holds for every text form: any text is a value that can be read back, or one of our errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from qdecomp.data_structures.errors import QDecompError

Value = TypeVar("Value")


def assert_reads_back_or_is_refused(parse: Callable[[str], Value], write: Callable[[Value], str], text: str) -> None:
    try:
        value = parse(text)
    except QDecompError:
        return
    assert parse(write(value)) == value
