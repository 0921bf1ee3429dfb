"""The service does what its OpenAPI description says, for requests that are made from that description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.service.conftest import NEEDS, toy_parser

pytest.importorskip("fastapi", reason=f"the service is not installed: {NEEDS}")
jsonschema = pytest.importorskip("jsonschema")

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

PATHS = ("/parse", "/convert", "/next_steps", "/score")
# No description says which texts are steps, and which of them there are to answer.
ACCEPTED = {path: (200, 422) if path == "/next_steps" else (200,) for path in PATHS}
JSON = {"content-type": "application/json"}
LIMITS = {"max_questions": 3, "max_question_length": 40}
# They load spaCy, and GED takes long.
SLOW_METRICS = {"norm_em", "ged"}
texts = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    ["return cubes ;return #1 that are red ;return number of #2", "1. cubes\n2. number of #1", "how many cubes"]
)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


class Service:
    """An application and its description."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        self.description: dict[str, Any] = client.get("/openapi.json").json()

    def resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in schema:
            return schema
        return self.description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]

    def body_schema(self, path: str) -> dict[str, Any]:
        content = self.description["paths"][path]["post"]["requestBody"]["content"]
        return self.resolved(content["application/json"]["schema"])

    def validator(self, schema: dict[str, Any]) -> Any:
        return jsonschema.Draft202012Validator({**schema, "components": self.description["components"]})

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> int:
        """The status of an answer that is as the description of this path has it."""
        answer = self._client.post(path, content=body, headers=headers)
        documented = self.description["paths"][path]["post"]["responses"]
        assert str(answer.status_code) in documented, answer.text
        schema = documented[str(answer.status_code)]["content"]["application/json"]["schema"]
        self.validator(schema).validate(answer.json())
        return answer.status_code


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    from fastapi.testclient import TestClient

    from qdecomp.service.app import create_app
    from qdecomp.service.settings import ServiceSettings

    with TestClient(create_app(ServiceSettings(**LIMITS), toy_parser())) as client:
        yield Service(client)


def values(service: Service, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What a schema of ours allows."""
    schema = service.resolved(schema)
    if "anyOf" in schema:
        return st.one_of(*(values(service, each) for each in schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(sorted(set(schema["enum"]) - SLOW_METRICS))
    if schema["type"] == "string":
        longest = schema.get("maxLength", 100)
        return texts.filter(lambda text: len(text) <= longest)
    if schema["type"] == "array":
        return st.lists(
            values(service, schema["items"]), min_size=schema.get("minItems", 0), max_size=schema.get("maxItems", 4)
        )
    if schema["type"] == "boolean":
        return st.booleans()
    if schema["type"] == "integer":
        return st.integers(schema.get("minimum"), schema.get("maximum"))
    if schema["type"] == "number":
        return st.floats(allow_nan=False, allow_infinity=False)
    if "additionalProperties" in schema and "properties" not in schema:
        return st.dictionaries(st.integers(1, 5).map(str), values(service, schema["additionalProperties"]), max_size=3)
    assert schema["type"] == "object"
    return st.one_of(*(objects(service, schema, group) for group in schema.get("oneOf", [schema])))


def objects(service: Service, schema: dict[str, Any], group: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with the fields that a group requires, and others that it does not forbid."""
    fields = {name: values(service, field) for name, field in schema["properties"].items()}
    forbidden = [name for name, allowed in group["properties"].items() if allowed is False]
    required = {name: fields[name] for name in group.get("required", [])}
    optional = {name: each for name, each in fields.items() if name not in required and name not in forbidden}
    return st.fixed_dictionaries(required, optional=optional)


def test_the_description_is_made_of_valid_schemas_with_the_limits(service: Service) -> None:
    for schema in service.description["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    questions = service.body_schema("/parse")["properties"]["questions"]
    assert questions["maxItems"] == LIMITS["max_questions"]
    assert questions["items"]["maxLength"] == LIMITS["max_question_length"]


@pytest.mark.parametrize("path", PATHS)
def test_what_the_description_allows_is_answered(service: Service, path: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(values(service, service.body_schema(path)))
    def check(body: dict[str, Any]) -> None:
        service.validator(service.body_schema(path)).validate(body)
        assert service.post(path, json.dumps(body).encode(), JSON) in ACCEPTED[path]

    check()


@pytest.mark.parametrize("path", PATHS)
def test_what_the_description_forbids_is_refused_as_it_says(service: Service, path: str) -> None:
    schema = service.body_schema(path)
    names = st.sampled_from(sorted(schema["properties"])) | texts
    changed = st.builds(lambda body, name, value: {**body, name: value}, values(service, schema), names, any_json)
    shortened = st.builds(
        lambda body, name: {key: value for key, value in body.items() if key != name}, values(service, schema), names
    )

    @settings(max_examples=60, deadline=None)
    @given(any_json | changed | shortened)
    def check(body: Any) -> None:
        is_allowed = service.validator(schema).is_valid(body)
        # A field that is null counts as left out.
        expected = ACCEPTED[path] if is_allowed else (200, 422) if None in as_values(body) else (422,)
        assert service.post(path, json.dumps(body).encode(), JSON) in expected

    check()


def as_values(body: Any) -> list[Any]:
    return list(body.values()) if isinstance(body, dict) else []


@pytest.mark.parametrize("path", PATHS)
def test_bytes_that_are_no_request_are_refused_as_the_description_says(service: Service, path: str) -> None:
    kinds = st.sampled_from(["application/json", "text/plain", "application/x-www-form-urlencoded", ""])

    @settings(max_examples=25, deadline=None)
    @given(st.binary(max_size=60), kinds)
    def check(body: bytes, kind: str) -> None:
        assert service.post(path, body, {"content-type": kind} if kind else {}) in (400, 415, 422)

    check()
