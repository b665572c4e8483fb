"""Hashes of what a run rests on: the tools as they were sent, schemas, the source of functions, the grader's own code.

May import: the public names of the package, `grading.provenance`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from recovery import Toolset

from .provenance import digest

# A tool without a schema takes no arguments; a client must send one all the same.
NO_ARGUMENTS: Final[dict[str, Any]] = {"type": "object", "properties": {}}

# The modules of this folder that decide on an outcome. Other files may change without changing what a number means.
_GRADER: Final = (
    "answer.py",
    "case.py",
    "cell.py",
    "coerce.py",
    "difference.py",
    "grade.py",
    "match.py",
    "matchers.py",
    "outcome.py",
    "schema.py",
    "semantic.py",
    "spelling.py",
)
# Of the bare words in which a client library is wrapped, none matters; the versions that send and read do.
_PACKAGES: Final = ("recovery", "pydantic", "jsonschema", "openai", "anthropic")


def tools_digest(tools: Toolset | Iterable[object]) -> str:
    """Of names, descriptions and schemas in their order, whatever shape they come in: OpenAI's and Anthropic's alike.

    Raises `TypeError` or `ValueError` for what is no tool.
    """
    return digest([[tool.name, tool.description, tool.parameters or NO_ARGUMENTS] for tool in Toolset.of(tools).tools])


def sent_tools(body: bytes) -> bytes | None:
    """The bytes of the value of `tools` in a request's JSON, as they stand there; None where there is none.

    Raises `ValueError` where the body is no JSON object.
    """
    text = body.decode()
    decoder, at = json.JSONDecoder(), _past_space(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("a request's body must be a JSON object")
    while text[at : at + 1] != "}":
        at = _past_space(text, at + 1)
        if text[at : at + 1] == "}":
            break
        key, at = decoder.raw_decode(text, at)
        start = _past_space(text, _past_space(text, at) + 1)
        _, at = decoder.raw_decode(text, start)
        if key == "tools":
            return text[start:at].encode()
        at = _past_space(text, at)
    return None


def bytes_digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def schema_digests(arg_schema: object, tools: Toolset | None) -> dict[str, str]:
    """By tool, "*" for all: of the schema that its arguments are held against. None: those of the offered tools."""
    if arg_schema is None:
        return {tool.name: digest(tool.parameters) for tool in tools.tools} if tools is not None else {}
    if isinstance(arg_schema, Mapping) and all(
        isinstance(key, str) and _is_schema(value) for key, value in arg_schema.items()
    ):
        # A JSON Schema has such values too, under `properties`; there they don't stand at its top.
        return {name: _schema_digest(schema) for name, schema in arg_schema.items()}
    return {"*": _schema_digest(arg_schema)}


def name_of(function: object) -> str:
    """A function's module and qualified name; of an object that is called, its class's."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{getattr(named, '__qualname__', named)}"


def source_digest(function: object) -> str | None:
    """Of the source of a function or of an object's class; of the compiled code where there is no source; or None."""
    named: Any = function if hasattr(function, "__qualname__") else type(function)
    try:
        return bytes_digest(inspect.getsource(named).encode())
    except (OSError, TypeError):
        code = getattr(named, "__code__", None)
        return None if code is None else bytes_digest(repr((code.co_code, code.co_names)).encode())


def grader_digest() -> str:
    """Of the source of the modules that decide on an outcome."""
    folder = Path(__file__).parent
    found = {name: (folder / name).read_bytes() for name in _GRADER if (folder / name).exists()}
    return digest({name: bytes_digest(source) for name, source in found.items()})


def packages() -> dict[str, str]:
    """The versions of the packages that send, read and check, as far as they are there."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def python() -> str:
    """The interpreter and its version."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def git_state() -> tuple[str | None, bool | None]:
    """The commit of the working directory and whether something is changed since; (None, None) outside git."""

    def ask(*arguments: str) -> str:
        return subprocess.run(  # noqa: S603 (fixed words)
            ["git", *arguments],  # noqa: S607 (the caller's git is the one meant)
            capture_output=True,
            check=True,
            text=True,
            timeout=10,
        ).stdout.strip()

    try:
        return ask("rev-parse", "HEAD"), bool(ask("status", "--porcelain"))
    except (OSError, subprocess.SubprocessError):
        return None, None


def _is_schema(value: object) -> bool:
    return isinstance(value, Mapping) or _json_schema(value) is not None


def _json_schema(value: object) -> Callable[[], Any] | None:
    return getattr(value, "model_json_schema", None) or getattr(value, "json_schema", None)


def _schema_digest(schema: object) -> str:
    make = _json_schema(schema)
    if make is None:
        return digest(schema)
    # Validators stand in the class and not in its schema.
    return digest([make(), source_digest(schema)])


def _past_space(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at
