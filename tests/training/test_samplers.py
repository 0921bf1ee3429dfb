from __future__ import annotations

import random
from collections import Counter

import pytest
from allennlp.common import Params
from allennlp.data import Instance, Token, Vocabulary
from allennlp.data.fields import MetadataField, TextField
from allennlp.data.samplers import BatchSampler

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


CELLS = {"copy.source": 2, "copy.target": 3}


@pytest.fixture(scope="module")
def questions() -> list[Instance]:
    random.seed(5)
    made = []
    for number in range(600):
        words, tokens = ["a"] * random.randint(1, 12), ["b"] * random.randint(1, 30)
        source = random.choice(["ATIS", "DROP"])
        metadata = MetadataField({"question_id": f"{source}_dev_{number}"})
        made.append(Instance({"copy": CopyField(words, tokens), "metadata": metadata}))
    vocab = Vocabulary.from_instances(made)
    for instance in made:
        instance.index_fields(vocab)
    return made


def lengths(questions: list[Instance], batch: list[int], key: str) -> list[int]:
    return [questions[number]["copy"].get_padding_lengths()[key] for number in batch]


def test_an_epoch_has_every_instance_once(questions: list[Instance]) -> None:
    sampler = LengthGridSampler(32, {}, CELLS)
    batches = list(sampler.get_batch_indices(questions))
    assert sorted(number for batch in batches for number in batch) == list(range(600))
    assert len(batches) == sampler.get_num_batches(questions) == 19


def test_there_is_little_padding_in_both_lengths(questions: list[Instance]) -> None:
    def padding(sampler: LengthGridSampler, key: str) -> float:
        batches = [lengths(questions, batch, key) for batch in sampler.get_batch_indices(questions)]
        return sum(len(batch) * max(batch) for batch in batches) / sum(map(sum, batches))

    both, first = LengthGridSampler(10, {}, CELLS), LengthGridSampler(10, {}, {"copy.source": 2})
    assert padding(both, "source") < 1.25
    assert padding(both, "target") < 1.25
    assert padding(first, "source") < 1.25
    assert padding(first, "target") > 1.6


def test_another_epoch_has_other_batches(questions: list[Instance]) -> None:
    sampler = LengthGridSampler(32, {}, CELLS)
    first, second = ({frozenset(batch) for batch in sampler.get_batch_indices(questions)} for _ in range(2))
    assert len(first & second) < 3


def test_sources_have_their_weights(questions: list[Instance]) -> None:
    sampler = LengthGridSampler(32, {"DROP": 0.5, "ATIS": 2.0}, CELLS)
    drawn = [number for batch in sampler.get_batch_indices(questions) for number in batch]
    sources = [instance["metadata"].metadata["question_id"][:4] for instance in questions]
    counts = Counter(sources[number] for number in drawn)
    assert counts["ATIS"] == 2 * sources.count("ATIS")
    assert counts["DROP"] == round(0.5 * sources.count("DROP"))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"copy.depth": 2}, r"'depth'.*lengths are copy\.source, copy\.target"),
        ({"graph.edges": 2}, "'graph'"),
    ],
)
def test_it_says_which_lengths_there_are(questions: list[Instance], cells: dict[str, int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(LengthGridSampler(32, {}, cells).get_batch_indices(questions))


@pytest.mark.parametrize("cells", [{}, {"copy.source": 0}])
def test_a_cell_has_a_width(cells: dict[str, int]) -> None:
    with pytest.raises(DataError, match="width"):
        LengthGridSampler(32, {}, cells)
