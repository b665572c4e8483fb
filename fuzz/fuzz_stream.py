"""Invariant: whatever the text, the policy and the cuts, a stream gives out what `recover` gives on the whole.

    python -m fuzz.fuzz_stream [CORPUS…] [-max_total_time=SECONDS]

Without an end given it runs until something fails; the input that failed is then in fuzz/kept/fuzz_stream/found, and
fails again when it is given as the corpus.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import atheris

with atheris.instrument_imports(include=["recovery"]):
    from recovery import Allowance, CallEvent, Policy, Stream, recover
from tests.cases import VECTORS, read
from tests.strategies import TOOLS
from tests.streams import events_of, streamed, text_of

ALLOWANCES: Final = tuple(Allowance)
DICTIONARY: Final = Path(__file__).with_name("recovery.dict")
# Where the corpus is kept, and what failed.
KEPT: Final = Path(__file__).with_name("kept") / "fuzz_stream"
LONGEST: Final = 4096
# Bytes before the text: the policy, the cuts.


HEAD: Final = 4


def one_input(data: bytes) -> None:
    if len(data) < HEAD:
        return
    mask = int.from_bytes(data[:3], "big")
    policy = Policy([allowance for bit, allowance in enumerate(ALLOWANCES) if mask >> bit & 1])
    reasoning_open, longest = bool(data[3] & 1), 1 + data[3] // 32
    # What is no UTF-8 becomes lone surrogates: those are text too.
    text = data[HEAD:].decode("utf-8", "surrogateescape")
    pieces, at = [], 0
    while at < len(text):
        # The cuts depend on the text alone, so that a dictionary's words stay whole in the input.
        size = 1 + (ord(text[at]) + at) % longest
        pieces.append(text[at : at + size])
        at += size
    batch = recover(text, TOOLS, policy=policy, reasoning_open=reasoning_open)
    assert streamed(TOOLS, pieces, policy, reasoning_open=reasoning_open) == batch
    assert streamed(TOOLS, text, policy, reasoning_open=reasoning_open) == batch
    early = Stream(TOOLS, policy=policy, commit="call", reasoning_open=reasoning_open)
    events = events_of(early, pieces)
    assert early.result == batch
    if tuple(event.call for event in events if isinstance(event, CallEvent)) == batch.calls:
        assert text_of(events) == batch.text


def write_seeds(folder: Path) -> None:
    """The vectors, each as an input under the lenient policy."""
    folder.mkdir(parents=True, exist_ok=True)
    for case in read(VECTORS):
        if len(case.text) <= LONGEST // 4:
            seed = b"\xff\xff\xff\x80" + case.text.encode("utf-8", "surrogatepass")
            (folder / str(case.row["id"])).write_bytes(seed)


def main() -> None:
    options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    corpora = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if not corpora:
        write_seeds(KEPT / "corpus")
        (KEPT / "found").mkdir(exist_ok=True)
        corpora = [str(KEPT / "corpus")]
        options = [f"-artifact_prefix={KEPT / 'found'}/", *options]
    atheris.Setup([sys.argv[0], f"-dict={DICTIONARY}", f"-max_len={LONGEST}", *options, *corpora], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
