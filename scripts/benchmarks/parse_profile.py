"""Where the time of a pipe goes, by the parts of a parser."""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["profile_ms"]

# Functions, by file and name, whose time, including all that they call, is shown or split up.
_TOKENIZE, _PIECES = ("tokenization.py", "tokenize"), ("word_pieces.py", "__call__")
_ENCODER, _NETWORK = ("encoder.py", "__call__"), ("graph_network.py", "encode")
_DECODE, _LABELS = ("ilp.py", "decode"), ("graph_network.py", "_work_out")
_SOLVE = ("graph_program.py", "solve_graph")
_STEPS = ("prediction.py", "prediction_from_graph")
_SEARCH = ("beam_search.py", "__call__")
# Each backend has its own.
_BYTE_ENCODER = ("byte_encoder.py", "words_of")
_STEPS_OF_NETWORK = (("writer_state.py", "next_tokens"), ("byte_writer.py", "next_tokens"))
_MEMORY = (("writer_network.py", "begin"), ("byte_writer.py", "begin"))
_WRITTEN = ("writer.py", "_prediction")


def profile_ms(parser: Any, questions: Sequence[str]) -> dict[str, float]:
    """Milliseconds of CPU time per question in a pipe, by part.

    The profiler slows down what calls many functions.
    """
    profiler = cProfile.Profile(time.process_time)
    with profiler:
        for _ in parser.pipe(questions):
            pass
    inclusive: dict[tuple[str, str], float] = {}
    total = 0.0
    for (path, _, function), (_, _, own, seconds, _) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        key = (Path(path).name, function)
        inclusive[key] = max(inclusive.get(key, 0.0), seconds)
        total += own

    def at(key: tuple[str, str]) -> float:
        return inclusive.get(key, 0.0)

    parts = {"tokens and pieces": at(_TOKENIZE) + at(_PIECES), "encoder": at(_ENCODER) + at(_BYTE_ENCODER)}
    if at(_SEARCH):
        networks = sum(map(at, _STEPS_OF_NETWORK))
        parts |= {
            "keys and tables of the questions": sum(map(at, _MEMORY)),
            "search: networks": networks,
            "search: hypotheses and rules": at(_SEARCH) - networks,
            "tokens to steps": at(_WRITTEN),
        }
    else:
        parts |= {
            "special tokens, nets and edge scores": at(_NETWORK) - at(_ENCODER),
            "label scores": at(_LABELS),
            "integer program": at(_SOLVE),
            "greedy graph, checks and repair": at(_DECODE) - at(_LABELS) - at(_SOLVE),
            "graph to steps": at(_STEPS),
        }
    parts["everything else"] = total - sum(parts.values())
    return {name: 1000 * seconds / len(questions) for name, seconds in parts.items()}
