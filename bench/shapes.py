"""The samples: a text for each shape of answer, what is offered with it, and what must come of it.

May import: the public names of the package.
"""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from typing import Any, Final, NamedTuple

from recovery import Policy, Reason, Toolset, recover

SAMPLES: Final = Path(__file__).resolve().parent / "samples"
TOOLS: Final = Toolset(["harbour_book", "tide_table", "crew_assign", "letter_send", "survey_record"])


class Shape(NamedTuple):
    """How many calls are recovered, or why there are none; "text" is what does not even look like a call."""

    expected: int | Reason | str
    policy: Policy = Policy.strict()


SHAPES: Final[dict[str, Shape]] = {
    "one_call": Shape(1),
    "one_call_dotted": Shape(1),
    "one_call_bare": Shape(1),
    "two_calls": Shape(2),
    "many_calls": Shape(60),
    "many_lines": Shape(60),
    "many_arguments": Shape(1),
    "long_string": Shape(1),
    "escapes": Shape(1),
    "other_script": Shape(1),
    "comments": Shape(10),
    "deep_containers": Shape(1),
    "number_list": Shape(1),
    "string_list": Shape(1),
    "spaced_lines": Shape(10),
    "json_call": Shape(1, Policy.default()),
    "fence": Shape(Reason.NOT_ALLOWED),
    "prose_with_block": Shape(2, Policy.lenient()),
    "prose_short": Shape("text"),
    "prose_medium": Shape("text"),
    "prose_long": Shape("text"),
    "prose_with_parentheses": Shape("text"),
    "prose_about_calls": Shape("text"),
    "prose_other_script": Shape("text"),
    "markdown": Shape("text"),
    "code": Shape("text"),
    "json": Shape("text"),
    "arithmetic": Shape(Reason.OPERATOR),
    "refused_late": Shape(Reason.NOT_A_LITERAL),
    "cut_off": Shape(Reason.TRUNCATED),
    "openers": Shape("text"),
    "half_calls": Shape(Reason.NOT_A_LITERAL),
}
# Those that are calls in Python's own grammar, so that Python's parser can say what must come of them.
PYTHON: Final = tuple(
    name for name, shape in SHAPES.items() if isinstance(shape.expected, int) and shape.policy == Policy.strict()
)


def text_of(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_bytes().decode()


def check(name: str, text: str) -> None:
    """Assert that what comes of the sample is what must."""
    expected, policy = SHAPES[name]
    result = recover(text, TOOLS, policy=policy)
    if isinstance(expected, int):
        assert len(result.calls) == expected
        if name in PYTHON:
            assert [(call.name, call.arguments) for call in result.calls] == read_by_ast(text)
    else:
        assert (result.refusal.reason if result.refusal else result.status) == expected
        assert result.text == text


def read_by_ast(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a text, as Python reads them; tuples as lists."""
    with warnings.catch_warnings(action="ignore"):
        statements = ast.parse(text).body
    calls = []
    for statement in statements:
        assert isinstance(statement, ast.Expr)
        calls += statement.value.elts if isinstance(statement.value, ast.List) else [statement.value]
    return [_read_call(call) for call in calls]


def _read_call(call: ast.expr) -> tuple[str, dict[str, Any]]:
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func).replace(".", "_")
    return name, {str(keyword.arg): _listed(ast.literal_eval(keyword.value)) for keyword in call.keywords}


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value
