"""A process that times benches with one revision's `recovery`: `worker.py FOLDER`, where FOLDER holds the package.

Its input is a line of JSON for each thing to do, its output one line for each. The benches are those of this checkout,
whichever revision is timed. May import: `bench.cases`.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent


class Worker:
    """What was made last is kept: a bench is made once, and timed in many rounds."""

    def __init__(self) -> None:
        self._run: Callable[[], object] = int

    def make(self, title: str, seconds: float) -> dict[str, Any]:
        """Make a bench: how often to run it for so many seconds, or why this revision can't."""
        from bench.cases import BENCHES

        try:
            self._run = BENCHES[title].make()
        except AssertionError:
            return {"left": "gives another result"}
        except Exception as error:  # noqa: BLE001 - another revision may fail in any way
            return {"left": f"can't run it: {type(error).__name__}: {error}"}
        gc.collect()
        gc.freeze()  # what the bench holds is no garbage
        loops = 1
        while (once := self.time(loops)) * loops < seconds / 4:
            loops *= 2
        return {"loops": max(round(seconds / once), 1)}

    def time(self, loops: int) -> float:
        """Seconds that the processor took, for each time the bench was run."""
        run = self._run
        begin = time.process_time()
        for _ in repeat(None, loops):
            run()
        return (time.process_time() - begin) / loops

    def lowest(self, loops: int, times: int) -> float:
        gc.collect()
        return min(self.time(loops) for _ in range(times))


def main() -> None:
    folder = sys.argv[1]
    # Before the checkout, whose own package must not be the one that is timed.
    sys.path[:0] = [folder, str(ROOT)]
    import recovery

    assert Path(recovery.__file__).is_relative_to(Path(folder).resolve()), recovery.__file__
    gc.disable()
    worker = Worker()
    for line in sys.stdin:
        asked = json.loads(line)
        if "make" in asked:
            told = worker.make(asked["make"], asked["seconds"])
        else:
            told = {"seconds": worker.lowest(asked["loops"], asked["times"])}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
