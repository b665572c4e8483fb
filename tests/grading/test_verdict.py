"""The decision rule: each verdict from a run that was made to give it, and the runs that give none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from recovery import grading
from recovery.grading.advice import advise
from recovery.grading.cell import Cell, Grade, matrix_of
from recovery.grading.outcome import OUTCOMES, Detail, Outcome, Ungraded
from recovery.grading.semantic import Verdict as SaidOfArguments
from recovery.grading.statistics.arrays import Ints
from recovery.grading.tables import FAILURES
from recovery.grading.verdict import Details, Kind, Verdict, decide, details_of
from tests.grading.runs import draw, fixture_two, matrix

NO_CALL, SPURIOUS, WRONG_TOOL, INVALID, WRONG, CORRECT = range(6)


def shifted(rates: Sequence[float], cases: int = 60, repeats: int = 3, bucket: int = NO_CALL, seed: int = 0) -> Ints:
    """(models, cases, repeats): by model this share of `bucket`, case by case from sure to seldom, else correct."""
    rng = np.random.default_rng(seed)
    hard = np.linspace(0, 2, cases)
    share = np.clip(np.asarray(rates)[:, None] * hard, 0, 1)
    return np.where(rng.random((len(rates), cases, repeats)) < share[:, :, None], bucket, CORRECT)


def numbers_of(verdict: Verdict) -> list[float | None]:
    assert verdict.numbers is not None
    return list(verdict.numbers.model_dump().values())


def test_it_varies() -> None:
    verdict = decide(matrix(shifted((0.05, 0.4, 0.2))))
    assert (verdict.kind, verdict.bucket) == (Kind.VARIES, Outcome.NO_CALL)
    assert verdict.numbers is not None
    lead, far, floor, p, p_equal = numbers_of(verdict)
    assert None not in (lead, far, floor, p, p_equal)
    assert far is not None and floor is not None and p is not None  # noqa: PT018 (for the types)
    assert far > floor
    assert p == 1e-4
    assert verdict.findings[0].furthest == ("B", "A")
    assert verdict.sentence.startswith("no_call is the largest failure (")
    assert "the only failure seen). It varies by model: B and A lie" in verdict.sentence
    assert verdict.advice[0].startswith("It varies by model: choose the model.")
    assert verdict.warnings == verdict.reasons == ()


def test_it_is_equal() -> None:
    verdict = decide(matrix(shifted((0.2, 0.2), cases=300)))
    assert (verdict.kind, verdict.bucket) == (Kind.EQUAL, Outcome.NO_CALL)
    assert "It is the same over the models: " in verdict.sentence
    assert verdict.advice[0].startswith("It is the same over the models: edit the tool's description")


def test_a_difference_smaller_than_the_margin_is_none_to_choose_by() -> None:
    outcomes = shifted((0.2, 0.2), cases=600, repeats=10)
    outcomes[1, ::20] = NO_CALL
    verdict = decide(matrix(outcomes))
    assert verdict.numbers is not None
    assert verdict.numbers.p_varies is not None
    assert verdict.numbers.p_varies < 0.01
    assert verdict.kind is Kind.EQUAL
    assert decide(matrix(outcomes), margin=0.02).kind is Kind.VARIES


def test_it_is_not_decided_and_says_what_would_decide_it() -> None:
    verdict = decide(matrix(shifted((0.25, 0.3), cases=24)))
    assert (verdict.kind, verdict.bucket) == (Kind.UNDECIDED, Outcome.NO_CALL)
    finding = verdict.findings[0]
    assert finding.cases_for_margin is not None
    assert finding.cases_for_margin > 24
    assert finding.visible is not None
    assert finding.visible > 0.10
    assert f"To separate these you need n≈{finding.cases_for_margin} cases at K=3" in verdict.sentence
    assert verdict.advice == ()
    # That many cases see it, by the same sums.
    assert finding.visible * np.sqrt(24 / finding.cases_for_margin) == pytest.approx(0.10, rel=0.05)


def test_a_gap_of_two_points_is_noise() -> None:
    outcomes = shifted((0.3, 0.3), cases=50)
    outcomes[1, ::17, 0] = NO_CALL
    verdict = decide(matrix(outcomes))
    assert verdict.kind is Kind.UNDECIDED
    assert ": noise (p = " in verdict.sentence
    assert "; this run sees " in verdict.sentence


def test_what_is_above_the_floor_and_not_shown_for_other_cases() -> None:
    # Two cases of forty go the other way every time: no rerun noise, and two cases.
    outcomes = shifted((0.0, 0.0), cases=40)
    outcomes[:, :9] = NO_CALL
    outcomes[0, 30:32] = NO_CALL
    verdict = decide(matrix(outcomes))
    assert verdict.kind is Kind.UNDECIDED
    assert "above a rerun floor of 0.0 points: there on these cases, not shown for others (p = 0.5)" in verdict.sentence


def test_no_failure_leads() -> None:
    outcomes = shifted((0.25, 0.25), cases=60)
    other = shifted((0.25, 0.25), cases=60, bucket=WRONG_TOOL, seed=1)[:, ::-1]
    verdict = decide(matrix(np.where(outcomes == CORRECT, other, outcomes)))
    assert (verdict.kind, verdict.bucket, verdict.numbers, verdict.advice) == (Kind.MIXED, None, None, ())
    assert {finding.bucket for finding in verdict.findings} == {Outcome.NO_CALL, Outcome.WRONG_TOOL}
    assert all(finding.kind is not Kind.MIXED for finding in verdict.findings)
    assert verdict.sentence.startswith("No failure is shown to be the largest (")


def test_in_a_mixed_run_one_failure_may_vary() -> None:
    outcomes = shifted((0.02, 0.48), cases=80)
    other = shifted((0.25, 0.25), cases=80, bucket=WRONG_TOOL, seed=1)[:, ::-1]
    verdict = decide(matrix(np.where(outcomes == CORRECT, other, outcomes)))
    assert verdict.kind is Kind.MIXED
    assert {finding.bucket: finding.kind for finding in verdict.findings}[Outcome.NO_CALL] is Kind.VARIES


def test_no_failure_at_all() -> None:
    verdict = decide(matrix(np.full((2, 30, 3), CORRECT)))
    assert (verdict.kind, verdict.bucket, verdict.findings) == (Kind.NO_FAILURE, None, ())
    # Zero of thirty cases, by Wilson and t of 29 degrees of freedom.
    assert verdict.sentence == "No failure was seen; the true rates may reach 12.2%."


def test_the_lead_of_the_only_failure_is_a_bound_too() -> None:
    outcomes = np.full((2, 20, 3), CORRECT)
    outcomes[:, 0] = NO_CALL
    one = decide(matrix(outcomes))
    assert "no_call is the largest failure (5.0% of all answers, the only failure seen)" in one.sentence
    # Without that case there would be none.
    assert one.numbers is not None
    assert one.numbers.lead == 0
    outcomes[:, :10] = NO_CALL
    half = decide(matrix(outcomes)).numbers
    assert half is not None
    assert half.lead is not None
    assert 0.2 < half.lead < 0.35


def test_one_model_can_lead_and_cannot_vary() -> None:
    verdict = decide(matrix(shifted((0.3,))))
    assert (verdict.kind, verdict.bucket) == (Kind.UNDECIDED, Outcome.NO_CALL)
    assert verdict.sentence.endswith("takes a second model with graded answers to the same cases.")


def test_with_one_repeat_the_floor_is_unknown_and_nothing_varies() -> None:
    verdict = decide(matrix(shifted((0.05, 0.6), repeats=1)))
    assert verdict.kind is Kind.UNDECIDED
    assert "an unknown rerun floor" in verdict.sentence
    assert "not estimable" in verdict.sentence
    assert any("repeats=1" in warning for warning in verdict.warnings)
    assert {floor.mean for floor in verdict.floors} == {None}


@pytest.mark.parametrize("lost", [6, 7])
def test_too_much_ungraded_is_no_run(lost: int) -> None:
    # tau2-bench#493: one success and the rest errors were 100 %; SWE-bench_Pro-os#78: 4.9 % were failures.
    outcomes = shifted((0.05, 0.4), cases=40, repeats=3)
    outcomes[1].flat[:lost] = -1
    verdict = decide(matrix(outcomes))
    assert verdict.ungraded == {"A": 0, "B": lost}
    if lost == 6:
        assert verdict.kind is Kind.VARIES
        return
    assert (verdict.kind, verdict.advice, verdict.findings) == (Kind.INVALID_RUN, (), ())
    assert verdict.reasons == ("7 of the 120 cells of B are ungraded, more than 5%",)
    assert verdict.sentence == f"No verdict: {verdict.reasons[0]}."


def test_errors_do_not_leave_the_denominator_in_silence() -> None:
    # inspect_ai#3707, #2914, #4286, #4412
    outcomes = np.full((1, 10, 10), CORRECT)
    outcomes[0, 8:] = -1
    verdict = decide(matrix(outcomes))
    assert verdict.kind is Kind.INVALID_RUN
    right = next(rate for rate in verdict.rates if rate.model == "A" and rate.bucket is Outcome.CORRECT)
    assert (right.hits, right.graded, right.cases) == (80, 80, 8)
    assert verdict.ungraded == {"A": 20}


def test_cells_that_are_missing_are_ungraded_and_which_repeat_is_lost_is_all_one() -> None:
    # olmo-eval#338: an incomplete inventory was accepted. inspect PR#3911: the result depended on the order of epochs.
    cells = [
        Cell(case_id=f"c{case}", model="A", repeat=repeat, grade=Grade(outcome=Outcome.CORRECT))
        for case in range(20)
        for repeat in range(3)
        if case or repeat
    ]
    cases = [(f"c{case}", f"c{case}", True) for case in range(20)]
    verdict = decide(matrix_of(cells, ["A"], cases, 3))
    assert verdict.ungraded == {"A": 1}
    assert decide(matrix_of(cells, ["A", "B"], cases, 3)).kind is Kind.INVALID_RUN
    outcomes = shifted((0.1, 0.3))
    first, last = outcomes.copy(), outcomes[:, :, [2, 1, 0]]
    first[0, :5, 0] = last[0, :5, 2] = -1
    assert decide(matrix(first)).pairs == decide(matrix(last)).pairs


def test_two_cells_of_one_place_are_no_matrix() -> None:
    # olmo-eval#338: duplicate and stale files gave rates above 1.
    cells = [Cell(case_id="c", model="A", repeat=0, grade=Grade(outcome=found)) for found in OUTCOMES[-2:]]
    with pytest.raises(ValueError, match="two cells of model 'A', case 'c', repeat 0"):
        matrix_of(cells, ["A"], [("c", "c", True)], 1)


def test_nothing_graded_is_no_run() -> None:
    verdict = decide(matrix(np.full((2, 3, 2), -1)))
    assert verdict.kind is Kind.INVALID_RUN
    assert len(verdict.reasons) == 2
    assert verdict.pairs == ()
    assert all(rate.estimate is None for rate in verdict.rates)
    assert decide(matrix(np.zeros((2, 3, 0), dtype=np.int64))).kind is Kind.INVALID_RUN


def test_models_that_were_shown_other_tools_are_not_compared() -> None:
    run = matrix(shifted((0.05, 0.4)))
    assert decide(run, stimuli={"A": "1f", "B": "1f"}).kind is Kind.VARIES
    verdict = decide(run, stimuli={"A": "1f", "B": "2e"})
    assert verdict.kind is Kind.INVALID_RUN
    assert "A 1f, B 2e" in verdict.sentence
    assert decide(run, stimuli={"A": "1f"}).kind is Kind.INVALID_RUN


def test_a_run_that_does_not_stand_still_is_none() -> None:
    outcomes = shifted((0.1, 0.1), cases=60, repeats=4)
    outcomes[1, ::2, 3] = NO_CALL
    verdict = decide(matrix(outcomes))
    assert verdict.kind is Kind.INVALID_RUN
    assert "the passes of B differ in no_call by more than chance (Cochran's Q " in verdict.sentence
    assert not any(" of A differ" in reason for reason in verdict.reasons)


def test_repeats_that_are_all_alike_are_suspicious() -> None:
    outcomes = shifted((0.3, 0.3))
    outcomes[0] = outcomes[0, :, :1]
    verdict = decide(matrix(outcomes))
    assert verdict.kind is not Kind.INVALID_RUN
    assert verdict.warnings == ("the repeats of A are identical on every case: do they come from a cache?",)


def test_passes_that_are_too_alike_are_suspicious() -> None:
    outcomes = np.full((1, 60, 3), CORRECT)
    outcomes[0, np.arange(60), np.arange(60) % 3] = NO_CALL
    verdict = decide(matrix(outcomes))
    assert any("more alike in no_call than chance lets them" in warning for warning in verdict.warnings)


def test_each_bucket_has_its_own_cases() -> None:
    outcomes = np.full((1, 10, 2), CORRECT)
    outcomes[0, 0], outcomes[0, 9] = SPURIOUS, NO_CALL
    rates = {rate.bucket: rate for rate in decide(matrix(outcomes, [False] * 2 + [True] * 8)).rates if rate.model}
    assert (rates[Outcome.SPURIOUS_CALL].estimate, rates[Outcome.SPURIOUS_CALL].cases) == (0.5, 2)
    assert (rates[Outcome.NO_CALL].estimate, rates[Outcome.NO_CALL].cases) == (1 / 8, 8)
    assert (rates[Outcome.CORRECT].estimate, rates[Outcome.CORRECT].cases) == (0.8, 10)


def test_a_bucket_without_cases_is_not_applicable() -> None:
    # deepeval#2242, #2968: 1.0 or 0.0 for nothing.
    verdict = decide(matrix(shifted((0.1, 0.2))))
    none = [rate for rate in verdict.rates if rate.bucket is Outcome.SPURIOUS_CALL]
    assert {(rate.estimate, rate.low, rate.high, rate.graded) for rate in none} == {(None, None, None, 0)}
    assert not any(pair.bucket is Outcome.SPURIOUS_CALL for pair in verdict.pairs)
    # Never seen, as opposed to not applicable: an upper bound, and no part of the family.
    never = next(rate for rate in verdict.rates if rate.bucket is Outcome.INVALID_ARGS)
    assert (never.estimate, never.low) == (0, 0)
    assert never.high is not None
    assert never.high > 0
    pair = next(pair for pair in verdict.pairs if pair.bucket is Outcome.INVALID_ARGS)
    assert pair.p is None
    assert pair.identical_bound is not None


@pytest.mark.parametrize(("outcome", "expects"), [(SPURIOUS, True), (NO_CALL, False), (WRONG, False)])
def test_an_outcome_that_its_case_cannot_have_is_an_error(outcome: int, expects: bool) -> None:
    outcomes = np.full((2, 3, 2), CORRECT)
    outcomes[1, 2, 0] = outcome
    with pytest.raises(ValueError, match=f"model 'B', case 'c2': {OUTCOMES[outcome]} is no outcome of a case"):
        decide(matrix(outcomes, [True, True, expects]))


def test_the_numbers_of_fixture_two() -> None:
    verdict = decide(matrix(fixture_two()), margin=0.20)
    pairs = {pair.bucket: pair for pair in verdict.pairs}
    assert [pairs[bucket].p for bucket in OUTCOMES if bucket in pairs] == [1.0, 0.6875, 1.0, 1.0, 0.734375]
    assert pairs[Outcome.NO_CALL].p_equal == pytest.approx(0.0848, abs=5e-5)
    assert not pairs[Outcome.NO_CALL].equal
    assert verdict.kind is Kind.MIXED
    rates = {(rate.model, rate.bucket): rate for rate in verdict.rates}
    assert rates["A", Outcome.NO_CALL].effective == pytest.approx(15.632, abs=5e-4)
    assert rates[None, Outcome.NO_CALL].hits == 18
    covariance = verdict.covariances["A"]
    assert covariance is not None
    assert covariance[0][0] == pytest.approx(0.109521**2, rel=1e-5)


def test_families_of_cases_count_as_one() -> None:
    # Every case five times over: as sure as twelve cases, however many rows there are.
    once = shifted((0.1, 0.6), cases=12)
    five = np.repeat(once, 5, axis=1)
    alone = decide(matrix(once))
    together = decide(matrix(five, clusters=[f"t{case // 5}" for case in range(60)]))
    assert numbers_of(together)[3] == numbers_of(alone)[3]
    apart, before = (next(p for p in v.pairs if p.bucket is Outcome.NO_CALL) for v in (together, alone))
    assert apart.error == pytest.approx(before.error)
    assert numbers_of(decide(matrix(five)))[3] != numbers_of(alone)[3]


def test_more_pairs_are_more_chances_of_a_false_finding() -> None:
    outcomes = shifted((0.1, 0.5, 0.3), cases=12)
    two, three = decide(matrix(outcomes[:2])), decide(matrix(outcomes))
    alone, among = (next(p for p in v.pairs if (p.a, p.b, p.bucket) == ("A", "B", OUTCOMES[0])) for v in (two, three))
    assert alone.p is not None
    assert among.p == pytest.approx(3 * alone.p)
    # And a smaller α takes more cases.
    assert among.visible is not None
    assert alone.visible is not None
    assert among.visible > alone.visible


def test_with_a_control_the_others_are_compared_with_it_alone() -> None:
    run = matrix(shifted((0.1, 0.3, 0.5, 0.2)))
    verdict = decide(run, control="B")
    assert {(pair.a, pair.b) for pair in verdict.pairs} == {("A", "B"), ("C", "B"), ("D", "B")}
    assert verdict.control == "B"
    assert len({(pair.a, pair.b) for pair in decide(run).pairs}) == 6
    with pytest.raises(ValueError, match="the control 'Z' is none of the models A, B, C, D"):
        decide(run, control="Z")


def test_cases_that_flip_and_cases_that_all_fail_are_listed() -> None:
    outcomes = np.full((2, 20, 3), CORRECT)
    outcomes[:, 4] = WRONG
    outcomes[0, 7, 1] = NO_CALL
    verdict = decide(matrix(outcomes))
    assert [(one.case, one.bucket) for one in verdict.unanimous] == [("c4", Outcome.VALID_BUT_WRONG)]
    assert [(one.model, one.case, one.outcomes) for one in verdict.flaky] == [
        ("A", "c7", {Outcome.NO_CALL: 1, Outcome.CORRECT: 2})
    ]


def test_the_same_input_gives_the_same_verdict_and_survives_json() -> None:
    run = draw(np.random.default_rng(0), 40, 3, [(0.2, 0, 0.1, 0.1, 0.1, 0.5)] * 3, spread=2.0)
    verdict = decide(run, resamples=499)
    assert decide(run, resamples=499) == verdict
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


def test_no_field_is_a_score() -> None:
    names = {name.lower() for name in Verdict.model_fields}
    assert not {name for name in names if "score" in name or "accuracy" in name or "rank" in name}


@pytest.mark.parametrize("settings", [{"margin": 0.0}, {"margin": 1.0}, {"alpha": 0.0}, {"alpha": 0.5}])
def test_a_setting_out_of_place_is_an_error(settings: Mapping[str, float]) -> None:
    with pytest.raises(ValueError, match="must lie between"):
        decide(matrix(fixture_two()), **settings)  # type: ignore[arg-type]


def test_a_matrix_that_is_not_in_order_is_an_error() -> None:
    good = matrix(fixture_two())
    faults: list[tuple[dict[str, Any], str]] = [
        ({"models": ("A", "A")}, "names a model twice"),
        ({"cases": ("c0",) * 12}, "names a case twice"),
        ({"clusters": ("c0",)}, "other numbers of cases"),
        ({"clusters": ("",) * 12}, "case 0 has no cluster"),
        ({"outcomes": (good.outcomes[0], good.outcomes[1][:3])}, "model 'B' has 3 rows of outcomes for 12 cases"),
        ({"outcomes": (((6,),) * 12,) * 2}, "an outcome is the position in OUTCOMES"),
        ({"models": (), "outcomes": ()}, "takes a model and a case"),
    ]
    for update, message in faults:
        with pytest.raises(ValueError, match=message):
            decide(good.model_copy(update=update))


def test_details_of_cells() -> None:
    def cell(case: str, outcome: Outcome, detail: Detail | None, *called: str) -> Cell:
        return Cell(case_id=case, model="A", repeat=0, grade=Grade(outcome=outcome, detail=detail, called=called))

    cells = [
        cell("c0", Outcome.NO_CALL, Detail.SILENT),
        cell("c1", Outcome.NO_CALL, Detail.SILENT),
        cell("c2", Outcome.WRONG_TOOL, Detail.OTHER_TOOL, "find"),
        cell("c3", Outcome.CORRECT, None, "search"),
        Cell(case_id="c4", model="A", repeat=0, grade=None, ungraded=Ungraded.TIMEOUT),
    ]
    found = details_of(cells, {"c2": "search", "c3": "search", "c0": None})
    assert found.tallies == {
        "A": {Outcome.NO_CALL: {Detail.SILENT: 2}, Outcome.WRONG_TOOL: {Detail.OTHER_TOOL: 1}},
    }
    assert found.confusions == {("search", "find"): 1}
    assert details_of(cells).confusions == {}


def test_written_and_lost_calls_are_neither_the_models_nor_the_descriptions() -> None:
    run = matrix(shifted((0.05, 0.5)))
    details = Details({"B": {Outcome.NO_CALL: {Detail.WRITTEN_AND_REFUSED: 9, Detail.SILENT: 8}}}, {})
    verdict = decide(run, details=details)
    assert verdict.kind is Kind.VARIES
    assert [advice.split(":")[0] for advice in verdict.advice] == [
        "Mostly calls that were written as text and could not be read"
    ]


def said(bucket: Outcome, varies: bool | None, tally: Mapping[Detail, int] | None = None, **more: Any) -> str:
    return "\n".join(advise(bucket, varies, tally or {}, {("search", "find"): 3}, **more))


def test_of_whom_it_is_the_format_is_said_where_it_is_not_of_all() -> None:
    tallies = {"A": {Detail.WRITTEN_AND_REFUSED: 9, Detail.SILENT: 1}, "B": {Detail.SILENT: 30}}
    details = Details({model: {Outcome.NO_CALL: tally} for model, tally in tallies.items()}, {})
    first, second, *_ = decide(matrix(shifted((0.05, 0.4))), details=details).advice
    assert first.startswith("It varies by model: choose the model.")
    assert second.startswith("Of A, mostly calls that were written as text")


def test_advice() -> None:
    no_call, spurious = Outcome.NO_CALL, Outcome.SPURIOUS_CALL
    assert "choose the model" in said(no_call, varies=True)
    assert "edit the tool's description, and say when to use it" in said(no_call, varies=False)
    assert said(no_call, varies=None) == ""
    assert "token budget" in said(
        no_call, varies=True, tally={Detail.REFUSAL: 2, Detail.TRUNCATED: 2, Detail.SILENT: 3}
    )
    assert "choose the model" in said(no_call, varies=True, tally={Detail.REFUSAL: 2, Detail.SILENT: 3})
    assert "choose the model" in said(spurious, varies=True)
    assert "when not to use it" in said(spurious, varies=False)
    tool = said(Outcome.WRONG_TOOL, varies=True, tally={Detail.OTHER_TOOL: 3})
    assert "'find' was called for 'search' 3 times." in tool
    assert "boundary" in tool
    assert "choose the model" not in tool
    assert "catalogue" in said(Outcome.WRONG_TOOL, varies=False, tally={Detail.UNKNOWN_TOOL: 3})
    invalid = said(Outcome.INVALID_ARGS, varies=None, tally={Detail.COERCIBLE: 3, Detail.MALFORMED: 1})
    assert "a retry loop has a ceiling" in invalid
    assert "3 of 4 would pass lax validation" in invalid
    wrong = said(Outcome.VALID_BUT_WRONG, varies=True, unanimous=2)
    assert wrong.startswith("First look at the cases that every model fails")
    assert "check the values before the tool acts" in wrong
    assert "look at those cases first" in said(no_call, varies=True, unanimous=1)


def test_the_failures_are_all_outcomes_but_correct() -> None:
    assert (*FAILURES, Outcome.CORRECT) == OUTCOMES


def test_both_verdicts_are_there_under_names_of_their_own() -> None:
    assert grading.decide is decide
    assert grading.RunVerdict is Verdict
    assert grading.Verdict is SaidOfArguments
    assert isinstance(grading.decide(matrix(shifted((0.3,)))), grading.RunVerdict)
