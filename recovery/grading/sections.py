"""The sections of a block, from cases, a grader and cells; the cells one by one, so that none need be kept.

May import: `grading.case`, `grading.cell`, `grading.fingerprint`, `grading.outcome`, `grading.provenance`,
`grading.schema`, `grading.semantic`, the public names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from recovery import RULES, Policy, Toolset

from .case import Case
from .cell import Cell
from .fingerprint import (
    git_state,
    grader_digest,
    name_of,
    packages,
    python,
    source_digest,
    tools_digest,
)
from .outcome import OUTCOMES, Ungraded
from .provenance import (
    TTL_DAYS,
    Block,
    Metric,
    ModelEntry,
    Result,
    RunSection,
    Scope,
    Stimulus,
    claim_of,
    digest,
)
from .schema import Schemas
from .semantic import SemanticCheck


def scope_of(cases: Sequence[Case], **more: Any) -> Scope:
    """The cases; `more`: fields of `Scope` that they don't tell."""
    return Scope(
        cases_sha256=digest([case.model_dump() for case in cases]),
        n_cases=len(cases),
        n_call=sum(case.expects_call for case in cases),
        n_no_call=sum(not case.expects_call for case in cases),
        n_clusters=len({case.cluster for case in cases}),
        **more,
    )


def metric_of(arg_schemas: Mapping[str, str], schemas: Schemas, semantic_check: SemanticCheck | None) -> Metric:
    """What the outcomes mean. `arg_schemas`: see `Metric`; `schemas`: how they are applied."""
    return Metric(
        grader_sha256=grader_digest(),
        arg_schemas=dict(arg_schemas),
        validation=schemas.validation,
        extra_args=schemas.extra,
        semantic_check="args_match" if semantic_check is None else name_of(semantic_check),
        semantic_check_sha256=None if semantic_check is None else source_digest(semantic_check),
    )


def stimulus_of(call_model: object, tools: Toolset | None, policy: Policy | None) -> Stimulus:
    """What the models are shown, as far as `call_model` says it or the caller does, and how text is read.

    Raises `ValueError` where the two don't say the same.
    """
    describe = getattr(call_model, "stimulus", None)
    known = Stimulus(tools_sha256=None if tools is None else tools_digest(tools)) if describe is None else describe()
    if tools is not None and known.tools_sha256 != tools_digest(tools):
        raise ValueError("tools: call_model offers the models others than those that the answers are read against")
    return known.model_copy(
        update={
            "call_model": name_of(call_model),
            "call_model_sha256": source_digest(call_model) if describe is None else None,
            **_reading(policy),
        }
    )


def recorded_stimulus(tools_sha256: str, policy: Policy | None) -> Stimulus:
    """What the models are said to have been shown when their answers were recorded."""
    return Stimulus(tools_sha256=tools_sha256, tools_as="recorded", **_reading(policy))


class Tally:
    """What a block says of the cells, counted as they come. A cell that replaces another is taken back first."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
        self._graded: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._returned: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._fingerprints: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._sums: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        # By outcome or reason to have none, over all models.
        self.words: Counter[str] = Counter()
        self.repeats = 0

    @property
    def models(self) -> list[str]:
        """In the order in which they came."""
        return list(self._counts)

    def add(self, cell: Cell, by: int = 1) -> None:
        """Count a cell; take it back with `by=-1`."""
        word = str(cell.ungraded if cell.grade is None else cell.grade.outcome)
        self.words[word] += by
        self._counts[cell.model][word, cell.repeat] += by
        if cell.grade is not None:
            self._graded[cell.model][cell.case_id] += by
        if cell.returned_model:
            self._returned[cell.model][cell.returned_model] += by
        if cell.fingerprint:
            self._fingerprints[cell.model][cell.fingerprint] += by
        self._sums["calls"] += by * cell.attempts
        self._sums["retries"] += by * max(cell.attempts - 1, 0)
        for name, count in cell.tokens.items():
            self._tokens[name] += by * count
        self.repeats = max(self.repeats, cell.repeat + 1)

    def by_outcome(self, model: str) -> dict[str, int]:
        """How many cells of the model have which outcome, or reason to have none."""
        found: Counter[str] = Counter()
        for (word, _), count in self._counts[model].items():
            found[word] += count
        return dict(found)

    def result(self, models: Iterable[str], cases: int, repeats: int) -> Result:
        """The counts by model, outcome and repeat; what did not come is ungraded."""
        return Result(counts={model: self._of_model(model, cases, repeats) for model in models})

    def ungraded(self, models: Sequence[str], cases: int, repeats: int) -> dict[str, int]:
        """By reason: how many cells have no outcome."""
        found = {str(reason): self.words[str(reason)] for reason in Ungraded}
        found[str(Ungraded.NOT_RUN)] += len(models) * cases * repeats - self.words.total()
        return {reason: count for reason, count in found.items() if count}

    def entry(self, entry: ModelEntry, sent: Mapping[str, str | None]) -> ModelEntry:
        """The model's entry with what the endpoint said of itself, and hashes of what it was sent."""
        said = {
            "returned": tuple(sorted(+self._returned[entry.name])),
            "fingerprints": tuple(sorted(+self._fingerprints[entry.name])),
        }
        return entry.model_copy(update={**said, **sent})

    def run(self, models: Sequence[str], cases: Sequence[Case], repeats: int, **more: Any) -> RunSection:
        """When and how; `more`: fields of `RunSection` that the cells don't tell."""
        commit, dirty = git_state()
        realised = {model: [self._graded[model][case.id] for case in cases] for model in models}
        return RunSection(
            planned_repeats=repeats,
            realised_repeats={model: (min(counts), max(counts)) for model, counts in realised.items()},
            retries_used=self._sums["retries"],
            calls=self._sums["calls"],
            ungraded=self.ungraded(models, len(cases), repeats),
            tokens=dict(+self._tokens),
            python=python(),
            packages=packages(),
            git_commit=commit,
            git_dirty=dirty,
            **more,
        )

    def _of_model(self, model: str, cases: int, repeats: int) -> dict[str, tuple[int, ...]]:
        counts = self._counts[model]
        row = {str(outcome): tuple(counts[str(outcome), repeat] for repeat in range(repeats)) for outcome in OUTCOMES}
        graded = [sum(column) for column in zip(*row.values(), strict=True)]
        return {**row, "ungraded": tuple(cases - count for count in graded)}


def block_of(  # noqa: PLR0913 (each is a part of it)
    *,
    scope: Scope,
    metric: Metric,
    stimulus: Stimulus,
    entries: Sequence[ModelEntry],
    tally: Tally,
    cases: Sequence[Case],
    repeats: int,
    started: datetime,
    ttl_days: int = TTL_DAYS,
    sent: Mapping[str, Mapping[str, str | None]] | None = None,
    **more: Any,
) -> Block:
    """The block of these cells. `sent`: by model, hashes of the tools that it was sent; `more`: as for `Tally.run`."""
    models = [entry.name for entry in entries]
    found = tuple(tally.entry(entry, (sent or {}).get(entry.name, {})) for entry in entries)
    run = tally.run(models, cases, repeats, started=started, finished=datetime.now(UTC), **more)
    result = tally.result(models, len(cases), repeats)
    return Block(
        scope=scope,
        metric=metric,
        stimulus=stimulus,
        models=found,
        run=run,
        result=result,
        claim=claim_of(scope, found, run, result, ttl_days),
    )


def _reading(policy: Policy | None) -> dict[str, Any]:
    return {
        "engine": f"reading rules {RULES}",
        "allowances": tuple(sorted((policy or Policy.default()).allow)),
    }
