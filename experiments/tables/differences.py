"""What kinds of differences the wrong answers have, as far as a program can recognise them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qdecomp.evaluation.differences import Analysis, DifferenceKind, analyse
from qdecomp.evaluation.scoring import SystemScores

from ..cell_scores import Scores
from ..cells import ALL_ROWS, systems_of
from ..paper import figures_of
from ..results import Block, Entry, Result
from ..scores import figure
from ..settings import Settings
from ..table_results import result_of

__all__ = ["build"]


def build(settings: Settings, base: Path) -> Result:
    """The shares of each system's wrong answers that have a kind of difference."""
    scores = Scores.of("differences", settings, base)
    kinds = tuple(str(kind) for kind in DifferenceKind)
    entries: list[Entry] = []
    notes = []
    for system in systems_of("differences", settings):
        wrong = [_wrong_answers(run) for run in scores.of_system(system.name, ALL_ROWS)]
        entries += [figure(system.title, kind, [_having(kind, analyses) for analyses in wrong]) for kind in kinds]
        if wrong:
            counts = " and ".join(f"{len(analyses):,}" for analyses in wrong)
            notes.append(f"{system.title}: {counts} wrong answers of {len(scores.gold.examples):,}.")
    meanings = " ".join(f"*{kind}*: {kind.meaning}" for kind in DifferenceKind)
    block = Block(
        "Share of the wrong answers", "difference", kinds, tuple(entries), figures_of("differences"), columns_below=True
    )
    notes.append(f"An answer may have several kinds. {meanings}")
    return result_of("differences", settings, block, notes=notes)


def _wrong_answers(run: SystemScores) -> list[Analysis]:
    analyses = (analyse(question) for question in run.questions)
    return [analysis for analysis in analyses if analysis.kinds]


def _having(kind: str, analyses: Sequence[Analysis]) -> list[float]:
    return [float(kind in map(str, analysis.kinds)) for analysis in analyses]
