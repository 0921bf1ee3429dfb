"""Train the ranker of a bundled seq2seq parser, see qdecomp.parsers.network.

    python scripts/train_ranker.py lists --parser out/half_0 --input half_1.csv --output lists_1.jsonl
    python scripts/train_ranker.py train --parser out/bundle --lists lists_0.jsonl --lists lists_1.jsonl \\
        --held-out held_out.jsonl --gold dev.csv --output out/ranked

A list has the plans that a parser found for a question, and which of them are right. It must come from a parser that
was not trained on the question: train a parser on each half of the rows (`make_splits.py halves`), and let each parse
the other half.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN
from break_rows import read_rows
from script_errors import run_script

from qdecomp.cli.bundle import measure
from qdecomp.cli.card import MEASURED, measured_section, renew_section
from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.evaluation.metrics.lf_eq import lf_eq
from qdecomp.evaluation.predictions import read_gold
from qdecomp.files import read_json_lines, write_text_atomically
from qdecomp.parsers.bundle import Seq2SeqConfig, read_config, write_config
from qdecomp.parsers.network import Array, ranker_inputs
from qdecomp.parsers.parser import load
from qdecomp.parsers.search import Found, Hypothesis
from qdecomp.parsers.seq2seq import MOST_BEHIND, Seq2SeqParser, Source
from qdecomp.parsers.source import ParserSource
from qdecomp.terminal import progress
from qdecomp.training.bundling import add_ranker, read_weights
from qdecomp.training.onnx_export import RANKER
from qdecomp.training.ranker import PlanRanker, RankedList, batches, collate, list_loss, logits_of

_BATCH = 32
_SEED = 7
# A plan that LF-EM calls wrong and LF-Eq right is nearly as good.
_RIGHT_BY_LF_EQ = 0.5


@click.group(help=__doc__)
def main() -> None:
    """Train the ranker of a bundled seq2seq parser."""


def _parser(folder: Path, candidates: int = 0) -> Seq2SeqParser:
    answers = ParserSource(folder, candidates=candidates).open().answers
    if not isinstance(answers, Seq2SeqParser):
        raise DataError(f"{folder}: only a bundled seq2seq parser can be ranked")
    return answers


@main.command("lists")
@click.option("--parser", "folder", type=click.Path(path_type=Path), required=True, help="A bundle.")
@click.option("--input", "source", type=click.Path(path_type=Path), required=True, help="Break's CSV, not trained on.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="JSON lines.")
@click.option("--plans", type=click.IntRange(2, 20), default=5, show_default=True, help="Plans a question.")
def lists_command(folder: Path, source: Path, output: Path, plans: int) -> None:
    """Parse questions, and judge each plan of the beam by LF-EM and LF-Eq."""
    gold = {row["question_text"]: row["decomposition"] for row in read_rows(source)}
    parser = _parser(folder, plans)
    with write_text_atomically(output) as stream:
        for batch in progress(_batches(gold), "parsing", -(-len(gold) // _BATCH)):
            for asked, found in parser.candidates(batch):
                record = _judged(asked, found, gold[asked.question])
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _batches(questions: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted(questions, key=len)
    return (ordered[start : start + _BATCH] for start in range(0, len(ordered), _BATCH))


def _judged(source: Source, found: Found, gold: str) -> dict[str, Any]:
    plans = []
    for hypothesis in found.hypotheses:
        if not hypothesis.finished:
            continue
        text = source.text(hypothesis)
        is_gold = bool(lf_em(source.question, text, gold))
        plans.append(
            {
                "tokens": source.target_tokens(hypothesis),
                "logarithms": [round(each, 4) for each in hypothesis.logarithms],
                "score": round(hypothesis.score, 4),
                "lf_em": is_gold,
                "lf_eq": is_gold or _means_the_same(source.question, text, gold),
            }
        )
    return {"question": source.question, "plans": plans}


def _means_the_same(question: str, plan: str, gold: str) -> bool:
    try:
        return bool(lf_eq(question, plan, gold))
    except QDecompError:
        return False


def _read_lists(paths: Sequence[Path], folder: Path) -> list[RankedList]:
    """Lists as inputs for the ranker of the parser in a folder, whose encoder reads the questions."""
    found = (record for path in paths for _, record in read_json_lines(path))
    records = {record["question"]: record for record in found if record["plans"]}
    parser, count = _parser(folder), -(-len(records) // _BATCH)
    return [
        _ranked_list(records[source.question]["plans"], source, states)
        for batch in progress(_batches(records), "reading questions", count)
        for source, states in parser.word_states(batch)
    ]


def _ranked_list(plans: Sequence[dict[str, Any]], source: Source, states: Array) -> RankedList:
    ids = {token: number for number, token in enumerate(source.tokens)}
    plans = [plan for plan in plans if plan["score"] >= plans[0]["score"] - MOST_BEHIND]
    known, unknown = ids | dict(zip(source.words, source.ids, strict=True)), ids[DEFAULT_OOV_TOKEN]
    hypotheses = [
        Hypothesis(
            tuple(known.get(token, unknown) for token in plan["tokens"]), plan["score"], True, tuple(plan["logarithms"])
        )
        for plan in plans
    ]
    inputs = ranker_inputs(source.ids, hypotheses, len(ids), unknown, ids[STEP_SEPARATOR])
    right = [1.0 if plan["lf_em"] else _RIGHT_BY_LF_EQ * plan["lf_eq"] for plan in plans]
    return RankedList(states.astype(np.float16), inputs, np.array(right, dtype=np.float32))


@main.command("train")
@click.option("--parser", "folder", type=click.Path(path_type=Path), required=True, help="The bundle to rank plans of.")
@click.option("--lists", type=click.Path(path_type=Path), required=True, multiple=True, help="Lists to train on.")
@click.option("--held-out", type=click.Path(path_type=Path), required=True, help="Lists to choose the epoch on.")
@click.option("--gold", type=click.Path(path_type=Path), required=True, help="Break's CSV to measure on.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The folder of the bundle with ranker.")
@click.option(
    "--start", type=click.Path(path_type=Path), help="Start from the ranker of this bundle, of the same size."
)
@click.option("--epochs", type=click.IntRange(1), default=6, show_default=True)
@click.option("--size", type=click.IntRange(8), default=256, show_default=True, help="Of its states.")
@click.option("--lr", type=float, default=6e-4, show_default=True, help="The highest learning rate.")
@click.option("--share", type=float, default=0.5, show_default=True, help="Of lists that decide nothing, in an epoch.")
def train_command(
    folder: Path,
    lists: tuple[Path, ...],
    held_out: Path,
    gold: Path,
    output: Path,
    start: Path | None,
    epochs: int,
    size: int,
    lr: float,
    share: float,
) -> None:
    """Train a ranker, keep the epoch that is best on the held-out lists, and write a bundle that has it."""
    torch.manual_seed(_SEED)
    chance = random.Random(_SEED)
    # Only a seq2seq parser has lists.
    kept_out, rows = _read_lists([held_out], folder), _read_lists(lists, folder)
    config = read_config(folder)
    assert isinstance(config, Seq2SeqConfig)
    deciding, others = [each for each in rows if each.decides], [each for each in rows if not each.decides]
    click.echo(
        f"{len(rows):,} lists, {len(deciding):,} with right and wrong plans; held out: {_shares(kept_out, None)}"
    )
    model = PlanRanker(len(config.tokens), rows[0].words.shape[1], size)
    if start is not None:
        _start_from(model, start)
        click.echo(f"as it starts: held out {_shares(kept_out, logits_of(model, kept_out))}")
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, betas=(0.9, 0.98))
    updates = epochs * -(-(len(deciding) + int(share * len(others))) // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=updates + epochs, pct_start=0.08)
    best, best_weights = -1.0, model.state_dict()
    for epoch in range(1, epochs + 1):
        model.train()
        chosen = deciding + chance.sample(others, int(share * len(others)))
        total, count = 0.0, -(-len(chosen) // _BATCH)
        for batch in progress(batches(chosen, _BATCH, chance), f"epoch {epoch}", count):
            words, mask, given, right, numbers = collate(batch)
            loss = list_loss(model(words, mask, given), right, numbers)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        found = logits_of(model, kept_out)
        reached = _first_is_right(kept_out, found)
        click.echo(f"epoch {epoch}: loss {total / count:.4f}, held out {_shares(kept_out, found)}")
        if reached > best:
            best, best_weights = reached, deepcopy(model.state_dict())
            add_ranker(folder, output, model)
    if start is not None:
        # Between the two, plans are often ranked better than by either.
        model.load_state_dict(best_weights)
        _start_from(model, start, 0.5)
        found = logits_of(model, kept_out)
        click.echo(f"mean of the best and the one it started from: held out {_shares(kept_out, found)}")
        if _first_is_right(kept_out, found) > best:
            best = _first_is_right(kept_out, found)
            add_ranker(folder, output, model)
    scores = measure(load(output), read_gold(gold))
    write_config(output, replace(read_config(output), scores=scores))
    renew_section(output, MEASURED, measured_section(scores))
    click.echo(f"{output}: LF-EM {scores['lf_em']['mean']:.4f}, and {best:.4f} on the held-out lists")


def _first_is_right(lists: Sequence[RankedList], logits: Sequence[Array]) -> float:
    pairs = zip(lists, logits, strict=True)
    return float(np.mean([each.right[int(found.argmax())] == 1 for each, found in pairs]))


def _start_from(model: PlanRanker, folder: Path, share: float = 1.0) -> None:
    """Move a ranker's weights towards a bundle's, by default all the way; tokens that the bundle lacks keep theirs."""
    weights, values = read_weights(folder), model.state_dict()
    for name, tensor in values.items():
        found = weights.get(f"{RANKER}{name}")
        if found is None or found.shape[1:] != tuple(tensor.shape[1:]) or len(found) > len(tensor):
            raise DataError(f"{folder}: no ranker of this size can start from it ({name})")
        tensor[: len(found)].lerp_(torch.from_numpy(found), share)


def _shares(lists: Sequence[RankedList], logits: Sequence[Array] | None) -> str:
    first = [np.arange(len(each.right), 0, -1, dtype=np.float32) for each in lists]
    ranked = "" if logits is None else f"ranked {_first_is_right(lists, logits):.4f}, "
    best = np.mean([each.right.max() == 1 for each in lists])
    return f"{ranked}first {_first_is_right(lists, first):.4f}, any {best:.4f}"


if __name__ == "__main__":
    run_script(main)
