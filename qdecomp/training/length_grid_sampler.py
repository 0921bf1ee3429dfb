"""Batches with little padding in several lengths at once, drawn anew for every epoch."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

import random
from collections.abc import Iterable

from allennlp.data.instance import Instance
from allennlp.data.samplers.batch_sampler import BatchSampler

from qdecomp.data_structures.errors import DataError
from qdecomp.training.source_sampler import SourceSampler

__all__ = ["LengthGridSampler"]


@BatchSampler.register("length_cells")  # the name in older configs and archives
@BatchSampler.register("length_grid")
class LengthGridSampler(SourceSampler):
    """Sorts instances into cells of similar lengths, randomly inside a cell, and cuts that sequence into batches.

    ``cells`` has the widths of the cells, the most important length first, such as ``{"question.pieces___ids": 2,
    "copy.target": 6}``: batches of questions with similar numbers of word pieces and, among those, similar numbers of
    tokens to write. A length is a field's name and one of its padding keys. ``weights`` are those of ``sources``.
    """

    def __init__(
        self, batch_size: int, weights: dict[str, float], cells: dict[str, int], drop_last: bool = False
    ) -> None:
        super().__init__(batch_size, weights, sorting_keys=list(cells), drop_last=drop_last)
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
