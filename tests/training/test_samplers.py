from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable

import pytest
from allennlp.common import Params
from allennlp.data import Instance, Token, Vocabulary
from allennlp.data.fields import MetadataField, TextField
from allennlp.data.samplers import BatchSampler
from allennlp.data.token_indexers import SingleIdTokenIndexer

from qdecomp.data_structures.errors import DataError
from qdecomp.training.fields import CopyField
from qdecomp.training.samplers import ByLengthSampler, LengthGridSampler, SourceSampler

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
    state = random.getstate()
    batches = list(sampler.get_batch_indices(instances))
    assert random.getstate() == state, "a random number was drawn"
    assert batches == [[1, 7, 5, 3], [9, 0, 4, 8], [6, 2]]
    assert len(batches) == sampler.get_num_batches(instances)
    assert sampler.get_batch_size() == 4


def test_mistakes_are_named(instances: list[Instance]) -> None:
    with pytest.raises(DataError, match="batch_size is 0"):
        ByLengthSampler(0, "question")
    with pytest.raises(DataError, match="there is no field copy; the fields are question"):
        list(ByLengthSampler(4, "copy").get_batch_indices(instances))
    with pytest.raises(DataError, match="below 0"):
        buckets({"GEO": -1.0})
    with pytest.raises(DataError, match="width"):
        LengthGridSampler(32, {}, {"copy.source": 0})


CELLS = {"copy.source": 2, "copy.target": 3}


@pytest.fixture(scope="module")
def questions() -> list[Instance]:
    """600 questions of two sources, with random lengths."""
    random.seed(5)
    made = []
    for number in range(600):
        words, tokens = ["a"] * random.randint(1, 12), ["b"] * random.randint(1, 30)
        fields = {
            "question": TextField([Token("word")] * len(words), {"words": SingleIdTokenIndexer()}),
            "copy": CopyField(words, tokens),
        }
        source = random.choice(["ATIS", "DROP"])
        made.append(Instance({**fields, "metadata": MetadataField({"question_id": f"{source}_dev_{number}"})}))
    vocab = Vocabulary.from_instances(made)
    for instance in made:
        instance.index_fields(vocab)
    return made


def buckets(weights: dict[str, float]) -> SourceSampler:
    return SourceSampler(32, weights, sorting_keys=["question"], padding_noise=0.0)


def grid(weights: dict[str, float], size: int = 32) -> LengthGridSampler:
    return LengthGridSampler(size, weights, CELLS)


def lengths(questions: list[Instance], batch: list[int], key: str) -> list[int]:
    return [questions[number]["copy"].get_padding_lengths()[key] for number in batch]


both = pytest.mark.parametrize("sampler_of", [buckets, grid])


@both
@pytest.mark.parametrize("weights", [{}, {"DROP": 0.5, "ATIS": 2.5}])
def test_every_source_has_its_share(
    questions: list[Instance], sampler_of: Callable[..., SourceSampler], weights: dict[str, float]
) -> None:
    sampler = sampler_of(weights)
    batches = list(sampler.get_batch_indices(questions))
    assert len(batches) == sampler.get_num_batches(questions)
    counts = Counter(number for batch in batches for number in batch)
    for source in ("ATIS", "DROP"):
        numbers = [n for n, each in enumerate(questions) if each["metadata"].metadata["question_id"].startswith(source)]
        weight = weights.get(source, 1.0)
        assert sum(counts[number] for number in numbers) == round(weight * len(numbers))
        assert {counts[number] for number in numbers} <= {math.floor(weight), math.ceil(weight)}


@both
def test_epochs_differ_and_seeds_repeat(questions: list[Instance], sampler_of: Callable[..., SourceSampler]) -> None:
    sampler = sampler_of({"ATIS": 0.3})
    random.seed(1)
    first, second = (list(sampler.get_batch_indices(questions)) for _ in range(2))
    random.seed(1)
    assert list(sampler.get_batch_indices(questions)) == first
    assert len({frozenset(batch) for batch in first} & {frozenset(batch) for batch in second}) < 3


def test_there_is_little_padding_in_both_lengths(questions: list[Instance]) -> None:
    def padding(sampler: LengthGridSampler, key: str) -> float:
        batches = [lengths(questions, batch, key) for batch in sampler.get_batch_indices(questions)]
        return sum(len(batch) * max(batch) for batch in batches) / sum(map(sum, batches))

    two, first = grid({}, 10), LengthGridSampler(10, {}, {"copy.source": 2})
    assert padding(two, "source") < 1.25
    assert padding(two, "target") < 1.25
    assert padding(first, "source") < 1.25
    assert padding(first, "target") > 1.6


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"copy.depth": 2}, r"'depth'.*lengths are question.*copy\.source, copy\.target"),
        ({"graph.edges": 2}, "'graph'"),
    ],
)
def test_it_says_which_lengths_there_are(questions: list[Instance], cells: dict[str, int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(LengthGridSampler(32, {}, cells).get_batch_indices(questions))
