"""Batch samplers: for validation the same batches every time; for training, shares of sources and little padding."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

from allennlp.data import Instance
from allennlp.data.samplers import BatchSampler, BucketBatchSampler

from qdecomp.data_structures.errors import DataError
from qdecomp.files.break_csv import source_of


@BatchSampler.register("by_length")
class ByLengthSampler(BucketBatchSampler):
    """Sorts instances by the length of ``field``, shortest first, and cuts that sequence into batches.

    It draws no random number, as ``bucket`` does even without noise: a resumed training does not repeat validations.
    """

    def __init__(self, batch_size: int, field: str) -> None:
        if batch_size < 1:
            raise DataError(f"sampler 'by_length': batch_size is {batch_size}; give 1 or more")
        super().__init__(batch_size, shuffle=False)
        self._field = field

    def _argsort_by_padding(self, instances: Iterable[Instance]) -> tuple[list[int], list[list[int]]]:
        lengths = [self._length(instance) for instance in instances]
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        return order, [[lengths[number]] for number in order]

    def _length(self, instance: Instance) -> int:
        if self._field not in instance.fields:
            raise DataError(
                f"sampler 'by_length': there is no field {self._field}; the fields are {', '.join(instance)}"
            )
        return len(instance.fields[self._field])


@BatchSampler.register("sources")
class SourceSampler(BucketBatchSampler):
    """Buckets of similar length, as ``bucket`` makes them, from a sample that is drawn anew for every epoch.

    A source with weight 2.5 has each of its questions twice in an epoch and half of them once more; with 0.3, three in
    ten. A source that ``weights`` does not name has weight 1.
    """

    def __init__(
        self, batch_size: int, weights: dict[str, float], sorting_keys: list[str], padding_noise: float = 0.1
    ) -> None:
        super().__init__(batch_size, sorting_keys, padding_noise)
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
        return -(-total // self.batch_size)

    def _count(self, source: str, size: int) -> int:
        return round(self._weights.get(source, 1.0) * size)

    @staticmethod
    def _by_source(instances: Sequence[Instance]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, instance in enumerate(instances):
            metadata = instance["metadata"].metadata  # type: ignore[attr-defined]
            found[source_of(metadata["question_id"])].append(number)
        return found


@BatchSampler.register("length_cells")  # the name in older configs and archives
@BatchSampler.register("length_grid")
class LengthGridSampler(SourceSampler):
    """Sorts instances into cells of similar lengths, randomly inside a cell, and cuts that sequence into batches.

    ``cells`` has the widths of the cells, the most important length first, such as ``{"question.pieces___ids": 2,
    "copy.target": 6}``. A length is a field's name and one of its padding keys. ``weights`` are those of ``sources``.
    """

    def __init__(self, batch_size: int, weights: dict[str, float], cells: dict[str, int]) -> None:
        super().__init__(batch_size, weights, sorting_keys=list(cells))
        if min(cells.values(), default=0) < 1:
            raise DataError("sampler 'length_grid': cells needs a width of at least 1 for each length")
        self._cells = [(*name.partition(".")[::2], width) for name, width in cells.items()]

    def _argsort_by_padding(self, instances: Iterable[Instance]) -> tuple[list[int], list[list[int]]]:
        lengths = [self._lengths(instance) for instance in instances]
        order = list(range(len(lengths)))
        random.shuffle(order)
        order.sort(key=lambda number: self._place(lengths[number]))
        return order, [lengths[number] for number in order]

    def _lengths(self, instance: Instance) -> list[int]:
        try:
            return [instance[field].get_padding_lengths()[key] for field, key, _ in self._cells]
        except KeyError as error:
            known = (f"{name}.{key}" for name, field in instance.items() for key in field.get_padding_lengths())
            raise DataError(f"sampler 'length_grid': there is no {error}; the lengths are {', '.join(known)}") from None

    def _place(self, lengths: list[int]) -> tuple[int, ...]:
        """The cell; every other row of cells is traversed backwards, so that neighbours are similar."""
        place: list[int] = []
        for length, (_, _, width) in zip(lengths, self._cells, strict=True):
            number = length // width
            place.append(-number if sum(place) % 2 else number)
        return tuple(place)
