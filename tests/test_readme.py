"""What README.md and other pages say is so: every block of Python, every row of a table, the commands, the links.

A block of Python prints what its comments say: those behind a `print(…)`, and those on the lines below it. In the
examples of a table ⏎ is a line end.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grammar.oracle import first_error
from recovery import Allowance, Limits, Policy, Reason, Recovery, Toolset, jsoncalls, recover

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
GRAMMAR = ROOT / "grammar" / "README.md"
TRUST = ROOT / "docs" / "trust.md"
GRADING = ROOT / "docs" / "grading.md"

COMMANDS = {
    f"python -m venv .venv && .venv/bin/pip install -q {what}"
    for what in (
        "'.[cli]' && .venv/bin/recovery replay examples/answers.jsonl --toolsets examples/toolsets.jsonl",
        "-e '.[dev]' && .venv/bin/pytest",
        "'.[serve]' && .venv/bin/recovery serve --demo",
    )
}

# One opening run of backticks up to the next run of the same length.
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def tables(path: Path, *headings: str) -> list[list[str]]:
    """The rows of every table with these headings."""
    rows: list[list[str]] = []
    inside = False
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells == list(headings):
            inside = True
        elif inside and not cells:
            inside = False
        elif inside and not set("".join(cells)) <= {"-", " "}:
            assert len(cells) == len(headings), line
            rows.append(cells)
    assert rows, f"{path} has no table of {headings}"
    return rows


def spans(cell: str) -> list[str]:
    """The pieces of code in a cell, as they are to be read."""
    found = [span for _, span in CODE.findall(cell)]
    # As in Markdown: one blank on either side belongs to the backticks.
    stripped = [span[1:-1] if span[:1] == span[-1:] == " " and span.strip() else span for span in found]
    return [span.replace("⏎", "\n") for span in stripped]


def offered(cell: str, never: Iterable[str] = ()) -> Toolset:
    return Toolset([json.loads(span) if span.startswith("{") else span for span in spans(cell)], never=never)


def calls(result: Recovery) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in result.calls]


def expected_calls(cell: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, json.loads(arguments)) for name, arguments in (span.split(" ", 1) for span in spans(cell))]


RECOVERED = tables(README, "it takes", "an answer", "offered", "becomes")
REFUSED = tables(README, "reason", "an answer", "offered", "because")
OFF = tables(README, "off by default", "because")
AROUND = tables(README, "an answer", "becomes", "left")
JSON_KEYS = tables(README, "in JSON", "keys")
BLOCKS = tables(GRAMMAR, "rule", "a block", "no block")
REPEATED = tables(TRUST, "an answer", "strict", "default", "lenient")
NOT_LOOKED_AT = tables(TRUST, "not looked at", "an answer", "becomes")


def allowance_of(cell: str) -> Allowance | None:
    found = re.match(r"`(\w+)`:", cell)
    return Allowance(found[1]) if found else None


@pytest.mark.parametrize("row", RECOVERED, ids=lambda row: row[1])
def test_what_is_recovered(row: list[str]) -> None:
    takes, answer_cell, tools_cell, becomes = row
    (answer,) = spans(answer_cell)
    tools = offered(tools_cell)
    expected = expected_calls(becomes)
    allowance = allowance_of(takes)
    used: frozenset[Allowance] = frozenset() if allowance is None else frozenset({allowance})
    result = recover(answer, tools, policy=Policy(used))
    assert (result.status, calls(result), result.used) == ("recovered", expected, used)
    if allowance is not None:
        refusal = recover(answer, tools, policy=Policy.strict()).refusal
        assert refusal is not None
        assert (refusal.reason, refusal.allowances) == (Reason.NOT_ALLOWED, used)


def test_every_allowance_has_its_row() -> None:
    assert {allowance_of(row[0]) for row in RECOVERED} == {None, *Allowance}


def test_what_is_off_by_default() -> None:
    assert sorted(spans(" ".join(row[0] for row in OFF))) == sorted({*Allowance} - Policy.default().allow)


@pytest.mark.parametrize("row", AROUND, ids=lambda row: row[0])
def test_what_stands_around_calls(row: list[str]) -> None:
    answer_cell, becomes, left = row
    (answer,) = spans(answer_cell)
    result = recover(answer, ["tide"], policy=Policy.lenient())
    if becomes.startswith("`"):
        assert calls(result) == expected_calls(becomes)
        assert [result.text] == spans(left)
        return
    assert (result.text, left) == (answer, "all")
    reason = None if result.refusal is None else result.refusal.reason.value
    assert becomes == ("text" if reason is None else f"refused: `{reason}`")


def test_the_keys_of_a_json_call() -> None:
    names, arguments, beside, around = (spans(row[1]) for row in JSON_KEYS)

    def recovers(value: object) -> bool:
        result = recover(json.dumps(value), ["tide"], policy=Policy({Allowance.JSON}))
        return calls(result) == [("tide", {"days": 2})]

    for name in names:
        for key in arguments:
            assert recovers({name: "tide", key: {"days": 2}}), (name, key)
    plain = {"name": "tide", "arguments": {"days": 2}}
    assert recovers({"name": "tide", "arguments": '{"days": 2}'})
    assert all(recovers({key: "function", **plain}) for key in beside)
    assert all(recovers({key: [plain]}) for key in around)
    assert not recovers({**plain, "description": "tides"})
    assert {*names, *arguments, *beside, *around} == jsoncalls.KEYS


def test_the_prefixes_are_the_ones_that_hold() -> None:
    said = section(README, "What is recovered").partition("The prefixes of `namespace` are ")[2].partition(";")[0]
    assert set(spans(said)) == Toolset([]).namespaces


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0])
def test_what_is_refused(row: list[str]) -> None:
    reason_cell, answer_cell, tools_cell, because = row
    (answer,) = spans(answer_cell)
    limits = {name: int(value) for name, value in re.findall(r"`(\w+)=(\d+)`", because)}
    tools = offered(tools_cell, re.findall(r'`never=\{"(\w+)"\}`', because))
    result = recover(answer, tools, policy=Policy(limits=Limits(**limits)))
    assert (result.status, result.text, result.calls) == ("refused", answer, ())
    assert result.refusal is not None
    assert [result.refusal.reason.value] == spans(reason_cell)
    if result.refusal.allowances:
        assert sorted(result.refusal.allowances) == spans(because)


def test_every_reason_has_its_row() -> None:
    assert [spans(row[0]) for row in REFUSED] == [[reason.value] for reason in Reason]


def section(path: Path, title: str) -> str:
    _, _, behind = path.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    assert behind, f"{path} has no section {title!r}"
    return behind.partition("\n## ")[0]


def test_arithmetic_is_refused_as_an_operator() -> None:
    examples = [span for span in spans(section(README, "Why arithmetic never becomes a call")) if "(" in span]
    assert len(examples) > 5
    for answer in examples:
        for policy in (Policy.strict(), Policy.lenient()):
            result = recover(answer, ["a_b", "f", "g"], policy=policy)
            assert result.refusal is not None, answer
            assert result.refusal.reason is Reason.OPERATOR, answer


def test_the_limits_are_the_ones_that_hold() -> None:
    limits = Limits()
    said = " ".join(section(README, "Limits").split())
    for words in (
        f"{limits.characters // 2**20} Mi characters",
        f"{limits.calls:,} calls",
        f"{limits.values:,} values",
        f"brackets {limits.depth:,} deep",
        f"integers of {limits.digits:,} digits",
        f"names of {limits.name:,} characters",
    ):
        assert words in said


@pytest.mark.parametrize("row", BLOCKS, ids=lambda row: row[0])
def test_what_is_a_block(row: list[str]) -> None:
    """Lark and the library say the same; the labels stand in the row."""
    rule, good, bad = row
    labels = set(re.findall(r"labelled `(\w+)`", rule))
    for text in spans(good):
        assert first_error(text) is None, text
        result = recover(text, names_in(text), policy=Policy(labels))
        assert (result.status, set(result.used)) == ("recovered", labels), text
    for text in spans(bad):
        assert first_error(text) is not None, text
        assert recover(text, names_in(text), policy=Policy(labels)).status != "recovered", text


@pytest.mark.parametrize("row", REPEATED, ids=lambda row: row[0])
def test_what_an_answer_that_repeats_can_do(row: list[str]) -> None:
    (answer,) = spans(row[0])
    for said, policy in zip(row[1:], (Policy.strict(), Policy.default(), Policy.lenient()), strict=True):
        found = {call.name for call in recover(answer, ["delete_all", "tide"], policy=policy).calls}
        assert said == ("call" if "delete_all" in found else "text"), policy


@pytest.mark.parametrize("row", NOT_LOOKED_AT, ids=lambda row: row[0])
def test_what_is_not_looked_at(row: list[str]) -> None:
    (answer,) = spans(row[1])
    schema = {"type": "object", "properties": {"port": {"type": "string"}}, "additionalProperties": False}
    result = recover(answer, ["delete_all", {"name": "tide", "parameters": schema}])
    assert calls(result) == expected_calls(row[2])


def names_in(text: str) -> list[str]:
    """What must be offered, so that a name is not why an example is refused."""
    words = re.findall(r"[^\W\d][\w.\\ ]*?(?= ?\\?\n? ?\()", text) + re.findall(r'"name": "(\w+)"', text)
    return sorted({re.sub(r"[. ]", "_", word.replace("\\_", "_")) for word in words} - {"print"})


def blocks_of_python(path: Path) -> list[str]:
    found: list[str] = re.findall(r"(?ms)^```python\n(.*?)^```$", path.read_text(encoding="utf-8"))
    assert found
    return found


@pytest.mark.parametrize(
    "block", [block for path in (README, GRAMMAR, TRUST, GRADING) for block in blocks_of_python(path)]
)
def test_a_block_of_python_prints_what_it_says(block: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "README.md", "exec"), {})
    said = list(said_by(block))
    assert said
    assert printed.getvalue().splitlines() == said


def said_by(block: str) -> Iterator[str]:
    behind_print = False
    for line in block.splitlines():
        if line.lstrip().startswith("print("):
            behind_print = True
            _, mark, comment = line.partition("  # ")
            if mark:
                yield comment
        elif behind_print and line.startswith("#"):
            yield line.removeprefix("#").removeprefix(" ")
        else:
            behind_print = False


def test_the_commands_are_the_ones_that_ci_runs() -> None:
    lines = [line.strip() for line in README.read_text(encoding="utf-8").splitlines()]
    assert {line for line in lines if line.startswith("python -m venv")} == COMMANDS
    patterns = re.findall(r"readme_command '([^']+)'", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    # As `grep -m 1` finds them.
    assert {next(line for line in lines if re.match(pattern, line)) for pattern in patterns} == COMMANDS


@pytest.mark.sources
@pytest.mark.parametrize("path", [README, GRAMMAR, TRUST, GRADING], ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_pointed_at_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r"`((?:tests|grammar|recovery|bench)/[\w./]+)`", text)
    for target in targets:
        assert (path.parent / target).exists() or (ROOT / target).exists(), target
