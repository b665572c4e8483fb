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
READER: Final = "recovery/reader.py"
ARGUMENTS: Final = "recovery/arguments.py"
MARKERS: Final = "recovery/markers.py"
JSONCALLS: Final = "recovery/jsoncalls.py"
PROSE: Final = "recovery/prose.py"

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
    "slash": Break(
        "a slash stands for an underscore",
        NAMES,
        'return written.replace(".", "_")',
        'return written.replace("/", "_").replace(".", "_")',
        "operator-slash",
    ),
    "space": Break("a space stands for nothing", NAMES, '.replace(" ", "_")', "", "name-space"),
    "case": Break("names are folded", NAMES, '.replace(" ", "_")', '.replace(" ", "_").lower()', "name-"),
    "own-spelling": Break(
        "of two offered names the joined one wins",
        NAMES,
        "tool = exact.get(written) or exact.get(joined)",
        "tool = exact.get(joined) or exact.get(written)",
        "name-exact or name-dot or name-space",
    ),
    "alias": Break(
        "an alias names nothing",
        NAMES,
        "    if alias is None or alias is tool:\n        return tool\n",
        "    return tool\n",
        "name-",
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
        "in a dict a later key wins", BUILDER, " and key in stack[-2]:", " and False:", "duplicates"
    ),
    # Allowances and policy.
    "fence": Break("a fence has no label", ENVELOPE, "alone = Allowance.FENCE", "pass", "fence"),
    "fence-closer": Break(
        "any tick closes", ENVELOPE, "else self._closing < self._ticks:", "else self._closing < 1:", "fence"
    ),
    "fence-beside-prose": Break(
        "a fence beside prose has no label of its own",
        ENVELOPE,
        "beside = Allowance.PROSE_FENCE",
        "pass",
        "prose_fence",
    ),
    "separate-lists": Break(
        "lists one behind another have no label",
        BUILDER,
        "self.steps.add(Allowance.SEPARATE_LISTS)",
        "pass",
        "separate_lists",
    ),
    "single-dict": Break(
        "of two readings of a dict that fit the first is taken",
        ARGUMENTS,
        "if (placed is not None) == as_arguments or fits(first, positions[0]) == as_arguments:",
        "if False:",
        "single_dict",
    ),
    "raw-newline": Break(
        "a line break in a string has no label",
        SCANNER,
        "len(quote) == 1 and breaks_line(body)",
        "False",
        "raw_newline",
    ),
    "markdown-escape": Break("an escape has no label", BUILDER, "scanner.escaped = True", "pass", "markdown_escape"),
    "placed": Break(
        "a placed argument has no label", BUILDER, "self.steps.add(step)", "pass", "single_dict or positional"
    ),
    "policy": Break("everything is allowed", VERDICT, "if not used or used <= policy.allow:", "if True:", "allow"),
    "larger-policy": Break(
        "one step of several is enough", VERDICT, "used <= policy.allow:", "used & policy.allow:", "combined"
    ),
    # The edges of the allowances.
    "commit": Break(
        "a line that begins like a call and fails is prose",
        ENVELOPE,
        "if builder is not None and builder.commits() and not self._within_line:",
        "if False:",
        "prose or combined",
    ),
    "sign-between": Break(
        "a line may go on with the block before it",
        ENVELOPE,
        "if sign and self._only_blanks:",
        "if False:",
        "prose_lines or operator-around or mathematics",
    ),
    "sign-before": Break(
        "the line before a block may go on in it",
        PROSE,
        "    sign = _sign_at_end(line)\n",
        "    sign = None\n",
        "operator-around or mathematics",
    ),
    "sign-of-markdown": Break(
        "a rule, a tag and what is in bold are operators",
        PROSE,
        "if found is None or compiled(_NO_SIGN_AT_START).match(line):",
        "if found is None:",
        "prose_lines",
    ),
    "bullet": Break(
        "a bullet of prose is an operator",
        PROSE,
        "0 if bullet is not None and _holds_words(line[bullet.end() :]) else len(found.group())",
        "len(found.group())",
        "prose_lines",
    ),
    "bracket-before": Break(
        "a bracket may be open before a block",
        PROSE,
        'if last in ("(", "[", "{"):',
        "if False:",
        "prose_lines",
    ),
    "sign-first": Break(
        "an operator before one call leaves the others what they are",
        ENVELOPE,
        "self.spoiled = self.spoiled or refusal",
        "pass",
        "mathematics",
    ),
    "sign-in-comment": Break(
        "a comment hides the operator before it",
        PROSE,
        'line = compiled(_COMMENT).sub("", line).rstrip()',
        "pass",
        "mathematics",
    ),
    "sign-behind-comment": Break(
        "a comment is prose between a call and an operator",
        ENVELOPE,
        "self._only_blanks = self._only_blanks and is_comment",
        "self._only_blanks = False",
        "mathematics",
    ),
    "sign-before-comment": Break(
        "words before a comment lead to nothing",
        ENVELOPE,
        "self._keep_words(self._base + start)",
        "self._earlier = ()",
        "mathematics",
    ),
    "maths-sign": Break("signs of mathematics are none", PROSE, '.,;:~\\\\") | MATHS', '.,;:~\\\\")', "mathematics"),
    "maths-fence": Break(
        "a call in a fence of LaTeX counts",
        ENVELOPE,
        "if word.lower() in prose.MATHS_LANGUAGES:",
        "if False:",
        "mathematics",
    ),
    "not-mixed": Break(
        "a list and bare calls may be mixed",
        ENVELOPE,
        "if plain and self._unseparated and not self._within_line:",
        "if False:",
        "prose_lines or separate_lists",
    ),
    "colon-list": Break(
        "a list behind a colon may stand in a sentence",
        ENVELOPE,
        "if self._ticks or not reader.ends_line():",
        "if self._ticks:",
        "prose_list",
    ),
    "colon-word": Break(
        "one word and a colon are passed over as one", SCANNER, "if kind == COLON_KEY:", "if False:", "prose_list"
    ),
    "colon-code": Break(
        "code and data may lead to a list",
        ENVELOPE,
        "whole = prose.leads_to_list(prose.last_line(self._text_before(reader.offset)))",
        "pass",
        "prose_list",
    ),
    "colon-statement": Break(
        "a statement may lead to a list",
        PROSE,
        'or not _OF_CODE.isdisjoint(words.lstrip("-*+• \\t").split(maxsplit=1)[:1]):',
        "or False:",
        "prose_list",
    ),
    "taken-back": Break(
        "what words take back is called", PROSE, "apart = takes_back(last_line(before)) or (", "apart = (", "prose_"
    ),
    "taken-back-clause": Break(
        "a negation counts wherever it stands in its line", PROSE, "_words(clauses[-1])", "_words(line)", "prose_list"
    ),
    "in-sentence": Break(
        "a marker in the middle of a sentence counts",
        ENVELOPE,
        "if self._only_blanks and self._in_sentence:",
        "if False:",
        "marker",
    ),
    "sentence-ends": Break(
        "behind a full stop a sentence goes on",
        PROSE,
        " and compiled(_SENTENCE_ENDS).search(line) is None",
        "",
        "marker",
    ),
    "in-quotes": Break(
        "a marker in quotes counts", ENVELOPE, "(?:[<\\[\\\\$]|\\Z)|(?<=:)", "(?!)|(?<=:)", "marker or reasoning"
    ),
    "comment-of-others": Break(
        "what is commented out counts", MARKERS, '    "<!--": "-->",\n    "/*": "*/",\n', "", "prose_lines"
    ),
    "maths": Break("a call in a formula counts", MARKERS, '    "\\\\[": "\\\\]",\n', "", "prose_lines"),
    "maths-environment": Break(
        "a call in an environment of maths counts",
        MARKERS,
        '    **{f"\\\\begin{{{name}}}": f"\\\\end{{{name}}}" for name in _MATHS},\n',
        "",
        "prose_lines",
    ),
    "reasoning-hides": Break(
        "a call in reasoning counts",
        ENVELOPE,
        "            self._earlier = ()\n            self._place = _THINKING",
        "            self._earlier = ()\n            self._place = _LINE",
        "reasoning",
    ),
    "orphan-closer": Break(
        "the end of reasoning without its beginning forgets nothing",
        ENVELOPE,
        "            self._forget()\n",
        "            self._place = _LINE\n",
        "reasoning",
    ),
    "values-in-strings": Break(
        "what a string holds is not counted", BUILDER, "self.values_left -= inner.values", "pass", "limits"
    ),
    "values-of-blocks": Break(
        "each block has a budget of values of its own",
        ENVELOPE,
        "self._values_left -= self._limits.values - builder.values_left",
        "pass",
        "limits",
    ),
    "marker-label": Break("a marker has no label", ENVELOPE, "used.add(Allowance.MARKER)", "pass", "marker"),
    "behind-marker": Break(
        "words behind a marker on its line are lost",
        VERDICT,
        'if line_end < limit and answer[line_end] not in "\\r\\n":',
        "if False:",
        "marker",
    ),
    "exact-operator": Break(
        "a hyphen is no operator in an offered name",
        NAMES,
        "if not joined.isidentifier() and operator_at(written) >= 0:",
        "if not joined.isidentifier() and operator_at(written) >= 0 and written not in toolset:",
        "exact_operator_name",
    ),
    "wrapper-offered": Break(
        "a wrapping word that is offered wraps", NAMES, " and word not in toolset:", ":", "wrapper"
    ),
    "wrapper-twice": Break(
        "two wrappers a call", BUILDER, "        if self._wrapped:\n", "        if False:\n", "wrapper"
    ),
    "wrapper-target": Break(
        "a call may be assigned to a reserved word",
        BUILDER,
        "if iskeyword(scanner.key) or scanner.key in CONSTANTS:",
        "if False:",
        "wrapper",
    ),
    "ambiguous-wrapper": Break(
        "an ambiguous name is widened",
        BUILDER,
        "None if reason is Reason.AMBIGUOUS_NAME else widen(plain, self._toolset)",
        "widen(plain, self._toolset)",
        "wrapper or name-ambiguous",
    ),
    "namespace": Break(
        "any prefix is a namespace", NAMES, "if dot and prefix in toolset.namespaces and", "if dot and", "namespace"
    ),
    "bare-word": Break(
        "a word without quotes needs no schema",
        BUILDER,
        "if self._tool is not None and not is_bare_word(self._tool.parameters, key, word):",
        "if False:",
        "bare_word",
    ),
    "stand-ins": Break(
        "a word that stands for something else is a value",
        ARGUMENTS,
        " and folded not in _STAND_INS and not folded.startswith(_YOURS)",
        "",
        "bare_word",
    ),
    "bare-word-end": Break(
        "a word at the end is whole", BUILDER, "if self.scanner.exhausted():", "if False:", "truncated or bare_word"
    ),
    "never-words": Break("nan and str are words", ARGUMENTS, " or folded in _NEVER_WORDS", "", "bare_word"),
    "positional-behind": Break(
        "a value may stand behind a keyword", BUILDER, "if self._keys or self._colons:", "if False:", "positional"
    ),
    "positional-type": Break(
        "a placed value may have any type",
        ARGUMENTS,
        "fits(properties[key], value) for key",
        "True for key",
        "positional",
    ),
    "two-styles": Break(
        "both styles of keys in one call", BUILDER, "if self._colons and self._keys:", "if False:", "colon"
    ),
    "json-keys": Break(
        "JSON may have arguments that no tool declares",
        BUILDER,
        "if not takes_keys(tool.parameters, arguments):",
        "if False:",
        "json",
    ),
    "json-table": Break("other keys may stand beside", JSONCALLS, "if len(rest) != 2:", "if False:", "json"),
    "json-escapes": Break("JSON has Python's escapes", BUILDER, "self.scanner.json = True", "pass", "json"),
    "quoted-one": Break(
        "a string may hold more than one call",
        READER,
        "call = builder.calls[0] if len(builder.calls) == 1 else None",
        "call = builder.calls[0]",
        "quoted",
    ),
    "quote-reserved": Break(
        "a reserved word between two strings is content",
        SCANNER,
        "if word_end >= 0 and text[at + 1 : word_end].strip() in RESERVED:",
        "if False:",
        "quote_repair",
    ),
    "json-declaration": Break(
        "a declaration is a call", ARGUMENTS, "return not _is_declaration(arguments)", "return True", "json"
    ),
    "json-own-keys": Break(
        "a JSON call may have any key",
        ARGUMENTS,
        "return all(key in properties for key in arguments) and not _are_types(arguments)",
        "return True",
        "json",
    ),
    "quote-content": Break(
        "a pair of quotes is content wherever the second stands",
        SCANNER,
        "return second + 1 if closes else at",
        "return second + 1",
        "quote_repair",
    ),
    "quote-between": Break(
        "any quote that a letter follows is content",
        SCANNER,
        "        if before.isalnum():\n            return at + 1\n",
        "        return at + 1\n",
        "quote_repair",
    ),
    "smart-label": Break("smart quotes have no label", SCANNER, "self.smart_quotes = True", "pass", "smart_quotes"),
    "leading-zero-list": Break(
        "a leading zero may stand where no key tells what it is",
        BUILDER,
        "if scanner.leading_zeros > self._zeros_read:",
        "if False:",
        "leading_zero",
    ),
    "unclosed-label": Break(
        "a list without its end has no label",
        BUILDER,
        "self.steps.add(Allowance.UNCLOSED_LIST)",
        "pass",
        "unclosed_list",
    ),
    "never-named": Break("only calls as JSON are kept back", BUILDER, "if self._toolset.never:", "if False:", "never"),
    "never-json": Break(
        "only named calls are kept back", BUILDER, "self._keep_back(tool.name, start, end)", "pass", "never"
    ),
    "never-quoted": Break(
        "a call in a string is not kept back", BUILDER, "self._keep_back(inner.call.name, start, end)", "pass", "never"
    ),
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
