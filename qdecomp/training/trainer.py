"""What the trainer uses: checkpoints that a kill cannot break, and Adam in one pass over each parameter."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

import logging
import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy
import torch
from allennlp.training.checkpointer import Checkpointer
from allennlp.training.optimizers import Optimizer, make_parameter_groups
from allennlp.training.trainer import Trainer, TrainerCheckpoint

logger = logging.getLogger(__name__)

STARTS_ANEW = "there is no complete checkpoint, so training starts from the beginning"

_BEST_WEIGHTS = "best.th"
_TEMPORARY = ".tmp"
_UNREADABLE = ".unreadable"
# What is kept in the training state in addition to AllenNLP's own entries.
_IS_BEST = "qdecomp_is_best"
_RANDOM_STATE = "qdecomp_random_state"

# A moment of the training run: complete epochs, and batches of the next one.
_Moment = tuple[int, int]


@Checkpointer.register("default", exist_ok=True)  # so that an override of the trainer cannot lose it
@Checkpointer.register("durable")
class DurableCheckpointer(Checkpointer):
    """AllenNLP's checkpointer, safe against a kill or a power failure at any moment; it takes the same parameters.

    - A file is written under another name, flushed to disk, and renamed.
    - Only a pair of files, model and training state, is a checkpoint; one that cannot be read is set aside for the next
      older one.
    - If a kill came between the checkpoint and the best weights, these are written when the training run is resumed.
    - The random state of torch is kept, so that on a CPU a resumed run does the same as an uninterrupted one.

    AllenNLP itself does not restore a moving average of the weights, so a run with one cannot be resumed.
    """

    def save_checkpoint(self, trainer: Trainer) -> None:
        """Write a checkpoint of this moment, and remove those that are too old."""
        state = trainer.get_checkpoint_state()
        if state is not None:
            self._write(state, is_best=_is_best(trainer, state))
        # It finds both files, writes none, and removes old ones.
        super().save_checkpoint(trainer)

    def load_checkpoint(self) -> TrainerCheckpoint | None:
        """The newest checkpoint that can be read; None if there is none, so that training starts from the beginning."""
        for path in Path(self._serialization_dir).glob(f".*.th.*{_TEMPORARY}") if self._is_primary else ():
            path.unlink(missing_ok=True)
        unreadable: list[_Moment] = []
        for moment in sorted(self._find_all_checkpoints(), reverse=True):
            try:
                state = self._read(moment)
            except Exception as error:  # torch has no common class for what a damaged file can cause
                reason = str(error).partition("\n")[0]
                logger.warning("the checkpoint after %d epochs and %d batches cannot be read: %s", *moment, reason)
                unreadable.append(moment)
                continue
            self._set_aside(unreadable)
            self._restore_best_weights(state)
            if _RANDOM_STATE in state.trainer_state:
                torch.set_rng_state(state.trainer_state[_RANDOM_STATE])
            return state
        self._set_aside(unreadable)
        if unreadable:
            logger.warning("%s: %s", self._serialization_dir, STARTS_ANEW)
        return None

    def _find_all_checkpoints(self) -> set[_Moment]:
        found: set[_Moment] = super()._find_all_checkpoints()
        return {moment for moment in found if os.path.isfile(self._training_state_path(*moment))}

    def _write(self, state: TrainerCheckpoint, is_best: bool) -> None:
        moment = (state.trainer_state["epochs_completed"], state.trainer_state["batches_in_epoch_completed"])
        additions = {_IS_BEST: is_best, _RANDOM_STATE: torch.get_rng_state()}
        _save(state.model_state, self._model_state_path(*moment))
        _save(_plain(state.trainer_state) | additions, self._training_state_path(*moment))

    def _read(self, moment: _Moment) -> TrainerCheckpoint:
        paths = (self._model_state_path(*moment), self._training_state_path(*moment))
        return TrainerCheckpoint(*(torch.load(path, map_location="cpu", weights_only=True) for path in paths))

    def _restore_best_weights(self, state: TrainerCheckpoint) -> None:
        best = os.path.join(self._serialization_dir, _BEST_WEIGHTS)
        is_best = state.trainer_state.get(_IS_BEST, False)
        if is_best and self._is_primary:
            _save(state.model_state, best)
        if is_best or state.trainer_state["best_model_filename"] is not None:
            # Not the recorded name: the folder may have been moved, or may now be given by another name.
            state.trainer_state["best_model_filename"] = best

    def _set_aside(self, moments: Iterable[_Moment]) -> None:
        """Rename what cannot be read, so that it is no longer taken for a checkpoint."""
        for moment in moments if self._is_primary else ():
            for path in (self._model_state_path(*moment), self._training_state_path(*moment)):
                os.replace(path, path + _UNREADABLE)


def _is_best(trainer: Trainer, state: TrainerCheckpoint) -> bool:
    """Whether AllenNLP's trainer is about to keep these weights as the best ones, by its own rule."""
    at_the_end_of_an_epoch = state.trainer_state["batches_in_epoch_completed"] == 0
    validated = getattr(trainer, "_should_validate_this_epoch", True)
    return bool(at_the_end_of_an_epoch and validated and state.trainer_state["metric_tracker"]["is_best_so_far"])


def _plain(value: Any) -> Any:
    """The value in types that torch can load again: it refuses NumPy numbers, defaultdict and deque."""
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, deque)):
        return [_plain(item) for item in value]
    if type(value) is tuple:
        return tuple(_plain(item) for item in value)
    return value


def _save(value: Any, path: str) -> None:
    """Write the value to a file that is complete under its name, whatever happens in between."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}{_TEMPORARY}")
    try:
        with open(temporary, "wb") as stream:
            torch.save(value, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@Optimizer.register("fused_adam")
class FusedAdam(Optimizer, torch.optim.Adam):
    """The same steps as those of ``adam``."""

    def __init__(
        self,
        model_parameters: list[tuple[str, torch.nn.Parameter]],
        parameter_groups: list[tuple[list[str], dict[str, Any]]] | None = None,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        groups = make_parameter_groups(model_parameters, parameter_groups)
        super().__init__(groups, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, fused=True)
