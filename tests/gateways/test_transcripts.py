"""Every transcript, with dicts: what goes out for each item, before the next is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import deepcopy

import pytest

from tests.gateways.transcripts import LIBRARIES, BrokenError, Row, Transcript, asynchronous, read

TRANSCRIPTS = [transcript for library in LIBRARIES for transcript in read(library)]


def run_plain(transcript: Transcript) -> list[Row]:
    log: list[Row] = []
    try:
        for item in transcript.adapt(transcript.replay(log)):
            log.append({"out": item})  # noqa: PERF401  # the upstream writes in between
    except BrokenError:
        log.append({"raised": True})
    return log


def run_async(transcript: Transcript) -> list[Row]:
    log: list[Row] = []

    async def run() -> None:
        try:
            async for item in transcript.adapt(asynchronous(transcript.replay(log))):
                log.append({"out": item})  # noqa: PERF401
        except BrokenError:
            log.append({"raised": True})

    asyncio.run(run())
    return log


@pytest.mark.parametrize("run", [run_plain, run_async], ids=["plain", "async"])
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=str)
def test_a_transcript(transcript: Transcript, run: Callable[[Transcript], list[Row]]) -> None:
    rows = deepcopy(transcript.rows)
    assert run(transcript) == rows + [{"raised": True}] * transcript.breaks
    assert transcript.rows == rows, "what came in was changed"


@pytest.mark.parametrize("name", ["text", "native", "no-tools"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_what_passes_is_the_same_object(library: str, name: str) -> None:
    (transcript,) = [
        transcript for transcript in TRANSCRIPTS if (transcript.library, transcript.name) == (library, name)
    ]
    out = [row["out"] for row in run_plain(transcript) if "out" in row]
    assert list(map(id, out)) == list(map(id, transcript.rows_of("in")))
