"""Benchmarks as a program: `python -m bench --help`."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import Final

FINE: Final = 0
FOUND: Final = 1
MISUSE: Final = 2


def main() -> int:
    if find_spec("rich") is None:
        print("rich is not installed: pip install -e '.[dev]'", file=sys.stderr)
        return MISUSE
    options = _parser().parse_args()
    status: int = options.do(options)
    return status


def _compare(options: argparse.Namespace) -> int:
    from bench.cases import ROOMS
    from bench.compare import SLOWER, compare
    from bench.comparing import RevisionError

    unknown = [room for room in options.rooms if room not in ROOMS]
    if unknown:
        print(f"there is no room {unknown[0]!r}; the rooms: {', '.join(ROOMS)}", file=sys.stderr)
        return MISUSE
    try:
        rows = compare(options.revision, options.against, options.rooms or ROOMS)
    except RevisionError as error:
        print(f"{error}; name a commit, a branch or a tag of this repository", file=sys.stderr)
        return MISUSE
    if not rows:
        print("nothing was compared: the revisions have no bench in common", file=sys.stderr)
        return MISUSE
    return FOUND if any(row.verdict == SLOWER for row in rows) else FINE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="How fast the package is: beside another revision, and beside what else reads such answers.",
        epilog="`python -m bench COMMAND --help` tells the rest, with examples.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    compare = commands.add_parser(
        "compare",
        help="what is slower than in another revision",
        description="Time two revisions by turns, room by room and end to end, and fail on what is slower by more than "
        "its own noise and 10 %. The benches are those of this checkout, for both.",
        epilog="""examples:
  python -m bench compare HEAD                    what is not committed yet
  python -m bench compare HEAD~1 scanner names    two rooms alone
  python -m bench compare v0.1.0 --against main

exit status: 0 nothing is slower, 1 something is, 2 misuse""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compare.add_argument("revision", metavar="REV", help="the revision to compare with: a commit, a branch, a tag")
    compare.add_argument("rooms", metavar="ROOM", nargs="*", help="these rooms alone; all where none is named")
    compare.add_argument("--against", metavar="REV2", help="the revision that is judged (the working tree)")
    compare.set_defaults(do=_compare)
    return parser


if __name__ == "__main__":
    sys.exit(main())
