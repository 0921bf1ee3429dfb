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
_SEARCH, _ADVANCE = ("beam_search.py", "__call__"), ("writer_state.py", "advance")
_MEMORY = ("writer_network.py", "begin")
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

    parts = {"tokens and pieces": at(_TOKENIZE) + at(_PIECES), "encoder": at(_ENCODER)}
    if at(_SEARCH):
        parts |= {
            "keys and tables of the questions": at(_MEMORY),
            "search: networks": at(_ADVANCE),
            "search: hypotheses and rules": at(_SEARCH) - at(_ADVANCE),
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
