"""The command `recovery stream`: an answer that is still being written, on standard input, and its events as they come.

People get text as it is, each call on a line of its own, and in the end a sentence on standard error; programs get one
JSON object a line. May import: the public names of the package, `cli_options`, `terminal`.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, Literal

from . import CallEvent, Event, Stream, TextEvent
from .cli_options import aliases_option, allow_option, policy_of, policy_option, read_tools, tools_option
from .terminal import Misuse, output, print_line

# isort: split
# Behind `terminal`, which tells what to install where it is missing.
import click

# At most so many bytes are taken at once; what has arrived is taken however little it is.
_BYTES: Final = 64 * 1024
# What a terminal acts upon, but for line ends and tabs.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@click.command("stream")
@tools_option
@aliases_option
@policy_option
@allow_option
@click.option(
    "--commit",
    type=click.Choice(["answer", "call"]),
    default="answer",
    show_default=True,
    help="When a call goes out: `answer`: when the answer is over, and all of it was read. `call`: as soon as the call "
    "has ended; what follows can still make the answer one that is refused, as `[f(x=1), g(` does when nothing more "
    "comes, and the calls that are out are not taken back.",
)
@click.option(
    "--reasoning-open",
    is_flag=True,
    help="The prompt has opened the model's reasoning: nothing is a call before its end is written.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line: each text, each call, the end.")
def stream(
    tools_file: str,
    aliases_file: str | None,
    policy: str,
    allow: tuple[str, ...],
    commit: Literal["answer", "call"],
    reasoning_open: bool,
    as_json: bool,
) -> None:
    """Read an answer from standard input as it is written: text goes out at once, calls when they are certain.

    Text is printed as it is, each call on a line of its own behind a `▶`, and in the end, on standard error, what
    became of the answer. On a terminal calls are bold, and control characters are shown as `\ufffd`. A program takes
    --json, where nothing in a text can look like a call.

    \b
    echo '["weather_today"]' > tools.json
    (echo 'I look.'; sleep 2; echo '[weather.today(city="Oslo")]') |
        recovery stream --tools tools.json --policy lenient

    \b
    With --json, a line is one of
      {"type": "text", "text": "I look.\\n"}
      {"type": "call", "index": 0, "id": "call_…", "name": "weather_today", "written": …, "arguments": …, "span": …}
      {"type": "end", "status": "recovered", …}
    The end has all that `recovery recover` prints. Where there is none, the answer was not read to its end.

    Exit status: 0 recovered, 1 left as text (with --commit call: whatever is out already), 2 misuse.
    """
    reader = Stream(
        read_tools(tools_file, aliases_file),
        policy=policy_of(policy, allow),
        commit=commit,
        reasoning_open=reasoning_open,
    )
    page = None if as_json else _Page()
    show = _print_json if page is None else page.show
    try:
        for piece in _pieces():
            for event in reader.feed(piece):
                show(event)
        for event in reader.close():
            show(event)
    finally:
        if page is not None:
            page.end_line()
    _conclude(reader, as_json=as_json)


def _pieces() -> Iterator[str]:
    """Standard input as it arrives: no piece waits for more than the rest of its last character."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    for raw in chain(_chunks(), [b""]):
        done += len(raw)
        try:
            piece = decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            held, at = error.object, error.start
            yield held[:at].decode()
            place = done - len(held) + at
            raise Misuse(f"-: no UTF-8: byte 0x{held[at]:02x} at offset {place}") from None
        yield piece


def _chunks() -> Iterator[bytes]:
    with open(0, "rb", buffering=0, closefd=False) as source:
        while raw := source.read(_BYTES):
            yield raw


class _Page:
    """What people see on standard output."""

    def __init__(self) -> None:
        self._console = output()
        self._is_terminal = sys.stdout.isatty()
        # A carriage return alone would let text be written over.
        self._line_ends = io.IncrementalNewlineDecoder(None, translate=True)
        self._begins_line = True

    def show(self, event: Event) -> None:
        if isinstance(event, TextEvent):
            self._write(event.text)
        elif isinstance(event, CallEvent):
            if not self._begins_line:
                self._write("\n")
            arguments = event.call.to_json_arguments()
            print_line(self._console, f"▶ {event.call.name} {_escaped(arguments)}", "bold")

    def end_line(self) -> None:
        """Let what follows, on standard error, begin a line of the terminal."""
        if self._is_terminal and not self._begins_line:
            self._write("\n")

    def _write(self, text: str) -> None:
        if self._is_terminal:
            text = _CONTROL.sub("\ufffd", self._line_ends.decode(text))
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()
            self._begins_line = text[-1] == "\n"


def _escaped(arguments: str) -> str:
    """The same JSON, with an escape for all that is seen otherwise than it is written."""
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in arguments)


def _print_json(event: Event) -> None:
    if isinstance(event, TextEvent):
        row: dict[str, Any] = {"type": "text", "text": event.text}
    elif isinstance(event, CallEvent):
        row = {"type": "call", "index": event.index, "id": event.id, **event.call.to_dict()}
    else:
        row = {"type": "end", **event.recovery.to_dict()}
    click.echo(json.dumps(row))


def _conclude(reader: Stream, *, as_json: bool) -> None:
    """Say on standard error what became of the answer; the exit status."""
    result = reader.result
    if result.status == "recovered":
        if not as_json:
            took = f" (it took {', '.join(sorted(result.used))})" if result.used else ""
            click.echo(f"recovered: {_count(len(result.calls))}{took}", err=True)
        return
    refusal = result.refusal
    click.echo("text: nothing here looks like a call" if refusal is None else refusal.explain(result.text), err=True)
    if reader.committed:
        click.echo(f"{_count(len(reader.committed))} went out before that was known", err=True)
    raise SystemExit(1)


def _count(calls: int) -> str:
    return "1 call" if calls == 1 else f"{calls:,} calls"
