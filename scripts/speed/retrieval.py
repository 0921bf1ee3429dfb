"""How many of the passages that a question needs are found by one search, by all sub-questions at once, and by a plan.

The ways: ``single`` searches for the question; ``fused`` searches for every sub-question of the plan, its references
spelled out, and fuses the ranks; ``plan`` is :meth:`Plan.retrieve`; ``gold`` is the same with the sub-questions of the
file in ``hops``, as MuSiQue has them. A paired test compares each way with the single search. The development half of
a set are the questions whose id has an even SHA-256; the other half was not looked at while ``plan`` was developed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from qdecomp import Decomposition, load
from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.statistics import mcnemar, mean_interval
from qdecomp.files import read_json_lines
from qdecomp.planning import Passage, Plan
from qdecomp.terminal import Table, show_tables
from speed.measuring import json_option, write_results

Search = Callable[[str, int], list[Passage]]

_KEPT = 10
_FUSED = 60


def bm25(passages: Sequence[Passage]) -> Search:
    """BM25 with stemming; the title counts twice."""
    try:
        import bm25s
        import Stemmer
    except ImportError:
        raise DataError("BM25 needs more packages: pip install bm25s PyStemmer") from None
    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25()
    index.index(tokens([f"{each.title} {each.title} {each.text}" for each in passages]), show_progress=False)

    def search(query: str, k: int) -> list[Passage]:
        asked = tokens([query])
        if not asked.ids[0]:
            return []
        places, scores = index.retrieve(asked, k=min(k, len(passages)), show_progress=False)
        return [_found(passages[place], score) for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    return search


def dense(passages: Sequence[Passage]) -> Search:
    """Cosine of MiniLM's mean vectors; needs torch and transformers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from qdecomp.training.pretrained import encoder_path

    folder = encoder_path("all-MiniLM-L6-v2")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    @torch.inference_mode()
    def vectors(texts: list[str]) -> Any:
        # Shape: (texts, pieces, size)
        pieces = tokenizer(texts, padding=True, truncation=True, max_length=128, return_tensors="pt")
        states, mask = model(**pieces).last_hidden_state, pieces["attention_mask"].unsqueeze(-1)
        # Shape: (texts, size)
        return torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1)

    texts = [f"{each.title}. {each.text}" for each in passages]
    with click.progressbar(range(0, len(texts), 64), label="vectors of passages") as starts:
        known = torch.cat([vectors(texts[start : start + 64]) for start in starts])

    def search(query: str, k: int) -> list[Passage]:
        scores, places = (known @ vectors([query])[0]).topk(min(k, len(passages)))
        return [_found(passages[place], score) for place, score in zip(places.tolist(), scores.tolist(), strict=True)]

    return search


RETRIEVERS = {"bm25": bm25, "dense": dense}


def _found(passage: Passage, score: float) -> Passage:
    return Passage(passage.title, passage.text, float(score), passage.id)


def single(plan: Plan, search: Search) -> list[Passage]:
    """One search for the question."""
    return search(plan.question, _KEPT)


def fused(plan: Plan, search: Search) -> list[Passage]:
    """The question and all steps, searched for independently; reciprocal ranks are added up."""
    scores: dict[str | None, float] = {}
    passages: dict[str | None, Passage] = {}
    for query in (plan.question, *(step.resolved for step in plan.steps)):
        for rank, hit in enumerate(search(query, 2 * _KEPT)):
            passages[hit.id] = hit
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (_FUSED + rank)
    return sorted(passages.values(), key=lambda hit: -scores[hit.id])[:_KEPT]


def by_plan(plan: Plan, search: Search) -> list[Passage]:
    """Hop after hop."""
    return list(plan.retrieve(search, _KEPT).passages)


@dataclass(frozen=True, slots=True)
class Way:
    """What one way found: for each question, recall at several depths, and the seconds that it took."""

    recall: dict[int, list[float]]
    seconds: list[float]

    def found_all(self, depth: int) -> list[bool]:
        """Which questions have all of their passages among the first ones."""
        return [share == 1 for share in self.recall[depth]]

    def figures(self) -> dict[str, float]:
        """Recall and the share of questions with all passages."""
        recall = {f"recall@{depth}": _mean(self.recall[depth]) for depth in (2, 5, 10)}
        return recall | {f"all@{depth}": _mean(self.found_all(depth)) for depth in (5, 10)}


def _measure(way: Callable[[Plan, Search], list[Passage]], plans: Sequence[Plan], asked: Any, search: Search) -> Way:
    recall: dict[int, list[float]] = {depth: [] for depth in (2, 5, 10)}
    seconds = []
    for plan, question in zip(plans, asked, strict=True):
        start = perf_counter()
        found = [hit.id for hit in way(plan, search)]
        seconds.append(perf_counter() - start)
        for depth, shares in recall.items():
            needed = set(question["supporting"])
            shares.append(len(needed & set(found[:depth])) / len(needed))
    return Way(recall, seconds)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)


def _gold_plan(question: dict[str, Any], plan: Plan) -> Plan:
    """The plan of the sub-questions in the file: ``Adam Hammill >> member of sports team``, ``capital of #1``."""
    steps: list[str] = []
    places: dict[int, int] = {}
    for number, hop in enumerate(question["hops"], start=1):
        text = re.sub(r"#(\d+)", lambda match: f"#{places[int(match[1])]}", hop["question"])
        subject, _, relation = text.partition(" >> ")
        if relation and not subject.startswith("#"):
            steps.append(subject)
            subject = f"#{len(steps)}"
        steps.append(f"{relation} of {subject}" if relation else text.rstrip("?"))
        places[number] = len(steps)
    text = " ;".join(f"return {step}" for step in steps)
    gold = Decomposition.of_text(question["question"], text).plan()
    return Plan(gold.levels, plan.question)


def _read(path: Path, *fields: str) -> list[dict[str, Any]]:
    rows = list(read_json_lines(path))
    if not rows:
        raise DataError(f"{path}: the file is empty")
    for number, row in rows:
        if missing := [field for field in fields if field not in row]:
            raise DataError(f"{path}, line {number}: there is no field {missing[0]!r}")
    return [row for _, row in rows]


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(help=__doc__)
@click.option(
    "--questions", required=True, type=_FILE, help="JSON lines: id, question, supporting, perhaps type, hops."
)
@click.option("--passages", required=True, type=_FILE, help="JSON lines: id, title, text.")
@click.option("--retriever", "names", multiple=True, type=click.Choice(list(RETRIEVERS)), default=("bm25",))
@click.option("--parser", default=None, help="A parser; the bundled one if none is given.")
@json_option
def command(
    questions: Path, passages: Path, names: tuple[str, ...], parser: str | None, json_path: Path | None
) -> None:
    """Measure all ways with each retriever."""
    asked = _read(questions, "id", "question", "supporting")
    texts = [Passage(row["title"], row["text"], 0.0, str(row["id"])) for row in _read(passages, "id", "title", "text")]
    loaded = load(parser) if parser else load()
    start = perf_counter()
    parsed = list(loaded.pipe([row["question"] for row in asked]))
    milliseconds = 1000 * (perf_counter() - start) / len(asked)
    # Without a plan, the question is its only step.
    plans = [
        each.plan() if each else Decomposition.of_text(each.question, f"return {each.question}").plan()
        for each in parsed
    ]
    ways = {"single": (single, plans), "fused": (fused, plans), "plan": (by_plan, plans)}
    if all("hops" in row for row in asked):
        ways["gold"] = (by_plan, [_gold_plan(row, plan) for row, plan in zip(asked, plans, strict=True)])
    written: dict[str, Any] = {"questions": len(asked), "passages": len(texts), "parse_ms": round(milliseconds, 1)}
    for name in names:
        search = RETRIEVERS[name](texts)
        found = {way: _measure(function, given, asked, search) for way, (function, given) in ways.items()}
        written[name] = {way: _figures(each, found["single"], asked, plans) for way, each in found.items()}
        show_tables([_table(name, written[name])])
    write_results(json_path, written)


def _figures(way: Way, base: Way, asked: Sequence[dict[str, Any]], plans: Sequence[Plan]) -> dict[str, Any]:
    found, before = way.found_all(5), base.found_all(5)
    helped = sum(now and not then for now, then in zip(found, before, strict=True))
    hurt = sum(then and not now for now, then in zip(found, before, strict=True))

    def by(kinds: Iterable[str]) -> dict[str, list[float]]:
        groups: dict[str, list[bool]] = {}
        for kind, each in zip(kinds, found, strict=True):
            groups.setdefault(kind, []).append(each)
        return {kind: [len(each), _mean(each)] for kind, each in sorted(groups.items())}

    return {
        **way.figures(),
        "all@5 interval": mean_interval(found),
        "helped": helped,
        "hurt": hurt,
        "p": round(mcnemar(helped, hurt), 5),
        "ms": round(1000 * sum(way.seconds) / len(way.seconds), 1),
        "all@5 by type": by(str(row.get("type", "all")) for row in asked),
        "all@5 by confidence": by(_confidence(plan) for plan in plans),
        "all@5 by half": by(_half(row) for row in asked),
    }


def _confidence(plan: Plan) -> str:
    sure = plan.confidence
    return "none" if sure is None else "below 0.2" if sure < 0.2 else "0.2 to 0.5" if sure < 0.5 else "from 0.5"


def _half(row: dict[str, Any]) -> str:
    is_even = hashlib.sha256(str(row["id"]).encode()).digest()[-1] % 2 == 0
    return "development" if is_even else "held out"


def _table(name: str, found: dict[str, dict[str, Any]]) -> Table:
    columns = ("recall@2", "recall@5", "recall@10", "all@5", "all@10", "helped", "hurt", "p", "ms")
    rows = tuple((way, *(str(figures[column]) for column in columns)) for way, figures in found.items())
    return Table(name, ("way", *columns), rows)
