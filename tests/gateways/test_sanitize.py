"""Names for an API: what each allows, how an original becomes one, that no two are one, and that calls find their tool.

The patterns here are those that the APIs tell in their errors and descriptions, written down anew: they are compared
with what comes out, never taken from the code.
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterable
from copy import deepcopy
from enum import StrEnum
from random import Random
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from recovery import Allowance, Limits, Policy, Reason, Recovery, Tool, Toolset, recover
from recovery.gateways.sanitize import RULES, Names, sanitize
from tests.strategies import examples

PATTERNS = {
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    "vertex": r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}",
    "bedrock": r"[a-zA-Z0-9_-]{1,64}",
    "mcp": r"[a-zA-Z0-9_.-]{1,128}",
}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}}
# A name of any length can be read.
LENIENT = Policy.lenient(Limits(name=10_000))


def offered(names: Iterable[str], api: str = "openai") -> dict[str, str]:
    return dict(sanitize(names, api=api).offered)


# -- what each API allows, and how an original becomes a name

# Each original with what becomes of it, alone, where APIs take: letters, digits, `_`, `-` | also dots | also colons.
# The third column stands for Gemini, where a name also begins with a letter or an underscore.
TABLE = [
    ("tide", "tide", "tide", "tide"),
    ("Tide_2", "Tide_2", "Tide_2", "Tide_2"),
    ("low-tide", "low-tide", "low-tide", "low-tide"),
    ("Tide.forecast", "Tide_forecast", "Tide.forecast", "Tide.forecast"),
    ("Book a berth", "Book_a_berth", "Book_a_berth", "Book_a_berth"),
    ("math/add", "math_add", "math_add", "math_add"),
    ("ns:tool", "ns_tool", "ns_tool", "ns:tool"),
    ("a.b/c:d e", "a_b_c_d_e", "a.b_c_d_e", "a.b_c:d_e"),
    ("a..b", "a__b", "a..b", "a..b"),
    ("tab\there", "tab_here", "tab_here", "tab_here"),
    ("line\nend", "line_end", "line_end", "line_end"),
    ("tide\n", "tide_", "tide_", "tide_"),
    ("2fast", "2fast", "2fast", "_2fast"),
    ("-x", "-x", "-x", "_-x"),
    (".x", "_x", ".x", "_.x"),
    ("/x", "_x", "_x", "_x"),
    ("$", "_", "_", "_"),
]


@pytest.mark.parametrize(("original", "plain", "dots", "colons"), TABLE)
def test_how_an_original_becomes_a_name(original: str, plain: str, dots: str, colons: str) -> None:
    expected = {"openai": plain, "anthropic": plain, "bedrock": plain, "mcp": dots, "gemini": colons}
    for api, name in expected.items():
        assert offered([original], api) == {original: name}, api


def test_vertex_is_gemini_without_the_colon() -> None:
    assert offered(["ns:a.b", "2x"], "vertex") == {"ns:a.b": "ns_a.b", "2x": "_2x"}


# What an API takes as it is, and what it does not, though it nearly does.
@pytest.mark.parametrize("api", PATTERNS)
@pytest.mark.parametrize(
    "text", [*"a_-0éа٣ａ", "a.b", "a:b", "a b", "a/b", "a\n", *("a" * n for n in (64, 65, 128, 129))]
)
def test_what_stays_is_what_the_api_takes(api: str, text: str) -> None:
    takes = re.fullmatch(PATTERNS[api], text) is not None
    assert (offered([text], api)[text] == text) == takes


def test_the_rules_are_those_of_the_table() -> None:
    assert RULES.keys() == PATTERNS.keys()


# Names never change from one release to the next without a word: messages of yesterday hold them.
@pytest.mark.parametrize(
    ("originals", "expected"),
    [
        pytest.param(["a/b", "a:b"], {"a/b": "a_b_c14cddc0", "a:b": "a_b_6783a31e"}, id="one-stem"),
        pytest.param(["a/b", "a_b"], {"a/b": "a_b_c14cddc0", "a_b": "a_b"}, id="beside-what-is-allowed"),
        pytest.param(["a.b", "a_b"], {"a.b": "a_b_2e7336dc", "a_b": "a_b_648fa9b3"}, id="could-be-taken-for"),
        pytest.param(["a.b", "a b"], {"a.b": "a_b_2e7336dc", "a b": "a_b_c8687a08"}, id="dot-and-space"),
        pytest.param(["a/b c", "a/b.c"], {"a/b c": "a_b_c_0af99a60", "a/b.c": "a_b_c_c0620514"}, id="behind-a-slash"),
        pytest.param(["查水位"], {"查水位": "____3e3598ef"}, id="other-script"),
        pytest.param(["café"], {"café": "caf__850f7dc4"}, id="one-letter"),
        pytest.param(["a" * 65], {"a" * 65: "a" * 55 + "_635361c4"}, id="too-long"),
        pytest.param(["Tide", "tide"], {"Tide": "Tide", "tide": "tide"}, id="case"),
    ],
)
def test_what_a_digest_tells_apart(originals: list[str], expected: dict[str, str]) -> None:
    assert offered(originals) == expected


def test_where_the_api_takes_dots_nothing_could_be_taken_for_another() -> None:
    # The offered name in its own spelling leaves nothing to the rule of dots.
    names = sanitize(["a.b", "a_b"], api="gemini")
    assert not names.aliases
    # But a space is none of its characters.
    assert offered(["a b", "a_b", "a.b"], "gemini").keys() - {"a.b"} == {
        original for original, name in offered(["a b", "a_b", "a.b"], "gemini").items() if original != name
    }


def test_a_digest_that_is_taken_is_made_anew() -> None:
    taken = offered(["a/b", "a:b"])["a/b"]
    names = offered(["a/b", "a:b", taken])
    assert names[taken] == taken
    assert names["a/b"] not in {"a_b", taken}
    assert len(set(names.values())) == 3


def test_what_gets_a_digest_anyhow_takes_no_name_from_another() -> None:
    assert offered(["a/b", "aéb"])["a/b"] == "a_b"


def test_names_of_one_digest_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recovery.gateways.sanitize._DIGITS", 1)
    # Twelve of sixteen digits.
    originals = [*"абвгдеёжзийк"]
    names = offered(originals)
    assert len(set(names.values())) == len(originals)
    assert offered(reversed(originals)) == names


# -- whatever the tools

PARTS = ["a", "b", "A", "_", ".", " ", "/", ":", "-", "__", "é", "查", "2", "not", "f", "functions", "a_b_c14cddc0"]
from_parts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join)
long = st.builds(lambda name, times, tail: name * times + tail, from_parts, st.integers(1, 80), from_parts)
anything = st.text(min_size=1, max_size=12) | st.text(st.characters(categories=["Cs", "Lu", "Mn", "Nd"]), min_size=1)
# Few words and many signs between: names that come out alike, and could be taken for each other.
alike = st.tuples(st.sampled_from("_. /"), st.sampled_from("_. :"), st.sampled_from(["", "-", "not "])).map(
    lambda signs: f"{signs[2]}a{signs[0]}b{signs[1]}c"
)
originals_lists = st.sampled_from([from_parts, alike, alike | from_parts | long | anything]).flatmap(
    lambda names: st.lists(names.filter(lambda name: name.strip() != ""), min_size=1, max_size=12, unique=True)
)
apis = st.sampled_from(sorted(PATTERNS))


@examples(300)
@given(originals_lists, apis)
def test_every_tool_has_a_name_of_its_own_that_the_api_takes(originals: list[str], api: str) -> None:
    names = sanitize(originals, api=api)
    assert list(names.offered) == originals
    assert all(re.fullmatch(PATTERNS[api], name) for name in names.offered.values())
    assert len(set(names.offered.values())) == len(originals)
    assert [names.original(name) for name in names.tools(originals)] == originals
    assert names.aliases == {original: name for original, name in names.offered.items() if original != name}
    # No name is an original of another tool: what is kept and what is made can't be mixed up.
    assert not {name for original, name in names.offered.items() if name != original} & set(originals)


@examples(150)
@given(originals_lists, apis, st.randoms(use_true_random=False))
def test_the_order_changes_no_name(originals: list[str], api: str, random: Random) -> None:
    shuffled = random.sample(originals, len(originals))
    assert offered(shuffled, api) == offered(originals, api)
    # Nor does a second pass over what was made: it is taken as it is.
    made = list(offered(originals, api).values())
    assert offered(made, api) == dict(zip(made, made, strict=True))


@examples(150)
@given(originals_lists, from_parts.filter(str.strip), apis)
def test_another_tool_changes_only_what_could_be_taken_for_it(originals: list[str], more: str, api: str) -> None:
    assume(more not in originals)
    before, after = offered(originals, api), offered([*originals, more], api)
    alone = offered([more], api)[more]
    # What was made without a digest, and has nothing to do with the new name.
    for original, name in before.items():
        if after[original] != name:
            assert name in {alone, more, re.sub("[. ]", "_", more)}


def read(text: str, toolset: Toolset) -> Recovery:
    return recover(text, toolset, policy=LENIENT)


def is_said_about_another(original: str) -> bool:
    """Whether it begins as code about another name does, as `not f`: that may be ambiguous, where `f` is a tool too."""
    return original.partition(" ")[0] == "not"


@examples(300)
@given(originals_lists, apis)
def test_every_alias_in_a_json_call_is_its_tool(originals: list[str], api: str) -> None:
    names = sanitize(originals, api=api)
    toolset = Toolset(names.tools(originals), aliases=names.aliases)
    for original, name in names.offered.items():
        assume(not any("\ud800" <= character <= "\udfff" for character in original))
        for written in {original, name}:
            result = read(json.dumps({"name": written, "arguments": {}}), toolset)
            if is_said_about_another(original) and result.refusal and result.refusal.reason is Reason.AMBIGUOUS_NAME:
                continue
            assert [call.name for call in result.calls] == [name], (written, result)


# What would be more than a name, written before a "(": brackets, quotes, the ends of lines and of calls.
MORE_THAN_A_NAME = re.compile(r"[][(){}'\"`<>#;,=|\\\n\r\f\v\x1c-\x1e\x85\u2028\u2029]")


@examples(300)
@given(originals_lists, apis)
def test_a_written_call_is_of_its_tool_or_none(originals: list[str], api: str) -> None:
    # White space around a name is no part of it.
    originals = [name for name in originals if name == name.strip() and MORE_THAN_A_NAME.search(name) is None]
    names = sanitize(originals, api=api)
    toolset = Toolset(names.tools(originals), aliases=names.aliases)
    for original, name in names.offered.items():
        found = [call.name for call in read(f"{original}(x=1)", toolset).calls]
        assert found in ([], [name]), (original, found)
        # What is words joined by single dots and spaces is found, by the strict form.
        words = re.split("[. ]", original)
        is_plain = words[0].isidentifier() and all(f"a{word}".isidentifier() and word for word in words)
        if is_plain and not is_said_about_another(original):
            assert recover(f"{original}(x=1)", toolset, policy=Policy((), Limits(name=10_000))).calls[0].name == name


# -- calls under the originals, as a gateway's default policy reads them

TOGETHER = [
    *["Tide.forecast", "Book a berth", "math/add", "low-tide", "a.b", "a_b", "a b", "a/b", "functions.f", "f"],
    # Where dots may stay, one comes out as what the other could be taken for.
    *["x y z", "x y.z"],
]


@pytest.mark.parametrize("api", PATTERNS)
@pytest.mark.parametrize("original", TOGETHER)
def test_a_call_under_the_original_finds_its_tool(original: str, api: str) -> None:
    names = sanitize(TOGETHER, api=api)
    toolset = Toolset(names.tools(TOGETHER), aliases=names.aliases)
    for text in (f"[{original}(x=1)]", json.dumps({"name": original, "arguments": {"x": 1}})):
        result = recover(text, toolset)
        assert [(call.name, call.written, call.arguments) for call in result.calls] == [
            (names.offered[original], original, {"x": 1})
        ]
        assert names.original(result.calls[0].name) == original


def test_what_is_no_name_in_a_call_is_one_in_json() -> None:
    names = sanitize(["ns:tool", "tool"], api="openai")
    toolset = Toolset(names.tools(["ns:tool", "tool"]), aliases=names.aliases)
    assert not recover("ns:tool(x=1)", toolset).calls
    assert recover('{"name": "ns:tool", "arguments": {}}', toolset).calls[0].name == "ns_tool"


def test_operators_between_words_take_their_allowance() -> None:
    names = sanitize(["math/add"], api="openai")
    toolset = Toolset(names.tools(["math/add"]), aliases=names.aliases)
    result = recover("math/add(x=1)", toolset)
    assert (result.calls[0].name, result.used) == ("math_add", frozenset({Allowance.EXACT_OPERATOR_NAME}))
    assert not recover("math/add(x=1)", toolset, policy=Policy.strict()).calls


def test_a_keyword_before_another_tool_stays_ambiguous() -> None:
    names = sanitize(["not f", "f"], api="openai")
    toolset = Toolset(names.tools(["not f", "f"]), aliases=names.aliases)
    result = recover("not f(x=1)", toolset)
    assert result.refusal is not None
    assert result.refusal.reason is Reason.AMBIGUOUS_NAME
    assert recover("not_f(x=1)", toolset).calls[0].name == "not_f"


# -- the shapes of tools


class Function(BaseModel):
    name: str
    description: str = "Adds."
    parameters: dict[str, Any] = SCHEMA


class ChatTool(BaseModel):
    model_config = ConfigDict(frozen=True)
    function: Function
    type: str = "function"


class McpTool(BaseModel):
    name: str
    inputSchema: dict[str, Any] = SCHEMA  # noqa: N815  # as MCP has it
    description: str | None = "Adds."


class Ünique(BaseModel):  # noqa: PLC2401  # a name that has to change
    """Adds."""

    x: int


class Named(StrEnum):
    ADD = "math/add"


FUNCTION = {"name": "math/add", "description": "Adds.", "parameters": SCHEMA}
SHAPES: dict[str, tuple[Any, Any]] = {
    "chat": (
        {"type": "function", "function": FUNCTION},
        {"type": "function", "function": {**FUNCTION, "name": "math_add"}},
    ),
    "responses": ({"type": "function", **FUNCTION}, {"type": "function", **FUNCTION, "name": "math_add"}),
    "function": (FUNCTION, {**FUNCTION, "name": "math_add"}),
    "mapping": (MappingProxyType(FUNCTION), {**FUNCTION, "name": "math_add"}),
    "anthropic": (
        {"name": "math/add", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
        {"name": "math_add", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    ),
    "mcp": ({"name": "math/add", "inputSchema": SCHEMA}, {"name": "math_add", "inputSchema": SCHEMA}),
    "mcp-object": (McpTool(name="math/add"), McpTool(name="math_add")),
    "chat-object": (ChatTool(function=Function(name="math/add")), ChatTool(function=Function(name="math_add"))),
    "chat-with-object": ({"function": Function(name="math/add")}, {"function": Function(name="math_add")}),
    "name": ("math/add", "math_add"),
    "enum": (Named.ADD, "math_add"),
    "tool": (Tool("math/add", "Adds.", SCHEMA), Tool("math_add", "Adds.", SCHEMA)),
    "object": (
        SimpleNamespace(name="math/add", description="Adds.", inputSchema=SCHEMA),
        Tool("math_add", "Adds.", SCHEMA),
    ),
}


@pytest.mark.parametrize(("given_tool", "renamed"), SHAPES.values(), ids=SHAPES)
def test_a_tool_of_any_shape_is_renamed_in_its_shape(given_tool: Any, renamed: Any) -> None:
    before = given_tool if isinstance(given_tool, MappingProxyType) else deepcopy(given_tool)
    names = sanitize([given_tool], api="openai")
    (result,) = names.tools([given_tool])
    assert (result, type(result)) == (renamed, type(renamed))
    assert given_tool == before
    assert Toolset([result], aliases=names.aliases).get("math_add") is not None


def test_a_model_class_becomes_a_tool() -> None:
    names = sanitize([Ünique], api="openai")
    (tool,) = names.tools([Ünique])
    assert tool == Tool(names.offered["Ünique"], "Adds.", Ünique.model_json_schema())


def test_an_object_of_openai() -> None:
    responses = pytest.importorskip("openai.types.responses")
    tool = responses.FunctionTool(name="math/add", parameters=SCHEMA, type="function", strict=None)
    (renamed,) = sanitize([tool], api="openai").tools([tool])
    assert renamed == responses.FunctionTool(name="math_add", parameters=SCHEMA, type="function", strict=None)
    assert tool.name == "math/add"


def test_an_object_of_anthropic() -> None:
    """It holds a function of Python's and can't be copied."""
    anthropic = pytest.importorskip("anthropic")
    if not hasattr(anthropic, "beta_tool"):
        pytest.skip("this anthropic has no tools that are functions")

    def add(x: int) -> str:
        """Adds."""
        return str(x)

    tool = anthropic.beta_tool(add, name="math/add")
    (renamed,) = sanitize([tool], api="anthropic").tools([tool])
    assert (type(renamed), renamed.name, renamed.description) == (Tool, "math_add", "Adds.")
    assert tool.name == "math/add"


def test_what_keeps_its_name_is_passed_on() -> None:
    tools = [{"name": "add", "parameters": SCHEMA}, Named.ADD, {"type": "web_search"}, McpTool(name="sub"), "x"]
    passed = sanitize(tools, api="openai").tools(iter(tools))
    assert [now is then for now, then in zip(passed, tools, strict=True)] == [True, False, True, True, True]


def test_the_same_tool_twice_is_one() -> None:
    assert offered(["a.b", "a.b"]) == {"a.b": "a_b"}
    assert sanitize(["a.b"], api="openai").tools(["a.b", "a.b"]) == ["a_b", "a_b"]


class BuiltIn(BaseModel):
    type: str = "bash_20250124"
    name: str = "my_bash"


@pytest.mark.parametrize(
    "built_in",
    [
        {"type": "bash_20250124", "name": "my_bash"},
        MappingProxyType({"type": "bash_20250124", "name": "my_bash"}),
        {"type": "custom", "custom": {"name": "my_bash", "format": {"type": "text"}}},
        BuiltIn(),
    ],
    ids=["anthropic", "mapping", "openai-custom", "object"],
)
def test_the_name_of_a_built_in_tool_is_given_to_no_other(built_in: Any) -> None:
    tools = ["my bash", built_in, {"type": "web_search"}]
    names = sanitize(tools, api="anthropic")
    assert re.fullmatch("my_bash_[0-9a-f]{8}", names.offered["my bash"])
    assert names.original("my_bash") is None
    assert names.tools(tools) == [names.offered["my bash"], *tools[1:]]
    with pytest.raises(ValueError, match=r"tools\[0\]: 'my_bash' is the name of a built-in tool, tools\[1\]"):
        sanitize(["my_bash", built_in], api="anthropic")


def test_the_names_can_be_pickled() -> None:
    names = sanitize(["math/add", "a"], api="mcp")
    again = pickle.loads(pickle.dumps(names))
    assert isinstance(again, Names)
    assert (again.api, again.offered, again.aliases) == ("mcp", names.offered, names.aliases)
    assert again.original("math_add") == "math/add"


@pytest.mark.parametrize("names", ["offered", "aliases"])
def test_the_names_can_not_be_changed(names: str) -> None:
    with pytest.raises(TypeError):
        getattr(sanitize(["math/add"], api="openai"), names)["b"] = "c"


# -- mistakes


@pytest.mark.parametrize(
    ("tools", "error", "message"),
    [
        pytest.param("math/add", TypeError, "tools: pass a list of tools, not a single str", id="one-name"),
        pytest.param(FUNCTION, TypeError, "tools: pass a list of tools, not a single dict", id="one-tool"),
        pytest.param(Toolset(["a"]), TypeError, "tools: this is a Toolset already", id="toolset"),
        pytest.param(3, TypeError, "tools: expected a list of tools, got int", id="no-list"),
        pytest.param(["a", 3], TypeError, r"tools\[1\]: expected a tool, got int", id="no-tool"),
        pytest.param(["a", " "], ValueError, r"tools\[1\]: a tool needs a non-empty name", id="empty"),
        pytest.param([{"name": None}], ValueError, r"tools\[0\]: a tool needs a non-empty name", id="no-name"),
        pytest.param(["math/add", FUNCTION], ValueError, r"tools\[1\]: 'math/add' was already offered", id="twice"),
    ],
)
def test_a_mistake_is_told_with_its_place(tools: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sanitize(tools, api="openai")
    with pytest.raises(error, match=message):
        sanitize(["a", "math/add"], api="openai").tools(tools)


def test_an_unknown_api_and_an_unknown_tool() -> None:
    with pytest.raises(ValueError, match=r"api: expected one of openai, anthropic, .*, got 'openapi'"):
        sanitize(["a"], api="openapi")
    with pytest.raises(ValueError, match=r"tools\[1\]: 'b' is none of the names that were sanitised"):
        sanitize(["a"], api="openai").tools(["a", "b"])
