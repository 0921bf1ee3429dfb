"""What decoding costs, greedily and to the most probable valid graph: on gold graphs with noise, or a parser's graphs.

Without a parser, a gold graph becomes probabilities: its edges and labels get scores, noise is added, and some edges
get doubts, other ends that are scored much higher than all other pairs.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from shared_data import shared_data_option

from qdecomp.data_structures.conversion.chain import convert, logical_form_from_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.decoding import Decoded, make_decoder
from qdecomp.decoding.scores import LabelProbabilities
from qdecomp.files import read_break_csv
from qdecomp.parsers.bundle import BUNDLED, GraphConfig, read_config
from qdecomp.parsers.graph import GraphParser
from qdecomp.terminal import Table, progress, show_tables
from speed.measuring import clock, write_results

_EDGE, _DOUBT, _NO_EDGE = 5.0, -4.0, -9.0
_LABEL, _DOUBTED_LABEL, _LABEL_NOISE = 9.0, 6.0, 1.5
_DOUBTS_PER_EDGE = 2


class Softener:
    """Makes probabilities from gold graphs."""

    def __init__(self, graphs: Sequence[DependencyGraph], noise: float, seed: int) -> None:
        counts = Counter(label for graph in graphs for label in graph.labels().values())
        self.labels = tuple(sorted(counts))
        self._frequent = np.log([counts[label] for label in self.labels])
        self._noise = noise
        self._rng = np.random.default_rng(seed)

    def probabilities(self, graph: DependencyGraph) -> tuple[np.ndarray, np.ndarray]:
        """Edge probabilities [n, n] and label probabilities [n, n, labels]."""
        size, gold = len(graph.tokens), graph.labels()
        spread = 2 * self._noise
        edges = self._rng.normal(_NO_EDGE, 0.5 + 0.75 * spread, (size, size))
        labels = self._frequent + self._rng.normal(0, _LABEL_NOISE, (size, size, len(self.labels)))
        for pair, label in gold.items():
            index = self.labels.index(label)
            edges[pair] = self._rng.normal(_EDGE, spread)
            labels[(*pair, index)] += self._rng.normal(_LABEL, spread)
            for _ in range(_DOUBTS_PER_EDGE):
                other = (pair[0], self._place(size)) if self._rng.random() < 0.5 else (self._place(size), pair[1])
                if other not in gold:
                    edges[other] = self._rng.normal(_DOUBT, spread)
                    labels[(*other, index)] += self._rng.normal(_DOUBTED_LABEL, spread)
        odds = np.exp(labels - labels.max(axis=-1, keepdims=True))
        return 1 / (1 + np.exp(-edges)), odds / odds.sum(axis=-1, keepdims=True)

    def _place(self, size: int) -> int:
        return int(self._rng.integers(size))


class Problem(NamedTuple):
    """What a decoder is given, and the graph that it should find."""

    tokens: Sequence[str]
    edges: np.ndarray
    labels: LabelProbabilities
    names: Sequence[str]
    gold: DependencyGraph


def softened(graphs: Sequence[DependencyGraph], noise: float, seed: int) -> Iterator[Problem]:
    """Gold graphs as probabilities with noise."""
    softener = Softener(graphs, noise, seed)
    for graph in graphs:
        yield Problem(graph.tokens, *softener.probabilities(graph), softener.labels, graph)


def parsed(graphs: Sequence[DependencyGraph], parser: GraphParser) -> Iterator[Problem]:
    """What a parser says about the words of gold graphs."""
    for graph in graphs:
        yield Problem(*parser.scored(graph.question_tokens), parser.labels, graph)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One source of probabilities; times are CPU milliseconds per question."""

    source: str
    questions: int
    greedy_invalid: int
    ilp_invalid: int
    not_proven: int
    repaired: int
    greedy_mean_ms: float
    valid_mean_ms: float
    mended_mean_ms: float
    mended_median_ms: float
    mended_95_ms: float
    mended_worst_ms: float
    greedy_as_gold: int
    ilp_as_gold: int


def measure(source: str, problems: Iterable[Problem], count: int, time_limit: float) -> Outcome:
    """Decode every graph greedily and with the program."""
    greedy, ilp = make_decoder("greedy"), make_decoder("ilp", time_limit=time_limit)
    _warm_up()
    greedy_times, pairs, times, golds = [], [], [], []
    for *arguments, gold in progress(problems, source, count):
        with clock() as greedy_time:
            first = greedy.decode(*arguments)
        with clock() as ilp_time:
            second = ilp.decode(*arguments)
        golds.append(gold)
        greedy_times.append(1000 * greedy_time.cpu)
        times.append(1000 * ilp_time.cpu)
        pairs.append((first, second))
    mended = [time for time, (_, decoded) in zip(times, pairs, strict=True) if decoded.broken]
    others = [time for time, (_, decoded) in zip(times, pairs, strict=True) if not decoded.broken]
    if not mended or not others:
        raise DataError(f"{source}: all or none of the greedy graphs are valid; give other noise or more rows")
    return Outcome(
        source=source,
        questions=len(pairs),
        greedy_invalid=len(mended),
        ilp_invalid=sum(not _says_something(decoded) for _, decoded in pairs),
        not_proven=sum(not decoded.optimal for _, decoded in pairs),
        repaired=sum(decoded.method == "repair" for _, decoded in pairs),
        greedy_mean_ms=statistics.mean(greedy_times),
        valid_mean_ms=statistics.mean(others),
        mended_mean_ms=statistics.mean(mended),
        mended_median_ms=statistics.median(mended),
        mended_95_ms=float(np.percentile(mended, 95)),
        mended_worst_ms=max(mended),
        greedy_as_gold=sum(first.graph == gold for gold, (first, _) in zip(golds, pairs, strict=True)),
        ilp_as_gold=sum(second.graph == gold for gold, (_, second) in zip(golds, pairs, strict=True)),
    )


def _warm_up() -> None:
    """Load the solver."""
    make_decoder("ilp").decode(("red", "cubes"), np.zeros((2, 2)), np.ones((2, 2, 1)), ("filter-sub",))


def _says_something(decoded: Decoded) -> bool:
    try:
        logical_form_from_graph(decoded.graph)
    except QDecompError:
        return False
    return True


def read_graphs(path: Path, limit: int | None) -> list[DependencyGraph]:
    """The gold graphs of Break's rows, without those that have none."""
    graphs = []
    for example in read_break_csv(path)[:limit]:
        try:
            graphs.append(convert(example.question, example.decomposition or "").graph)
        except QDecompError:
            continue
    if not graphs:
        raise DataError(f"{path}: there is no row with a graph")
    return graphs


def _table(outcomes: Sequence[Outcome]) -> Table:
    columns = (
        *("probabilities", "questions", "not valid: greedy", "ILP", "not proven", "repaired", "as gold: greedy", "ILP"),
        *("ms: greedy", "ILP, if valid", "ILP, if not", "median", "95%", "worst"),
    )
    rows = tuple(
        (
            each.source,
            f"{each.questions:,}",
            *map(str, (each.greedy_invalid, each.ilp_invalid, each.not_proven, each.repaired)),
            *map(str, (each.greedy_as_gold, each.ilp_as_gold)),
            *(f"{time:.2f}" for time in (each.greedy_mean_ms, each.valid_mean_ms, each.mended_mean_ms)),
            *(f"{time:.1f}" for time in (each.mended_median_ms, each.mended_95_ms, each.mended_worst_ms)),
        )
        for each in outcomes
    )
    note = "Times are mean CPU milliseconds per question; the last three are for those whose greedy graph is not valid."
    return Table("Decoding on one core, after the solver is loaded", columns, rows, note=note)


@click.command("decoding")
@shared_data_option("--gold", "break", "dev.csv", meaning="A Break CSV with decompositions.")
@click.option("--rows", type=click.IntRange(min=1), help="Only the first rows.")
@click.option("--noise", multiple=True, type=float, default=(0.8, 1.0, 1.3), show_default=True, help="May be repeated.")
@click.option("--parser", help="Also decode what this parser says: minilm_break, or the folder of another one.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the noise.")
@click.option("--time-limit", type=float, default=1.0, show_default=True, help="Seconds for one program.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
def command(
    gold: Path,
    rows: int | None,
    noise: tuple[float, ...],
    parser: str | None,
    seed: int,
    time_limit: float,
    json_path: Path | None,
) -> None:
    """Measure greedy and ILP decoding on gold graphs with noise, and on what a parser says."""
    graphs = read_graphs(gold, rows)
    outcomes = [
        measure(f"noise {amount:g}", softened(graphs, amount, seed), len(graphs), time_limit) for amount in noise
    ]
    if parser is not None:
        folder = BUNDLED if parser == BUNDLED.name else Path(parser)
        config = read_config(folder)
        if not isinstance(config, GraphConfig):
            raise DataError(f"{folder}: not a graph parser")
        bundled = GraphParser(folder, config, make_decoder("greedy"))
        outcomes.append(measure(parser, parsed(graphs, bundled), len(graphs), time_limit))
    show_tables([_table(outcomes)])
    if json_path is not None:
        write_results(json_path, {"seed": seed, "time_limit": time_limit, "decoding": [asdict(o) for o in outcomes]})
