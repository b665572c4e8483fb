"""What a gateway's configuration may say of recovery, and how a wrong option is told."""

from __future__ import annotations

from typing import Any

import pytest

from recovery import Allowance, Policy
from recovery.gateways.options import Options


def test_every_option_may_be_left_out() -> None:
    assert Options.of({}, "there") == Options(Policy.default(), "answer", False, {}, frozenset())


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("strict", Policy.strict()),
        ("lenient", Policy.lenient()),
        (["fence", "quoted"], Policy([Allowance.FENCE, Allowance.QUOTED])),
        ([], Policy.strict()),
        (Policy.strict(), Policy.strict()),
    ],
)
def test_a_policy(policy: Any, expected: Policy) -> None:
    assert Options.of({"policy": policy}, "there").policy == expected


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([], TypeError, "expected a mapping of options, got list"),
        (
            {"polciy": 1},
            ValueError,
            "there is no option 'polciy'; known are policy, commit, reasoning_open, aliases, never",
        ),
        ({"policy": "loose"}, ValueError, "policy must be one of strict, default, lenient, or a list, not 'loose'"),
        ({"policy": ["fencing"]}, ValueError, "policy: Policy.allow: there is no allowance 'fencing'"),
        ({"policy": 3}, TypeError, "policy: "),
        ({"commit": "now"}, ValueError, "commit must be 'answer' or 'call', not 'now'"),
        ({"commit": []}, ValueError, "commit must be 'answer' or 'call', not []"),
        ({"reasoning_open": 1}, TypeError, "reasoning_open must be true or false, not 1"),
        ({"aliases": ["a"]}, TypeError, "aliases must map original names to offered names, not ['a']"),
        ({"aliases": {"a": 1}}, TypeError, "aliases must map original names to offered names, not {'a': 1}"),
        ({"never": "delete_all"}, TypeError, "never must be a list of names, not 'delete_all'"),
        ({"never": [1]}, TypeError, "never must be a list of names, not [1]"),
        ({"never": 5}, TypeError, "never must be a list of names, not 5"),
    ],
)
def test_a_wrong_option_is_named_with_its_place(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        Options.of(given, "config.yaml")
    assert str(raised.value).startswith(f"config.yaml: {words}")


def test_names_of_tools_that_a_request_does_not_offer_are_for_other_requests() -> None:
    options = Options.of({"aliases": {"Low water": "tide", "Quay": "berth"}, "never": ["sink", "tide"]}, "there")
    toolset = options.toolset(["tide"])
    assert (dict(toolset.aliases), set(toolset.never)) == ({"Low water": "tide"}, {"tide"})
    toolset = options.toolset(["other"])
    assert (dict(toolset.aliases), set(toolset.never)) == ({}, set())
