"""`recovery stream`, in a process of its own, with real pipes: what is out while more is to come, and how it ends."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recovery import Policy, recover
from recovery.cli_stream import stream

ROOT = Path(__file__).parent.parent
TOOLS = ["boil_egg", "set_table"]
MARK = "\N{BLACK RIGHT-POINTING TRIANGLE} ".encode()
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of a shell")


class Piped:
    """The command, written to and read from while it runs."""

    def __init__(self, tools: Path, *options: str, **more: Any) -> None:
        command = [sys.executable, "-m", "recovery", "stream", "--tools", str(tools), *options]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=ROOT, **{**pipes, **more})
        # Rather a failure than a test that waits for ever.
        self._alarm = threading.Timer(30, self.process.kill)
        self._alarm.start()

    def write(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def read(self, count: int) -> bytes:
        """So many bytes of standard output, as soon as they are there; fewer where it ends."""
        assert self.process.stdout is not None
        seen = b""
        while len(seen) < count and (piece := os.read(self.process.stdout.fileno(), count - len(seen))):
            seen += piece
        return seen

    def end(self, rest: bytes = b"") -> tuple[int, bytes, str]:
        """No more input: status, the rest of what is printed, and standard error."""
        out, err = self.process.communicate(rest)
        self.stop()
        return self.process.returncode, out, err.decode()

    def stop(self) -> None:
        self._alarm.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


Start = Callable[..., Piped]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS), encoding="utf-8")
    started: list[Piped] = []

    def begin(*options: str, **more: Any) -> Piped:
        started.append(Piped(tools, *options, **more))
        return started[-1]

    yield begin
    for piped in started:
        piped.stop()


def events(raw: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in raw.splitlines()]


# As it arrives


def test_text_is_out_before_the_input_ends(start: Start) -> None:
    piped = start("--policy", "lenient")
    piped.write(b"I look.\n")
    assert piped.read(8) == b"I look.\n"
    # A character that a chunk has cut is out once it is whole.
    piped.write("Now für".encode()[:-2])
    assert piped.read(5) == b"Now f"
    piped.write("für".encode()[-2:])
    assert piped.read(3) == "ür".encode()
    status, out, err = piped.end(b" two:\n[boil_egg(minutes=4), set_table()]\nSoon.")
    assert (status, err) == (0, "recovered: 2 calls (it took prose_list)\n")
    assert out == b" two:\n" + MARK + b'boil_egg {"minutes": 4}\n' + MARK + b"set_table {}\nSoon."


def test_a_call_is_out_before_the_input_ends(start: Start) -> None:
    piped = start("--commit", "call")
    piped.write(b"boil_egg(minutes=4); set_")
    call = MARK + b'boil_egg {"minutes": 4}\n'
    assert piped.read(len(call)) == call
    assert piped.end(b"table()") == (0, MARK + b"set_table {}\n", "recovered: 2 calls\n")


def test_a_call_that_waits_for_the_answer_is_not_out_before(start: Start) -> None:
    piped = start()
    piped.write(b"I look.\n")
    assert piped.read(8) == b"I look.\n"
    piped.process.terminate()
    waiting = start()
    waiting.write(b"boil_egg(minutes=4)\nset_")
    # Where it stops now, nothing has gone out.
    status, out, err = waiting.end(b"table(")
    assert (status, out) == (1, b"boil_egg(minutes=4)\nset_table(")
    assert err.startswith("line 2, column 11: truncated: ")
    assert "went out" not in err


def test_json_lines_come_as_they_are_made(start: Start) -> None:
    answer = "Für zwei.\nboil_egg(note='ü'); set_table()\n"
    piped = start("--json", "--commit", "call", "--policy", "lenient")
    assert piped.process.stdout is not None
    piped.write("Für zwei.\n".encode())
    assert json.loads(piped.process.stdout.readline()) == {"type": "text", "text": "F\u00fcr zwei.\n"}
    piped.write("boil_egg(note='ü'); s".encode())
    first = json.loads(piped.process.stdout.readline())
    status, out, err = piped.end(b"et_table()\n")
    assert (status, err) == (0, "")
    assert out.isascii()
    *_, second, end = events(out)
    result = recover(answer, TOOLS, policy=Policy.lenient())
    for index, (given, call) in enumerate(zip((first, second), result.calls, strict=True)):
        assert given == {"type": "call", "index": index, "id": given["id"], **call.to_dict()}
    assert first["id"] != second["id"]
    assert end == {"type": "end", **result.to_dict()}


# What becomes of it


def test_an_answer_that_stops_inside_a_call_says_so_and_what_is_out(start: Start) -> None:
    status, out, err = start("--commit", "call").end(b"[boil_egg(minutes=4), set_table(")
    assert (status, out) == (1, MARK + b'boil_egg {"minutes": 4}\n, set_table(')
    sentence, line, caret, count = err.splitlines()
    assert sentence.startswith("line 1, column 33: truncated: the answer ends inside a call")
    assert line.endswith("set_table(")
    assert caret.endswith("^")
    assert count == "1 call went out before that was known"


def test_json_says_so_too(start: Start) -> None:
    status, out, err = start("--json", "--commit", "call").end(b"[boil_egg(minutes=4), set_table(")
    call, text, end = events(out)
    assert (status, call["type"], text) == (1, "call", {"type": "text", "text": ", set_table("})
    assert end == {"type": "end", **recover("[boil_egg(minutes=4), set_table(", TOOLS).to_dict()}
    assert err.startswith("line 1, column 33: truncated: ")
    assert err.endswith("1 call went out before that was known\n")


@pytest.mark.parametrize("answer", ["", "Breakfast\r\nis \x1b[1mready\0.\r"])
def test_text_comes_out_as_it_went_in(start: Start, answer: str) -> None:
    said = "text: nothing here looks like a call\n"
    assert start().end(answer.encode()) == (1, answer.encode(), said)
    status, out, err = start("--json").end(answer.encode())
    *texts, end = events(out)
    assert (status, err, "".join(event["text"] for event in texts)) == (1, said, answer)
    assert end == {"type": "end", **recover(answer, TOOLS).to_dict()}


def test_a_call_begins_a_line_and_ends_one(start: Start) -> None:
    answer = "I look: [boil_egg(note='a\\r\\n\\x9b\u3000')]"
    status, out, _ = start("--policy", "lenient").end(answer.encode())
    assert (status, out) == (0, b"I look: \n" + MARK + b'boil_egg {"note": "a\\r\\n\\u009b\\u3000"}\n')


def test_the_prompt_may_have_opened_the_reasoning(start: Start) -> None:
    answer = b"boil_egg()\n</think>\nset_table()"
    status, out, err = start("--reasoning-open").end(answer)
    assert (status, err) == (0, "recovered: 1 call (it took reasoning)\n")
    assert out == b"boil_egg()\n</think>\n" + MARK + b"set_table {}\n"


# What goes wrong


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        pytest.param(b"Soon \xe4 now", "byte 0xe4 at offset 5", id="inside"),
        pytest.param(b"Soon \xe4", "byte 0xe4 at offset 5", id="cut"),
    ],
)
def test_what_is_no_utf_8_is_told_as_recover_tells_it(
    start: Start, options: list[str], answer: bytes, told: str
) -> None:
    piped = start(*options)
    # The fault is found in the second piece, and counted from the beginning of the first.
    piped.write(answer[:4])
    before = piped.read(4)
    status, out, err = piped.end(answer[4:])
    assert (status, err) == (2, f"Error: -: no UTF-8: {told}\n")
    printed = before + out
    if options:
        assert [event["type"] for event in events(printed)] == ["text", "text"]
        printed = "".join(event["text"] for event in events(printed)).encode()
    assert printed == b"Soon "
    again = subprocess.run(
        [sys.executable, "-m", "recovery", "recover", *piped.process.args[4:6]],  # type: ignore[index]
        cwd=ROOT,
        input=answer,
        capture_output=True,
        check=False,
    )
    assert (again.returncode, again.stderr.decode()) == (status, err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(["--commit", "line"], "'line' is not one of 'answer', 'call'", id="commit"),
        pytest.param(["--aliases", "none.json"], "'none.json' does not exist", id="aliases"),
        pytest.param(["--tools", "README.md"], "README.md: no JSON", id="tools"),
        pytest.param(["answer.txt"], "unexpected extra argument (answer.txt)", id="argument"),
    ],
)
def test_misuse(start: Start, options: list[str], message: str) -> None:
    status, out, err = start(*options).end()
    assert (status, out) == (2, b"")
    assert message in " ".join(err.split())


def test_tools_are_needed() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "recovery", "stream"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 2
    assert b"Missing option '--tools'" in ended.stderr


@POSIX
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_went_away_ends_it(start: Start, options: list[str]) -> None:
    piped = start(*options)
    piped.write(b"Soon.\n")
    assert piped.process.stdout is not None
    assert b"Soon." in piped.process.stdout.readline()
    piped.process.stdout.close()
    # While its own input is still open.
    piped.write(b"Now.\n")
    assert piped.process.wait(20) == 141
    assert piped.process.stderr is not None
    assert piped.process.stderr.read() == b""


@POSIX
def test_ctrl_c_stops_with_a_message(start: Start) -> None:
    piped = start("--commit", "call", start_new_session=True)
    piped.write(b"Soon.\nset_table(")
    assert piped.read(6) == b"Soon.\n"
    os.killpg(piped.process.pid, signal.SIGINT)
    status, out, err = piped.end()
    assert (status, err) == (130, "Stopped by Ctrl-C.\n")
    assert b"\n" not in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_is_no_finding(start: Start, options: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        status, _, err = start(*options, stdout=full).end(b"Soon.")
    assert (status, err.count("\n")) == (2, 1)
    assert "No space left" in err


# A terminal


@POSIX
def test_a_person_at_a_terminal(start: Start) -> None:
    here, there = os.openpty()
    piped = start("--policy", "lenient", stdin=there, stdout=there, stderr=there, env={**os.environ, "TERM": "xterm"})
    os.close(there)

    def until(end: bytes) -> bytes:
        seen = b""
        while not seen.endswith(end):
            seen += os.read(here, 1)
        return seen

    # Each line is seen twice: as it is typed, and as it comes out, before the next one is typed.
    os.write(here, b"Now\x1b[2J\tx\n")
    assert until(b"\n").startswith(b"Now^[[2J")
    assert until(b"\n") == "Now\ufffd[2J\tx\r\n".encode()
    os.write(here, b"set_table()\nSoon")
    os.write(here, b"\x04\x04")
    until(b"set_table()\r\n")
    assert until(b"\n").endswith(b"\x1b[1m" + MARK + b"set_table {}\x1b[0m\r\n")
    assert until(b"\n") == b"Soon\r\n"
    assert until(b"\n") == b"recovered: 1 call (it took prose_lines)\r\n"
    assert piped.process.wait(20) == 0
    os.close(here)


@POSIX
def test_on_a_terminal_the_end_begins_a_line_and_no_line_is_written_over(start: Start) -> None:
    here, there = os.openpty()
    piped = start(stdout=there, stderr=there)
    os.close(there)
    piped.write(b"one\rtwo\r\nthree\r")
    assert piped.process.stdin is not None
    piped.process.stdin.close()
    seen = b""
    try:
        while piece := os.read(here, 4_096):
            seen += piece
    except OSError:  # How Linux says that the other side is closed.
        pass
    os.close(here)
    assert seen == b"one\r\ntwo\r\nthree\r\ntext: nothing here looks like a call\r\n"
    assert piped.process.wait(20) == 1


# What its help says


@POSIX
def test_the_example_of_the_help_runs(tmp_path: Path) -> None:
    said = inspect.cleandoc(stream.help or "").split("\b\n")
    example, form = said[1].split("\n\n")[0], said[2]
    program = f"{shlex.quote(sys.executable)} -m recovery"
    for options, out in {
        "": "I look.\n" + MARK.decode() + 'weather_today {"city": "Oslo"}\n',
        " --json": None,
    }.items():
        command = example.replace("recovery stream", f"{program} stream").replace("sleep 2", "sleep 0") + options
        ended = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0
        if out is not None:
            assert (ended.stdout, ended.stderr) == (out, "recovered: 1 call (it took prose_list)\n")
            continue
        rows = [line.strip() for line in form.splitlines() if line.startswith("  {")]
        printed = events(ended.stdout.encode())
        assert [f'{{"type": "{event["type"]}"' for event in printed] == [row.split(",")[0] for row in rows]
        assert json.loads(rows[0]) == printed[0]
        assert all(f'"{name}": ' in rows[1] for name in printed[1])
