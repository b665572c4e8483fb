"""The toolset: every shape a tool comes in, and every mistake a caller can make, told with its place."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

import recovery
from recovery import Policy, recover
from recovery.toolset import Tool, Toolset, fold

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "Tells the weather.", SCHEMA)


class Dumped:
    """As pydantic's objects are, for what asks no more than that."""

    def __init__(self, dumped: object) -> None:
        self.dumped = dumped

    def model_dump(self) -> object:
        return self.dumped


class Model:
    """As a pydantic model class, for what asks no more than that."""

    @classmethod
    def model_json_schema(cls) -> object:
        return SCHEMA


class Unwilling:
    @classmethod
    def model_json_schema(cls) -> object:
        raise RuntimeError("a callable has no schema")


class NoSchema:
    @classmethod
    def model_json_schema(cls) -> object:
        return "{}"


class Named(StrEnum):
    WEATHER = "get_weather"


FUNCTION = {"name": "get_weather", "description": "Tells the weather.", "parameters": SCHEMA}

SHAPES = {
    "openai-chat": {"type": "function", "function": FUNCTION},
    "openai-chat-without-type": {"function": FUNCTION},
    "openai-chat-function-as-object": {"type": "function", "function": Dumped(FUNCTION)},
    "openai-chat-object": Dumped({"type": "function", "function": FUNCTION}),
    "openai-responses": {"type": "function", **FUNCTION, "strict": True},
    "openai-responses-object": Dumped({"type": "function", **FUNCTION, "strict": None}),
    "function-dict": FUNCTION,
    "function-mapping": MappingProxyType(FUNCTION),
    "schema-mapping": {**FUNCTION, "parameters": MappingProxyType(SCHEMA)},
    "type-none": {**FUNCTION, "type": None, "function": None},
    "anthropic": {"name": "get_weather", "description": "Tells the weather.", "input_schema": SCHEMA},
    "anthropic-custom": {
        "type": "custom",
        "name": "get_weather",
        "description": "Tells the weather.",
        "input_schema": SCHEMA,
    },
    "mcp-dict": {"name": "get_weather", "description": "Tells the weather.", "inputSchema": SCHEMA, "title": "Weather"},
    "mcp-object": SimpleNamespace(name="get_weather", description="Tells the weather.", inputSchema=SCHEMA),
    "mcp-object-snake": SimpleNamespace(name="get_weather", description="Tells the weather.", input_schema=SCHEMA),
    "tool": WEATHER,
    "enum-name": {**FUNCTION, "name": Named.WEATHER},
}


@pytest.mark.parametrize("item", SHAPES.values(), ids=SHAPES)
def test_every_shape_gives_the_same_tool(item: object) -> None:
    (tool,) = Toolset([item]).tools
    assert tool == WEATHER
    assert type(tool.name) is str
    assert type(tool.parameters) is dict


def test_all_shapes_mixed_are_one_tool() -> None:
    toolset = Toolset(iter(SHAPES.values()))
    assert toolset.tools == (WEATHER,)


@pytest.mark.parametrize(
    "item",
    [
        "get_weather",
        {"name": "get_weather"},
        {"name": "get_weather", "description": None, "parameters": None},
        {"name": "get_weather", "input_schema": {}},
        {"type": "function", "function": {"name": "get_weather"}},
        {"type": "client_function", "function": {"name": "get_weather"}},
        {"type": "function", "name": "get_weather"},
        SimpleNamespace(name="get_weather", inputSchema=None),
        Tool("get_weather"),
    ],
)
def test_what_is_not_given_is_empty(item: object) -> None:
    assert Toolset([item]).tools == (Tool("get_weather", "", {}),)


@pytest.mark.parametrize("other", ["parameters", "inputSchema"])
def test_a_schema_key_of_none_does_not_hide_another(other: str) -> None:
    item = {"name": "get_weather", "parameters": None, "input_schema": None, "inputSchema": None, other: SCHEMA}
    assert Toolset([item]).tools[0].parameters == SCHEMA


def test_a_model_class_is_named_after_the_class() -> None:
    assert Toolset([Model]).tools == (Tool("Model", "", SCHEMA),)


@pytest.mark.parametrize(
    "item",
    [
        {"type": "web_search"},
        {"type": "file_search", "vector_store_ids": ["vs_1"]},
        {"type": "mcp", "server_label": "x", "server_url": "https://example.com"},
        {"type": "custom", "name": "run_code", "description": "Takes free text."},
        {"type": "bash_20250124", "name": "bash"},
        Dumped({"type": "code_interpreter", "container": "auto"}),
    ],
)
def test_a_built_in_of_the_api_is_passed_over(item: object) -> None:
    toolset = Toolset([item, "get_weather"])
    assert [tool.name for tool in toolset.tools] == ["get_weather"]


def test_places_count_what_is_passed_over() -> None:
    with pytest.raises(ValueError, match=r"^tools\[1\]: a tool needs a non-empty name, got ''$"):
        Toolset([{"type": "web_search"}, ""])


def test_tools_keep_the_callers_order() -> None:
    assert [tool.name for tool in Toolset(["c", "a", "b", "a"]).tools] == ["c", "a", "b"]


def test_an_identical_tool_offered_twice_is_one() -> None:
    again = {"name": "get_weather", "description": "Tells the weather.", "inputSchema": copy.deepcopy(SCHEMA)}
    assert Toolset([SHAPES["openai-chat"], "other", again]).tools == (WEATHER, Tool("other"))


@pytest.mark.parametrize(
    "second",
    ["get_weather", {**FUNCTION, "description": "Another."}, {**FUNCTION, "parameters": {"type": "object"}}],
    ids=["bare", "description", "parameters"],
)
def test_two_different_tools_of_one_name_name_both_places(second: object) -> None:
    with pytest.raises(ValueError, match="different definition") as caught:
        Toolset(["a", FUNCTION, FUNCTION, "b", second])
    assert str(caught.value) == ("tools[4]: 'get_weather' was already offered by tools[1] with a different definition")


@pytest.mark.parametrize(
    ("item", "error", "message"),
    [
        ("", ValueError, "a tool needs a non-empty name, got ''"),
        (" \n", ValueError, "a tool needs a non-empty name, got ' \\n'"),
        ({}, ValueError, "a tool needs a non-empty name, got None"),
        ({"name": ""}, ValueError, "a tool needs a non-empty name, got ''"),
        ({"name": None}, ValueError, "a tool needs a non-empty name, got None"),
        ({"name": 5}, TypeError, "the name of a tool must be a str, got int"),
        ({"name": b"f"}, TypeError, "the name of a tool must be a str, got bytes"),
        ({"type": "function"}, ValueError, "a tool needs a non-empty name, got None"),
        ({"type": "function", "function": {}}, ValueError, "a tool needs a non-empty name, got None"),
        ({"type": "function", "function": "f"}, TypeError, "'function' must be a mapping, got str"),
        ({"type": "function", "function": Model}, TypeError, "'function' must be a mapping, got the class Model"),
        ({"type": "function", "function": Dumped}, TypeError, "'function' must be a mapping, got the class Dumped"),
        (SCHEMA, ValueError, "a tool needs a non-empty name, got None"),
        (Tool(""), ValueError, "a tool needs a non-empty name, got ''"),
        (SimpleNamespace(inputSchema=SCHEMA), ValueError, "a tool needs a non-empty name, got None"),
        (
            {"name": "f", "parameters": ["city"]},
            TypeError,
            "the parameters of 'f' must be a JSON Schema as a mapping, got list",
        ),
        (
            {"name": "f", "input_schema": "{}"},
            TypeError,
            "the parameters of 'f' must be a JSON Schema as a mapping, got str",
        ),
        (
            SimpleNamespace(name="f", inputSchema=True),
            TypeError,
            "the parameters of 'f' must be a JSON Schema as a mapping, got bool",
        ),
        ({"name": "f", "description": 5}, TypeError, "the description of 'f' must be a str, got int"),
        (b"f", TypeError, "expected a tool, got bytes"),
        (None, TypeError, "expected a tool, got NoneType"),
        (5, TypeError, "expected a tool, got int"),
        (["f"], TypeError, "expected a tool, got list"),
        (int, TypeError, "expected a tool, got the class int"),
        (len, TypeError, "expected a tool, got builtin_function_or_method"),
        (Dumped("f"), TypeError, "expected a tool, got Dumped"),
        (Dumped, TypeError, "expected a tool, got the class Dumped"),
        (Toolset(["f"]), TypeError, "expected a tool, got Toolset"),
        (Unwilling, ValueError, "the model Unwilling has no JSON Schema: a callable has no schema"),
        (NoSchema, TypeError, "the parameters of 'NoSchema' must be a JSON Schema as a mapping, got str"),
    ],
)
def test_a_bad_item_is_told_with_its_place(item: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        Toolset(["get_weather", "other", item])
    assert str(caught.value) == f"tools[2]: {message}"


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("get_weather", "tools: pass a list of tools, not a single str"),
        (b"get_weather", "tools: pass a list of tools, not a single bytes"),
        (FUNCTION, "tools: pass a list of tools, not a single dict"),
        (MappingProxyType(FUNCTION), "tools: pass a list of tools, not a single mappingproxy"),
        (WEATHER, "tools: pass a list of tools, not a single Tool"),
        (Model, "tools: pass a list of tools, not the class Model"),
        (Named, "tools: pass a list of tools, not the class Named"),
        (Dumped(FUNCTION), "tools: pass a list of tools, not a single Dumped"),
        (None, "tools: expected a list of tools, got NoneType"),
        (5, "tools: expected a list of tools, got int"),
    ],
)
@pytest.mark.parametrize("build", [Toolset, Toolset.of], ids=["Toolset", "of"])
def test_one_tool_is_no_list_of_tools(build: Callable[[Any], Toolset], tools: object, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        build(tools)
    assert str(caught.value) == message


def test_of_gives_a_toolset_back_as_it_is() -> None:
    toolset = Toolset(["f"], aliases={"g": "f"})
    assert Toolset.of(toolset) is toolset
    assert Toolset.of(["f"]).tools == toolset.tools


def test_a_toolset_made_of_a_toolset_would_lose_its_aliases() -> None:
    with pytest.raises(TypeError, match="this is a Toolset already"):
        Toolset(Toolset(["f"], aliases={"g": "f"}))  # type: ignore[arg-type]


def test_aliases_stand_for_offered_names() -> None:
    toolset = Toolset(["t_1", "t_2"], aliases={"crane.drop": "t_1", "Lift It": "t_1", "t_2": "t_2"})
    assert toolset.aliases == {"crane.drop": "t_1", "Lift It": "t_1", "t_2": "t_2"}
    # An alias is no offered name.
    assert "crane.drop" not in toolset
    assert toolset.get("crane.drop") is None


@pytest.mark.parametrize(
    ("aliases", "error", "message"),
    [
        ({"foo": "gone"}, ValueError, "aliases['foo']: 'gone' is not among the offered tools"),
        ({"foo": "bar", "bar": "f"}, ValueError, "aliases['foo']: 'bar' is not among the offered tools"),
        ({"foo": ""}, ValueError, "aliases['foo']: an alias stands for the name of an offered tool, got ''"),
        ({"foo": None}, ValueError, "aliases['foo']: an alias stands for the name of an offered tool, got None"),
        ({"foo": ["f"]}, ValueError, "aliases['foo']: an alias stands for the name of an offered tool, got ['f']"),
        ({"": "f"}, ValueError, "aliases['']: an alias needs a non-empty name"),
        ({" ": "f"}, ValueError, "aliases[' ']: an alias needs a non-empty name"),
        ({5: "f"}, ValueError, "aliases[5]: an alias needs a non-empty name"),
        ([("foo", "f")], TypeError, "aliases: expected a mapping of original to offered names, got list"),
        ("f", TypeError, "aliases: expected a mapping of original to offered names, got str"),
    ],
)
def test_a_bad_alias_is_told_by_name(aliases: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        Toolset(["f"], aliases=aliases)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("namespaces", "message"),
    [
        ("api", "namespaces: expected a collection of names, got a single str"),
        (5, "namespaces: expected a collection of names, got int"),
        (["api", ["tools"]], "namespaces[1]: a namespace must be a str, got list"),
        ([{}], "namespaces[0]: a namespace must be a str, got dict"),
    ],
)
def test_a_bad_namespace_is_told_by_its_place(namespaces: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        Toolset(["f"], namespaces=namespaces)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("never", "error", "message"),
    [
        ("f", TypeError, "never: expected a collection of names, got a single str"),
        (5, TypeError, "never: expected a collection of names, got int"),
        (["f", 5], TypeError, "never[1]: the name of a tool must be a str, got int"),
        (["f", "gone"], ValueError, "never[1]: 'gone' is not among the offered tools"),
        # What is kept back is a tool, under all its names.
        ({"x"}, ValueError, "never[0]: 'x' is not among the offered tools"),
    ],
)
def test_a_name_that_is_never_recovered_must_be_offered(never: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        Toolset(["f"], aliases={"x": "f"}, never=never)
    assert str(caught.value) == message


def test_what_is_never_recovered_survives_pickling_and_is_shown() -> None:
    tools = pickle.loads(pickle.dumps(Toolset(["f", "g"], never={"g"})))
    assert tools.never == {"g"}
    assert repr(tools) == "<Toolset [f, g], never 1>"


def test_an_alias_of_a_tool_that_is_passed_over_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"aliases\['sh'\]: 'bash' is not among the offered tools"):
        Toolset([{"type": "bash_20250124", "name": "bash"}], aliases={"sh": "bash"})


def test_a_schema_may_be_nested_as_deep_as_json_can_be() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(480):
        schema = {"anyOf": [schema]}
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"x": schema}}}
    (call,) = recover("f('a')", [tool], policy=Policy(["positional"])).calls
    assert call.arguments == {"x": "a"}


def test_get_is_exact() -> None:
    toolset = Toolset([FUNCTION, "orchard.prune"])
    assert toolset.get("get_weather") == WEATHER
    assert "orchard.prune" in toolset
    for name in ("get.weather", "Get_Weather", "orchard_prune", "", "get_weather "):
        assert toolset.get(name) is None
        assert name not in toolset


def test_an_empty_toolset_is_a_toolset() -> None:
    assert Toolset([]).tools == ()
    assert len(Toolset([])) == 0
    assert len(Toolset(["a", "b", "a"])) == 2


def test_changing_what_was_passed_changes_nothing() -> None:
    tools: list[object] = [{**FUNCTION}, "other"]
    aliases = {"foo": "other"}
    toolset = Toolset(tools, aliases=aliases)
    first = tools[0]
    assert isinstance(first, dict)
    first["name"] = "renamed"
    tools.append("later")
    aliases["bar"] = "other"
    assert toolset.tools == (WEATHER, Tool("other"))
    assert toolset.aliases == {"foo": "other"}
    assert "later" not in toolset
    assert "renamed" not in toolset


def test_the_schema_is_held_not_copied() -> None:
    assert Toolset([FUNCTION]).tools[0].parameters is SCHEMA


def test_a_toolset_cannot_be_changed() -> None:
    toolset = Toolset(["f"], aliases={"g": "f"})
    with pytest.raises(AttributeError):
        toolset.tools = ()
    with pytest.raises(AttributeError):
        toolset.more = 1
    with pytest.raises(AttributeError):
        del toolset.tools
    with pytest.raises(TypeError):
        toolset.aliases["h"] = "f"  # type: ignore[index]
    with pytest.raises(AttributeError):
        toolset.tools[0].name = "h"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_toolset_can_be_pickled(protocol: int) -> None:
    toolset = Toolset([FUNCTION, "other", "orchard.prune"], aliases={"crane.drop": "other", "other": "get_weather"})
    again = pickle.loads(pickle.dumps(toolset, protocol))
    assert type(again) is Toolset
    assert again.tools == toolset.tools
    assert again.aliases == toolset.aliases
    assert again._folded == toolset._folded
    # `names` compares tools by identity: an alias and its tool must still be one object.
    assert again._alias["other"] is again.get("get_weather")
    assert again._alias["crane.drop"] is again.get("other")


def test_a_copy_is_a_toolset() -> None:
    toolset = Toolset([FUNCTION], aliases={"w": "get_weather"})
    for again in (copy.copy(toolset), copy.deepcopy(toolset)):
        assert again.tools == toolset.tools
        assert again.aliases == toolset.aliases


def test_equal_tools_hash_alike() -> None:
    assert len({WEATHER, Tool("get_weather", "Tells the weather.", copy.deepcopy(SCHEMA)), Tool("other")}) == 2


def test_repr_is_short() -> None:
    assert repr(Toolset([])) == "<Toolset []>"
    assert repr(Toolset(["a", "b"], aliases={"c": "a"})) == "<Toolset [a, b], 1 aliases>"
    assert repr(Toolset([f"t{n}" for n in range(9_000)])) == "<Toolset [t0, t1, t2, … 9000 in all]>"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("get_weather", "getweather"),
        ("Get Weather", "GetWeather"),
        ("get-docs/v2.1", "getdocsv21"),
        (r"get\_weather", "getweather"),
        ("река_уровень", "рекауровень"),
        ("___", ""),
        ("", ""),
    ],
)
def test_fold_keeps_letters_and_digits_in_their_case(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_names_and_aliases_are_folded() -> None:
    toolset = Toolset(["get_weather", "get-docs", "___"], aliases={"Crane.Drop": "get-docs", "...": "get_weather"})
    assert toolset._folded == {"getweather", "getdocs", "CraneDrop"}


def test_importing_the_module_imports_the_standard_library_alone() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules); import recovery.names;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)"
    )
    root = str(Path(recovery.__file__).parent.parent)
    # -S: what a site's .pth files import is none of ours.
    done = subprocess.run([sys.executable, "-S", "-c", code, root], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["recovery"]


def test_a_pydantic_model_class_is_a_tool() -> None:
    pydantic = pytest.importorskip("pydantic")

    class BookTable(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        """Book a table.

        For tonight.
        """

        seats: int

    class Plain(BookTable):
        pass

    callback = pydantic.create_model("Callback", call=(Callable[[], int], ...))

    book, plain = Toolset([BookTable, Plain]).tools
    assert book == Tool("BookTable", "Book a table.\n\nFor tonight.", BookTable.model_json_schema())
    assert book.parameters["properties"]["seats"]["type"] == "integer"
    assert (plain.name, plain.description) == ("Plain", "")
    with pytest.raises(ValueError, match=r"^tools\[1\]: the model Callback has no JSON Schema: "):
        Toolset([BookTable, callback])
    with pytest.raises(TypeError, match=r"^tools: pass a list of tools, not a single BookTable$"):
        Toolset(BookTable(seats=2))


def test_openai_objects_are_tools() -> None:
    openai = pytest.importorskip("openai")
    pydantic = pytest.importorskip("pydantic")
    responses = pytest.importorskip("openai.types.responses")
    shared = pytest.importorskip("openai.types.shared")
    chat = pytest.importorskip("openai.types.chat")

    class BookTable(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        seats: int

    toolset = Toolset(
        [
            openai.pydantic_function_tool(BookTable),
            responses.FunctionTool(type="function", name="get_weather", parameters=SCHEMA, strict=True),
            responses.WebSearchTool(type="web_search"),
            chat.ChatCompletionFunctionTool(type="function", function=shared.FunctionDefinition(name="honk")),
            {"type": "function", "function": shared.FunctionDefinition(name="honk")},
        ]
    )
    assert [tool.name for tool in toolset.tools] == ["BookTable", "get_weather", "honk"]
    assert toolset.tools[0].parameters["required"] == ["seats"]
    assert toolset.tools[1:] == (Tool("get_weather", "", SCHEMA), Tool("honk"))


def test_mcp_objects_are_tools() -> None:
    types = pytest.importorskip("mcp.types")
    tool = types.Tool(name="get_weather", description="Tells the weather.", inputSchema=SCHEMA)
    assert Toolset([tool, tool.model_dump(by_alias=True), tool.model_dump()]).tools == (WEATHER,)
    with pytest.raises(TypeError, match="pass a list of tools, not a single ListToolsResult"):
        Toolset(types.ListToolsResult(tools=[tool]))
