"""The API as a client sees it."""

from __future__ import annotations

import json
import logging
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from qdecomp.parsers.decomposition import Decomposition
from qdecomp.version import VERSION
from tests.service.conftest import parser_of

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

QUESTION = "How many red cubes are there?"
GOLD = "return cubes ;return #1 that are red ;return number of #2"
JSON = {"content-type": "application/json"}


def refused(answer: Any, status: int) -> str:
    """The one line of a refusal."""
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == ["error"]
    assert "\n" not in body["error"]
    return body["error"]


def test_one_question(client: TestClient) -> None:
    answer = client.post("/parse", json={"question": "How many cubes"}).json()
    assert answer["decomposition"] == "return cubes ;return number of #1"
    assert answer["logical_form"] == ["SELECT[](sub=cubes)", "AGGREGATE[count](arg=#1)"]
    assert [step["question"] for step in answer["steps"]] == ["cubes", "How many #1 are there?"]
    assert answer["plan"] == {"levels": [[1], [2]], "final": 2}
    assert answer["confidence"] is None
    assert answer["error"] is None
    assert "pictures" not in answer


def test_graph_and_pictures_on_request(client: TestClient) -> None:
    answer = client.post("/parse", json={"question": "How many cubes", "pictures": True}).json()
    assert answer["graph"]["tokens"][:3] == ["How", "many", "cubes"]
    assert answer["graph_error"] is None
    for name in ("steps", "graph"):
        assert ElementTree.fromstring(answer["pictures"][name]).tag.endswith("svg")
    with_graph = client.post("/parse", json={"question": "How many cubes", "graph": True}).json()
    assert with_graph["graph"] == answer["graph"]
    assert "pictures" not in with_graph


def test_many_questions_in_their_order_each_with_its_own_error(client: TestClient) -> None:
    questions = ["How many cubes", "", "How many größte Flüsse 🏞", "x", "How many spheres"]
    results = client.post("/parse", json={"questions": questions}).json()["results"]
    assert [result["question"] for result in results] == questions
    assert [result["decomposition"] is None for result in results] == [False, True, False, True, False]
    assert results[1]["error"] == "the question is empty"
    assert results[1]["steps"] == []
    assert results[1]["plan"] is None
    assert results[3]["error"].startswith("not a question")
    assert results[2]["steps"][0]["text"] == "🏞"


PAIR = {"question": "a", "prediction": "b", "gold": "c"}


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("parse", {}, "give either question, a string, or questions"),
        ("parse", {"question": "a", "questions": ["b"]}, "give either"),
        ("parse", {"question": None}, "give either"),
        ("parse", {"questions": []}, "questions is empty"),
        ("parse", {"question": 7}, "question is not a string"),
        ("parse", {"questions": ["a", None]}, "questions.1 is not a string"),
        ("parse", {"questions": "a"}, "questions is not a list"),
        ("parse", {"question": "a", "pictures": "yes"}, "pictures is neither true nor false"),
        ("parse", {"qestion": "a"}, "qestion is not a known field"),
        ("parse", [], "the body is not an object"),
        ("parse", "a", "the body is not an object"),
        ("parse", {"questions": ["how many cubes", "\udfff"]}, "questions.1 contains half a character"),
        ("convert", {"question": "a", "decomposition": ["\ud800"]}, "decomposition contains half a character"),
        ("next_steps", {"question": "a", "decomposition": ["b"], "answers": {"4": "A"}}, "answers has '4'; the steps "),
        ("next_steps", {"question": "a", "decomposition": ["b"], "answers": {"1": None}}, "answers.1 is not"),
        ("score", {"question": "a", "prediction": "b"}, "give either"),
        ("score", {"pairs": []}, "pairs is empty"),
        ("score", {"pairs": [{"question": "a", "prediction": "b"}]}, "pairs.0.gold is missing"),
        ("score", {**PAIR, "metrics": ["bleu"]}, "there is no metric 'bleu'"),
        ("score", {**PAIR, "metrics": []}, "metrics is empty"),
        ("score", {**PAIR, "prediction": 1}, "prediction is not a string"),
        ("score", {**PAIR, "prediction": "return \ud800"}, "prediction contains half a character"),
    ],
)
def test_wrong_fields_are_named(client: TestClient, path: str, body: Any, reason: str) -> None:
    answer = client.post(f"/{path}", content=json.dumps(body).encode(), headers=JSON)
    assert refused(answer, 422).startswith(reason)


def test_what_is_not_json(client: TestClient) -> None:
    for content in (b"{", b'{"question": }', b"\xff\xfe", b"nul", b"[" * 100_000):
        reason = refused(client.post("/parse", content=content, headers=JSON), 400)
        assert reason.startswith("the body is not JSON")
    assert refused(client.post("/parse", content=b"", headers=JSON), 422) == "the body is missing"
    as_text = client.post("/parse", content=b'{"question": "a"}', headers={"content-type": "text/plain"})
    assert "application/json" in refused(as_text, 415)


def test_a_name_that_a_client_made_up_is_shown_short_and_readable(client: TestClient) -> None:
    for name in ("\ud800", "\x1b[31m", "x" * 5000):
        reason = refused(client.post("/parse", content=json.dumps({name: 1}).encode(), headers=JSON), 422)
        assert len(reason) < 120
        assert reason.isprintable()


def test_limits_on_length_number_and_body(client_of: Callable[..., TestClient]) -> None:
    client = client_of(max_questions=2, max_question_length=20, max_body=200)
    assert client.post("/parse", json={"questions": ["how many cubes"] * 2}).status_code == 200
    reason = refused(client.post("/parse", json={"questions": ["how many cubes"] * 3}), 422)
    assert reason == "3 questions; at most 2 are allowed"
    reason = refused(client.post("/parse", json={"question": "x" * 21}), 422)
    assert reason == "the question is too long: 21 characters; at most 20 are allowed"
    assert refused(client.post("/parse", json={"questions": ["a", "x" * 21]}), 422).startswith("question 2 is too long")
    for path in ("/parse", "/convert", "/next_steps", "/score"):
        reason = refused(client.post(path, json={"question": "x" * 300}), 413)
        assert reason == "the body is too large; at most 200 bytes are allowed"
    # Without a length, and far above the limit.
    pieces = (b"x" * 100 for _ in range(100))
    refused(client.post("/parse", content=pieces, headers=JSON), 413)
    refused(client.post("/parse", content=b"x" * 10_000, headers=JSON), 413)


def test_steps_that_were_written_are_read(client: TestClient) -> None:
    body = {"question": QUESTION, "decomposition": "1. cubes\n2. #1 that are red\n3. number of #2", "pictures": True}
    answer = client.post("/convert", json=body).json()
    assert answer["decomposition"] == GOLD
    assert answer["logical_form"][1] == "FILTER[](sub=#1, condition=that are red)"
    assert answer["plan"]["levels"] == [[1], [2], [3]]
    assert "filter-sub" in [edge[2] for edge in answer["graph"]["edges"]]
    assert answer["read_as"] == "lines with 1."
    assert "wrapped_graph" not in answer["pictures"]
    pictures = client.post("/convert", json={**body, "width": 200}).json()["pictures"]
    wrapped, whole = (ElementTree.fromstring(pictures[name]).get("width") for name in ("wrapped_graph", "graph"))
    assert wrapped != whole
    as_list = client.post("/convert", json={**body, "decomposition": ["cubes", "#1 that are red", "number of #2"]})
    assert as_list.json()["logical_form"] == answer["logical_form"]


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (["cubes", "number of #2"], "step 2: refers to itself (#2)"),
        ("", "there is no step"),
        ([], "there are no steps"),
        ("return x ;" * 2000, "at most 10,000 are allowed"),
    ],
)
def test_steps_without_a_meaning_say_why(client: TestClient, steps: Any, reason: str) -> None:
    answer = client.post("/convert", json={"question": QUESTION, "decomposition": steps, "pictures": True})
    assert answer.status_code == 200
    assert reason in answer.json()["error"]
    assert answer.json()["logical_form"] is None


# To read the first of them took 11 seconds, in which nothing else was answered.
@pytest.mark.parametrize(
    "steps", [["a." * 15_000 + "x", "b"], ["a." * 200_000, "b"], ["a"] * 100_000, "<think>" * 60_000]
)
def test_steps_that_are_made_to_take_long_are_refused(client: TestClient, steps: Any) -> None:
    answer = client.post("/convert", json={"question": "x y", "decomposition": steps, "pictures": True})
    assert "are allowed" in answer.json()["error"]
    scored = client.post("/score", json={"question": "x y", "prediction": steps, "gold": "return x"})
    assert "are allowed" in scored.json()["errors"]["lf_em"]


def test_a_plan_is_run_by_its_next_steps(client: TestClient) -> None:
    body = {"question": QUESTION, "decomposition": ["cubes", "#1 that are red", "number of #2"]}
    first = client.post("/next_steps", json=body).json()
    assert first == {"ask": [{"number": 1, "question": "cubes"}], "computed": {}, "answer": None}
    last = client.post("/next_steps", json={**body, "answers": {"1": ["A", "B"], "2": ["A"]}}).json()
    assert last == {"ask": [], "computed": {"3": 1}, "answer": 1}


def test_a_pair_is_scored(client: TestClient) -> None:
    body = {"question": QUESTION, "prediction": ["red cubes", "number of #1"], "gold": GOLD}
    answer = client.post("/score", json=body).json()
    assert answer["scores"]["lf_em"] == answer["scores"]["lf_em_strict"] == 1.0
    assert answer["scores"]["exact_match"] == 0.0
    assert 0 < answer["scores"]["sari"] < 1
    forms = answer["normalized"]["lf_em"]
    assert forms["prediction"] == forms["gold"] == "SELECT[](){cube,red}; AGGREGATE[count](arg=#1){}"
    assert answer["errors"] == {}
    chosen = client.post("/score", json={**body, "metrics": ["lf_eq"]}).json()
    assert chosen["scores"] == {"lf_eq": 1.0}


def test_pairs_are_scored_with_their_means(client: TestClient) -> None:
    good = {"question": QUESTION, "prediction": GOLD, "gold": GOLD}
    bad = {"question": QUESTION, "prediction": "return cubes ;return number of #2", "gold": GOLD}
    answer = client.post("/score", json={"pairs": [good, bad], "metrics": ["lf_em", "lf_eq"]}).json()
    assert [result["scores"]["lf_em"] for result in answer["results"]] == [1.0, 0.0]
    assert answer["mean"]["lf_em"] == 0.5
    assert answer["results"][1]["errors"]["lf_em"] == "prediction: step 2: refers to itself (#2)"
    assert answer["results"][1]["normalized"]["lf_em"]["prediction"] is None


def test_health_version_and_figures(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    assert client.head("/health").status_code == 200
    about = client.get("/version").json()
    assert about["version"] == VERSION
    assert about["parser"] == "toy"
    assert about["limits"]["max_questions"] == 64
    client.post("/parse", json={"questions": ["How many cubes", ""]})
    client.get("/secret-path")
    text = client.get("/metrics").text
    assert 'qdecomp_requests_total{method="POST",path="/parse",status="200"} 1.0' in text
    assert 'qdecomp_questions_total{outcome="plan"} 1.0' in text
    assert 'qdecomp_questions_total{outcome="no plan"} 1.0' in text
    assert 'path="other",status="404"' in text
    assert "secret" not in text


def test_paths_and_methods_that_are_not_there(client: TestClient) -> None:
    assert "/docs" in refused(client.get("/nothing"), 404)
    refused(client.get("/static/nothing.js"), 404)
    refused(client.get("/static/..%2Fapp.py"), 404)
    refused(client.get("/parse"), 405)
    refused(client.request("BREW", "/parse"), 405)


def test_every_answer_forbids_what_comes_from_elsewhere(client: TestClient) -> None:
    for answer in (client.get("/"), client.get("/docs"), client.get("/nothing"), client.post("/parse", json={})):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert client.get("/version").headers["cache-control"] == "no-store"


def test_the_api_is_described_for_programs_and_people(client_of: Callable[..., TestClient]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    client = client_of(max_questions=3, max_question_length=40)
    description = client.get("/openapi.json").json()
    assert set(description["paths"]) == {
        *("/parse", "/convert", "/next_steps", "/run", "/score", "/health", "/version", "/metrics")
    }
    schemas = description["components"]["schemas"]

    def is_valid(schema: dict[str, Any], value: Any) -> bool:
        whole = {**schema, "components": description["components"]}
        jsonschema.Draft202012Validator.check_schema(whole)
        return jsonschema.Draft202012Validator(whole).is_valid(value)

    for path in ("/parse", "/convert", "/next_steps", "/score"):
        post = description["paths"][path]["post"]
        assert "502" in post["responses"]
        request = schemas[post["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]]
        for example in request["examples"]:
            answer = client.post(path, json=example)
            responses = post["responses"][str(answer.status_code)]["content"]["application/json"]["schema"]
            assert answer.status_code == 200
            assert is_valid(request, example)
            assert is_valid(responses, answer.json())
        for wrong in ({}, {**request["examples"][0], "more": 1}, {**request["examples"][0], "question": "x" * 41}):
            assert client.post(path, json=wrong).status_code == 422
            assert not is_valid(request, wrong)
    assert schemas["ParseRequest"]["properties"]["questions"]["maxItems"] == 3
    page = client.get("/docs").text
    assert all(path in page for path in description["paths"])
    assert "https://" not in page
    assert "<script" not in page


def test_files_of_the_page_are_sent_again_only_when_they_changed(client: TestClient) -> None:
    first = client.get("/static/page.css")
    assert first.headers["content-type"].startswith("text/css")
    again = client.get("/static/page.css", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_mistake_of_ours_is_told_without_words_of_the_request(
    client_of: Callable[..., TestClient], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qdecomp.service.schemas import ConvertAnswer

    def fail(question: str, *args: Any, **options: Any) -> None:
        raise KeyError(question)

    monkeypatch.setattr(ConvertAnswer, "of_written", fail)
    client = client_of()
    with caplog.at_level(logging.INFO):
        answer = client.post("/convert", json={"question": "the password is 1234", "decomposition": "return x"})
    reason = refused(answer, 500)
    assert reason.startswith("internal error, please report it: KeyError in test_api.py")
    assert "1234" not in reason
    assert "KeyError" in caplog.text
    assert "1234" not in caplog.text


def test_a_question_on_which_the_parser_fails_is_the_error_of_its_record(client_of: Callable[..., TestClient]) -> None:
    def fail(questions: Sequence[str]) -> list[Decomposition]:
        if any("bad" in question for question in questions):
            raise IndexError("bad")
        return [Decomposition(question, "return cubes") for question in questions]

    client = client_of(parser_of(fail))
    results = client.post("/parse", json={"questions": ["a good one", "a bad one"]}).json()["results"]
    assert [result["error"] is None for result in results] == [True, False]
    assert "IndexError" in results[1]["error"]


def test_the_log_has_paths_but_no_questions(
    client_of: Callable[..., TestClient], caplog: pytest.LogCaptureFixture
) -> None:
    client = client_of(log_requests=True)
    with caplog.at_level(logging.INFO, logger="qdecomp.service"):
        client.post("/parse?token=1234", json={"question": "the password is 1234"})
    # The client of the test has a log of its own.
    lines = [record.getMessage() for record in caplog.records if record.name == "qdecomp.service"]
    assert any("POST /parse 200" in line for line in lines)
    assert not any("1234" in line for line in lines)
