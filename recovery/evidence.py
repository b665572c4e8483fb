"""Recorded answers ▶ what each allowance brings and what it costs: the evidence for `Policy.default()`.

Plan: every text is read once, under lenient. The reading knows no policy, so what a smaller policy recovers follows:
the answers whose `used` it allows. On a sample that is held against a reading of its own. Kept are counts by the set of
allowances used, and samples of a fixed size; all else goes to the caller as it is found, so memory stays flat. May
import: the public names of the package, `rows`, `truth`, `leftovers`.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from . import Allowance, Call, Policy, Recovery, Span, Toolset, recover
from .leftovers import class_of
from .rows import (
    BadRow,
    BadRowError,
    Id,
    Line,
    Toolsets,
    attempt,
    read_id,
    read_lines,
    read_row,
    read_seen,
    read_text,
    recover_row,
)
from .truth import Wanted, is_right

Used = frozenset[Allowance]

# One answer in so many is read again under smaller policies.
_CHECKED: Final = 32
# Samples of each class that lenient leaves: enough to see what it is.
LEFT_SAMPLES: Final = 30
# A step around the block, so the answer is no call and nothing else; a fence alone leaves it one.
_AROUND: Final = frozenset(
    {
        Allowance.PROSE_FENCE,
        Allowance.PROSE_LIST,
        Allowance.PROSE_LINES,
        Allowance.WRAPPER,
        Allowance.MARKER,
        Allowance.REASONING,
    }
)
_NOWHERE: Final = Span(0, 0)
# Texts by a model which was offered tools: what its category begins with.
_BY_A_MODEL: Final = "bfcl_"


@dataclass(slots=True)
class Count:
    """Answers, how many of them have a ground truth, and how many of these are right."""

    answers: int = 0
    truths: int = 0
    right: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.answers + other.answers, self.truths + other.truths, self.right + other.right)

    def __sub__(self, other: Count) -> Count:
        return Count(self.answers - other.answers, self.truths - other.truths, self.right - other.right)

    def add(self, right: bool | None) -> None:
        """One answer more; `right` is None where it has no ground truth."""
        self.answers += 1
        self.truths += right is not None
        self.right += right is True


class Hit(NamedTuple):
    """A text that must stay text, and did not. `is_own_call`: listed, not counted."""

    id: Id
    file: str
    line: int
    category: str
    tools: str
    used: tuple[str, ...]
    is_own_call: bool
    why: str


class Verdict(NamedTuple):
    """What a reader said of one answer. `reading` is a digest of the calls: it holds for these and no others."""

    id: Id
    reading: str
    verdict: str
    by: str


Verdicts = Mapping[Allowance, Mapping[Id, Verdict]]

RIGHT: Final = "right reading"
WRONG: Final = ("wrong reading", "two readings")
# A verdict about calls which are no longer what the answer gives.
STALE: Final = "another reading since"


class Draw:
    """The `size` texts with the least hash: the same ones in whatever order they come."""

    def __init__(self, seed: int, size: int) -> None:
        self._seed = seed
        self._size = size
        self._heap: list[tuple[int, int, dict[str, Any]]] = []
        self.drawn_from = 0

    def offer(self, kind: str, id_: Id, make: Callable[[], dict[str, Any]]) -> None:
        """Keep what `make` gives if the id is among the least so far."""
        self.drawn_from += 1
        rank = -_hash(f"{self._seed} {kind} {id_!r}")
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, (rank, self.drawn_from, make()))
        elif self._size and rank > self._heap[0][0]:
            heapq.heapreplace(self._heap, (rank, self.drawn_from, make()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (sample for _, _, sample in sorted(self._heap, key=lambda item: (-item[0], item[1])))


@dataclass(slots=True)
class Evidence:
    """What a run found. `brought` and the hits are by the set of allowances that a reading used."""

    seed: int
    samples: int
    answers: Count = field(default_factory=Count)
    # Where the rows hold what Python's own parser reads: how many, and those which strict reads otherwise.
    python: Count = field(default_factory=Count)
    unlike_python: list[str] = field(default_factory=list)
    brought: dict[Used, Count] = field(default_factory=dict)
    negatives: int = 0
    hits: dict[str, Counter[Used]] = field(default_factory=lambda: {"row": Counter(), "callish": Counter()})
    own_calls: Counter[Used] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    drawn: dict[Allowance, Draw] = field(default_factory=dict)
    drawn_left: dict[str, Draw] = field(default_factory=dict)
    verdicts: Verdicts = field(default_factory=dict)
    # What the verdicts say of the readings of this run, by allowance.
    judged: dict[Allowance, Counter[str]] = field(default_factory=lambda: {one: Counter() for one in Allowance})
    checked: int = 0
    bad: int = 0

    def judge(self, allowance: Allowance, id_: Id, result: Recovery) -> None:
        """Count what the verdicts say of an answer that was recovered."""
        verdict = self.verdicts.get(allowance, {}).get(id_)
        if verdict is None:
            return
        holds = verdict.reading == reading_of(result.calls)
        self.judged[allowance][verdict.verdict if holds else STALE] += 1
        self.judged[allowance][verdict.by] += holds

    def under(self, allowed: Iterable[Allowance]) -> Count:
        """What a policy that allows these recovers."""
        allowed = frozenset(allowed)
        return sum((count for used, count in self.brought.items() if used <= allowed), Count())

    def hits_under(self, allowed: Iterable[Allowance], tools: str) -> int:
        allowed = frozenset(allowed)
        return sum(count for used, count in self.hits[tools].items() if used <= allowed)

    def hits_of(self, allowance: Allowance, tools: str) -> int:
        """The hits that count against the allowance: all whose reading used it."""
        return sum(count for used, count in self.hits[tools].items() if allowance in used)

    def own_calls_of(self, allowance: Allowance) -> int:
        return sum(count for used, count in self.own_calls.items() if allowance in used)

    def greedy(self) -> list[Allowance]:
        """Every allowance, in the order in which each adds most right answers to those before it."""
        order: list[Allowance] = []
        while len(order) < len(Allowance):
            rest = [allowance for allowance in Allowance if allowance not in order]
            order.append(max(rest, key=lambda one: self._rank(self.under([*order, one]))))
        return order

    @staticmethod
    def _rank(count: Count) -> tuple[int, int]:
        return count.right, count.answers

    def faults_of(self, allowance: Allowance) -> list[str]:
        """What keeps the allowance out of the default, by the rule: hits, wrong readings, nothing read."""
        judged = self.judged[allowance]
        row, callish = self.hits_of(allowance, "row"), self.hits_of(allowance, "callish")
        wrong = sum(judged[verdict] for verdict in WRONG)
        faults = [
            f"{row} texts became calls of the row's tools" if row else "",
            f"{callish} texts became calls of callish tools" if callish else "",
            f"{wrong} readings are wrong or doubtful" if wrong else "",
            "" if judged[RIGHT] or wrong else "no answer was read",
        ]
        return list(filter(None, faults))

    def earned(self) -> frozenset[Allowance]:
        """What is in the default by the rule."""
        return frozenset(allowance for allowance in Allowance if not self.faults_of(allowance))


def gather(  # noqa: PLR0913 - each is an option of the command, or hears of it
    answers: Iterable[str],
    negatives: Iterable[str],
    toolsets: Mapping[Id, bytes],
    *,
    seed: int = 1,
    samples: int = 150,
    verdicts: Verdicts | None = None,
    on_hit: Callable[[Hit], object] = lambda _: None,
    on_bad: Callable[[BadRow], object] = lambda _: None,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Evidence:
    """Read the answers, then the texts that must stay text; `on_progress` is told how many bytes are done."""
    evidence = Evidence(seed, samples, verdicts=verdicts or {})
    evidence.drawn = {allowance: Draw(seed, samples) for allowance in Allowance}
    reader = _Reader(evidence, Toolsets(toolsets), on_hit)
    done = 0
    for files, read in ((answers, reader.read_answer), (negatives, reader.read_negative)):
        for file in files:
            behind = 0
            for line in read_lines(file):
                bad = line if isinstance(line, BadRow) else attempt(line, partial(_read, read, line))
                if bad is not None:
                    evidence.bad += 1
                    on_bad(bad)
                if isinstance(line, Line):
                    behind = line.behind
                    on_progress(done + behind)
            done += behind
    return evidence


def _read(read: Callable[[Line, dict[str, Any]], None], line: Line) -> None:
    read(line, read_row(line.raw))


class _Reader:
    """Reads rows into the evidence."""

    def __init__(self, evidence: Evidence, toolsets: Toolsets, on_hit: Callable[[Hit], object]) -> None:
        self._evidence = evidence
        self._toolsets = toolsets
        self._on_hit = on_hit
        self._lenient = Policy.lenient()

    def read_answer(self, line: Line, row: dict[str, Any]) -> None:
        evidence = self._evidence
        text, id_, wanted = read_text(row), _id(line, row), _wanted(row)
        read_seen(row)
        python = _python_calls(row)
        tools = self._toolsets.of(row)
        result = self._recover(line, text, tools)
        right = None if wanted is None else is_right(result.calls, wanted)
        evidence.answers.add(right)
        if python is not None:
            evidence.python.add(None if wanted is None else is_right(python, wanted))
            if result.used or _written(result.calls) != _written(python):
                evidence.unlike_python.append(str(id_))
        if not result.calls:
            self._leave(line, id_, text, tools, result)
            return
        evidence.brought.setdefault(result.used, Count()).add(right)
        for allowance in sorted(result.used):
            evidence.drawn[allowance].offer(allowance, id_, partial(_sample, line, id_, text, result, allowance))
            evidence.judge(allowance, id_, result)

    def read_negative(self, line: Line, row: dict[str, Any]) -> None:
        evidence = self._evidence
        text, id_, category = read_text(row), _id(line, row), str(row.get("category", ""))
        offered = {"row": row.get("tools") or [], "callish": row.get("callish") or []}
        toolsets = {kind: self._toolsets.of({"tools": names}) for kind, names in offered.items() if names}
        evidence.negatives += 1
        for kind, tools in toolsets.items():
            result = self._recover(line, text, tools)
            if not result.calls:
                continue
            is_own = kind == "callish" and category.startswith(_BY_A_MODEL) and not result.used & _AROUND
            counter = evidence.own_calls if is_own else evidence.hits[kind]
            counter[result.used] += 1
            used = tuple(sorted(result.used))
            self._on_hit(
                Hit(id_, line.file, line.number, category, kind, used, is_own, _why(text, result, is_own=is_own))
            )

    def _leave(self, line: Line, id_: Id, text: str, tools: Toolset, result: Recovery) -> None:
        evidence = self._evidence
        class_ = class_of(text, tools, result)
        if class_ is None:
            return
        evidence.left[class_.name] += 1
        if class_.name not in evidence.drawn_left:
            evidence.drawn_left[class_.name] = Draw(evidence.seed, LEFT_SAMPLES)
        place = {"id": id_, "class": class_.name, "file": line.file, "line": line.number}
        evidence.drawn_left[class_.name].offer(class_.name, id_, lambda: {**place, **result.to_dict()})

    def _recover(self, line: Line, text: str, tools: Toolset) -> Recovery:
        result = recover_row(line, text, tools, self._lenient)
        if _hash(text) % _CHECKED == 0:
            self._evidence.checked += 1
            _check_subsets(line, text, tools, result)
        return result


def _check_subsets(line: Line, text: str, tools: Toolset, lenient: Recovery) -> None:
    """Every policy recovers what lenient does, or nothing: what it used must be allowed."""
    policies = [Policy.strict(), Policy(lenient.used), *(Policy(lenient.used - {one}) for one in lenient.used)]
    for policy in policies:
        calls = recover(text, tools, policy=policy).calls
        if _written(calls) != (_written(lenient.calls) if lenient.used <= policy.allow else "[]"):
            allowed = " + ".join(sorted(policy.allow)) or "nothing"
            raise RuntimeError(f"{line.file}:{line.number}: allowing {allowed} changes what lenient recovers")


# Verdicts


def read_verdicts(folder: Path) -> tuple[Verdicts, list[BadRow]]:
    """The verdicts of `ALLOWANCE.jsonl` in the folder, and the rows that are none."""
    verdicts: dict[Allowance, dict[Id, Verdict]] = {}
    bad: list[BadRow] = []
    for allowance in Allowance:
        file = folder / f"{allowance.value}.jsonl"
        for line in read_lines(str(file)) if file.exists() else ():
            found = line if isinstance(line, BadRow) else attempt(line, partial(_verdict, line, allowance))
            if isinstance(found, BadRow):
                bad.append(found)
            else:
                verdicts.setdefault(allowance, {})[found.id] = found
    return verdicts, bad


def _verdict(line: Line, allowance: Allowance) -> Verdict:
    row = read_row(line.raw)
    id_ = read_id(row.get("id"))
    if id_ is None or row.get("allowance") != allowance.value or row.get("by") not in {"machine", "reader"}:
        raise BadRowError(f"a verdict needs id, by (machine or reader), and the allowance {allowance.value}")
    if row.get("verdict") not in {RIGHT, *WRONG}:
        raise BadRowError(f"a verdict is one of {', '.join((RIGHT, *WRONG))}")
    return Verdict(id_, str(row.get("reading")), row["verdict"], row["by"])


# Rows


def _id(line: Line, row: Mapping[str, Any]) -> Id:
    id_ = read_id(row.get("id"))
    return f"{line.file}:{line.number}" if id_ is None else id_


def _wanted(row: Mapping[str, Any]) -> list[Wanted] | None:
    given = row.get("allowed")
    if given is None:
        return None
    try:
        wanted = [Wanted(call["name"], {key: [*values] for key, values in call["allowed"].items()}) for call in given]
    except (TypeError, KeyError, AttributeError):
        raise BadRowError("allowed must be a list of calls, each with its name and the values allowed") from None
    return wanted


def _python_calls(row: Mapping[str, Any]) -> list[Call] | None:
    given = row.get("calls")
    if given is None:
        return None
    try:
        return [Call(call["name"], call["name"], dict(call["arguments"]), _NOWHERE) for call in given]
    except (TypeError, KeyError, ValueError):
        raise BadRowError("calls must be a list of calls, each with name and arguments") from None


def _written(calls: Iterable[Call]) -> str:
    # As JSON: 1, 1.0 and True are three values there, and one in Python.
    return json.dumps([[call.name, call.arguments] for call in calls])


def reading_of(calls: Iterable[Call]) -> str:
    """A digest of calls, so that a verdict tells which reading it is about."""
    return blake2b(_written(calls).encode(), digest_size=6).hexdigest()


def _sample(line: Line, id_: Id, text: str, result: Recovery, allowance: Allowance) -> dict[str, Any]:
    """The row of an answer to be read by a person; its verdict is still to be given."""
    return {
        "id": id_,
        "allowance": allowance.value,
        "reading": reading_of(result.calls),
        "verdict": None,
        "by": None,
        "file": line.file,
        "line": line.number,
        "used": sorted(result.used),
        "text": text,
        "calls": [
            {"name": call.name, "written": call.written, "arguments": call.arguments, "span": list(call.span)}
            for call in result.calls
        ],
    }


def _why(text: str, result: Recovery, *, is_own: bool) -> str:
    call = result.calls[0]
    line = text.count("\n", 0, call.span.start) + 1
    kind = "a model's own whole call" if is_own else "text"
    return f"{kind}, read as {call.written}(…) on line {line}, by {' + '.join(sorted(result.used)) or 'strict'}"


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
