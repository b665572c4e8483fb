"""A run: what is asked in which order, within which bounds, what is kept of it, and what it goes on with."""

from __future__ import annotations

import asyncio
import inspect
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

from pydantic import BaseModel

from recovery.grading import Case, Outcome, Ungraded
from recovery.grading.calling import Reply, TransportError
from recovery.grading.filling import Progress, StimulusError
from recovery.grading.fingerprint import tools_digest
from recovery.grading.run import Run, run_matrix, run_matrix_async
from recovery.grading.store import OtherQuestionError, Store, StoreError

ROOT = Path(__file__).parent.parent.parent
TOOLS = [{"name": "weather", "description": "Of a city.", "parameters": {"properties": {"city": {"type": "string"}}}}]
CASES = [
    Case("Weather in Oslo?", "weather", {"city": "Oslo"}, id="oslo"),
    Case("Weather in Rome?", "weather", {"city": "Rome"}, id="rome"),
    Case("Tell me a joke.", id="joke"),
]


class Model:
    """Answers rightly, and keeps what it was asked."""

    def __init__(self, fails: Callable[[str, str], Exception | None] = lambda *_: None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.fails = fails

    async def __call__(self, model: str, query: str) -> Any:
        self.asked.append((model, query))
        await asyncio.sleep(0)
        error = self.fails(model, query)
        if error is not None:
            raise error
        city = query.removeprefix("Weather in ").removesuffix("?")
        return ("weather", {"city": city}) if query.startswith("Weather") else "No joke today."


def put(call_model: Any = None, cases: Any = None, models: Any = ("a", "b"), repeats: int = 3, **options: Any) -> Run:
    options = {"tools": TOOLS, "backoff": 0.001, **options}
    return run_matrix(cases or CASES, models, call_model or Model(), None, None, repeats, **options)


def expected(case: Case) -> dict[str, Any]:
    assert case.expected_args is not None
    return case.expected_args


def outcomes(run: Run) -> Counter[str]:
    return Counter(str(cell.ungraded if cell.grade is None else cell.grade.outcome) for cell in run.cells)


# The plain signature


def test_the_signature_is_the_one_of_the_contract() -> None:
    names = list(inspect.signature(run_matrix).parameters)
    assert names == ["cases", "models", "call_model", "arg_schema", "semantic_check", "repeats", "options"]
    assert inspect.signature(run_matrix).parameters["repeats"].default == 3


def test_a_plain_function_a_schema_and_a_check_are_enough() -> None:
    class City(BaseModel):
        city: str

    def call_model(model: str, query: str) -> tuple[str | None, Any]:
        if "joke" in query:
            return None, None
        return "weather", {"city": "Oslo"} if model == "a" else '{"city": 3}'

    run = run_matrix(CASES, ["a", "b"], call_model, City, lambda case, args: args.city == expected(case)["city"])
    assert outcomes(run) == {"correct": 3 + 3 + 3, "valid_but_wrong": 3, "invalid_args": 6}
    assert run.matrix.repeats == 3
    assert run.block.metric.semantic_check.endswith("<lambda>")
    assert run.block.stimulus.call_model is not None
    assert run.block.stimulus.call_model.endswith("call_model")
    assert run.block.stimulus.tools_sha256 is None


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("weather(city='Oslo')", "correct"),
        ({"role": "assistant", "content": "[weather(city='Oslo')]"}, "correct"),
        (
            {"type": "message", "content": [{"type": "tool_use", "name": "weather", "input": {"city": "Oslo"}}]},
            "correct",
        ),
        (Reply(("weather", {"city": "Oslo"}), returned_model="m-1"), "correct"),
        (None, "no_call"),
        (("sunshine", {}), "wrong_tool"),
        (object(), "call_error"),
        (("weather", {}, "more"), "call_error"),
    ],
)
def test_whatever_call_model_returns_is_one_cell(returned: Any, expected: str) -> None:
    run = put(lambda *_: returned, CASES[:1], ["m"], 1)
    assert outcomes(run) == {expected: 1}
    assert (run.cells[0].problem == "") == (run.cells[0].grade is not None)


# Order and bounds


def test_models_take_turns_within_a_pass_and_passes_follow_each_other() -> None:
    model = Model()
    put(model, concurrency=1)
    one_pass = [(name, case.query) for case in CASES for name in ("a", "b")]
    assert model.asked == one_pass * 3


def test_no_model_begins_the_next_pass_before_all_have_ended_this_one() -> None:
    asked: list[str] = []

    class Uneven:
        """Two endpoints, one of which is much faster."""

        def endpoint_of(self, model: str) -> str:
            return model

        async def __call__(self, model: str, query: str) -> str:
            asked.append(model)
            await asyncio.sleep(0.02 if model == "slow" else 0)
            return query

    put(Uneven(), models=["fast", "slow"], concurrency=1)
    each = len(CASES) * 2
    passes = [asked[start : start + each] for start in range(0, len(asked), each)]
    assert [one.count("slow") for one in passes] == [len(CASES)] * 3


# promptfoo#360, #1431, #5947; lm-evaluation-harness#3046: repeats that came out of a cache.
def test_every_repeat_is_a_call_of_its_own() -> None:
    model = Model()
    run = put(model, repeats=4)
    assert Counter(model.asked) == {(name, case.query): 4 for name in "ab" for case in CASES}
    assert run.block.run.calls == len(run.cells) == 24


def test_the_order_of_the_results_is_not_that_of_their_arrival() -> None:
    async def call_model(model: str, query: str) -> str:
        await asyncio.sleep(0.02 if model == "a" else 0.001 * len(query) % 0.007)
        return f"weather(city='{model}')"

    run = put(call_model, concurrency=8)
    keys = [(cell.model, cell.case_id, cell.repeat) for cell in run.cells]
    assert keys == [(model, case.id, repeat) for model in "ab" for case in CASES for repeat in range(3)]


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("threads", [False, True])
def test_calls_at_a_time_are_bounded_at_each_endpoint(concurrency: int, threads: bool) -> None:
    lock, now, most = threading.Lock(), Counter[str](), Counter[str]()

    def enter(model: str, by: int) -> None:
        with lock:
            now[model[0]] += by
            most[model[0]] = max(most[model[0]], now[model[0]])

    class Two:
        def endpoint_of(self, model: str) -> str:
            return model[0]

    class Threads(Two):
        def __call__(self, model: str, query: str) -> str:
            enter(model, 1)
            time.sleep(0.01)
            enter(model, -1)
            return query

    class Coroutines(Two):
        async def __call__(self, model: str, query: str) -> str:
            enter(model, 1)
            await asyncio.sleep(0.01)
            enter(model, -1)
            return query

    put(Threads() if threads else Coroutines(), models=["x1", "x2", "y"], concurrency=concurrency)
    assert most == {"x": concurrency, "y": concurrency}


def test_a_check_is_called_one_at_a_time_and_does_not_hold_up_the_calls() -> None:
    inside, most, lock = [0], [0], threading.Lock()

    def check(*_: Any) -> bool:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.03)
        with lock:
            inside[0] -= 1
        return True

    cases = [Case(case.query, case.expected_tool, id=case.id) for case in CASES]
    run = run_matrix(cases, ["a", "b"], Model(), None, check, 3, tools=TOOLS, timeout=0.2, concurrency=9)
    assert (outcomes(run), most) == ({"correct": 18}, [1])


def test_a_budget_ends_the_run_and_what_is_left_is_not_run() -> None:
    model = Model()
    run = put(model, budget=7)
    assert len(model.asked) == 7
    assert outcomes(run) == {"correct": 7, "not_run": 11}
    assert run.block.run.ungraded == {"not_run": 11}
    assert run.block.run.realised_repeats == {"a": (1, 2), "b": (1, 1)}
    assert outcomes(put(budget=0)) == {"not_run": 18}
    assert outcomes(put(budget=18)) == {"correct": 18}


def test_a_retry_is_paid_from_the_budget() -> None:
    model = Model(lambda *_: TransportError("lost"))
    run = put(model, budget=4, retries=9, concurrency=1)
    assert len(model.asked) == 4
    assert outcomes(run) == {"transport": 1, "not_run": 17}


# Faults


# SWE-bench_Pro-os#78: 429s counted as failures; open-chat-studio#4590: 26 silent errors in a run that was "completed".
def test_a_lost_answer_is_no_failure_of_the_model_and_is_counted_apart() -> None:
    class TooManyError(Exception):
        status_code = 429

    run = put(Model(lambda model, query: TooManyError() if model == "b" and "Rome" in query else None), retries=1)
    assert outcomes(run) == {"correct": 15, "transport": 3}
    assert run.block.run.ungraded == {"transport": 3}
    assert run.block.run.retries_used == 3
    assert run.block.run.realised_repeats["b"] == (0, 3)
    assert run.block.result.counts["b"]["ungraded"] == (1, 1, 1)
    assert run.matrix.outcomes[1][1] == (None, None, None)
    assert all(cell.problem == "TooManyError" for cell in run.cells if cell.grade is None)


# inspect_ai#3707, tau2-bench#493, olmo-eval#338: what failed left the denominator, and 80 of 100 were shown as 88.9 %.
def test_an_ungraded_cell_stays_in_the_matrix_and_in_the_block() -> None:
    run = put(Model(lambda _, query: KeyError("choices") if "Oslo" in query else None))
    assert len(run.cells) == len(CASES) * 2 * 3
    assert sum(map(sum, run.block.result.counts["a"].values())) == len(CASES) * 3
    assert run.block.run.ungraded == {"call_error": 6}


# aiperf#1318: a KeyError of the checker was recorded as unparsed for a third of the rows.
def test_a_check_that_fails_leaves_the_cell_ungraded_with_its_answer() -> None:
    def check(_: Case, args: Any) -> bool:
        return bool(args["town"])

    run = run_matrix(CASES, ["a"], Model(), None, check, 1, tools=TOOLS)
    assert outcomes(run) == {"grader_error": 2, "correct": 1}
    (cell, *_) = run.cells
    assert (cell.problem, cell.ungraded) == ("KeyError: 'town'", Ungraded.GRADER_ERROR)
    assert cell.answer == {"tool_name": "weather", "raw_args": {"city": "Oslo"}}


def test_an_answer_that_never_comes_is_timed_out() -> None:
    async def call_model(model: str, query: str) -> str:
        await asyncio.sleep(60 if "Rome" in query else 0)
        return model

    run = put(call_model, timeout=0.05, repeats=1)
    assert outcomes(run) == {"timeout": 2, "no_call": 2, "correct": 2}


def test_a_model_that_was_shown_other_tools_ends_the_run(tmp_path: Path) -> None:
    other = [{**TOOLS[0], "description": "Of a town."}]

    def call_model(model: str, query: str) -> Reply:
        return Reply(query, tools_sha256=tools_digest(other if model == "b" else TOOLS))

    with pytest.raises(StimulusError, match="b was sent other tools"):
        put(call_model, store=tmp_path / "run.db", concurrency=1)
    # What came before it is kept, and nothing of the model that saw something else.
    assert [cell.model for cell in Store.read(tmp_path / "run.db")[1]] == ["a"]


def test_tools_whose_bytes_change_on_the_way_end_the_run() -> None:
    counter = iter(range(100))
    with pytest.raises(StimulusError, match="other bytes"):
        put(lambda *_: Reply("", tools_sha256=tools_digest(TOOLS), tools_bytes_sha256=str(next(counter) // 5)))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"cases": [CASES[0], CASES[0]]}, ValueError, "'oslo' stands twice"),
        ({"cases": ["Weather?"]}, TypeError, r"cases\[0\]"),
        ({"cases": iter(())}, ValueError, "there are none"),
        ({"cases": [Case("q", "sunshine")]}, ValueError, "'sunshine', which is not offered"),
        ({"models": "gpt"}, TypeError, "not one name"),
        ({"models": []}, ValueError, "there are none"),
        ({"models": ["a", "a"]}, ValueError, "'a' stands twice"),
        ({"models": [3]}, TypeError, r"models\[0\]"),
        ({"repeats": 0}, ValueError, "repeats"),
        ({"repeats": True}, ValueError, "repeats"),
        ({"concurrency": 0}, ValueError, "concurrency"),
        ({"retries": -1}, ValueError, "retries"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"concurency": 2}, TypeError, "concurency"),
        ({"retries": "many"}, ValueError, "retries"),
        ({"ttl_days": 10**9}, ValueError, "ttl_days must be from 0 to 3650"),
        ({"ttl_days": "90"}, TypeError, "ttl_days must be a whole number"),
    ],
)
def test_a_mistake_is_told_before_the_first_call(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    model = Model()
    with pytest.raises(error, match=message):
        put(model, **changes)
    assert model.asked == []


def test_it_can_be_awaited_where_a_loop_runs_already() -> None:
    async def inside() -> Run:
        return await run_matrix_async(CASES, ["a"], Model(), tools=TOOLS)

    assert outcomes(asyncio.run(inside())) == {"correct": 9}


def test_progress_is_told_with_counts_by_outcome() -> None:
    told: list[Progress] = []
    put(Model(lambda _, query: OSError() if "Rome" in query else None), on_progress=told.append, concurrency=1)
    assert [progress.done for progress in told] == list(range(1, 19))
    assert {progress.total for progress in told} == {18}
    assert told[-1].counts == {"correct": 12, "call_error": 6}


# What stands behind it


def test_the_block_says_what_was_asked_and_of_whom() -> None:
    def call_model(model: str, query: str) -> Reply:
        return Reply(query, returned_model=f"{model}-0101", fingerprint="fp", tokens={"total": 5})

    block = put(call_model, cases_file="cases.jsonl", ttl_days=30).block
    assert (block.scope.n_cases, block.scope.n_call, block.scope.n_no_call) == (3, 2, 1)
    assert block.scope.cases_file == "cases.jsonl"
    assert [entry.returned for entry in block.models] == [("a-0101",), ("b-0101",)]
    assert block.models[0].fingerprints == ("fp",)
    assert block.stimulus.tools_sha256 == tools_digest(TOOLS)
    assert block.run.tokens == {"total": 90}
    assert (block.claim.valid_until - block.run.started.date()).days == 30
    assert "pydantic" in block.run.packages


def test_the_details_are_counted_by_model() -> None:
    run = put(lambda model, _: "weather(city=" if model == "a" else "")
    assert run.details["a"] == {("no_call", "written_and_refused"): 6, ("spurious_call", "written_and_refused"): 3}
    assert run.details["b"] == {("no_call", "silent"): 6, ("correct", "silent"): 3}


# Stopped, and gone on with


def test_a_run_is_read_back_from_its_file(tmp_path: Path) -> None:
    run = put(store=tmp_path / "run.db")
    assert Run.load(tmp_path / "run.db") == run
    run = put(store=tmp_path / "short.db", budget=5)
    assert Run.load(tmp_path / "short.db") == run


# inspect_ai#913, #677, #2626; phoenix#8041; opik#6941; promptfoo#1970: what was killed could not be gone on with.
def test_a_stored_cell_is_not_asked_for_again(tmp_path: Path) -> None:
    first, second = Model(), Model()
    put(first, store=tmp_path / "run.db", budget=7)
    run = put(second, store=tmp_path / "run.db", resume=True)
    assert (len(first.asked), len(second.asked)) == (7, 11)
    assert outcomes(run) == {"correct": 18}
    assert Counter(first.asked + second.asked) == {(name, case.query): 3 for name in "ab" for case in CASES}
    third = Model()
    again = put(third, store=tmp_path / "run.db", resume=True)
    assert (third.asked, again.cells, again.block.run.started) == ([], run.cells, run.block.run.started)


def test_what_a_model_was_sent_is_known_after_it_is_gone_on_with(tmp_path: Path) -> None:
    def sent(data: str) -> Callable[..., Reply]:
        return lambda _, query: Reply(query, tools_sha256=tools_digest(TOOLS), tools_bytes_sha256=data)

    put(sent("x"), store=tmp_path / "run.db", budget=7)
    # Two functions of one source: what they send is what differs.
    with pytest.raises(StimulusError, match="other bytes"):
        put(sent("y"), store=tmp_path / "run.db", resume=True)
    put(sent("x"), store=tmp_path / "run.db", resume=True)
    run = put(sent("x"), store=tmp_path / "run.db", resume=True)
    assert [entry.tools_bytes_sha256 for entry in run.block.models] == ["x", "x"]
    assert {entry.tools_sha256 for entry in run.block.models} == {tools_digest(TOOLS)}


def test_what_a_model_was_sent_is_known_after_a_kill_that_left_it_nothing_to_answer(tmp_path: Path) -> None:
    def ask(model: str, query: str) -> Reply:
        return Reply(query, tools_sha256=tools_digest(TOOLS), tools_bytes_sha256=model)

    def stop(_: Progress) -> None:
        raise RuntimeError("as a kill, which leaves no time to note anything")

    options: dict[str, Any] = {"cases": CASES[:1], "repeats": 1, "store": tmp_path / "run.db"}
    with pytest.raises(RuntimeError, match="as a kill"):
        put(ask, concurrency=1, on_progress=stop, **options)
    run = put(ask, resume=True, **options)
    assert run.block.run.calls == 2
    assert [(entry.tools_sha256, entry.tools_bytes_sha256) for entry in run.block.models] == [
        (tools_digest(TOOLS), "a"),
        (tools_digest(TOOLS), "b"),
    ]


def test_a_run_that_has_nothing_left_to_ask_is_the_same_run(tmp_path: Path) -> None:
    options: dict[str, Any] = {"store": tmp_path / "run.db", "resume": True}
    first = put(**options)
    # Nor is it valid for longer.
    assert put(ttl_days=1_000, **options) == first == Run.load(tmp_path / "run.db")
    assert put(models=["a", "b", "c"], **options).block.sha256 != first.block.sha256


def test_only_what_failed_is_asked_again_and_that_only_when_it_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    put(Model(lambda _, query: TransportError() if "Rome" in query else None), store=path, retries=1)
    left = Model()
    assert outcomes(put(left, store=path, resume=True)) == {"correct": 12, "transport": 6}
    assert left.asked == []
    run = put(left, store=path, resume=True, retry_ungraded=True)
    assert Counter(left.asked) == {("a", CASES[1].query): 3, ("b", CASES[1].query): 3}
    assert outcomes(run) == {"correct": 18}
    # What the lost attempts cost is not forgotten.
    assert run.block.run.calls == 12 + 6 * 2 + 6


def test_what_the_grader_failed_on_is_graded_again_without_a_call(tmp_path: Path) -> None:
    broken = [True]

    def check(case: Case, args: Any) -> bool:
        if broken[0]:
            raise RuntimeError("the judge is not there")
        return bool(args["city"] == expected(case)["city"])

    def put_checked(model: Model, **more: Any) -> Run:
        return run_matrix(CASES, ["a"], model, None, check, 2, tools=TOOLS, store=tmp_path / "run.db", **more)

    assert outcomes(put_checked(Model())) == {"grader_error": 4, "correct": 2}
    broken[0] = False
    again = Model()
    assert outcomes(put_checked(again, resume=True, retry_ungraded=True)) == {"correct": 6}
    assert again.asked == []


def test_a_model_can_be_added_to_a_run(tmp_path: Path) -> None:
    put(models=["a"], store=tmp_path / "run.db")
    model = Model()
    run = put(model, models=["a", "b"], store=tmp_path / "run.db", resume=True)
    assert {name for name, _ in model.asked} == {"b"}
    assert outcomes(run) == {"correct": 18}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tools": [{**TOOLS[0], "description": "Of a city!"}]}, ["stimulus.tools_sha256"]),
        ({"repeats": 5}, ["run.planned_repeats"]),
        ({"validation": "lax"}, ["metric.validation"]),
        ({"cases": [*CASES, Case("More?", id="more")]}, ["scope.cases_sha256"]),
        ({"models": ["a"]}, ["models.b"]),
    ],
)
def test_another_question_is_refused_before_a_call(
    tmp_path: Path, changes: dict[str, Any], expected: list[str]
) -> None:
    put(store=tmp_path / "run.db", budget=3)
    before = (tmp_path / "run.db").read_bytes()
    model = Model()
    with pytest.raises(OtherQuestionError) as refused:
        put(model, store=tmp_path / "run.db", resume=True, **changes)
    assert list(refused.value.differing) == expected
    assert model.asked == []
    assert (tmp_path / "run.db").read_bytes() == before


def test_another_check_is_another_metric(tmp_path: Path) -> None:
    def put_checked(check: Callable[[Case, Any], bool], **more: Any) -> Run:
        cases = [Case("Weather?", "weather")]
        return run_matrix(cases, ["a"], Model(), None, check, 1, tools=TOOLS, store=tmp_path / "run.db", **more)

    def one(*_: Any) -> bool:
        return True

    kept = one

    def one(*_: Any) -> bool:  # type: ignore[no-redef]
        return False

    put_checked(kept)
    with pytest.raises(OtherQuestionError, match=r"differ in metric\.semantic_check_sha256\."):
        put_checked(one, resume=True)


def test_a_file_is_not_written_over(tmp_path: Path) -> None:
    put(store=tmp_path / "run.db")
    with pytest.raises(StoreError, match="exists already"):
        put(store=tmp_path / "run.db")


KILLED = """
    import sys, time
    from pathlib import Path
    from recovery.grading.run import run_matrix
    from tests.grading.test_run import CASES, TOOLS

    log = open(sys.argv[2], "a", buffering=1)

    async def call_model(model, query):
        # Written before the answer is: a call that is under way counts as made.
        log.write(f"{model} {query}\\n")
        return query

    def on_progress(progress):
        print(progress.done, flush=True)

    run_matrix(
        CASES, ["a", "b"], call_model, None, None, 60, tools=TOOLS, store=sys.argv[1], resume=True, concurrency=2,
        on_progress=on_progress,
    )
"""


def start(tmp_path: Path) -> subprocess.Popen[bytes]:
    program = tmp_path / "killed.py"
    program.write_text(inspect.cleandoc(KILLED), encoding="utf-8")
    command = [sys.executable, str(program), str(tmp_path / "run.db"), str(tmp_path / "asked")]
    env = {"PYTHONPATH": str(ROOT), "PATH": ""}
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_killed_at_any_moment_it_loses_at_most_the_cells_under_way(tmp_path: Path) -> None:
    kills = 0
    for told in (0, 1, 5, 17, 40, 80):
        with start(tmp_path) as process:
            assert process.stdout is not None
            for _ in range(told):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            last = process.stdout.read().splitlines()
        kills += 1
        if (tmp_path / "run.db").exists() and last:
            # What it said was done is there.
            assert len(Store.read(tmp_path / "run.db")[1]) >= int(last[-1])
    with start(tmp_path) as process:
        _, err = process.communicate()
    assert (process.returncode, err) == (0, b""), err
    run = Run.load(tmp_path / "run.db")
    assert outcomes(run) == {"no_call": 240, "correct": 120}
    asked = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    # Two calls are under way at a time: so many, and no more, were made twice for a kill.
    assert 360 <= len(asked) <= 360 + 2 * kills


def test_ctrl_c_leaves_a_run_that_can_be_looked_at_and_gone_on_with(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        assert process.stdout is not None
        for _ in range(10):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == -signal.SIGINT or b"KeyboardInterrupt" in err
    run = Run.load(tmp_path / "run.db")
    assert run.block.run.ungraded["not_run"] + sum(cell.grade is not None for cell in run.cells) == 360
    assert sum(cell.grade is not None for cell in run.cells) >= 10
    with start(tmp_path) as process:
        process.communicate()
    assert outcomes(Run.load(tmp_path / "run.db")) == {"no_call": 240, "correct": 120}


def test_a_run_that_was_killed_says_so_when_it_is_read(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
    with pytest.raises(StoreError, match="has not ended"):
        Run.load(tmp_path / "run.db")


def test_outcomes_are_words_and_not_numbers() -> None:
    assert {str(outcome) for outcome in Outcome} >= {"correct", "no_call"}
