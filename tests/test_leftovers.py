"""What lenient leaves is classified: every class has an answer of its own here, and a text without a call has none."""

from __future__ import annotations

from typing import Any

import pytest

from recovery import Policy, Toolset, recover
from recovery.leftovers import CLASSES, OTHER, class_of


def tool(name: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": type_} for key, type_ in properties.items()}}
    return {"name": name, "description": "", "parameters": schema}


TOOLS = Toolset(
    [
        tool("boil_egg", minutes="integer", note="string"),
        tool("set_table", seats="integer"),
        tool("log", entry="object"),
    ]
)

VECTORS = {
    "tool_calls_object": '{"tool_calls": [{"name": "boil_egg", "arguments": {"minutes": 4}}], "more": 1}',
    "begin_marker_again": "boil_egg(minutes=4) <|again|> set_table(seats=2)",
    "truncated": "[boil_egg(minutes=4), set_table(sea",
    "duplicate_key": "[boil_egg(minutes=4, minutes=5)]",
    "bad_number": "[boil_egg(minutes=1e999)]",
    "two_readings_of_arguments": "boil_egg(4, 5)",
    "unknown_beside_known": "[boil_egg(minutes=4), boil_water(litres=1)]",
    "call_as_argument": "[boil_egg(minutes=minutes_for(size=3))]",
    "formatted_string": "[boil_egg(minutes=4, note=f'for {guest}')]",
    "variable_of_the_text": "size = 3\nboil_egg(minutes=size)",
    "variable": "[boil_egg(minutes=usual_time)]",
    "placeholder": "[boil_egg(minutes=<how long>)]",
    "arithmetic": "[boil_egg(minutes=2 * 2)]",
    "quoted_several": '["boil_egg(minutes=4), set_table(seats=usual)"]',
    "quoted_no_call": "['boil_egg(minutes=usual)']",
    "script_object": "boil_egg({minutes: 4})",
    "syntax": "[boil_egg(minutes=4;)]",
    "subscript": "[boil_egg(minutes=4)][0]",
    "extra_bracket": "[boil_egg(minutes=4)]]",
    "lists_joined": "[boil_egg(minutes=4)], [set_table(seats=two)]",
    "shown": "Here is an example:\n[boil_egg(minutes=4)]",
    "text_behind_calls": "[boil_egg(minutes=4)] or none",
    "declared": 'Take this: {"name": "boil_egg", "description": "Boils an egg.", "parameters": {}}',
    "json_in_tags": '<eggs>\n{"name": "boil_egg", "time": 4}\n</eggs>',
    "json_in_prose": 'The answer {"name": "boil_egg", "time": 4} tells the cook all.',
    "defined": "Write it like this:\n\n    def boil_egg(minutes): pass\n",
    "code_span": "Then the cook says `boil_egg(minutes=4)` aloud.",
    "named_only": "For soft ones there is boil_egg() among the tools.",
    "script_object_in_code": "Do so:\n\nlet eggs = kitchen.of(1)\nawait kitchen.boil_egg({minutes, note: 'soft'})",
    "given_variables": "Where he has them: he may call boil_egg(minutes) with them.",
    "in_code": "Like so:\n\nimport kitchen\nkitchen.run(boil_egg(minutes=4))",
    "in_a_sentence": "Never run boil_egg(minutes=4) at night.",
    "other": "As follows.\n\n<boil_egg(minutes=4)>",
}


@pytest.mark.parametrize(("name", "text"), VECTORS.items(), ids=VECTORS)
def test_a_text_is_of_its_class(name: str, text: str) -> None:
    result = recover(text, TOOLS, policy=Policy.lenient())
    assert result.calls == ()
    class_ = class_of(text, TOOLS, result)
    assert class_ is not None
    assert class_.name == name


def test_every_class_has_a_vector_and_a_reason_of_one_sentence() -> None:
    assert list(VECTORS) == [class_.name for class_ in (*CLASSES, OTHER)]
    reasons = [class_.reason for class_ in CLASSES]
    assert len(set(reasons)) == len(reasons)
    assert all(reason and "\n" not in reason and not reason.endswith(".") for reason in reasons)


@pytest.mark.parametrize(
    "text",
    ["", "Breakfast is ready.", "The tool boil_egg is broken.", "parboil_egg(minutes=4)", '{"title": "boil_egg"}'],
)
def test_a_text_that_names_no_tool_where_a_call_does_is_not_left_over(text: str) -> None:
    assert class_of(text, TOOLS, recover(text, TOOLS, policy=Policy.lenient())) is None


def test_what_was_recovered_is_not_left_over() -> None:
    text = "[boil_egg(minutes=4)]"
    assert class_of(text, TOOLS, recover(text, TOOLS)) is None


@pytest.mark.parametrize("spelled", ["boil_egg", "boil.egg", "boil egg", "boil\\_egg"])
def test_a_name_is_found_in_every_spelling_of_a_call(spelled: str) -> None:
    text = f"Never run {spelled}(minutes=4) at night."
    found = class_of(text, TOOLS, recover(text, TOOLS, policy=Policy.lenient()))
    assert found is not None
    assert found.name == "in_a_sentence"


def test_no_tools_leave_nothing() -> None:
    nothing = Toolset([])
    assert class_of("boil_egg(minutes=4)", nothing, recover("boil_egg(minutes=4)", nothing)) is None
