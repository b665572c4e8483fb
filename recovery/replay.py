"""Recorded answers ▶ what recovery does to them: counts with examples, and what changed since an earlier run.

Goals: a bad row never ends a run; memory stays that of a few chunks, however long the files; what comes out is the
same with any number of processes. Plan: rows are read here in bounded chunks, a `_Replayer` turns a chunk into
outcomes, here or in a worker process, and the outcomes are counted here, in the order of the rows. Only a baseline
holds something for each answer: its key and a fingerprint. May import: the public names of the package, `rows`.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from . import Call, Policy, Recovery
from .rows import (
    BadRow,
    BadRowError,
    Id,
    Line,
    Toolsets,
    attempt,
    commit_row,
    read_id,
    read_lines,
    read_row,
    read_seen,
    read_text,
    recover_row,
)

# Enough rows to make the way to a worker cheap, few enough to hold several chunks for each worker.
_CHUNK_ROWS: Final = 256
_CHUNK_BYTES: Final = 1024 * 1024
# A field that is different in each row must not make the table as long as the file.
_MOST_GROUPS: Final = 1_000
OTHER_GROUPS: Final = "(other groups)"
# How many answers that only one side has are named; all are counted.
MOST_KEYS: Final = 20


class Outcome(NamedTuple):
    """What recovery did to one answer: what is counted, written and compared of it, and no more.

    `reason` is empty where nothing was refused; `sentence` explains the first refusal of a reason in its chunk, and the
    first with a premature call. `premature` counts the calls that went out before the answer turned out to have none.
    `record` is the row of `--out`, `fingerprint` what a baseline keeps of it.
    """

    file: str
    line: int
    id: Id | None
    group: tuple[str, ...]
    protected: tuple[str, ...]
    seen: int | None
    status: str
    reason: str
    calls: int
    used: tuple[str, ...]
    lacking: str
    premature: int
    sentence: str
    record: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """How to replay: all that a worker process needs to know. `toolsets` are the rows of `read_toolsets`."""

    policy: Policy
    toolsets: Mapping[Id, bytes] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    # Field and value; an answer that any of them fits is protected.
    protect: tuple[tuple[str, str], ...] = ()
    # Whether to read each answer as a stream too, one that commits by call.
    by_call: bool = False
    # Whether somebody wants `Outcome.record` and `fingerprint`: they cost time.
    record: bool = False


@dataclass(slots=True)
class Count:
    """Answers, how often they occurred (`seen`), and the calls of them: recovered ones, or premature ones."""

    answers: int = 0
    occurrences: int = 0
    calls: int = 0

    def add(self, outcome: Outcome, calls: int) -> None:
        self.answers += 1
        self.occurrences += 1 if outcome.seen is None else outcome.seen
        self.calls += calls


def _counts() -> defaultdict[str, Count]:
    return defaultdict(Count)


@dataclass(slots=True)
class Tally:
    """The counts of all answers or of one group.

    `used` has the key "" for calls that took no allowance; `premature` counts by reason, or by status where there is
    none.
    """

    total: Count = field(default_factory=Count)
    status: defaultdict[str, Count] = field(default_factory=_counts)
    reason: defaultdict[str, Count] = field(default_factory=_counts)
    used: defaultdict[str, Count] = field(default_factory=_counts)
    lacking: defaultdict[str, Count] = field(default_factory=_counts)
    premature: defaultdict[str, Count] = field(default_factory=_counts)

    def add(self, outcome: Outcome) -> None:
        calls = outcome.calls
        self.total.add(outcome, calls)
        self.status[outcome.status].add(outcome, calls)
        if outcome.reason:
            self.reason[outcome.reason].add(outcome, calls)
        if outcome.lacking:
            self.lacking[outcome.lacking].add(outcome, calls)
        if calls:
            for allowance in outcome.used or ("",):
                self.used[allowance].add(outcome, calls)
        if outcome.premature:
            self.premature[outcome.reason or outcome.status].add(outcome, outcome.premature)


class Change(NamedTuple):
    """An answer that comes out otherwise than in the baseline. `after` says "other …" where the outcome is the same."""

    id: Id | None
    file: str
    line: int
    before: str
    after: str
    protected: tuple[str, ...]

    @property
    def breaks(self) -> bool:
        """Whether an answer of a protected group became a call."""
        return bool(self.protected) and self.after == "recovered"


@dataclass(slots=True)
class Report:
    """What a run found.

    `examples` holds, by reason, the place and the sentence of the first refusal; `premature_examples` by the keys of
    `Tally.premature`, of the first answer that had a premature call.
    """

    tally: Tally = field(default_factory=Tally)
    groups: dict[tuple[str, ...], Tally] = field(default_factory=dict)
    examples: dict[str, tuple[str, str]] = field(default_factory=dict)
    premature_examples: dict[str, tuple[str, str]] = field(default_factory=dict)
    # By `FIELD=VALUE`, so that a group which protects nothing can be told.
    protected: dict[str, int] = field(default_factory=dict)
    has_occurrences: bool = False
    bad: int = 0

    def add(self, outcome: Outcome, by: tuple[str, ...]) -> None:
        self.tally.add(outcome)
        self.has_occurrences |= outcome.seen is not None
        example = f"{outcome.file}:{outcome.line}", outcome.sentence
        if outcome.reason:
            self.examples.setdefault(outcome.reason, example)
        if outcome.premature:
            self.premature_examples.setdefault(outcome.reason or outcome.status, example)
        for name in outcome.protected:
            self.protected[name] += 1
        if by:
            group = outcome.group
            if group not in self.groups and len(self.groups) >= _MOST_GROUPS:
                group = (OTHER_GROUPS,) * len(by)
            self.groups.setdefault(group, Tally()).add(outcome)


class Baseline:
    """An earlier `--out`, held against a run: one key and one fingerprint for each answer.

    An answer is known by its id, else by file and line. Where a key stands several times, the first is held against
    the first, the second against the second.
    """

    def __init__(self, file: str) -> None:
        """Raises `ValueError`, naming file and line, where a row is none of an earlier `--out`."""
        self.answers = 0
        self.rules: set[str] = set()
        self.changes: list[Change] = []
        # Answers that the baseline does not have; a run may have far more, so `new` holds the keys of the first.
        self.new: list[str] = []
        self.new_answers = 0
        self.new_protected_calls = 0
        self._index: dict[str, bytes] = {}
        self._again: dict[str, int] = {}
        for line in read_lines(file):
            if isinstance(line, BadRow):
                raise ValueError(str(line))
            try:
                record = read_row(line.raw)
                key = _key(read_id(record.get("id")), record["file"], record["line"])
                fingerprint = _fingerprint(record)
                self.rules.add(record["rules"])
            except (BadRowError, KeyError, TypeError) as error:
                raise ValueError(f"{file}:{line.number}: no row of an earlier --out: {error}") from None
            self._index[self._next(key, key in self._index)] = fingerprint
            self.answers += 1
        self._again.clear()

    def compare(self, outcome: Outcome) -> None:
        """Hold one answer of the run against the baseline."""
        key = _key(outcome.id, outcome.file, outcome.line)
        key = self._next(key, self._index.get(key) == _MATCHED)
        before = self._index.get(key)
        if before is None:
            self.new_answers += 1
            if len(self.new) < MOST_KEYS:
                self.new.append(key)
            self.new_protected_calls += bool(outcome.protected and outcome.status == "recovered")
            return
        self._index[key] = _MATCHED
        if before != outcome.fingerprint:
            was, now = before[16:].decode(), outcome.fingerprint[16:].decode()
            if was == now:
                now = "other calls" if before[:8] != outcome.fingerprint[:8] else "other span or spelling"
            self.changes.append(Change(outcome.id, outcome.file, outcome.line, was, now, outcome.protected))

    def missing(self) -> Iterator[str]:
        """The keys of the baseline that the run did not have."""
        return (key for key, fingerprint in self._index.items() if fingerprint != _MATCHED)

    def _next(self, key: str, is_again: bool) -> str:
        """`key`, or for its n-th occurrence one that nothing else can have: no key holds a line end."""
        if not is_again:
            return key
        self._again[key] = self._again.get(key, 1) + 1
        return f"{key}\n{self._again[key]}"


# In place of the fingerprint of an answer that the run had.
_MATCHED: Final = b""


def replay(
    files: Iterable[str],
    plan: Plan,
    *,
    jobs: int = 1,
    baseline: Baseline | None = None,
    on_bad: Callable[[BadRow], object] = lambda _: None,
    on_record: Callable[[str], object] = lambda _: None,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Report:
    """Replay the rows of `files` (`-` is standard input) in their order.

    `on_bad` is told every bad row, `on_record` the record of every answer, and `on_progress` how many bytes of the
    files are done. A baseline needs `plan.record`. With `jobs` above 1 the answers are read in that many processes,
    which are spawned: a script that calls this needs its `if __name__ == "__main__"`.
    """
    report = Report(protected={f"{name}={value}": 0 for name, value in plan.protect})
    with closing(_run(_read_chunks(files), plan, jobs)) as results:
        for outcomes, behind in results:
            for outcome in outcomes:
                if isinstance(outcome, BadRow):
                    report.bad += 1
                    on_bad(outcome)
                    continue
                report.add(outcome, plan.by)
                on_record(outcome.record)
                if baseline is not None:
                    baseline.compare(outcome)
            on_progress(behind)
    return report


# Reading

_Chunk = list[Line | BadRow]
_Outcomes = list[Outcome | BadRow]


def _read_chunks(files: Iterable[str]) -> Iterator[tuple[_Chunk, int]]:
    """The rows of all files in bounded chunks, each with how many bytes of the files lie behind it."""
    done = 0
    for file in files:
        chunk: _Chunk = []
        held = behind = 0
        for line in read_lines(file):
            chunk.append(line)
            if isinstance(line, Line):
                held += len(line.raw)
                behind = line.behind
            if len(chunk) >= _CHUNK_ROWS or held >= _CHUNK_BYTES:
                yield chunk, done + behind
                chunk, held = [], 0
        done += behind
        if chunk:
            yield chunk, done


# Replaying


class _Replayer:
    """Turns rows into outcomes; one in each process, since it keeps the toolsets that it has built."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._toolsets = Toolsets(plan.toolsets)

    def run(self, chunk: _Chunk) -> _Outcomes:
        outcomes: _Outcomes = []
        explained: set[tuple[str, bool]] = set()
        for line in chunk:
            if isinstance(line, BadRow):
                outcomes.append(line)
                continue
            outcomes.append(attempt(line, partial(self._replay, line, explained)))
        return outcomes

    def _replay(self, line: Line, explained: set[tuple[str, bool]]) -> Outcome:
        plan, row = self._plan, read_row(line.raw)
        id_, text, seen = read_id(row.get("id")), read_text(row), read_seen(row)
        tools = self._toolsets.of(row)
        result = recover_row(line, text, tools, plan.policy)
        premature = _premature(commit_row(line, text, tools, plan.policy), result) if plan.by_call else None
        refusal, sentence = result.refusal, ""
        if refusal is not None:
            kinds = {(refusal.reason.value, False), (refusal.reason.value, bool(premature))}
            if not kinds <= explained:
                explained |= kinds
                sentence = refusal.explain(text).partition("\n")[0]
        record = _record(line, id_, result, premature) if plan.record else None
        return Outcome(
            file=line.file,
            line=line.number,
            id=id_,
            group=tuple(_shown(row.get(name)) for name in plan.by),
            protected=tuple(f"{name}={value}" for name, value in plan.protect if _shown(row.get(name)) == value),
            seen=seen,
            status=result.status,
            reason="" if refusal is None else refusal.reason.value,
            calls=len(result.calls),
            used=tuple(sorted(result.used)),
            lacking="" if refusal is None else " + ".join(sorted(refusal.allowances)),
            premature=len(premature or ()),
            sentence=sentence,
            record="" if record is None else json.dumps(record),
            fingerprint=b"" if record is None else _fingerprint(record),
        )


def _premature(committed: Iterable[Call], result: Recovery) -> list[Call]:
    """Of the calls that went out, those that the result does not have."""
    # By what is written of them, so that each is looked at once: calls of one JSON object share their span.
    recovered = {json.dumps(call.to_dict()) for call in result.calls}
    return [call for call in committed if json.dumps(call.to_dict()) not in recovered]


def _record(line: Line, id_: Id | None, result: Recovery, premature: list[Call] | None) -> dict[str, Any]:
    """The row of `--out`, which has `premature` where it was looked for."""
    given = result.to_dict()
    refusal = given["refusal"] or {}
    return {
        "id": id_,
        "file": line.file,
        "line": line.number,
        "status": result.status,
        "reason": refusal.get("reason"),
        "span": refusal.get("span"),
        "allowances": refusal.get("allowances", []),
        **{name: given[name] for name in ("calls", "used", "rules")},
        **({} if premature is None else {"premature": [call.to_dict() for call in premature]}),
    }


def _key(id_: Id | None, file: str, line: int) -> str:
    # No JSON value is also a file and a line: a string ends in a quote, a number has no colon.
    return f"{file}:{line}" if id_ is None else json.dumps(id_)


def _fingerprint(record: Mapping[str, Any]) -> bytes:
    """Eight bytes for the calls, eight for all else that can change, then the outcome in words."""
    calls = record["calls"]
    spelling = [[call["written"], call["span"]] for call in calls]
    rest = [record["span"], record["allowances"], record["used"], spelling]
    outcome = f"{record['status']} ({record['reason']})" if record["reason"] else str(record["status"])
    return _digest([[call["name"], call["arguments"]] for call in calls]) + _digest(rest) + outcome.encode()


def _digest(value: object) -> bytes:
    return blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=8).digest()


def _shown(value: object) -> str:
    """A field's value as a group: strings as they are, all else as JSON."""
    if value is None:
        return "—"
    return value if isinstance(value, str) else json.dumps(value)


# Processes

_in_worker: list[_Replayer] = []


def _run(chunks: Iterator[tuple[_Chunk, int]], plan: Plan, jobs: int) -> Generator[tuple[_Outcomes, int], None, None]:
    """The outcomes of each chunk, in order, here or in `jobs` processes."""
    if jobs == 1:
        replayer = _Replayer(plan)
        for chunk, behind in chunks:
            yield replayer.run(chunk), behind
        return
    # Spawned, not forked: the caller may have threads, a progress bar's for one.
    context = multiprocessing.get_context("spawn")
    waiting: deque[tuple[Future[_Outcomes], int]] = deque()
    with ProcessPoolExecutor(jobs, context, _start_worker, (plan,)) as pool:
        try:
            for chunk, behind in chunks:
                # It is here that the pool starts its processes.
                with _interrupt_held():
                    waiting.append((pool.submit(_work, chunk), behind))
                # Two for each worker: none runs dry, and reading never runs away from them.
                if len(waiting) > 2 * jobs:
                    future, done = waiting.popleft()
                    yield future.result(), done
            for future, done in waiting:
                yield future.result(), done
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _interrupt_held() -> Iterator[None]:
    """Hold Ctrl-C back meanwhile, and for good in a process that is started meanwhile.

    It reaches every process of the terminal, and the one that reads decides what comes of it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(plan: Plan) -> None:
    # Windows can't hold it back.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _in_worker.append(_Replayer(plan))


def _work(chunk: _Chunk) -> _Outcomes:
    return _in_worker[0].run(chunk)
