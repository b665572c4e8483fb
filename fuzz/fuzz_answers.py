"""Invariant: whatever the text, the tools and the policy, `recover` returns, and all holds that holds of every reading.

tests/invariants.py says what that is.
"""

from __future__ import annotations

from fuzz.inputs import HEAD, answer_seeds, read_answer
from fuzz.target import Target, run
from recovery import Recovery, recover


def one_input(data: bytes) -> None:
    answer = read_answer(data)
    if answer is not None:
        check(answer.text, answer.toolset, answer.policy)


def check(text: str, toolset: object, policy: object) -> Recovery:
    result = recover(text, toolset, policy=policy)
    assert result.used <= policy.allow
    assert (result.status == "recovered") == bool(result.calls)
    if result.status != "recovered":
        assert (result.text, result.calls, result.used) == (text, (), frozenset())
    if result.refusal is not None:
        assert 0 <= result.refusal.span.start <= result.refusal.span.end <= len(text)
    return result


TARGET = Target(one_input, answer_seeds, answer=read_answer, head=HEAD)

if __name__ == "__main__":
    run(TARGET)
