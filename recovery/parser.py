"""Push parser over the LALR tables: one token in, and the builder told what became whole.

It keeps nothing but the stack of states, which grows with the nesting of the text. It finds the first token that
can't continue a block at that token, which is what makes early rejection, exact spans and streaming possible. May
import: `builder`, `tables`.
"""

from __future__ import annotations

from typing import Final

from .builder import Builder
from .tables import (
    ACCEPT,
    ACTION,
    BUILD,
    END,
    GOTO,
    KEY,
    KINDS,
    LENGTH,
    NAME,
    ORIGIN,
    ORIGINS,
    PLAIN,
    SHIFT_REDUCE,
    SIGN,
    STRING,
    WORDS,
)

# What `push` answers.
TAKEN: Final = 0
WHOLE: Final = 1
# The token can't stand here: nothing was changed.
UNEXPECTED: Final = 2
# The builder refused it.
REFUSED: Final = 3


class Parser:
    """The state of one block."""

    __slots__ = ("_builder", "_states")

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._states = [0]

    def push(self, kind: int) -> int:
        """Take the token that the scanner stands on: TAKEN, WHOLE (the end was taken), UNEXPECTED or REFUSED."""
        states = self._states
        builder = self._builder
        while True:
            action = ACTION[states[-1] * KINDS + kind]
            if action > 0:
                if action >= ACCEPT:
                    return WHOLE
                if kind <= SIGN:
                    builder.stack.append(builder.scanner.value)
                elif kind < PLAIN and not builder.take(kind):
                    return REFUSED
                if action < SHIFT_REDUCE:
                    states.append(action)
                    return TAKEN
                rule = action - SHIFT_REDUCE
                drop = LENGTH[rule] - 1
            elif action < 0:
                rule = -1 - action
                drop = LENGTH[rule]
            else:
                return UNEXPECTED
            if drop:
                del states[-drop:]
            build = BUILD[rule]
            if build and not builder.build(build):
                return REFUSED
            states.append(GOTO[states[-1] * ORIGINS + ORIGIN[rule]])
            if action > 0:
                return TAKEN

    def accepts(self, kind: int) -> bool:
        """Whether a token of this kind could stand here."""
        states = list(self._states)
        while True:
            action = ACTION[states[-1] * KINDS + kind]
            if action >= 0:
                return action > 0
            rule = -1 - action
            del states[len(states) - LENGTH[rule] :]
            states.append(GOTO[states[-1] * ORIGINS + ORIGIN[rule]])

    def can_end(self) -> bool:
        """Whether the block could end here."""
        return self.accepts(END)

    def end(self) -> None:
        """The block ends here although another token follows: build what the end completes; the states stay."""
        states = self._states
        self._states = list(states)
        self.push(END)
        self._states = states

    def wants_value(self) -> bool:
        """Whether a value could stand here."""
        return self.accepts(STRING)

    def wants_word(self) -> bool:
        """Whether what begins like a word could stand here: a name, a key or a value."""
        return self.accepts(NAME) or self.accepts(KEY) or self.accepts(STRING)

    def expected(self) -> tuple[str, ...]:
        """What could stand here, in words."""
        return tuple(dict.fromkeys(word for kind, word in enumerate(WORDS) if self.accepts(kind)))


def begins_block(kind: int) -> bool:
    """Whether a token of this kind can be the first of a block."""
    return ACTION[kind] != 0
