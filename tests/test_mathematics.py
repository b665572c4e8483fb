"""Mathematics is never a call. What it is, mathematics.py writes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given

from recovery import CallEvent, Policy, Stream, recover
from tests.mathematics import CALLS, expressions, mathematics
from tests.strategies import TOOLS, examples

LENIENT = Policy.lenient()


@pytest.mark.parametrize("call", CALLS)
def test_each_call_of_it_is_one_when_it_stands_alone(call: str) -> None:
    assert len(recover(call, TOOLS, policy=LENIENT).calls) == 1


def test_no_expression_is_a_call() -> None:
    seen: Counter[str] = Counter()

    @examples(2000)
    @given(mathematics)
    def is_none(text: str) -> None:
        result = recover(text, TOOLS, policy=LENIENT)
        seen[result.status] += 1
        assert result.calls == ()

    is_none()
    # Most of it looks so much like calls that there is a reason to tell.
    assert seen["refused"] > 0.4 * sum(seen.values()), seen


@examples(300)
@given(expressions)
def test_no_operand_goes_out_early(text: str) -> None:
    """Not even where calls go out one by one; before a comma they do, whatever becomes of what is behind it."""
    assume("," not in text)
    stream = Stream(TOOLS, policy=Policy.strict(), commit="call")
    events = [event for character in text for event in stream.feed(character)] + stream.close()
    assert not any(isinstance(event, CallEvent) for event in events)
