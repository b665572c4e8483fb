"""The plots of a report as inline SVG: shapes and words, no script, colours by the page's own style.

Every plot has a title and a description, and the page has a table beside it. May import: `grading.outcome`,
`grading.report.escape`, `grading.report.model`, `grading.report.sheets`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from recovery.grading.outcome import OUTCOMES, Outcome

from .escape import to_html
from .model import Report
from .sheets import Show, shown_differences, word

_WIDTH: Final = 880
# The words to the left of an axis have at least and at most so much.
_LEFT: Final = 190
_MOST_LEFT: Final = 360
_RIGHT: Final = 190
# Of a row of text, in pixels, and of a character of it at the page's size.
_ROW: Final = 22
_CHARACTER: Final = 7.2
MOST_CASES: Final = 40

LETTERS: Final = {
    Outcome.NO_CALL: "N",
    Outcome.SPURIOUS_CALL: "S",
    Outcome.WRONG_TOOL: "W",
    Outcome.INVALID_ARGS: "I",
    Outcome.VALID_BUT_WRONG: "V",
    Outcome.CORRECT: "C",
}
# Of the marks that are no circle, around their middle: square, triangle, diamond.
_CORNERS: Final[tuple[tuple[tuple[float, float], ...], ...]] = (
    ((-5, -5), (5, -5), (5, 5), (-5, 5)),
    ((0, -6.5), (6, 5), (-6, 5)),
    ((0, -7), (6, 0), (0, 7), (-6, 0)),
)
# How a call came, in the order of the bar, with the class that colours it.
_ARRIVALS: Final = (
    ("made", "a0"),
    ("written, read", "a1"),
    ("written, lost", "a2"),
    ("silent", "a3"),
    ("refusal", "a4"),
    ("cut off", "a5"),
)


def plot(name: str, report: Report, show: Show) -> str:
    """The picture of this name. Raises `KeyError` for a name that no section has."""
    return {
        "outcomes": _outcomes,
        "differences": _differences,
        "arrival": _arrival,
        "confusion": _confusion,
        "flaky": _flaky,
    }[name](report, show)


def _svg(name: str, title: str, description: str, height: float, parts: Iterable[str], width: float = _WIDTH) -> str:
    return (
        f'<svg role="img" aria-labelledby="{name}-title {name}-description" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{name}-title">{to_html(title)}</title>'
        f'<desc id="{name}-description">{to_html(description)}</desc>{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{to_html(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" class="{kind}"/>'


def _mark(x: float, y: float, at: int, kind: str) -> str:
    """A mark whose shape tells the model as its colour does."""
    if at % 4 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" class="{kind}"/>'
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in _CORNERS[at % 4 - 1])
    return f'<polygon points="{points}" class="{kind}"/>'


def _fit(text: str, width: float) -> str:
    """The text in so many pixels; of one that is too long both ends, which tell versions from one another."""
    most = int(width / _CHARACTER)
    if len(text) <= most:
        return text
    end = max((most - 1) // 2, 1)
    return f"{text[: max(most - 1 - end, 1)]}…{text[-end:]}"


def _room(names: Iterable[str], beside: float, least: float, most: float = _MOST_LEFT) -> float:
    """How wide the column of these names is, with `beside` pixels for what stands next to them."""
    longest = max((len(name) for name in names), default=0)
    return min(max(beside + longest * _CHARACTER, least), most)


def _outcomes(report: Report, show: Show) -> str:
    """For each outcome a row a model: the share and its interval."""
    left = _room([model.name for model in report.models], 140, _LEFT)
    wide = _WIDTH - left - _RIGHT
    top, group = 26, _ROW * len(report.models) + 14
    height = top + group * len(OUTCOMES) + 4

    def x(share: float) -> float:
        return left + share * wide

    parts = []
    for tick in (0, 25, 50, 75, 100):
        parts += [_line(x(tick / 100), top, x(tick / 100), height - 8, "grid")]
        parts += [_text(x(tick / 100), 16, f"{tick}%", "tick", "middle")]
    for row, outcome in enumerate(OUTCOMES):
        y = top + row * group
        parts += [_line(0, y, _WIDTH, y, "rule"), _text(0, y + 19, word(outcome), "strong")]
        for at, model in enumerate(report.models):
            rate, middle = model.rate(outcome), y + 14 + at * _ROW
            parts.append(_text(left - 12, middle + 4, _fit(model.name, left - 130), "", "end"))
            if rate.value is None or rate.low is None or rate.high is None:
                parts.append(_text(left + 4, middle + 4, "no such cases", "tick"))
                continue
            parts.append(_line(x(rate.low), middle, x(rate.high), middle, f"whisker m{at % 6}s"))
            parts.append(_mark(x(rate.value), middle, at, f"mark m{at % 6}"))
            said = f"{show.share(rate.value)}  ({show.span(rate.low, rate.high)})"
            parts.append(_text(_WIDTH, middle + 4, said, "value", "end"))
    description = (
        f"Shares of the six outcomes for {len(report.models)} models with intervals; the numbers are in the table."
    )
    return _svg("outcomes", "Outcomes by model with intervals", description, height, parts)


def _differences(report: Report, show: Show) -> str:
    """For each outcome and pair: the difference, its interval, and the noise floor as a band around nought."""
    found = shown_differences(report)
    most = max((abs(end) for one in found for end in (one.low, one.high)), default=0.1)
    limit = max(math.ceil(most * 10) / 10, 0.1)
    left, right = _room([f"{one.one} − {one.other}" for one in found], 140, 260, 470), 150
    wide, top = _WIDTH - left - right, 44
    outcomes = [outcome for outcome in OUTCOMES if any(one.outcome is outcome for one in found)]
    height = top + _ROW * len(found) + 10 * len(outcomes) + 6

    def x(value: float) -> float:
        return left + (value + limit) / (2 * limit) * wide

    parts = []
    for step in (-1, -0.5, 0, 0.5, 1):
        kind = "axis" if step == 0 else "grid"
        parts += [_line(x(step * limit), top - 6, x(step * limit), height, kind)]
        parts += [
            _text(x(step * limit), top - 12, show.points(step * limit, "+.0f" if step else ".0f"), "tick", "middle")
        ]
    parts.append(_text(x(0), 14, "points; the band is the noise floor", "tick", "middle"))
    y = float(top)
    for outcome in outcomes:
        parts += [_line(0, y, _WIDTH, y, "rule"), _text(0, y + 19, word(outcome), "strong")]
        y += 5
        for one in (one for one in found if one.outcome is outcome):
            middle = y + _ROW / 2
            parts.append(_text(left - 12, middle + 4, _fit(f"{one.one} − {one.other}", left - 130), "", "end"))
            if one.floor is not None:
                parts.append(_box(x(-one.floor), y + 2, x(one.floor) - x(-one.floor), _ROW - 4, "band"))
            kind = "d-real" if one.reading == "real" else "d-noise"
            parts.append(_line(x(one.low), middle, x(one.high), middle, f"whisker {kind}s"))
            parts.append(_mark(x(one.value), middle, 0, f"mark {kind}"))
            said = f"{show.points(one.value)}  {one.reading}"
            parts.append(_text(_WIDTH, middle + 4, said, "value strong" if one.reading == "real" else "value", "end"))
            y += _ROW
        y += 5
    description = (
        "Differences of each pair of models in points with intervals and noise floor; the numbers are in the table."
    )
    return _svg("differences", "Paired differences against the noise floor", description, height, parts)


def _arrival(report: Report, show: Show) -> str:
    """A bar a model: how its calls came, and what did not."""
    left = _room([model.name for model in report.models], 16, 80)
    wide, top, bar = _WIDTH - left - 4, 40, 30
    parts = _legend([(name, kind) for name, kind in _ARRIVALS], 14)
    for at, model in enumerate(report.models):
        came, y = model.arrival, top + at * (bar + 12)
        numbers = (came.native, came.recovered, sum(came.lost.values()), came.silent, came.refusal, came.truncated)
        parts.append(_text(left - 12, y + 20, _fit(model.name, left - 12), "", "end"))
        x = left
        for number, (_, kind) in zip(numbers, _ARRIVALS, strict=True):
            width = wide * number / max(came.answers, 1)
            if number:
                parts.append(_box(x, y, width, bar, f"segment {kind}"))
            if width > 26:
                parts.append(_text(x + width / 2, y + 20, show.count(number), f"on-{kind}", "middle"))
            x += width
    height = top + len(report.models) * (bar + 12)
    description = "Answers to cases that want a call, by how the call came; the numbers are in the table."
    return _svg(
        "arrival", "How calls came: made, written and read, written and lost, left out", description, height, parts
    )


def _legend(entries: Sequence[tuple[str, str]], y: float) -> list[str]:
    parts, x = [], 0.0
    for name, kind in entries:
        parts += [_box(x, y - 11, 14, 14, f"segment {kind}"), _text(x + 20, y, name)]
        x += 20 + len(name) * _CHARACTER + 24
    return parts


def _confusion(report: Report, show: Show) -> str:
    """A grid a model: wanted tools down, called tools across, answers in the cells."""
    wanted = list(dict.fromkeys(pair.wanted for pair in report.confusion))[:12]
    called = list(dict.fromkeys(pair.called for pair in report.confusion))[:12]
    counts = {(pair.wanted, pair.called): pair.counts for pair in report.confusion}
    confused = [model for model in report.models if any(model.name in by for by in counts.values())]
    most = max((max(by.values()) for by in counts.values()), default=1)
    cell, top = 54, 96
    left = _room(wanted, 16, 60, 260)
    wide = left + cell * len(called) + 30
    across = max(1, int(_WIDTH // wide))
    tall = top + cell * len(wanted) + 24
    parts = []
    for at, model in enumerate(confused):
        x0, y0 = (at % across) * wide, (at // across) * tall
        parts.append(_text(x0 + left, y0 + 18, _fit(model.name, wide - left), "strong"))
        for column, name in enumerate(called):
            x = x0 + left + column * cell + cell / 2
            turned = f'transform="rotate(-36 {x:.1f} {y0 + top - 8:.1f})"'
            parts.append(f'<text x="{x:.1f}" y="{y0 + top - 8:.1f}" {turned}>{to_html(_fit(name, 110))}</text>')
        for row, want in enumerate(wanted):
            y = y0 + top + row * cell
            parts.append(_text(x0 + left - 8, y + cell / 2 + 4, _fit(want, left - 10), "", "end"))
            for column, name in enumerate(called):
                number = counts.get((want, name), {}).get(model.name, 0)
                x = x0 + left + column * cell
                shade = f'style="fill-opacity:{0.12 + 0.88 * number / most:.2f}"' if number else ""
                kind = "heat" if number else "empty"
                parts.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{cell - 3}" height="{cell - 3}" class="{kind}" {shade}/>'
                )
                inside = "on-heat" if number > most / 2 else "value"
                if number:
                    parts.append(_text(x + (cell - 3) / 2, y + cell / 2 + 3, show.count(number), inside, "middle"))
    height = tall * math.ceil(len(confused) / across)
    description = "Wanted tools in the rows, called ones in the columns, a grid a model; the numbers are in the table."
    width = max(_WIDTH, wide)
    return _svg("confusion", "Tools that were called where another was wanted", description, height, parts, width)


def _flaky(report: Report, _: Show) -> str:
    """A row a case, a square a repeat: its letter and colour tell the outcome."""
    legend = [(f"{LETTERS[outcome]} {word(outcome)}", f"o{at}") for at, outcome in enumerate(OUTCOMES)]
    parts = _legend(legend, 14)
    square, top = 22, 62
    left = _room([part.case for part in report.flaky[:MOST_CASES]], 20, 80)
    block = max(square * report.repeats + 24, _room([model.name for model in report.models], 20, 0, 170))
    wide = max(_WIDTH, left + block * len(report.models))
    for at, model in enumerate(report.models):
        parts.append(_text(left + at * block, top - 10, _fit(model.name, block - 8), "strong"))
    for row, part in enumerate(report.flaky[:MOST_CASES]):
        y = top + row * (square + 4)
        parts.append(_text(left - 12, y + 15, _fit(part.case, left - 14), "", "end"))
        for at, model in enumerate(report.models):
            for repeat, name in enumerate(part.outcomes[model.name]):
                x = left + at * block + repeat * square
                known = name in set(OUTCOMES)
                kind = f"o{OUTCOMES.index(Outcome(name))}" if known else "empty"
                letter = LETTERS[Outcome(name)] if known else "–"
                parts.append(_box(x, y, square - 2, square - 2, f"segment {kind}"))
                parts.append(_text(x + square / 2 - 1, y + 15, letter, f"on-{kind}", "middle"))
    rows = len(report.flaky[:MOST_CASES])
    description = "Cases whose outcome changes between repeats, a letter a repeat; the table has the same in words."
    return _svg("flaky", "Flaky cases by model and repeat", description, top + rows * (square + 4) + 4, parts, wide)
