"""Recorded answers into a run: graded one by one, stored in batches, with what stands behind the numbers.

May import: `grading.casefile`, `grading.cell`, `grading.documents`, `grading.fingerprint`, `grading.provenance`,
`grading.recorded`, `grading.schema`, `grading.sections`, `grading.store`, the public names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack

from recovery import Toolset

from .casefile import CaseFile
from .cell import Cell
from .documents import Problem
from .fingerprint import schema_digests, tools_digest
from .provenance import TTL_DAYS, Block, ModelEntry, digest, require_ttl
from .recorded import GraderOptions, grade_recorded
from .schema import Schemas
from .sections import Tally, block_of, metric_of, recorded_stimulus, scope_of
from .store import Store, StoreError

# So many cells are written at once: each wait for the disk costs as much as some hundred answers.
_BATCH: Final = 1000


class Recorded(NamedTuple):
    """What became of a file of recorded answers. `block`: None where no row could be graded."""

    tally: Tally
    bad_rows: int
    block: Block | None


def grade_file(  # noqa: PLR0913 (each is one of a command's options)
    answers: str | Path,
    cases: CaseFile,
    *,
    out: str | Path | None = None,
    case_field: str = "case",
    excluded: Mapping[str, str] | None = None,
    answered: datetime | None = None,
    ttl_days: int = TTL_DAYS,
    on_problem: Callable[[Problem], None] = lambda _: None,
    on_cell: Callable[[Cell], None] = lambda _: None,
    **options: Unpack[GraderOptions],
) -> Recorded:
    """Grade the rows of a file, as `grade_recorded` reads them; with `out`, into a run's file.

    `answered`: when the answers were made, now if that isn't known; from then on the numbers are valid. What is held
    in memory does not grow with the number of rows, but for which repeats of a case were seen. Raises `StoreError` for
    an `out` that exists or can't be written; a file is there when it is whole.
    """
    require_ttl(ttl_days)
    schemas = Schemas(
        options.get("arg_schema"),
        cases.tools if isinstance(cases.tools, Toolset) else (),
        validation=options.get("validation", "strict"),
        extra=options.get("extra", "forbid"),
    )
    if isinstance(cases.tools, Toolset):
        shown = tools_digest(cases.tools)
        arg_schemas = schema_digests(schemas)
    else:
        shown = digest({name: tools_digest(tools) for name, tools in cases.tools.items()})
        # Thousands of sets have more tools than a block should name.
        arg_schemas = {"*": shown} if options.get("arg_schema") is None else schema_digests(schemas)
    parts: dict[str, Any] = {
        "scope": scope_of(cases.cases, cases_file=Path(cases.path).name, excluded=dict(excluded or {})),
        "metric": metric_of(arg_schemas, schemas, options.get("semantic_check")),
        "stimulus": recorded_stimulus(shown, options.get("policy")),
    }
    tally, bad_rows, batch = Tally(), 0, list[Cell]()
    with _store(out, cases, parts) as store:
        for found in grade_recorded(answers, cases, case_field=case_field, excluded=excluded or {}, **options):
            if isinstance(found, Problem):
                bad_rows += found.is_error
                on_problem(found)
                continue
            tally.add(found)
            on_cell(found)
            if store is not None:
                batch.append(found)
                if len(batch) >= _BATCH:
                    store.add(*batch)
                    batch.clear()
        if not tally.models:
            return Recorded(tally, bad_rows, None)
        block = block_of(
            **parts,
            entries=[ModelEntry(name=model, requested=model, provider="recorded") for model in tally.models],
            tally=tally,
            cases=cases.cases,
            repeats=tally.repeats,
            started=answered or datetime.now(UTC),
            ttl_days=ttl_days,
        )
        if store is not None:
            store.add(*batch)
            store.finish(block)
    return Recorded(tally, bad_rows, block)


@contextmanager
def _store(out: str | Path | None, cases: CaseFile, parts: Mapping[str, Any]) -> Iterator[Store | None]:
    """The file, under another name until all is in it."""
    if out is None:
        yield None
        return
    out = Path(out)
    if out.exists():
        raise StoreError(f"{out}: exists already; remove it, or give another name")
    part = out.with_name(f"{out.name}.part")
    part.unlink(missing_ok=True)
    identity = {name: section.model_dump(mode="json") for name, section in parts.items()}
    about = {"cases": [case.model_dump() for case in cases.cases]}
    with Store.create(part, {**identity, "models": {}, "run": {}}, about) as store:
        yield store
        whole = store.block() is not None
    if whole:
        part.replace(out)
    else:
        part.unlink()
