"""Fill the cells of a run: passes over cases and models, some calls at a time at each endpoint, until all is done.

Within a pass the models take turns case by case, and a pass is over before the next begins: what drifts in time is no
difference between models. May import: `grading.answer`, `grading.calling`, `grading.case`, `grading.cell`,
`grading.outcome`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from .answer import Answer
from .calling import BACKOFF, Asked, Reply, ask, in_thread, message_of
from .case import Case
from .cell import Cell, Grade
from .outcome import Ungraded


class StimulusError(ValueError):
    """A model was shown other tools than the run says: nothing it answers can be held against the others."""


class Limits(BaseModel):
    """How much is asked at once, how long, how often."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Calls at a time at one endpoint.
    concurrency: int = Field(default=4, ge=1)
    # Attempts beyond the first, after faults of the transport.
    retries: int = Field(default=2, ge=0)
    # Seconds for each attempt.
    timeout: float = Field(default=120.0, gt=0)
    # Attempts over the whole run, this time; None: as many as it takes.
    budget: int | None = Field(default=None, ge=0)
    # Seconds before the second attempt, doubled for each further one.
    backoff: float = Field(default=BACKOFF, ge=0)


class Job(NamedTuple):
    """One cell to fill. `answer`: as it was stored, where the model need not be asked again."""

    case: Case
    model: str
    repeat: int
    answer: Any = None


class Progress(NamedTuple):
    """How far a run is: cells filled, cells in all, and how many have which outcome or reason to have none."""

    done: int
    total: int
    counts: Mapping[str, int]


def jobs_of(cases: Iterable[Case], models: Iterable[str], repeats: int, done: Mapping[Any, Cell]) -> Iterator[Job]:
    """What is left to fill, in the order in which it is begun. `done`: cells by (model, case id, repeat)."""
    cases, models = tuple(cases), tuple(models)
    for repeat in range(repeats):
        for case in cases:
            for model in models:
                if (model, case.id, repeat) not in done:
                    yield Job(case, model, repeat)


class Filler:
    """Asks, grades, and hands each cell to `on_cell` as soon as it is there.

    `grade` makes a grade of a case and an answer; what it raises leaves the cell ungraded, with its answer. It is
    called in a thread, one call at a time. `endpoint_of`: by what the calls of a model are limited. `tools_sha256`:
    what a reply that says what was sent must say.
    """

    def __init__(
        self,
        call_model: Callable[[str, str], Any],
        grade: Callable[[Case, Answer], Grade],
        on_cell: Callable[[Cell], None],
        *,
        limits: Limits,
        endpoint_of: Callable[[str], str],
        tools_sha256: str | None = None,
    ) -> None:
        self._call_model = call_model
        self._grade = grade
        self._on_cell = on_cell
        self._limits = limits
        self._endpoint_of = endpoint_of
        self._tools_sha256 = tools_sha256
        self._left = limits.budget
        # Whether the budget ended the run.
        self.spent = False
        self._grading = asyncio.Lock()
        # By model: the hashes of the tools that it was sent, as `ModelEntry` has them.
        self.sent: dict[str, dict[str, str | None]] = {}

    async def fill(self, jobs: Iterable[Job]) -> None:
        """Fill the cells of these jobs. Raises `StimulusError`, and what `on_cell` raises; calls under way are left."""
        for _, group in groupby(jobs, key=lambda job: job.repeat):
            queues: defaultdict[str, deque[Job]] = defaultdict(deque)
            for job in group:
                queues[self._endpoint_of(job.model)].append(job)
            try:
                async with asyncio.TaskGroup() as tasks:
                    for queue in queues.values():
                        for _ in range(min(self._limits.concurrency, len(queue))):
                            tasks.create_task(self._work(queue))
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None

    async def _work(self, queue: deque[Job]) -> None:
        while queue and not self.spent:
            job = queue.popleft()
            if job.answer is None:
                asked = await ask(
                    self._call_model,
                    job.model,
                    job.case.query,
                    timeout=self._limits.timeout,
                    retries=self._limits.retries,
                    backoff=self._limits.backoff,
                    may_call=self._may_call,
                )
            else:
                asked = Asked(job.answer, attempts=0)
            if asked.ungraded is not Ungraded.NOT_RUN:
                self._on_cell(await self._cell(job, asked))

    def _may_call(self) -> bool:
        if self._left == 0:
            self.spent = True
            return False
        if self._left is not None:
            self._left -= 1
        return True

    async def _cell(self, job: Job, asked: Asked) -> Cell:
        made: dict[str, Any] = {
            "case_id": job.case.id,
            "model": job.model,
            "repeat": job.repeat,
            "seconds": asked.seconds,
            "attempts": asked.attempts,
        }
        if asked.ungraded is not None:
            return Cell(**made, grade=None, ungraded=asked.ungraded, problem=asked.problem)
        reply = asked.reply if isinstance(asked.reply, Reply) else Reply(asked.reply)
        self._check_sent(job.model, reply)
        try:
            answer = Answer.of(reply.answer)
        except Exception as error:  # noqa: BLE001 (whatever came back is one cell's)
            return Cell(**made, grade=None, ungraded=Ungraded.CALL_ERROR, problem=message_of(error))
        made |= {
            "answer": answer.to_json(),
            "returned_model": reply.returned_model or answer.returned_model,
            "fingerprint": reply.fingerprint or answer.fingerprint,
            "tokens": dict(reply.tokens),
        }
        try:
            # In a thread, for a check may take its time; one at a time, for it may not be made for more.
            async with self._grading:
                return Cell(**made, grade=await in_thread(self._grade, job.case, answer))
        except Exception as error:  # noqa: BLE001 (a grader's fault is no model's, and no run's)
            return Cell(**made, grade=None, ungraded=Ungraded.GRADER_ERROR, problem=message_of(error))

    def _check_sent(self, model: str, reply: Reply) -> None:
        if reply.tools_sha256 is not None and reply.tools_sha256 != self._tools_sha256:
            raise StimulusError(
                f"{model} was sent other tools (sha256 {reply.tools_sha256}) than the run says ({self._tools_sha256})"
            )
        now = {"tools_sha256": reply.tools_sha256, "tools_bytes_sha256": reply.tools_bytes_sha256}
        if self.sent.setdefault(model, now) != now:
            raise StimulusError(f"{model} was sent other bytes for the tools from one call to the next")
