"""The commands of the grading layer: what they print, every exit status, and that none is loaded before its use."""

from __future__ import annotations

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")
pytest.importorskip("pydantic")

from recovery.grading import Run
from recovery.grading.store import Store
from tests.grading.server import completion, message, serving, tool_call
from tests.test_cli import Result, Shell

ROOT = Path(__file__).parent.parent.parent
TOOLS = [
    {
        "name": "weather",
        "description": "Of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
]
CASES: list[dict[str, Any]] = [
    {"id": "oslo", "query": "Weather in Oslo?", "expected_tool": "weather", "expected_args": {"city": "Oslo"}},
    {"id": "rome", "query": "Weather in Rome?", "expected_tool": "weather", "expected_args": {"city": "Rome"}},
    {"id": "joke", "query": "Tell me a joke."},
]
# What a team would write: a function that asks, and a check.
MINE = """
import time

def ask(model, query):
    if model == "slow":
        time.sleep(0.05)
    if "Oslo" in query and model == "broken":
        raise ConnectionError("no route, key sk-12345678")
    return f"weather(city='{query[11:15]}')" if query.startswith("Weather") else "No."

def check(case, args):
    return case.expected_args["city"] == args["city"]

nothing = 3
"""


def lines(name: str, rows: Iterable[Any]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    made = Shell(tmp_path, capsys, monkeypatch)
    Path("tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    Path("mine.py").write_text(MINE, encoding="utf-8")
    lines("cases.jsonl", CASES)
    return made


def files(*more: str) -> tuple[str, ...]:
    return ("--cases", "cases.jsonl", "--tools", "tools.json", *more)


def own(shell: Shell, *more: str) -> Result:
    return shell("run", *files("--call-model", "mine:ask", "--model", "a", "--retries", "0", "--out", "run.db"), *more)


# Loaded when they are called


def test_help_lists_the_commands_and_loads_none_of_what_they_rest_on() -> None:
    program = (
        "import sys\nfrom recovery.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'pydantic', 'numpy', 'yaml', 'jsonschema', 'openai', 'anthropic', 'sqlite3', 'asyncio'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    for name in ("plan", "run", "grade", "lint"):
        assert f"\n  {name}  " in done.stdout
    assert done.stdout.endswith("loaded: []\n")


@pytest.mark.parametrize("name", ["plan", "run", "grade", "lint"])
def test_each_command_teaches_and_documents_its_exit_statuses(shell: Shell, name: str) -> None:
    result = shell(name, "--help")
    assert result.status == 0
    assert "Exit status:" in result.out
    assert f"recovery {name} " in result.out


def test_without_the_extra_it_says_what_to_install(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("recovery.grading")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic", None)
    result = shell("plan", "--cases", "20")
    assert (result.status, result.out) == (2, "")
    assert "pip install 'recovery[cli,grading]'" in result.err


# recovery plan


def test_a_plan_says_calls_and_the_smallest_difference(shell: Shell) -> None:
    result = shell("plan", "--cases", "20", "--models", "2", "--repeats", "3")
    assert result.status == 0
    assert "calls: 120 (20 cases × 2 models × 3 repeats)" in result.out
    # Of the table of planning defaults.
    assert "29.5" in result.out


def test_a_plan_of_files_knows_what_the_cases_want(shell: Shell) -> None:
    Path("models.yaml").write_text("a: {base_url: http://x/v1}\nb:\n  base_url: http://y/v1\n", encoding="utf-8")
    result = shell("plan", "--cases", "cases.jsonl", "--models", "models.yaml", "--see", "10")
    assert result.status == 0
    assert "calls: 18 (3 cases × 2 models × 3 repeats)" in result.out
    for kind, number in (("correct, over all cases", 3), ("failures of wanted calls", 2), ("nobody wanted", 1)):
        (line,) = [line for line in result.out.splitlines() if kind in line]
        assert f" {number} " in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cases", "0"), "must be 1 or more"),
        (("--cases", "nowhere.jsonl"), "no number, and no file"),
        (("--cases", "3", "--models", "nowhere.yaml"), "nowhere.yaml: can't be read"),
        (("--cases", "tools.json"), "tools.json"),
        (("--cases", "3", "--repeats", "0"), "--repeats"),
    ],
)
def test_misuse_of_a_plan(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    result = shell("plan", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_one_repeat_is_warned_of(shell: Shell) -> None:
    assert "noise floor can't be estimated" in shell("plan", "--cases", "20", "--repeats", "1").out


# recovery lint


def test_sound_cases_pass(shell: Shell) -> None:
    result = shell("lint", *files())
    assert (result.status, result.err) == (0, "")
    assert result.out == "3 sound cases (2 want a call, 1 want none); 0 errors, 0 warnings\n"


def test_what_is_wrong_with_a_case_names_line_and_field(shell: Shell) -> None:
    lines("cases.jsonl", [*CASES, {"query": "More?", "expected_tool": "whether"}, {"query": "x", "querry": 1}])
    result = shell("lint", *files())
    assert result.status == 1
    assert "cases.jsonl:4: expected_tool: 'whether' is not offered; did you mean 'weather'?" in result.out
    assert "cases.jsonl:5: querry: there is no such field" in result.out
    assert "2 errors" in result.out


def test_a_value_that_stands_nowhere_is_a_warning(shell: Shell) -> None:
    lines("cases.jsonl", [CASES[0] | {"expected_args": {"city": "Bergen"}}])
    result = shell("lint", *files())
    assert result.status == 0
    assert "cases.jsonl:1: warning: expected_args/city" in result.out


def test_a_file_of_tools_that_is_none_is_misuse(shell: Shell) -> None:
    Path("tools.json").write_text("{", encoding="utf-8")
    result = shell("lint", *files())
    assert (result.status, result.out) == (2, "")
    assert "tools.json:1" in result.err


# recovery run


def test_a_run_asks_grades_stores_and_counts(shell: Shell) -> None:
    result = own(shell, "--check", "mine:check")
    assert (result.status, result.err) == (0, "")
    (row,) = [line.split() for line in result.out.splitlines() if line.strip().startswith("a ")]
    assert row == ["a", "0", "0", "0", "0", "0", "9"]
    assert "valid until" in result.out
    run = Run.load("run.db")
    assert run.block.scope.cases_file == "cases.jsonl"
    assert run.block.metric.semantic_check == "mine.check"
    assert all(cell.grade is not None and (cell.grade.recovered or cell.case_id == "joke") for cell in run.cells)


def test_cells_without_an_outcome_are_status_3_and_keep_no_key(shell: Shell) -> None:
    result = own(shell, "--model", "broken")
    assert result.status == 3
    (heading,) = [line for line in result.out.splitlines() if "model" in line and "no call" in line]
    assert heading.split()[-1] == "transport"
    problems = {cell.problem for cell in Run.load("run.db").cells if cell.grade is None}
    assert problems == {"ConnectionError: no route, key ***"}


def test_a_budget_and_then_the_rest(shell: Shell) -> None:
    assert own(shell, "--budget", "4").status == 3
    assert sum(cell.grade is not None for cell in Run.load("run.db").cells) == 4
    assert own(shell).status == 2
    assert own(shell, "--resume").status == 0
    assert Run.load("run.db").block.run.calls == 9


def test_another_question_is_refused_by_resume_with_the_fields(shell: Shell) -> None:
    own(shell)
    before = Path("run.db").read_bytes()
    Path("tools.json").write_text(json.dumps([{**TOOLS[0], "description": "Of a town."}]), encoding="utf-8")
    result = own(shell, "--resume")
    assert (result.status, result.out) == (2, "")
    assert "they differ in stimulus.tools_sha256" in result.err
    assert Path("run.db").read_bytes() == before


def test_a_dry_run_asks_nobody_and_wants_no_key(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Path("models.yaml").write_text("gpt:\nclaude: {api: anthropic}\n", encoding="utf-8")
    result = shell("run", *files("--models", "models.yaml", "--dry-run"))
    assert (result.status, result.err) == (0, "")
    assert "calls: 18 (3 cases × 2 models × 3 repeats)" in result.out
    assert "smallest difference" in result.out
    assert sorted(path.name for path in Path.cwd().glob("*.db*")) == []
    # And without it, the key is missed before anything is done.
    result = shell("run", *files("--models", "models.yaml", "--out", "run.db"))
    assert result.status == 2
    assert "OPENAI_API_KEY" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--call-model", "mine:ask", "--model", "a"), "--out is needed"),
        (("--out", "run.db"), "give --models, or --call-model"),
        (("--out", "run.db", "--call-model", "mine:ask"), "needs a --model"),
        (("--out", "run.db", "--call-model", "mine", "--model", "a"), "expected MODULE:NAME"),
        (("--out", "run.db", "--call-model", "mine:nowhere", "--model", "a"), "nowhere"),
        (("--out", "run.db", "--call-model", "mine:nothing", "--model", "a"), "not a function"),
        (("--out", "run.db", "--call-model", "no_such_module:ask", "--model", "a"), "no_such_module"),
        (("--out", "run.db", "--call-model", "mine:ask", "--model", "a", "--retry-ungraded"), "needs --resume"),
        (("--out", "no/run.db", "--call-model", "mine:ask", "--model", "a"), "unable to open"),
        (("--out", "run.db", "--models", "tools.json"), "tools.json: expected an object"),
        (("--out", "tools.json", "--call-model", "mine:ask", "--model", "a", "--resume"), "not a database"),
    ],
)
def test_misuse_of_a_run(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    before = Path("tools.json").read_bytes()
    result = shell("run", *files(*arguments))
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert Path("tools.json").read_bytes() == before


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("a: {base_uri: x}", "models.yaml: a.base_uri"),
        ("a: {api: soap}", "models.yaml: a.api"),
        ("a: {parameters: {tools: []}}", "models.yaml: a.parameters: tools: the same for all models"),
        ("a: [", "models.yaml: can't be read"),
        ("3: {}", "models.yaml: 3"),
    ],
)
def test_a_file_of_models_names_what_is_wrong(shell: Shell, fields: str, message: str) -> None:
    Path("models.yaml").write_text(fields, encoding="utf-8")
    result = shell("run", *files("--models", "models.yaml", "--out", "run.db"))
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_broken_cases_stop_it_before_the_first_call(shell: Shell) -> None:
    lines("cases.jsonl", [*CASES, {"query": "More?", "expected_tool": "whether"}])
    result = own(shell)
    assert (result.status, result.out) == (2, "")
    assert "cases.jsonl:4: expected_tool" in result.err
    assert not Path("run.db").exists()


def answering(path: str, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    query = body["messages"][-1]["content"]
    city = query[11:15] if query.startswith("Weather") else None
    if path == "/v1/chat/completions":
        said = {"content": "No."} if city is None else {"tool_calls": tool_call("weather", {"city": city})}
        return 200, completion(body["model"], **said), {}
    # This one writes its calls as text, and its gateway loses them.
    text = "No." if city is None else f"[weather(city={city!r})]"
    return 200, message(body["model"], {"type": "text", "text": text}), {}


def test_real_clients_against_a_server(shell: Shell) -> None:
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    Path("system.txt").write_text("Be brief.", encoding="utf-8")
    with serving(answering) as service:
        endpoints = {
            "native": {"base_url": f"{service.address}/v1", "parameters": {"temperature": 0}},
            "writes": {"base_url": service.address, "api": "anthropic"},
        }
        Path("models.json").write_text(json.dumps(endpoints), encoding="utf-8")
        result = shell("run", *files("--models", "models.json", "--out", "run.db", "--system", "system.txt"))
    assert (result.status, result.err) == (0, "")
    assert len(service.received) == 18
    run = Run.load("run.db")
    assert [cell.grade.outcome for cell in run.cells if cell.grade] == ["correct"] * 18
    recovered = {cell.model for cell in run.cells if cell.grade and cell.grade.recovered}
    assert recovered == {"writes"}
    assert run.block.stimulus.tools_as == "sent"
    assert [entry.returned for entry in run.block.models] == [("native-0101",), ("writes-0101",)]
    native, writes = run.block.models
    assert native.tools_bytes_sha256 != writes.tools_bytes_sha256
    assert native.tools_sha256 == writes.tools_sha256 == run.block.stimulus.tools_sha256
    assert native.parameters == {"temperature": 0}


def start(folder: Path, *more: str, **pipes: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "recovery", "run", *files("--call-model", "mine:ask", "--model", "slow")]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "150"}
    arguments = [*command, "--out", "run.db", "--concurrency", "1", *more]
    return subprocess.Popen(arguments, cwd=folder, env=env, **pipes)


def test_ctrl_c_stops_it_cleanly_and_says_how_to_go_on(shell: Shell, tmp_path: Path) -> None:  # noqa: ARG001
    with start(tmp_path, "--repeats", "500", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "run.db-wal").exists() or (tmp_path / "run.db-wal").stat().st_size < 50_000:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, err
    assert out == b""
    assert err.decode().split("\n")[1:] == [
        "What is answered is in run.db: go on with --resume.",
        "Stopped by Ctrl-C.",
        "",
    ]
    _, cells, block = Store.read(tmp_path / "run.db")
    assert cells
    assert block is not None


def test_a_person_sees_a_bar_with_counts_by_outcome(shell: Shell, tmp_path: Path) -> None:  # noqa: ARG001
    leader, follower = pty.openpty()
    with start(tmp_path, "--repeats", "4", stdout=subprocess.DEVNULL, stderr=follower) as process:
        os.close(follower)
        seen = b""
        while True:
            try:
                read = os.read(leader, 4096)
            except OSError:
                break
            if not read:
                break
            seen += read
    os.close(leader)
    assert process.returncode == 0
    assert b"/12" in seen
    assert b"correct 12" in seen


# recovery grade


ANSWERS = [
    {"case": "oslo", "model": "a", "text": "weather(city='Oslo')"},
    {"case": "oslo", "model": "a", "tool_name": "weather", "raw_args": '{"city": "Rome"}'},
    {"case": "rome", "model": "a", "text": "It is fine."},
    {"case": "joke", "model": "a", "message": {"role": "assistant", "content": "No."}},
    {"case": "joke", "model": "b", "text": "weather(city="},
]


def test_recorded_answers_are_counted_by_model_and_outcome(shell: Shell) -> None:
    result = shell("grade", *files("--answers", lines("answers.jsonl", ANSWERS), "--out", "run.db"))
    assert (result.status, result.err) == (0, "")
    rows = [line.split() for line in result.out.splitlines() if line.strip()[:2] in {"a ", "b "}]
    assert rows == [["a", "1", "0", "0", "0", "1", "2"], ["b", "0", "1", "0", "0", "0", "0"]]
    run = Run.load("run.db")
    assert run.block.stimulus.tools_as == "recorded"
    assert run.ungraded == {"not_run": 7}
    assert len(run.cells) == 3 * 2 * 2
    assert sorted(path.name for path in Path.cwd().glob("run.db*")) == ["run.db"]


def test_the_day_of_the_answers_is_when_they_begin_to_expire(shell: Shell) -> None:
    arguments = files("--answers", lines("answers.jsonl", ANSWERS), "--answered", "2020-01-31", "--ttl-days", "30")
    result = shell("grade", *arguments)
    assert result.status == 0
    assert "EXPIRED 2020-03-01" in result.out
    # The caption alone.
    assert [line for line in result.out.splitlines() if line.strip()] == [result.out.strip()]


def test_a_bad_row_is_told_and_the_rest_is_graded(shell: Shell) -> None:
    lines("answers.jsonl", [ANSWERS[0], {"case": "nobody", "model": "a", "text": ""}, ANSWERS[2]])
    with Path("answers.jsonl").open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    result = shell("grade", *files("--answers", "answers.jsonl"))
    assert result.status == 3
    assert "answers.jsonl:2: case: there is no case 'nobody'" in result.err
    assert "answers.jsonl:4" in result.err
    assert "bad rows: 2" in result.out


def test_answers_that_carry_their_truth_need_no_cases(shell: Shell) -> None:
    row = {"toolset": "t", "model": "a", "category": "simple", "allowed": [{"weather": {"city": ["Oslo"]}}]}
    rows = [
        {**row, "text": "weather(city='Oslo')"},
        {**row, "text": "weather(city='Rome')"},
        {"toolset": "u", "model": "a", "category": "simple", "text": "?"},
    ]
    Path("answers.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    lines("toolsets.jsonl", [{"id": "t", "tools": TOOLS}, {"id": "u", "tools": TOOLS}])
    result = shell("grade", "--answers", "answers.jsonl.gz", "--toolsets", "toolsets.jsonl", "--out", "run.db")
    assert (result.status, result.err) == (0, "")
    (counts,) = [line.split() for line in result.out.splitlines() if line.strip().startswith("a ")]
    assert counts == ["a", "0", "0", "0", "0", "1", "1"]
    assert "left out: 1 rows of 1 cases" in result.out
    assert list(Run.load("run.db").block.scope.excluded) == ["u"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cases", "cases.jsonl"), "give --cases with --tools, or --toolsets"),
        (("--cases", "cases.jsonl", "--tools", "tools.json", "--out", "mine.py"), "exists already"),
        (("--cases", "cases.jsonl", "--tools", "tools.json", "--check", "mine:nowhere"), "nowhere"),
        (("--toolsets", "toolsets.jsonl"), "no row has a ground truth"),
    ],
)
def test_misuse_of_grade(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    lines("toolsets.jsonl", [{"id": "t", "tools": TOOLS}])
    result = shell("grade", "--answers", lines("answers.jsonl", ANSWERS), *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert Path("mine.py").read_text(encoding="utf-8") == MINE


def test_a_file_without_a_row_that_can_be_graded_leaves_nothing(shell: Shell) -> None:
    result = shell("grade", *files("--answers", lines("answers.jsonl", [{}]), "--out", "run.db"))
    assert result.status == 2
    assert "no row could be graded" in result.err
    assert list(Path.cwd().glob("run.db*")) == []


def test_a_plan_names_the_place_of_what_is_no_case(shell: Shell) -> None:
    lines("cases.jsonl", [{"query": "q"}, {"quer": "q"}, {"query": 5}])
    result = shell("plan", "--cases", "cases.jsonl")
    assert result.status == 2
    assert "cases.jsonl:2: query: Field required" in result.err
    assert "cases.jsonl:3: query: Input should be a valid string" in result.err
    assert "pydantic" not in result.err


def test_what_was_answered_can_be_graded_again_by_another_check_without_a_call(shell: Shell) -> None:
    assert own(shell).status == 0
    rows = [json.loads(cell.model_dump_json()) for cell in Run.load("run.db").cells]
    Path("no.py").write_text("def no(case, args): return False\n", encoding="utf-8")
    arguments = files("--answers", lines("again.jsonl", rows), "--check", "no:no", "--out", "again.db")
    assert shell("grade", *arguments).status == 0
    before, after = (
        Counter(str(cell.grade and cell.grade.outcome) for cell in Run.load(name).cells)
        for name in ("run.db", "again.db")
    )
    failed = [row | {"grade": None, "ungraded": "grader_error", "problem": "a fault"} for row in rows]
    lines("again.jsonl", failed)
    assert shell("grade", *files("--answers", "again.jsonl", "--out", "mended.db")).status == 0
    assert [cell.grade for cell in Run.load("mended.db").cells] == [cell.grade for cell in Run.load("run.db").cells]
    assert before["correct"] > after["correct"]
    assert after["valid_but_wrong"] == before["correct"] + before["valid_but_wrong"] - after["correct"]
