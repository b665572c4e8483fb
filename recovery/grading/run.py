"""Cases × models × repeats: what every model answers to every case, graded, with what stands behind the numbers.

May import: `grading.case`, `grading.cell`, `grading.filling`, `grading.fingerprint`, `grading.grade`,
`grading.outcome`, `grading.provenance`, `grading.schema`, `grading.sections`, `grading.semantic`, `grading.store`, the
public names.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict

from recovery import Policy, Toolset

from .case import Case
from .cell import Cell, Matrix, matrix_of
from .filling import Filler, Limits, Progress, jobs_of
from .fingerprint import schema_digests
from .grade import Grader
from .outcome import Ungraded
from .provenance import TTL_DAYS, Block, ModelEntry, require_ttl
from .schema import ArgSchema
from .sections import Tally, block_of, metric_of, scope_of, stimulus_of
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
        try:
            cases = tuple(Case.model_validate(case) for case in about["cases"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{path}: its cases can't be read: {error!r}") from None
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
        self._ttl_days = require_ttl(options.get("ttl_days", TTL_DAYS))
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
        self._scope = scope_of(
            self.cases,
            cases_file=options.get("cases_file"),
            language=options.get("cases_language"),
            made=options.get("cases_made"),
            excluded=options.get("cases_excluded", {}),
        )
        self._metric = metric_of(schema_digests(self._grader.schemas), self._grader.schemas, semantic_check)
        self._stimulus = stimulus_of(call_model, self._toolset, options.get("policy"))
        self._entries = [self._entry(model) for model in self.models]
        self._cells: dict[tuple[str, str, int], Cell] = {}
        self._tally = Tally()
        self._store: Store | None = None
        # By model: the hashes of the tools that it was sent, and what of it stands in the store.
        self._sent: dict[str, dict[str, str | None]] = {}
        self._sent_noted: dict[str, dict[str, str | None]] = {}
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
        for cell in self._cells.values():
            self._tally.add(cell)
        jobs = [
            job._replace(answer=again.get((job.model, job.case.id, job.repeat)))
            for job in jobs_of(self.cases, self.models, self.repeats, kept)
        ]
        ended = None if jobs or self._store is None else self._store.block()
        if ended is not None:
            # Nothing was asked: what was said of the run when it ended holds, with its dates and its hash.
            return Run(
                cases=self.cases, cells=complete(kept.values(), self.cases, self.models, self.repeats), block=ended
            )
        filler = Filler(
            self._call_model,
            self._grader.grade,
            self._keep,
            limits=self._limits,
            endpoint_of=getattr(self._call_model, "endpoint_of", lambda _: ""),
            tools_sha256=self._stimulus.tools_sha256,
        )
        if self._store is not None:
            filler.sent.update(self._store.noted("sent") or {})
        self._sent, self._sent_noted = filler.sent, dict(filler.sent)
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
            self._tally.add(before, by=-1)
            tokens = Counter(before.tokens) + Counter(cell.tokens)
            cell = cell.model_copy(update={"attempts": before.attempts + cell.attempts, "tokens": dict(tokens)})
        if self._store is not None:
            if self._sent != self._sent_noted:
                # Before the cell: of a model whose cells are all there, a run that is killed could not learn it again.
                self._store.note("sent", self._sent)
                self._sent_noted = dict(self._sent)
            self._store.add(cell)
        self._cells[_key(cell)] = cell
        self._tally.add(cell)
        report = self._options.get("on_progress")
        if report is not None:
            total = len(self.cases) * len(self.models) * self.repeats
            report(Progress(self._tally.words.total(), total, dict(self._tally.words)))

    def _end(self, filler: Filler) -> Run:
        block = block_of(
            scope=self._scope,
            metric=self._metric,
            stimulus=self._stimulus,
            entries=self._entries,
            tally=self._tally,
            cases=self.cases,
            repeats=self.repeats,
            started=self._started,
            ttl_days=self._ttl_days,
            sent=filler.sent,
            concurrency=self._limits.concurrency,
            retries_allowed=self._limits.retries,
        )
        if self._store is not None:
            self._store.finish(block)
        cells = complete(self._cells.values(), self.cases, self.models, self.repeats)
        return Run(cases=self.cases, cells=cells, block=block)

    def _entry(self, model: str) -> ModelEntry:
        describe = getattr(self._call_model, "describe", None)
        try:
            return ModelEntry(name=model, requested=model) if describe is None else describe(model)
        except KeyError:
            raise ValueError(f"models: {model!r} is none that call_model knows") from None


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
