"""Which package may import which, and the map of the code that is generated from the imports."""

from __future__ import annotations

import pytest

from scripts.code_map import MAP, code_map, order, package_imports

_VALUES = {"data_structures"}
_LEXICON = {*_VALUES, "data_structures.lexicon"}
_ALIGNMENT = {*_LEXICON, "data_structures.alignment"}
_CONVERSION = {*_ALIGNMENT, "data_structures.conversion", "data_structures.reading"}
_LF_EM = {*_CONVERSION, "data_structures.lf_em"}
_DATA_STRUCTURES = {*_LF_EM, "data_structures.prediction"}
_WRITING = {*_VALUES, "files.writing"}
_STORAGE = {*_WRITING, "files.storage"}
_READERS = {*_STORAGE, *_DATA_STRUCTURES, "files.row_store", "files.readers"}
_RECORDS = {*_READERS, "files.records"}
_CONVERTING = {*_RECORDS, "terminal", "workers", "files.converting"}
_FILES = {*_CONVERTING, "files.model_files", "files"}
_METRICS = {"evaluation.metrics", "evaluation.metrics.norm_em", "evaluation.metrics.lf_eq"}
_MODELS = {*_FILES, "decoding", "data", "modules", "training"}
_PARSING = {*_MODELS, "models", "predictors", "allennlp_bridge", "runtime", "parsing"}

# A package (a folder of qdecomp) and all packages that it may import.
MAY_IMPORT: dict[str, set[str]] = {
    "data_structures": set(),
    "data_structures.lexicon": _VALUES,
    "data_structures.reading": _VALUES,
    "data_structures.alignment": _LEXICON,
    "data_structures.conversion": _ALIGNMENT | {"data_structures.reading"},
    "data_structures.lf_em": _CONVERSION,
    "data_structures.prediction": _LF_EM,
    "terminal": set(),
    "workers": _VALUES | {"terminal"},
    "files.writing": _VALUES,
    "files.storage": _WRITING,
    "files.row_store": _WRITING,
    "files.readers": _READERS - {"files.readers"},
    "files.records": _READERS,
    "files.converting": _RECORDS | {"terminal", "workers"},
    "files.model_files": _VALUES,
    "files": _READERS,
    "decoding": _DATA_STRUCTURES,
    "runtime": _FILES | {"decoding"},
    "visualization": _DATA_STRUCTURES,
    "planning": _DATA_STRUCTURES | {"visualization"},
    "evaluation.metrics": _FILES,
    "evaluation.metrics.norm_em": _FILES | {"evaluation.metrics"},
    "evaluation.metrics.lf_eq": _FILES | {"evaluation.metrics"},
    "evaluation": _FILES | _METRICS,
    "evaluation.report": _FILES | _METRICS | {"evaluation", "visualization"},
    "modules": _VALUES | {"decoding", "files.model_files"},
    "data": _FILES | {"modules"},
    "training": _DATA_STRUCTURES,
    "models": _MODELS,
    "predictors": _FILES | {"decoding"},
    "allennlp_bridge": _MODELS | {"models", "predictors", "runtime"},
    "parsing": _PARSING - {"parsing"},
    "top": _PARSING | {"visualization", "planning"},
    "bulk": _FILES | {"decoding", "parsing", "top"},
    "integrations": _DATA_STRUCTURES | {"planning", "top"},
    "service": _FILES | _METRICS | {"evaluation", "visualization", "planning", "runtime", "parsing", "top"},
    "commands": _FILES
    | _METRICS
    | {"evaluation", "evaluation.report", "visualization", "planning", "top", "bulk", "decoding", "runtime", "service"},
    "cli": {"data_structures", "terminal", "commands"},
}


def test_every_package_has_a_row() -> None:
    assert set(package_imports()) == set(MAY_IMPORT)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    forbidden = {other: who for other, who in package_imports()[package].items() if other not in MAY_IMPORT[package]}
    assert not forbidden


def test_no_two_packages_import_each_other() -> None:
    assert set(order(package_imports())) == set(MAY_IMPORT)


def test_the_map_of_the_code_is_current() -> None:
    assert MAP.read_text(encoding="utf-8") == code_map(), "run python scripts/code_map.py"
