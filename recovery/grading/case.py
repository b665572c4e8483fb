"""A case: a query, and the call that it wants, or none.

May import: `grading.matchers`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from .matchers import decode, encode

# Of what is not given, so that it is pydantic that says what is missing.
_NOT_GIVEN: Final[Any] = object()


def _decoded(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    try:
        # The arguments' own names may begin with `$`.
        return {name: decode(item) for name, item in value.items()}
    except TypeError as error:
        # pydantic takes a ValueError for a fault of the value, and lets a TypeError through.
        raise ValueError(str(error)) from None


# Arguments by name; a value is JSON or a matcher.
Arguments = Annotated[dict[str, Any], BeforeValidator(_decoded), PlainSerializer(encode)]


class Rules(BaseModel):
    """How calls and arguments are compared with the expected ones; what stands here holds for the whole case.

    For one argument alone there are the matchers. The defaults are strict: the values themselves, numbers equal up to
    rounding, a default of the schema the same as leaving the argument out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Of texts: compared without regard to case, to Unicode form, to white space at the ends, to runs of it.
    casefold: bool = False
    nfc: bool = False
    strip: bool = False
    collapse: bool = False
    # Lists are equal in any order.
    unordered: bool = False
    # Numbers that aren't both whole: how far they may be apart, as a share of the expected one and absolutely.
    rel: float = Field(default=1e-9, ge=0)
    abs: float = Field(default=0.0, ge=0)
    # What stands in the answer's arguments and not in the expected ones.
    extra_args: Literal["forbid", "ignore"] = "forbid"
    # An argument that is left out has the default of the schema, on both sides.
    defaults: bool = True
    # Which calls an answer may hold beyond the expected ones: none, any, or such as are the same as another call.
    calls: Literal["exact", "allow_extra", "allow_duplicates"] = "exact"
    # Several calls stand in any order, or in the expected one.
    order: Literal["any", "same"] = "any"


class ExpectedCall(BaseModel):
    """One call that a case wants. `args` None: any arguments that fit the schema, unless a check says otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str = Field(min_length=1)
    args: Arguments | None = None

    def __init__(self, /, tool: str = _NOT_GIVEN, args: Mapping[str, Any] | None = None, **more: Any) -> None:
        super().__init__(**_given(tool=tool), args=args, **more)


def _alternative(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


# A whole answer that is accepted: its calls. One alone may stand there without a list.
Alternative = Annotated[
    tuple[ExpectedCall, ...], BeforeValidator(_alternative), Field(min_length=1, description="a call, or several")
]


class Case(BaseModel):
    """A query, the tool that it wants or none, the arguments it wants.

    `Case("Weather in Oslo?", "get_weather", {"city": "Oslo"})`. Without `expected_tool` and `expected_calls` the case
    wants no call. Raises `pydantic.ValidationError` where the fields don't go together.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str
    expected_tool: str | None = Field(default=None, min_length=1)
    expected_args: Arguments | None = None
    # By default made from the query: two cases of one query need ids of their own.
    id: str = Field(default="", validate_default=True)
    # In place of `expected_tool`: several calls in one answer.
    expected_calls: tuple[ExpectedCall, ...] = ()
    # Other answers that are as good: of each the call, or the list of its calls.
    accept: tuple[Alternative, ...] = ()
    # The family that the case belongs to (one template, paraphrases of one request); by default itself alone.
    cluster: str = ""
    tags: tuple[str, ...] = ()
    rules: Rules = Rules()
    # Where cases have different tools: the name of this one's set.
    toolset: str | None = None

    def __init__(
        self,
        /,
        query: str = _NOT_GIVEN,
        expected_tool: str | None = None,
        expected_args: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**_given(query=query), expected_tool=expected_tool, expected_args=expected_args, **more)

    @model_validator(mode="before")
    @classmethod
    def _with_names(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not isinstance(given.get("query"), str):
            return given
        # `or`: an empty name is as good as none.
        id_ = given.get("id") or "q-" + hashlib.sha256(given["query"].encode(errors="surrogatepass")).hexdigest()[:12]
        return {**given, "id": id_, "cluster": given.get("cluster") or id_}

    @model_validator(mode="after")
    def _goes_together(self) -> Case:
        if self.expected_calls and self.expected_tool is not None:
            raise ValueError("expected_tool and expected_calls: give one of the two")
        if self.expected_args is not None and self.expected_tool is None:
            raise ValueError("expected_args: a case that expects no tool has no arguments either")
        if self.accept and not self.expects_call:
            raise ValueError("accept: a case that expects no call has no other calls that are as good")
        return self

    @property
    def expects_call(self) -> bool:
        return self.expected_tool is not None or bool(self.expected_calls)

    @cached_property
    def alternatives(self) -> tuple[tuple[ExpectedCall, ...], ...]:
        """Every answer that is accepted, as its calls, the expected one first; empty where no call is expected."""
        if self.expected_tool is not None:
            expected = (ExpectedCall.model_construct(tool=self.expected_tool, args=self.expected_args),)
            return (expected, *self.accept)
        return (self.expected_calls, *self.accept) if self.expected_calls else ()


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not _NOT_GIVEN}
