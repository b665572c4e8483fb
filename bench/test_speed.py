"""`recover` beside `ast.parse` alone, on the samples: a file for each shape of answer.

What a text gives is asserted before it is timed. The toolset is built beforehand, as a gateway does; the policy is
strict.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from recovery import Policy, Reason, Toolset, recover

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

SAMPLES: Final = Path(__file__).resolve().parent / "samples"
TOOLS: Final = Toolset(["harbour_book", "tide_table", "crew_assign", "letter_send", "survey_record"])
STRICT: Final = Policy.strict()

# By sample: how many calls are recovered, or why there are none; "text" is what does not even look like a call.
SHAPES: Final[dict[str, int | Reason | str]] = {
    "one_call": 1,
    "one_call_dotted": 1,
    "one_call_bare": 1,
    "two_calls": 2,
    "many_calls": 60,
    "many_lines": 60,
    "many_arguments": 1,
    "long_string": 1,
    "escapes": 1,
    "other_script": 1,
    "comments": 10,
    "deep_containers": 1,
    "number_list": 1,
    "string_list": 1,
    "spaced_lines": 10,
    "fence": Reason.NOT_ALLOWED,
    "prose_short": "text",
    "prose_long": "text",
    "prose_with_parentheses": "text",
    "prose_about_calls": "text",
    "prose_other_script": "text",
    "markdown": "text",
    "code": "text",
    "json": "text",
    "arithmetic": Reason.OPERATOR,
    "refused_late": Reason.NOT_A_LITERAL,
    "cut_off": Reason.TRUNCATED,
    "openers": "text",
    "half_calls": Reason.NOT_A_LITERAL,
}


def test_every_sample_has_its_line() -> None:
    assert {path.stem for path in SAMPLES.iterdir()} == set(SHAPES)


# `ast.parse` first: the ratio is noted when both were timed.
@pytest.mark.parametrize("what", ["ast.parse", "recover"])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.benchmark(min_rounds=20, max_time=0.1, min_time=0.00002)
def test_speed(
    name: str,
    what: str,
    benchmark: BenchmarkFixture,
    best: dict[tuple[str, str], float],
    note_ratio: Callable[..., None],
) -> None:
    text = (SAMPLES / f"{name}.txt").read_bytes().decode()
    benchmark.group = name
    if what == "ast.parse":
        benchmark(parse_alone, text)
    else:
        check(name, text)
        benchmark(recover, text, TOOLS, policy=STRICT)
    if benchmark.stats is not None:  # None with --benchmark-disable
        best[name, what] = benchmark.stats.stats.min
        if what == "recover" and (name, "ast.parse") in best:
            note_ratio(name, best[name, "recover"] / best[name, "ast.parse"])


@pytest.fixture(scope="module")
def best() -> dict[tuple[str, str], float]:
    """The lowest time of each sample and program."""
    return {}


def parse_alone(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def check(name: str, text: str) -> None:
    expected = SHAPES[name]
    result = recover(text, TOOLS, policy=STRICT)
    if isinstance(expected, int):
        assert [(call.name, call.arguments) for call in result.calls] == read_by_ast(text)
        assert len(result.calls) == expected
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
    return [read_call(call) for call in calls]


def read_call(call: ast.expr) -> tuple[str, dict[str, Any]]:
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func).replace(".", "_")
    return name, {str(keyword.arg): listed(ast.literal_eval(keyword.value)) for keyword in call.keywords}


def listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: listed(item) for key, item in value.items()}
    return [listed(item) for item in value] if isinstance(value, list | tuple) else value
