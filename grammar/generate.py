"""The generator of the tables: `calls.lark` ▶ `recovery/tables.py`.

    python grammar/generate.py            # write the tables
    python grammar/generate.py --check    # exit 1 if the committed tables are not these

Lark computes the LALR(1) automaton. Three steps make it smaller and faster without changing what it accepts:
a reduction by a rule of one symbol that builds nothing is dropped (the state behind the symbol takes over what the
state behind the reduction would do); a state that can only reduce is not entered (its shift says which rule to
reduce); equal states are one. Then states are numbered breadth first, so that the output depends on the grammar alone.
"""

from __future__ import annotations

import argparse
import io
import logging
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lark import Lark
from lark.utils import logger as lark_logger

HERE = Path(__file__).resolve().parent
GRAMMAR = HERE / "calls.lark"
TABLES = HERE.parent / "recovery" / "tables.py"

# Kinds in this order: literals, what else carries something for the builder, the rest, the end.
VALUED = [
    "STRING",
    "NUMBER",
    "CONSTANT",
    "WORD",
    "SIGN",
    "ARGUMENTS",
    "KEY",
    "COLON_KEY",
    "NAME",
    "PLAIN_CALL",
    "COLON",
]
PLAIN = ["RPAR", "RSQB", "RBRACE", "LPAR", "LSQB", "LBRACE", "COMMA", "SEMICOLON", "NEWLINE"]
END = "END"
# What the scanner can tell apart although no rule takes it: an operator; any other character.
NEVER = ["OPERATOR", "OTHER"]

# How a person would call what could stand there.
WORDS = {
    "NAME": "a call",
    "PLAIN_CALL": "a call",
    "KEY": "key=",
    "ARGUMENTS": "key=",
    "STRING": "a string",
    "NUMBER": "a number",
    "CONSTANT": "a constant",
    "WORD": "a word",
    "SIGN": "a sign",
    "COLON_KEY": "key:",
    "COLON": "':'",
    "COMMA": "','",
    "RPAR": "')'",
    "RSQB": "']'",
    "LPAR": "'('",
    "LSQB": "'['",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "SEMICOLON": "';'",
    "NEWLINE": "a line end",
    "END": "the end",
}


@dataclass(frozen=True)
class Rule:
    """One production; `action` is the alias, or "" where nothing is built."""

    origin: str
    expansion: tuple[str, ...]
    action: str

    @property
    def is_unit(self) -> bool:
        return len(self.expansion) == 1 and not self.action


Shift = int
Action = Shift | Rule
Row = dict[str, Action]
# A state of the new automaton while it is made: the stack of Lark's states it stands for, the lowest first.
Layers = tuple[int, ...]


def refuse_conflicts(grammar: str) -> None:
    """Exit with Lark's words where the grammar is not LALR(1). Lark itself prefers to shift, and only logs it."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setLevel(logging.WARNING)
    lark_logger.addHandler(handler)
    try:
        Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False, debug=True)
    finally:
        lark_logger.removeHandler(handler)
    if "conflict" in log.getvalue().lower():
        raise SystemExit(f"the grammar is not LALR(1):\n{log.getvalue()}")


def read_automaton(grammar: str) -> tuple[dict[int, Row], int]:
    """Lark's LALR(1) states by number, each a row of actions by symbol, and the start state."""
    refuse_conflicts(grammar)
    saved = io.BytesIO()
    Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False).save(saved)
    saved.seek(0)
    content = pickle.load(saved)
    table, memo = content["data"]["parser"]["parser"], content["memo"]
    symbol = {number: END if name == "$END" else name for number, name in table["tokens"].items()}
    states: dict[int, Row] = {}
    for number, actions in table["states"].items():
        row: Row = {}
        for token, (kind, argument) in actions.items():
            row[symbol[token]] = argument if kind == 0 else _rule(memo[argument["@"]])
        states[number] = row
    return states, table["start_states"]["start"]


def _rule(saved: dict[str, Any]) -> Rule:
    expansion = tuple(str(symbol["name"]) for symbol in saved["expansion"])
    return Rule(str(saved["origin"]["name"]), expansion, str(saved["alias"] or ""))


def drop_unit_reductions(states: dict[int, Row], start: int) -> dict[Layers, dict[str, Layers | Rule]]:
    """The automaton in which a state does at once what the state behind its unit reduction would do."""
    new: dict[Layers, dict[str, Layers | Rule]] = {}

    def goto(below: Layers, symbol: str) -> int:
        found = {states[layer][symbol] for layer in below if symbol in states[layer]}
        assert len(found) == 1, f"two states behind {symbol}: the layers {below} disagree"
        (target,) = found
        assert isinstance(target, int)
        return target

    def layers(below: Layers, top: int) -> Layers:
        units = {action.origin for action in states[top].values() if isinstance(action, Rule) and action.is_unit}
        assert len(units) <= 1, f"state {top} reduces by two unit rules: {units}"
        if not units or "start" in units:
            return (top,)
        return (top, *layers(below, goto(below, *units)))

    def row(of: Layers) -> dict[str, Layers | Rule]:
        result: dict[str, Layers | Rule] = {}
        for place, layer in enumerate(of):
            for symbol, action in states[layer].items():
                if isinstance(action, Rule):
                    # A unit reduction hands its look-ahead on to the layer behind it.
                    if action.is_unit and place + 1 < len(of):
                        continue
                    taken: Layers | Rule = action
                else:
                    taken = layers(of, action)
                assert symbol not in result or result[symbol] == taken, f"{symbol} in {of}"
                result[symbol] = taken
        return result

    waiting: list[Layers] = [(start,)]
    while waiting:
        state = waiting.pop()
        if state in new:
            continue
        new[state] = row(state)
        waiting.extend(target for target in new[state].values() if not isinstance(target, Rule))
    return new


def merge_equal(states: dict[Layers, dict[str, Layers | Rule]]) -> dict[Layers, Layers]:
    """Each state's representative: two states are one where all they do, and all that follows, is the same."""
    group = dict.fromkeys(states, 0)
    while True:
        seen: dict[object, int] = {}
        finer: dict[Layers, int] = {}
        for state, row in states.items():
            does = frozenset((s, a if isinstance(a, Rule) else group[a]) for s, a in row.items())
            finer[state] = seen.setdefault((group[state], does), len(seen))
        if len(seen) == len(set(group.values())):
            first: dict[int, Layers] = {}
            return {state: first.setdefault(number, state) for state, number in finer.items()}
        group = finer


def only_reduces(row: dict[str, Layers | Rule]) -> Rule | None:
    """The rule, where every action of the state is to reduce by it: then the look-ahead decides nothing."""
    found = set(row.values())
    if len(found) == 1:
        (action,) = found
        if isinstance(action, Rule) and action.origin != "start":
            return action
    return None


def render(grammar: str) -> str:
    """The text of `recovery/tables.py`."""
    kinds = [*VALUED, *PLAIN, END, *NEVER]
    lark_states, lark_start = read_automaton(grammar)
    layered = drop_unit_reductions(lark_states, lark_start)
    same = merge_equal(layered)
    all_rules = {action for row in layered.values() for action in row.values() if isinstance(action, Rule)}
    rules = sorted(all_rules, key=lambda rule: (rule.origin, rule.expansion))
    actions = sorted({rule.action for rule in rules} - {""})
    origins = sorted({rule.origin for rule in rules})

    number: dict[Layers, int] = {}
    waiting = [same[(lark_start,)]]
    for state in waiting:  # grows while it is walked: breadth first
        if state in number:
            continue
        number[state] = len(number)
        for symbol in [*kinds, *origins]:
            target = layered[state].get(symbol)
            if isinstance(target, tuple) and (symbol in origins or only_reduces(layered[target]) is None):
                waiting.append(same[target])

    shift_reduce = len(number)
    accept = shift_reduce + len(rules)
    action_table: list[list[int]] = []
    goto_table: list[list[int]] = []
    for state in number:
        does = []
        for kind in kinds:
            action = layered[state].get(kind)
            if action is None:
                does.append(0)
            elif isinstance(action, Rule):
                does.append(accept if action.origin == "start" else -1 - rules.index(action))
            else:
                rule = only_reduces(layered[action])
                does.append(number[same[action]] if rule is None else shift_reduce + rules.index(rule))
        action_table.append(does)
        goto_table.append([number[same[t]] if isinstance(t := layered[state].get(o), tuple) else 0 for o in origins])

    lines = [
        '"""The LALR tables. Generated from grammar/calls.lark by grammar/generate.py; not to be edited.',
        "",
        "May import: nothing of the package.",
        '"""',
        "",
        "from typing import Final",
        "",
        "# Kinds of token.",
        *(f"{kind}: Final = {place}" for place, kind in enumerate(kinds)),
        f"KINDS: Final = {len(kinds)}",
        "# Kinds up to SIGN have a value that stands for itself; those below PLAIN carry something for the builder.",
        f"PLAIN: Final = {len(VALUED)}",
        "",
        "# What the builder does when a rule is complete; 0 is nothing.",
        *(f"{action.upper()}: Final = {place}" for place, action in enumerate(actions, 1)),
        "",
        "# By state and kind. 0: can't stand here. Below 0: reduce by rule -1 - n. From ACCEPT: the block is whole.",
        "# From SHIFT_REDUCE: take the token and reduce by rule n - SHIFT_REDUCE. Else: take it and go to state n.",
        f"SHIFT_REDUCE: Final = {shift_reduce}",
        f"ACCEPT: Final = {accept}",
        "ACTION: Final[tuple[int, ...]] = (",
        *(f"    {', '.join(map(str, row))}," for row in action_table),
        ")",
        "",
        "# By state and origin of the rule that was reduced: the state behind it.",
        f"ORIGINS: Final = {len(origins)}",
        "GOTO: Final[tuple[int, ...]] = (",
        *(f"    {', '.join(map(str, row))}," for row in goto_table),
        ")",
        "",
        "# By rule.",
        *_column("LENGTH", [len(rule.expansion) for rule in rules]),
        *_column("ORIGIN", [origins.index(rule.origin) for rule in rules]),
        *_column("BUILD", [1 + actions.index(rule.action) if rule.action else 0 for rule in rules]),
        "",
        "# By kind: how a person would call it.",
        "WORDS: Final[tuple[str, ...]] = (",
        *(f'    "{WORDS[kind]}",' for kind in [*VALUED, *PLAIN, END]),
        ")",
    ]
    return "\n".join(lines) + "\n"


def _column(name: str, values: list[int]) -> list[str]:
    return [f"{name}: Final[tuple[int, ...]] = (", f"    {', '.join(map(str, values))},", ")"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the committed tables differ")
    check = parser.parse_args().check
    text = render(GRAMMAR.read_text(encoding="utf-8"))
    if check:
        if not TABLES.exists() or TABLES.read_text(encoding="utf-8") != text:
            print(f"{TABLES} is not what the grammar gives: run python {Path(__file__).name}", file=sys.stderr)
            return 1
        return 0
    TABLES.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
