"""The cases of tests/vectors, and what of a result is not as a case says. README.md tells the fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recovery import Limits, Policy, Recovery, Refusal, Toolset

VECTORS = Path(__file__).parent / "vectors"


@dataclass(frozen=True)
class Case:
    """One case under one of its policies."""

    row: dict[str, Any]
    written: str | list[str]

    def __str__(self) -> str:
        return f"{self.row['id']}-{self.written if isinstance(self.written, str) else '+'.join(self.written)}"

    @property
    def text(self) -> str:
        text = eval(self.row["text_py"]) if "text_py" in self.row else self.row["text"]
        assert isinstance(text, str)
        return text

    @property
    def toolset(self) -> Toolset:
        return Toolset(self.row["tools"], aliases=self.row.get("aliases"), never=self.row.get("never", ()))

    @property
    def expect(self) -> dict[str, Any]:
        expect: dict[str, Any] = self.row["expect"]
        return expect | {"calls": eval(expect["calls_py"])} if "calls_py" in expect else expect

    @property
    def policy(self) -> Policy:
        limits = Limits(**self.row.get("limits", {}))
        if isinstance(self.written, str):
            return {"strict": Policy.strict, "lenient": Policy.lenient}[self.written](limits)
        return Policy(self.written, limits)

    def faults(self, result: Recovery) -> list[tuple[str, object]]:
        """What is not as the case says: the field, and what came instead."""
        return list(self._faults(result))

    def _faults(self, result: Recovery) -> Iterator[tuple[str, object]]:
        expect = self.expect
        if result.status not in (expect["status"], *(expect.get("status_also") or ())):
            yield "status", result.status
        if result.status != "recovered" and (result.text, result.calls, result.used) != (self.text, (), frozenset()):
            yield "left alone", result
        if expect["status"] == "recovered":
            yield from self._faults_of_calls(result)
        elif result.refusal is not None:
            yield from self._faults_of_refusal(result.refusal)

    def _faults_of_calls(self, result: Recovery) -> Iterator[tuple[str, object]]:
        expect = self.expect
        calls = [(call.name, call.written, call.arguments) for call in result.calls]
        wanted = [(call["name"], call.get("written", call["name"]), call["arguments"]) for call in expect["calls"]]
        # As JSON: 1, 1.0 and True are three values there, and one in Python.
        if json.dumps(calls) != json.dumps(wanted):
            yield "calls", calls
        loose = expect.get("text_ws") and result.text.split() == expect["text"].split()
        if expect["text"] not in (None, result.text) and not loose:
            yield "text", result.text
        if sorted(result.used) != sorted(expect.get("used", result.used)):
            yield "used", result.used
        spans = [list(call.span) for call in result.calls]
        if spans != expect.get("spans", spans):
            yield "spans", spans

    def _faults_of_refusal(self, refusal: Refusal) -> Iterator[tuple[str, object]]:
        expect = self.expect
        if expect.get("reason") not in (None, refusal.reason):
            yield "reason", refusal.reason
        if list(refusal.span) != expect.get("span", list(refusal.span)):
            yield "span", refusal.span
        if sorted(refusal.expected) != sorted(expect.get("expected", refusal.expected)):
            yield "expected", refusal.expected
        if sorted(refusal.allowances) != sorted(expect.get("allowances", refusal.allowances)):
            yield "allowances", refusal.allowances
        if not refusal.explain(self.text).startswith(expect.get("sentence", "line ")):
            yield "sentence", refusal.explain(self.text)


def read(folder: Path) -> list[Case]:
    """Every case of the folder's files, once for each of its policies."""
    # By "\n" alone: `splitlines` would cut at characters that a text may hold.
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").split("\n") if line]
    rows = [json.loads(line) for line in lines]
    return [Case(row, written) for row in rows for written in (row["policy"], *row.get("also_policy", ()))]
