"""Recorded answers, replayed: what is counted, what a bad row does, what a baseline finds, and what it all may cost."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recovery import Event, Policy, Recovery, Stream, Toolset, replay
from recovery.rows import BadRow, read_toolsets

TOOLS = ["boil_egg", "set_table"]
CALL = "boil_egg(minutes=4)"
# One answer of each outcome, in the order in which they are counted below.
ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": CALL},
    {"id": "b", "text": "[boil.egg(minutes=4), set_table()]"},
    {"id": "c", "text": "boil_egg(minutes=4)-1"},
    {"id": "d", "text": "```\nset_table()\n```"},
    {"id": "e", "text": "Breakfast is ready."},
    {"id": "f", "text": "2*set_table()"},
]


class Run:
    """A replay with all that it told."""

    def __init__(self, *files: Path, jobs: int = 1, baseline: Path | None = None, **plan: Any) -> None:
        self.bad: list[BadRow] = []
        self.records: list[str] = []
        self.progress: list[int] = []
        self.baseline = None if baseline is None else replay.Baseline(str(baseline))
        self.report = replay.replay(
            map(str, files),
            replay.Plan(plan.pop("policy", Policy.strict()), record=True, **plan),
            jobs=jobs,
            baseline=self.baseline,
            on_bad=self.bad.append,
            on_record=self.records.append,
            on_progress=self.progress.append,
        )

    def write(self, path: Path) -> Path:
        path.write_text("".join(f"{record}\n" for record in self.records), encoding="utf-8")
        return path

    def statuses(self) -> dict[str, int]:
        return {name: count.answers for name, count in self.report.tally.status.items() if count.answers}


def write(path: Path, rows: Iterable[dict[str, Any]], **more: Any) -> Path:
    path.write_text("".join(json.dumps({"tools": TOOLS, **more, **row}) + "\n" for row in rows), encoding="utf-8")
    return path


def row_of(text: str) -> bytes:
    return json.dumps({"text": text, "tools": TOOLS}).encode() + b"\n"


# Counting


def test_each_answer_is_counted_under_what_became_of_it(tmp_path: Path) -> None:
    file = write(tmp_path / "answers.jsonl", ROWS)
    report = Run(file).report
    assert report.tally.total == replay.Count(answers=6, occurrences=6, calls=3)
    assert {name: count.answers for name, count in report.tally.status.items()} == {
        "recovered": 2,
        "refused": 3,
        "text": 1,
    }
    assert {name: count.answers for name, count in report.tally.reason.items()} == {"operator": 2, "not_allowed": 1}
    assert {name: count.answers for name, count in report.tally.lacking.items()} == {"fence": 1}
    assert report.tally.used == {"": replay.Count(answers=2, occurrences=2, calls=3)}
    assert not report.has_occurrences
    assert report.bad == 0


def test_calls_are_counted_under_each_allowance_that_their_answer_used(tmp_path: Path) -> None:
    rows = [*ROWS, {"text": "```\nset\\_table(), set\\_table()\n```"}]
    report = Run(write(tmp_path / "answers.jsonl", rows), policy=Policy.lenient()).report
    assert {name: (count.calls, count.answers) for name, count in report.tally.used.items()} == {
        "": (3, 2),
        "fence": (3, 2),
        "markdown_escape": (2, 1),
    }


def test_the_example_of_a_reason_is_its_first_refusal(tmp_path: Path) -> None:
    # The second operator of its chunk, and one in a later chunk, must not take its place.
    calls: list[dict[str, Any]] = [{"text": CALL}] * 300
    rows = calls + ROWS + calls + ROWS
    file = write(tmp_path / "answers.jsonl", rows)
    place, sentence = Run(file).report.examples["operator"]
    assert place == f"{file}:303"
    assert sentence.startswith("line 1, column 20: operator: ")
    assert "\n" not in sentence


def test_occurrences_are_counted_beside_answers(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"text": CALL, "seen": 5}, {"text": CALL}, {"text": "Hello.", "seen": 2}]
    report = Run(write(tmp_path / "answers.jsonl", rows)).report
    assert report.has_occurrences
    assert report.tally.total == replay.Count(answers=3, occurrences=8, calls=2)
    assert report.tally.status["recovered"].occurrences == 6


def test_groups_are_combinations_of_fields(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"text": CALL, "model": "birch", "round": 1},
        {"text": "Hello.", "model": "birch", "round": 1},
        {"text": CALL, "model": "birch", "round": 2},
        {"text": CALL},
    ]
    groups = Run(write(tmp_path / "answers.jsonl", rows), by=("model", "round")).report.groups
    assert {name: tally.total.answers for name, tally in groups.items()} == {
        ("birch", "1"): 2,
        ("birch", "2"): 1,
        ("—", "—"): 1,
    }
    assert groups["birch", "1"].status["text"].answers == 1


def test_a_field_that_always_differs_makes_no_endless_table(tmp_path: Path) -> None:
    rows = ({"text": CALL, "number": number} for number in range(1_100))
    groups = Run(write(tmp_path / "answers.jsonl", rows), by=("number",)).report.groups
    assert len(groups) == 1_001
    assert groups[replay.OTHER_GROUPS,].total.answers == 100


# Calls that go out one by one

PREMATURE: list[dict[str, Any]] = [
    *ROWS,
    {"id": "g", "text": f"[{CALL}, set_table("},
    {"id": "h", "text": f"[{CALL}, set_table(), boil_egg(minutes=2*2)]", "seen": 3},
    {"id": "i", "text": f"[{CALL}, set_table(plates="},
    {"id": "j", "text": f"[{CALL}, {CALL}]"},
    # Two calls of one span, which is that of the object.
    {"id": "k", "text": '[{"name": "set_table", "arguments": {}}, {"name": "boil_egg", "arguments": {}}]'},
]


def test_premature_calls_are_counted_by_the_reason_of_the_refusal(tmp_path: Path) -> None:
    file = write(tmp_path / "answers.jsonl", PREMATURE)
    run = Run(file, policy=Policy({"json"}), by_call=True)
    assert run.report.tally.premature == {
        "truncated": replay.Count(answers=2, occurrences=2, calls=2),
        "operator": replay.Count(answers=1, occurrences=3, calls=2),
    }
    records = {record["id"]: record for record in map(json.loads, run.records)}
    assert {id_: len(record["premature"]) for id_, record in records.items() if record["premature"]} == {
        "g": 1,
        "h": 2,
        "i": 1,
    }
    assert records["g"]["premature"] == [
        {"name": "boil_egg", "written": "boil_egg", "arguments": {"minutes": 4}, "span": [1, 20]}
    ]
    assert records["g"]["calls"] == []


def test_nothing_else_changes_by_it_and_it_is_off(tmp_path: Path) -> None:
    file = write(tmp_path / "answers.jsonl", PREMATURE)
    off, on = Run(file), Run(file, by_call=True)
    assert off.report.tally.premature == {}
    assert off.report.examples == on.report.examples
    assert [{**json.loads(record), "premature": []} for record in off.records] == [
        {**json.loads(record), "premature": []} for record in on.records
    ]
    assert not any("premature" in record for record in off.records)
    run = Run(file, by_call=True, baseline=off.write(tmp_path / "before.jsonl"))
    assert run.baseline is not None
    assert run.baseline.changes == []


def test_the_example_of_a_premature_call_is_the_first_answer_that_had_one(tmp_path: Path) -> None:
    # Not the first operator, nor the first of its chunk; and one in a later chunk does not take its place.
    calls: list[dict[str, Any]] = [{"text": CALL}] * 300
    file = write(tmp_path / "answers.jsonl", [*ROWS, *calls, *PREMATURE, *calls, *PREMATURE])
    report = Run(file, by_call=True).report
    assert report.examples["operator"][0] == f"{file}:3"
    place, sentence = report.premature_examples["operator"]
    assert place == f"{file}:314"
    assert sentence.startswith("line 1, column 54: operator: ")
    assert report.premature_examples["truncated"][0] == f"{file}:313"


def test_the_stream_gets_small_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[str] = []

    class Noting(Stream):
        __slots__ = ()

        def feed(self, delta: str) -> list[Event]:
            fed.append(delta)
            return super().feed(delta)

    monkeypatch.setattr("recovery.rows.Stream", Noting)
    Run(write(tmp_path / "answers.jsonl", [{"text": "set_table()"}, {"text": ""}]), by_call=True)
    assert fed == ["set_", "tabl", "e()"]


# Rows


@pytest.mark.parametrize(
    ("row", "status"),
    [
        pytest.param({"text": CALL}, "recovered", id="text"),
        pytest.param({"text": ""}, "text", id="empty"),
        pytest.param({"message": {"role": "assistant", "content": CALL}}, "recovered", id="message"),
        pytest.param({"text": None, "message": {"content": CALL}}, "recovered", id="text-null"),
        pytest.param({"text": CALL, "message": {"content": "Hello."}}, "recovered", id="text-wins"),
        pytest.param({"message": {"content": None, "tool_calls": []}}, "text", id="null"),
        pytest.param({"message": {"tool_calls": []}}, "text", id="no-content"),
        pytest.param(
            {"message": {"content": [{"type": "text", "text": "boil_egg("}, {"type": "text", "text": "minutes=4)"}]}},
            "recovered",
            id="parts",
        ),
        pytest.param({"message": {"content": [{"type": "refusal", "refusal": "I won't."}]}}, "text", id="refusal"),
        pytest.param({"text": "\ud800" + CALL}, "refused", id="lone-surrogate"),
        pytest.param({"text": "cook(minutes=4)", "aliases": {"cook": "boil_egg"}}, "recovered", id="alias"),
        pytest.param({"text": CALL, "id": 17}, "recovered", id="number-as-id"),
    ],
)
def test_the_text_of_a_row(tmp_path: Path, row: dict[str, Any], status: str) -> None:
    run = Run(write(tmp_path / "answers.jsonl", [row]))
    assert run.bad == []
    assert run.statuses() == {status: 1}


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(b'{"text": "hello', "no JSON, column 16: Invalid control character at", id="no-json"),
        pytest.param(b'["hello"]', "a row must be a JSON object, not ['hello']", id="no-object"),
        pytest.param(b'{"tools": []}', "no text and no message", id="no-text"),
        pytest.param(b'{"text": 5, "tools": []}', "the text must be a string, not 5", id="number-as-text"),
        pytest.param(b'{"text": ["a"], "tools": []}', "the text must be a string, not ['a']", id="parts-as-text"),
        pytest.param(b'{"message": {"content": {}}, "tools": []}', "the text must be a string, not {}", id="content"),
        pytest.param(
            b'{"message": {"content": ["a", {"type": "image"}]}, "tools": []}',
            "message.content[1] is no text: {'type': 'image'}",
            id="part",
        ),
        pytest.param(b'{"text": "\xff", "tools": []}', "no UTF-8: byte 0xff at offset 10 of the row", id="no-utf-8"),
        pytest.param(b'{"text": ""}', "no tools and no toolset", id="no-tools"),
        pytest.param(b'{"text": "", "toolset": "x"}', "there is no toolset 'x'", id="unknown-toolset"),
        pytest.param(
            b'{"text": "", "toolset": ["x"]}', "toolset must be a string or a whole number, not ['x']", id="toolset"
        ),
        pytest.param(b'{"text": "", "tools": "boil_egg"}', "tools must be a list, not 'boil_egg'", id="tools"),
        pytest.param(b'{"text": "", "tools": ["boil_egg", {}]}', "tools[1]: a tool needs a non-empty name", id="tool"),
        pytest.param(
            b'{"text": "", "tools": ["f"], "aliases": {"g": "h"}}', "aliases['g']: 'h' is not among", id="alias"
        ),
        pytest.param(b'{"text": "", "tools": [], "aliases": []}', "aliases must be an object, not []", id="aliases"),
        pytest.param(b'{"text": "", "tools": [], "seen": 0}', "seen must be a whole number of at least 1", id="seen"),
        pytest.param(b'{"text": "", "tools": [], "id": 1.5}', "id must be a string or a whole number", id="id"),
        pytest.param(f'{{"text": {DEEP}}}'.encode(), "no JSON that can be read: maximum recursion", id="deep"),
        pytest.param(f'{{"text": {"9" * 5000}}}'.encode(), "no JSON that can be read: Exceeds the limit", id="digits"),
    ],
)
def test_a_bad_row_is_told_with_its_place_and_ends_nothing(tmp_path: Path, raw: bytes, message: str) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(row_of(CALL) + raw + b"\n" + row_of(CALL))
    run = Run(file)
    assert [(bad.file, bad.line) for bad in run.bad] == [(str(file), 2)]
    assert run.bad[0].message.startswith(message)
    assert run.report.bad == 1
    assert run.statuses() == {"recovered": 2}


def test_blank_lines_and_byte_order_mark_and_missing_line_end_are_no_fault(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + row_of(CALL) + b"\n  \r\n" + row_of(CALL).rstrip())
    run = Run(file)
    assert run.bad == []
    assert [json.loads(record)["line"] for record in run.records] == [1, 4]


def test_a_row_longer_than_the_limit_is_bad_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recovery.rows._ROW_BYTES", 200)
    file = tmp_path / "answers.jsonl"
    file.write_bytes(row_of(CALL) + row_of("x" * 1_000) + row_of(CALL) + row_of("y" * 1_000))
    run = Run(file)
    assert [str(bad) for bad in run.bad] == [
        f"{file}:2: longer than 200 bytes",
        f"{file}:4: longer than 200 bytes",
    ]
    assert run.statuses() == {"recovered": 2}


def test_gzip_is_known_by_its_bytes(tmp_path: Path) -> None:
    plain = write(tmp_path / "answers.jsonl", ROWS)
    packed = tmp_path / "answers.txt"
    # Two members, as `cat a.gz b.gz` makes them.
    lines = plain.read_bytes().splitlines(keepends=True)
    packed.write_bytes(gzip.compress(b"".join(lines[:2])) + gzip.compress(b"".join(lines[2:])))
    ours, theirs = Run(packed), Run(plain)
    assert ours.report.tally == theirs.report.tally
    assert ours.progress[-1] == packed.stat().st_size
    assert theirs.progress[-1] == plain.stat().st_size


@pytest.mark.parametrize("broken", ["truncated", "garbled", "no-deflate", "gone"])
def test_a_file_that_breaks_off_ends_itself_alone(tmp_path: Path, broken: str) -> None:
    first, second = tmp_path / "first.gz", write(tmp_path / "second.jsonl", ROWS)
    # Rows that hardly pack, so that much of the file is whole before the fault.
    packed = gzip.compress(b"".join(row_of(f"{number * 7**20}") for number in range(5_000)))
    if broken == "truncated":
        first.write_bytes(packed[:-2_000])
    elif broken == "garbled":
        first.write_bytes(packed[:-2_000] + b"\0" * 2_000)
    elif broken == "no-deflate":
        first.write_bytes(packed[:10] + b"\xff" * 2_000)
    run = Run(first, second)
    # What is garbled may still look like a row or two before it is found out.
    assert {bad.file for bad in run.bad} == {str(first)}
    assert run.bad[-1].message.startswith("can't be read on: ")
    assert run.statuses()["recovered"] == 2
    whole = run.report.tally.total.answers - len(ROWS)
    assert run.bad[-1].line == whole + len(run.bad)
    assert (broken in {"gone", "no-deflate"}) == (whole == 0)
    assert whole < 5_000


# Toolsets


def test_a_toolset_with_an_id_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: Counter[str] = Counter()

    def build(tools: list[Any], **more: Any) -> Toolset:
        built[json.dumps(tools)] += 1
        return Toolset(tools, **more)

    monkeypatch.setattr("recovery.rows.Toolset", build)
    toolsets = tmp_path / "toolsets.jsonl"
    toolsets.write_text(
        '{"id": "one", "tools": ["boil_egg"], "aliases": {"cook": "boil_egg"}}\n{"id": 2, "tools": ["set_table"]}\n'
        '{"id": "never", "tools": ["peel"]}\n{"id": "bad", "tools": [7]}\n',
        encoding="utf-8",
    )
    rows, bad = read_toolsets(str(toolsets))
    assert bad == []
    file = tmp_path / "answers.jsonl"
    answers = [
        {"text": "cook(minutes=4)", "toolset": "one"},
        {"text": "lay()", "toolset": 2, "aliases": {"lay": "set_table"}},
        {"text": "set_table()", "toolset": 2},
        {"text": "peel()", "toolset": "bad"},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in answers) * 50, encoding="utf-8")
    run = Run(file, toolsets=rows)
    assert run.statuses() == {"recovered": 150}
    assert {str(row) for row in run.bad[:1]} == {f"{file}:4: toolset 'bad': tools[0]: expected a tool, got int"}
    assert len(run.bad) == 50
    # The second toolset as it is, and with the alias of a row.
    assert built == {'["boil_egg"]': 1, '["set_table"]': 2, "[7]": 1}


@pytest.mark.parametrize("row", [{"tools": ["boil_egg"]}, {"toolset": "one"}])
def test_only_the_last_few_toolsets_that_rows_make_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: dict[str, Any]
) -> None:
    built = 0

    def build(tools: list[Any], **more: Any) -> Toolset:
        nonlocal built
        built += 1
        return Toolset(tools, **more)

    monkeypatch.setattr("recovery.rows.Toolset", build)
    # Each twice at once, all of them again, and then the last one.
    turns = [*(number // 2 for number in range(80)), *range(40), 39]
    rows = [{"text": f"cook_{turn}()", "aliases": {f"cook_{turn}": "boil_egg"}, **row} for turn in turns]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = Run(file, toolsets={"one": b'{"id": "one", "tools": ["boil_egg"]}'})
    assert run.statuses() == {"recovered": 121}
    assert built == 80


def test_a_row_that_is_no_toolset_is_told(tmp_path: Path) -> None:
    file = tmp_path / "toolsets.jsonl"
    file.write_text('{"id": "a", "tools": []}\n{"tools": []}\nno\n{"id": "a", "tools": ["f"]}\n', encoding="utf-8")
    rows, bad = read_toolsets(str(file))
    assert list(rows) == ["a"]
    assert [str(row) for row in bad] == [
        f"{file}:2: a toolset needs an id",
        f"{file}:3: no JSON, column 1: Expecting value",
        f"{file}:4: a second toolset 'a', and a different one; the first counts",
    ]


# What is written, and held against it later


def test_a_record_says_what_became_of_an_answer(tmp_path: Path) -> None:
    file = write(tmp_path / "answers.jsonl", [ROWS[1], ROWS[3]])
    recovered, refused = map(json.loads, Run(file).records)
    assert recovered == {
        "id": "b",
        "file": str(file),
        "line": 1,
        "status": "recovered",
        "reason": None,
        "span": None,
        "allowances": [],
        "calls": [
            {"name": "boil_egg", "written": "boil.egg", "arguments": {"minutes": 4}, "span": [1, 20]},
            {"name": "set_table", "written": "set_table", "arguments": {}, "span": [22, 33]},
        ],
        "used": [],
        "rules": Recovery("text", "").rules,
    }
    assert (refused["status"], refused["reason"], refused["allowances"]) == ("refused", "not_allowed", ["fence"])
    assert refused["calls"] == []


def test_against_itself_nothing_changed(tmp_path: Path) -> None:
    rows = [*ROWS, {"text": 'boil_egg(note="caf\u00e9 \U0001f95a", minutes=-0.0, size=1e300)'}]
    file = write(tmp_path / "answers.jsonl", rows)
    before = Run(file).write(tmp_path / "before.jsonl")
    run = Run(file, baseline=before)
    assert run.baseline is not None
    assert run.baseline.answers == 7
    assert (run.baseline.changes, run.baseline.new_answers, [*run.baseline.missing()]) == ([], 0, [])


@pytest.mark.parametrize(
    ("was", "now", "change"),
    [
        pytest.param("Hello.", CALL, ("text", "recovered"), id="text-to-call"),
        pytest.param(CALL, "Hello.", ("recovered", "text"), id="call-to-text"),
        pytest.param(f"2*{CALL}", CALL, ("refused (operator)", "recovered"), id="refused-to-call"),
        pytest.param(f"2*{CALL}", f"```\n{CALL}\n```", ("refused (operator)", "refused (not_allowed)"), id="reason"),
        pytest.param(f"2*{CALL}", f"20*{CALL}", ("refused (operator)", "other span or spelling"), id="span"),
        pytest.param(CALL, "boil.egg(minutes=4)", ("recovered", "other span or spelling"), id="spelling"),
        pytest.param(CALL, "boil_egg(minutes=5)", ("recovered", "other calls"), id="value"),
        pytest.param(CALL, "boil_egg(minutes=4.0)", ("recovered", "other calls"), id="type"),
        pytest.param("boil_egg(a=True)", "boil_egg(a=1)", ("recovered", "other calls"), id="true-is-not-1"),
        pytest.param("boil_egg(a=1, b=2)", "boil_egg(b=2, a=1)", None, id="order-of-keys"),
    ],
)
def test_a_change_is_told(tmp_path: Path, was: str, now: str, change: tuple[str, str] | None) -> None:
    file = write(tmp_path / "answers.jsonl", [{"id": "same", "text": "set_table()"}, {"id": "x", "text": was}])
    before = Run(file).write(tmp_path / "before.jsonl")
    # Another place: the id decides.
    write(file, [{"id": "x", "text": now}, {"id": "same", "text": "set_table()"}])
    run = Run(file, baseline=before)
    assert run.baseline is not None
    found = [(c.id, c.line, c.before, c.after) for c in run.baseline.changes]
    assert found == ([] if change is None else [("x", 1, *change)])


def test_without_id_the_place_decides_and_a_repeated_id_is_taken_in_order(tmp_path: Path) -> None:
    rows = [{"text": CALL}, {"text": "Hello."}, *({"id": "x", "text": text} for text in (CALL, "Hello.", CALL))]
    file = write(tmp_path / "answers.jsonl", rows)
    before = Run(file).write(tmp_path / "before.jsonl")
    rows[1]["text"] = rows[3]["text"] = "set_table()"
    run = Run(write(file, rows), baseline=before)
    assert run.baseline is not None
    assert [(c.id, c.line) for c in run.baseline.changes] == [(None, 2), ("x", 4)]
    assert (run.baseline.new_answers, [*run.baseline.missing()]) == (0, [])


def test_answers_of_one_side_are_named_and_counted(tmp_path: Path) -> None:
    file = write(tmp_path / "answers.jsonl", [{"id": "gone", "text": CALL}, {"id": 1, "text": CALL}])
    before = Run(file).write(tmp_path / "before.jsonl")
    # A number and the same as a string are two ids.
    rows: list[dict[str, Any]] = [
        {"id": "1", "text": CALL},
        {"id": 1, "text": CALL},
        *({"text": CALL} for _ in range(30)),
    ]
    run = Run(write(file, rows, kind="chat"), baseline=before, protect=(("kind", "chat"),))
    assert run.baseline is not None
    assert run.baseline.new_answers == run.baseline.new_protected_calls == 31
    assert run.baseline.new[:2] == ['"1"', f"{file}:3"]
    assert len(run.baseline.new) == replay.MOST_KEYS
    assert [*run.baseline.missing()] == ['"gone"']
    assert run.baseline.changes == []


def test_only_a_new_call_in_a_protected_group_breaks(tmp_path: Path) -> None:
    def rows(text: str) -> list[dict[str, Any]]:
        return [
            {"id": "to-call", "text": text, "kind": "chat"},
            {"id": "elsewhere", "text": text, "kind": "task"},
            {"id": "other-field", "text": text, "round": 3},
            {"id": "to-other-call", "text": f"set_table(x={len(text)})", "kind": "chat"},
            {"id": "to-text", "text": CALL if text == "Hello." else "Hello.", "kind": "chat"},
        ]

    file = write(tmp_path / "answers.jsonl", rows("Hello."))
    before = Run(file).write(tmp_path / "before.jsonl")
    run = Run(write(file, rows(CALL)), baseline=before, protect=(("kind", "chat"), ("round", "3"), ("round", "4")))
    assert run.baseline is not None
    assert {c.id: c.protected for c in run.baseline.changes if c.breaks} == {
        "to-call": ("kind=chat",),
        "other-field": ("round=3",),
    }
    assert len(run.baseline.changes) == 5
    assert run.report.protected == {"kind=chat": 3, "round=3": 1, "round=4": 0}


@pytest.mark.parametrize(
    "row", ['{"id": "a", "text": "an answer, no record"}', "no JSON", '["a"]', '{"id": "a", "file": "f", "line": 1']
)
def test_what_is_no_baseline_is_the_callers_mistake(tmp_path: Path, row: str) -> None:
    file = Run(write(tmp_path / "answers.jsonl", ROWS)).write(tmp_path / "before.jsonl")
    file.write_text(file.read_text(encoding="utf-8") + row, encoding="utf-8")
    with pytest.raises(ValueError, match=r"before\.jsonl:7: "):
        replay.Baseline(str(file))


# Processes and memory


def many(count: int) -> Iterator[dict[str, Any]]:
    """Rows of every outcome in uneven turns, each with a text of its own."""
    for number in range(count):
        row = PREMATURE[number * number % len(PREMATURE)]
        yield {"id": number, "text": f"{row['text']}{' ' * (number % 7)}", "kind": row["id"]}


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    first = write(tmp_path / "first.jsonl", many(1_500))
    with first.open("ab") as file:
        file.write(b"no\n" * 300)
    second = write(tmp_path / "second.jsonl", many(700))
    one, two = (Run(first, second, jobs=jobs, by=("kind",), by_call=True) for jobs in (1, 2))
    assert len(one.records) == 2_200
    assert two.records == one.records
    assert two.bad == one.bad
    assert two.report == one.report
    assert two.progress == one.progress


def test_reading_does_not_run_away_from_the_workers(tmp_path: Path) -> None:
    chunks = 0

    def counted() -> Iterator[Any]:
        nonlocal chunks
        for chunk in replay._read_chunks([str(write(tmp_path / "answers.jsonl", many(10_000)))]):
            chunks += 1
            yield chunk

    with closing(replay._run(counted(), replay.Plan(Policy.strict()), 2)) as results:
        next(results)
        assert 2 <= chunks <= 5


def test_a_chunk_is_bounded_by_bytes_too(tmp_path: Path) -> None:
    file = write(tmp_path / "answers.jsonl", ({"text": "x" * 400_000} for _ in range(10)))
    sizes = [
        sum(len(line.raw) for line in chunk if not isinstance(line, BadRow))
        for chunk, _ in replay._read_chunks([str(file)])
    ]
    assert len(sizes) == 4
    assert max(sizes) < 2 * 1024 * 1024


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        file = write(tmp_path / f"{rows}.jsonl", many(rows))
        plan = replay.Plan(Policy.strict(), by=("kind",), record=True)
        tracemalloc.start()
        try:
            report = replay.replay([str(file)], plan)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            assert report.tally.total.answers == rows

    peak(300)  # What the first run alone imports and caches.
    small, large = peak(3_000), peak(12_000)
    # Less than one small object for each of the 9,000 rows.
    assert large < small + 250_000


@pytest.mark.parametrize("part", ["recover", "Stream"])
def test_an_engine_that_raises_is_no_bad_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    def raising(*_: object, **__: object) -> Recovery:
        raise RecursionError

    monkeypatch.setattr(f"recovery.rows.{part}", raising)
    file = write(tmp_path / "answers.jsonl", ROWS)
    with pytest.raises(RuntimeError, match=r"answers\.jsonl:1: reading this answer raised"):
        Run(file, by_call=True)


def test_what_is_too_deep_to_handle_is_a_bad_row(tmp_path: Path) -> None:
    # Some depth can just be read, and no longer be written or compared: whatever happens there, the run goes on.
    depths = range(sys.getrecursionlimit() - 120, sys.getrecursionlimit())
    tools = (f'{{"name": "f", "parameters": {{"x": {"[" * depth}{"]" * depth}}}}}' for depth in depths)
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(f'{{"text": "", "tools": [{tool}, {tool}]}}\n' for tool in tools), encoding="utf-8")
    run = Run(file)
    assert run.report.bad + run.report.tally.total.answers == len(depths)
