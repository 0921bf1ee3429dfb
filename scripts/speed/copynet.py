"""Training throughput of CopyNet-BERT and of the CopyNet in ``allennlp-models``, step by step in one process.

Both read the same rows, with the same target tokens and the same encoder, whose input embeddings are frozen. Their
decoders have the same sizes (as wide as the encoder), the same minimum count of target tokens and as many rows per
step. Each makes its batches and steps as it is usually trained: ours with ``length_grid`` and ``fused_adam``, theirs
with ``bucket`` and ``adam``. The steps are spread evenly over the lengths of an epoch's batches, so that both see what
an epoch sees, and both take turns step by step, so that whatever else the machine does slows down both.
``allennlp-models`` is not part of the project and is installed separately; if it is missing, the message says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from shared_data import shared_data_option

from qdecomp.data_structures.errors import DataError
from qdecomp.terminal import Table, show_tables
from speed.measuring import Clock, clock, peak_memory_mb, write_results

_FOLDER = "out/allennlp-models"
_INSTALL = f"pip install --no-deps --target {_FOLDER} allennlp-models==2.10.1 ftfy wcwidth conllu word2number py-rouge"
_MIN_COUNT = {"target_tokens": 2}
_WARM_UP = 2
_CELLS = {"question.pieces___ids": 2, "copy.target": 6}


@dataclass(frozen=True, slots=True)
class Contestant:
    """A model, its instances and how it is trained."""

    name: str
    model: Any
    instances: Sequence[Any]
    sampler: Any
    optimizer: Any

    def batches(self, lengths: Sequence[int], steps: int) -> list[Any]:
        """Tensors of an epoch's batches: some to warm up with, then as many as ``steps``, from short to long."""
        from allennlp.data import Batch

        epoch = self.sampler.get_batch_indices(self.instances)
        by_length = sorted(epoch, key=lambda rows: sum(lengths[row] for row in rows))
        spread = [by_length[int((step + 0.5) * len(by_length) / steps)] for step in range(steps)]
        drawn = spread[:_WARM_UP] + spread
        return [Batch([self.instances[row] for row in rows]).as_tensor_dict() for rows in drawn]


@dataclass(frozen=True, slots=True)
class Throughput:
    """What a contestant did in all of its steps; ``target_steps`` is the mean length of its padded targets."""

    name: str
    steps: int
    rows: int
    target_steps: float
    wall_seconds: float
    cpu_seconds: float
    vocabulary: int


def _ours(path: Path, encoder: str, embedding_dim: int, batch_size: int) -> Contestant:
    from allennlp.common import Lazy, Params
    from allennlp.data import Vocabulary

    from qdecomp.training.copy_decoder import CopyDecoder
    from qdecomp.training.copynet import CopyNetBert
    from qdecomp.training.dataset_readers import BreakSeq2SeqReader
    from qdecomp.training.indexer import WordPieceIndexer
    from qdecomp.training.samplers import LengthGridSampler
    from qdecomp.training.word_encoder import WordEncoder

    indexers = {"pieces": WordPieceIndexer(encoder)}
    reader = BreakSeq2SeqReader(token_indexers=indexers, special_tokens=None, copy_inflections=True)
    instances = list(reader.read(path))
    vocab = Vocabulary.from_instances(instances, min_count=_MIN_COUNT)
    words = WordEncoder(vocab, encoder, special_tokens=None, freeze_embeddings=True)
    sizes = {"hidden_dim": words.get_output_dim(), "embedding_dim": embedding_dim}
    model = CopyNetBert(vocab, words, Lazy(CopyDecoder, params=Params(sizes)))
    sampler = LengthGridSampler(batch_size, {}, _CELLS)
    return _contestant("qdecomp", model, instances, reader, sampler, "fused_adam")


def _theirs(ours: Contestant, encoder: str, embedding_dim: int, batch_size: int) -> Contestant:
    from allennlp.data import Vocabulary
    from allennlp.data.samplers import BucketBatchSampler
    from allennlp.data.token_indexers import PretrainedTransformerMismatchedIndexer
    from allennlp.data.tokenizers import WhitespaceTokenizer
    from allennlp.modules.attention import BilinearAttention
    from allennlp.modules.seq2seq_encoders import PassThroughEncoder
    from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
    from allennlp.modules.token_embedders import PretrainedTransformerMismatchedEmbedder
    from allennlp_models.generation import CopyNetDatasetReader, CopyNetSeq2Seq

    from qdecomp.training.pretrained import encoder_path

    folder = encoder_path(encoder)
    reader = CopyNetDatasetReader(
        target_namespace="target_tokens",
        source_tokenizer=WhitespaceTokenizer(),
        target_tokenizer=WhitespaceTokenizer(),
        source_token_indexers={"tokens": PretrainedTransformerMismatchedIndexer(folder)},
    )
    rows = [instance["copy"] for instance in ours.instances]
    instances = [reader.text_to_instance(" ".join(row.source), " ".join(row.target)) for row in rows]
    for instance in instances:
        reader.apply_token_indexers(instance)
    vocab = Vocabulary.from_instances(instances, min_count=_MIN_COUNT)
    words = PretrainedTransformerMismatchedEmbedder(folder)
    words._matched_embedder.transformer_model.embeddings.requires_grad_(False)
    embedder = BasicTextFieldEmbedder({"tokens": words})
    size = embedder.get_output_dim()
    attention = BilinearAttention(size, size)
    model = CopyNetSeq2Seq(vocab, embedder, PassThroughEncoder(size), attention, target_embedding_dim=embedding_dim)
    sampler = BucketBatchSampler(batch_size, sorting_keys=["source_tokens"])
    return _contestant("allennlp-models", model, instances, reader, sampler, "adam")


def _contestant(
    name: str, model: Any, instances: Sequence[Any], reader: Any, sampler: Any, optimizer: str
) -> Contestant:
    from allennlp.training.optimizers import Optimizer

    for instance in instances:
        reader.apply_token_indexers(instance)
        instance.index_fields(model.vocab)
    parameters = [named for named in model.named_parameters() if named[1].requires_grad]
    return Contestant(name, model.train(), instances, sampler, Optimizer.by_name(optimizer)(parameters, lr=1e-4))


def _step(contestant: Contestant, batch: Any) -> Clock:
    """One training step."""
    import torch

    with clock() as measured:
        contestant.optimizer.zero_grad()
        contestant.model(**batch)["loss"].backward()
        torch.nn.utils.clip_grad_norm_(contestant.model.parameters(), 1.0)
        contestant.optimizer.step()
    return measured


def _race(contestants: Sequence[Contestant], lengths: Sequence[int], steps: int) -> list[Throughput]:
    """Train all for some steps, taking turns; the first steps of each do not count."""
    batches = [each.batches(lengths, steps) for each in contestants]
    clocks = [
        [_step(*turn) for turn in zip(contestants, together, strict=True)] for together in zip(*batches, strict=True)
    ]
    return [
        Throughput(
            name=each.name,
            steps=steps,
            rows=sum(len(batch["metadata"]) for batch in own[_WARM_UP:]),
            target_steps=sum(_target_steps(batch) for batch in own[_WARM_UP:]) / steps,
            wall_seconds=sum(turn[number].wall for turn in clocks[_WARM_UP:]),
            cpu_seconds=sum(turn[number].cpu for turn in clocks[_WARM_UP:]),
            vocabulary=each.model.vocab.get_vocab_size("target_tokens"),
        )
        for number, (each, own) in enumerate(zip(contestants, batches, strict=True))
    ]


def _target_steps(batch: Any) -> int:
    targets = batch["copy"]["target_ids"] if "copy" in batch else batch["target_tokens"]["tokens"]["tokens"][:, 1:]
    return int(targets.shape[1])


def _table(results: Sequence[Throughput], title: str) -> Table:
    theirs = results[-1]
    rows = tuple(
        (
            each.name,
            f"{each.vocabulary:,}",
            f"{each.target_steps:.1f}",
            f"{each.rows / each.wall_seconds:.1f}",
            f"{each.rows / each.cpu_seconds:.1f}",
            f"{each.rows / each.wall_seconds / (theirs.rows / theirs.wall_seconds):.2f}",
            f"{each.rows / each.cpu_seconds / (theirs.rows / theirs.cpu_seconds):.2f}",
        )
        for each in results
    )
    columns = ("CopyNet of", "target tokens", "decoder steps", "rows/wall s", "rows/CPU s", "wall ratio", "CPU ratio")
    return Table(title, columns, rows)


@click.command("copynet")
@shared_data_option("--data", "break", "train.csv", meaning="Break's CSV.")
@click.option("--encoder", default="all-MiniLM-L6-v2", show_default=True, help="The encoder of both.")
@click.option("--batch-size", type=click.IntRange(min=1), default=32, show_default=True)
@click.option("--embedding-dim", type=click.IntRange(min=1), default=128, show_default=True, help="Of target tokens.")
@click.option("--steps", type=click.IntRange(min=_WARM_UP), default=40, show_default=True, help="Steps of each.")
@click.option("--threads", type=click.IntRange(min=1), default=2, show_default=True, help="Threads of torch.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
def command(
    data: Path, encoder: str, batch_size: int, embedding_dim: int, steps: int, threads: int, json_path: Path | None
) -> None:
    """Train both for some steps, taking turns, and compare rows per second."""
    if find_spec("allennlp_models") is None:
        raise DataError(f"allennlp-models is not installed; run {_INSTALL}, and set PYTHONPATH={_FOLDER}")
    import torch
    from allennlp.common import Params
    from allennlp.common.util import prepare_environment

    import qdecomp.training.plugin  # noqa: F401

    prepare_environment(Params({}))
    torch.set_num_threads(threads)
    ours = _ours(data, encoder, embedding_dim, batch_size)
    lengths = [len(instance["copy"].source) + len(instance["copy"].target) for instance in ours.instances]
    results = _race([ours, _theirs(ours, encoder, embedding_dim, batch_size)], lengths, steps)
    title = f"Training steps of {batch_size} rows with {encoder}, {threads} thread(s), {steps} steps each"
    show_tables([_table(results, title)])
    if json_path is not None:
        write_results(json_path, {"copynet": [asdict(each) for each in results], "memory_mb": peak_memory_mb()})
