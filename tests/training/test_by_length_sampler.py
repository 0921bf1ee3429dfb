from __future__ import annotations

import random

import pytest
from allennlp.common import Params
from allennlp.data import Instance, Token
from allennlp.data.fields import TextField
from allennlp.data.samplers import BatchSampler

from qdecomp.data_structures.errors import DataError
from qdecomp.training.samplers import ByLengthSampler

LENGTHS = [5, 1, 9, 3, 5, 2, 8, 1, 5, 4]


@pytest.fixture(scope="module")
def instances() -> list[Instance]:
    return [Instance({"question": TextField([Token("word")] * length)}) for length in LENGTHS]


@pytest.fixture
def sampler() -> BatchSampler:
    return BatchSampler.from_params(Params({"type": "by_length", "batch_size": 4, "field": "question"}))


def test_batches_are_of_like_length_and_have_every_instance_once(
    instances: list[Instance], sampler: BatchSampler
) -> None:
    batches = list(sampler.get_batch_indices(instances))
    assert batches == [[1, 7, 5, 3], [9, 0, 4, 8], [6, 2]]
    assert len(batches) == sampler.get_num_batches(instances)
    assert sampler.get_batch_size() == 4


def test_no_random_number_is_drawn(instances: list[Instance], sampler: BatchSampler) -> None:
    state = random.getstate()
    first = list(sampler.get_batch_indices(instances))
    assert random.getstate() == state
    random.seed(1)
    assert list(sampler.get_batch_indices(instances)) == first


def test_no_instances_make_no_batch(sampler: BatchSampler) -> None:
    assert list(sampler.get_batch_indices([])) == []
    assert sampler.get_num_batches([]) == 0


def test_mistakes_are_named(instances: list[Instance]) -> None:
    with pytest.raises(DataError, match="batch_size is 0"):
        ByLengthSampler(0, "question")
    with pytest.raises(DataError, match="there is no field copy; the fields are question"):
        list(ByLengthSampler(4, "copy").get_batch_indices(instances))
