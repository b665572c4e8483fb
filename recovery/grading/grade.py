"""The grade of one answer to one case: which of the six outcomes, and what led to it.

Text is read by `recovery`, so a call that the model wrote and the API lost is graded as the call it is. May import:
`grading.answer`, `grading.case`, `grading.cell`, `grading.difference`, `grading.match`, `grading.outcome`,
`grading.rawargs`, `grading.schema`, `grading.semantic`, the public names.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from recovery import Policy, Recovery, Toolset, recover

from .answer import Answer
from .case import Case, ExpectedCall
from .cell import Grade
from .difference import Difference
from .match import args_match, match_all
from .outcome import Detail, Outcome
from .rawargs import RawArgs, read_arguments
from .schema import ArgSchema, Checked, Extra, Schemas, Validation
from .semantic import SemanticCheck, ask

# Of the outcomes of a call that was wanted: the further on, the nearer to right.
_STAGES: Final = (Outcome.WRONG_TOOL, Outcome.INVALID_ARGS, Outcome.VALID_BUT_WRONG, Outcome.CORRECT)
_MOST_DIFFERENCES: Final = 20


def grade(
    case: Case,
    tool_name: str | None,
    raw_args: Any,
    arg_schema: ArgSchema | Schemas = None,
    semantic_check: SemanticCheck | None = None,
    *,
    tools: Toolset | Iterable[object] | None = None,
    validation: Validation = "strict",
    extra: Extra = "forbid",
) -> Outcome:
    """The outcome of one call, or of none where `tool_name` is None. As `grade_answer`, which says more."""
    answer = Answer.of((tool_name, raw_args))
    grader = Grader(tools, arg_schema=arg_schema, semantic_check=semantic_check, validation=validation, extra=extra)
    return grader.grade(case, answer).outcome


def grade_answer(
    case: Case,
    answer: object,
    *,
    tools: Toolset | Iterable[object] | None = None,
    policy: Policy | None = None,
    arg_schema: ArgSchema | Schemas = None,
    semantic_check: SemanticCheck | None = None,
    validation: Validation = "strict",
    extra: Extra = "forbid",
) -> Grade:
    """The grade of an answer: what `Answer.of` takes. For many answers make one `Grader`, which is quicker.

    Raises for faults that are no model's: `TypeError` or `ValueError` for what is no answer, a schema that can't be
    used (`SchemaError`) or an expected tool that is not offered; `CheckError` for a check that can't be relied on; and
    what the check raises.
    """
    grader = Grader(
        tools,
        policy=policy,
        arg_schema=arg_schema,
        semantic_check=semantic_check,
        validation=validation,
        extra=extra,
    )
    return grader.grade(case, answer)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the answer: the offered tool's name, or an unknown one as it was written."""

    name: str
    args: RawArgs


@dataclass(frozen=True, slots=True)
class _Reading:
    """The calls of an answer; where there are none, why not."""

    calls: tuple[_Call, ...]
    recovered: bool = False
    detail: Detail | None = None
    reason: str | None = None
    said: tuple[str, ...] = ()


class Grader:
    """Grades answers to cases on one set of tools, with everything that is the same for all made once.

    `tools`: what the model was offered; without it, the tools are those that `arg_schema` maps and those that the case
    expects. `policy`: how text is read. `arg_schema`, `validation`, `extra`: as for `Schemas`, or a `Schemas`.
    """

    def __init__(
        self,
        tools: Toolset | Iterable[object] | None = None,
        *,
        policy: Policy | None = None,
        arg_schema: ArgSchema | Schemas = None,
        semantic_check: SemanticCheck | None = None,
        validation: Validation = "strict",
        extra: Extra = "forbid",
    ) -> None:
        self.toolset: Final = None if tools is None else Toolset.of(tools)
        self.policy: Final = policy
        self.schemas: Final = (
            arg_schema
            if isinstance(arg_schema, Schemas)
            else Schemas(arg_schema, self.toolset or (), validation=validation, extra=extra)
        )
        self._check = semantic_check
        # Without offered tools, those that can be known.
        self._names = self.schemas.names

    def grade(self, case: Case, answer: object) -> Grade:
        """The grade of one answer. Raises as `grade_answer` does."""
        toolset = self._tools_of(case)
        reading = self._read(Answer.of(answer), toolset)
        if not case.expects_call:
            return _of_no_call_case(reading)
        if not reading.calls or reading.detail is Detail.TRUNCATED:
            return Grade(
                outcome=Outcome.NO_CALL, detail=reading.detail, reason=reading.reason, differences=reading.said
            )
        known = self.toolset is not None or bool(self._names)
        grading = _Grading(case, reading, self.schemas, self._check, toolset if known else None)
        best = None
        for expected in case.alternatives:
            found = grading.against(expected)
            if best is None or _STAGES.index(found.outcome) > _STAGES.index(best.outcome):
                best = found
            if best.outcome is Outcome.CORRECT:
                break
        assert best is not None
        return best

    def _tools_of(self, case: Case) -> Toolset:
        wanted = [call.tool for expected in case.alternatives for call in expected]
        if self.toolset is None:
            missing = [name for name in wanted if self._names and name not in self._names]
            if missing:
                raise ValueError(f"case {case.id} expects the tool {missing[0]!r}, which arg_schema does not map")
            return _named_tools(frozenset((*self._names, *wanted)))
        for name in wanted:
            if name not in self.toolset:
                raise ValueError(f"case {case.id} expects the tool {name!r}, which is not offered")
        return self.toolset

    def _read(self, answer: Answer, toolset: Toolset) -> _Reading:
        if answer.calls:
            calls = tuple(
                _Call(
                    call.name if call.name in toolset else toolset.aliases.get(call.name, call.name),
                    read_arguments(call.raw_args),
                )
                for call in answer.calls
            )
            # What was cut is no call, and an attempt: that is the limit's fault, and not one of the arguments.
            cut = "truncated" if answer.truncated else None
            return _Reading(calls, detail=Detail.TRUNCATED if cut else None, reason=cut)
        recovery = recover(answer.text, toolset, policy=self.policy)
        if recovery.calls and not answer.truncated:
            calls = tuple(_Call(call.name, RawArgs("object", call.arguments)) for call in recovery.calls)
            return _Reading(calls, recovered=True)
        return _no_call(answer, recovery)


@lru_cache(maxsize=256)
def _named_tools(names: frozenset[str]) -> Toolset:
    return Toolset(sorted(names))


def _no_call(answer: Answer, recovery: Recovery) -> _Reading:
    """Why there is no call. What was cut is no call, whatever stands in it: the rest may have been more."""
    refusal = recovery.refusal
    reason = "truncated" if recovery.calls else None if refusal is None else refusal.reason.value
    said = () if refusal is None else (refusal.explain(answer.text).partition("\n")[0],)
    if answer.truncated:
        return _Reading((), detail=Detail.TRUNCATED, reason=reason, said=said)
    if refusal is not None:
        return _Reading((), detail=Detail.WRITTEN_AND_REFUSED, reason=reason, said=said)
    return _Reading((), detail=Detail.REFUSAL if answer.refusal else Detail.SILENT)


def _of_no_call_case(reading: _Reading) -> Grade:
    """An attempt counts, read or not: who writes a call that can't be read has not abstained."""
    called = tuple(call.name for call in reading.calls)
    if called or reading.reason is not None:
        return Grade(
            outcome=Outcome.SPURIOUS_CALL,
            detail=None if called else Detail.WRITTEN_AND_REFUSED,
            called=called,
            recovered=reading.recovered,
            reason=reading.reason,
            differences=reading.said,
        )
    return Grade(outcome=Outcome.CORRECT, detail=reading.detail)


class _Grading:
    """The calls of one answer, against one accepted answer after another; what is found of a call is kept."""

    def __init__(
        self,
        case: Case,
        reading: _Reading,
        schemas: Schemas,
        check: SemanticCheck | None,
        known: Toolset | None,
    ) -> None:
        self._case = case
        self._calls = reading.calls
        self._recovered = reading.recovered
        self._schemas = schemas
        self._check = check
        self._known = known
        self._checked: dict[int, Checked] = {}

    def against(self, expected: Sequence[ExpectedCall]) -> Grade:
        wrong = self._wrong_tools(expected)
        if wrong is not None:
            return wrong
        differences: dict[tuple[int, int], tuple[Difference, ...]] = {}

        def is_valid(one: int, other: int) -> bool:
            return expected[one].tool == self._calls[other].name and self._check_schema(other).valid

        @cache
        def is_right(one: int, other: int) -> bool:
            if not is_valid(one, other):
                return False
            differences[one, other] = self._differences(expected[one], other)
            return not differences[one, other]

        partner = match_all(len(expected), len(self._calls), is_right)
        each = self._each(expected, partner)
        if None not in partner:
            if self._case.rules.order == "same" and not self._is_in_order(len(expected), is_right):
                return self._made(Outcome.VALID_BUT_WRONG, said=("/: the calls stand in another order",), each=each)
            return self._made(Outcome.CORRECT, each=each)
        if None in match_all(len(expected), len(self._calls), is_valid):
            return self._invalid(expected, each)
        return self._made(Outcome.VALID_BUT_WRONG, said=self._said(expected, partner, differences), each=each)

    def _wrong_tools(self, expected: Sequence[ExpectedCall]) -> Grade | None:
        """The grade, where the tools called are not the expected ones, or not as often."""
        want = Counter(call.tool for call in expected)
        got = Counter(call.name for call in self._calls)
        surplus = got - want
        rule = self._case.rules.calls
        if rule == "allow_extra":
            surplus.clear()
        elif rule == "allow_duplicates":
            distinct = Counter(name for name, _ in {(call.name, self._form(call)) for call in self._calls})
            surplus = distinct - want
        if not surplus and not want - got:
            return None
        detail: Detail | None = Detail.OTHER_TOOL
        if got.keys() <= want.keys():
            detail = Detail.WRONG_COUNT
        elif self._known is None:
            detail = None
        elif any(name not in self._known for name in got):
            detail = Detail.UNKNOWN_TOOL
        said = f"/: expected {_listed(call.tool for call in expected)}, got {_listed(c.name for c in self._calls)}"
        return self._made(Outcome.WRONG_TOOL, detail, said=(said,))

    def _form(self, call: _Call) -> str:
        """The arguments so that those of the same call are the same; malformed ones are those of no other call."""
        return f"#{id(call)}" if call.args.state == "malformed" else json.dumps(call.args.value, sort_keys=True)

    def _check_schema(self, at: int) -> Checked:
        if at not in self._checked:
            call = self._calls[at]
            if call.args.problem is not None:
                self._checked[at] = Checked(valid=False, problems=(call.args.problem,))
            else:
                self._checked[at] = self._schemas.check(call.name, call.args.value)
        return self._checked[at]

    def _differences(self, expected: ExpectedCall, at: int) -> tuple[Difference, ...]:
        """Where the arguments, which fit the schema, are not the expected ones, or what the check says against them."""
        checked = self._check_schema(at)
        if self._check is not None:
            verdict = ask(self._check, self._case, checked.instance, expected)
            reasons = verdict.reasons or ("the semantic check says no",)
            return () if verdict.ok else tuple(Difference("", reason) for reason in reasons)
        if expected.args is None:
            return ()
        actual = checked.instance if checked.coercible else self._calls[at].args.value
        schema = self._schemas.json_schema(expected.tool)
        return tuple(args_match(expected.args, actual, rules=self._case.rules, schema=schema))

    def _is_in_order(self, wanted: int, is_right: Callable[[int, int], bool]) -> bool:
        """Whether the expected calls stand in the answer in their order: each is the first that is right from there."""
        at = -1
        for one in range(wanted):
            at = next((other for other in range(at + 1, len(self._calls)) if is_right(one, other)), len(self._calls))
        return at < len(self._calls)

    def _each(self, expected: Sequence[ExpectedCall], partner: Sequence[int | None]) -> tuple[Outcome, ...]:
        if len(self._calls) == 1:
            return ()
        tools = {call.tool for call in expected}
        free = Counter(call.tool for call, other in zip(expected, partner, strict=True) if other is None)
        each: list[Outcome] = []
        for at, call in enumerate(self._calls):
            if at in partner:
                each.append(Outcome.CORRECT)
            elif call.name not in tools:
                each.append(Outcome.SPURIOUS_CALL)
            elif not self._check_schema(at).valid:
                each.append(Outcome.INVALID_ARGS)
            else:
                each.append(Outcome.VALID_BUT_WRONG if free[call.name] else Outcome.SPURIOUS_CALL)
        return tuple(each)

    def _invalid(self, expected: Sequence[ExpectedCall], each: tuple[Outcome, ...]) -> Grade:
        tools = {call.tool for call in expected}
        invalid = [at for at, call in enumerate(self._calls) if call.name in tools and not self._check_schema(at).valid]
        detail = Detail.NOT_COERCIBLE
        if any(self._calls[at].args.state == "malformed" for at in invalid):
            detail = Detail.MALFORMED
        elif all(self._check_schema(at).coercible for at in invalid):
            detail = Detail.COERCIBLE
        said = tuple(self._at(at, problem) for at in invalid for problem in self._check_schema(at).problems)
        return self._made(Outcome.INVALID_ARGS, detail, said=said, each=each)

    def _said(
        self,
        expected: Sequence[ExpectedCall],
        partner: Sequence[int | None],
        differences: dict[tuple[int, int], tuple[Difference, ...]],
    ) -> tuple[str, ...]:
        """What is wrong with the calls that are left, each beside an expected one that is left."""
        if len(expected) == len(self._calls) == 1:
            return tuple(map(str, differences[0, 0]))
        left = [at for at in range(len(self._calls)) if at not in partner]
        said: list[str] = []
        for one, other in enumerate(partner):
            if other is not None:
                continue
            beside = next((at for at in left if (one, at) in differences), None)
            if beside is None:
                said.append(f"/: no call of {expected[one].tool} is left for expected call {one}")
                continue
            left.remove(beside)
            said += [self._at(beside, difference) for difference in differences[one, beside]]
        return tuple(said)

    def _at(self, at: int, difference: Difference) -> str:
        """The difference as a sentence; of one call among several, with its place."""
        if len(self._calls) == 1:
            return str(difference)
        return str(Difference(f"/{at}{difference.pointer}", difference.message))

    def _made(
        self,
        outcome: Outcome,
        detail: Detail | None = None,
        *,
        said: tuple[str, ...] = (),
        each: tuple[Outcome, ...] = (),
    ) -> Grade:
        return Grade(
            outcome=outcome,
            detail=detail,
            called=tuple(call.name for call in self._calls),
            recovered=self._recovered,
            differences=said[:_MOST_DIFFERENCES],
            absent_arguments=any(call.args.state == "absent" for call in self._calls),
            coerced=any(checked.valid and checked.coercible for checked in self._checked.values()),
            each=each,
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(name or "a call without a name" for name in names)
