"""Batches of questions of similar length, with results in the order of the questions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

__all__ = ["in_length_batches", "window_size"]

Batched = TypeVar("Batched")
Answer = TypeVar("Answer")

# Questions of similar length are batched together; this many batches are looked at together.
_BATCHES_SORTED_TOGETHER = 8


def window_size(batch_size: int) -> int:
    """How many questions are taken at a time, to batch those of similar length together."""
    return _BATCHES_SORTED_TOGETHER * batch_size


def in_length_batches(
    items: Iterable[Batched],
    length: Callable[[Batched], int],
    batch_size: int,
    work: Callable[[Iterator[list[Batched]]], Iterator[Sequence[Answer]]],
) -> Iterator[tuple[Batched, Answer]]:
    """Each item with its result; ``work`` is given batches and gives back the results of each, in the same order.

    >>> def shout(batches):
    ...     for batch in batches:
    ...         print(batch)
    ...         yield [text.upper() for text in batch]
    >>> [result for _, result in in_length_batches(["bbb", "a", "cc"], len, 2, shout)]
    ['a', 'cc']
    ['bbb']
    ['BBB', 'A', 'CC']
    """
    rest = iter(items)
    windows: deque[tuple[list[Batched], list[list[int]]]] = deque()

    def batches() -> Iterator[list[Batched]]:
        while window := list(islice(rest, window_size(batch_size))):
            by_length = sorted(range(len(window)), key=lambda number: length(window[number]))
            chunks = [by_length[start : start + batch_size] for start in range(0, len(window), batch_size)]
            windows.append((window, chunks))
            yield from ([window[number] for number in chunk] for chunk in chunks)

    answers = work(batches())
    for first in answers:
        window, chunks = windows.popleft()
        others = islice(answers, len(chunks) - 1)
        found = dict(zip(chain(*chunks), chain(first, *others), strict=True))
        yield from ((item, found[number]) for number, item in enumerate(window))
