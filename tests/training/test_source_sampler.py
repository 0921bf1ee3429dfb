from __future__ import annotations

import random
from collections import Counter

import pytest
from allennlp.data import Instance, Token
from allennlp.data.fields import MetadataField, TextField

from qdecomp.data_structures.errors import DataError
from qdecomp.training.samplers import SourceSampler


def _instances() -> list[Instance]:
    ids = [f"ATIS_{n}" for n in range(10)] + [f"GEO_{n}" for n in range(4)] + [f"DROP_{n}" for n in range(5)]
    return [
        Instance(
            {
                "question": TextField([Token("word")] * (number + 1)),
                "metadata": MetadataField({"question_id": question_id}),
            }
        )
        for number, question_id in enumerate(ids)
    ]


def test_every_source_has_its_share() -> None:
    instances = _instances()
    sampler = SourceSampler(batch_size=4, weights={"ATIS": 0.3, "GEO": 2.5}, sorting_keys=["question"])
    batches = list(sampler.get_batch_indices(instances))
    counts = Counter(number for batch in batches for number in batch)
    assert sum(counts[number] for number in range(10)) == 3
    assert sorted(counts[number] for number in range(10, 14)) == [2, 2, 3, 3]
    assert [counts[number] for number in range(14, 19)] == [1] * 5
    assert len(batches) == sampler.get_num_batches(instances) == 5


def test_epochs_differ_and_seeds_repeat() -> None:
    instances = _instances()
    sampler = SourceSampler(batch_size=4, weights={"ATIS": 0.3}, sorting_keys=["question"])
    random.seed(1)
    first, second = (list(sampler.get_batch_indices(instances)) for _ in range(2))
    random.seed(1)
    assert list(sampler.get_batch_indices(instances)) == first
    assert {number for batch in first for number in batch} != {number for batch in second for number in batch}


def test_batches_are_of_like_length() -> None:
    sampler = SourceSampler(batch_size=4, weights={}, sorting_keys=["question"], padding_noise=0.0)
    for batch in sampler.get_batch_indices(_instances()):
        assert max(batch) - min(batch) < 4


def test_a_weight_below_zero_is_refused() -> None:
    with pytest.raises(DataError, match="below 0"):
        SourceSampler(batch_size=4, weights={"GEO": -1.0}, sorting_keys=["question"])
