"""The parser's actions: tokens and complete rules ▶ calls, labels and the first refusal.

`take` is called for each token that carries more than a value, `build` for each rule that is complete; both answer
whether to go on. Values that wait for what they belong to stand on a stack. A name is resolved at its "(" and a key
compared at its "=" or ":", so that the leftmost defect is found first. An unknown name does not stop the reading by
itself: whether the rest is calls decides if the answer looks like one. May import: `arguments`, `jsoncalls`,
`literals`, `names`, `policy`, `result`, `scanner`, `tables`, `toolset`.
"""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from typing import Any, NamedTuple

from .arguments import is_bare_word, place, read_leading_zero, takes_keys
from .jsoncalls import calls_of, json_names, read_json_call
from .literals import CONSTANTS, LeadingZero
from .names import PRINT, operator_at, operator_end, resolve, widen
from .policy import Allowance, Limits
from .result import LIMITED, Call, Reason, Refusal, Span
from .scanner import Scanner
from .tables import (
    ADD_POSITION,
    ARGUMENTS,
    ASSIGNED,
    CALL,
    COLON,
    EMPTY_DICT,
    EMPTY_LIST,
    FIRST_ITEM,
    FIRST_PAIR,
    FIRST_STRINGS,
    JOIN,
    JSON_CALL,
    KEY,
    NAME,
    NEXT_ITEM,
    NEXT_PAIR,
    NEXT_STRING,
    OBJECT_BEGINS,
    PLAIN_CALL,
    QUOTED_CALL,
    SEPARATE_LISTS,
    SET_ARGUMENT,
    SET_BARE_WORD,
    SET_COLON_ARGUMENT,
    SIGNED,
    STRING,
    UNCLOSED_LIST,
    WORD,
    WRAPPED,
)
from .toolset import Tool, Toolset


class Inner(NamedTuple):
    """What a string was read as, on its own: its one call, or its one JSON object; and the steps that took."""

    call: Call | None
    value: dict[str, Any] | None
    used: set[Allowance]
    # Whether it begins with a call of an offered tool.
    shaped: bool = False
    # How many values it holds: they count as the block's.
    values: int = 0


# Reads the value of a string as an answer of its own: the tools, the limits, the text, and whether an object is wanted.
ReadInner = Callable[[Toolset, Limits, str, bool], Inner]


class Builder:
    """What has been built of one block."""

    # What is not set by the constructor begins as said here: that spares each answer the setting.

    # The call being read: where it begins, how it is spelled, how many keys are written with "=" and with ":", whether
    # a wrapper stands around it, and whether that is `print`, whose call is still to come.
    _tool: Tool | None = None
    _written = ""
    _positions: list[Any] | None = None
    _call_start = 0
    _keys = 0
    _colons = 0
    _wrapped = False
    printing = False
    _object_start = 0
    _zeros_read = 0
    # How many names were read.
    names = 0
    # The leftmost defect. A name that no tool has is noted here without stopping the reading.
    refusal: Refusal | None = None
    # Whether a limit stopped the reading.
    limited = False
    # Whether the first name is a tool's.
    shaped = False
    # Whether the block begins as a list; whether it is one without its end.
    is_list = False
    unclosed = False

    def __init__(self, scanner: Scanner, toolset: Toolset, limits: Limits, read_inner: ReadInner | None) -> None:
        """`read_inner` is None where strings are not to be read, being one already."""
        self.scanner = scanner
        self._toolset = toolset
        self._limits = limits
        self._read_inner = read_inner
        # Values whose container or argument is not complete, and containers; the parser puts literals here.
        self.stack: list[Any] = []
        self._arguments: dict[str, Any] = {}
        # How many more values the limit leaves.
        self.values_left = limits.values
        # The calls whose tool is offered; and the objects of a reading that wants these.
        self.calls: list[Call] = []
        self.objects: list[dict[str, Any]] = []
        self.steps: set[Allowance] = set()

    def used(self) -> set[Allowance]:
        """The steps away from the strict reading that were taken."""
        scanner = self.scanner
        used = self.steps
        if scanner.escaped:
            used.add(Allowance.MARKDOWN_ESCAPE)
        if scanner.raw_newline:
            used.add(Allowance.RAW_NEWLINE)
        if scanner.quote_repair:
            used.add(Allowance.QUOTE_REPAIR)
        if scanner.smart_quotes:
            used.add(Allowance.SMART_QUOTES)
        return used

    def is_whole(self) -> bool:
        """Whether all that was read is calls of offered tools, some of which may be tools that are never recovered."""
        refusal = self.refusal
        return self.calls != [] and (refusal is None or refusal.reason is Reason.NEVER_RECOVERED)

    def has_arguments(self) -> bool:
        """Whether anything was read of the arguments of the call that is not complete."""
        return bool(self.stack or self._positions or self._arguments or self._keys or self._colons)

    def commits(self) -> bool:
        """Whether what was read so far begins like a call of an offered tool: a name and "(", or a JSON name field."""
        if self.shaped:
            return True
        stack = self.stack
        if not self.scanner.json or not stack or not isinstance(stack[0], dict):
            return False
        return self._names_tool(stack[0])

    def _names_tool(self, value: dict[str, Any]) -> bool:
        return any(isinstance(resolve(name, self._toolset), Tool) for name in json_names(value))

    def take(self, kind: int) -> bool:
        """The scanner's token has its place; False where it is refused."""
        if kind == PLAIN_CALL:
            # Its bracket closes where the call has its place, not where it was scanned.
            self.scanner.closed_at = self.scanner.call_end
            return self._take_name() and self._take_arguments() and self._end_call(self.scanner.call_end)
        if kind == NAME:
            return self._take_name()
        if kind == COLON:
            return self._take_colon()
        arguments = self._arguments
        scanner = self.scanner
        if kind == ARGUMENTS:
            return self._take_arguments()
        if not self._written:
            # What the result of a call is assigned to. To a reserved word nothing is, but whether the rest is calls
            # still matters.
            if iskeyword(scanner.key) or scanner.key in CONSTANTS:
                self._refuse(Reason.SYNTAX, scanner.start, scanner.end(kind))
            self.stack.append(scanner.key)
            return True
        if kind == KEY:
            self._keys += 1
        else:
            self._colons += 1
            self.steps.add(Allowance.COLON)
        self.stack.append(scanner.key)
        if self._colons and self._keys:
            # One style a call.
            return self._refuse(Reason.SYNTAX, scanner.start, scanner.end(kind))
        if scanner.key in arguments:
            return self._refuse(Reason.DUPLICATE_KEY, scanner.start, scanner.end(kind))
        return True

    def _take_arguments(self) -> bool:
        """Arguments that the scanner read in one step."""
        scanner = self.scanner
        arguments = self._arguments
        if scanner.arguments:
            self._keys += 1
            if self._colons:
                # One style a call.
                return self._refuse(Reason.SYNTAX, scanner.start, scanner.end(ARGUMENTS))
        for start, key, value in scanner.arguments:
            if key in arguments:
                scanner.refused_at = start + len(key)
                return self._refuse(Reason.DUPLICATE_KEY, start, start + len(key))
            arguments[key] = value
            self.values_left -= 1 + len(value) if type(value) is list else 1
            if self.values_left < 0:
                return self._refuse_values()
        return True

    def build(self, action: int) -> bool:
        """The rule with this action is complete; False where what it builds is refused."""
        stack = self.stack
        if action == CALL:
            return self._end_call(self.scanner.start + 1)
        if action == SET_ARGUMENT or action == SET_COLON_ARGUMENT:
            value = stack.pop()
            key = stack.pop()
            if type(value) is LeadingZero:
                value = self._read_leading_zero(key, value)
            self._arguments[key] = value
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
        return self._build_rarely(action)

    def _build_rarely(self, action: int) -> bool:
        stack = self.stack
        if action == SIGNED:
            value = stack.pop()
            if type(value) is LeadingZero:
                return self._refuse(Reason.BAD_NUMBER, self.scanner.start)
            stack[-1] = -value if stack[-1] == "-" else value
        elif action == EMPTY_LIST:
            stack.append([])
        elif action == EMPTY_DICT:
            stack.append({})
        elif action == FIRST_STRINGS:
            if self.scanner.json:
                # Strings that stand side by side join in Python, not in JSON.
                return self._refuse(Reason.SYNTAX, self.scanner.start, self.scanner.end(STRING))
            # Parts, joined once: adding string to string would take quadratic time.
            stack[-2:] = [[stack[-2], stack[-1]]]
        elif action == NEXT_STRING:
            part = stack.pop()
            stack[-1].append(part)
        elif action == JOIN:
            stack[-1] = "".join(stack[-1])
        elif action == ADD_POSITION:
            return self._add_position(stack.pop())
        elif action == SET_BARE_WORD:
            return self._set_bare_word(stack.pop(), stack.pop())
        elif action == SEPARATE_LISTS:
            self.steps.add(Allowance.SEPARATE_LISTS)
        elif action == UNCLOSED_LIST:
            self.unclosed = True
            self.steps.add(Allowance.UNCLOSED_LIST)
        elif action == ASSIGNED or action == WRAPPED:
            return self._end_wrapper(action)
        elif action == OBJECT_BEGINS:
            self._object_start = self.scanner.start
            self.scanner.json = True
        elif action == JSON_CALL:
            self.scanner.json = False
            return self._add_json_call(stack.pop())
        else:
            assert action == QUOTED_CALL
            return self._add_quoted_call(stack.pop())
        return True

    def _count_value(self) -> bool:
        self.values_left -= 1
        return self.values_left >= 0 or self._refuse_values()

    def _refuse_values(self) -> bool:
        # At the call: where in it the limit is met depends on how many arguments the scanner took in one step.
        return self._refuse(Reason.TOO_MANY_VALUES, self._call_start, self._call_start + len(self._written))

    def _read(self, text: str, *, wants_object: bool) -> Inner:
        """What a string holds, read on its own; nothing where this is such a reading already."""
        if self._read_inner is None:
            return Inner(None, None, set())
        return self._read_inner(self._toolset, self._limits, text, wants_object)

    def _count_inner(self, inner: Inner, start: int, end: int) -> bool:
        """Count the values that the string at this place holds, and the steps that its reading took."""
        self.steps.update(inner.used)
        self.values_left -= inner.values
        return self.values_left >= 0 or self._refuse(Reason.TOO_MANY_VALUES, start, end)

    def _count_name(self, start: int, end: int) -> bool:
        self.names += 1
        return self.names <= self._limits.calls or self._refuse(Reason.TOO_MANY_CALLS, start, end)

    def _refuse(self, reason: Reason, start: int, end: int = -1, *expected: str) -> bool:
        """Note the defect, one character long where no end is given, if it is the first; False, to stop."""
        self.limited = self.limited or reason in LIMITED
        if self.refusal is None:
            self.refusal = Refusal(reason, Span(start, end if end >= 0 else start + 1), expected)
        return False

    # -- names

    def _take_name(self) -> bool:
        scanner = self.scanner
        start = scanner.start
        written = scanner.name
        end = start + len(written)
        printing = self.printing
        if self._written and not printing:
            # A call where the arguments of another are being read.
            return self._refuse(Reason.NOT_A_LITERAL, start, end)
        if not printing:
            self._wrapped = False
        self._call_start = start
        self._written = written
        self._arguments = {}
        self._keys = self._colons = 0
        if not self._count_name(start, end):
            return False
        plain = written
        if "\\" in written:
            scanner.escaped = True
            plain = written.replace("\\_", "_")
        found = resolve(plain, self._toolset)
        if not isinstance(found, Tool):
            if plain == PRINT and not printing and found is Reason.UNKNOWN_TOOL:
                # Nothing is said yet: a call may stand in its parentheses.
                self.printing = True
                self._tool = None
                self.names -= 1
                return True
            found = self._widen(plain, found)
        self.printing = printing
        if isinstance(found, Tool):
            self._tool = found
            if self.names == 1:
                self.shaped = True
            if self._toolset.never:
                self._keep_back(found.name, self._call_start, self._call_start + len(self._written))
            return True
        self._tool = None
        return self._refuse_name(found, start, written)

    def _widen(self, plain: str, reason: Reason) -> Tool | Reason:
        """The tool by an allowance for names, or the reason as it was."""
        widened = None if reason is Reason.AMBIGUOUS_NAME else widen(plain, self._toolset)
        if widened is None or (Allowance.WRAPPER in widened.used and self.printing):
            return reason
        self.steps.update(widened.used)
        if widened.skipped:
            # A word that wraps the call is no part of it. Escapes stand only behind it, if at all.
            self._wrapped = True
            self._call_start += widened.skipped
            self._written = self._written[widened.skipped :]
        return widened.tool

    def _refuse_name(self, reason: Reason, start: int, written: str) -> bool:
        if reason is Reason.OPERATOR:
            at = operator_at(written)
            self._refuse(reason, start + at, start + operator_end(written, at))
        else:
            self._refuse(reason, start, start + len(written), "the name of an offered tool")
        # Whether the rest is calls still matters, but not where the answer is known to be call-shaped.
        return not self.shaped

    def _keep_back(self, name: str, start: int, end: int) -> None:
        """Note it where this tool is never recovered: the rest is read as ever, so that it is no part of other text."""
        if name in self._toolset.never:
            self._refuse(Reason.NEVER_RECOVERED, start, end)

    def _end_wrapper(self, action: int) -> bool:
        """`r = f(x=1)` or `print(f(x=1))` is complete: one wrapper a call."""
        if action == ASSIGNED:
            self.stack.pop()
        elif not self.printing:
            return self._refuse(Reason.NOT_A_LITERAL, self._call_start, self._call_start + 1)
        self.printing = False
        self.steps.add(Allowance.WRAPPER)
        if self._wrapped:
            return self._refuse(Reason.SYNTAX, self._call_start, self._call_start + 1)
        self._wrapped = True
        return True

    # -- arguments

    def _take_colon(self) -> bool:
        """The key of a pair is complete: below it on the stack is the dict, where it is not the first."""
        stack = self.stack
        scanner = self.scanner
        key = stack[-1]
        if len(stack) > 1 and type(stack[-2]) is dict and key in stack[-2]:
            return self._refuse(Reason.DUPLICATE_KEY, scanner.string_at, scanner.start)
        if scanner.escaped and "\\_" in key:
            # Where names are escaped for Markdown, so may be this key: which one is meant would be a guess.
            return self._refuse(Reason.BAD_STRING, scanner.string_at, scanner.start)
        return True

    def _add_position(self, value: Any) -> bool:
        if self._keys or self._colons:
            # None after a keyword: which one it is would be a guess.
            return self._refuse(Reason.SYNTAX, self.scanner.start)
        if self._positions is None:
            self._positions = []
        self._positions.append(value)
        return self._count_value()

    def _set_bare_word(self, word: str, key: str) -> bool:
        end = self.scanner.end(WORD)
        start = end - len(word)
        if self.scanner.exhausted():
            # It could have become a constant.
            return self._refuse(Reason.TRUNCATED, start, end)
        if self._tool is not None and not is_bare_word(self._tool.parameters, key, word):
            return self._refuse(Reason.NOT_A_LITERAL, start, end)
        self.steps.add(Allowance.BARE_WORD)
        self._arguments[key] = word
        return self._count_value()

    def _read_leading_zero(self, key: str, value: LeadingZero) -> str | int:
        self._zeros_read += 1
        self.steps.add(Allowance.LEADING_ZERO)
        parameters = {} if self._tool is None else self._tool.parameters
        return read_leading_zero(parameters, key, value.lexeme)

    # -- calls

    def _end_call(self, end: int) -> bool:
        scanner = self.scanner
        tool = self._tool
        arguments = self._arguments
        if scanner.leading_zeros > self._zeros_read:
            # One that no key tells the type of: in a container, or without a key.
            return self._refuse(Reason.BAD_NUMBER, self._call_start, end)
        if self.printing and tool is None:
            # It was no wrapper, and nothing is called like it.
            self.printing = False
            self.names += 1
            return self._refuse_name(Reason.UNKNOWN_TOOL, self._call_start, self._written)
        if self._positions is not None:
            placed = None if tool is None else place(tool.parameters, self._positions, arguments)
            if tool is not None and placed is None:
                return self._refuse(Reason.AMBIGUOUS_ARGUMENTS, self._call_start, end)
            if placed is not None:
                arguments, step = placed
                self.steps.add(step)
            self._positions = None
        if tool is not None:
            self.calls.append(Call(tool.name, self._written, arguments, Span(self._call_start, end)))
        self._written = ""
        self._arguments = {}
        return True

    def _add_json_call(self, value: dict[str, Any]) -> bool:
        """An object at the top is complete: a call, or the end of the reading."""
        start, end = self._object_start, self.scanner.start + 1
        if self.scanner.leading_zeros > self._zeros_read:
            self.shaped = self.shaped or self._names_tool(value)
            return self._refuse(Reason.BAD_NUMBER, start, end)
        if self._read_inner is None:
            self.objects.append(value)
            return True
        return all(self._add_object(part, start, end) for part in calls_of(value))

    def _add_object(self, value: dict[str, Any], start: int, end: int) -> bool:
        found = read_json_call(value)
        if found is None:
            return self._refuse(Reason.SYNTAX, start, end, "a JSON call")
        if not self._count_name(start, end):
            return False
        self.steps.add(Allowance.JSON)
        tool = self._resolve_json(found.name)
        if isinstance(tool, Reason):
            self._refuse(tool, start, end, "the name of an offered tool")
            return not self.shaped
        self.shaped = self.shaped or self.names == 1
        arguments = found.arguments
        if isinstance(arguments, str) and "".join(arguments.split()) == "{}":
            arguments = {}
        if isinstance(arguments, str):
            inner = self._read(arguments, wants_object=True)
            if inner.value is None:
                return self._refuse(Reason.SYNTAX, start, end, "arguments as a JSON object")
            if not self._count_inner(inner, start, end):
                return False
            arguments = inner.value
        if not takes_keys(tool.parameters, arguments):
            return self._refuse(Reason.AMBIGUOUS_ARGUMENTS, start, end, "arguments that the tool declares")
        self._keep_back(tool.name, start, end)
        self.calls.append(Call(tool.name, found.name, arguments, Span(start, end)))
        return True

    def _resolve_json(self, name: str) -> Tool | Reason:
        found = resolve(name, self._toolset)
        if isinstance(found, Tool):
            return found
        widened = None if found is Reason.AMBIGUOUS_NAME else widen(name, self._toolset)
        if widened is None or Allowance.WRAPPER in widened.used:
            return found
        # In quotes an operator is no operator: letter for letter is the strict rule.
        self.steps.update(set(widened.used) - {Allowance.EXACT_OPERATOR_NAME})
        return widened.tool

    def _add_quoted_call(self, text: str) -> bool:
        """A string of a list is complete: it is read once, on its own, and must be exactly one call."""
        scanner = self.scanner
        start, end = scanner.string_at, scanner.end(STRING)
        inner = self._read(text, wants_object=False)
        self.shaped = self.shaped or inner.shaped
        if inner.call is None:
            return self._refuse(Reason.SYNTAX, start, end, "one call in each string")
        if not (self._count_inner(inner, start, end) and self._count_name(start, end)):
            return False
        self.steps.add(Allowance.QUOTED)
        self._keep_back(inner.call.name, start, end)
        self.calls.append(Call(inner.call.name, inner.call.written, inner.call.arguments, Span(start, end)))
        return self._count_value()
