"""What a team's own check says of arguments that fit the schema: a bool or a `Verdict`, and nothing else.

May import: `grading.case`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, PrivateAttr

from .case import Case, ExpectedCall

# By any of these a check comes to what the case expects.
_EXPECTATIONS: Final = frozenset(
    (
        "expected_args",
        "expected_calls",
        "accept",
        "alternatives",
        "__dict__",
        "model_dump",
        "model_dump_json",
        "__iter__",
    )
)


class Verdict(BaseModel):
    """Whether the arguments are right, and if not, why: a sentence each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ok: bool
    reasons: tuple[str, ...] = ()


SemanticCheck: TypeAlias = Callable[[Case, Any], "bool | Verdict"]


class CheckError(Exception):
    """A check that can't be relied on: it returned no bool and no Verdict, or passed by what the case expects.

    A fault of the grader, never of the model.
    """


class _Watched(Case):
    """A case that notices whether what it expects is looked at."""

    _looked_at: bool = PrivateAttr(default=False)

    def __getattribute__(self, name: str) -> Any:
        if name in _EXPECTATIONS:
            private = object.__getattribute__(self, "__pydantic_private__")
            if private is not None:
                private["_looked_at"] = True
        return super().__getattribute__(name)


def ask(check: SemanticCheck, case: Case, args: Any, expected: ExpectedCall) -> Verdict:
    """The check's verdict on these arguments; the case it is handed expects just this call.

    Raises `CheckError` where it is neither bool nor `Verdict`, or a pass of a case whose expected arguments the check
    has not looked at; and whatever the check raises.
    """
    fields = {name: getattr(case, name) for name in Case.model_fields}
    one = {"expected_tool": expected.tool, "expected_args": expected.args, "expected_calls": (), "accept": ()}
    watched = _Watched.model_construct(**fields | one)
    said = check(watched, args)
    looked_at = watched._looked_at
    name = getattr(check, "__qualname__", type(check).__name__)
    if isinstance(said, Verdict):
        verdict = said
    elif isinstance(said, bool):
        verdict = Verdict(ok=said)
    else:
        raise CheckError(f"{name}: a semantic check returns a bool or a Verdict, not {said!r} (case {case.id})")
    if verdict.ok and expected.args is not None and not looked_at:
        raise CheckError(
            f"{name}: passed case {case.id} without looking at its expected arguments; compare with "
            "case.expected_args, or leave them out of the case"
        )
    return verdict
