"""What stands behind a number: its scope, its definition, what the models saw, who they were, when, until when.

A number is shown by `Block.render` alone, and two numbers are compared only where `comparable` finds nothing. May
import: `grading.cell`, `grading.outcome`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field

from .cell import Cell
from .outcome import OUTCOMES, TAXONOMY

# A model behind a name changes, and so does the traffic: after so many days a number says nothing of today.
TTL_DAYS: Final = 90
# More is as good as for ever, which is what an expiry is there against.
MOST_TTL_DAYS: Final = 3650

# In the order in which they are looked at: the first that holds is the cell's.
PRECEDENCE: Final = (
    "ungraded",
    "spurious_call or correct, where no call is expected",
    "no_call",
    "wrong_tool",
    "invalid_args",
    "valid_but_wrong",
    "correct",
)
DENOMINATORS: Final = (
    "spurious_call over the graded cells of cases that expect no call; no_call, wrong_tool, invalid_args and "
    "valid_but_wrong over those of cases that expect one; each case weighs the same; ungraded cells are counted apart"
)
VOID_IF: Final = (
    "the offered tools or the prompt change",
    "an endpoint returns another id of a model",
    "the grader changes",
    "the case file changes",
)

# A caption is one line.
_MOST_NAMES: Final = 6

# What two runs must have in common, by section, for one to be held against the other.
_COMPARED: Final = ("scope.cases_sha256", "metric", "stimulus")


class NotComparableError(ValueError):
    """Two runs whose numbers answer different questions. `differing`: the fields, as `section.field`."""

    def __init__(self, differing: Sequence[str], message: str) -> None:
        super().__init__(message)
        self.differing = tuple(differing)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Scope(_Section):
    """The cases: which, how many, of what kind."""

    cases_file: str | None = None
    # Of the cases themselves, in canonical JSON: what stands elsewhere in the file is no part of the question.
    cases_sha256: str
    n_cases: int
    n_call: int
    n_no_call: int
    n_clusters: int
    language: str | None = None
    made: str | None = None
    single_turn: bool = True
    # By id of a case: why it is left out.
    excluded: dict[str, str] = {}


class Metric(_Section):
    """What the outcomes mean: their words, the grader's code, the schemas, the user's check."""

    taxonomy: str = TAXONOMY
    precedence: tuple[str, ...] = PRECEDENCE
    denominators: str = DENOMINATORS
    grader_sha256: str
    # By tool, "*" for all: of the JSON Schema.
    arg_schemas: dict[str, str] = {}
    validation: str = "strict"
    extra_args: str = "forbid"
    # Qualified name and the hash of the source: "args_match" where the expected arguments decide.
    semantic_check: str = "args_match"
    semantic_check_sha256: str | None = None


class Stimulus(_Section):
    """What every model was shown, the same for all."""

    # Of the offered tools (name, description, schema, in order); None: the caller's own function offers them unseen.
    tools_sha256: str | None = None
    system_sha256: str | None = None
    tool_choice: str = "not sent"
    # Whether the hashes are of what left the process ("sent") or of what the caller said it shows ("declared").
    tools_as: str = "declared"
    # The function that asked, and its source: a prompt may stand in it.
    call_model: str | None = None
    call_model_sha256: str | None = None
    # What read calls that were written as text: version of the reading rules, allowances.
    engine: str = ""
    allowances: tuple[str, ...] = ()


class ModelEntry(_Section):
    """One model: what was asked for, and what the endpoint said it was."""

    name: str
    requested: str
    returned: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    host: str | None = None
    provider: str | None = None
    # Of a model that is run locally: the server, and how the weights are quantised.
    engine: str | None = None
    # What was sent; a parameter that does not stand here was not.
    parameters: dict[str, Any] = {}
    # Of the tools that it was sent, as `Stimulus.tools_sha256`: the same for all models, in any API's shape.
    tools_sha256: str | None = None
    # Of the bytes of the request's `tools` as they left the process: another for each API.
    tools_bytes_sha256: str | None = None
    deprecated_on: date | None = None


class RunSection(_Section):
    """When and how the answers were made."""

    started: datetime
    finished: datetime
    planned_repeats: int
    # By model: the least and the most repeats of a case that have a grade.
    realised_repeats: dict[str, tuple[int, int]] = {}
    order: str = "by pass, within a pass by case, within a case by model"
    concurrency: int | None = None
    retries_allowed: int | None = None
    # Attempts beyond the first, over all cells.
    retries_used: int = 0
    calls: int = 0
    # By reason.
    ungraded: dict[str, int] = {}
    tokens: dict[str, int] = {}
    python: str = ""
    packages: dict[str, str] = {}
    git_commit: str | None = None
    git_dirty: bool | None = None


class Result(_Section):
    """Counts, never rates alone: by model and outcome, one for each repeat."""

    counts: dict[str, dict[str, tuple[int, ...]]] = {}
    # How the statistics are made: method of the intervals, level, family, correction; noise floor, drift.
    statistics: dict[str, Any] = {}


class Claim(_Section):
    """What may be said, until when, and what ends it sooner."""

    sentence: str
    valid_until: date
    void_if: tuple[str, ...] = VOID_IF


class Parent(_Section):
    """The baseline that a run is held against."""

    sha256: str
    differing: tuple[str, ...] = ()


class Block(_Section):
    """All of it, with a hash of its own: `sha256` is over the canonical JSON of the rest."""

    scope: Scope
    metric: Metric
    stimulus: Stimulus
    models: tuple[ModelEntry, ...] = Field(min_length=1)
    run: RunSection
    result: Result
    claim: Claim
    parent: Parent | None = None

    @property
    def sha256(self) -> str:
        return digest(self.model_dump(mode="json"))

    def to_json(self) -> str:
        """The canonical JSON, with the hash beside the sections."""
        return canonical({**self.model_dump(mode="json"), "sha256": self.sha256})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read `to_json` back. Raises `ValueError` where the text is none, or was changed since."""
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError("a provenance block is a JSON object")
        said = data.pop("sha256", None)
        block = cls.model_validate(data)
        if said != block.sha256:
            raise ValueError(f"the provenance block was changed: it says {said}, and its content has {block.sha256}")
        return block

    def expired(self, now: date | None = None) -> bool:
        return (now or _today()) > self.claim.valid_until

    def render(self, number: float | None, form: str | None = None, *, now: date | None = None) -> str:
        """A number as it may be shown; the only way to show one. Past `valid_until` it is shown as expired.

        `form` is a format specification: by default a whole number is a count, any other a share in per cent. None is
        what can't be estimated.
        """
        if self.expired(now):
            return f"EXPIRED {self.claim.valid_until.isoformat()}"
        if number is None or number != number:  # noqa: PLR0124 (no number is what is not itself)
            return "not estimable"
        whole = isinstance(number, int) and not isinstance(number, bool)
        return format(number, form if form is not None else "," if whole else ".1%")

    def caption(self, now: date | None = None) -> str:
        """One line for beside the numbers: on what, of whom, from when to when, under which definition."""
        scope = self.scope
        until = f"EXPIRED {self.claim.valid_until}" if self.expired(now) else f"valid until {self.claim.valid_until}"
        names = ", ".join(model.name for model in self.models)
        if len(self.models) > _MOST_NAMES:
            names = f"{len(self.models)} models"
        return (
            f"{scope.n_cases} cases of {scope.cases_file or 'a list in Python'} ({scope.cases_sha256[:12]}), "
            f"{self.run.planned_repeats} repeats; {names}; outcomes version {self.metric.taxonomy}; "
            f"{self.run.started.date()}, {until}; block {self.sha256[:12]}"
        )

    def statement(self, now: date | None = None) -> str:
        """The claim's sentence, or that it is expired."""
        return f"EXPIRED {self.claim.valid_until}" if self.expired(now) else self.claim.sentence


def comparable(a: Block, b: Block) -> list[str]:
    """The fields, as `section.field`, in which two runs differ and must not: the cases, the metric, the stimulus."""
    return differing(_identity(a), _identity(b))


def require_comparable(a: Block, b: Block, *, under_study: Collection[str] = ()) -> None:
    """Raise `NotComparableError` unless the two runs answer one question.

    `under_study` names the fields that differ on purpose: `stimulus.tools_sha256` where a description was edited to
    see what it changes. Such a field that does not differ is an error too: then nothing was studied.
    """
    found = comparable(a, b)
    if unknown := sorted(set(under_study) - set(found)):
        raise NotComparableError(found, f"said to be under study, but the same in both runs: {', '.join(unknown)}")
    if rest := [field for field in found if field not in under_study]:
        raise NotComparableError(rest, f"the two runs are not comparable; they differ in {', '.join(rest)}")


def differing(a: Any, b: Any, at: str = "") -> list[str]:
    """Where two JSON values differ, as dotted paths into their objects."""
    if isinstance(a, dict) and isinstance(b, dict):
        paths = []
        for key in sorted({*a, *b}):
            paths += differing(a.get(key), b.get(key), f"{at}.{key}" if at else key)
        return paths
    return [] if canonical(a) == canonical(b) else [at]


def require_ttl(days: int) -> int:
    """The number of days. Raises `TypeError` or `ValueError` for one that is none, or is out of place."""
    if isinstance(days, bool) or not isinstance(days, int):
        raise TypeError(f"ttl_days must be a whole number, not {days!r}")
    if not 0 <= days <= MOST_TTL_DAYS:
        raise ValueError(f"ttl_days must be from 0 to {MOST_TTL_DAYS}, not {days}")
    return days


def claim_of(
    scope: Scope, entries: Sequence[ModelEntry], run: RunSection, result: Result, ttl_days: int = TTL_DAYS
) -> Claim:
    """The sentence that these sections bear, valid for `ttl_days` from the run, or until a model is withdrawn."""
    until = run.started.date() + timedelta(days=ttl_days)
    until = min([until, *(entry.deprecated_on for entry in entries if entry.deprecated_on)])
    parts = []
    for entry in entries:
        sums = {name: sum(counts) for name, counts in result.counts.get(entry.name, {}).items()}
        said = ", ".join(f"{count} {name}" for name, count in sums.items() if count) or "nothing graded"
        parts.append(f"{entry.name}: {said}")
    sentence = (
        f"On {run.started.date()}, in single answers to {scope.n_cases} cases ({scope.n_call} of which want a call), "
        f"{run.planned_repeats} times each: {'; '.join(parts)}."
    )
    return Claim(sentence=sentence, valid_until=until)


def counts_of(cells: Sequence[Cell], models: Sequence[str], repeats: int) -> dict[str, dict[str, tuple[int, ...]]]:
    """By model and outcome: how many cells, for each repeat. The ungraded ones stand under `ungraded`."""
    names = [*map(str, OUTCOMES), "ungraded"]
    table = {model: {name: [0] * repeats for name in names} for model in models}
    for cell in cells:
        name = "ungraded" if cell.grade is None else str(cell.grade.outcome)
        table[cell.model][name][cell.repeat] += 1
    return {model: {name: tuple(counts) for name, counts in row.items()} for model, row in table.items()}


def canonical(value: Any) -> str:
    """JSON in one spelling: keys sorted, no white space, ASCII. Raises `ValueError` for NaN and infinities."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def _identity(block: Block) -> dict[str, Any]:
    return dict(_picked(block.model_dump(mode="json")))


def _picked(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for path in _COMPARED:
        section, _, field = path.partition(".")
        yield section, {field: data[section][field]} if field else data[section]


def _today() -> date:
    return datetime.now(UTC).date()
