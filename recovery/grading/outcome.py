"""The six outcomes of an answer, and why an answer has none.

May import: nothing of the package.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """What became of one answer to one case. Six, kept apart: they are never added up to one number.

    The first that holds, in the order in which a call is looked at: no call, a call that nobody wanted, another tool,
    arguments that don't fit the schema, arguments that fit and are wrong, correct.
    """

    NO_CALL = "no_call"
    SPURIOUS_CALL = "spurious_call"
    WRONG_TOOL = "wrong_tool"
    INVALID_ARGS = "invalid_args"
    VALID_BUT_WRONG = "valid_but_wrong"
    CORRECT = "correct"


OUTCOMES: Final = tuple(Outcome)

# Behind the numbers of another version of these words and of their order stands another question.
TAXONOMY: Final = "1"


class Ungraded(StrEnum):
    """Why a cell has no outcome. It is counted apart: never wrong, never dropped in silence."""

    TRANSPORT = "transport"
    TIMEOUT = "timeout"
    CALL_ERROR = "call_error"
    GRADER_ERROR = "grader_error"
    NOT_RUN = "not_run"


class Detail(StrEnum):
    """What more is known of an outcome; the outcome it belongs to stands before it."""

    # NO_CALL, and of a case that expects none: SPURIOUS_CALL (an attempt) or CORRECT.
    SILENT = "silent"
    WRITTEN_AND_REFUSED = "written_and_refused"
    REFUSAL = "refusal"
    TRUNCATED = "truncated"
    # WRONG_TOOL
    OTHER_TOOL = "other_tool"
    UNKNOWN_TOOL = "unknown_tool"
    WRONG_COUNT = "wrong_count"
    # INVALID_ARGS
    COERCIBLE = "coercible"
    NOT_COERCIBLE = "not_coercible"
    MALFORMED = "malformed"
