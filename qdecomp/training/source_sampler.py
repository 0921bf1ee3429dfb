"""Batches in which each of Break's sources has the share that a config gives it."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

import random
from collections.abc import Iterable, Sequence

from allennlp.data import Instance
from allennlp.data.samplers import BatchSampler, BucketBatchSampler

from qdecomp.data_structures.errors import DataError
from qdecomp.files import source_of

__all__ = ["SourceSampler"]


@BatchSampler.register("sources")
class SourceSampler(BucketBatchSampler):
    """Buckets of similar length, as ``bucket`` makes them, from a sample that is drawn anew for every epoch.

    A source with weight 2.5 has each of its questions twice in an epoch and half of them once more; with 0.3, three in
    ten. A source that ``weights`` does not name has weight 1. So a training set whose shares differ from those of the
    questions to come can be balanced, and no time is wasted on what is abundant.
    """

    def __init__(
        self,
        batch_size: int,
        weights: dict[str, float],
        sorting_keys: list[str],
        padding_noise: float = 0.1,
        drop_last: bool = False,
    ) -> None:
        super().__init__(batch_size, sorting_keys, padding_noise, drop_last)
        if min(weights.values(), default=1.0) < 0:
            raise DataError("sampler 'sources': a weight is below 0")
        self._weights = weights

    def get_batch_indices(self, instances: Sequence[Instance]) -> Iterable[list[int]]:
        """The indices of the instances of each batch of one epoch."""
        drawn: list[int] = []
        for source, numbers in self._by_source(instances).items():
            whole, rest = divmod(self._count(source, len(numbers)), len(numbers))
            drawn.extend(numbers * whole + random.sample(numbers, rest))
        for batch in super().get_batch_indices([instances[number] for number in drawn]):
            yield [drawn[place] for place in batch]

    def get_num_batches(self, instances: Sequence[Instance]) -> int:
        """The number of batches, which is the same in every epoch."""
        total = sum(self._count(source, len(numbers)) for source, numbers in self._by_source(instances).items())
        return total // self.batch_size if self.drop_last else -(-total // self.batch_size)

    def _count(self, source: str, size: int) -> int:
        return round(self._weights.get(source, 1.0) * size)

    @staticmethod
    def _by_source(instances: Sequence[Instance]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, instance in enumerate(instances):
            metadata = instance["metadata"].metadata  # type: ignore[attr-defined]
            found.setdefault(source_of(metadata["question_id"]), []).append(number)
        return found
