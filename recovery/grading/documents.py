"""The objects of a file of JSON lines or YAML, each with the line it begins in, its fields with theirs.

May import: `grading.difference`, `grading.rawargs`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from .difference import shown
from .rawargs import read_arguments

_JSON_LINES: Final = (".jsonl", ".ndjson")
_YAML: Final = (".yaml", ".yml")


class Problem(NamedTuple):
    """What is wrong with a file, and where. `line` from 1, 0 where it is the whole file; `field` may be empty."""

    file: str
    line: int
    field: str
    message: str
    is_error: bool = True

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        said = f"{self.field}: {self.message}" if self.field else self.message
        return f"{place}: {said}" if self.is_error else f"{place}: warning: {said}"


@dataclass(frozen=True, slots=True)
class Document:
    """One object of the file."""

    file: str
    line: int
    fields: dict[str, Any]
    # Where fields stand in lines of their own.
    lines: Mapping[str, int]

    def problem(self, field: str, message: str, *, is_error: bool = True) -> Problem:
        """A problem of this object, in the line of the field."""
        return Problem(self.file, self.lines.get(field.partition("/")[0], self.line), field, message, is_error)


def read_documents(path: str, raw: bytes) -> Iterator[Document | Problem]:
    """The objects of the file, and in place of each that can't be read what is wrong with it. Never raises."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*_JSON_LINES, *_YAML):
        yield Problem(path, 0, "", f"the name must end in one of {', '.join((*_JSON_LINES, *_YAML))}")
        return
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        yield Problem(path, raw.count(b"\n", 0, error.start) + 1, "", f"no UTF-8: byte 0x{raw[error.start]:02x}")
        return
    yield from _json_lines(path, text) if suffix in _JSON_LINES else _yaml(path, text)


def _json_lines(path: str, text: str) -> Iterator[Document | Problem]:
    # Not `splitlines`, which cuts strings at signs that JSON lets stand in them.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        read = read_arguments(line)
        if read.problem is not None:
            yield Problem(path, number, "", read.problem.message.removeprefix("malformed arguments: "))
        else:
            yield Document(path, number, read.value, {})


class _Loader(yaml.SafeLoader):
    """YAML whose scalars are what JSON has: `no` and a date are texts."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.rpartition(":")[2] not in ("timestamp", "bool", "int")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|false)\Z"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z"), list("-+0123456789"))


def _yaml(path: str, text: str) -> Iterator[Document | Problem]:
    """A list of objects, or several documents, each an object or a list of them."""
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        yield Problem(path, line, "", f"no YAML: U+{error.character:04X} can't stand in it")
        return
    try:
        while loader.check_node():
            node = loader.get_node()
            for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
                yield _of_node(path, loader, item)
    except yaml.YAMLError as error:
        yield _yaml_problem(path, error)
    except (ValueError, RecursionError) as error:
        yield Problem(path, 0, "", f"no YAML that can be read: {error}")
    finally:
        loader.dispose()


def _of_node(path: str, loader: _Loader, node: Any) -> Document | Problem:
    line = node.start_mark.line + 1
    try:
        twice = _twice(node)
        if twice is not None:
            return Problem(path, twice.start_mark.line + 1, "", f"the key {shown(twice.value)} stands twice")
        fields = loader.construct_document(node)
    except yaml.YAMLError as error:
        return _yaml_problem(path, error)
    except (ValueError, OverflowError) as error:
        return Problem(path, line, "", f"can't be read: {error}")
    if not isinstance(fields, dict) or not isinstance(node, yaml.MappingNode):
        return Problem(path, line, "", f"must be an object, not {shown(fields)}")
    document = Document(path, line, fields, {key.value: key.start_mark.line + 1 for key, _ in node.value})
    problem = read_arguments(fields).problem
    if problem is None:
        return document
    return document.problem(problem.pointer[1:], problem.message.removeprefix("malformed arguments: "))


def _yaml_problem(path: str, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None)
    said = " ".join(filter(None, (getattr(error, "context", ""), getattr(error, "problem", "") or str(error))))
    return Problem(path, 0 if mark is None else mark.line + 1, "", f"no YAML: {said}")


def _twice(node: yaml.Node) -> yaml.Node | None:
    """The first key that stands twice in one object of the node."""
    todo, seen = [node], set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys: set[Any] = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in keys:
                        return key
                    keys.add(key.value)
                todo.append(value)
        elif isinstance(node, yaml.SequenceNode):
            todo += node.value
    return None
