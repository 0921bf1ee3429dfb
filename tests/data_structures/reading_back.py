"""What holds for every text form: any text is a value that reads back, or an error of ours."""

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
