"""What is wrong with a case, given the tools: faults, with which nothing can be graded, and warnings.

Each is the field and a sentence. May import: `grading.case`, `grading.difference`, `grading.match`, `grading.matchers`,
`grading.schema`, the public names.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from recovery import Toolset

from .case import Case, ExpectedCall
from .difference import shown, to_pointer
from .match import may_be_omitted
from .matchers import OMIT, AnyValue, Approx, Literal, Omit, OneOf, Predicate, Regex, Text, Unordered
from .schema import Schemas

# A value that stands for any: what a schema says of it says nothing.
_HOLE: Final[Any] = object()
Fault = tuple[str, str]
Path = tuple[object, ...]


def faults_of(case: Case, toolset: Toolset, schemas: Schemas) -> list[Fault]:
    """An expected tool that is not offered; expected arguments that its schema refuses."""
    return [fault for field, call in _calls(case) for fault in _faults_of_call(field, call, toolset, schemas)]


def warnings_of(case: Case, schemas: Schemas) -> list[Fault]:
    """A required value that the query does not hold: it is a question where a model would have it from."""
    found: list[Fault] = []
    if not case.query.strip():
        found.append(("query", "is empty"))
    said = _words(case.query)
    for field, call in _calls(case):
        schema = schemas.json_schema(call.tool)
        required = schema.get("required", ())
        properties = schema.get("properties", {})
        for name, value in (call.args or {}).items():
            if name not in required or _is_chosen(properties.get(name)):
                continue
            missing = [item for item in _scalars(value) if _words(str(item)) not in said]
            # Of several that are accepted, one in the query is enough.
            if missing and not (isinstance(value, OneOf) and len(missing) < len(list(_scalars(value)))):
                values = ", ".join(shown(item) for item in missing[:3])
                found.append((f"{field}/{name}", f"the query does not say {values}"))
    return found


def unfit_of(case: Case, schemas: Schemas) -> list[Fault]:
    """Expected arguments none of whose accepted values fits the schema: who gives them has invalid arguments."""
    found: list[Fault] = []
    for field, call in _calls(case):
        for name, want in (call.args or {}).items():
            pointer = to_pointer((name,))
            values = [value for value in _values(want) if value is not OMIT]
            if values and not any(value is _HOLE or _fits(schemas, call.tool, name, value) for value in values):
                found.append((f"{field}{pointer}", "no accepted value fits the schema"))
    return found


def _fits(schemas: Schemas, tool: str, name: str, value: Any) -> bool:
    """Whether the schema has nothing against this value; what it has against the rest is another matter."""
    pointer = to_pointer((name,))
    problems = schemas.check(tool, {name: value}).problems
    return not any(problem.pointer == pointer or problem.pointer.startswith(f"{pointer}/") for problem in problems)


def _calls(case: Case) -> Iterator[tuple[str, ExpectedCall]]:
    """Every expected call with the field of its arguments."""
    if case.expected_tool is not None:
        yield "expected_args", ExpectedCall.model_construct(tool=case.expected_tool, args=case.expected_args)
    for at, call in enumerate(case.expected_calls):
        yield f"expected_calls/{at}/args", call
    for at, alternative in enumerate(case.accept):
        for number, call in enumerate(alternative):
            yield f"accept/{at}/{number}/args", call


def _faults_of_call(field: str, call: ExpectedCall, toolset: Toolset, schemas: Schemas) -> Iterator[Fault]:
    if call.tool not in toolset:
        near = difflib.get_close_matches(call.tool, [tool.name for tool in toolset.tools], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        place = "expected_tool" if field == "expected_args" else f"{field.removesuffix('/args')}/tool"
        yield place, f"{call.tool!r} is not offered{hint}"
        return
    if nobody := next(_predicates(call.args), None):
        yield field, f"the predicate {nobody.name} is a function, which a file can't hold; use --check"
    seen = set()
    for args, holes in _samples(call.args) if call.args is not None else ():
        for problem in schemas.check(call.tool, args).problems:
            if any(problem.pointer == hole or problem.pointer.startswith(f"{hole}/") for hole in holes):
                continue
            if problem not in seen:
                seen.add(problem)
                yield f"{field}{problem.pointer}", problem.message


def _predicates(want: Any) -> Iterator[Predicate]:
    """Those without a function, which nobody can ask."""
    match want:
        case Predicate(_, None):
            yield want
        case dict():
            for item in want.values():
                yield from _predicates(item)
        case list() | tuple():
            for item in want:
                yield from _predicates(item)
        case OneOf(items) | Unordered(items):
            yield from _predicates(items)


def _samples(expected: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Arguments that are expected, without matchers: each accepted value of each argument stands in one of them.

    With the pointers to values that may be any.
    """
    choices = {name: _values(value) for name, value in expected.items()}
    for turn in range(max((len(values) for values in choices.values()), default=1)):
        args = {name: values[min(turn, len(values) - 1)] for name, values in choices.items() if values}
        holes = [to_pointer((name,)) for name, value in args.items() if value is _HOLE]
        yield {name: None if value is _HOLE else value for name, value in args.items() if value is not OMIT}, holes


def _values(want: Any) -> list[Any]:
    """The values that a matcher takes, a hole where they can't be listed. What is nested takes one of each."""
    match want:
        case AnyValue() | Regex() | Predicate():
            return [_HOLE]
        case Omit():
            return [OMIT]
        case OneOf(values):
            return [found for value in values for found in _values(value)]
        case Approx(value) | Text(value) | Literal(value):
            return [value]
        case Unordered(items):
            return [_nested(list(items))]
        case dict() | list():
            return [_nested(want)]
    return [want]


def _nested(want: Any) -> Any:
    """The first sample of a container; a hole where there is a hole in it."""
    if isinstance(want, dict):
        made = {name: _values(value)[0] for name, value in want.items() if not may_be_omitted(value)}
        return _HOLE if any(item is _HOLE for item in made.values()) else made
    items = [_values(item)[0] for item in want]
    return _HOLE if any(item is _HOLE for item in items) else items


def _scalars(want: Any) -> Iterator[Any]:
    """The texts and numbers that are expected as they are."""
    match want:
        case bool():
            return
        case str() | int() | float():
            yield want
        case OneOf(items) | Unordered(items):
            for item in items:
                yield from _scalars(item)
        case list():
            for item in want:
                yield from _scalars(item)
        case dict():
            for item in want.values():
                yield from _scalars(item)
        case Text(value) | Approx(value):
            yield value


def _is_chosen(schema: object) -> bool:
    """Whether the value is one of a few that the schema names: a model has it from there."""
    return isinstance(schema, Mapping) and ("enum" in schema or "const" in schema)


def _words(text: str) -> str:
    """The letters and digits, so that `3.0` and `3`, `New York` and `new-york` are found."""
    return re.sub(r"[\W_]+", "", text.removesuffix(".0")).casefold()
