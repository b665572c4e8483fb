"""Whether arguments fit the schema of their tool: a pydantic model or a JSON Schema, strict or lax.

May import: `grading.coerce`, `grading.difference`, `grading.spelling`, the public names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import jsonschema
from jsonschema.validators import validator_for
from pydantic import BaseModel, ValidationError
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from recovery import Toolset

from .coerce import coerce
from .difference import Difference, shown, to_pointer
from .spelling import SchemaError, close, to_json_schema

# How strictly: `lax` takes what can be coerced, and goes on with the coerced arguments.
Validation: TypeAlias = Literal["strict", "lax"]
# Arguments that the schema neither names nor speaks of.
Extra: TypeAlias = Literal["forbid", "allow"]
# A schema for all tools, or by tool.
ArgSchema: TypeAlias = "type[BaseModel] | Mapping[str, Any] | None"

# By any of these a mapping is a JSON Schema, if what stands there is of the kind; else it maps tools to schemas.
_SIGNS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "type": (str, list),
    "properties": Mapping,
    **dict.fromkeys(("$ref", "$schema", "$id"), str),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "enum", "required"), list),
    "additionalProperties": bool,
}
_MOST_PROBLEMS: Final = 10
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Checked:
    """What a schema says of arguments.

    `valid`: under the declared validation. `coercible`: not valid strictly, but lax validation takes them. `instance`:
    of valid ones the model's instance, or the arguments (coerced, where that is what made them valid).
    """

    valid: bool
    coercible: bool = False
    instance: Any = None
    problems: tuple[Difference, ...] = ()


class Schemas:
    """The schemas of all tools, each made ready once.

    `arg_schema`: a pydantic model or a JSON Schema for all tools, or a mapping from tool to either; a tool it does not
    name, and every tool where it is None, has the schema it is offered with. Without one, all arguments fit.
    `extra="forbid"`: an argument that a schema does not name does not fit, unless the schema itself says otherwise.
    Raises `TypeError` for what is no schema; of what can't be used, `SchemaError` at its first use or by `ready`.
    """

    def __init__(
        self,
        arg_schema: ArgSchema = None,
        tools: Toolset | Iterable[object] = (),
        *,
        validation: Validation = "strict",
        extra: Extra = "forbid",
    ) -> None:
        if validation not in ("strict", "lax"):
            raise ValueError(f"validation must be 'strict' or 'lax', not {validation!r}")
        if extra not in ("forbid", "allow"):
            raise ValueError(f"extra must be 'forbid' or 'allow', not {extra!r}")
        self.validation: Final = validation
        self.extra: Final = extra
        self.toolset: Final = Toolset.of(tools)
        self._by_tool: dict[str, Any] = {}
        self._for_all: Any = None
        if _is_schema(arg_schema, self.toolset):
            self._for_all = arg_schema
        elif isinstance(arg_schema, Mapping):
            for name, schema in arg_schema.items():
                if not _is_model(schema) and not isinstance(schema, Mapping | bool):
                    raise TypeError(
                        f"arg_schema[{name!r}]: expected a pydantic model or a JSON Schema, not {shown(schema)}"
                    )
            self._by_tool = dict(arg_schema)
        elif arg_schema is not None:
            raise TypeError(
                f"arg_schema: expected a pydantic model, a JSON Schema or a mapping, not {shown(arg_schema)}"
            )
        self._ready: dict[str, _ModelSchema | _JsonSchema] = {}

    @property
    def names(self) -> frozenset[str]:
        """The tools that are known by name: the offered ones, and those that the mapping names."""
        return frozenset((*self._by_tool, *(tool.name for tool in self.toolset.tools)))

    def check(self, tool: str, args: dict[str, Any]) -> Checked:
        """Whether these arguments fit. Raises `SchemaError` where the schema can't say."""
        try:
            return self._of(tool).check(args)
        except SchemaError as error:
            raise SchemaError(f"schema of {tool}: {error}") from None

    def json_schema(self, tool: str) -> Mapping[str, Any]:
        """The tool's JSON Schema, a model's too; empty where there is none."""
        try:
            return self._of(tool).json_schema
        except SchemaError as error:
            raise SchemaError(f"schema of {tool}: {error}") from None

    def ready(self) -> None:
        """Make every schema ready. Raises `SchemaError` for the first that can't be used."""
        for name in sorted(self.names):
            self.json_schema(name)

    def _of(self, tool: str) -> _ModelSchema | _JsonSchema:
        found = self._ready.get(tool)
        if found is None:
            found = self._ready[tool] = self._make(tool)
        return found

    def _make(self, tool: str) -> _ModelSchema | _JsonSchema:
        schema = self._by_tool.get(tool, self._for_all)
        if schema is None:
            offered = self.toolset.get(tool)
            schema = {} if offered is None else offered.parameters
        if _is_model(schema):
            return _ModelSchema(schema, self.validation, self.extra)
        return _JsonSchema(schema, self.validation, self.extra)


class _ModelSchema:
    """A pydantic model. JSON is what it validates: strictly, a date is still written as a string."""

    def __init__(self, model: type[BaseModel], validation: Validation, extra: Extra) -> None:
        self._model = model
        self._lax = validation == "lax"
        self.json_schema: Mapping[str, Any] = model.model_json_schema()
        self._closed = extra == "forbid" and model.model_config.get("extra") is None
        self._names = {*self.json_schema.get("properties", ()), *model.model_fields}

    def check(self, args: dict[str, Any]) -> Checked:
        unknown = [name for name in args if name not in self._names] if self._closed else []
        if unknown:
            return Checked(
                valid=False,
                problems=tuple(
                    Difference(to_pointer((name,)), "no such argument") for name in unknown[:_MOST_PROBLEMS]
                ),
            )
        written = json.dumps(args)
        try:
            return Checked(valid=True, instance=self._model.model_validate_json(written, strict=True))
        except ValidationError as error:
            problems = tuple(
                Difference(to_pointer(fault["loc"]), fault["msg"][:_LONGEST])
                for fault in error.errors()[:_MOST_PROBLEMS]
            )
        try:
            coerced = self._model.model_validate_json(written, strict=False)
        except ValidationError:
            return Checked(valid=False, problems=problems)
        return Checked(self._lax, coercible=True, instance=coerced if self._lax else None, problems=problems)


class _JsonSchema:
    def __init__(self, schema: Mapping[str, Any] | bool, validation: Validation, extra: Extra) -> None:
        made = to_json_schema(schema)
        if extra == "forbid":
            made = close(made)
        self.json_schema: Mapping[str, Any] = {} if isinstance(made, bool) else made
        try:
            kind = validator_for(made, default=jsonschema.Draft202012Validator)
            fault = _fault_of(kind, json.dumps(made))
        except (TypeError, ValueError, RecursionError) as error:
            raise SchemaError(f"/: is no JSON: {error}") from None
        except AttributeError:
            raise SchemaError("/$schema: must be a text") from None
        if fault or (fault := _lost_reference(made)):
            raise SchemaError(fault)
        # With a registry of its own a `$ref` is never fetched.
        self._validator = kind(made, registry=Registry())
        self._lax = validation == "lax"

    def check(self, args: dict[str, Any]) -> Checked:
        errors = self._run(lambda: list(self._validator.iter_errors(args)))
        if not errors:
            return Checked(valid=True, instance=args)
        problems = tuple(
            Difference(to_pointer(error.absolute_path), error.message[:_LONGEST]) for error in errors[:_MOST_PROBLEMS]
        )
        fits, coerced = self._run(lambda: coerce(self._validator, args))
        if not fits:
            return Checked(valid=False, problems=problems)
        return Checked(self._lax, coercible=True, instance=coerced if self._lax else None, problems=problems)

    def _run(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Unresolvable as error:
            raise SchemaError(f"a reference that leads nowhere: {error}") from None
        except RecursionError:
            raise SchemaError("a reference to itself, or arguments nested too deep") from None
        except re.error as error:
            raise SchemaError(f"a pattern that can't be read: {error}") from None


@lru_cache(maxsize=4096)
def _fault_of(kind: type[jsonschema.protocols.Validator], schema: str) -> str:
    """What the schema of schemas has against this one. Kept: it takes far longer than to check arguments."""
    try:
        kind.check_schema(json.loads(schema))
    except jsonschema.SchemaError as error:
        return f"{to_pointer(error.absolute_path) or '/'}: {error.message[:_LONGEST]}"
    return ""


def _lost_reference(schema: Mapping[str, Any] | bool) -> str:
    """The first `$ref` that can be seen to lead nowhere, so that it isn't an answer that finds it; or nothing."""
    references, bases = list[str](), list[str]()
    todo: list[Any] = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            # What stands in these is no schema.
            todo += [item for key, item in part.items() if key not in {"const", "default", "enum", "examples"}]
            references += [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            bases += [part[key] for key in ("$id", "id") if isinstance(part.get(key), str)]
        elif isinstance(part, list):
            todo += part
    if bases or not references:
        # From another base a reference may lead elsewhere.
        return ""
    resolver = Registry().resolver_with_root(Resource.from_contents(schema, DRAFT202012))
    for reference in references:
        try:
            resolver.lookup(reference)
        except Unresolvable as error:
            return f"a reference that leads nowhere: {error}"
    return ""


def _is_model(schema: object) -> bool:
    return isinstance(schema, type) and issubclass(schema, BaseModel)


def _is_schema(given: object, toolset: Toolset) -> bool:
    """Whether this is one schema, for all tools, and no mapping from tools to schemas."""
    if not isinstance(given, Mapping):
        return _is_model(given)
    if len(toolset) and all(name in toolset for name in given):
        return False
    return any(name in given and isinstance(given[name], kind) for name, kind in _SIGNS.items())
