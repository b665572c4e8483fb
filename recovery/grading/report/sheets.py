"""The words and tables of a report, the same on every page: a list of sections, of plain text alone.

Every number passes through `Show`, and so through the block: on an expired report none is to be seen. May import:
`grading.outcome`, `grading.provenance`, `grading.report.model`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

from recovery.grading.outcome import OUTCOMES, Detail, Outcome
from recovery.grading.provenance import Block

from .model import Arrival, CasePart, Difference, ModelPart, Report

# So many rows of a list are shown; the JSON has all.
MOST_ROWS: Final = 60
# So many models have sentences of their own, and so many pairs; and of a long sentence, so many characters stand.
_MOST_MODELS: Final = 8
_MOST_PAIRS: Final = 10
_LONGEST: Final = 600

READINGS: Final = {
    "identical": "identical on these cases",
    "noise": "noise: two runs of the same differ by as much",
    "these cases": "real on these cases, not shown to hold for others",
    "real": "real",
    "floor unknown": "noise floor unknown (one repeat)",
    "no verdict": "no verdict: the run is not valid",
}


_SHORT: Final = {
    "identical": "identical",
    "noise": "noise",
    "these cases": "on these cases",
    "real": "real",
    "floor unknown": "floor unknown",
    "no verdict": "no verdict",
}


class Table(NamedTuple):
    """`head` and `rows` of one length; the columns from `numbers` on, less the last `words`, are set to the right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 1
    words: int = 0

    def is_number(self, column: int) -> bool:
        return self.numbers <= column < len(self.head) - self.words


class Section(NamedTuple):
    """One part of a page. `plot` names the picture that goes with it, where a page has pictures."""

    key: str
    title: str
    lines: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    plot: str = ""


class Show:
    """Numbers as they may be shown, by the block."""

    def __init__(self, block: Block, now: date | None = None) -> None:
        self.block = block
        self.now = now
        self.expired = block.expired(now)

    def count(self, number: int) -> str:
        return self.block.render(number, now=self.now)

    def ratio(self, number: int, of: int) -> str:
        return self.count(number) if self.expired else f"{self.count(number)} of {self.count(of)}"

    def share(self, number: float | None) -> str:
        return self.block.render(None if number is None else float(number), now=self.now)

    def points(self, number: float | None, form: str = "+.1f") -> str:
        # Rounded before: nought has no sign.
        return self.block.render(None if number is None else round(number * 100, 1) + 0.0, form, now=self.now)

    def chance(self, p: float | None) -> str:
        said = self.block.render(p, ".3f", now=self.now)
        return "< 0.001" if said == "0.000" else said

    def plain(self, number: float | None, form: str = ".3f") -> str:
        return self.block.render(number, form, now=self.now)

    def span(self, low: float | None, high: float | None) -> str:
        if self.expired or low is None or high is None:
            return self.share(None)
        return f"{self.share(low)} to {self.share(high)}"

    def points_span(self, low: float | None, high: float | None) -> str:
        if self.expired or low is None or high is None:
            return self.points(None)
        return f"{self.points(low)} to {self.points(high)}"


def word(outcome: str) -> str:
    """A name of the code as a reader sees it."""
    return outcome.replace("_", " ")


def sections(report: Report, now: date | None = None) -> list[Section]:
    """All parts of the page in their order, an empty one left out where its absence says nothing."""
    show = Show(report.block, now)
    made = [
        _verdict(report, show),
        Section("findings", "What stands out", tuple(findings(report, show))),
        _outcomes(report, show),
        _differences(report, show),
        _arrival(report, show),
        _confusion(report, show),
        # A comparison has no lists of cases: an empty one would say that there are none.
        *([_unanimous(report, show), _flaky(report, show)] if report.verdict is not None else []),
        _details(report, show),
        _block(report, show),
    ]
    return [section for section in made if section.lines or section.tables]


def title(report: Report) -> str:
    """The heading of every page."""
    names = [model.name for model in report.models]
    return f"Tool calls of {', '.join(names) if len(names) <= _MOST_MODELS else f'{len(names):,} models'}"


def findings(report: Report, show: Show) -> list[str]:
    """What is largest with each model, then how far apart the models are in CORRECT, a sentence each."""
    if show.expired:
        return [show.block.statement(show.now)]
    said = [line for model in report.models[:_MOST_MODELS] for line in _of_model(report, model, show)]
    if len(report.models) > _MOST_MODELS:
        said.append(f"The tables have the other {show.count(len(report.models) - _MOST_MODELS)} models.")
    if report.verdict is None:
        return [*_changes(report, show), *said]
    gaps = [one for one in report.differences if one.outcome is Outcome.CORRECT]
    if any(one.reading == "no verdict" for one in gaps):
        said.append("Whether models differ is not said: the run is not valid.")
    elif len(gaps) <= _MOST_PAIRS:
        said += [_apart(one, show) for one in gaps]
    else:
        real = show.ratio(sum(one.reading == "real" for one in gaps), len(gaps))
        said.append(f"In correct {real} pairs of models differ by more than noise, and not on these cases alone.")
    if report.unanimous:
        names = ", ".join(part.case for part in report.unanimous[:5])
        more = ", …" if len(report.unanimous) > 5 else ""
        said.append(
            f"No model gets {show.count(len(report.unanimous))} of {show.count(report.cases)} cases right "
            f"({names}{more}): look at what these cases expect before you blame a model."
        )
    return said


def _changes(report: Report, show: Show) -> list[str]:
    """Of a run that is held against a baseline: what differs by more than noise."""
    real = [_change(one, show) for one in report.differences if one.reading == "real"]
    unread = {READINGS[one.reading] for one in report.differences} & {READINGS["no verdict"], READINGS["floor unknown"]}
    return (
        real or sorted(f"Nothing is read of it: {said}." for said in unread) or ["Nothing differs by more than noise."]
    )


def _change(one: Difference, show: Show) -> str:
    more = "more" if one.value > 0 else "less"
    return (
        f"{word(one.outcome)}: {one.one} has {show.points(abs(one.value), '.1f')} points {more} than {one.other}: "
        f"real; the noise floor is {show.points(one.floor, '.1f')} points, adjusted p {show.chance(one.p)}."
    )


def _of_model(report: Report, model: ModelPart, show: Show) -> list[str]:
    failures = [rate for rate in model.rates if rate.outcome is not Outcome.CORRECT and rate.value is not None]
    largest = max(failures, key=lambda rate: rate.value or 0.0, default=None)
    said = []
    if largest is not None and largest.count:
        said.append(
            f"{model.name}: the largest failure is {word(largest.outcome)}, {show.share(largest.value)} "
            f"({show.span(largest.low, largest.high)}){_why(report, model, largest.outcome, show)}"
        )
    came = model.arrival
    if came.written:
        lost = sum(came.lost.values())
        said.append(
            f"{model.name} writes calls as text: {show.count(came.written)} of {show.count(came.answers)} answers that "
            f"should call. {show.count(came.recovered)} are read and graded as calls, {show.count(lost)} are lost"
            f"{_reasons(came.lost, show)}. A gateway that reads none loses all of them."
        )
    return said


def _why(report: Report, model: ModelPart, outcome: Outcome, show: Show) -> str:
    if outcome is Outcome.WRONG_TOOL:
        pairs = [pair for pair in report.confusion if pair.counts.get(model.name)]
        top = max(pairs, key=lambda pair: pair.counts[model.name], default=None)
        if top is not None:
            times = show.count(top.counts[model.name])
            return f"; most often {top.called} where {top.wanted} was wanted ({times} answers)."
    details = model.details.get(outcome, {})
    if not details:
        return "."
    name, count = max(details.items(), key=lambda item: item[1])
    total = sum(details.values())
    return f"; {show.count(count)} of {show.count(total)} such answers are {_DETAILS.get(name, word(name))}."


_DETAILS: Final = {
    str(Detail.SILENT): "silent: nothing in them reads as a call",
    str(Detail.WRITTEN_AND_REFUSED): "calls that are written as text and can't be read",
    str(Detail.REFUSAL): "refusals",
    str(Detail.TRUNCATED): "cut off at the token limit",
}


def _reasons(lost: Mapping[str, int], show: Show) -> str:
    parts = ", ".join(f"{word(name)} {show.count(count)}" for name, count in sorted(lost.items(), key=lambda i: -i[1]))
    return f" ({parts})" if parts else ""


def _apart(one: Difference, show: Show) -> str:
    said = f"{one.one} and {one.other} are {show.points(abs(one.value), '.1f')} points apart in correct"
    floor = f"the noise floor is {show.points(one.floor, '.1f')} points"
    match one.reading:
        case "noise":
            seen = f"a design of this size sees {show.points(one.smallest_visible, '.1f')} points or more"
            return f"{said}: noise. {floor[0].upper()}{floor[1:]}; {seen}."
        case "real":
            return f"{said}: real; {floor}, adjusted p {show.chance(one.p)}."
        case _:
            return f"{said}: {READINGS[one.reading]}; {floor}, adjusted p {show.chance(one.p)}."


def _verdict(report: Report, show: Show) -> Section:
    verdict = report.verdict
    if verdict is None:
        return Section("verdict", "Verdict", ())
    if show.expired:
        return Section("verdict", "Verdict", (show.block.statement(show.now),))
    lines = [_cut(verdict.sentence)]
    if verdict.bucket is None:
        lines += [f"{word(one.bucket)}: {' '.join((one.sentence, *one.advice))}" for one in verdict.findings]
    lines += [*verdict.advice, *(f"Beware: {_cut(warning)}." for warning in verdict.warnings[:_MOST_MODELS])]
    rows = tuple(
        (
            word(one.bucket),
            show.points(one.numbers.lead, ".1f"),
            show.points(one.numbers.difference, ".1f"),
            show.points(one.numbers.floor, ".1f"),
            show.chance(one.numbers.p_varies),
            show.chance(one.numbers.p_equal),
            word(one.kind),
        )
        for one in verdict.findings
    )
    head = ("failure", "lead", "difference", "floor", "p of no difference", "p of the margin", "reading")
    # The margin is a setting, and no result.
    caption = f"The numbers behind it, in points; the margin is {100 * verdict.margin:g}"
    tables = (Table(caption, head, rows, 1, 1),) if rows else ()
    about = f", {word(verdict.bucket)}" if verdict.bucket else ""
    return Section("verdict", f"Verdict: {word(verdict.kind)}{about}", tuple(lines), tables)


def _outcomes(report: Report, show: Show) -> Section:
    rows = []
    for outcome in OUTCOMES:
        for model in report.models:
            rate = model.rate(outcome)
            count = show.ratio(rate.count, rate.of)
            rows.append((word(outcome), model.name, count, show.share(rate.value), show.span(rate.low, rate.high)))
    level = f"{report.level:.0%}"
    line = (
        f"Shares are means over cases; the interval is {level}, clustered by case. Each outcome is counted over the "
        "answers that can have it: a spurious call where none was wanted, correct over all. They are never added up."
    )
    head = ("outcome", "model", "answers", "share", "interval")
    return Section("outcomes", "Outcomes by model", (line,), (Table("Outcomes", head, tuple(rows), 2),), "outcomes")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … (the JSON has the rest)"


def shown_differences(report: Report) -> Sequence[Difference]:
    """Those that a page has room for, in their order; of very many the real ones, then the largest."""
    if len(report.differences) <= MOST_ROWS:
        return report.differences
    return sorted(report.differences, key=lambda one: (one.reading != "real", -abs(one.value)))[:MOST_ROWS]


def _differences(report: Report, show: Show) -> Section:
    if not report.differences:
        return Section("differences", "", ())
    rows = tuple(
        (
            word(one.outcome),
            f"{one.one} − {one.other}",
            show.points(one.value),
            _span(one, show),
            show.points(one.floor, ".1f"),
            "–" if one.p is None else show.chance(one.p),
            "–" if one.smallest_visible is None else show.points(one.smallest_visible, ".1f"),
            # A reading is a result as well.
            show.count(0) if show.expired else _SHORT[one.reading],
        )
        for one in shown_differences(report)
    )
    line = (
        "The same cases, one model less the other, in points. At or below the noise floor a difference is what another "
        "run of the same models would change by itself: noise. Above it, a difference is real where its p, adjusted "
        f"over the whole table, is below {report.alpha:.2g}, and else real on these "
        "cases, and not shown to hold for others. Visible is the smallest difference that a design of this size finds "
        "in four of five runs."
    )
    head = ("outcome", "models", "points", "interval", "floor", "adjusted p", "visible", "reading")
    tables = (Table("Paired differences", head, rows, 2, 1),)
    lines: tuple[str, ...] = (line,)
    if len(rows) < len(report.differences):
        lines += (
            f"The first {len(rows)} are shown, real ones before others and large ones before small; the JSON has all.",
        )
    return Section("differences", "Differences against the noise floor", lines, tables, "differences")


def _span(one: Difference, show: Show) -> str:
    if one.may_differ is None or show.expired:
        return show.points_span(one.low, one.high)
    return f"in up to {show.share(one.may_differ)} of cases"


def _arrival(report: Report, show: Show) -> Section:
    def cells(came: Arrival) -> tuple[str, ...]:
        lost = sum(came.lost.values())
        numbers = (came.native, came.recovered, lost, came.silent, came.refusal, came.truncated)
        return tuple(show.count(number) for number in numbers)

    head = ("model", "made", "written, read", "written, lost", "silent", "refusal", "cut off")
    rows = tuple((model.name, *cells(model.arrival)) for model in report.models)
    tables = [Table("How calls came, in answers to cases that want one", head, rows)]
    if report.lost:
        examples = tuple((one.model, one.reason, one.case, one.text, show.count(one.alike)) for one in report.lost)
        caption = "Written calls that were lost, one example a reason"
        tables.append(Table(caption, ("model", "reason", "case", "answer", "alike"), examples, 4))
    lines = ("A call that is written as text and can't be read is lost on the way, not left out by the model.",)
    return Section("arrival", "Written and lost calls", lines, tuple(tables), "arrival")


def _confusion(report: Report, show: Show) -> Section:
    names = [model.name for model in report.models]
    rows = tuple(
        (pair.wanted, pair.called, *(show.count(pair.counts.get(name, 0)) for name in names))
        for pair in report.confusion[:MOST_ROWS]
    )
    lines: tuple[str, ...] = ("No answer called another tool than the one that was wanted.",)
    if rows:
        lines = ("Answers that called another tool, or one that nobody wanted; by model.", *_left(report.confusion))
    tables = (Table("Wanted and called", ("wanted", "called", *names), rows, 2),) if rows else ()
    return Section("confusion", "Confusion of tools", lines, tables, "confusion" if rows else "")


def _unanimous(report: Report, show: Show) -> Section:
    rows = tuple(
        (part.case, part.query, part.wanted, _few(part.called), _seen(part, show), _few(part.differences))
        for part in report.unanimous[:MOST_ROWS]
    )
    if not rows:
        return Section("unanimous", "Cases that every model fails", ("There is none.",))
    lines: tuple[str, ...] = (
        "Where all of them agree, the case may be what is wrong: its query, or what it expects.",
        *_left(report.unanimous),
    )
    head = ("case", "query", "wanted", "called", "outcomes", "differences")
    return Section("unanimous", "Cases that every model fails", lines, (Table("Failed by all", head, rows, 6),))


def _few(texts: Sequence[str]) -> str:
    return "; ".join(texts[:5]) + ("; …" if len(texts) > 5 else "")


def _seen(part: CasePart, show: Show) -> str:
    names = [name for row in part.outcomes.values() for name in row]
    return ", ".join(f"{word(name)} {show.count(names.count(name))}" for name in dict.fromkeys(names))


def _flaky(report: Report, show: Show) -> Section:
    if report.repeats < 2:
        return Section(
            "flaky",
            "Flaky cases",
            ("With one repeat no case can be seen to be flaky, and the noise floor is unknown.",),
        )
    if not report.flaky:
        return Section("flaky", "Flaky cases", ("No case changes its outcome between the repeats of a model.",))
    names = [model.name for model in report.models]
    rows = tuple(
        (
            part.case,
            *(", ".join(map(word, part.outcomes[name])) if not show.expired else show.count(0) for name in names),
        )
        for part in report.flaky[:MOST_ROWS]
    )
    line = (
        f"{show.ratio(len(report.flaky), report.cases)} cases change their outcome between the repeats "
        "of at least one model."
    )
    lines = (line, *_left(report.flaky))
    tables = (Table("Outcomes by repeat", ("case", *names), rows, 1 + len(names)),)
    return Section("flaky", "Flaky cases", lines, tables, "flaky")


def _left(rows: Sequence[object]) -> tuple[str, ...]:
    return (f"The first {MOST_ROWS} rows are shown; the JSON has all.",) if len(rows) > MOST_ROWS else ()


def _details(report: Report, show: Show) -> Section:
    names = [model.name for model in report.models]
    keys = dict.fromkeys(
        (outcome, detail)
        for outcome in OUTCOMES
        for model in report.models
        for detail in sorted(model.details.get(outcome, {}))
    )
    rows = [
        (
            word(outcome),
            word(detail),
            *(show.count(model.details.get(outcome, {}).get(detail, 0)) for model in report.models),
        )
        for outcome, detail in keys
    ]
    for reason in dict.fromkeys(reason for model in report.models for reason in sorted(model.ungraded)):
        counts = (show.count(model.ungraded.get(reason, 0)) for model in report.models)
        rows.append(("ungraded", word(reason), *counts))
    lines = ("What more is known of the outcomes. Ungraded answers are no outcome: they count for and against nobody.",)
    if not rows:
        return Section("details", "", ())
    return Section("details", "Details", lines, (Table("Details", ("outcome", "detail", *names), tuple(rows), 2),))


def _block(report: Report, show: Show) -> Section:
    rows = tuple(_flat(report.block.model_dump(mode="json", exclude={"result"})))
    lines = (show.block.caption(show.now), f"Void if: {'; '.join(report.block.claim.void_if)}.")
    if show.expired:
        rows = tuple(row for row in rows if row[0] != "claim.sentence")
    return Section("provenance", "Provenance", lines, (Table("Provenance", ("field", "value"), rows, 2),))


def _flat(value: Any, at: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value, 1):
            yield from _flat(item, f"{at} {number}")
    elif value not in (None, [], {}):
        yield at, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
