"""Numbers are shown with what stands behind them, expire, and are held against their like alone."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest

pytest.importorskip("pydantic")

from recovery.grading import provenance
from recovery.grading.cell import Cell, Grade
from recovery.grading.outcome import Outcome, Ungraded
from recovery.grading.provenance import (
    Block,
    Claim,
    Metric,
    ModelEntry,
    NotComparableError,
    Result,
    RunSection,
    Scope,
    Stimulus,
    canonical,
    claim_of,
    comparable,
    counts_of,
    digest,
    require_comparable,
)

START = datetime(2026, 1, 5, 12, tzinfo=UTC)


def block(**changes: Any) -> Block:
    sections: dict[str, Any] = {
        "scope": Scope(cases_sha256="c1", n_cases=4, n_call=3, n_no_call=1, n_clusters=4),
        "metric": Metric(grader_sha256="g1", arg_schemas={"f": "s1"}),
        "stimulus": Stimulus(tools_sha256="t1"),
        "models": (ModelEntry(name="m", requested="m-1", returned=("m-1-0101",)),),
        "run": RunSection(started=START, finished=START, planned_repeats=3),
        "result": Result(counts={"m": {"correct": (4, 3, 4)}}),
        "claim": Claim(sentence="So it was.", valid_until=date(2026, 4, 5)),
    }
    return Block(**{**sections, **changes})


def test_a_number_is_shown_until_its_last_day_and_as_expired_from_then_on() -> None:
    shown = block()
    assert shown.render(0.125, now=date(2026, 4, 5)) == "12.5%"
    assert shown.render(0.125, now=date(2026, 4, 6)) == "EXPIRED 2026-04-05"
    assert shown.render(1234, now=date(2026, 4, 6)) == "EXPIRED 2026-04-05"
    assert shown.statement(now=date(2026, 4, 6)) == "EXPIRED 2026-04-05"
    assert "EXPIRED 2026-04-05" in shown.caption(now=date(2026, 4, 6))


def test_the_clock_that_counts_is_today_s(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = block()
    monkeypatch.setattr(provenance, "_today", lambda: date(2026, 4, 5))
    assert (shown.render(0.5), shown.statement()) == ("50.0%", "So it was.")
    monkeypatch.setattr(provenance, "_today", lambda: date(2027, 4, 5))
    assert (shown.render(0.5), shown.expired()) == ("EXPIRED 2026-04-05", True)


@pytest.mark.parametrize(
    ("number", "form", "expected"),
    [
        (1234, None, "1,234"),
        (0.5, None, "50.0%"),
        (0.0, None, "0.0%"),
        (-0.035, "+.1%", "-3.5%"),
        (None, None, "not estimable"),
        (float("nan"), None, "not estimable"),
    ],
)
def test_the_form_of_a_number(number: float | None, form: str | None, expected: str) -> None:
    assert block().render(number, form, now=date(2026, 2, 1)) == expected


def test_the_caption_says_scope_models_definition_and_dates() -> None:
    caption = block().caption(now=date(2026, 2, 1))
    for part in ("4 cases", "c1", "3 repeats", "; m;", "version 1", "2026-01-05", "valid until 2026-04-05"):
        assert part in caption


def test_a_block_reads_back_as_it_was_and_tells_when_it_was_changed() -> None:
    text = block().to_json()
    assert Block.from_json(text) == block()
    changed = text.replace('"correct":[4,3,4]', '"correct":[4,4,4]')
    assert changed != text
    with pytest.raises(ValueError, match="was changed"):
        Block.from_json(changed)
    with pytest.raises(ValueError, match="JSON object"):
        Block.from_json("[]")


def test_the_canonical_form_has_one_spelling() -> None:
    assert canonical({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"\\u00e9"]}'
    assert digest({"a": 1, "b": 2}) == digest(json.loads('{"b": 2, "a": 1}'))
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(float("nan"))


# amd/gaia#3371, Soup#404, elastic/kibana#285723: a stale baseline, of another scenario set or scorer, compared anyway.
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"metric": Metric(grader_sha256="g2", arg_schemas={"f": "s1"})}, ["metric.grader_sha256"]),
        ({"metric": Metric(grader_sha256="g1", arg_schemas={"f": "s2"})}, ["metric.arg_schemas.f"]),
        (
            {"metric": Metric(grader_sha256="g1", arg_schemas={"f": "s1"}, semantic_check="judge")},
            ["metric.semantic_check"],
        ),
        (
            {"stimulus": Stimulus(tools_sha256="t2", system_sha256="x")},
            ["stimulus.system_sha256", "stimulus.tools_sha256"],
        ),
        (
            {"scope": Scope(cases_sha256="c2", n_cases=4, n_call=3, n_no_call=1, n_clusters=4)},
            ["scope.cases_sha256"],
        ),
    ],
)
def test_another_question_is_refused_with_the_fields_that_differ(changes: dict[str, Any], expected: list[str]) -> None:
    assert comparable(block(), block(**changes)) == expected
    with pytest.raises(NotComparableError, match=expected[0]) as refused:
        require_comparable(block(), block(**changes))
    assert list(refused.value.differing) == expected


def test_runs_of_other_models_and_days_are_comparable() -> None:
    other = block(
        models=(ModelEntry(name="n", requested="n"),),
        run=RunSection(started=START.replace(month=2), finished=START, planned_repeats=5),
    )
    assert comparable(block(), other) == []
    require_comparable(block(), other)


def test_what_is_under_study_may_differ_and_nothing_else() -> None:
    edited = block(stimulus=Stimulus(tools_sha256="t2"))
    require_comparable(block(), edited, under_study=["stimulus.tools_sha256"])
    with pytest.raises(NotComparableError, match="the same in both"):
        require_comparable(block(), block(), under_study=["stimulus.tools_sha256"])
    both = block(stimulus=Stimulus(tools_sha256="t2", tool_choice="required"))
    with pytest.raises(NotComparableError, match=r"differ in stimulus\.tool_choice$"):
        require_comparable(block(), both, under_study=["stimulus.tools_sha256"])


def test_the_claim_ends_with_the_first_model_that_is_withdrawn() -> None:
    made = block()
    claim = claim_of(made.scope, made.models, made.run, made.result)
    assert claim.valid_until == date(2026, 4, 5)
    assert "4 cases (3 of which want a call), 3 times each: m: 11 correct." in claim.sentence
    gone = ModelEntry(name="m", requested="m-1", deprecated_on=date(2026, 2, 1))
    assert claim_of(made.scope, [gone], made.run, made.result).valid_until == date(2026, 2, 1)


def test_counts_are_kept_by_model_outcome_and_repeat_with_the_ungraded_apart() -> None:
    cells = [
        Cell(case_id="a", model="m", repeat=0, grade=Grade(outcome=Outcome.CORRECT)),
        Cell(case_id="a", model="m", repeat=1, grade=Grade(outcome=Outcome.NO_CALL)),
        Cell(case_id="b", model="m", repeat=1, grade=None, ungraded=Ungraded.TRANSPORT),
    ]
    counts = counts_of(cells, ["m"], 2)["m"]
    assert {name: row for name, row in counts.items() if any(row)} == {
        "correct": (1, 0),
        "no_call": (0, 1),
        "ungraded": (0, 1),
    }
