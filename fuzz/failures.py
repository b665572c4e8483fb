"""What failed: told apart by where, kept once, made smaller."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent


def signature(error: BaseException) -> str:
    """The same for failures of one kind: what was raised, and the innermost place of this project that raised it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_ours(frame.filename)]
    where = f"{Path(frames[-1].filename).name} {frames[-1].name} {frames[-1].line}" if frames else ""
    return blake2b(f"{type(error).__name__} {where}".encode(), digest_size=4).hexdigest()


def _is_ours(filename: str) -> bool:
    return Path(filename).is_absolute() and Path(filename).is_relative_to(ROOT) and "site-packages" not in filename


def keep(data: bytes, error: BaseException, folder: Path) -> None:
    """Write the input into the folder, under its signature, unless a smaller one is there."""
    path = folder / f"failed-{signature(error)}"
    if not path.exists() or path.stat().st_size > len(data):
        path.write_bytes(data)


def fails(one_input: Callable[[bytes], None], data: bytes) -> str | None:
    """The signature of what the input raises, None where it raises nothing."""
    try:
        one_input(data)
    except Exception as error:  # noqa: BLE001  # whatever is raised is a finding
        return signature(error)
    return None


def shrink(one_input: Callable[[bytes], None], data: bytes, head: int, seconds: float) -> bytes:
    """A smaller input that fails in the same place, as far as the time allows.

    Pieces of the text are dropped, halves first (ddmin); then bits of the head are put out.
    """
    wanted = fails(one_input, data)
    end = time.monotonic() + seconds

    def still(candidate: bytes) -> bool:
        return fails(one_input, candidate) == wanted

    size = len(data) // 2
    while size and time.monotonic() < end:
        before, number = data, 0
        while (candidate := _without(data, head, size, number)) is not None and time.monotonic() < end:
            if still(candidate):
                data = candidate
            else:
                number += 1
        # Once more at the smallest size, as long as it helps: one piece may have kept another.
        size = size // 2 if size > 1 or data == before else 1
    for at in range(8 * min(head, len(data))):
        simpler = bytearray(data)
        simpler[at // 8] &= ~(1 << at % 8)
        if simpler != data and time.monotonic() < end and still(bytes(simpler)):
            data = bytes(simpler)
    return data


def _without(data: bytes, head: int, size: int, number: int) -> bytes | None:
    """The text less the piece of this number and so many characters; None where there is none. None is cut in two."""
    places = [at for at in range(head, len(data)) if data[at] & 0xC0 != 0x80] + [len(data)]
    first = number * size
    if first >= len(places) - 1:
        return None
    return data[: places[first]] + data[places[min(first + size, len(places) - 1)] :]
