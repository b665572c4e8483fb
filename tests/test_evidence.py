"""The evidence: what counts for an allowance and what against it, what is drawn, and what the command says."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from recovery import Allowance, Call, Policy, Recovery, Span, Toolset, evidence, recover
from recovery.cli import main
from recovery.evidence import Draw, Evidence, Hit, gather, read_verdicts
from recovery.evidence_report import sheets, to_json, to_markdown
from recovery.rows import BadRow
from recovery.truth import Wanted, is_right

TOOLS = ["boil_egg", "set_table"]
CALL = "boil_egg(minutes=4)"
FENCED = f"```\n{CALL}\n```"
WANTED = [{"name": "boil_egg", "allowed": {"minutes": [4, 5], "note": ["soft", ""]}}]
FENCE, ESCAPE = Allowance.FENCE, Allowance.MARKDOWN_ESCAPE

ANSWERS: list[dict[str, Any]] = [
    {"id": "strict", "text": CALL, "allowed": WANTED, "calls": [{"name": "boil_egg", "arguments": {"minutes": 4}}]},
    {"id": "fence", "text": FENCED, "allowed": WANTED},
    {"id": "fence-wrong", "text": "```\nboil_egg(minutes=9)\n```", "allowed": WANTED},
    {"id": "escape", "text": "boil\\_egg(minutes=5)", "allowed": WANTED},
    {"id": "both", "text": "```\nboil\\_egg(minutes=5)\n```", "allowed": WANTED},
    {"id": "no-truth", "text": "```\nset_table()\n```"},
    {"id": "left", "text": "Never run boil_egg(minutes=4) at night."},
    {"id": "prose", "text": "Breakfast is ready.", "allowed": WANTED},
]
NEGATIVES: list[dict[str, Any]] = [
    {"id": "quiet", "category": "docs", "text": "Breakfast is ready.", "tools": TOOLS, "callish": []},
    {"id": "row", "category": "docs", "text": FENCED, "tools": TOOLS, "callish": []},
    {"id": "callish", "category": "docs", "text": "```\nrun\\_it()\n```", "tools": TOOLS, "callish": ["run_it"]},
    {"id": "own", "category": "bfcl_prose", "text": "```\nrun_it()\n```", "tools": TOOLS, "callish": ["run_it"]},
]


def write(path: Path, rows: Iterable[dict[str, Any]], **more: Any) -> str:
    path.write_text("".join(json.dumps({**more, **row}) + "\n" for row in rows), encoding="utf-8")
    return str(path)


class Run:
    """The evidence of some rows, and all that it told."""

    def __init__(
        self, folder: Path, answers: Iterable[dict[str, Any]], negatives: Iterable[dict[str, Any]] = (), **more: Any
    ) -> None:
        self.hits: list[Hit] = []
        self.bad: list[BadRow] = []
        self.progress: list[int] = []
        files = write(folder / "answers.jsonl", answers, tools=TOOLS), write(folder / "negatives.jsonl", negatives)
        self.size = sum(Path(file).stat().st_size for file in files)
        self.found = gather(
            files[:1],
            files[1:],
            {},
            on_hit=self.hits.append,
            on_bad=self.bad.append,
            on_progress=self.progress.append,
            **more,
        )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path, ANSWERS, NEGATIVES)


def numbers(found: Evidence, *allowed: Allowance) -> tuple[int, int, int]:
    count = found.under(allowed)
    return count.answers, count.truths, count.right


# What is brought


def test_what_a_policy_recovers_follows_from_what_was_used(run: Run) -> None:
    assert numbers(run.found) == (1, 1, 1)
    assert numbers(run.found, FENCE) == (4, 3, 2)
    assert numbers(run.found, ESCAPE) == (2, 2, 2)
    assert numbers(run.found, *Allowance) == (6, 5, 4)
    assert (run.found.answers.answers, run.found.answers.truths) == (8, 6)


@pytest.mark.parametrize("allow", [(), (FENCE,), (ESCAPE,), (FENCE, ESCAPE), tuple(Allowance)])
def test_it_is_what_that_policy_recovers_by_itself(run: Run, allow: tuple[Allowance, ...]) -> None:
    results = [recover(row["text"], TOOLS, policy=Policy(allow)) for row in ANSWERS]
    assert run.found.under(allow).answers == sum(bool(result.calls) for result in results)


def test_the_order_begins_with_what_brings_most_right_answers(tmp_path: Path) -> None:
    more = [{"text": f"boil\\_egg(minutes={n})", "allowed": WANTED} for n in (4, 5)]
    found = Run(tmp_path, ANSWERS + more).found
    assert found.greedy()[:2] == [ESCAPE, FENCE]
    assert sorted(found.greedy()) == sorted(Allowance)


def test_right_answers_come_before_many(tmp_path: Path) -> None:
    wrong = [{"text": "```\nboil_egg(minutes=9)\n```", "allowed": WANTED}] * 3
    assert Run(tmp_path, [*wrong, ANSWERS[3]]).found.greedy()[0] == ESCAPE


def test_what_python_reads_is_compared_with_strict(tmp_path: Path) -> None:
    def read(text: str, arguments: dict[str, Any]) -> list[str]:
        row = {"id": "x", "text": text, "calls": [{"name": "boil_egg", "arguments": arguments}]}
        return Run(tmp_path, [row]).found.unlike_python

    assert read(CALL, {"minutes": 4}) == []
    assert read(CALL, {"minutes": 4.0}) == ["x"]
    assert read(CALL, {}) == ["x"]
    # The right calls, but not by strict.
    assert read(FENCED, {"minutes": 4}) == ["x"]


def test_a_larger_policy_that_changes_a_smaller_one_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bent(text: str, tools: Toolset, *, policy: Policy) -> Recovery:
        result = recover(text, tools, policy=policy)
        return Recovery("recovered", "", result.calls[:1], used=result.used) if len(policy.allow) < 2 else result

    monkeypatch.setattr(evidence, "recover", bent)
    monkeypatch.setattr(evidence, "_CHECKED", 1)
    with pytest.raises(RuntimeError, match="changes what lenient recovers"):
        Run(tmp_path, [{"text": f"{CALL}; {CALL}"}])


def test_some_answers_are_read_again_under_smaller_policies(tmp_path: Path) -> None:
    found = Run(tmp_path, [{"text": f"boil_egg(minutes={n})"} for n in range(400)]).found
    assert 0 < found.checked < 40


# What is against it


def test_a_text_counts_against_every_allowance_that_its_reading_used(run: Run) -> None:
    found = run.found
    assert found.negatives == 4
    assert (found.hits_of(FENCE, "row"), found.hits_of(FENCE, "callish")) == (1, 1)
    assert (found.hits_of(ESCAPE, "row"), found.hits_of(ESCAPE, "callish")) == (0, 1)
    assert [found.hits_under(allowed, "callish") for allowed in ([], [FENCE], [FENCE, ESCAPE])] == [0, 0, 1]


def test_a_models_own_whole_call_is_listed_and_not_counted(run: Run) -> None:
    assert run.found.own_calls_of(FENCE) == 1
    assert [(hit.id, hit.tools, hit.is_own_call) for hit in run.hits] == [
        ("row", "row", False),
        ("callish", "callish", False),
        ("own", "callish", True),
    ]
    assert run.hits[1].why == "text, read as run\\_it(…) on line 2, by fence + markdown_escape"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"category": "docs"}, "no model's"),
        ({"text": "Run this:\n```\nrun_it()\n```\nPlease."}, "prose around it"),
        ({"text": "```\nx = run_it()\n```"}, "code around it"),
        ({"tools": ["run_it"], "callish": []}, "offered"),
    ],
)
def test_what_is_more_than_an_own_call_counts(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    hits = Run(tmp_path, [], [{**NEGATIVES[3], **change}]).hits
    assert [hit.is_own_call for hit in hits] == [False], why


# What is read


def verdict_row(id_: str, verdict: str, reading: str, allowance: str = "fence") -> dict[str, Any]:
    return {"id": id_, "allowance": allowance, "reading": reading, "verdict": verdict, "by": "reader"}


def judged(folder: Path, rows: list[dict[str, Any]], negatives: Iterable[dict[str, Any]] = ()) -> Evidence:
    write(folder / "fence.jsonl", rows)
    verdicts, bad = read_verdicts(folder)
    assert bad == []
    return Run(folder, ANSWERS, negatives, verdicts=verdicts).found


READING = evidence.reading_of(recover(CALL, TOOLS).calls)


def test_an_allowance_has_earned_its_place_when_what_was_read_is_right(tmp_path: Path) -> None:
    found = judged(tmp_path, [verdict_row("fence", "right reading", READING)])
    assert found.earned() == {FENCE}
    assert found.faults_of(ESCAPE) == ["no answer was read"]


@pytest.mark.parametrize("verdict", ["wrong reading", "two readings"])
def test_one_wrong_or_doubtful_reading_is_enough(tmp_path: Path, verdict: str) -> None:
    other = evidence.reading_of(recover("set_table()", TOOLS).calls)
    rows = [verdict_row("fence", "right reading", READING), verdict_row("no-truth", verdict, other)]
    assert judged(tmp_path, rows).earned() == set()


@pytest.mark.parametrize("negative", [NEGATIVES[1], NEGATIVES[2]])
def test_one_text_that_became_a_call_is_enough(tmp_path: Path, negative: dict[str, Any]) -> None:
    rows = [verdict_row("fence", "right reading", READING)]
    assert judged(tmp_path, rows, [negative]).earned() == set()
    assert judged(tmp_path, rows, [NEGATIVES[3]]).earned() == {FENCE}


def test_a_verdict_on_other_calls_is_stale(tmp_path: Path) -> None:
    found = judged(tmp_path, [verdict_row("fence", "right reading", "0123456789ab")])
    assert found.judged[FENCE] == {evidence.STALE: 1, "reader": 0}
    assert found.earned() == set()


@pytest.mark.parametrize(
    "row",
    [
        {**verdict_row("x", "right reading", READING), "allowance": "quoted"},
        {**verdict_row("x", "right reading", READING), "by": "nobody"},
        {**verdict_row("x", "right reading", READING), "id": None},
        verdict_row("x", "fine", READING),
        {"no": "verdict"},
    ],
)
def test_a_row_that_is_no_verdict_is_told(tmp_path: Path, row: dict[str, Any]) -> None:
    write(tmp_path / "fence.jsonl", [row])
    verdicts, bad = read_verdicts(tmp_path)
    assert not verdicts
    assert [bad_row.line for bad_row in bad] == [1]


def test_samples_are_the_same_in_any_order_and_others_by_another_seed() -> None:
    def draw(seed: int, ids: Iterable[int]) -> list[int]:
        drawn = Draw(seed, 5)
        for id_ in ids:
            drawn.offer("fence", id_, lambda id_=id_: {"id": id_})  # type: ignore[misc]
        assert drawn.drawn_from == 100
        return [sample["id"] for sample in drawn]

    assert draw(1, range(100)) == draw(1, reversed(range(100)))
    assert len(set(draw(1, range(100)))) == 5
    assert draw(1, range(100)) != draw(2, range(100))
    assert draw(1, range(100)) != [0, 1, 2, 3, 4]


def test_a_sample_holds_what_a_reader_needs(run: Run) -> None:
    (sample,) = [sample for sample in run.found.drawn[FENCE] if sample["id"] == "fence"]
    assert sample["text"] == FENCED
    assert sample["reading"] == READING
    assert sample["verdict"] is None
    assert [(call["name"], call["arguments"]) for call in sample["calls"]] == [("boil_egg", {"minutes": 4})]
    assert {sample["id"] for sample in run.found.drawn[FENCE]} == {"fence", "fence-wrong", "both", "no-truth"}


# Rows and size


def test_a_bad_row_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"text": 1},
        {"text": CALL, "allowed": [{"name": "boil_egg"}]},
        {"text": CALL, "calls": [1]},
        {"text": CALL},
    ]
    run = Run(tmp_path, rows, [{"no": "text"}])
    assert [row.line for row in run.bad] == [1, 2, 3, 1]
    assert run.found.bad == 4
    assert run.found.answers.answers == 1


def test_progress_ends_at_all_bytes(run: Run) -> None:
    assert run.progress == sorted(run.progress)
    assert run.progress[-1] == run.size


def test_memory_is_that_of_the_samples(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        texts = ({"id": n, "text": f"```\n{CALL}\n```" + " " * 2000} for n in range(rows))
        file = write(tmp_path / "answers.jsonl", texts, tools=TOOLS)
        tracemalloc.start()
        gather([file], [], {}, samples=5)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(10)
    # 2.7 MB of text more.
    assert peak(1500) < peak(150) + 300_000


def test_the_tables_hold_no_text_of_the_answers(run: Run) -> None:
    page = to_markdown(run.found, "recovery evidence")
    assert "minutes" not in page + json.dumps(to_json(run.found))
    assert "| fence | 3 | 2 | 1 |" in page
    assert all(
        len(row) == len(sheet.words + sheet.numbers + sheet.remarks)
        for sheet in sheets(run.found)
        for row in sheet.rows
    )


# The truth


def call(name: str = "f", **arguments: Any) -> Call:
    return Call(name, name, arguments, Span(0, 0))


@pytest.mark.parametrize(
    ("value", "accepted", "right"),
    [
        (1, [1.0], True),
        (1, [True], False),
        (True, [1], False),
        (True, [True], True),
        ("New York, NY", ["new york ny"], True),
        ("a_b-c/d.e*f^g", ["abcdefg"], True),
        ("a:b", ["ab"], False),
        ("1", [1], False),
        ([1, "A b"], [[1.0, "ab"]], True),
        ([1, 2], [[2, 1]], False),
        ([1], [1], False),
        (None, [None], True),
        (None, [""], False),
        ({"a": "X"}, [{"a": ["x", "y"]}], True),
        ({"a": 1}, [{"a": [1], "b": ["", 2]}], True),
        ({"a": 1}, [{"a": [1], "b": [2]}], False),
        ({"a": 1, "c": 1}, [{"a": [1]}], False),
        ({"a": [1, 2]}, [{"a": [1, 2]}], True),
        ([{"a": 1}], [[{"a": [1, 2]}]], True),
    ],
)
def test_a_value_is_right_if_it_is_accepted(value: object, accepted: list[object], right: bool) -> None:
    assert is_right([call(x=value)], [Wanted("f", {"x": accepted})]) is right


@pytest.mark.parametrize(
    ("calls", "wanted", "right"),
    [
        ([call(x=1)], [Wanted("g", {"x": [1]})], False),
        ([call()], [Wanted("f", {"x": [1]})], False),
        ([call()], [Wanted("f", {"x": [1, ""]})], True),
        ([call(x=1, y=2)], [Wanted("f", {"x": [1]})], False),
        ([call(x=1), call(x=2)], [Wanted("f", {"x": [2]}), Wanted("f", {"x": [1]})], True),
        ([call(x=1), call(x=1)], [Wanted("f", {"x": [1]}), Wanted("f", {"x": [2]})], False),
        ([call(x=1)], [], False),
        ([], [], True),
        # The first call must leave its place to the second.
        ([call(x=1), call(x=2)], [Wanted("f", {"x": [1, 2]}), Wanted("f", {"x": [1]})], True),
    ],
)
def test_calls_are_right_if_each_wanted_one_is_met(calls: list[Call], wanted: list[Wanted], right: bool) -> None:
    assert is_right(calls, wanted) is right


# The command


def command(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main(["evidence", *arguments], prog_name="recovery")
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_the_command_writes_its_tables_hits_and_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "answers.jsonl", ANSWERS, tools=TOOLS)
    # No text that counts against an allowance which the default may have.
    write(tmp_path / "negatives.jsonl", [NEGATIVES[0], NEGATIVES[3]])
    status, out, err = command(
        tmp_path, capsys, monkeypatch, "answers.jsonl", "--negatives", "negatives.jsonl", "--out", "found"
    )
    assert (status, err) == (0, "")
    assert "8 answers, 6 with a ground truth; 2 texts that must stay text" in out
    folder = tmp_path / "found"
    assert {path.name for path in folder.iterdir()} == {"evidence.md", "evidence.json", "hits.jsonl", "samples", "left"}
    assert json.loads((folder / "evidence.json").read_text())["policies"]["lenient"]["right"] == 4
    assert len((folder / "hits.jsonl").read_text().splitlines()) == 1
    assert len((folder / "samples" / "fence.jsonl").read_text().splitlines()) == 4
    assert [path.name for path in (folder / "left").iterdir()] == ["in_a_sentence.jsonl"]
    assert (
        "    recovery evidence answers.jsonl --negatives negatives.jsonl --seed 1"
        in (folder / "evidence.md").read_text()
    )


@pytest.mark.parametrize(
    ("answers", "negatives", "status", "said"),
    [
        ([ANSWERS[0]], [{"text": CALL, "tools": TOOLS}], 1, "became calls, by strict: 1"),
        ([{**ANSWERS[1], "calls": []}], [], 1, "does not read as Python's parser does: 1"),
        ([{"text": 1}], [], 3, "bad rows: 1"),
        ([{"text": 1}], [{"text": CALL, "tools": TOOLS}], 1, "bad rows: 1"),
    ],
)
def test_the_exit_status(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answers: list[dict[str, Any]],
    negatives: list[dict[str, Any]],
    status: int,
    said: str,
) -> None:
    write(tmp_path / "a.jsonl", answers, tools=TOOLS)
    write(tmp_path / "n.jsonl", negatives)
    code, out, _ = command(tmp_path, capsys, monkeypatch, "a.jsonl", "--negatives", "n.jsonl", "--out", "found")
    assert code == status
    assert said in out


@pytest.mark.parametrize(
    "arguments", [[], ["a.jsonl"], ["missing.jsonl", "--out", "found"], ["a.jsonl", "--out", "a.jsonl"]]
)
def test_misuse_is_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    write(tmp_path / "a.jsonl", ANSWERS, tools=TOOLS)
    assert command(tmp_path, capsys, monkeypatch, *arguments)[0] == 2
