"""What is timed, room by room: each bench makes its input, asserts what comes of it, and gives back what to time.

The private interfaces that the rooms have are used here and nowhere else in bench/, each inside the function that needs
it: a revision that lacks one lacks that bench, and the others run. May import: `recovery`, `bench.shapes`,
`tests.families`.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import recovery
from bench.shapes import SHAPES, TOOLS, check, text_of
from recovery import Policy, Stream, Toolset, recover

Run = Callable[[], object]

# Compiled code takes no stand-in for a builder, and can't be imported twice.
PURE: Final = not getattr(recovery, "compiled", False)

EXAMPLES: Final = Path(__file__).resolve().parent.parent / "examples"


class Bench(NamedTuple):
    """One thing that is timed. `make` asserts its result."""

    room: str
    name: str
    make: Callable[[], Run]

    @property
    def title(self) -> str:
        return f"{self.room}/{self.name}"


# -- the rooms within

SCANNED: Final = ("one_call", "many_calls", "many_lines", "long_string", "escapes", "comments", "deep_containers")


def _kinds(text: str) -> list[int]:
    """The kinds of all tokens of a text."""
    from recovery.policy import Limits
    from recovery.scanner import Scanner
    from recovery.tables import END

    scanner = Scanner(Limits(), 0)
    scanner.feed(text, True)
    scan = scanner.scan
    kinds = [scan()]
    while kinds[-1] >= 0 and kinds[-1] != END:
        kinds.append(scan())
    return kinds


def scanning(name: str) -> Run:
    from recovery.policy import Limits
    from recovery.scanner import Scanner
    from recovery.tables import END, NAME, PLAIN_CALL

    text = text_of(name)
    kinds = _kinds(text)
    assert kinds[-1] == END
    assert kinds.count(NAME) + kinds.count(PLAIN_CALL) == SHAPES[name].expected
    tokens = len(kinds)
    limits = Limits()

    def run() -> None:
        scanner = Scanner(limits, 0)
        scanner.feed(text, True)
        scan = scanner.scan
        for _ in range(tokens):
            scan()

    return run


class _Taking:
    """A builder that takes everything and builds nothing."""

    value = None

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.scanner = self

    def take(self, _kind: int) -> bool:
        return True

    def build(self, _action: int) -> bool:
        return True


def parsing(name: str) -> Run:
    from recovery.builder import Builder
    from recovery.parser import TAKEN, WHOLE, Parser

    kinds = _kinds(text_of(name))

    def run() -> int:
        push = Parser(cast("Builder", _Taking())).push
        answer = TAKEN
        for kind in kinds:
            answer = push(kind)
        return answer

    assert run() == WHOLE
    return run


SPELLINGS: Final = {
    "offered": ("harbour_book", "harbour_book"),
    "dotted": ("harbour.book", "harbour_book"),
    "spaced": ("crew assign", "crew_assign"),
    "unknown": ("harbour_look", "unknown_tool"),
    "operator": ("harbour-book", "operator"),
}


def naming(spelling: str) -> Run:
    from recovery.names import resolve
    from recovery.toolset import Tool

    written, expected = SPELLINGS[spelling]
    found = resolve(written, TOOLS)
    assert (found.name if isinstance(found, Tool) else found.value) == expected
    return partial(resolve, written, TOOLS)


STRINGS: Final = {
    "plain_string": ("low water at noon, " * 20, "low water at noon, " * 20),
    "escaped_string": (r"low\twater \u00e9 " * 20, "low\twater \u00e9 " * 20),
    "other_script_string": ("низкая вода " * 20, "низкая вода " * 20),
}
NUMBERS: Final = {
    "integer": ("1_048_576", 1_048_576),
    "hexadecimal": ("0xfeed", 0xFEED),
    "fraction": ("2.5e-3", 0.0025),
}


def decoding_string(name: str) -> Run:
    from recovery.literals import decode_string

    body, value = STRINGS[name]
    run = partial(decode_string, body, False, False)
    assert run() == value
    return run


def decoding_number(name: str) -> Run:
    from recovery.literals import decode_number

    lexeme, value = NUMBERS[name]
    run = partial(decode_number, lexeme, 4_300)
    assert run() == value
    return run


# -- end to end


def reading(name: str) -> Run:
    text = text_of(name)
    check(name, text)
    return partial(recover, text, TOOLS, policy=SHAPES[name].policy)


STREAMED: Final = ("long_string", "many_calls", "number_list", "prose_long", "prose_with_block")
# A token is about a word with the blank before it.
DELTAS: Final = {"4_characters": r"(?s).{1,4}", "token": r"(?s) ?\w{1,8}|.", "line": r"[^\n]*\n|[^\n]+"}


def streaming(name: str, by: str) -> Run:
    text = text_of(name)
    policy = SHAPES[name].policy
    deltas = re.findall(DELTAS[by], text)
    assert "".join(deltas) == text

    def run() -> Stream:
        stream = Stream(TOOLS, policy=policy)
        for delta in deltas:
            stream.feed(delta)
        stream.close()
        return stream

    check(name, text)
    assert run().result == recover(text, TOOLS, policy=policy)
    return run


NUMBERS_OF_TOOLS: Final = (1, 10, 1_000, 10_000)


def _offer(number: int) -> list[object]:
    """So many tools with schemas, the last of them `tide_table`."""
    properties = {"port": {"type": "string"}, "day": {"type": "string"}}
    names = [*(f"harbour_{at:05}_survey" for at in range(number - 1)), "tide_table"]
    return [{"name": name, "parameters": {"type": "object", "properties": properties}} for name in names]


def building(number: int) -> Run:
    offered = _offer(number)
    assert len(Toolset(offered).tools) == number
    return partial(Toolset, offered)


def reading_with_tools(number: int, text: str, calls: int) -> Run:
    tools = Toolset(_offer(number))
    run = partial(recover, text, tools)
    assert [call.name for call in run().calls] == ["tide_table"] * calls
    return run


# Families that were slow once, or that make a reader look again: a piece repeated up to so many characters.
HOSTILE: Final = (
    "half-calls-in-lists",
    "deep-lists",
    "quotes-in-words",
    "prose-lines-with-call",
    "lists-behind-colons",
    "fences-of-calls-not-offered",
    "json-nested",
    "many-tools-nearly-called",
)
HOSTILE_SIZE: Final = 5_000


def reading_hostile(name: str) -> Run:
    from tests.families import FAMILIES

    family = FAMILIES[name]
    text, tools = family.text(HOSTILE_SIZE), family.tools(HOSTILE_SIZE)
    run = partial(recover, text, tools, policy=Policy.lenient())
    assert run().status == family.status
    return run


def replaying() -> Run:
    from recovery.replay import Plan, replay
    from recovery.rows import read_toolsets

    toolsets, bad = read_toolsets(str(EXAMPLES / "toolsets.jsonl"))
    assert not bad
    answers = EXAMPLES / "answers.jsonl"
    run = partial(replay, [str(answers)], Plan(Policy.default(), toolsets))
    report = run()
    assert (report.bad, report.tally.total.answers) == (0, len(answers.read_bytes().splitlines()))
    return run


def importing() -> Run:
    """Every module of the engine run again, as in a new process but for the standard library."""

    def run() -> object:
        held = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "recovery"}
        for name in held:
            del sys.modules[name]
        re.purge()
        try:
            return importlib.import_module("recovery").Policy
        finally:
            for name in [name for name in sys.modules if name.split(".")[0] == "recovery"]:
                del sys.modules[name]
            sys.modules.update(held)

    assert run() is not Policy
    assert sys.modules["recovery"].Policy is Policy
    return run


def _all() -> Iterator[Bench]:
    for name in SCANNED:
        yield Bench("scanner", name, partial(scanning, name))
        if PURE:
            yield Bench("parser", name, partial(parsing, name))
    for spelling in SPELLINGS:
        yield Bench("names", spelling, partial(naming, spelling))
    for name in STRINGS:
        yield Bench("literals", name, partial(decoding_string, name))
    for name in NUMBERS:
        yield Bench("literals", name, partial(decoding_number, name))
    for name in SHAPES:
        yield Bench("recover", name, partial(reading, name))
    for name in STREAMED:
        for by in DELTAS:
            yield Bench("stream", f"{name}_by_{by}", partial(streaming, name, by))
    call = text_of("one_call").replace("harbour_book", "tide_table")
    for number in NUMBERS_OF_TOOLS:
        yield Bench("toolset", f"building_{number}", partial(building, number))
        yield Bench("toolset", f"call_of_{number}", partial(reading_with_tools, number, call, 1))
        yield Bench("toolset", f"prose_of_{number}", partial(reading_with_tools, number, text_of("prose_medium"), 0))
    for name in HOSTILE:
        yield Bench("hostile", name, partial(reading_hostile, name))
    yield Bench("replay", "examples", replaying)
    if PURE:
        yield Bench("import", "recovery", importing)


BENCHES: Final = {bench.title: bench for bench in sorted(_all(), key=lambda bench: bench.room)}
ROOMS: Final = tuple(dict.fromkeys(bench.room for bench in BENCHES.values()))
