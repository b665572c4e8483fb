"""Reads tool calls which a language model wrote as text, or leaves the text alone and says why.

`recover(answer, tools)` is the main job; README.md shows it. May import: everything below `replay`.
"""

from typing import Final

from .policy import Allowance, Limits, Policy
from .recover import recover
from .result import RULES, Call, Reason, Recovery, Refusal, Span
from .stream import CallEvent, EndEvent, Event, Stream, TextEvent
from .toolset import Tool, Toolset

# Whether the engine is the compiled one (README.md): only what is interpreted has code to show.
compiled: Final = not hasattr(recover, "__code__")

__all__ = [
    "RULES",
    "Allowance",
    "Call",
    "CallEvent",
    "EndEvent",
    "Event",
    "Limits",
    "Policy",
    "Reason",
    "Recovery",
    "Refusal",
    "Span",
    "Stream",
    "TextEvent",
    "Tool",
    "Toolset",
    "compiled",
    "recover",
]
