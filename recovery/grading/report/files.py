"""The report for machines: JSON with all of it, and JUnit XML for a CI that shows tests.

May import: `grading.report.escape`, `grading.report.gate`, `grading.report.model`, `grading.report.sheets`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any, Final

from .escape import to_xml
from .gate import Check, State
from .model import Report
from .sheets import Show, findings, word

# Results that are words and no numbers.
_RESULTS: Final = frozenset({"reading", "outcomes", "drifts"})


def to_json(report: Report, now: date | None = None, checks: Iterable[Check] = ()) -> str:
    """Everything, with the block and its hash. On an expired report every number of the results reads as expired."""
    show = Show(report.block, now)
    data = report.model_dump(mode="json", exclude={"block"})
    if show.expired:
        # A verdict's sentences have numbers in them.
        data = {**_expired(data, show), "verdict": show.count(0)}
    block: dict[str, Any] = json.loads(report.block.to_json())
    if show.expired:
        block = {"sha256": block["sha256"], "claim": {**block["claim"], "sentence": show.count(0)}}
    made = {
        "expired": show.expired,
        "findings": findings(report, show),
        "gates": [check._asdict() for check in checks],
        **data,
        "block": block,
    }
    return json.dumps(made, indent=2, ensure_ascii=True) + "\n"


def _expired(value: Any, show: Show) -> Any:
    if isinstance(value, dict):
        return {key: show.count(0) if key in _RESULTS else _expired(item, show) for key, item in value.items()}
    if isinstance(value, list):
        return [_expired(item, show) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return show.count(0)
    return value


def to_junit(report: Report, checks: Sequence[Check], now: date | None = None) -> str:
    """A suite of the gates, which alone can fail, and one a model that has each case with its outcomes."""
    show = Show(report.block, now)
    suites = ["".join(_suite("gates", checks))]
    for model in report.models:
        properties = [
            (str(rate.outcome), f"{show.share(rate.value)} ({show.span(rate.low, rate.high)})") for rate in model.rates
        ]
        inside = "".join(f'<property name="{name}" value="{to_xml(value)}"/>' for name, value in properties)
        cases = "".join(_flaky(report, model.name, show))
        number = cases.count("<testcase")
        suites.append(
            f'<testsuite name="{to_xml(model.name)}" tests="{number}" failures="0" errors="0" skipped="0">'
            f"<properties>{inside}</properties>{cases}</testsuite>\n"
        )
    failures = sum(check.state is State.FAILED for check in checks)
    total = len(checks) + sum(suite.count("<testcase") for suite in suites[1:])
    head = f'<testsuites name="recovery" tests="{total}" failures="{failures}" errors="0">'
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}\n{"".join(suites)}</testsuites>\n'


def _suite(name: str, checks: Sequence[Check]) -> Iterator[str]:
    failures = sum(check.state is State.FAILED for check in checks)
    skipped = sum(check.state is State.UNDECIDED for check in checks)
    yield f'<testsuite name="{name}" tests="{len(checks)}" failures="{failures}" errors="0" skipped="{skipped}">'
    for check in checks:
        yield f'<testcase classname="gate.{to_xml(check.model)}" name="{to_xml(check.name)}">'
        message = to_xml(check.message)
        if check.state is State.FAILED:
            yield f'<failure message="{message}"/>'
        elif check.state is State.UNDECIDED:
            yield f'<skipped message="{message}"/>'
        else:
            yield f"<system-out>{message}</system-out>"
        yield "</testcase>"
    yield "</testsuite>\n"


def _flaky(report: Report, model: str, show: Show) -> Iterator[str]:
    """Cases that are flaky, or failed by all: as passed, since a red test that a rerun turns green teaches nothing."""
    listed = {part.case: part for part in (*report.flaky, *report.unanimous)}
    for case, part in listed.items():
        seen = "expired" if show.expired else ", ".join(map(word, part.outcomes[model]))
        yield (
            f'<testcase classname="case.{to_xml(model)}" name="{to_xml(case)}">'
            f"<system-out>{to_xml(seen)}</system-out></testcase>"
        )
