from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from recovery import Toolset
from recovery.grading import ANY, OMIT, Case, CaseFileError, Rules, approx, load_cases, load_tools, one_of, read_cases

TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "unit": {"enum": ["C", "F"]},
                "at": {"type": "object", "properties": {"lat": {"type": "number"}}},
            },
            "required": ["city"],
        },
    },
    {"name": "ping"},
]
OSLO = {"query": "Weather in Oslo?", "expected_tool": "get_weather", "expected_args": {"city": "Oslo"}}


def jsonl(folder: Path, *rows: Any) -> Path:
    path = folder / "cases.jsonl"
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def said(path: Path, tools: Any = TOOLS) -> list[str]:
    return [str(problem).removeprefix(f"{path.parent}/") for problem in read_cases(path, tools).problems]


def test_json_lines(tmp_path: Path) -> None:
    more = {"query": "Hi\u2028!", "id": "hi", "tags": ["chat"]}
    path = jsonl(tmp_path, OSLO, "", more)
    found = load_cases(path, TOOLS)
    assert found.cases == (
        Case("Weather in Oslo?", "get_weather", {"city": "Oslo"}),
        Case("Hi\u2028!", id="hi", tags=("chat",)),
    )
    assert found.problems == ()
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.tools_of(found.cases[0]).get("ping") is not None


def test_yaml(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(
        """
- query: Weather in no, Norway, on 2026-01-02? # `no` is a text here, and so is a date
  expected_tool: get_weather
  expected_args:
    city: no
    days: {$one_of: [1, {$omit: true}]}
    at: {lat: {$approx: 59.9, abs: 0.1}}
  rules: {casefold: true}
- {query: "on 2026-01-02 at 0o17", expected_tool: get_weather, expected_args: {city: 2026-01-02}}
---
query: Hi
""",
        encoding="utf-8",
    )
    found = load_cases(path, TOOLS)
    args = {"city": "no", "days": one_of(1, OMIT), "at": {"lat": approx(59.9, abs=0.1)}}
    assert found.cases[0].expected_args == args
    assert found.cases[0].rules == Rules(casefold=True)
    assert found.cases[1].expected_args == {"city": "2026-01-02"}
    assert found.cases[2] == Case("Hi")


def test_every_error_names_the_file_the_line_and_the_field(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path,
        OSLO,
        '{"query": "x"',
        "[1]",
        '{"query": "x", "query": "y"}',
        '{"query": "x", "expected_args": {"a": NaN}}',
        {"query": 5},
        {"expected_tool": "ping"},
        {"query": "a", "expected_tol": "ping"},
        {"query": "b", "expected_tool": "get_wether"},
        {"query": "c", "expected_args": {"city": "Oslo"}},
        {"query": "Oslo", "expected_tool": "get_weather", "expected_args": {"city": "Oslo", "days": "three"}},
        {"query": "Oslo", "id": "d", "expected_tool": "get_weather", "expected_args": {"town": "Oslo"}},
        {"query": "Oslo", "id": "e", "expected_tool": "get_weather", "expected_args": {"city": {"$aprox": 1}}},
        OSLO,
        {"query": "f", "id": "e2", "expected_calls": [{"tool": "ping"}, {"tool": "pong", "args": {}}]},
        {"query": "g", "expected_tool": "ping", "accept": [[{"tool": "get_weather", "args": {"city": 5}}]]},
    )
    oslo = Case("Weather in Oslo?").id
    no_matcher = (
        "cases.jsonl:13: expected_args: $aprox: no matcher (they are $one_of, $approx, $text, $unordered, $regex, "
        '$predicate, $literal, $any, $omit); where it is the value itself, write {"$literal": …}'
    )
    second = (
        f"cases.jsonl:14: id: '{oslo}' is the id of the case in line 1 too, made from the query: "
        "give each an id of its own"
    )
    assert said(path) == [
        "cases.jsonl:2: no JSON: Expecting ',' delimiter, line 1, column 14",
        "cases.jsonl:3: must be an object, not [1]",
        "cases.jsonl:4: the key 'query' stands twice in one object",
        "cases.jsonl:5: NaN is no JSON",
        "cases.jsonl:6: query: Input should be a valid string",
        "cases.jsonl:7: query: Field required",
        f"cases.jsonl:8: expected_tol: there is no such field; the fields are {', '.join(Case.model_fields)}",
        "cases.jsonl:9: expected_tool: 'get_wether' is not offered; did you mean 'get_weather'?",
        "cases.jsonl:10: expected_args: a case that expects no tool has no arguments either",
        "cases.jsonl:11: expected_args/days: 'three' is not of type 'integer'",
        "cases.jsonl:12: expected_args: 'city' is a required property",
        "cases.jsonl:12: expected_args: Additional properties are not allowed ('town' was unexpected)",
        no_matcher,
        second,
        "cases.jsonl:15: expected_calls/1/tool: 'pong' is not offered; did you mean 'ping'?",
        "cases.jsonl:16: accept/0/0/args/city: 5 is not of type 'string'",
    ]
    assert [case.query for case in read_cases(path, TOOLS).cases] == ["Weather in Oslo?"]
    with pytest.raises(CaseFileError) as caught:
        load_cases(path, TOOLS)
    assert len(str(caught.value).splitlines()) == len(caught.value.problems) == 16


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "- query: a\n  expected_tool: pong\n",
            "cases.yaml:2: expected_tool: 'pong' is not offered; did you mean 'ping'?",
        ),
        ("- query: a\n  id: x\n- query: b\n  id: x\n", "cases.yaml:4: id: 'x' is the id of the case in line 1 too"),
        ("[{query: a, id: x}, {query: b, id: x}]", "cases.yaml:1: id: 'x' is the id of the case in line 1 too"),
        ("- query: a\n  query: b\n", "cases.yaml:2: the key 'query' stands twice"),
        (
            "- query: a\n  expected_tool: ping\n  expected_args: {x: .nan}\n",
            "cases.yaml:3: expected_args/x: nan is no JSON",
        ),
        ("- query: a\n- b\n", "cases.yaml:2: must be an object, not 'b'"),
        ("- query: a\n- [query: b\n", "cases.yaml:3: no YAML: while parsing a flow sequence expected "),
        ("- query: !!python/object:os.system a\n", "cases.yaml:1: no YAML: could not determine a constructor"),
        ("- query: a\n- ? [1]\n  : 2\n", "cases.yaml:2: no YAML: while constructing a mapping found unhashable key"),
        ("- query: a\n  id: \x01\n", "cases.yaml:2: no YAML: U+0001 can't stand in it"),
        ("", "cases.yaml: holds no case"),
        ("# nothing\n", "cases.yaml: holds no case"),
        ("query: a\nexpected_tool: 5\n", "cases.yaml:2: expected_tool: Input should be a valid string"),
    ],
)
def test_what_is_wrong_in_yaml(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(text, encoding="utf-8")
    (found,) = [problem for problem in said(path) if "warning" not in problem]
    assert found.startswith(expected)


def test_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    assert said(tmp_path / "none.jsonl") == ["none.jsonl: can't be read: No such file or directory"]
    (tmp_path / "cases.txt").write_text("x")
    assert said(tmp_path / "cases.txt") == ["cases.txt: the name must end in one of .jsonl, .ndjson, .yaml, .yml"]
    (tmp_path / "cases.jsonl").write_bytes(b'\xef\xbb\xbf{"query": "a"}\n\xff')
    assert said(tmp_path / "cases.jsonl") == ["cases.jsonl:2: no UTF-8: byte 0xff"]
    (tmp_path / "cases.jsonl").write_bytes(b'\xef\xbb\xbf{"query": "a"}\r\n')
    assert said(tmp_path / "cases.jsonl") == []


@pytest.mark.parametrize(
    ("args", "faults"),
    [
        ({"city": ANY}, []),
        ({"city": one_of("Oslo", 5)}, ["expected_args/city: 5 is not of type 'string'"]),
        ({"city": OMIT}, ["expected_args: 'city' is a required property"]),
        ({"city": one_of("Oslo", OMIT)}, ["expected_args: 'city' is a required property"]),
        ({"city": "Oslo", "days": approx(1.5)}, ["expected_args/days: 1.5 is not of type 'integer'"]),
        ({"city": "Oslo", "days": ANY, "at": {"lat": ANY}}, []),
        ({"city": "Oslo", "at": {"lat": one_of("x", 1)}}, ["expected_args/at/lat: 'x' is not of type 'number'"]),
        ({"city": "Oslo", "unit": "K"}, ["expected_args/unit: 'K' is not one of ['C', 'F']"]),
    ],
)
def test_what_a_matcher_takes_is_held_against_the_schema(
    tmp_path: Path, args: dict[str, Any], faults: list[str]
) -> None:
    row = Case("Oslo", "get_weather", args).model_dump(include={"query", "expected_tool", "expected_args"})
    assert said(jsonl(tmp_path, row)) == [f"cases.jsonl:1: {fault}" for fault in faults]


def test_a_required_value_that_the_query_does_not_hold_is_a_warning(tmp_path: Path) -> None:
    def case(query: str, **args: Any) -> dict[str, Any]:
        return {"query": query, "expected_tool": "get_weather", "expected_args": args}

    path = jsonl(
        tmp_path,
        case("Weather in OSLO?", city="oslo", days=3),
        case("How is the weather?", city="Oslo"),
        case("Weather in New York", city="new-york"),
        case("And in the capital?", city={"$one_of": ["Oslo", "Bergen"]}),
        case("And in Bergen?", city={"$one_of": ["Oslo", "Bergen"]}),
        {"query": " "},
    )
    found = load_cases(path, TOOLS)
    assert [(problem.line, problem.field, problem.message) for problem in found.problems] == [
        (2, "expected_args/city", "the query does not say 'Oslo'"),
        (4, "expected_args/city", "the query does not say 'Oslo', 'Bergen'"),
        (6, "query", "is empty"),
    ]
    assert not any(problem.is_error for problem in found.problems)
    assert ":2: warning: expected_args/city: the query does" in str(found.problems[0])
    assert len(found.cases) == 6


def test_tools_come_from_a_file_a_list_or_by_name(tmp_path: Path) -> None:
    path = jsonl(tmp_path, OSLO)
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS))
    assert len(load_cases(path, file).cases) == len(load_cases(path, str(file)).cases) == 1
    by_name = {"a": Toolset(TOOLS), "b": Toolset(["ping"])}
    rows = [{**OSLO, "id": name, "toolset": name} for name in ("a", "b", "c")]
    named = jsonl(tmp_path, *rows, {"query": "none"})
    found = read_cases(named, by_name)
    assert [(problem.line, problem.field) for problem in found.problems] == [
        (2, "expected_tool"),
        (3, "toolset"),
        (4, "toolset"),
    ]
    assert found.tools_of(found.cases[0]) is by_name["a"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[", ":1: column 2: no JSON: Expecting value"),
        ("{}", ": expected a list of tools, not {}"),
        ('[{"name": ""}]', ": tools[0]"),
        ("[5]", ": tools[0]: expected a tool, got"),
    ],
)
def test_a_file_of_tools_that_can_not_be_used(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "tools.json"
    file.write_text(text)
    with pytest.raises(CaseFileError) as caught:
        load_tools(file)
    assert str(caught.value).startswith(f"{file}{expected}")
    with pytest.raises(CaseFileError, match="No such file"):
        load_tools(tmp_path / "none.json")


def test_a_tool_whose_schema_can_not_be_used_is_found_before_the_first_call(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError, match="schema of g: /type: 'objekt' is no type"):
        load_cases(jsonl(tmp_path, {"query": "x"}), [{"name": "g", "parameters": {"type": "objekt"}}])


def test_a_schema_that_only_arguments_show_to_be_of_no_use(tmp_path: Path) -> None:
    tools = [{"name": "f", "parameters": {"properties": {"x": {"$ref": "#/properties/x"}}}}]
    path = jsonl(tmp_path, {"query": "q", "expected_tool": "f", "expected_args": {"x": 1}})
    with pytest.raises(CaseFileError, match="tools: schema of f: a reference to itself"):
        read_cases(path, tools)


def test_a_predicate_has_no_function_in_a_file(tmp_path: Path) -> None:
    nested = {"query": "q", "expected_tool": "ping", "expected_args": {"a": [{"$one_of": [1, {"$predicate": "even"}]}]}}
    assert said(jsonl(tmp_path, nested)) == [
        "cases.jsonl:1: expected_args: the predicate even is a function, which a file can't hold; use --check"
    ]


def test_a_case_that_is_nested_too_deep(tmp_path: Path) -> None:
    deep = f'{{"query": "q", "expected_tool": "ping", "expected_args": {{"a": {"[" * 900}{"]" * 900}}}}}'
    assert said(jsonl(tmp_path, deep)) == ["cases.jsonl:1: nested too deep"]
