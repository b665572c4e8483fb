"""Hashes of what a run rests on: the tools as they were sent, schemas, the source of functions, the grader's own code.

May import: the public names of the package, `grading.provenance`, `grading.schema`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from recovery import Toolset

from .provenance import digest
from .schema import Schemas

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
    "rawargs.py",
    "schema.py",
    "semantic.py",
    "spelling.py",
)
# Those that send, read and check.
_PACKAGES: Final = ("recovery", "pydantic", "jsonschema", "openai", "anthropic")


def tools_digest(tools: Toolset | Iterable[object]) -> str:
    """Of names, descriptions and schemas as they stand in the text, whatever shape they come in.

    The same for OpenAI's shape and Anthropic's; another where a byte of a description or the order of keys differs.
    Raises `TypeError` or `ValueError` for what is no tool.
    """
    rows = [[tool.name, tool.description, tool.parameters or NO_ARGUMENTS] for tool in Toolset.of(tools).tools]
    # Not in canonical form: a model reads the keys in the order in which they were sent.
    return bytes_digest(json.dumps(rows, separators=(",", ":")).encode())


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


def schema_digests(schemas: Schemas) -> dict[str, str]:
    """By tool, "*" where one is for all: of the schema that its arguments are held against, and of a model's source.

    Raises `SchemaError` for a schema that can't be used.
    """
    found = {}
    for name in sorted(schemas.names) or ["*"] * (schemas._for_all is not None):
        model = schemas._by_tool.get(name, schemas._for_all)
        # Validators stand in the class and not in its schema.
        source = source_digest(model) if isinstance(model, type) else None
        found[name] = digest([schemas.json_schema(name), source])
    return found


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


def _past_space(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at
