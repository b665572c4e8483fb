"""Invariant: of any bytes as cases and as recorded answers each row is a sound cell or a problem with its place.

The cases stand before the first zero byte, as JSON lines and as YAML; the rows behind it. A cell is graded, whatever
the answer is; its outcome is one that its case can have, and its answer as it is stored is graded alike.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from fuzz.mutators import of_json
from fuzz.target import Target, run
from recovery import Toolset
from recovery.grading import Answer, Case, CaseFile, Cell, Grader, Outcome, Problem, grade_recorded, read_cases

_FOLDER: Final = Path(tempfile.mkdtemp(prefix="fuzz-grading-"))
_PORT: Final = {"type": "string", "enum": ["Arbo", "Kelm"]}
_TOOLS: Final = Toolset(
    [
        {
            "name": "tide",
            "parameters": {
                "type": "object",
                "properties": {
                    "port": _PORT,
                    "days": {"type": "integer", "default": 1},
                    "at": {"type": ["number", "null"]},
                },
                "required": ["port"],
            },
        },
        {"name": "berth_book", "parameters": {"properties": {"boats": {"type": "array", "items": {"type": "object"}}}}},
        "wipe",
    ]
)
# Rows are graded as answers to these, whatever came of the cases in the input.
_CASES: Final = (
    Case("How high is the water at Arbo?", "tide", {"port": "Arbo"}, id="a"),
    Case("Two boats need a berth, and the tide.", expected_calls=[{"tool": "tide"}, {"tool": "berth_book"}], id="b"),
    Case("Hello.", None, id="c"),
)
_ONLY_WITHOUT: Final = frozenset((Outcome.SPURIOUS_CALL,))
_ONLY_WITH: Final = frozenset(Outcome) - _ONLY_WITHOUT - {Outcome.CORRECT}


def one_input(data: bytes) -> None:
    cases, _, rows = data.partition(b"\0")
    for suffix in ("jsonl", "yaml"):
        file = _FOLDER / f"cases.{suffix}"
        file.write_bytes(cases)
        found = read_cases(file, _TOOLS)
        assert found.cases or found.problems
        have_places(found.problems, file, cases)
    file = _FOLDER / "rows.jsonl"
    file.write_bytes(rows)
    given = CaseFile(path="cases.jsonl", cases=_CASES, tools=_TOOLS, sha256="")
    made = list(grade_recorded(file, given))
    have_places((row for row in made if isinstance(row, Problem)), file, rows)
    if rows[:2] != b"\x1f\x8b":
        assert len(made) == sum(bool(row.strip()) for row in rows.split(b"\n"))
    graders = {case.id: (case, Grader(_TOOLS)) for case in _CASES}
    for row in made:
        if isinstance(row, Cell):
            is_sound(row, *graders[row.case_id])


def have_places(problems: Iterable[Problem], file: Path, data: bytes) -> None:
    last = len(data.splitlines()) + 1
    for problem in problems:
        assert problem.file == str(file)
        assert 0 <= problem.line <= last or data[:2] == b"\x1f\x8b", problem
        assert problem.message


def is_sound(cell: Cell, case: Case, grader: Grader) -> None:
    if cell.grade is None:
        # The row said so itself.
        assert cell.ungraded is not None
        assert cell.answer is None, cell
        return
    assert cell.ungraded is None
    assert cell.grade.outcome not in (_ONLY_WITHOUT if case.expects_call else _ONLY_WITH), cell
    stored = Cell.model_validate(json.loads(json.dumps(cell.model_dump())))
    assert stored == cell
    assert grader.grade(case, Answer.of(stored.answer)) == cell.grade, cell


def seeds() -> Iterator[bytes]:
    """Cases and answers of each form, good and bad."""
    cases = [
        b'{"query": "Arbo?", "expected_tool": "tide", "expected_args": {"port": "Arbo"}}\n',
        b'{"query": "?", "expected_calls": [{"tool": "tide", "args": {"port": {"$one_of": ["Arbo"]}}}]}',
        b'{"query": "?", "expected_tool": "tide", "expected_args": {"port": {"$regex": "A.*"}, "at": {"$approx": 1}}}',
        b"- query: Hello\n  expected_tool:\n- {query: Hi, expected_tool: wipe, expected_args: {}}\n",
        b'{"query": 1, "expected_tool": "gone"}\n[]\n{"id": "a"',
    ]
    answers: list[dict[str, object]] = [
        {"text": "[tide(port='Arbo')]"},
        {"text": "tide(port=Arbo)-1"},
        {"tool_name": "tide", "raw_args": '{"port": "Kelm", "port": "Arbo"}'},
        {"tool_name": "tide", "raw_args": {"port": "Arbo", "days": "1"}},
        {"tool_name": "gone", "raw_args": None},
        {"answer": {"calls": [{"tool_name": "tide", "raw_args": {"port": "Arbo"}}, {"tool_name": "wipe"}]}},
        {"message": {"content": None, "tool_calls": [{"function": {"name": "tide", "arguments": "{"}}]}},
        {"message": {"content": "no", "refusal": "no"}},
        {"message": {"choices": [{"finish_reason": "length", "message": {"content": "tide("}}]}},
        {
            "message": {
                "role": "assistant",
                "content": [{"type": "tool_use", "name": "tide", "input": {"port": "Arbo"}}],
            }
        },
        {"ungraded": "timeout", "problem": "late"},
        {},
    ]
    for number, answer in enumerate(answers):
        rows = (json.dumps({"case": case, "model": "m", **answer}) for case in "abcd")
        yield cases[number % len(cases)] + b"\0" + "\n".join(rows).encode()


TARGET = Target(one_input, seeds, mutate=of_json)

if __name__ == "__main__":
    run(TARGET)
