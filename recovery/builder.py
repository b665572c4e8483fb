"""The parser's actions: tokens and complete rules ▶ calls, labels and the first refusal.

`take` is called for each token that carries more than a value, `build` for each rule that is complete; both answer
whether to go on. Values that wait for what they belong to stand on a stack. A name is resolved at its "(" and a key
compared at its "=" or ":", so that the leftmost defect is found first. An unknown name does not stop the reading by
itself: whether the rest is calls decides if the answer looks like one. May import: `arguments`, `names`, `policy`,
`result`, `scanner`, `tables`, `toolset`.
"""

from __future__ import annotations

from typing import Any

from .arguments import names_arguments
from .names import operator_at, operator_end, resolve
from .policy import Allowance, Limits
from .result import Call, Reason, Refusal, Span
from .scanner import Scanner
from .tables import (
    CALL,
    CALL_WITH_DICT,
    COLON,
    EMPTY_DICT,
    EMPTY_LIST,
    FIRST_ITEM,
    FIRST_PAIR,
    FIRST_STRINGS,
    JOIN,
    KEY,
    NAME,
    NEXT_ITEM,
    NEXT_PAIR,
    NEXT_STRING,
    SET_ARGUMENT,
    SIGNED,
)
from .toolset import Tool, Toolset


class Builder:
    """What has been built of one block."""

    __slots__ = (
        "_arguments",
        "_call_start",
        "_limits",
        "_tool",
        "_toolset",
        "_values_left",
        "_written",
        "calls",
        "names",
        "refusal",
        "scanner",
        "shaped",
        "stack",
        "used_dict",
    )

    def __init__(self, scanner: Scanner, toolset: Toolset, limits: Limits) -> None:
        self.scanner = scanner
        self._toolset = toolset
        self._limits = limits
        # Values whose container or argument is not complete, and containers; the parser puts literals here.
        self.stack: list[Any] = []
        # The call being read.
        self._tool: Tool | None = None
        self._written = ""
        self._call_start = 0
        self._arguments: dict[str, Any] = {}
        self._values_left = limits.values
        # How many names were read, and the calls of those that are offered.
        self.names = 0
        self.calls: list[Call] = []
        # The leftmost defect. A name that no tool has is noted here without stopping the reading.
        self.refusal: Refusal | None = None
        # Whether the first name is a tool's.
        self.shaped = False
        # Whether a dict stood for the arguments of any call.
        self.used_dict = False

    def used(self) -> list[Allowance]:
        """The steps away from the strict reading that were taken."""
        used = []
        if self.scanner.escaped:
            used.append(Allowance.MARKDOWN_ESCAPE)
        if self.scanner.raw_newline:
            used.append(Allowance.RAW_NEWLINE)
        if self.used_dict:
            used.append(Allowance.SINGLE_DICT)
        return used

    def take(self, kind: int) -> bool:
        """The scanner's token has its place; False where it is refused."""
        if kind == NAME:
            return self._take_name()
        if kind == COLON:
            return self._take_colon()
        arguments = self._arguments
        scanner = self.scanner
        if kind == KEY:
            if scanner.key in arguments:
                return self._refuse(Reason.DUPLICATE_KEY, scanner.start, scanner.end(kind))
            self.stack.append(scanner.key)
            return True
        for start, key, value in scanner.arguments:
            if key in arguments:
                return self._refuse(Reason.DUPLICATE_KEY, start, start + len(key))
            arguments[key] = value
            self._values_left -= 1
            if self._values_left < 0:
                return self._refuse_values()
        return True

    def build(self, action: int) -> bool:
        """The rule with this action is complete; False where what it builds is refused."""
        stack = self.stack
        if action == CALL:
            if self._tool is not None:
                self._add_call(self._tool, self._arguments)
            return True
        if action == SET_ARGUMENT:
            value = stack.pop()
            self._arguments[stack.pop()] = value
            return self._count_value()
        if action == NEXT_ITEM:
            value = stack.pop()
            stack[-1].append(value)
            return self._count_value()
        if action == FIRST_ITEM:
            stack[-1] = [stack[-1]]
            return self._count_value()
        if action == NEXT_PAIR:
            value = stack.pop()
            key = stack.pop()
            stack[-1][key] = value
            return self._count_value()
        if action == FIRST_PAIR:
            value = stack.pop()
            stack[-1] = {stack[-1]: value}
            return self._count_value()
        if action == SIGNED:
            value = stack.pop()
            stack[-1] = -value if stack[-1] == "-" else value
        elif action == EMPTY_LIST:
            stack.append([])
        elif action == EMPTY_DICT:
            stack.append({})
        elif action == FIRST_STRINGS:
            # Parts, joined once: adding string to string would take quadratic time.
            stack[-2:] = [[stack[-2], stack[-1]]]
        elif action == NEXT_STRING:
            part = stack.pop()
            stack[-1].append(part)
        elif action == JOIN:
            stack[-1] = "".join(stack[-1])
        else:
            assert action == CALL_WITH_DICT
            return self._add_call_with_dict(stack.pop())
        return True

    def _count_value(self) -> bool:
        self._values_left -= 1
        return self._values_left >= 0 or self._refuse_values()

    def _refuse_values(self) -> bool:
        # At the call: where in it the limit is met depends on how many arguments the scanner took in one step.
        return self._refuse(Reason.TOO_MANY_VALUES, self._call_start, self._call_start + len(self._written))

    def _refuse(self, reason: Reason, start: int, end: int = -1, *expected: str) -> bool:
        """Note the defect, one character long where no end is given, if it is the first; False, to stop."""
        if self.refusal is None:
            self.refusal = Refusal(reason, Span(start, end if end >= 0 else start + 1), expected)
        return False

    def _take_name(self) -> bool:
        scanner = self.scanner
        start = self._call_start = scanner.start
        written = self._written = scanner.name
        end = start + len(written)
        self._arguments = {}
        self.names += 1
        if self.names > self._limits.calls:
            return self._refuse(Reason.TOO_MANY_CALLS, start, end)
        plain = written
        if "\\" in written:
            scanner.escaped = True
            plain = written.replace("\\_", "_")
        found = resolve(plain, self._toolset)
        if isinstance(found, Tool):
            self._tool = found
            if self.names == 1:
                self.shaped = True
            return True
        self._tool = None
        if found is Reason.OPERATOR:
            at = operator_at(written)
            self._refuse(found, start + at, start + operator_end(written, at))
        else:
            self._refuse(found, start, end, "the name of an offered tool")
        # Whether the rest is calls still matters, but not where the answer is known to be call-shaped.
        return not self.shaped

    def _take_colon(self) -> bool:
        """The key of a pair is complete: below it on the stack is the dict, where it is not the first."""
        stack = self.stack
        if len(stack) > 1 and type(stack[-2]) is dict and stack[-1] in stack[-2]:
            return self._refuse(Reason.DUPLICATE_KEY, self.scanner.string_at, self.scanner.start)
        return True

    def _add_call(self, tool: Tool, arguments: dict[str, Any]) -> None:
        # The ")" is the token that the scanner stands on.
        span = Span(self._call_start, self.scanner.start + 1)
        self.calls.append(Call(tool.name, self._written, arguments, span))

    def _add_call_with_dict(self, arguments: dict[str, Any]) -> bool:
        self.used_dict = True
        if self._tool is None:
            return True
        if not names_arguments(self._tool.parameters, arguments):
            return self._refuse(Reason.AMBIGUOUS_ARGUMENTS, self._call_start, self.scanner.start + 1)
        self._add_call(self._tool, arguments)
        return True
