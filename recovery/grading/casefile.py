"""Files of cases and of tools: read, and held against each other before the first call.

What is wrong names the file, the line and the field. May import: `grading.case`, `grading.caselint`,
`grading.difference`, `grading.documents`, `grading.schema`, `grading.spelling`, the public names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from recovery import Toolset

from .case import Case
from .caselint import faults_of, warnings_of
from .difference import shown
from .documents import Document, Problem, read_documents
from .schema import ArgSchema, Schemas
from .spelling import SchemaError


class CaseFileError(ValueError):
    """A file that can't be used: `problems` are all that was found, warnings too; the message names the errors."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems if problem.is_error))


class CaseFile(BaseModel):
    """A file of cases that was read: the sound ones, in order, and what was found.

    `sha256`: of the bytes of the file. `problems`: errors and warnings; `load_cases` leaves none but warnings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    path: str
    cases: tuple[Case, ...]
    # One set for all cases, or by the name that a case gives as its `toolset`.
    tools: Toolset | Mapping[str, Toolset]
    sha256: str
    problems: tuple[Problem, ...] = ()

    def tools_of(self, case: Case) -> Toolset:
        """What a model is offered with this case."""
        return self.tools if isinstance(self.tools, Toolset) else self.tools[case.toolset or ""]


def load_tools(path: str | Path) -> Toolset:
    """The tools of a JSON file: a list, in any shape that `Toolset` takes. Raises `CaseFileError` naming the place."""
    try:
        given = json.loads(Path(path).read_bytes().decode("utf-8-sig"))
        if not isinstance(given, list):
            raise ValueError(f"expected a list of tools, not {shown(given)}")
        return Toolset(given)
    except json.JSONDecodeError as error:
        problem = Problem(str(path), error.lineno, f"column {error.colno}", f"no JSON: {error.msg}")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        problem = Problem(str(path), 0, "", str(error))
    raise CaseFileError([problem])


def load_cases(
    path: str | Path,
    tools: Toolset | Mapping[str, Toolset] | Iterable[object] | str | Path,
    *,
    arg_schema: ArgSchema = None,
) -> CaseFile:
    """The cases of a file, sound as they are. Raises `CaseFileError` with every error; warnings are in `problems`."""
    found = read_cases(path, tools, arg_schema=arg_schema)
    if any(problem.is_error for problem in found.problems):
        raise CaseFileError(found.problems)
    return found


def read_cases(
    path: str | Path,
    tools: Toolset | Mapping[str, Toolset] | Iterable[object] | str | Path,
    *,
    arg_schema: ArgSchema = None,
) -> CaseFile:
    """The cases of a file, JSON lines or YAML by its name, with all that is wrong with it.

    `tools`: a toolset, what makes one, a JSON file of tools, or toolsets by the name that cases give as `toolset`.
    `arg_schema`: as for `Schemas`, where the offered tools' own schemas are not what arguments are held against. Raises
    `CaseFileError` for a file of tools or a schema that can't be used.
    """
    if isinstance(tools, str | Path):
        tools = load_tools(tools)
    if not isinstance(tools, Mapping):
        tools = Toolset.of(tools)
    problems: list[Problem] = []
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raw = b""
        problems.append(Problem(str(path), 0, "", f"can't be read: {error.strerror or error}"))
    cases: list[Case] = []
    lines: dict[str, int] = {}
    schemas: dict[str, Schemas] = {}
    for document in documents_of(str(path), raw, problems):
        case = case_of(document, problems)
        if case is None:
            continue
        if case.id in lines:
            why = "" if "id" in document.fields else ", made from the query: give each an id of its own"
            problems.append(
                document.problem("id", f"{case.id!r} is the id of the case in line {lines[case.id]} too{why}")
            )
            continue
        lines[case.id] = document.line
        toolset = tools if isinstance(tools, Toolset) else tools.get(case.toolset or "")
        if toolset is None:
            problems.append(document.problem("toolset", f"there is no toolset {case.toolset!r}"))
            continue
        key = case.toolset or ""
        if key not in schemas:
            schemas[key] = _schemas(arg_schema, toolset)
        try:
            faults = faults_of(case, toolset, schemas[key])
        except SchemaError as error:
            # What only shows with arguments, as a reference to itself.
            raise CaseFileError([Problem("tools", 0, "", str(error))]) from None
        problems += [document.problem(field, message) for field, message in faults]
        if not faults:
            cases.append(case)
            problems += [
                document.problem(field, message, is_error=False) for field, message in warnings_of(case, schemas[key])
            ]
    if not cases and not problems:
        problems.append(Problem(str(path), 0, "", "holds no case"))
    return CaseFile(
        path=str(path),
        cases=tuple(cases),
        tools=tools,
        sha256=hashlib.sha256(raw).hexdigest(),
        problems=tuple(problems),
    )


def documents_of(path: str, raw: bytes, problems: list[Problem]) -> Iterator[Document]:
    """The cases as they stand in the file; what is none goes to the problems."""
    for found in read_documents(path, raw) if raw else ():
        if isinstance(found, Problem):
            problems.append(found)
        else:
            yield found


def case_of(document: Document, problems: list[Problem]) -> Case | None:
    """The case of an object; what is wrong with it goes to the problems."""
    try:
        return Case.model_validate(document.fields)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            message = fault["msg"].removeprefix("Value error, ")
            if fault["type"] == "extra_forbidden":
                message = f"there is no such field; the fields are {', '.join(Case.model_fields)}"
            field = "/".join(map(str, fault["loc"]))
            if not field and message.partition(":")[0] in Case.model_fields:
                field, _, message = message.partition(": ")
            problems.append(document.problem(field, message))
    return None


def _schemas(arg_schema: ArgSchema, toolset: Toolset) -> Schemas:
    try:
        schemas = Schemas(arg_schema, toolset)
        schemas.ready()
    except SchemaError as error:
        raise CaseFileError([Problem("tools", 0, "", str(error))]) from None
    return schemas
