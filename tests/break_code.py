"""Breaks the code where it meets a trap or a rule, in a copy, and shows which tests turn red.

    python tests/break_code.py            # all of them
    python tests/break_code.py traps      # the four traps: names that begin with "trap-"
    python tests/break_code.py fence …    # these

Each break replaces one text by another, exactly, in a copy of the package; a grammar that was broken gets its tables
made anew there. Exit 1 if a break leaves the tests green; an error if the text to replace is not found just once: then
the code has moved on, and the table below has to follow.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
COPIED: Final = ("recovery", "grammar", "tests", "pyproject.toml")
SHOWN: Final = 4


class Break(NamedTuple):
    """What is broken, where, how, and which cases of test_vectors.py should see it (pytest's `-k`)."""

    why: str
    file: str
    old: str
    new: str
    cases: str


GRAMMAR: Final = "grammar/calls.lark"
SCANNER: Final = "recovery/scanner.py"
LEXEMES: Final = "recovery/lexemes.py"
NAMES: Final = "recovery/names.py"
BUILDER: Final = "recovery/builder.py"
ENVELOPE: Final = "recovery/envelope.py"
VERDICT: Final = "recovery/verdict.py"

BREAKS: Final = {
    # The four traps.
    "trap-triple-opens": Break(
        "three quotes are an empty string and a quote", SCANNER, "if delimiter != quote * 3:", "if True:", "triple"
    ),
    "trap-triple-closes": Break(
        "one quote closes what three opened", SCANNER, "self._quote = delimiter", "self._quote = quote", "triple"
    ),
    "trap-comment": Break("a comment is no blank", SCANNER, 'if text[at] == "#":', 'if text[at] == "":', "comment"),
    "trap-comment-content": Break(
        "a quote ends a comment",
        LEXEMES,
        'COMMENT: Final = re.compile(r"[^\\r\\n]*")',
        'COMMENT: Final = re.compile(r"[^\\r\\n\'\\"]*")',
        "comment",
    ),
    "trap-cr-comment": Break(
        "a lone CR does not end a comment",
        LEXEMES,
        'COMMENT: Final = re.compile(r"[^\\r\\n]*")',
        'COMMENT: Final = re.compile(r"[^\\n]*")',
        "line-ends",
    ),
    "trap-cr-line": Break("a lone CR ends no line", LEXEMES, '    "\\r": NEWLINE,\n', "", "line-ends"),
    "trap-comma-calls": Break(
        "no comma behind the last call", GRAMMAR, '"[" calls ","? "]"', '"[" calls "]"', "trailing-comma"
    ),
    "trap-comma-arguments": Break(
        "no comma behind the last argument", GRAMMAR, 'NAME arguments ","? ")"', 'NAME arguments ")"', "trailing-comma"
    ),
    "trap-comma-containers": Break(
        "no comma behind the last item", GRAMMAR, '"[" items ","? "]"', '"[" items "]"', "trailing-comma"
    ),
    # Names.
    "dot": Break("a dot stands for nothing", NAMES, '.replace(".", "_")', "", "name-dot"),
    "hyphen": Break(
        "a hyphen stands for an underscore",
        NAMES,
        'return written.replace(".", "_")',
        'return written.replace("-", "_").replace(".", "_")',
        "operator",
    ),
    "ambiguous-alias": Break(
        "of two tools the alias wins",
        NAMES,
        "return alias if tool is None else Reason.AMBIGUOUS_NAME",
        "return alias",
        "name-ambiguous",
    ),
    "ambiguous-words": Break(
        "`not f` is always one name", NAMES, 'if " " in written and _is_said', "if False and _is_said", "name-ambiguous"
    ),
    "words-and-blank": Break(
        "a blank may stand behind a name of words", SCANNER, ' and not (apart and " " in name)', "", "name-space"
    ),
    # Structure.
    "line-end": Break(
        "a line end is a blank everywhere",
        SCANNER,
        "inside = self.depth > 0 or self._line_ended",
        "inside = True",
        "forms or line-ends or name",
    ),
    "duplicate-key": Break("a later key wins", BUILDER, "if scanner.key in arguments:", "if False:", "duplicates"),
    "duplicate-plain-key": Break("a later key wins", BUILDER, "if key in arguments:", "if False:", "duplicates"),
    "duplicate-dict-key": Break(
        "in a dict a later key wins", BUILDER, " and stack[-1] in stack[-2]:", " and False:", "duplicates"
    ),
    # Allowances and policy.
    "fence": Break("a fence has no label", ENVELOPE, "used.append(Allowance.FENCE)", "pass", "fence"),
    "fence-closer": Break(
        "any tick closes", ENVELOPE, "self._closing >= self._ticks if", "self._closing >= 1 if", "fence"
    ),
    "raw-newline": Break(
        "a line break in a string has no label",
        SCANNER,
        "len(quote) == 1 and breaks_line(body)",
        "False",
        "raw_newline",
    ),
    "markdown-escape": Break("an escape has no label", BUILDER, "scanner.escaped = True", "pass", "markdown_escape"),
    "single-dict": Break("a dict for arguments has no label", BUILDER, "self.used_dict = True", "pass", "single_dict"),
    "policy": Break("everything is allowed", VERDICT, "if used <= policy.allow:", "if True:", "allow"),
    # Streams: seen only where a case comes in pieces.
    "stream-number": Break(
        "a number ends where the piece ends",
        SCANNER,
        "        if end == len(text) and not self._final and end - at <= digits:\n            return MORE\n",
        "",
        "numbers",
    ),
    "stream-quote": Break(
        "quotes at the end of a piece are content", SCANNER, "keep > max(at, size - 2)", "False", "triple-quoted"
    ),
}
TRAPS: Final = [name for name in BREAKS if name.startswith("trap-")]


@contextmanager
def copy() -> Iterator[Path]:
    """A copy of what the tests need."""
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            source, target = ROOT / name, Path(folder, name)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        yield Path(folder)


def red(broken: Break | None, cases: str) -> list[str]:
    """The names of the cases that fail, in a copy with this break; in a copy as it is, where there is none."""
    with copy() as folder:
        environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        if broken is not None:
            file = folder / broken.file
            text = file.read_text(encoding="utf-8")
            if text.count(broken.old) != 1:
                raise SystemExit(f"{broken.file} holds {text.count(broken.old)} times, not once: {broken.old}")
            file.write_text(text.replace(broken.old, broken.new), encoding="utf-8")
            if broken.file == GRAMMAR:
                subprocess.run([sys.executable, "grammar/generate.py"], cwd=folder, env=environment, check=True)
        command = [
            sys.executable,
            *"-m pytest -q -rf --tb=no -p no:cacheprovider tests/test_vectors.py -k".split(),
            cases,
        ]
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if run.returncode not in (0, 1):
            raise SystemExit(f"pytest could not run:\n{run.stdout}{run.stderr}")
        return re.findall(r"^FAILED \S+::test_case\[([^\]]*)\]", run.stdout, re.MULTILINE)


def main(arguments: list[str]) -> int:
    names = [name for given in arguments or BREAKS for name in (TRAPS if given == "traps" else [given])]
    if unknown := [name for name in names if name not in BREAKS]:
        print(f"there is no break {', '.join(unknown)}; known are traps, {', '.join(BREAKS)}", file=sys.stderr)
        return 2
    before = set(red(None, " or ".join({BREAKS[name].cases for name in names})))
    green = 0
    for name in names:
        turned = [case for case in red(BREAKS[name], BREAKS[name].cases) if case not in before]
        green += not turned
        shown = ", ".join(turned[:SHOWN]) + (", …" if len(turned) > SHOWN else "")
        seen = f"{len(turned)} red: {shown}" if turned else "STAYS GREEN"
        print(f"{name}: {BREAKS[name].why}\n    {seen}", flush=True)
    print(f"{len(names)} breaks, {green} of them not seen")
    return 1 if green else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
