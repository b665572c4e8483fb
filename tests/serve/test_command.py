"""`recovery serve` as people start it: a process of its own, signals, the demo, what is told of what is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from recovery.cli import main
from tests.gateways.messages import join_chunks
from tests.serve.servers import CALL, ask, completion, events_in, streamed, text_stream, upstream, whole

ROOT = Path(__file__).parent.parent.parent
SERVE = [sys.executable, "-m", "recovery", "serve", "--port", "0"]


class Process:
    """The command, its address and its lines."""

    def __init__(self, *options: str) -> None:
        # Unbuffered or not: the lines come at once.
        self.process = subprocess.Popen(
            [*SERVE, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert self.process.stdout is not None
        self.lines: list[str] = []
        for line in self.process.stdout:
            self.lines.append(line)
            if "running on" in line:
                self.address = json.loads(line)["message"].split()[3]
                return
        raise AssertionError(self.process.communicate())

    def stop(self, sign: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(sign)
        out, err = self.process.communicate(timeout=20)
        self.lines += out.splitlines()
        return self.process.returncode, err


@contextmanager
def serving(*options: str) -> Iterator[Process]:
    started = Process(*options)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


def test_the_demo_gives_calls() -> None:
    with serving("--demo") as process:
        (choice,) = json.loads(ask(process.address).body)["choices"]
        assert choice["message"]["tool_calls"][0]["function"]["name"] == "Tide_forecast"
        (message,) = join_chunks_of_demo(ask(process.address, stream=True).body)
        assert message == [("Tide_forecast", {})]
        assert b"Low water" in ask(process.address, tools=[]).body


def join_chunks_of_demo(body: bytes) -> list[list[tuple[str, object]]]:
    items = [{**item, "id": "c"} for item in events_in(body)]
    return [message.calls for message in join_chunks(items).values()]


@pytest.mark.parametrize(("sign", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_ends_it_behind_the_answers_under_way(sign: signal.Signals, status: int) -> None:
    stream = text_stream("It is at noon.")
    pieces = [stream[at : at + 300] for at in range(0, len(stream), 300)]
    found = []
    with upstream(streamed(pieces, pause=0.3)) as behind, serving("--upstream", behind.address) as process:
        client = threading.Thread(target=lambda: found.append(ask(process.address, stream=True)))
        client.start()
        while not behind.asked:
            time.sleep(0.01)
        assert process.stop(sign)[0] == status
        client.join()
    assert (found[0].body, found[0].broke) == (stream, False)
    (row,) = [row for row in map(json.loads, process.lines) if row["event"] == "request"]
    assert row["answers"] == [{"status": "text"}]


def test_what_is_logged_is_replayed(tmp_path: Path) -> None:
    content = tmp_path / "content.jsonl"
    with (
        upstream(whole(json.dumps(completion(CALL, "Noon.")).encode())) as behind,
        serving("--upstream", behind.address, "--log-content", str(content)) as process,
    ):
        ask(process.address)
        ask(process.address)
        process.stop(signal.SIGTERM)
        assert not any("Kilvik" in line for line in process.lines)
    done = CliRunner().invoke(main, ["replay", str(content), "--by", "model"])
    assert done.exit_code == 0
    assert done.output.split("recovered")[1].split()[:1] == ["2"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_what_can_not_be_logged_costs_no_answer() -> None:
    with (
        upstream(whole(json.dumps(completion(CALL)).encode())) as behind,
        serving("--upstream", behind.address, "--log-content", "/dev/full") as process,
    ):
        for _ in range(2):
            (choice,) = json.loads(ask(process.address).body)["choices"]
            assert choice["finish_reason"] == "tool_calls"
        assert process.stop(signal.SIGTERM)[0] == -signal.SIGTERM
    rows = [json.loads(line) for line in process.lines]
    assert [row["outcome"] for row in rows if row["event"] == "request"] == ["recovered"] * 2
    assert len([row for row in rows if row.get("level") == "error"]) == 2


def test_a_reader_of_the_log_that_leaves_costs_no_answer() -> None:
    with serving("--demo") as process:
        server = process.process
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        for _ in range(2):
            assert b"tool_calls" in ask(process.address).body
        server.terminate()
        assert "Traceback" not in server.stderr.read()


def test_the_policy_is_the_commands() -> None:
    prose = json.dumps(completion(f"I look.\n{CALL}")).encode()
    with upstream(whole(prose)) as behind:
        with serving("--upstream", behind.address) as process:
            assert ask(process.address).body == prose
        with serving("--upstream", behind.address, "--allow", "prose_list") as process:
            message = json.loads(ask(process.address).body)["choices"][0]["message"]
            assert (message["content"], len(message["tool_calls"])) == ("I look.\n", 1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "give either --upstream or --demo"),
        (["--demo", "--upstream", "http://x"], "give either --upstream or --demo"),
        (["--upstream", "localhost:8000"], "expected http://host:port"),
        (["--upstream", "http://x", "--log-content", "/nowhere/at/all"], "/nowhere/at/all"),
    ],
)
def test_misuse(options: list[str], told: str) -> None:
    done = CliRunner().invoke(main, ["serve", *options])
    assert done.exit_code == 2
    assert told in done.output


def test_an_address_that_is_taken_is_told() -> None:
    with serving("--demo") as process:
        port = process.address.rsplit(":", 1)[1]
        again = subprocess.run(
            [*SERVE[:-1], port, "--demo"], capture_output=True, text=True, timeout=20, check=False, cwd=ROOT
        )
        assert (again.returncode, again.stderr) == (2, f"Error: nothing can listen on 127.0.0.1:{port}\n")


@pytest.mark.parametrize("missing", ["httpx", "prometheus_client", "starlette", "uvicorn"])
def test_without_the_extra_it_says_what_to_install(tmp_path: Path, missing: str) -> None:
    # A finder that comes first, and says that there is none.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {missing!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [*SERVE, "--demo"], capture_output=True, text=True, timeout=20, check=False, cwd=ROOT, env=environment
    )
    assert run.returncode == 2
    assert run.stderr == f"Error: recovery serve needs {missing}: pip install 'recovery[serve]'\n"
