"""What a verdict on a bucket is good for: the texts, and what the details of an outcome turn them into.

May import: `grading.outcome`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .outcome import Detail, Outcome

# The axis on which a bucket moves, by whether it varies by model; None: neither is shown, and there is no advice yet.
_BY_MODEL: Final = {
    Outcome.NO_CALL: (
        "It varies by model: choose the model. By more than rerun noise is not by more than prompt edits buy: where "
        "runs of several descriptions exist, compare the spread over models with the spread over descriptions."
    ),
    Outcome.SPURIOUS_CALL: (
        "It varies by model: choose the model. Where runs of several descriptions exist, compare the spread over "
        "models with the spread over descriptions."
    ),
}
_BY_DESCRIPTION: Final = {
    Outcome.NO_CALL: "It is the same over the models: edit the tool's description, and say when to use it.",
    Outcome.SPURIOUS_CALL: "It is the same over the models: edit the tool's description, and say when not to use it.",
}
_WRONG_TOOL: Final = "It seldom goes away with another model: look at the pairs of tools that are confused."
_OTHER_TOOL: Final = "Mostly another offered tool: draw the boundary between the two in their names and descriptions."
_UNKNOWN_TOOL: Final = "Mostly a tool that is not offered: is it missing from the catalogue, or invented?"
_INVALID: Final = (
    "Decode under the schema, or retry with the error, a bounded number of times: a retry loop has a ceiling."
)
_COERCIBLE: Final = "{} of {} would pass lax validation: reading them so costs nothing."
_WRONG: Final = "It never goes away with another model: check the values before the tool acts, and evaluate them."
_GOLD: Final = "First look at the cases that every model fails (`unanimous`): the expected arguments may be wrong."
_UNREAD: Final = (
    "Mostly calls that were written as text and could not be read: neither the model nor the description. It is the "
    "format: run the recovery engine in the gateway, or decode under a grammar."
)
_UNREAD_OF: Final = (
    "Of {}, mostly calls that were written as text and could not be read: there it is the format, and not the model."
)
_STOPPED: Final = "Mostly refusals or answers cut short: look at the policy, or at the token budget."


def advise(
    bucket: Outcome,
    varies: bool | None,
    tally: Mapping[Detail, int],
    confusions: Mapping[tuple[str, str], int],
    *,
    unanimous: int = 0,
    unread: Sequence[str] = (),
) -> tuple[str, ...]:
    """What to do about a bucket, most telling first.

    `varies`: by model, the same over the models, or not decided (None). `tally`: how many answers of the bucket have
    which detail. `confusions`: how often the second tool was called for the first. `unanimous`: cases all of whose
    answers fell in this bucket. `unread`: models whose answers in it are mostly calls that could not be read.
    """
    known = sum(tally.values())

    def mostly(*details: Detail) -> bool:
        return 2 * sum(tally.get(detail, 0) for detail in details) > known

    said: list[str] = []
    if bucket is Outcome.NO_CALL and mostly(Detail.WRITTEN_AND_REFUSED):
        return (_UNREAD,)
    if bucket is Outcome.NO_CALL and mostly(Detail.REFUSAL, Detail.TRUNCATED):
        return (_STOPPED,)
    if bucket in _BY_MODEL and varies is not None:
        said.append((_BY_MODEL if varies else _BY_DESCRIPTION)[bucket])
    if bucket is Outcome.NO_CALL and unread:
        said.append(_UNREAD_OF.format(", ".join(unread)))
    if bucket is Outcome.WRONG_TOOL:
        said.append(_WRONG_TOOL)
        said.extend([_OTHER_TOOL] if mostly(Detail.OTHER_TOOL) else [])
        said.extend([_UNKNOWN_TOOL] if mostly(Detail.UNKNOWN_TOOL) else [])
        often = sorted(confusions.items(), key=lambda item: (-item[1], item[0]))[:3]
        said.extend(f"{called!r} was called for {wanted!r} {number} times." for (wanted, called), number in often)
    if bucket is Outcome.INVALID_ARGS:
        said.append(_INVALID)
        coercible = tally.get(Detail.COERCIBLE, 0)
        said.extend([_COERCIBLE.format(coercible, known)] if coercible else [])
    if bucket is Outcome.VALID_BUT_WRONG:
        said.extend([_GOLD] if unanimous else [])
        said.append(_WRONG)
    elif unanimous:
        said.append("Every model fails some cases in this way every time (`unanimous`): look at those cases first.")
    return tuple(said)
