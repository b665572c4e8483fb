"""Policies and limits: the presets, and what a caller gets wrong."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from recovery import Allowance, Limits, Policy

FIELDS = ("characters", "depth", "calls", "values", "digits", "name")
# What the default leaves out (README.md tells why), and all else.
LEFT_OUT = {"prose_fence", "prose_list", "prose_lines", "bare_word", "markdown_escape", "wrapper"}
ALL = set(
    "fence prose_fence prose_list prose_lines quoted json positional single_dict bare_word markdown_escape wrapper "
    "unclosed_list separate_lists raw_newline namespace colon leading_zero quote_repair smart_quotes "
    "exact_operator_name marker reasoning".split()
)


def test_the_presets() -> None:
    assert {str(allowance) for allowance in Allowance} == ALL
    assert Policy() == Policy.strict() == Policy(())
    assert Policy.strict().allow == frozenset()
    assert Policy.lenient().allow == ALL
    assert Policy.default().allow == ALL - LEFT_OUT


@pytest.mark.parametrize("preset", [Policy.strict, Policy.default, Policy.lenient])
def test_a_preset_takes_limits(preset: Any) -> None:
    assert preset().limits == Limits()
    assert preset(Limits(calls=3)).limits == Limits(calls=3)
    assert preset(limits=Limits(calls=3)).allow == preset().allow


def test_a_policy_takes_names_and_allowances() -> None:
    policy = Policy(["fence", Allowance.JSON, "fence"], Limits(depth=2))
    assert policy.allow == {Allowance.FENCE, Allowance.JSON}
    assert all(type(allowance) is Allowance for allowance in policy.allow)
    assert policy.limits.depth == 2
    assert pickle.loads(pickle.dumps(policy)) == policy


def test_the_default_is_what_holds_where_no_policy_is_given() -> None:
    assert Policy.of(None) == Policy.default()
    policy = Policy(["json"])
    assert Policy.of(policy) is policy


@pytest.mark.parametrize(
    ("allow", "error", "message"),
    [
        ("fence", TypeError, "Policy.allow must be a collection of allowances, not str"),
        (3, TypeError, "Policy.allow must be a collection of allowances, not int"),
        (["fence", "fences"], ValueError, "there is no allowance 'fences'; known are fence, prose_fence, prose_list, "),
        ([3], ValueError, "there is no allowance 3; "),
    ],
)
def test_what_is_no_set_of_allowances(allow: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}|: {message}"):
        Policy(allow)


def test_what_is_no_policy_and_no_limits() -> None:
    with pytest.raises(TypeError, match=r"^policy must be a Policy, not str$"):
        Policy.of("strict")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^Policy.limits must be a Limits, not dict$"):
        Policy((), {"depth": 2})  # type: ignore[arg-type]


def test_the_limits_by_default() -> None:
    limits = Limits()
    assert [getattr(limits, field) for field in FIELDS] == [16 * 1024 * 1024, 100, 1000, 200_000, 4300, 256]
    assert Limits(1, 2, 3, 4, 5, 6) == Limits(characters=1, depth=2, calls=3, values=4, digits=5, name=6)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1, ValueError), ("1", TypeError), (True, TypeError)])
def test_a_limit_is_a_positive_whole_number(field: str, value: Any, error: type[Exception]) -> None:
    assert getattr(Limits(**{field: 1}), field) == 1
    with pytest.raises(error, match=f"^Limits.{field} must be "):
        Limits(**{field: value})


@pytest.mark.parametrize(("field", "most"), [("depth", 300), ("digits", 4300)])
def test_two_limits_have_a_bound(field: str, most: int) -> None:
    assert getattr(Limits(**{field: most}), field) == most
    with pytest.raises(ValueError, match=f"^Limits.{field} must be at most {most}, .*, not {most + 1}$"):
        Limits(**{field: most + 1})
