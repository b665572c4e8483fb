"""Invariant: whatever the text, the tools and the policy, `recover` returns, and all holds that holds of every answer.

tests/invariants.py says what that is.
"""

from __future__ import annotations

from typing import Final

from fuzz.inputs import HEAD, answer_seeds, read_answer
from fuzz.target import Target, run
from recovery import Policy
from tests import invariants

# What a tool is renamed to, where it is offered: as many letters, and words that no answer holds.
RENAMED: Final = {"get_weather": "kud_zinquok", "sift": "quzk", "heat": "kovv"}


def one_input(data: bytes) -> None:
    answer = read_answer(data)
    if answer is None:
        return
    text, toolset, policy = answer.text, answer.toolset, answer.policy
    invariants.check(text, toolset, policy, reasoning_open=answer.reasoning_open)
    # Without its limits: these change what a larger policy finds.
    invariants.check_policies(text, toolset, [Policy(policy.allow)])
    invariants.check_gate(text, toolset, policy)
    if toolset.tools:
        invariants.check_unrelated(text, toolset, policy)
    for old, new in RENAMED.items():
        if old in toolset and new not in text:
            invariants.check_renamed(text, toolset, policy, old, new)


TARGET = Target(one_input, answer_seeds, answer=read_answer, head=HEAD)

if __name__ == "__main__":
    run(TARGET)
