"""The card of a bundled parser: what it is, what it was trained on and what was measured, as its training says it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files.break_csv import iterate_break_csv
from qdecomp.parsers.bundle import (
    BUNDLED,
    CARD,
    BundleConfig,
    GraphConfig,
    Seq2SeqConfig,
    read_config,
    write_config,
)

_TEMPLATE = Template(
    """\
# $name

$summary Load it with $load in Python and $parse on the command line.

## What it is

$parts
- $megabytes MB in all. $rounded are stored as int8 with a scale for each row, everything else in half precision.
  The networks are ONNX graphs, which onnxruntime runs; nothing is unpickled.
- $search

## Training

$beginning$epochs epochs in batches of $batch_size; learning rates $encoder_lr (encoder) and $lr (rest), seed $seed.
$weights$validation

## Data and licences

$data

## How good it is

$measured

## How sure it is

This parser is not calibrated, so its plans have no `confidence`. `qdecomp calibrate` calibrates it on rows that it was
not trained on, and writes this section.

## How fast it is

On $hardware: $questions_a_second questions a second in `pipe`, $median_milliseconds ms for one question (median).

## What it cannot do well

- Long questions: the table by steps shows how LF-EM falls with their number.$weak
- $limit
- It knows the kinds of questions that it was trained on. Others (several sentences, dialogue, other languages) still
  get an answer, but it is often wrong; `confidence` is low for many of them.
- It says how to split a question, not whether the question can be answered.
"""
)
_MEASURED = Template(
    """\
LF-EM (version $metric_version, default verdict) on the $questions rows of `$gold`, with 95% bootstrap intervals:

| questions | rows | LF-EM | interval |
|---|---|---|---|
$rows

| gold steps | rows | LF-EM | interval |
|---|---|---|---|
$steps

Exact match of the text: $exact_match; SARI: $sari. Questions with a decomposition: $valid%."""
)
MEASURED = "## How good it is"
"""The heading of the section that :func:`measured_section` writes."""
_BREAK = frozenset(("ACADEMIC", "ATIS", "CLEVR", "COMQA", "CWQ", "DROP", "GEO", "IMDB", "NLVR2", "SPIDER", "YELP"))
_SOURCES_SHOWN = 12
_ENCODER_LICENCES = {"all-MiniLM-L6-v2": "Apache License 2.0", "bert-base-uncased": "Apache License 2.0"}


def _about_graph_parser(config: GraphConfig) -> dict[str, str]:
    special = len(config.special_tokens.appended)
    return {
        "summary": (
            "A biaffine graph parser that turns an English question into a QDMR decomposition through a dependency\n"
            "graph over its words."
        ),
        "parts": (
            f"- The encoder {config.encoder}, with its embeddings as published and its layers fine-tuned, and four\n"
            f"  feed-forward networks with biaffine scorers for edges and their {len(config.labels)} labels.\n"
            f"  {special} special tokens follow every question; they are embedded outside the encoder."
        ),
        "rounded": "The encoder's matrices",
        "search": (
            "Decoding finds the most probable valid graph: greedily if that graph is valid, otherwise by an\n"
            "  integer program."
        ),
        "limit": (
            "Words that a decomposition needs and the question lacks, beyond the special tokens, cannot be generated."
        ),
    }


def _about_seq2seq(config: Seq2SeqConfig) -> dict[str, str]:
    return {
        "summary": (
            "A CopyNet-BERT parser that reads an English question and generates its QDMR decomposition word by word:\n"
            "it generates words or copies them from the question."
        ),
        "parts": (
            f"- The encoder {config.encoder}, with its embeddings as published and its layers fine-tuned, and an LSTM\n"
            f"  decoder with attention, which generates {len(config.tokens):,} tokens and copies all others."
        ),
        "rounded": "All matrices",
        "search": (
            f"A beam search with {config.beam_size} hypotheses finds the decomposition. A step refers to earlier\n"
            "  steps only, and every step but the last is used."
        ),
        "limit": (
            "Words that are neither in the question nor common in the decompositions of its training cannot be said."
        ),
    }


def _about(config: BundleConfig) -> dict[str, str]:
    if isinstance(config, Seq2SeqConfig):
        return _about_seq2seq(config)
    assert isinstance(config, GraphConfig)
    return _about_graph_parser(config)


def measured_section(scores: Mapping[str, Any]) -> str:
    """What the card says of how good a parser is."""

    def row(name: str, score: Mapping[str, Any]) -> str:
        interval = f"{score['low']:.3f} to {score['high']:.3f}" if "low" in score else "too few"
        return f"| {name} | {score['questions']:,} | {score['mean']:.3f} | {interval} |"

    groups = [("all", scores["lf_em"]), *scores["lf_em_by_source"].items()]
    return _MEASURED.substitute(
        rows="\n".join(row(name, score) for name, score in groups),
        steps="\n".join(row(name, score) for name, score in scores["lf_em_by_steps"].items()),
        exact_match=f"{scores['exact_match']['mean']:.3f}",
        sari=f"{scores['sari']['mean']:.3f}",
        gold=scores["gold"],
        metric_version=scores["metric_version"],
        questions=f"{scores['questions']:,}",
        valid=f"{100 * scores['valid']:.1f}",
    )


def card_of(config: BundleConfig, scores: Mapping[str, Any], training: Mapping[str, Any], size: int) -> str:
    """The model card: the template with what is known and what was measured."""
    is_ours = config.name == BUNDLED.name
    weak = [name for name, score in scores["lf_em_by_source"].items() if score["mean"] < 0.5]
    return _TEMPLATE.substitute(
        name=config.name,
        load="`qdecomp.load()`" if is_ours else f'`qdecomp.load("{config.name}")`',
        parse="`qdecomp parse`" if is_ours else f"`qdecomp parse --parser {config.name}`",
        **_about(config),
        megabytes=f"{size / 1e6:.1f}",
        measured=measured_section(scores),
        weak=f" Less than half of the plans\n  are right for questions of {', '.join(weak)}." if weak else "",
        hardware=scores["hardware"],
        questions_a_second=f"{scores['questions_a_second']:.0f}",
        median_milliseconds=f"{scores['median_milliseconds']:.1f}",
        **training,
    )


def training_of(params: Mapping[str, Any], gold: Path) -> dict[str, Any]:
    """What the config of a training says about its settings and its data; ``gold`` are the rows of the figures."""
    trainer, sampler = params["trainer"], params["data_loader"]["batch_sampler"]
    rates = trainer["optimizer"]
    beginning = _beginning(params["model"].get("initializer"))
    sentence, inherited = beginning or ("", "")
    train_path, encoder = Path(params["train_data_path"]), str(params["model"]["word_encoder"]["encoder"])
    sources = _sources(train_path)
    is_weighted = sources is not None and not sources.keys().isdisjoint(sampler.get("weights", ()))
    weights = "Some sources were seen more often than others (`source_weights`). " if is_weighted else ""
    return {
        "beginning": sentence,
        "epochs": trainer["num_epochs"],
        "batch_size": sampler["batch_size"],
        "encoder_lr": rates["parameter_groups"][0][1]["lr"],
        "lr": rates["lr"],
        "seed": params["random_seed"],
        "weights": weights,
        "validation": _validation(params.get("validation_data_path"), gold),
        "data": "\n".join(f"- {line}" for line in _data_lines(train_path, sources, inherited, encoder)),
    }


def _beginning(initializer: Mapping[str, Any] | None) -> tuple[str, str] | None:
    """What a training began with, and what that means for its data; None where it began with an encoder alone."""
    if initializer is None:
        return None
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


def _sources(path: Path) -> Counter[str] | None:
    """How many rows of each source a file has; None where it is not there any more."""
    try:
        return Counter(example.source for example in iterate_break_csv(path))
    except DataError:
        return None


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
    """Write a section of the card of a bundle, whose config has the card's checksum."""
    config = read_config(bundle)
    card = bundle / CARD
    card.write_text(with_section(card.read_text(encoding="utf-8"), heading, text), encoding="utf-8", newline="")
    write_config(bundle, config)
