"""The card of a bundled parser: what it is, what it was trained on and what was measured, as its training says it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files.break_csv import iterate_break_csv
from qdecomp.parsers.bundle import BUNDLED, CARD, BundleConfig, GraphConfig, Seq2SeqConfig

MEASURED = "## How good it is"
"""The heading of the section that :func:`measured_section` writes."""
_BREAK = frozenset(("ACADEMIC", "ATIS", "CLEVR", "COMQA", "CWQ", "DROP", "GEO", "IMDB", "NLVR2", "SPIDER", "YELP"))
_SOURCES_SHOWN = 12
_ENCODER_LICENCES = {"all-MiniLM-L6-v2": "Apache License 2.0", "bert-base-uncased": "Apache License 2.0"}


def card_of(config: BundleConfig, scores: Mapping[str, Any], params: Mapping[str, Any], gold: Path, size: int) -> str:
    """The model card: what the config of the training says, and what was measured on the rows of ``gold``."""
    trainer, sampler, train_path = params["trainer"], params["data_loader"]["batch_sampler"], params["train_data_path"]
    rates = trainer["optimizer"]
    beginning, inherited = _beginning(params["model"].get("initializer"))
    sources: Counter[str] | None = None
    with suppress(DataError):  # the file may not be there any more
        sources = Counter(example.source for example in iterate_break_csv(train_path))
    is_weighted = sources is not None and not sources.keys().isdisjoint(sampler.get("weights", ()))
    weights = "Some sources were seen more often than others (`source_weights`). " if is_weighted else ""
    encoder = str(params["model"]["word_encoder"]["encoder"])
    data = "\n".join(f"- {line}" for line in _data_lines(Path(train_path), sources, inherited, encoder))
    is_ours = config.name == BUNDLED.name
    weak = [name for name, score in scores["lf_em_by_source"].items() if score["mean"] < 0.5]
    poor = f" Less than half of the plans\n  are right for questions of {', '.join(weak)}." if weak else ""
    summary, parts, rounded, search, limit = _about(config)
    return f"""\
# {config.name}

{summary} Load it with {"`qdecomp.load()`" if is_ours else f'`qdecomp.load("{config.name}")`'} in Python and \
{"`qdecomp parse`" if is_ours else f"`qdecomp parse --parser {config.name}`"} on the command line.

## What it is

- The encoder {config.encoder}, with its embeddings as published and its layers fine-tuned, and {parts}
- {size / 1e6:.1f} MB in all. {rounded} are stored as int8 with a scale for each row, everything else in half precision.
  The networks are ONNX graphs, which onnxruntime runs; nothing is unpickled.
- {search}

## Training

{beginning}{trainer["num_epochs"]} epochs in batches of {sampler["batch_size"]}; learning rates \
{rates["parameter_groups"][0][1]["lr"]} (encoder) and {rates["lr"]} (rest), seed {params["random_seed"]}.
{weights}{_validation(params.get("validation_data_path"), gold)}

## Data and licences

{data}

{MEASURED}

{measured_section(scores)}

## How sure it is

This parser is not calibrated, so its plans have no `confidence`. `qdecomp calibrate` calibrates it on rows that it was
not trained on, and writes this section.

## How fast it is

On {scores["hardware"]}: {scores["questions_a_second"]:.0f} questions a second in `pipe`, \
{scores["median_milliseconds"]:.1f} ms for one question (median).

## What it cannot do well

- Long questions: the table by steps shows how LF-EM falls with their number.{poor}
- {limit}
- It knows the kinds of questions that it was trained on. Others (several sentences, dialogue, other languages) still
  get an answer, but it is often wrong; `confidence` is low for many of them.
- It says how to split a question, not whether the question can be answered.
"""


def _about(config: BundleConfig) -> tuple[str, str, str, str, str]:
    """What a parser does, its parts after the encoder, what is int8, its search, and what it cannot say."""
    if isinstance(config, Seq2SeqConfig):
        return (
            "A CopyNet-BERT parser that reads an English question and generates its QDMR decomposition word by word:\n"
            "it generates words or copies them from the question.",
            f"an LSTM\n  decoder with attention, which generates {len(config.tokens):,} tokens and copies all others.",
            "All matrices",
            f"A beam search with {config.beam_size} hypotheses finds the decomposition. A step refers to earlier\n"
            "  steps only, and every step but the last is used.",
            "Words that are neither in the question nor common in the decompositions of its training cannot be said.",
        )
    assert isinstance(config, GraphConfig)
    return (
        "A biaffine graph parser that turns an English question into a QDMR decomposition through a dependency\n"
        "graph over its words.",
        f"four\n  feed-forward networks with biaffine scorers for edges and their {len(config.labels)} labels.\n"
        f"  {len(config.special_tokens.appended)} special tokens follow every question; they are embedded outside the "
        "encoder.",
        "The encoder's matrices",
        "Decoding finds the most probable valid graph: greedily if that graph is valid, otherwise by an\n"
        "  integer program.",
        "Words that a decomposition needs and the question lacks, beyond the special tokens, cannot be generated.",
    )


def measured_section(scores: Mapping[str, Any]) -> str:
    """What the card says of how good a parser is."""

    def rows(groups: Mapping[str, Mapping[str, Any]]) -> str:
        lines = []
        for name, score in groups.items():
            interval = f"{score['low']:.3f} to {score['high']:.3f}" if "low" in score else "too few"
            lines.append(f"| {name} | {score['questions']:,} | {score['mean']:.3f} | {interval} |")
        return "\n".join(lines)

    return f"""\
LF-EM (version {scores["metric_version"]}, default verdict) on the {scores["questions"]:,} rows of `{scores["gold"]}`, \
with 95% bootstrap intervals:

| questions | rows | LF-EM | interval |
|---|---|---|---|
{rows({"all": scores["lf_em"], **scores["lf_em_by_source"]})}

| gold steps | rows | LF-EM | interval |
|---|---|---|---|
{rows(scores["lf_em_by_steps"])}

Exact match of the text: {scores["exact_match"]["mean"]:.3f}; SARI: {scores["sari"]["mean"]:.3f}. \
Questions with a decomposition: {100 * scores["valid"]:.1f}%."""


def _beginning(initializer: Mapping[str, Any] | None) -> tuple[str, str]:
    """What a training began with, and what that means for its data; empty where it began with an encoder alone."""
    if initializer is None:
        return "", ""
    for _, value in initializer.get("regexes", ()):
        if isinstance(value, Mapping) and value.get("type") == "bundle":
            name = Path(str(value["folder"])).name
            return (
                f"Training started from the weights of the bundle `{name}`. ",
                f"The weights of `{name}`, from which training started: what the card of that parser says about data "
                "and licences holds\n  for this one, too.",
            )
    return (
        "Training started from the weights of an earlier run. ",
        "The rows of the earlier run, of which the config of this training says nothing.",
    )


def _validation(path: str | None, gold: Path) -> str:
    if path is None:
        return "The last epoch was taken."
    if Path(path).name == gold.name:
        return (
            f"The epoch was chosen by LF-EM on `{gold.name}`, and the figures below are of these rows, so they are\n"
            "those of a development set."
        )
    return f"The epoch was chosen by LF-EM on `{Path(path).name}`; the figures below are of `{gold.name}`."


def _data_lines(path: Path, sources: Counter[str] | None, inherited: str, encoder: str) -> Iterator[str]:
    if sources is None:
        yield f"Trained on `{path.name}`, which was not there when this card was written, so its rows are not counted."
    else:
        named = [f"{name} {count:,}" for name, count in sources.most_common(_SOURCES_SHOWN)]
        others = len(sources) - len(named)
        more = f" and {others:,} other sources" if others else ""
        yield f"Trained on the {sources.total():,} rows of `{path.name}`: {', '.join(named)}{more}."
    if inherited:
        yield inherited
    if sources is not None and _BREAK & sources.keys():
        yield (
            "Sources have names as in Break (Wolfson et al., 2020). If the rows are Break's: MIT licence; its\n"
            "  questions come from other data sets with their own licences."
        )
    name = Path(encoder).name
    licence = _ENCODER_LICENCES.get(name, "with the licence of its authors")
    yield f"The encoder {name}, {licence}. Its weights are in these weights, and its list of pieces is in `vocab.txt`."
    yield "The code that runs the parser: qdecomp, MIT licence."


def with_section(card: str, heading: str, text: str) -> str:
    """A card in which the section with this heading (``## …`` or ``### …``) has this text; a new one goes to the end.

    >>> with_section("# A\\n\\n## B\\n\\nold\\n\\n## C\\n\\nc\\n", "## B", "new")
    '# A\\n\\n## B\\n\\nnew\\n\\n## C\\n\\nc\\n'
    """
    level = len(heading.split()[0])
    start = re.search(rf"^{re.escape(heading)}\n", card, flags=re.MULTILINE)
    if start is None:
        return f"{card.rstrip()}\n\n{heading}\n\n{text.strip()}\n"
    end = re.search(rf"^#{{1,{level}}} ", card[start.end() :], flags=re.MULTILINE)
    rest = card[start.end() + end.start() :] if end else ""
    return f"{card[: start.end()]}\n{text.strip()}\n" + (f"\n{rest}" if rest else "")


def renew_section(bundle: Path, heading: str, text: str) -> None:
    """Write a section of the card of a bundle."""
    card = bundle / CARD
    card.write_text(with_section(card.read_text(encoding="utf-8"), heading, text), encoding="utf-8", newline="")
