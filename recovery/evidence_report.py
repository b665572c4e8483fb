"""The evidence as tables, as Markdown and as JSON: numbers and words of ours, never text of an answer.

May import: the public names of the package, `evidence`, `leftovers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from . import RULES, Allowance, Policy
from .evidence import RIGHT, STALE, WRONG, Count, Evidence, Used
from .leftovers import CLASSES, OTHER

# A class `other` larger than this share says that classes are missing.
MOST_OTHER: Final = 0.05


class Sheet(NamedTuple):
    """One table: its title, the headings of its columns of words, numbers and remarks, and its rows."""

    title: str
    words: tuple[str, ...]
    numbers: tuple[str, ...]
    remarks: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def sheets(evidence: Evidence) -> list[Sheet]:
    """Every table, in the order in which a reader wants them."""
    return [_policies(evidence), _alone(evidence), _order(evidence), _cost(evidence), _left(evidence)]


def policies(evidence: Evidence) -> dict[str, Used]:
    """The policies that are compared."""
    return {
        "strict": frozenset(),
        "default": Policy.default().allow,
        "earned": evidence.earned(),
        "lenient": frozenset(Allowance),
    }


def _policies(evidence: Evidence) -> Sheet:
    rows: list[tuple[str, ...]] = [
        ("Python's own parser", *_numbers(evidence.python), "1.00" if evidence.python.right else "—", "—", "—")
    ]
    for name, allowed in policies(evidence).items():
        hits = [f"{evidence.hits_under(allowed, kind):,}" for kind in ("row", "callish")]
        rows.append((name, *_numbers(evidence.under(allowed)), _times(evidence, evidence.under(allowed)), *hits))
    return Sheet(
        f"{evidence.answers.answers:,} answers, {evidence.answers.truths:,} with a ground truth;"
        f" {evidence.negatives:,} texts that must stay text",
        ("policy",),
        ("recovered", "with truth", "right", "times Python's", "texts, row tools", "texts, callish"),
        (),
        rows,
    )


def _alone(evidence: Evidence) -> Sheet:
    strict = evidence.under(())
    rows = []
    for allowance in Allowance:
        alone, rest = evidence.under({allowance}), evidence.under(set(Allowance) - {allowance})
        needed = evidence.under(Allowance) - rest
        rows.append((allowance.value, *_numbers(alone - strict), *_numbers(needed)))
    headings = ("alone: new", "with truth", "right", "all but it: lost", "with truth", "right")
    return Sheet(
        "each allowance: what it brings to strict, and what all others miss without it",
        ("allowance",),
        headings,
        (),
        rows,
    )


def _order(evidence: Evidence) -> Sheet:
    rows: list[tuple[str, ...]] = []
    allowed: list[Allowance] = []
    for allowance in evidence.greedy():
        before = evidence.under(allowed)
        allowed.append(allowance)
        now = evidence.under(allowed)
        rows.append((f"+ {allowance.value}", *_numbers(now - before), f"{now.right:,}", _times(evidence, now)))
    headings = ("new", "with truth", "right", "right so far", "times Python's")
    return Sheet("added one to another, first what brings most right answers", ("allowance",), headings, (), rows)


def _cost(evidence: Evidence) -> Sheet:
    rows = []
    for allowance in Allowance:
        judged, faults = evidence.judged[allowance], evidence.faults_of(allowance)
        numbers = [
            evidence.hits_of(allowance, "row"),
            evidence.hits_of(allowance, "callish"),
            evidence.own_calls_of(allowance),
            evidence.drawn[allowance].drawn_from if allowance in evidence.drawn else 0,
            judged[RIGHT] + sum(judged[verdict] for verdict in WRONG),
            judged["reader"],
            sum(judged[verdict] for verdict in WRONG),
            judged[STALE],
        ]
        rows.append((allowance.value, *(f"{n:,}" for n in numbers), "earned" if not faults else "; ".join(faults)))
    headings = ("texts, row", "callish", "own calls", "used in", "read", "by eye", "wrong", "stale")
    return Sheet("what each costs: texts that became calls, and readings", ("allowance",), headings, ("default",), rows)


def _left(evidence: Evidence) -> Sheet:
    total = max(sum(evidence.left.values()), 1)
    reasons = {class_.name: class_.reason for class_ in (*CLASSES, OTHER)}
    rows = [(name, f"{n:,}", f"{n / total:.1%}", reasons[name]) for name, n in evidence.left.most_common()]
    title = (
        f"left by lenient though an offered name stands before a ( or in a name field: {sum(evidence.left.values()):,}"
    )
    return Sheet(title, ("class",), ("answers", "share"), ("why, or what would recover it",), rows)


def _numbers(count: Count) -> tuple[str, str, str]:
    return f"{count.answers:,}", f"{count.truths:,}", f"{count.right:,}"


def _times(evidence: Evidence, count: Count) -> str:
    return f"{count.right / evidence.python.right:.2f}" if evidence.python.right else "—"


# Markdown and JSON


def to_markdown(evidence: Evidence, command: str) -> str:
    """The tables as a page; `command` is what makes it."""
    parts = ["# Evidence", f"Made by reading rules {RULES} with\n\n    {command}", _LEGEND]
    parts += [_to_markdown(sheet) for sheet in sheets(evidence)]
    return "\n\n".join(parts) + "\n"


_LEGEND: Final = """\
Every answer was read once, with everything allowed; what a smaller policy recovers follows from the allowances that
the reading used, and is checked on every 32nd. An answer is right where its calls are those that the question wanted.
A text that must stay text counts against every allowance that its reading used; a model's own whole call under a name
nobody offered is listed, not counted. An allowance has earned its place in the default if no text counts against it,
if answers that it newly recovers were read, and if none of these readings is wrong or doubtful. A verdict on calls
which the answer no longer gives is stale, and does not count."""


def _to_markdown(sheet: Sheet) -> str:
    headings = (*sheet.words, *sheet.numbers, *sheet.remarks)
    rule = ["---"] * len(sheet.words) + ["--:"] * len(sheet.numbers) + ["---"] * len(sheet.remarks)
    lines = [headings, rule, *([_cell(cell) for cell in row] for row in sheet.rows)]
    title = sheet.title[:1].upper() + sheet.title[1:]
    return f"## {title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def to_json(evidence: Evidence) -> dict[str, Any]:
    """Every number, by name."""
    strict = evidence.under(())
    return {
        "rules": RULES,
        "seed": evidence.seed,
        "samples": evidence.samples,
        "answers": asdict(evidence.answers),
        "python": {**asdict(evidence.python), "unlike": evidence.unlike_python},
        "negatives": evidence.negatives,
        "policies": {
            name: {
                "allow": sorted(allowed),
                **asdict(evidence.under(allowed)),
                "hits": {kind: evidence.hits_under(allowed, kind) for kind in evidence.hits},
            }
            for name, allowed in policies(evidence).items()
        },
        "allowances": {
            allowance.value: {
                "alone": asdict(evidence.under({allowance}) - strict),
                "needed": asdict(evidence.under(Allowance) - evidence.under(set(Allowance) - {allowance})),
                "hits": {kind: evidence.hits_of(allowance, kind) for kind in evidence.hits},
                "own_calls": evidence.own_calls_of(allowance),
                "judged": dict(evidence.judged[allowance]),
                "faults": evidence.faults_of(allowance),
            }
            for allowance in Allowance
        },
        "order": [allowance.value for allowance in evidence.greedy()],
        "sets": [{"used": sorted(used), **asdict(count)} for used, count in _by_size(evidence.brought)],
        "hit_sets": {kind: _sets(hits) for kind, hits in {**evidence.hits, "own_calls": evidence.own_calls}.items()},
        "left": dict(evidence.left.most_common()),
        "checked": evidence.checked,
        "bad": evidence.bad,
    }


def _by_size(brought: Mapping[Used, Count]) -> Iterable[tuple[Used, Count]]:
    return sorted(brought.items(), key=lambda item: (-item[1].answers, sorted(item[0])))


def _sets(hits: Counter[Used]) -> list[dict[str, Any]]:
    return [{"used": sorted(used), "texts": count} for used, count in hits.most_common()]
