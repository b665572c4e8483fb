"""The command line: what it prints where, every exit status, and what a person sees."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recovery import RULES, Allowance, Policy, cli, compiled, recover
from recovery.cli import main
from recovery.replay import Report, replay

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
CALL = "boil_egg(minutes=4)"
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full")


@dataclass
class Result:
    """What a command left behind."""

    status: int
    out: str
    err: str


class Shell:
    """Runs commands in this process, in a folder of their own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(folder)

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Result:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            main(arguments, prog_name="recovery")
        out, err = self._capture.readouterr()
        return Result(int(ended.value.code or 0), out, err)


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.delenv("COLUMNS", raising=False)
    Path(tmp_path / "tools.json").write_text('["boil_egg", "set_table"]', encoding="utf-8")
    return Shell(tmp_path, capsys, monkeypatch)


def write(name: str, rows: Iterable[dict[str, Any]]) -> str:
    lines = [json.dumps({"tools": ["boil_egg", "set_table"], **row}) + "\n" for row in rows]
    Path(name).write_text("".join(lines), encoding="utf-8")
    return name


def start(*arguments: str, **more: Any) -> subprocess.Popen[bytes]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "recovery", *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, **{**pipes, **more})


# recovery recover


def test_a_recovered_answer_is_printed_as_json(shell: Shell) -> None:
    answer = '[boil.egg(minutes=4, note="weich – café \U0001f95a")]\n'
    result = shell("recover", "--tools", "tools.json", stdin=answer.encode())
    assert (result.status, result.err) == (0, "")
    assert json.loads(result.out) == recover(answer, ["boil_egg", "set_table"]).to_dict()
    assert result.out.isascii()


def test_what_stays_text_says_why_with_a_caret(shell: Shell) -> None:
    result = shell("recover", "--tools", "tools.json", stdin=b"2*boil_egg()\n")
    assert result.status == 1
    assert json.loads(result.out)["refusal"]["reason"] == "operator"
    assert json.loads(result.out)["text"] == "2*boil_egg()\n"
    sentence, line, caret = result.err.splitlines()
    assert sentence.startswith("line 1, column 2: operator: ")
    assert (line, caret) == ("  2*boil_egg()", "   ^")


def test_prose_says_so_too(shell: Shell) -> None:
    result = shell("recover", "--tools", "tools.json", stdin=b"Breakfast is ready.")
    assert (result.status, json.loads(result.out)["status"]) == (1, "text")
    assert result.err == "text: nothing here looks like a call\n"


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_the_answer_is_read_without_translation(shell: Shell, end: str) -> None:
    # With its carriage return turned into a space the comment would swallow the call's end.
    Path("answer.txt").write_bytes(f"boil_egg( # soft{end}note='''a{end}b''')".encode())
    result = shell("recover", "--tools", "tools.json", "answer.txt")
    assert result.status == 0
    assert json.loads(result.out)["calls"][0]["arguments"] == {"note": f"a{end}b"}


def test_a_byte_order_mark_stays_in_the_count(shell: Shell) -> None:
    result = shell("recover", "--tools", "tools.json", "-", stdin=b"\xef\xbb\xbfset_table()")
    assert json.loads(result.out)["calls"][0]["span"] == [1, 12]


@FULL
def test_a_full_disk_is_no_finding() -> None:
    with Path("/dev/full").open("wb") as full:
        process = start("recover", "--tools", "examples/tools.json", stdout=full)
        _, err = process.communicate(b"Hello.")
    assert (process.returncode, err.count(b"\n")) == (2, 1)
    assert b"No space left" in err


@pytest.mark.parametrize(
    ("options", "status"),
    [
        pytest.param(["--policy", "strict"], 1, id="strict"),
        pytest.param(["--policy", "lenient"], 0, id="lenient"),
        pytest.param(["--policy", "strict", "--allow", "fence"], 1, id="one-of-two"),
        pytest.param(["--policy", "strict", "--allow", "fence", "--allow", "markdown_escape"], 0, id="both"),
    ],
)
def test_policy_and_allow_add_up(shell: Shell, options: list[str], status: int) -> None:
    result = shell("recover", "--tools", "tools.json", *options, stdin=b"```\nset\\_table()\n```")
    assert result.status == status
    assert ("not_allowed" in result.err) == (status == 1)


def test_tools_come_in_an_object_too_and_aliases_from_a_file(shell: Shell) -> None:
    Path("tools.json").write_text('{"tools": ["boil_egg"], "aliases": {"cook": "boil_egg"}}', encoding="utf-8-sig")
    Path("aliases.json").write_text('{"simmer": "boil_egg"}', encoding="utf-8")
    arguments = ["recover", "--tools", "tools.json", "--aliases", "aliases.json"]
    result = shell(*arguments, stdin=b"cook(); simmer()")
    assert [call["name"] for call in json.loads(result.out)["calls"]] == ["boil_egg", "boil_egg"]


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        pytest.param({}, [], "Missing option '--tools'", id="no-tools"),
        pytest.param({}, ["--tools", "none.json"], "'none.json' does not exist", id="tools-missing"),
        pytest.param({}, ["--tools", "tools.json", "none.txt"], "'none.txt' does not exist", id="answer-missing"),
        pytest.param({}, ["--tools", "tools.json", "--allow", "guess"], "'guess' is not one of", id="allowance"),
        pytest.param({}, ["--tools", "tools.json", "--policy", "lax"], "'lax' is not one of", id="policy"),
        pytest.param({"t": b"[1,"}, ["--tools", "t"], "t: no JSON: Expecting value", id="tools-no-json"),
        pytest.param({"t": b'"\xff"'}, ["--tools", "t"], "t: no JSON: 'utf-8' codec can't decode", id="tools-no-utf-8"),
        pytest.param({"t": b"[" * 99_999}, ["--tools", "t"], "t: no JSON: maximum recursion", id="tools-deep"),
        pytest.param({"t": b'"f"'}, ["--tools", "t"], "t: expected a list of tools", id="tools-no-list"),
        pytest.param({"t": b'["f", {}]'}, ["--tools", "t"], "t: tools[1]: a tool needs a non-empty name", id="tool"),
        pytest.param(
            {"a": b'{"g": "h"}'},
            ["--tools", "tools.json", "--aliases", "a"],
            "a: aliases['g']: 'h' is not among the offered tools",
            id="alias",
        ),
        pytest.param({"a": b"[]"}, ["--tools", "tools.json", "--aliases", "a"], "a: expected an object", id="aliases"),
        pytest.param(
            {"x": b"f(a='\xe4')"}, ["--tools", "tools.json", "x"], "x: no UTF-8: byte 0xe4 at offset 5", id="no-utf-8"
        ),
    ],
)
def test_misuse_names_what_is_wrong(shell: Shell, files: dict[str, bytes], arguments: list[str], message: str) -> None:
    for name, content in files.items():
        Path(name).write_bytes(content)
    result = shell("recover", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in " ".join(result.err.split())


# recovery replay

ROWS = [
    {"id": "call", "text": CALL, "kind": "task"},
    {"id": "sum", "text": f"2*{CALL}", "kind": "task"},
    {"id": "fenced", "text": f"```\n{CALL}\n```", "kind": "chat"},
    {"id": "prose", "text": "Breakfast is ready.", "kind": "chat"},
]


def cells(table: str) -> dict[str, list[str]]:
    """The rows of printed tables by their first cell."""
    rows = ([cell.strip() for cell in line.split("   ") if cell.strip()] for line in table.splitlines())
    return {row[0]: row[1:] for row in rows if row}


def test_the_table_says_what_became_of_the_answers(shell: Shell) -> None:
    result = shell("replay", write("answers.jsonl", ROWS), "--policy", "strict")
    assert (result.status, result.err) == (0, "")
    rows = cells(result.out)
    assert rows["all"] == ["4", "100.0%"]
    assert rows["call-shaped"] == ["3", "75.0%"]
    assert rows["recovered"] == ["1", "25.0%"]
    assert rows["refused"] == ["2", "50.0%"]
    assert rows["left as text"] == ["1", "25.0%"]
    assert rows["operator"] == ["1", "25.0%", "answers.jsonl:2"]
    assert rows["not_allowed"] == ["1", "25.0%", "answers.jsonl:3"]
    assert rows["fence"] == ["1", "25.0%"]
    assert rows["none"] == ["1", "1"]
    assert "line 1, column 2: an operator makes this an expression" in result.out
    assert max(map(len, result.out.splitlines())) <= 120


def test_premature_calls_have_a_table_of_their_own(shell: Shell) -> None:
    ends_early: dict[str, Any] = {"text": f"[{CALL}, set_table(", "seen": 2}
    file = write("answers.jsonl", [*ROWS, ends_early, {"text": f"[{CALL}, set_table(), {CALL}*2]"}])
    result = shell("replay", file, "--commit", "call", "--out", "out")
    assert (result.status, result.err) == (0, "")
    table = result.out[result.out.index("premature calls: ") :]
    assert table.startswith("premature calls: 3 of the 5 that go out\n")
    found = cells(table)
    assert found["premature calls, by reason"] == ["calls", "answers", "share", "occurrences", "the first"]
    assert found["operator"] == ["2", "1", "16.7%", "1", "answers.jsonl:6"]
    assert found["truncated"] == ["1", "1", "16.7%", "2", "answers.jsonl:5"]
    assert "line 1, column 33: the answer ends inside a call" in table
    assert max(map(len, table.splitlines())) <= 120
    records = [json.loads(line) for line in Path("out").read_text(encoding="utf-8").splitlines()]
    assert [len(record["premature"]) for record in records] == [0, 0, 0, 0, 1, 2]
    assert "premature" not in shell("replay", file).out


def test_no_premature_calls_are_told_too(shell: Shell) -> None:
    result = shell("replay", write("answers.jsonl", ROWS), "--commit", "call")
    assert result.out.endswith("premature calls: 0 of the 2 that go out\n")


def test_premature_calls_of_an_answer_that_is_text_in_the_end(shell: Shell) -> None:
    call = '[{"name": "set_table", "arguments": {}}]'
    rows = [{"text": f"{call}\nSo it is.\nBut not:\n{call}"}]
    result = shell("replay", write("answers.jsonl", rows), "--policy", "lenient", "--commit", "call")
    assert cells(result.out)["left as text"] == ["1", "100.0%"]
    assert cells(result.out)["text"] == ["1", "1", "100.0%", "answers.jsonl:1"]


def test_occurrences_are_shown_where_a_row_has_them(shell: Shell) -> None:
    result = shell("replay", write("answers.jsonl", [*ROWS, {"text": CALL, "seen": 40}]))
    assert cells(result.out)["all"] == ["5", "100.0%", "44"]


def test_a_row_for_each_group(shell: Shell) -> None:
    result = shell("replay", write("answers.jsonl", ROWS), "--policy", "strict", "--by", "kind", "--by", "id")
    rows = cells(result.out)
    assert rows["chat"] == ["prose", "1", "0", "0", "0", "1"]
    assert rows["task"] == ["sum", "1", "1", "0", "1", "0", "operator 1"]


def test_an_empty_file_is_an_empty_table(shell: Shell) -> None:
    result = shell("replay", write("answers.jsonl", []), "--by", "kind")
    assert (result.status, cells(result.out)["all"]) == (0, ["0", "0.0%"])


def test_bad_rows_are_told_and_counted_and_have_a_status(shell: Shell) -> None:
    write("answers.jsonl", ROWS)
    with Path("answers.jsonl").open("ab") as file:
        file.write(b'no\n{"text": "\xff"}\n')
    Path("toolsets.jsonl").write_text("[]\n", encoding="utf-8")
    result = shell("replay", "answers.jsonl", "--toolsets", "toolsets.jsonl")
    assert result.status == 3
    assert result.err.splitlines() == [
        "toolsets.jsonl:1: a row must be a JSON object, not []",
        "answers.jsonl:5: no JSON, column 1: Expecting value",
        "answers.jsonl:6: no UTF-8: byte 0xff at offset 10 of the row",
    ]
    assert cells(result.out)["all"] == ["4", "100.0%"]
    assert result.out.endswith("bad rows: 3, each reported on standard error\n")


def test_out_is_the_same_each_time_and_with_more_processes(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    write("answers.jsonl", [{**row, "id": f"{row['id']}-{turn}"} for turn in range(200) for row in ROWS])
    jobs: list[int] = []

    def noted(*given: Any, **more: Any) -> Report:
        jobs.append(more["jobs"])
        return replay(*given, **more)

    monkeypatch.setattr(cli, "replay", noted)
    for name, more in {"one": [], "again": [], "two": ["--jobs", "2"]}.items():
        assert shell("replay", "answers.jsonl", "--out", name, *more).status == 0
    assert jobs == [1, 1, 2]
    one = Path("one").read_bytes()
    assert one == Path("again").read_bytes() == Path("two").read_bytes()
    assert one.count(b"\n") == 800
    assert one.isascii()


def test_a_baseline_lists_every_answer_that_changed(shell: Shell) -> None:
    write("answers.jsonl", ROWS)
    shell("replay", "answers.jsonl", "--policy", "strict", "--out", "before")
    same = shell("replay", "answers.jsonl", "--policy", "strict", "--baseline", "before", "--protect", "kind=chat")
    assert same.status == 0
    assert same.out.endswith("changed since the baseline: 0 of 4 answers\n")
    write("answers.jsonl", [*ROWS[1:], {"id": "new", "text": "Hello."}])
    arguments = ["replay", "answers.jsonl", "--policy", "strict", "--allow", "fence", "--baseline", "before"]
    result = shell(*arguments)
    assert result.status == 0
    assert result.out[result.out.index("changed") :].splitlines() == [
        "changed since the baseline: 1 of 4 answers",
        "        1  refused (not_allowed) ▶ recovered",
        "fenced  answers.jsonl:2  refused (not_allowed) ▶ recovered",
        'not in the baseline: 1 ("new")',
        'only in the baseline: 1 ("call")',
    ]
    assert shell(*arguments, "--protect", "kind=task").status == 0
    result = shell(*arguments, "--protect", "kind=task", "--protect", "kind=chat")
    assert result.status == 1
    assert "fenced  answers.jsonl:2  refused (not_allowed) ▶ recovered  protected: kind=chat\n" in result.out
    assert result.out.endswith("answers of a protected group that became a call: 1\n")


def test_a_baseline_of_other_rules_is_told(shell: Shell) -> None:
    write("answers.jsonl", ROWS)
    shell("replay", "answers.jsonl", "--out", "before")
    before = Path("before").read_text(encoding="utf-8")
    Path("before").write_text(before.replace(f'"rules": "{RULES}"', '"rules": "0"'), encoding="utf-8")
    result = shell("replay", "answers.jsonl", "--baseline", "before")
    assert f"the baseline was made by reading rules 0, this run by {RULES}\nchanged" in result.out


def test_a_broken_protection_outweighs_bad_rows(shell: Shell) -> None:
    write("answers.jsonl", ROWS)
    shell("replay", "answers.jsonl", "--policy", "strict", "--out", "before")
    with Path("answers.jsonl").open("a", encoding="utf-8") as file:
        file.write("no\n")
    arguments = ["replay", "answers.jsonl", "--policy", "lenient", "--baseline", "before"]
    assert shell(*arguments, "--protect", "kind=chat").status == 1
    assert shell(*arguments, "--protect", "kind=task").status == 3


def test_a_protection_of_nothing_is_told(shell: Shell) -> None:
    write("answers.jsonl", ROWS)
    shell("replay", "answers.jsonl", "--out", "before")
    result = shell("replay", "answers.jsonl", "--baseline", "before", "--protect", "kind=chatt")
    assert result.err == "--protect kind=chatt protects nothing: no answer has it\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "Missing argument 'ANSWERS...'", id="no-file"),
        pytest.param(["none.jsonl"], "'none.jsonl' does not exist", id="missing"),
        pytest.param(["answers.jsonl", "--jobs", "0"], "0 is not in the range", id="jobs"),
        pytest.param(["answers.jsonl", "--protect", "kind=chat"], "--protect needs a --baseline", id="no-baseline"),
        pytest.param(
            ["answers.jsonl", "--baseline", "before", "--protect", "kind"], "expected FIELD=VALUE", id="field"
        ),
        pytest.param(["answers.jsonl", "--baseline", "answers.jsonl"], "answers.jsonl:1: no row of an", id="baseline"),
        pytest.param(["answers.jsonl", "--out", "./answers.jsonl"], "would overwrite what is read", id="overwrite"),
        pytest.param(["answers.jsonl", "--out", "no/such/folder"], "--out no/such/folder: ", id="out"),
        pytest.param(["answers.jsonl", "--out", "/dev/full"], "--out /dev/full: ", id="full", marks=FULL),
    ],
)
def test_misuse_of_replay(shell: Shell, arguments: list[str], message: str) -> None:
    rows = Path(write("answers.jsonl", ROWS)).read_bytes()
    shell("replay", "answers.jsonl", "--out", "before")
    result = shell("replay", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in " ".join(result.err.split())
    assert Path("answers.jsonl").read_bytes() == rows


def test_nothing_of_an_answer_is_markup_or_moves_the_cursor(shell: Shell) -> None:
    name = "[bold]x[/]" + "x" * 200
    rows = [{"id": f"{name}\x1b[2J", "text": f"2*{CALL} # [/red] \x1b[2J :egg:", "kind": "[link=x]\x1b]0;y\x07"}]
    write("answers.jsonl", rows)
    shell("replay", "answers.jsonl", "--out", "before")
    write("answers.jsonl", [{**rows[0], "text": CALL}])
    result = shell("replay", "answers.jsonl", "--by", "kind", "--baseline", "before")
    assert "\x1b" not in result.out
    # In one piece, however long.
    assert f"{name}\ufffd[2J  answers.jsonl:1" in result.out
    assert "[link=x]\ufffd]0;y\ufffd" in result.out


# The program


@pytest.mark.parametrize("command", [[], ["recover"], ["replay"]])
def test_help_teaches(shell: Shell, command: list[str]) -> None:
    result = shell(*command, "--help")
    assert result.status == 0
    assert "  recovery re" in result.out[result.out.index("\n\n") :]
    if command:
        assert "Exit status" in result.out
        assert all(f" {allowance.value}" in result.out for allowance in Allowance)


def test_version_is_that_of_the_installed_package(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.Distribution.from_name", lambda name: SimpleNamespace(version=f"{name} 9"))
    assert shell("--version") == Result(0, f"recovery recovery 9{', compiled' if compiled else ''}\n", "")


def test_version_from_a_checkout_alone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.Distribution.from_name", missing)
    assert shell("--version") == Result(0, "recovery, not installed: run from its source\n", "")


@pytest.mark.parametrize("module", ["click", "rich"])
def test_a_missing_extra_is_one_sentence(module: str) -> None:
    code = f"import sys, runpy; sys.modules[{module!r}] = None; runpy.run_module('recovery', run_name='__main__')"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "The command line needs click and rich: pip install 'recovery[cli]'\n"


def test_rows_come_from_standard_input_too(tmp_path: Path) -> None:
    process = start("replay", "-", "--by", "kind")
    out, err = process.communicate(Path(write(f"{tmp_path}/answers.jsonl", ROWS)).read_bytes())
    assert (process.returncode, err) == (0, b"")
    assert cells(out.decode())["all"] == ["4", "100.0%"]


def test_a_terminal_that_knows_ascii_alone_gets_escapes(tmp_path: Path) -> None:
    file = write(f"{tmp_path}/answers.jsonl", [{**row, "kind": "wei\u00df"} for row in ROWS])
    process = start("replay", file, "--by", "kind", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"wei\\xdf" in out


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_stops_with_a_message(tmp_path: Path, jobs: str) -> None:
    out = tmp_path / "out"
    process = start("replay", "-", "--jobs", jobs, "--out", str(out), start_new_session=True)
    # Rather a failure than a test that waits for ever.
    alarm = threading.Timer(20, process.kill)
    alarm.start()
    assert process.stdin is not None
    assert process.stderr is not None
    # Enough rows that some are through while others are still waited for; the first bad one tells when.
    rows = b"no\n" + b'{"text": "f()", "tools": ["f"]}\n' * 2_000
    process.stdin.write(rows)
    process.stdin.flush()
    assert process.stderr.readline().startswith(b"-:1: no JSON")
    # As a terminal does it: to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    printed, said = process.communicate()
    alarm.cancel()
    assert (process.returncode, printed, said) == (130, b"", b"Stopped by Ctrl-C.\n")
    records = out.read_text(encoding="utf-8").splitlines()
    assert all(json.loads(record)["status"] == "recovered" for record in records)


@pytest.mark.skipif(os.name != "posix", reason="pipes of a shell")
@pytest.mark.parametrize(
    "command", [["replay", "examples/answers.jsonl"], ["recover", "--tools", "examples/tools.json"]]
)
def test_a_reader_that_went_away_is_no_finding(command: list[str]) -> None:
    process = start(*command)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stdin is not None
    process.stdin.close()
    assert process.stderr is not None
    # Rows without their toolsets are told as bad ones; of a traceback there is nothing.
    assert b"Error" not in process.stderr.read()
    process.stderr.close()
    assert process.wait(20) == 141


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals")
def test_the_progress_bar_is_for_a_terminal_alone(tmp_path: Path) -> None:
    here, there = os.openpty()
    file = write(f"{tmp_path}/answers.jsonl", ROWS * 500)
    process = start("replay", file, stderr=there, stdin=subprocess.DEVNULL)
    os.close(there)
    shown = b""
    try:
        while piece := os.read(here, 4_096):
            shown += piece
    except OSError:  # How Linux says that the other side is closed.
        pass
    os.close(here)
    out, _ = process.communicate()
    assert process.returncode == 0, shown
    assert b"100%" in shown
    assert b"replay" not in out


# The sample answers


def test_the_examples_show_every_kind(shell: Shell) -> None:
    arguments = ["replay", str(EXAMPLES / "answers.jsonl"), "--toolsets", str(EXAMPLES / "toolsets.jsonl")]
    assert shell(*arguments, "--policy", "strict", "--out", "strict").status == 0
    assert shell(*arguments, "--policy", "lenient", "--out", "lenient").status == 0
    strict, lenient = (
        {row["id"]: row for row in map(json.loads, Path(name).read_text(encoding="utf-8").splitlines())}
        for name in ("strict", "lenient")
    )
    assert {id_ for id_, row in strict.items() if row["status"] == "recovered"} == {
        "clean-list",
        "clean-list-dotted",
        "spaced-name",
        "bare-call",
        "bare-calls-lines",
        "bare-calls-semicolon",
        "trailing-commas",
        "comments",
        "comment-lone-cr",
        "triple-quoted",
        "triple-quoted-source",
        "reserved-words",
        "escapes-and-numbers",
        "alias",
        "adjacent-strings",
    }
    assert {row["status"] for row in strict.values()} == {"recovered", "refused", "text"}
    assert len({row["reason"] for row in strict.values()}) > 8
    used = {name for row in lenient.values() for name in row["used"]}
    assert used == {allowance.value for allowance in Policy.lenient().allow}
    assert not any(row["calls"] for id_, row in lenient.items() if id_.startswith(("arithmetic", "prose-parenthesis")))


def test_the_tools_of_the_examples_are_those_of_one_toolset() -> None:
    lines = (EXAMPLES / "toolsets.jsonl").read_text(encoding="utf-8").splitlines()
    toolsets = {row["id"]: row["tools"] for row in map(json.loads, lines)}
    assert json.loads((EXAMPLES / "tools.json").read_text(encoding="utf-8")) == toolsets["greenhouse"]
