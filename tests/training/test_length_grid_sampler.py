from __future__ import annotations

import random
from collections import Counter

import pytest
from allennlp.data import Instance, Vocabulary
from allennlp.data.fields import MetadataField

from qdecomp.data_structures.errors import DataError
from qdecomp.training.fields import CopyField
from qdecomp.training.samplers import LengthGridSampler

CELLS = {"copy.source": 2, "copy.target": 3}


@pytest.fixture(scope="module")
def instances() -> list[Instance]:
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


def lengths(instances: list[Instance], batch: list[int], key: str) -> list[int]:
    return [instances[number]["copy"].get_padding_lengths()[key] for number in batch]


def test_an_epoch_has_every_instance_once(instances: list[Instance]) -> None:
    sampler = LengthGridSampler(32, {}, CELLS)
    batches = list(sampler.get_batch_indices(instances))
    assert sorted(number for batch in batches for number in batch) == list(range(600))
    assert len(batches) == sampler.get_num_batches(instances) == 19


def test_there_is_little_padding_in_both_lengths(instances: list[Instance]) -> None:
    def padding(sampler: LengthGridSampler, key: str) -> float:
        batches = [lengths(instances, batch, key) for batch in sampler.get_batch_indices(instances)]
        return sum(len(batch) * max(batch) for batch in batches) / sum(map(sum, batches))

    both, first = LengthGridSampler(10, {}, CELLS), LengthGridSampler(10, {}, {"copy.source": 2})
    assert padding(both, "source") < 1.25
    assert padding(both, "target") < 1.25
    assert padding(first, "source") < 1.25
    assert padding(first, "target") > 1.6


def test_another_epoch_has_other_batches(instances: list[Instance]) -> None:
    sampler = LengthGridSampler(32, {}, CELLS)
    first, second = ({frozenset(batch) for batch in sampler.get_batch_indices(instances)} for _ in range(2))
    assert len(first & second) < 3


def test_sources_have_their_weights(instances: list[Instance]) -> None:
    sampler = LengthGridSampler(32, {"DROP": 0.5, "ATIS": 2.0}, CELLS)
    drawn = [number for batch in sampler.get_batch_indices(instances) for number in batch]
    sources = [instance["metadata"].metadata["question_id"][:4] for instance in instances]
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
def test_it_says_which_lengths_there_are(instances: list[Instance], cells: dict[str, int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(LengthGridSampler(32, {}, cells).get_batch_indices(instances))


@pytest.mark.parametrize("cells", [{}, {"copy.source": 0}])
def test_a_cell_has_a_width(cells: dict[str, int]) -> None:
    with pytest.raises(DataError, match="width"):
        LengthGridSampler(32, {}, cells)
