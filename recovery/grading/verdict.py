"""The decision rule: which failure is the largest, and does it vary by model? Numbers behind it, never a score.

May import: `grading.advice`, `grading.cell`, `grading.outcome`, `grading.statistics.arrays`,
`grading.statistics.floor`, `grading.statistics.plan`, `grading.statistics.resampling`, `grading.tables`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from .advice import advise
from .cell import Cell, Matrix
from .outcome import OUTCOMES, Detail, Outcome
from .statistics import plan
from .statistics.arrays import Floats, family_sums
from .statistics.floor import flaky, identical_repeats, unanimous
from .statistics.resampling import RESAMPLES, flip_test, label_test, lead
from .tables import (
    FAILURES,
    Counted,
    Design,
    DriftOf,
    FloorOf,
    PairOf,
    RateOf,
    count_matrix,
    covariance_of,
    drifts_of,
    floors_of,
    pair_numbers,
    pairs_of,
    rates_of,
)

# More than this share of a model's cells without an outcome, and there is no verdict.
UNGRADED_SHARE: Final = 0.05
# The drift gate's own part of α, over all models and buckets; what is left is the comparisons'. So the two together
# make a false statement with a chance of α at most.
DRIFT_ALPHA: Final = 0.01
# Repeats more alike than this, before any adjustment, are said to be suspicious.
_ALIKE: Final = 0.001


class Details(NamedTuple):
    """What more the cells say than their outcomes do."""

    # By model and outcome: how many answers have which detail.
    tallies: Mapping[str, Mapping[Outcome, Mapping[Detail, int]]]
    # How often the second tool was called where the first was expected, over all models.
    confusions: Mapping[tuple[str, str], int]


class Kind(StrEnum):
    """What can be said of a run."""

    # Too much is ungraded, the models were shown other tools, or the endpoint did not stand still. No advice.
    INVALID_RUN = "invalid_run"
    NO_FAILURE = "no_failure"
    # No failure is shown to be the largest: each has a finding of its own.
    MIXED = "mixed"
    VARIES = "varies"
    EQUAL = "equal"
    UNDECIDED = "undecided"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Numbers(_Record):
    """The five numbers behind a finding. None: not estimable."""

    # Lower bound of the lead of the bucket over the next, a share of all answers; of the bucket of a verdict alone.
    lead: float | None
    # The largest difference between two models, and what rerun noise alone explains between those two.
    difference: float | None
    floor: float | None
    # That the models do not differ; that two of them differ by the margin or more (the worst pair).
    p_varies: float | None
    p_equal: float | None


class Finding(_Record):
    """What is known of one bucket: `kind` is VARIES, EQUAL or UNDECIDED."""

    bucket: Outcome
    kind: Kind
    numbers: Numbers
    # The two models that lie furthest apart, the higher rate first.
    furthest: tuple[str, str] | None
    # Cases that it takes, with these repeats and a power of 0.80, to see a difference of the margin; of the size seen.
    cases_for_margin: int | None
    cases_for_seen: int | None
    # The smallest difference that this run could see between those two.
    visible: float | None
    sentence: str
    advice: tuple[str, ...]


class FlakyCase(_Record):
    """A case that one model answered with several outcomes."""

    model: str
    case: str
    outcomes: dict[Outcome, int]


class UnanimousFailure(_Record):
    """A case that every model fails in one way in every repeat: perhaps the case is wrong."""

    case: str
    bucket: Outcome


class Verdict(_Record):
    """What a run says, with everything that it rests on. All rates and differences are shares of 1."""

    kind: Kind
    # The failure that leads; None where none does.
    bucket: Outcome | None
    sentence: str
    numbers: Numbers | None
    advice: tuple[str, ...]
    # Of INVALID_RUN: why. Of any: what makes one doubt the run.
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    # Of the bucket that leads; of a MIXED run, of each failure seen, the largest first.
    findings: tuple[Finding, ...]

    models: tuple[str, ...]
    cases: int
    repeats: int
    # Cells without an outcome, by model.
    ungraded: dict[str, int]
    margin: float
    alpha: float
    # What of α is left to the comparisons beside the drift gate.
    alpha_compared: float
    control: str | None
    resamples: int
    seed: int

    rates: tuple[RateOf, ...]
    # By model, 6×6 in the order of OUTCOMES.
    covariances: dict[str, list[list[float]] | None]
    floors: tuple[FloorOf, ...]
    pairs: tuple[PairOf, ...]
    drifts: tuple[DriftOf, ...]
    unanimous: tuple[UnanimousFailure, ...]
    flaky: tuple[FlakyCase, ...]


def details_of(cells: Iterable[Cell], expected: Mapping[str, str | None] | None = None) -> Details:
    """The details of a run's cells, as `decide` takes them; `expected`: by the case's id, the tool that it expects."""
    tallies: dict[str, dict[Outcome, Counter[Detail]]] = {}
    confusions: Counter[tuple[str, str]] = Counter()
    for cell in cells:
        if cell.grade is None:
            continue
        if cell.grade.detail is not None:
            tallies.setdefault(cell.model, {}).setdefault(cell.grade.outcome, Counter())[cell.grade.detail] += 1
        wanted = (expected or {}).get(cell.case_id)
        if cell.grade.outcome is Outcome.WRONG_TOOL and wanted is not None:
            confusions.update((wanted, called) for called in cell.grade.called if called != wanted)
    return Details(tallies, confusions)


def decide(
    matrix: Matrix,
    *,
    margin: float = 0.10,
    alpha: float = 0.05,
    details: Details | None = None,
    stimuli: Mapping[str, str] | None = None,
    control: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Verdict:
    """The verdict on a run.

    `margin`: the difference, a share, below which two models are as good as equal. `alpha`: the chance of a false
    statement that models differ or that the run did not stand still, over all buckets and models. `details`: see
    `details_of`. `stimuli`: by model, the hash of the tools that it was shown. `control`: the model that the others
    are compared with, else every two are. `resamples`, `seed`: of the permutations and of the bootstrap; the same
    input gives the same verdict. Source: the decision rule of the contract of this layer; the tests name their own.

    Raises `ValueError` for a margin or alpha out of place, an unknown control, or a matrix that is not in order.
    """
    if not 0 < margin < 1:
        raise ValueError(f"the margin must lie between 0 and 1, not {margin}")
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha must lie between 0 and 0.5, not {alpha}")
    if control is not None and control not in matrix.models:
        raise ValueError(f"the control {control!r} is none of the models {', '.join(matrix.models)}")
    if not matrix.models or not matrix.cases:
        raise ValueError("a verdict takes a model and a case or more")
    counted = count_matrix(matrix)
    number = None if control is None else matrix.models.index(control)
    compared = alpha - min(DRIFT_ALPHA, alpha / 5)
    run = _Run(
        counted,
        Design(margin, 1 - alpha, alpha, resamples, seed, number),
        compared,
        details or Details({}, {}),
        pairs_of(counted, Design(margin, 1 - alpha, alpha, resamples, seed, number)),
        rates_of(counted, level=1 - alpha),
    )
    drifts = drifts_of(counted)
    reasons = _invalid(counted, drifts, stimuli, alpha - compared)
    said = _Said(Kind.INVALID_RUN, None, "No verdict: " + "; ".join(reasons) + ".", ()) if reasons else run.say()
    leading = said.findings[0] if said.bucket is not None else None
    return Verdict(
        **said._asdict(),
        numbers=None if leading is None else leading.numbers,
        advice=() if leading is None else leading.advice,
        reasons=reasons,
        warnings=_warnings(counted, drifts),
        models=matrix.models,
        cases=len(matrix.cases),
        repeats=counted.repeats,
        ungraded=_ungraded(counted),
        margin=margin,
        alpha=alpha,
        alpha_compared=compared,
        control=control,
        resamples=resamples,
        seed=seed,
        rates=tuple(run.rates),
        covariances={model: covariance_of(counted, place) for place, model in enumerate(matrix.models)},
        floors=tuple(floors_of(counted)),
        pairs=tuple(run.pairs),
        drifts=tuple(drifts),
        unanimous=tuple(
            UnanimousFailure(case=matrix.cases[case], bucket=OUTCOMES[bucket]) for case, bucket in run.unanimous
        ),
        flaky=tuple(
            FlakyCase(
                model=matrix.models[one.model],
                case=matrix.cases[one.case],
                outcomes={OUTCOMES[place]: hits for place, hits in enumerate(one.counts) if hits},
            )
            for one in flaky(counted.counts.hits)
        ),
    )


def _ungraded(counted: Counted) -> dict[str, int]:
    numbers = (counted.outcomes < 0).sum(axis=(1, 2)).tolist()
    return dict(zip(counted.matrix.models, numbers, strict=True))


def _invalid(
    counted: Counted, drifts: Iterable[DriftOf], stimuli: Mapping[str, str] | None, alpha: float
) -> tuple[str, ...]:
    """Why there can be no verdict."""
    reasons = []
    cells = len(counted.matrix.cases) * counted.repeats
    for model, number in _ungraded(counted).items():
        if number > UNGRADED_SHARE * cells or number == cells:
            reasons.append(f"{number} of the {cells} cells of {model} are ungraded, more than {UNGRADED_SHARE:.0%}")
    if stimuli is not None:
        shown = {model: stimuli.get(model) for model in counted.matrix.models}
        if len(set(shown.values())) > 1 or None in shown.values():
            reasons.append(
                "the models were not shown the same tools: " + ", ".join(f"{m} {h}" for m, h in shown.items())
            )
    reasons.extend(
        f"the passes of {one.model} differ in {one.bucket} by more than chance (Cochran's Q {one.q:.1f} over "
        f"{one.passes} passes, p = {one.p:.2g}): it did not stand still"
        for one in drifts
        if one.p < alpha
    )
    return tuple(reasons)


def _warnings(counted: Counted, drifts: Iterable[DriftOf]) -> tuple[str, ...]:
    """What makes one doubt a run that may be valid."""
    said = []
    for m, model in enumerate(counted.matrix.models):
        if identical_repeats(counted.outcomes[m]):
            said.append(f"the repeats of {model} are identical on every case: do they come from a cache?")
    said.extend(
        f"the passes of {one.model} are more alike in {one.bucket} than chance lets them (p = {one.p_alike:.2g}): "
        "does a cache answer?"
        for one in drifts
        if one.p_alike < _ALIKE
    )
    if counted.repeats == 1:
        said.append("the noise floor is not estimable (repeats=1), so no difference can be held against it")
    return tuple(said)


class _Said(NamedTuple):
    kind: Kind
    bucket: Outcome | None
    sentence: str
    findings: tuple[Finding, ...]


class _Run:
    """What the rule looks at."""

    def __init__(
        self,
        counted: Counted,
        design: Design,
        compared: float,
        details: Details,
        pairs: list[PairOf],
        rates: list[RateOf],
    ) -> None:
        self.counted, self.design, self.compared, self.details = counted, design, compared, details
        self.pairs, self.rates = pairs, rates
        failures = [OUTCOMES.index(outcome) for outcome in FAILURES]
        self.unanimous = unanimous(counted.counts.hits, counted.counts.graded, failures)

    def say(self) -> _Said:
        sizes, leads = self._sizes_and_leads()
        seen = sorted((b for b in range(len(FAILURES)) if sizes[b] > 0), key=lambda b: -sizes[b])
        if not seen:
            most = max((rate.high or 0.0) for rate in self.rates if rate.model is None and rate.bucket in FAILURES)
            return _Said(Kind.NO_FAILURE, None, f"No failure was seen; the true rates may reach {most:.1%}.", ())
        first = seen[0]
        if len(seen) > 1 and leads[first] <= 0:
            findings = tuple(self._finding(FAILURES[b], None, self._family_p(FAILURES[b])) for b in seen)
            names = ", ".join(f"{FAILURES[b]} {sizes[b]:.1%}" for b in seen)
            return _Said(Kind.MIXED, None, f"No failure is shown to be the largest ({names}): look at each.", findings)
        lead_of = max(0.0, float(leads[first]))
        bucket = FAILURES[first]
        finding = self._finding(bucket, lead_of, self._label_p(bucket))
        ahead = f", ahead of the next by {_points(lead_of)} or more" if len(seen) > 1 else ", the only failure seen"
        sentence = f"{bucket} is the largest failure ({sizes[first]:.1%} of all answers{ahead}). {finding.sentence}"
        return _Said(finding.kind, bucket, sentence, (finding,))

    def _sizes_and_leads(self) -> tuple[Floats, Floats]:
        """By failure: its share of all answers, each model weighing the same, and the lower bound of its lead.

        Over the cases that every model has graded answers to. All failures are put on the same cases here, whether a
        case can have them or not: shares of different cases could not be compared in size.
        """
        hits, graded = self.counted.counts
        kept = (graded > 0).all(axis=0)
        shares = (hits[:, kept, : len(FAILURES)] / graded[:, kept, None]).mean(axis=0)
        labels = None if self.counted.labels is None else self.counted.labels[kept]
        sizes = shares.mean(axis=0) if kept.any() else np.zeros(len(FAILURES))
        bounds = np.full(len(FAILURES), -1.0)
        seen = np.flatnonzero(sizes > 0)
        if len(seen) == 1:
            # The next is one that was not seen: that others' cases would not show it either is not said.
            seen = np.append(seen, np.flatnonzero(sizes == 0)[0])
        if len(seen):
            sums, weights = family_sums(shares[:, seen].T, labels).T, family_sums(np.ones(len(shares)), labels)
            bounds[seen] = lead(sums, weights, alpha=self.design.alpha, seed=self.design.seed)
        return sizes, bounds

    def _label_p(self, bucket: Outcome) -> float | None:
        """That no model differs from another in this bucket: the only question that is asked, so it needs no family."""
        place = OUTCOMES.index(bucket)
        hits, graded = self.counted.counts
        kept = (graded > 0).all(axis=0) & self.counted.eligible[place]
        labels = None if self.counted.labels is None else self.counted.labels[kept]
        sums = family_sums(hits[:, kept, place] / graded[:, kept], labels)
        sizes = family_sums(np.ones(int(kept.sum())), labels)
        if len(sums) < 2 or len(sizes) < 2:
            return None
        resamples, seed = self.design.resamples, self.design.seed
        if len(sums) == 2:
            own = flip_test((sums[0] - sums[1])[:, None], sizes[:, None], resamples=resamples, seed=seed)
            return float(own[0])
        return label_test(sums, sizes, resamples=resamples, seed=seed)

    def _family_p(self, bucket: Outcome) -> float | None:
        return min((pair.p for pair in self.pairs if pair.bucket is bucket and pair.p is not None), default=None)

    def _finding(self, bucket: Outcome, lead_of: float | None, p: float | None) -> Finding:
        pairs = [pair for pair in self.pairs if pair.bucket is bucket]
        far = max(pairs, key=lambda pair: abs(pair.estimate), default=None)
        p_equal = max((1.0 if pair.p_equal is None else pair.p_equal for pair in pairs), default=None)
        equal = bool(pairs) and all(pair.equal for pair in pairs)
        beyond = far is not None and far.floor is not None and abs(far.estimate) > far.floor
        varies = p is not None and p < self.compared and beyond
        # A difference that is there and is shown to be smaller than the margin is none to choose a model by.
        kind = Kind.EQUAL if equal else Kind.VARIES if varies else Kind.UNDECIDED
        numbers = Numbers(
            lead=lead_of,
            difference=None if far is None else abs(far.estimate),
            floor=None if far is None else far.floor,
            p_varies=p,
            p_equal=p_equal,
        )
        wanted = None if far is None else self._cases(far, self.design.margin)
        for_seen = None if far is None or not far.estimate else self._cases(far, abs(far.estimate))
        tally: Counter[Detail] = Counter()
        for model in self.details.tallies.values():
            tally.update(model.get(bucket, {}))
        return Finding(
            bucket=bucket,
            kind=kind,
            numbers=numbers,
            furthest=None if far is None else (far.a, far.b) if far.estimate >= 0 else (far.b, far.a),
            cases_for_margin=wanted,
            cases_for_seen=for_seen,
            visible=None if far is None else far.visible,
            sentence=self._sentence(kind, numbers, far, wanted, for_seen),
            advice=advise(
                bucket,
                {Kind.VARIES: True, Kind.EQUAL: False}.get(kind),
                tally,
                self.details.confusions,
                unanimous=sum(OUTCOMES[place] is bucket for _, place in self.unanimous),
                unread=self._unread(bucket),
            ),
        )

    def _unread(self, bucket: Outcome) -> list[str]:
        """The models most of whose answers in the bucket are calls that could not be read."""
        own = {model: tallies.get(bucket, {}) for model, tallies in self.details.tallies.items()}
        return [
            model for model, tally in own.items() if 2 * tally.get(Detail.WRITTEN_AND_REFUSED, 0) > sum(tally.values())
        ]

    @property
    def models(self) -> tuple[str, ...]:
        return self.counted.matrix.models

    def _cases(self, pair: PairOf, size: float) -> int | None:
        if pair.spread is None or pair.noises[0] is None or pair.noises[1] is None:
            return None
        wanted = plan.cases_wanted(
            size,
            self.counted.repeats,
            spread=pair.spread,
            noises=(pair.noises[0], pair.noises[1]),
            alpha=self.compared,
            tests=len(pair_numbers(len(self.models), self.design.control)),
        )
        return math.ceil(wanted) or None

    def _sentence(
        self, kind: Kind, numbers: Numbers, far: PairOf | None, wanted: int | None, for_seen: int | None
    ) -> str:
        """What the finding says, with its numbers in points of a hundred."""
        margin, repeats = _points(self.design.margin), self.counted.repeats
        if far is None:
            return "Whether it varies by model takes a second model with graded answers to the same cases."
        higher, lower = (far.a, far.b) if far.estimate >= 0 else (far.b, far.a)
        apart = f"{higher} and {lower} lie {_points(abs(far.estimate))} apart"
        floor = "an unknown rerun floor" if far.floor is None else f"a rerun floor of {_points(far.floor)}"
        p = "no p-value" if numbers.p_varies is None else f"p = {numbers.p_varies:.2g}"
        if kind is Kind.VARIES:
            return f"It varies by model: {apart}, above {floor} ({p})."
        if kind is Kind.EQUAL:
            return f"It is the same over the models: {apart}, and all are shown to lie within {margin} of each other."
        if far.floor is None:
            beside = f"against {floor} ({p})"
        elif abs(far.estimate) <= far.floor:
            beside = f"within {floor}: noise ({p})"
        else:
            beside = f"above {floor}: there on these cases, not shown for others ({p})"
        seen = "" if far.visible is None else f"; this run sees {_points(far.visible)} or more"
        said = f"Undecided: {apart}, {beside}, and less than {margin} is not shown either{seen}."
        if wanted is None:
            return f"{said} How many cases would decide it is not estimable from these."
        said += f" To separate these you need n≈{wanted} cases at K={repeats} for a difference of {margin}"
        return said + ("." if for_seen is None else f", n≈{for_seen} for the one seen.")


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"
