"""One byte of a description, a schema, a check or the grader changes the hash; the shape of a client does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

from pydantic import BaseModel, field_validator

from recovery import Toolset
from recovery.grading import fingerprint
from recovery.grading.fingerprint import (
    bytes_digest,
    git_state,
    grader_digest,
    name_of,
    packages,
    schema_digests,
    sent_tools,
    source_digest,
    tools_digest,
)
from recovery.grading.schema import Schemas

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
OPENAI = {"type": "function", "function": {"name": "weather", "description": "Of a city.", "parameters": SCHEMA}}
ANTHROPIC = {"name": "weather", "description": "Of a city.", "input_schema": SCHEMA}


def test_the_same_tools_hash_alike_in_the_shape_of_any_client() -> None:
    assert tools_digest([OPENAI]) == tools_digest([ANTHROPIC]) == tools_digest(Toolset([OPENAI]))


@pytest.mark.parametrize(
    "other",
    [
        {**ANTHROPIC, "description": "Of a city!"},
        {**ANTHROPIC, "name": "weathers"},
        {**ANTHROPIC, "input_schema": {**SCHEMA, "required": []}},
        {**ANTHROPIC, "input_schema": dict(reversed(SCHEMA.items()))},
    ],
)
def test_one_byte_of_a_tool_changes_the_hash(other: dict[str, Any]) -> None:
    assert tools_digest([other]) != tools_digest([ANTHROPIC])


def test_the_order_of_the_tools_is_part_of_what_a_model_sees() -> None:
    assert tools_digest(["a", "b"]) != tools_digest(["b", "a"])


def test_a_tool_without_a_schema_is_one_without_arguments() -> None:
    assert tools_digest(["a"]) == tools_digest([{"name": "a", "input_schema": {"type": "object", "properties": {}}}])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"tools":[{"name":"a"}],"model":"m"}', b'[{"name":"a"}]'),
        ('{ "model" : "m\\"tools\\"", "x": {"tools": 1}, "tools" : [ "é" ] }'.encode(), '[ "é" ]'.encode()),
        (b'{"tools": null}', b"null"),
        (b'{"model": "m"}', None),
        (b" {}", None),
    ],
)
def test_the_bytes_of_the_tools_are_those_of_the_request(body: bytes, expected: bytes | None) -> None:
    assert sent_tools(body) == expected


def test_a_body_that_is_no_object_is_told() -> None:
    for body in (b"[]", b"", b"no", b"{", b'{"a"'):
        with pytest.raises(ValueError, match=r"JSON object|Expecting"):
            sent_tools(body)


def test_schemas_hash_by_tool() -> None:
    by_tool = schema_digests(Schemas({"f": SCHEMA, "g": {}}))
    assert set(by_tool) == {"f", "g"}
    assert schema_digests(Schemas(SCHEMA)) == {"*": by_tool["f"]}
    assert schema_digests(Schemas(SCHEMA, ["f"])) == {"f": by_tool["f"]}
    assert schema_digests(Schemas(None, [ANTHROPIC])) == {"weather": by_tool["f"]}
    assert schema_digests(Schemas()) == {}


def test_a_validator_is_part_of_a_model_s_hash() -> None:
    def plain() -> type[BaseModel]:
        class City(BaseModel):
            city: str

        return City

    def checked() -> type[BaseModel]:
        class City(BaseModel):
            city: str

            @field_validator("city")
            @classmethod
            def known(cls, city: str) -> str:
                return city

        return City

    assert plain().model_json_schema() == checked().model_json_schema()
    assert schema_digests(Schemas(plain())) != schema_digests(Schemas(checked()))
    model = plain()
    assert schema_digests(Schemas({"f": model}))["f"] == schema_digests(Schemas(model))["*"]


def test_a_function_has_a_name_and_a_source() -> None:
    def one() -> int:
        return 1

    def two() -> int:
        return 2

    class Called:
        def __call__(self) -> int:
            return 3

    assert name_of(one).endswith(".one")
    assert name_of(Called()).endswith(".Called")
    assert len({source_digest(one), source_digest(two), source_digest(Called())}) == 3
    made = eval("lambda: 1"), eval("lambda: 1 + int()")
    assert source_digest(made[0]) != source_digest(made[1])
    assert source_digest(len) is None


def test_the_grader_s_code_is_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = grader_digest()
    for file in Path(fingerprint.__file__).parent.glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(fingerprint, "__file__", str(tmp_path / "fingerprint.py"))
    assert grader_digest() == before
    (tmp_path / "run.py").write_text("# another runner", encoding="utf-8")
    assert grader_digest() == before
    (tmp_path / "outcome.py").write_text("# another question", encoding="utf-8")
    assert grader_digest() != before


def test_versions_and_the_commit_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"pydantic"} <= set(packages())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_state() == (None, None)


def test_a_digest_of_bytes_is_of_these_bytes() -> None:
    assert bytes_digest(json.dumps(1).encode()) != bytes_digest(b"2")
