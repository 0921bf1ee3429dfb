from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.metrics import metric_table as metric_module
from qdecomp.evaluation.metrics.metric_table import (
    METRICS,
    Metric,
    MetricOptions,
    MetricResult,
    prepare,
    register,
)


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
        metric_module.get_metric("bleu")


def test_a_new_metric_is_one_function(monkeypatch):
    monkeypatch.setattr(metric_module, "_REGISTRY", registry := dict(METRICS))
    same_length = Metric(
        "length", "Length", lambda options: lambda question, prediction, gold: MetricResult(float(prediction == gold))
    )
    register(same_length)
    assert registry["length"].load(MetricOptions())("", "a", "a").value == 1.0
    with pytest.raises(ValueError, match="already"):
        register(same_length)


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
        "import sys, qdecomp.evaluation.metrics.metric_table as m; "
        "m.get_metric('em').load(m.MetricOptions())('', 'a', 'a'); "
        "m.get_metric('norm_em'); "
        f"print([name for name in '{heavy}'.split(', ') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
