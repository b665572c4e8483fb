"""Cases × models × repeats: what every model answers to every case, graded, with what stands behind the numbers.

May import: `grading.case`, `grading.cell`, `grading.filling`, `grading.fingerprint`, `grading.grade`,
`grading.outcome`, `grading.provenance`, `grading.schema`, `grading.semantic`, `grading.store`, the public names.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict

from recovery import RULES, Policy, Toolset

from .case import Case
from .cell import Cell, Matrix, matrix_of
from .filling import Filler, Limits, Progress, count, jobs_of
from .fingerprint import (
    git_state,
    grader_digest,
    name_of,
    packages,
    python,
    schema_digests,
    source_digest,
    tools_digest,
)
from .grade import Grader
from .outcome import Ungraded
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
    counts_of,
    digest,
)
from .schema import ArgSchema
from .semantic import SemanticCheck
from .store import Store, StoreError


class Options(TypedDict, total=False):
    """What `run_matrix` takes besides, all by name."""

    # What the models are offered, in any shape that `Toolset` takes. By default what `call_model.tools` says; without
    # that the tools are known from `arg_schema` and the cases alone, and that the models saw the same is not shown.
    tools: Any
    # How text is read for written calls.
    policy: Policy | None
    validation: Literal["strict", "lax"]
    extra: Literal["forbid", "allow"]
    # As in `Limits`: calls at a time at an endpoint, attempts beyond the first, seconds for each, attempts in all.
    concurrency: int
    retries: int
    timeout: float
    budget: int | None
    backoff: float
    # The file that keeps the cells. Without one nothing is left of a run that is stopped.
    store: str | Path | None
    # Go on with the file if it is there; else it must not be. A cell that is stored is not asked for again.
    resume: bool
    # Of a resumed run: ask again where the transport failed or time ran out, and grade again where the grader failed.
    retry_ungraded: bool
    # For the record.
    cases_file: str | None
    cases_language: str | None
    cases_made: str | None
    cases_excluded: dict[str, str]
    # For so many days the numbers may be shown.
    ttl_days: int
    # Called with each cell that is there.
    on_progress: Callable[[Progress], None] | None


class Run(BaseModel):
    """What came of it: the cells, each model's and case's in order, and what stands behind them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cases: tuple[Case, ...]
    # By model, case and repeat; one that was not filled is there as not run.
    cells: tuple[Cell, ...]
    block: Block

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.block.models)

    @property
    def matrix(self) -> Matrix:
        """The outcomes, as the statistics read them."""
        cases = [(case.id, case.cluster, case.expects_call) for case in self.cases]
        return matrix_of(self.cells, self.models, cases, self.block.run.planned_repeats)

    @property
    def details(self) -> dict[str, dict[tuple[str, str], int]]:
        """By model: how many cells have an outcome with a detail of it."""
        found: dict[str, Counter[tuple[str, str]]] = {model: Counter() for model in self.models}
        for cell in self.cells:
            if cell.grade is not None and cell.grade.detail is not None:
                found[cell.model][str(cell.grade.outcome), str(cell.grade.detail)] += 1
        return {model: dict(counts) for model, counts in found.items()}

    @property
    def ungraded(self) -> dict[str, int]:
        """By reason: how many cells have no outcome."""
        return dict(self.block.run.ungraded)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The run in a file. Raises `StoreError`; for one that was killed too: it is resumed first."""
        about, cells, block = Store.read(path)
        if block is None:
            raise StoreError(
                f"{path}: the run has not ended ({len(cells):,} cells are stored); go on with it by --resume"
            )
        cases = tuple(Case.model_validate(case) for case in about["cases"])
        names = [entry.name for entry in block.models]
        return cls(cases=cases, cells=complete(cells, cases, names, block.run.planned_repeats), block=block)


def run_matrix(
    cases: Iterable[Case],
    models: Iterable[str],
    call_model: Callable[[str, str], Any],
    arg_schema: ArgSchema = None,
    semantic_check: SemanticCheck | None = None,
    repeats: int = 3,
    **options: Unpack[Options],
) -> Run:
    """Ask every model every case, `repeats` times, and grade what comes back.

    `call_model(model, query)` returns `(tool_name, raw_args)`, the name None where no tool was called; or text, which
    is read for written calls; or a message of OpenAI or Anthropic. It may be asynchronous; one that is not is called
    in threads, `concurrency` at a time. What it raises is one cell's, which is left ungraded: the run goes on.

    `arg_schema` is a pydantic model or a JSON Schema, or maps tools to either; None: the tools' own. `semantic_check`
    says of arguments that fit whether they are right; None: they are compared with the case's. `options`: see
    `Options`.

    Raises `TypeError` or `ValueError` for what can't be run as it stands, before the first call; `StoreError` for a
    file that can't be used, `OtherQuestionError` for one of another run; `StimulusError` where a model was shown other
    tools. Stopped by Ctrl-C (`KeyboardInterrupt`), what is stored stays. Inside an event loop, await
    `run_matrix_async`.
    """
    return asyncio.run(
        run_matrix_async(cases, models, call_model, arg_schema, semantic_check, repeats, **options),
    )


async def run_matrix_async(
    cases: Iterable[Case],
    models: Iterable[str],
    call_model: Callable[[str, str], Any],
    arg_schema: ArgSchema = None,
    semantic_check: SemanticCheck | None = None,
    repeats: int = 3,
    **options: Unpack[Options],
) -> Run:
    """As `run_matrix`, in the event loop that runs."""
    try:
        runner = Runner(cases, models, call_model, arg_schema, semantic_check, repeats, options)
        return await runner.run()
    finally:
        if close := getattr(call_model, "aclose", None):
            await close()


class Runner:
    """One run from its plan to its block; `run_matrix` says what the parameters are."""

    def __init__(
        self,
        cases: Iterable[Case],
        models: Iterable[str],
        call_model: Callable[[str, str], Any],
        arg_schema: ArgSchema,
        semantic_check: SemanticCheck | None,
        repeats: int,
        options: Options,
    ) -> None:
        if unknown := sorted(options.keys() - Options.__annotations__.keys()):
            raise TypeError(f"run_matrix takes no {', '.join(unknown)}; it takes {', '.join(Options.__annotations__)}")
        self._options = options
        self.cases = _checked_cases(cases)
        self.models = _checked_models(models)
        if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
            raise ValueError(f"repeats must be a whole number from 1, not {repeats!r}")
        self.repeats = repeats
        self._call_model = call_model
        self._limits = Limits(**{name: options[name] for name in Limits.model_fields if name in options})  # type: ignore[literal-required]
        tools = options.get("tools", getattr(call_model, "tools", None))
        self._toolset = None if tools is None else Toolset.of(tools)
        self._grader = Grader(
            self._toolset,
            policy=options.get("policy"),
            arg_schema=arg_schema,
            semantic_check=semantic_check,
            validation=options.get("validation", "strict"),
            extra=options.get("extra", "forbid"),
        )
        for case in self.cases:
            # An expected tool that nobody offers would make every model wrong.
            self._grader._tools_of(case)
        self._scope = scope_of(self.cases, options)
        self._metric = metric_of(self._grader, semantic_check)
        self._stimulus = stimulus_of(call_model, self._toolset, options.get("policy"))
        self._entries = [self._entry(model) for model in self.models]
        self._cells: dict[tuple[str, str, int], Cell] = {}
        self._counts: Counter[str] = Counter()
        self._store: Store | None = None
        self._started = datetime.now(UTC)

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same for cells to stand in one run."""
        return {
            "scope": {"cases_sha256": self._scope.cases_sha256},
            "metric": self._metric.model_dump(mode="json"),
            "stimulus": self._stimulus.model_dump(mode="json"),
            "models": {
                entry.name: entry.model_dump(mode="json", include={"requested", "host", "parameters"})
                for entry in self._entries
            },
            "run": {"planned_repeats": self.repeats},
        }

    async def run(self) -> Run:
        """Fill what is left to fill. Raises as `run_matrix` does."""
        path = self._options.get("store")
        if path is None:
            return await self._run()
        about = {"cases": [case.model_dump() for case in self.cases]}
        begin = Store.resume if self._options.get("resume") else Store.create
        with begin(path, self.identity, about) as self._store:
            self._cells = {_key(cell): cell for cell in self._store.cells()}
            if (noted := self._store.noted("started")) is None:
                self._store.note("started", self._started.isoformat())
            else:
                self._started = datetime.fromisoformat(noted)
            return await self._run()

    async def _run(self) -> Run:
        again = self._again() if self._options.get("retry_ungraded") else {}
        kept = {key: cell for key, cell in self._cells.items() if key not in again}
        self._counts = count(kept.values())
        jobs = [
            job._replace(answer=again.get((job.model, job.case.id, job.repeat)))
            for job in jobs_of(self.cases, self.models, self.repeats, kept)
        ]
        filler = Filler(
            self._call_model,
            self._grader.grade,
            self._keep,
            limits=self._limits,
            endpoint_of=getattr(self._call_model, "endpoint_of", lambda _: ""),
            tools_sha256=self._stimulus.tools_sha256,
        )
        try:
            await filler.fill(jobs)
        except asyncio.CancelledError:
            # Stopped by Ctrl-C: what there is can be looked at, and gone on with.
            self._end(filler)
            raise
        return self._end(filler)

    def _again(self) -> dict[tuple[str, str, int], Any]:
        """The ungraded cells that may be filled after all, each with its answer if it has one."""
        return {
            key: cell.answer if cell.ungraded is Ungraded.GRADER_ERROR else None
            for key, cell in self._cells.items()
            if cell.grade is None
        }

    def _keep(self, cell: Cell) -> None:
        before = self._cells.get(_key(cell))
        if before is not None:
            # Asked again: what was spent stays counted.
            tokens = Counter(before.tokens) + Counter(cell.tokens)
            cell = cell.model_copy(update={"attempts": before.attempts + cell.attempts, "tokens": dict(tokens)})
        if self._store is not None:
            self._store.add(cell)
        self._cells[_key(cell)] = cell
        self._counts += count([cell])
        report = self._options.get("on_progress")
        if report is not None:
            total = len(self.cases) * len(self.models) * self.repeats
            report(Progress(self._counts.total(), total, dict(self._counts)))

    def _end(self, filler: Filler) -> Run:
        cells = complete(self._cells.values(), self.cases, self.models, self.repeats)
        block = self._block(cells, filler)
        if self._store is not None:
            self._store.finish(block)
        return Run(cases=self.cases, cells=cells, block=block)

    def _block(self, cells: Sequence[Cell], filler: Filler) -> Block:
        entries = [_with_returned(entry, cells, filler.sent_bytes.get(entry.name)) for entry in self._entries]
        commit, dirty = git_state()
        filled = [cell for cell in cells if cell.ungraded is not Ungraded.NOT_RUN]
        tokens: Counter[str] = Counter()
        for cell in filled:
            tokens.update(cell.tokens)
        run = RunSection(
            started=self._started,
            finished=datetime.now(UTC),
            planned_repeats=self.repeats,
            realised_repeats=_realised(cells, self.models),
            concurrency=self._limits.concurrency,
            retries_allowed=self._limits.retries,
            retries_used=sum(max(cell.attempts - 1, 0) for cell in filled),
            calls=sum(cell.attempts for cell in filled),
            ungraded=dict(Counter(str(cell.ungraded) for cell in cells if cell.grade is None)),
            tokens=dict(tokens),
            python=python(),
            packages=packages(),
            git_commit=commit,
            git_dirty=dirty,
        )
        result = Result(counts=counts_of(cells, self.models, self.repeats))
        return Block(
            scope=self._scope,
            metric=self._metric,
            stimulus=self._stimulus,
            models=tuple(entries),
            run=run,
            result=result,
            claim=claim_of(self._scope, entries, run, result, self._options.get("ttl_days", TTL_DAYS)),
        )

    def _entry(self, model: str) -> ModelEntry:
        describe = getattr(self._call_model, "describe", None)
        try:
            return ModelEntry(name=model, requested=model) if describe is None else describe(model)
        except KeyError:
            raise ValueError(f"models: {model!r} is none that call_model knows") from None


def scope_of(cases: Sequence[Case], options: Options) -> Scope:
    """The cases, as a block says what they are."""
    return Scope(
        cases_file=options.get("cases_file"),
        cases_sha256=digest([case.model_dump() for case in cases]),
        n_cases=len(cases),
        n_call=sum(case.expects_call for case in cases),
        n_no_call=sum(not case.expects_call for case in cases),
        n_clusters=len({case.cluster for case in cases}),
        language=options.get("cases_language"),
        made=options.get("cases_made"),
        excluded=options.get("cases_excluded", {}),
    )


def metric_of(grader: Grader, semantic_check: SemanticCheck | None) -> Metric:
    """What the outcomes mean under this grader, as a block says it."""
    return Metric(
        grader_sha256=grader_digest(),
        arg_schemas=schema_digests(grader.schemas),
        validation=grader.schemas.validation,
        extra_args=grader.schemas.extra,
        semantic_check="args_match" if semantic_check is None else name_of(semantic_check),
        semantic_check_sha256=None if semantic_check is None else source_digest(semantic_check),
    )


def stimulus_of(call_model: object, tools: Toolset | None, policy: Policy | None) -> Stimulus:
    """What the models are shown, as far as `call_model` says it or the caller does, and how text is read."""
    describe = getattr(call_model, "stimulus", None)
    known = Stimulus(tools_sha256=None if tools is None else tools_digest(tools)) if describe is None else describe()
    if tools is not None and known.tools_sha256 != tools_digest(tools):
        raise ValueError("tools: call_model offers the models others than those that the answers are read against")
    return known.model_copy(
        update={
            "call_model": name_of(call_model),
            "call_model_sha256": source_digest(call_model) if describe is None else None,
            "engine": f"reading rules {RULES}",
            "allowances": tuple(sorted((policy or Policy.default()).allow)),
        }
    )


def complete(cells: Iterable[Cell], cases: Sequence[Case], models: Sequence[str], repeats: int) -> tuple[Cell, ...]:
    """The cells in order, by model, case and repeat, and what was not filled as not run."""
    found = {_key(cell): cell for cell in cells}
    return tuple(
        found.get((model, case.id, repeat))
        or Cell(case_id=case.id, model=model, repeat=repeat, grade=None, ungraded=Ungraded.NOT_RUN, attempts=0)
        for model in models
        for case in cases
        for repeat in range(repeats)
    )


def _key(cell: Cell) -> tuple[str, str, int]:
    return cell.model, cell.case_id, cell.repeat


def _realised(cells: Iterable[Cell], models: Iterable[str]) -> dict[str, tuple[int, int]]:
    graded = Counter((cell.model, cell.case_id) for cell in cells if cell.grade is not None)
    by_model = {model: [graded[cell.model, cell.case_id] for cell in cells if cell.model == model] for model in models}
    return {model: (min(counts), max(counts)) for model, counts in by_model.items()}


def _with_returned(entry: ModelEntry, cells: Iterable[Cell], sent_bytes: str | None) -> ModelEntry:
    own = [cell for cell in cells if cell.model == entry.name]
    return entry.model_copy(
        update={
            "returned": tuple(sorted({cell.returned_model for cell in own if cell.returned_model})),
            "fingerprints": tuple(sorted({cell.fingerprint for cell in own if cell.fingerprint})),
            "tools_bytes_sha256": sent_bytes or entry.tools_bytes_sha256,
        }
    )


def _checked_cases(cases: Iterable[Case]) -> tuple[Case, ...]:
    found = tuple(cases)
    if not found:
        raise ValueError("cases: there are none")
    for place, case in enumerate(found):
        if not isinstance(case, Case):
            raise TypeError(f"cases[{place}]: expected a Case, not {type(case).__name__}")
    twice = [name for name, times in Counter(case.id for case in found).items() if times > 1]
    if twice:
        raise ValueError(f"cases: the id {twice[0]!r} stands twice; give cases of one query ids of their own")
    return found


def _checked_models(models: Iterable[str]) -> tuple[str, ...]:
    if isinstance(models, str):
        raise TypeError("models: expected a list of names, not one name")
    found = tuple(models)
    if not found:
        raise ValueError("models: there are none")
    for place, model in enumerate(found):
        if not isinstance(model, str) or not model:
            raise TypeError(f"models[{place}]: expected a name, not {model!r}")
    if len(set(found)) < len(found):
        raise ValueError(f"models: {Counter(found).most_common(1)[0][0]!r} stands twice")
    return found
