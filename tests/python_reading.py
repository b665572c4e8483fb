"""What Python's own parser makes of an answer: calls with literal keyword arguments, or something else.

The oracle of `test_ast_oracle.py`, which lists where `recovery` differs from it and why.
"""

from __future__ import annotations

import ast
import io
import json
import keyword
import math
import re
import tokenize
import warnings
from typing import Any, Final

from recovery import Limits, Policy, Recovery, Toolset, recover

# A call as Python reads it: the name as written, and the arguments.
Read = tuple[str, dict[str, Any]]

# Under limits that Python's own, on depth, comes before.
STRICT: Final = Policy.strict(Limits(depth=300, name=100_000))

_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_MOST: Final = 10**4300
_BLANKS: Final = r"(?:[ \t\f\r\n]|\\(?:\r\n|[\r\n])|#[^\r\n]*)*"
_COMMENT: Final = re.compile(r"#[^\r\n]*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_KEY: Final = re.compile(r"[^ \t\f\r\n=\\#]+")
_PARENTHESIS: Final = re.compile(rf"{_BLANKS}\(")


class _OtherError(Exception):
    """Not calls, or calls in a form that `recovery` refuses."""


def python_reads(text: str) -> list[Read] | None:
    """The calls; none where Python reads something else; None where Python can't read the text."""
    text = text.strip(" \t\f\r\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _Reader(text).calls(ast.parse(text).body)
    except _OtherError:
        return []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _paired(value: str) -> str:
    """The string with surrogates that make a pair as one character; raises `UnicodeDecodeError` for one alone."""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(end.end() for end in re.finditer(r"\r\n|[\r\n]", text))]

    def place(self, line: int | None, column: int | None) -> int:
        """The place in the text; Python counts columns in bytes."""
        assert line is not None
        assert column is not None
        start = self.starts[line - 1]
        return start + len(self.text[start : start + column].encode()[:column].decode())

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self.place(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        return self.place(node.end_lineno, node.end_col_offset)

    def calls(self, body: list[ast.stmt]) -> list[Read]:
        read: list[Read] = []
        for statement in body:
            if not isinstance(statement, ast.Expr) or self.start(statement) != self.start(statement.value):
                # Begins with a parenthesis, where an expression.
                raise _OtherError
            value = statement.value
            if isinstance(value, ast.List):
                if len(body) > 1 or not re.fullmatch(_BLANKS, self.text[self.end(value) :]):
                    raise _OtherError
                read += self.listed(value.elts, self.start(value) + 1)
            elif isinstance(value, ast.Tuple) and value.elts and self.start(value) == self.start(value.elts[0]):
                read += self.listed(value.elts, self.start(value))
                if re.match(r",[ \t\f]*;", self.text[self.end(value) - 1 :]):
                    raise _OtherError
            else:
                read.append(self.call(value))
        return read

    def listed(self, items: list[ast.expr], at: int) -> list[Read]:
        read = []
        for item in items:
            self.refuse_parenthesis(at, self.start(item))
            read.append(self.call(item))
            at = self.end(item)
        return read

    def refuse_parenthesis(self, start: int, end: int) -> None:
        if "(" in _COMMENT.sub("", self.text[start:end]):
            raise _OtherError

    def call(self, node: ast.expr) -> Read:
        if not isinstance(node, ast.Call) or node.args or self.start(node) != self.start(node.func):
            raise _OtherError
        name = self.text[self.start(node.func) : self.end(node.func)]
        if not all(map(str.isidentifier, name.split("."))) or not _PARENTHESIS.match(self.text, self.end(node.func)):
            raise _OtherError
        arguments: dict[str, Any] = {}
        for pair in node.keywords:
            # Not `pair.arg`: Python folds it.
            key = _KEY.match(self.text, self.start(pair))
            if pair.arg is None or key is None or key.group() in arguments:
                raise _OtherError
            arguments[key.group()] = self.value(pair.value)
        return name, arguments

    def value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return self.constant(node)
        if isinstance(node, ast.Name) and node.id in _CONSTANTS:
            return _CONSTANTS[node.id]
        if isinstance(node, ast.List | ast.Tuple):
            return [self.value(item) for item in node.elts]
        if isinstance(node, ast.Dict):
            return self.dict(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            self.refuse_parenthesis(self.start(node), self.start(node.operand))
            if isinstance(node.operand, ast.Constant):
                value = self.constant(node.operand)
                if type(value) in (int, float):
                    return -value if isinstance(node.op, ast.USub) else value
        raise _OtherError

    def dict(self, node: ast.Dict) -> dict[str, Any]:
        read: dict[str, Any] = {}
        at = self.start(node)
        for key, value in zip(node.keys, node.values, strict=True):
            name = self.constant(key) if isinstance(key, ast.Constant) else None
            if not isinstance(name, str) or name in read:
                raise _OtherError
            assert key is not None
            self.refuse_parenthesis(at, self.start(key))
            read[name] = self.value(value)
            at = self.end(value)
        return read

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        if isinstance(value, str):
            if not _SURROGATE.search(value):
                return value
            # Pairs are made in each of adjacent strings, before these are joined.
            written = re.sub("\r\n?", "\n", self.text[self.start(node) : self.end(node)])
            tokens = tokenize.generate_tokens(io.StringIO(f"({written})").readline)
            strings = [token.string for token in tokens if token.type == tokenize.STRING]
            try:
                return "".join(map(_paired, map(ast.literal_eval, strings)))
            except UnicodeDecodeError:
                raise _OtherError from None
        if type(value) is int:
            leading_zero = re.match(r"0[\d_]", self.text[self.start(node) : self.end(node)])
            if abs(value) >= _MOST or leading_zero:
                raise _OtherError
        elif type(value) is float:
            if not math.isfinite(value):
                raise _OtherError
        elif value is not None and not isinstance(value, bool):
            raise _OtherError
        return value


def exact(value: object) -> str:
    """Tells 1, 1.0 and True apart; line ends in strings as Python gives them."""
    return json.dumps(value, sort_keys=True).replace("\\r\\n", "\\n").replace("\\r", "\\n")


def name_of(written: str, toolset: Toolset) -> str | None:
    """The offered tool, by rules 1 and 2 for names without a space; None where there is none, or two claim the name."""
    claims = set([name for name in (written, written.replace(".", "_")) if toolset.get(name)][:1])
    if written in toolset.aliases:
        claims.add(toolset.aliases[written])
    return claims.pop() if len(claims) == 1 else None


def held_against_python(answer: str, toolset: Toolset) -> str:
    """What Python made of it, once strict was found to agree."""
    read = python_reads(answer)
    result = recover(answer, toolset, policy=STRICT)
    if read is None:
        return _held_without_reserved(answer, result)
    names = [name_of(written, toolset) for written, _ in read]
    if read and None not in names:
        assert result.status == "recovered", (answer, result)
        wanted = [(name, written, exact(arguments)) for name, (written, arguments) in zip(names, read, strict=True)]
        assert [(call.name, call.written, exact(call.arguments)) for call in result.calls] == wanted, answer
        return "calls"
    # A name of two words, or one that Python reserves, is an expression to it: `not a(x=1)`, `await()`.
    written = [call.written for call in result.calls]
    assert not written or any(" " in name or keyword.iskeyword(name) for name in written), (answer, result)
    return "calls of others" if read else "something else"


_RESERVED: Final = re.compile(rf"\b(?:{'|'.join(keyword.kwlist)})\b(?={_BLANKS}[=(])")


def _held_without_reserved(answer: str, result: Recovery) -> str:
    """Where only reserved words, as names and keys, keep Python from reading what strict recovers, it reads the same.

    Each of them gets an underscore, for Python to read it as a word; so it does where a string holds what looks alike,
    unless that is written by escapes.
    """
    words = _with_underscores(answer)
    read = None if "\\" in answer or words == answer or not result.calls else python_reads(words)
    if read is None:
        return "can't be read"
    calls = []
    for call in result.calls:
        arguments = {_with_underscores(f"{key}=")[:-1]: _within(value) for key, value in call.arguments.items()}
        calls.append((_with_underscores(f"{call.written}(")[:-1], exact(arguments)))
    assert calls == [(written, exact(arguments)) for written, arguments in read], answer
    return "reserved words"


def _with_underscores(text: str) -> str:
    return _RESERVED.sub(lambda found: f"{found.group()}_", text)


def _within(value: Any) -> Any:
    """The same in the strings of a value, and in its keys."""
    if isinstance(value, dict):
        return {_within(key): _within(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_within(item) for item in value]
    return _with_underscores(value) if isinstance(value, str) else value
