"""What failed, as a maintainer wants it: small, told in words, and where it is an answer a vector ready to commit.

    python -m fuzz.findings TARGET FILE SECONDS

makes the input smaller in that time and prints a finding as JSON. A process of its own, because an input may hang.
"""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from fuzz.failures import shrink
from fuzz.inputs import LIMITS, Answer
from fuzz.target import Target
from recovery import Allowance, Recovery, recover

HERE: Final = Path(__file__).parent
TARGETS: Final = tuple(sorted(path.stem for path in HERE.glob("fuzz_*.py")))


@dataclass
class Finding:
    """One failure: where its input is, what is wrong, and the vector where the input is an answer."""

    file: str
    problem: str
    input: str
    traceback: str = ""
    vector: str = ""


def load(name: str) -> Target:
    """The target of a module of this folder."""
    target: Target = import_module(f"fuzz.{name}").TARGET
    return target


def describe(name: str, file: Path) -> Finding | None:
    """The finding that the file is, None where the input fails no more. Writes its vector beside it."""
    target, data = load(name), file.read_bytes()
    answer = target.answer(data) if target.answer else None
    shown = repr(data) if answer is None else repr(answer)
    try:
        target.one_input(data)
    except Exception as error:  # noqa: BLE001  # whatever is raised is a finding
        problem = f"{type(error).__name__}: {error}".split("\n", 1)[0]
        finding = Finding(str(file), problem, shown, traceback.format_exc())
    else:
        return None
    if answer is not None and not answer.reasoning_open:
        row = vector(f"{name.replace('_', '-')}-{file.name.rpartition('-')[2]}", answer, f"{name}: {problem}")
        finding.vector = json.dumps(row)
        file.with_suffix(".jsonl").write_text(f"{finding.vector}\n", encoding="utf-8")
    return finding


def vector(name: str, answer: Answer, why: str) -> dict[str, Any]:
    """A case of tests/vectors, which expects what `recover` gives now, or no call where it raises."""
    offer, allow = answer.offer, answer.policy.allow
    presets = {frozenset[Allowance](): "strict", frozenset(Allowance): "lenient"}
    limits = {name: getattr(answer.policy.limits, name) for name in LIMITS}
    try:
        expect = expected(recover(answer.text, answer.toolset, policy=answer.policy))
    except Exception:  # noqa: BLE001  # that it raises is the finding
        expect = {"status": "text", "status_also": ["refused"]}
    return {
        "id": name,
        "kind": name.rpartition("-")[0],
        "why": why[:200],
        "text": answer.text,
        "tools": offer.tools,
        **({"aliases": offer.aliases} if offer.aliases else {}),
        "policy": presets.get(allow, sorted(allow)),
        **({"limits": limits} if limits == LIMITS else {}),
        "expect": expect,
    }


def expected(result: Recovery) -> dict[str, Any]:
    if result.refusal is not None:
        return {"status": "refused", "reason": result.refusal.reason.value, "span": list(result.refusal.span)}
    if not result.calls:
        return {"status": "text"}
    calls = [{"name": call.name, "written": call.written, "arguments": call.arguments} for call in result.calls]
    spans = [list(call.span) for call in result.calls]
    return {"status": "recovered", "calls": calls, "text": result.text, "used": sorted(result.used), "spans": spans}


def main() -> None:
    name, file, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    target = load(name)
    data = file.read_bytes()
    file.write_bytes(shrink(target.one_input, data, target.head, seconds))
    finding = describe(name, file)
    print(json.dumps(None if finding is None else asdict(finding)))


if __name__ == "__main__":
    main()
