"""What a gateway is told of every answer that was read: enough to log, and to read again.

May import: the public names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from recovery import Recovery, Toolset


class Reading(NamedTuple):
    """One answer that was read to its end, and what came of it.

    An answer that passes unread has none: no tools, calls of the model's own, or cut by the service. `model` is the
    name that the answer gives, or None. Of an answer whose calls went out one by one (`commit="call"`), `recovery` is
    what is known in the end.
    """

    answer: str
    tools: Toolset
    recovery: Recovery
    model: str | None

    def to_row(self) -> dict[str, Any]:
        """The reading as JSON values: a row that `recovery replay` reads, with `model`, `status` and `reason` for --by.

        It holds the answer, and so what the model said; and the tools with their schemas.
        """
        tools, refusal = self.tools, self.recovery.refusal
        return {
            "text": self.answer,
            "tools": [
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                for tool in tools.tools
            ],
            "aliases": dict(tools.aliases),
            "namespaces": sorted(tools.namespaces),
            "never": sorted(tools.never),
            "model": self.model,
            "status": self.recovery.status,
            "reason": None if refusal is None else refusal.reason.value,
            "used": sorted(allowance.value for allowance in self.recovery.used),
        }


# What a caller may pass as `on_recovery`.
OnRecovery = Callable[[Reading], object]
