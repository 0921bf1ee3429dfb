"""Batches for validation: with little padding, and the same every time."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Iterable, Sequence

from allennlp.data import Instance
from allennlp.data.samplers import BatchSampler

from qdecomp.data_structures.errors import DataError

__all__ = ["ByLengthSampler"]


@BatchSampler.register("by_length")
class ByLengthSampler(BatchSampler):
    """Sorts instances by the length of ``field``, shortest first, and cuts that sequence into batches.

    No random number is drawn. A resumed training run does not repeat earlier validations; if numbers were drawn for
    them, as ``bucket`` does even without noise, its batches would differ from those of an uninterrupted run.
    """

    def __init__(self, batch_size: int, field: str) -> None:
        if batch_size < 1:
            raise DataError(f"sampler 'by_length': batch_size is {batch_size}; give 1 or more")
        self.batch_size = batch_size
        self._field = field

    def get_batch_indices(self, instances: Sequence[Instance]) -> Iterable[list[int]]:
        """The indices of the instances of each batch."""
        order = sorted(range(len(instances)), key=lambda number: self._length(instances[number]))
        return (order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size))

    def get_num_batches(self, instances: Sequence[Instance]) -> int:
        """The number of batches."""
        return -(-len(instances) // self.batch_size)

    def get_batch_size(self) -> int:
        """The size of all batches except the last."""
        return self.batch_size

    def _length(self, instance: Instance) -> int:
        if self._field not in instance.fields:
            raise DataError(
                f"sampler 'by_length': there is no field {self._field}; the fields are {', '.join(instance)}"
            )
        return len(instance.fields[self._field])
