"""Cases from recorded answers that carry the ground truth of their question: accepted values by argument.

As the leaderboards publish it: of each wanted call the name, and for each argument the list of values that are
accepted, with an empty text among them where it may be left out. May import: `grading.case`, `grading.casefile`,
`grading.caselint`, `grading.difference`, `grading.documents`, `grading.lines`, `grading.matchers`, `grading.schema`,
the public names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from recovery import Toolset

from .case import Case, ExpectedCall, Rules
from .casefile import CaseFile
from .caselint import unfit_of
from .difference import shown
from .documents import Document, Problem
from .lines import BadFieldError, read_rows
from .matchers import OMIT, Literal, OneOf
from .schema import Schemas

# Categories of questions that want no call.
NO_CALL: Final = frozenset(("relevance", "irrelevance", "live_irrelevance", "chatable"))
# Such truths are lists of spellings: of case and white space they mean nothing.
_RULES: Final = Rules(casefold=True, strip=True, collapse=True)


class Truth(NamedTuple):
    """The cases, and the ids of the questions that have no ground truth, each with why."""

    cases: CaseFile
    excluded: Mapping[str, str]


def read_truth(answers: str | Path, toolsets: str | Path, *, no_call: Collection[str] = NO_CALL) -> Truth:
    """The cases of a file of recorded answers: a question is what its toolset is for.

    A row of `answers`: `toolset`, `category`, and `allowed`, a list of `{"name": …, "allowed": {…: [accepted]}}` or
    of `{name: {…: [accepted]}}`. A row of `toolsets`: `id`, `tools`. A question whose category is in `no_call` wants
    no call. The first row of a question counts. What is wrong with a row is in the `problems` of the cases, with its
    place; so is, as a warning, a truth that the tool's own schema refuses: who gives it has invalid arguments. Raises
    `SchemaError` for a schema that can't be used.
    """
    problems: list[Problem] = []
    tools: dict[str, Toolset] = {}
    for row in read_rows(toolsets):
        if isinstance(row, Problem):
            problems.append(row)
            continue
        try:
            tools[_id(row, "id")] = Toolset(row.fields["tools"])
        except (BadFieldError, TypeError, ValueError, KeyError) as error:
            problems.append(row.problem("tools", str(error)))
    cases: dict[str, Case] = {}
    excluded: dict[str, str] = {}
    for row in read_rows(answers):
        if isinstance(row, Problem):
            problems.append(row)
            continue
        try:
            id_ = _id(row, "toolset")
            if id_ in cases or id_ in excluded:
                continue
            case = _case(id_, row, tools.get(id_), no_call)
        except BadFieldError as error:
            problems.append(row.problem(error.field, error.message))
            continue
        if isinstance(case, str):
            excluded[id_] = case
            continue
        cases[id_] = case
        problems += [
            row.problem(field, message, is_error=False) for field, message in unfit_of(case, Schemas(None, tools[id_]))
        ]
    found = CaseFile(
        path=str(answers),
        cases=tuple(cases.values()),
        tools=tools,
        sha256=_sha256(answers),
        problems=tuple(problems),
    )
    return Truth(found, excluded)


def _id(row: Document, field: str) -> str:
    found = row.fields.get(field)
    if not isinstance(found, str) or not found:
        raise BadFieldError(field, f"must be a text, not {shown(found)}")
    return found


def _case(id_: str, row: Document, tools: Toolset | None, no_call: Collection[str]) -> Case | str:
    """The case, or why the question makes none."""
    if tools is None:
        raise BadFieldError("toolset", f"there is no toolset {shown(id_)}")
    if row.fields.get("category") in no_call:
        return Case(id_, id=id_, toolset=id_)
    allowed = row.fields.get("allowed")
    if allowed is None:
        return "no ground truth"
    calls = [_call(f"allowed/{at}", item) for at, item in enumerate(_list("allowed", allowed))]
    unknown = [call.tool for call in calls if call.tool not in tools]
    if unknown:
        return f"the ground truth calls {unknown[0]}, which is not offered"
    try:
        return Case(id_, id=id_, toolset=id_, expected_calls=calls, rules=_RULES)
    except ValidationError as error:
        raise BadFieldError("allowed", error.errors()[0]["msg"]) from None


def _call(field: str, item: Any) -> ExpectedCall:
    if isinstance(item, dict) and len(item) == 1:
        ((name, args),) = item.items()
    elif isinstance(item, dict) and {"name", "allowed"} <= item.keys():
        name, args = item["name"], item["allowed"]
    else:
        raise BadFieldError(field, f"must be a call, not {shown(item)}")
    if not isinstance(name, str) or not name or not isinstance(args, dict):
        raise BadFieldError(field, f"must be a call, not {shown(item)}")
    return ExpectedCall(name, {key: _accepted(_list(f"{field}/{key}", values)) for key, values in args.items()})


def _list(field: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadFieldError(field, f"must be a list, not {shown(value)}")
    return value


def _accepted(values: list[Any]) -> OneOf:
    """The accepted values; an empty text among others says that the argument may be left out."""
    meant = [value for value in values if value != ""] or values
    return OneOf((*map(_value, meant), *([OMIT] if "" in values else [])))


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    if any(key.startswith("$") for key in value):
        return Literal(value)
    plain = {key: _value(item) for key, item in value.items()}
    if not any(isinstance(item, list) for item in value.values()):
        return plain
    # Some hold a list of accepted values for each key in here too, others the value itself.
    lists = {key: item if isinstance(item, list) else [item] for key, item in value.items()}
    return OneOf((plain, {key: _accepted(item) for key, item in lists.items() if item}))


def _sha256(path: str | Path) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
