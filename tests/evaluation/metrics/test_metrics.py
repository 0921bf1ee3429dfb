from __future__ import annotations

import subprocess
import sys

import pytest

from qdecomp.data_structures.reading import read_decomposition
from qdecomp.evaluation.metrics import METRICS, get_metric


@pytest.mark.usefixtures("spacy_pipeline")
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("prediction", ["", "  ", "return", " ; return"])
def test_an_empty_prediction_has_the_worst_score_and_says_so(name, prediction):
    metric = get_metric(name)
    for gold in (prediction, "return birds ;return number of #1"):
        result = metric.load()("how many birds?", prediction, gold)
        assert (result.value, result.error.partition("; gold")[0]) == (metric.worst, "prediction: there is no step")


def test_lf_em_does_not_read_a_prediction_again(monkeypatch):
    read = []

    def reading(written):
        read.append(written)
        return read_decomposition(written)

    monkeypatch.setattr("qdecomp.data_structures.lf_em.read_decomposition", reading)
    row = ("how many unread cubes?", "return unread cubes", "return cubes ;return #1 that are unread")
    assert [get_metric(name).load()(*row).value for name in ("lf_em", "lf_em_strict")] == [1.0, 1.0]
    assert row[1] not in read


def test_looking_at_the_metrics_imports_no_heavy_library():
    heavy = "spacy, networkx, scipy, torch, allennlp, matplotlib, pandas, ortools"
    code = (
        "import sys, qdecomp.evaluation.metrics as m; "
        "m.get_metric('em').load()('', 'a', 'a'); "
        "m.get_metric('norm_em').load(); "
        f"print([name for name in '{heavy}'.split(', ') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
