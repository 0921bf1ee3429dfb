"""Inputs that nobody would write, for every entry point: each is refused in one line or works, quickly.

``QDECOMP_FUZZ_DRAWS`` says how many draws of 200 inputs each target gets, ``QDECOMP_FUZZ_SEED`` which. A ``try_…``
function raises a ``QDecompError`` for what is rightly refused, and an ``AssertionError`` for what should hold but does
not. Any other exception is a bug.
"""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from qdecomp.data_structures import graph_codecs as codecs
from qdecomp.data_structures.conversion.chain import convert, read_graph
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form, to_qdmr
from qdecomp.data_structures.dependency_graph import dependency_graph_from_json, dependency_graph_to_json
from qdecomp.data_structures.errors import InternalError, QDecompError, is_internal
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.logical_form import parse_logical_form
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.evaluation.predictions import read_gold, read_predictions
from qdecomp.files import RowFile, read_break_csv, read_questions
from qdecomp.parsers.decomposition import decomposition_from_record
from qdecomp.parsers.parser import Parser, load
from qdecomp.terminal import printable
from qdecomp.visualization import PageItem, decomposition_html, graph_svg, graph_text, page_html, steps_svg
from tests.stress.fuzzed_inputs import Pieces, draws, pieces_of


@dataclass(frozen=True, slots=True)
class Target:
    """Makes inputs and tries them."""

    make: Callable[[Pieces], Any]
    attempt: Callable[[Any], None]
    prepare: Callable[[], object] = lambda: None
    """Loads what takes long, so that no input is blamed for it."""


def try_qdmr(text: str) -> None:
    """Break's text, and what language models write."""
    try:
        value = parse_qdmr(text)
        assert parse_qdmr(str(value)) == value, "not read back"
    except QDecompError:
        pass
    parse_qdmr(read_decomposition(text).text)


def try_logical_form(lines: list[str]) -> None:
    """The text of logical forms, and the way to QDMR."""
    form = parse_logical_form(lines)
    assert parse_logical_form(str(form)) == form, "text is not read back"
    to_logical_form(to_qdmr(form))


def try_lf_em(value: tuple[str, str, str]) -> None:
    """Both variants of the metric; equal texts are equal unless they cannot be read."""
    question, prediction, gold = value
    for strict in (False, True):
        result = lf_em(question, prediction, gold, strict=strict)
        assert not is_internal(result.error), result.error
        same = lf_em(question, gold, gold, strict=strict)
        assert same.verdict or same.error is not None, "gold is not equal to itself"


def make_annotated(pieces: Pieces) -> tuple[str, str]:
    """A question and a decomposition that may belong to it."""
    decomposition = pieces.decomposition()
    return pieces.question_about(decomposition), decomposition


def try_conversion(value: tuple[str, str]) -> None:
    """Decomposition to graph, and back."""
    conversion = convert(*value)
    reading = read_graph(conversion.graph)
    assert read_graph(conversion.graph, tolerant=True).form == reading.form, "a valid graph was repaired"
    assert parse_qdmr(str(reading.qdmr)) == reading.qdmr, "not read back"


def make_codec_text(pieces: Pieces) -> tuple[str, str]:
    """A text in one of the formats of graphs, whole or spoiled."""
    try:
        graph = dependency_graph_from_json(pieces.graph())
        texts = {"dot": codecs.format_dot(graph), "conllu": codecs.format_conllu(graph)}
        texts["span_dot"] = codecs.format_span_dot(read_graph(graph, tolerant=True).span_graph)
    except QDecompError:
        texts = {"dot": 'digraph dependency_graph {\n  0 [label="a"];\n}', "conllu": "1\ta" + "\t_" * 8}
    name = pieces.chance.choice(sorted(texts))
    return name, texts[name] if pieces.chance.random() < 0.3 else pieces.spoiled(texts[name])


def try_codec(value: tuple[str, str]) -> None:
    """The text formats of graphs, networkx and JSON."""
    name, text = value
    if name == "span_dot":
        spans = codecs.parse_span_dot(text)
        assert codecs.parse_span_dot(codecs.format_span_dot(spans)) == spans, "not read back"
        assert codecs.span_graph_from_networkx(codecs.span_graph_to_networkx(spans)) == spans, "networkx"
        return
    parse, write = (
        (codecs.parse_dot, codecs.format_dot) if name == "dot" else (codecs.parse_conllu, codecs.format_conllu)
    )
    graph = parse(text)
    assert parse(write(graph)) == graph, "not read back"
    assert dependency_graph_from_json(dependency_graph_to_json(graph)) == graph, "JSON is not read back"
    assert codecs.dependency_graph_from_networkx(codecs.dependency_graph_to_networkx(graph)) == graph, "networkx"
    read_graph(graph, tolerant=True)


def try_record(record: Mapping[str, Any]) -> None:
    """A prediction record, the decomposition it holds and its plan."""
    decomposition = decomposition_from_record(record)
    json.dumps(decomposition.to_record(), allow_nan=False)
    str(decomposition)
    json.dumps(decomposition.to_dict(), allow_nan=False)
    if decomposition:
        str(decomposition.plan())


@cache
def _scripts_of_a_page() -> int:
    prediction = decomposition_from_record({"decomposition": "return cubes"})
    return page_html([PageItem("1", "which cubes ?", prediction, prediction)]).lower().count("<script")


def try_page(record: Mapping[str, Any]) -> None:
    """Pages and pictures of a record; no word of it becomes markup."""
    prediction = decomposition_from_record(record)
    question = str(record.get("question"))
    page = page_html([PageItem("1", question, prediction, prediction)])
    assert page.lower().count("<script") == _scripts_of_a_page(), "a script"
    fragment = decomposition_html(question, prediction)
    assert "<script" not in fragment.lower(), "a script"
    f"{page}{fragment}".encode()
    if prediction.logical_form is not None:
        ElementTree.fromstring(steps_svg(prediction.logical_form))
    if prediction.graph is not None:
        graph_text(prediction.graph)
        ElementTree.fromstring(graph_svg(prediction.graph))


@cache
def _solver() -> object:
    return import_module("ortools.sat.python.cp_model")


@cache
def _parser() -> Parser:
    import_module("qdecomp.decoding.graph_program")
    return load()


def try_parser(question: str) -> None:
    """The bundled parser."""
    decomposition = _parser().parse(question)
    assert not is_internal(decomposition.error), decomposition.error
    assert bool(decomposition) == bool(decomposition.steps), "true without steps"
    json.dumps(decomposition.to_dict(), allow_nan=False)


def make_file(pieces: Pieces) -> tuple[str, bytes]:
    """A file of questions, gold or predictions, whole or spoiled."""
    rows = [(pieces.word(), pieces.question(), pieces.decomposition()) for _ in range(pieces.chance.randrange(6))]
    kind = pieces.chance.choice(("csv", "jsonl", "txt"))
    if kind == "csv":
        stream = io.StringIO()
        writer = csv.writer(stream)
        writer.writerow(("question_id", "question_text", "decomposition"))
        writer.writerows(rows)
        text = stream.getvalue()
    elif kind == "jsonl":
        names = ("question_id", "question", "decomposition")
        text = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    else:
        text = "\n".join(question for _, question, _ in rows)
    content = (text if pieces.chance.random() < 0.5 else pieces.spoiled(text)).encode("utf-8", "surrogatepass")
    if pieces.chance.random() < 0.1:
        content = content[: pieces.chance.randrange(len(content) + 1)] + bytes(pieces.chance.choices(range(256), k=4))
    return kind, content


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="qdecomp-fuzz-")


def try_file(value: tuple[str, bytes]) -> None:
    """Everything that reads a user's file."""
    kind, content = value
    path = Path(_folder().name) / f"file.{kind}"
    path.write_bytes(content)
    gold = Path(_folder().name) / "gold.csv"
    gold.write_text("question_id,question_text,decomposition\n1,which cubes ?,return cubes\n", encoding="utf-8")
    readers: tuple[Callable[[], object], ...] = (
        lambda: list(read_questions(path)),
        lambda: read_break_csv(path),
        lambda: list(RowFile(path)),
        lambda: read_predictions(path, read_gold(gold)),
    )
    refused = None
    for read in readers:
        try:
            read()
        except QDecompError as error:
            refused = error
    if refused is not None:
        raise refused


TARGETS = {
    "qdmr": Target(Pieces.decomposition, try_qdmr),
    "lf": Target(Pieces.logical_form, try_logical_form),
    "lf_em": Target(lambda pieces: (pieces.question(), pieces.decomposition(), pieces.decomposition()), try_lf_em),
    "conversion": Target(make_annotated, try_conversion, prepare=_solver),
    "codecs": Target(make_codec_text, try_codec),
    "records": Target(Pieces.record, try_record),
    "pages": Target(Pieces.record, try_page),
    "parser": Target(Pieces.question, try_parser, prepare=_parser),
    "files": Target(make_file, try_file),
}

MOST_SECONDS = 2.0
"""CPU seconds that an input may take."""
MOST_MEGABYTES = 1024
"""By how much an input may raise the peak of the memory."""


def problem_of(target: Target, value: Any) -> str | None:
    """What should not have happened when this input was tried; an error that is not ours is raised."""
    started, memory = time.process_time(), _peak_megabytes()
    try:
        target.attempt(value)
    except InternalError as error:
        return f"a bug: {error.reason}"
    except QDecompError as error:
        if "\n" in printable(str(error)):
            return f"an error of several lines: {type(error).__name__}"
    if time.process_time() - started > MOST_SECONDS:
        return f"over {MOST_SECONDS:g} s"
    return f"over {MOST_MEGABYTES} MB" if _peak_megabytes() - memory > MOST_MEGABYTES else None


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.stress
@pytest.mark.parametrize("name", TARGETS)
def test_every_target_takes_what_nobody_would_write(name: str) -> None:
    target = TARGETS[name]
    target.prepare()

    @seed(int(os.environ.get("QDECOMP_FUZZ_SEED", "0")))
    @settings(
        max_examples=int(os.environ.get("QDECOMP_FUZZ_DRAWS", "3")),
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(draws())
    def draw_and_try(draw: tuple[list[str], int]) -> None:
        for pieces in pieces_of(draw):
            value = target.make(pieces)
            try:
                problem = problem_of(target, value)
            except Exception as error:
                raise AssertionError(f"{name}: {type(error).__name__}: {value!a}") from error
            assert problem is None, f"{name}: {problem}: {value!a}"

    draw_and_try()
