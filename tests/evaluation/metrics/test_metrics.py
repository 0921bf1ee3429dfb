from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.evaluation.metrics import METRICS, MetricResult, choose_metrics, get_metric, prepare


def test_details_cannot_be_changed_from_anywhere():
    details = {"normalized": "cube"}
    result = MetricResult(1.0, details=details)
    details["normalized"] = "ball"
    assert result.details["normalized"] == "cube"
    with pytest.raises(TypeError):
        result.details["normalized"] = "ball"


def test_a_result_travels_between_processes():
    result = MetricResult(None, "timed out", {"seconds": 3})
    assert pickle.loads(pickle.dumps(result)) == result


def test_an_unknown_metric_is_refused_with_the_known_names():
    known = "em, sari, lf_em, lf_em_strict, lf_eq, norm_em, ged"
    with pytest.raises(DataError, match=f"no metric 'bleu'; choose from {known}"):
        get_metric("bleu")


def test_every_metric_is_a_function_or_a_class_of_functions():
    # Those that need spaCy annotate when they score, not when they are loaded.
    functions = {name: metric.load() for name, metric in METRICS.items()}
    for name in ("em", "sari", "lf_em", "lf_em_strict", "lf_eq"):
        assert functions[name]("how many cubes?", "return cubes", "return cubes").value == 1.0


def test_a_metric_travels_between_processes_and_stays_the_same_key():
    metrics = choose_metrics(["lf_em", "ged"])
    assert pickle.loads(pickle.dumps(metrics)) == metrics
    assert hash(pickle.loads(pickle.dumps(metrics))) == hash(metrics)


def test_metrics_are_chosen_once_and_strict_lf_em_comes_with_lf_em():
    assert [metric.name for metric in choose_metrics(["sari", "lf_em", "sari"])] == ["sari", "lf_em", "lf_em_strict"]
    assert [metric.name for metric in choose_metrics(["norm_em"])] == ["norm_em"]
    with pytest.raises(DataError, match="there is no metric 'bleu'"):
        choose_metrics(["bleu"])


def test_exact_match_has_its_long_name_in_files():
    assert [metric.field_name for metric in choose_metrics(["em", "ged"])] == ["exact_match", "ged"]


def test_lf_em_does_not_read_a_prediction_again(monkeypatch):
    read = []

    def reading(written):
        read.append(written)
        return read_decomposition(written)

    monkeypatch.setattr("qdecomp.data_structures.lf_em.read_decomposition", reading)
    row = ("how many unread cubes?", "return unread cubes", "return cubes ;return #1 that are unread")
    assert [get_metric(name).load()(*row).value for name in ("lf_em", "lf_em_strict")] == [1.0, 1.0]
    assert row[1] not in read


def test_prepare_reaches_only_those_who_care():
    seen = []

    class Careful:
        def __call__(self, question: str, prediction: str, gold: str) -> MetricResult:
            return MetricResult(1.0)

        def prepare(self, rows):
            seen.extend(rows)

    prepare(Careful(), [("q", "p", "g")])
    prepare(lambda question, prediction, gold: MetricResult(1.0), [("q", "p", "g")])
    assert seen == [("q", "p", "g")]


def test_looking_at_the_metrics_imports_no_heavy_library():
    heavy = "spacy, networkx, scipy, torch, allennlp, matplotlib, pandas, ortools"
    code = (
        "import sys, qdecomp.evaluation.metrics as m; "
        "m.get_metric('em').load()('', 'a', 'a'); "
        "m.get_metric('norm_em').load(); "
        f"print([name for name in '{heavy}'.split(', ') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
