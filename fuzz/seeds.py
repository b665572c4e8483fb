"""`python -m fuzz.seeds TARGET FOLDER`: the seeds of a target as files, named after what they hold."""

from __future__ import annotations

import sys
from hashlib import sha1
from pathlib import Path

from fuzz.findings import load


def main() -> None:
    target, folder = load(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds():
        (folder / sha1(seed).hexdigest()).write_bytes(seed)


if __name__ == "__main__":
    main()
