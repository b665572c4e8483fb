"""The closed table of what an object's keys make of it: a call, several, or none."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from recovery.jsoncalls import KEYS, JsonCall, calls_of, json_names, read_json_call

NAMES = "name tool_name function function_name tool recipient_name".split()
ARGUMENTS = "arguments parameters args params input kwargs action_input tool_input".split()
LISTS = "tool_calls function_calls tool_uses".split()
IDS = "id call_id tool_call_id".split()
TYPES = "function tool_use function_call tool_call".split()


def test_the_keys_are_these() -> None:
    assert {*NAMES, *ARGUMENTS, *LISTS, *IDS, "type"} == KEYS


@pytest.mark.parametrize(("name", "arguments"), list(product(NAMES, ARGUMENTS)))
def test_a_name_and_arguments_are_a_call(name: str, arguments: str) -> None:
    assert read_json_call({name: "f", arguments: {"x": 1}}) == JsonCall("f", {"x": 1})
    assert read_json_call({arguments: "{}", name: "f"}) == JsonCall("f", "{}")


@pytest.mark.parametrize("kind", TYPES)
def test_what_a_type_may_say(kind: str) -> None:
    assert read_json_call({"type": kind, "name": "f", "arguments": {}}) == JsonCall("f", {})
    assert read_json_call({"type": kind.upper(), "name": "f", "arguments": {}}) is None
    assert read_json_call({"type": kind, "function": {"name": "f", "arguments": {}}}) == JsonCall("f", {})


@pytest.mark.parametrize("key", IDS)
def test_ids_mean_nothing(key: str) -> None:
    assert read_json_call({key: 3, "name": "f", "arguments": {}}) == JsonCall("f", {})
    assert read_json_call({key: 3, "function": {"name": "f", "arguments": {}}}) == JsonCall("f", {})


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"name": "f"},
        {"arguments": {}},
        {"name": "f", "tool": "f"},
        {"args": {}, "arguments": {}},
        {"name": "f", "arguments": {}, "other": 1},
        {"name": "f", "arguments": {}, "tool": "g"},
        {"name": 3, "arguments": {}},
        {"name": "f", "arguments": 3},
        {"name": "f", "arguments": []},
        {"name": "f", "arguments": None},
        {"type": None, "name": "f", "arguments": {}},
        # A declaration, and calls within a call.
        {"type": "function", "function": {"name": "f", "parameters": {}}},
        {"function": {"name": "f"}},
        {"function": {"name": "f", "arguments": {}}, "arguments": {}},
        {"function": {"function": {"name": "f", "arguments": {}}}},
    ],
)
def test_any_other_object_is_none(value: dict[str, Any]) -> None:
    assert read_json_call(value) is None


def test_a_function_with_parameters_may_be_called() -> None:
    assert read_json_call({"function": {"name": "f", "parameters": {"x": 1}}}) == JsonCall("f", {"x": 1})
    assert read_json_call({"name": "f", "parameters": {}}) == JsonCall("f", {})


@pytest.mark.parametrize("key", LISTS)
def test_one_key_may_hold_a_list_of_calls(key: str) -> None:
    inner = [{"name": "f"}, {"name": "g"}]
    assert calls_of({key: inner}) == inner
    assert calls_of({key: []}) == []
    others: list[dict[str, Any]] = [{key: inner, "id": 1}, {key: [*inner, 3]}, {key: {}}, {"calls": inner}, {}]
    assert [calls_of(value) for value in others] == [[value] for value in others]


def test_what_stands_in_the_name_fields() -> None:
    assert json_names({key: key.upper() for key in NAMES}) == [key.upper() for key in NAMES]
    assert json_names({"name": 3, "tool": None, "title": "f", "function": {"name": "f"}}) == []
