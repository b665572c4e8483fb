"""Benchmarks as a program: `python -m bench --help`."""

from __future__ import annotations

import argparse
import json
import sys
from importlib.util import find_spec
from pathlib import Path
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
        print(error, file=sys.stderr)
        return MISUSE
    if not rows:
        print("nothing was compared: the revisions have no bench in common", file=sys.stderr)
        return MISUSE
    return FOUND if any(row.verdict == SLOWER for row in rows) else FINE


def _table(options: argparse.Namespace) -> int:
    from bench.table import cells, markdown, show

    found = cells()
    if options.markdown:
        print(markdown(found))
    else:
        show(found)
    return FINE


def _record(options: argparse.Namespace) -> int:
    from bench.comparing import RevisionError
    from bench.history import HISTORY, append, entry, for_action
    from bench.table import cells, show

    found = cells()
    try:
        line = entry(found)
    except RevisionError as error:
        print(f"{error}; a line of the history names its commit", file=sys.stderr)
        return MISUSE
    append(line)
    if options.json is not None:
        options.json.write_text(json.dumps(for_action(line), indent=2) + "\n", encoding="utf-8")
    show(found)
    print(f"a line was added to {HISTORY}")
    return FINE


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
    table = commands.add_parser(
        "table",
        help="beside what else reads such answers",
        description="Time `recover` and other ways to read the samples by turns in one process, and print how many "
        "times as long as `ast.parse` alone each takes. Where RECOVERY_DATA names the folder of recorded answers, "
        "those too.",
    )
    table.add_argument("--markdown", action="store_true", help="print the table of README.md")
    table.set_defaults(do=_table)
    record = commands.add_parser(
        "record",
        help="keep the ratios of today",
        description="Make the table and append what `recover` takes to bench/history.jsonl: date, commit, Python, "
        "whether the package is compiled, and a ratio to `ast.parse` alone for each row.",
    )
    record.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the ratios for github-action-benchmark too, whose tool is then `customSmallerIsBetter`",
    )
    record.set_defaults(do=_record)
    return parser


if __name__ == "__main__":
    sys.exit(main())
