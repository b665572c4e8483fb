"""The command `recovery evidence`: its options, the files it writes, its exit status.

What is read and counted is `evidence`'s. May import: the public names of the package, `evidence`, `evidence_report`,
`rows`, `terminal`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from .evidence import Evidence, gather, read_verdicts
from .evidence_report import Sheet, policies, sheets, to_json, to_markdown
from .rows import read_toolsets
from .terminal import FILE, FILE_OR_DASH, Misuse, Terminal, new_table, output, plain, print_line, show_progress

# isort: split
# Behind `terminal`, which tells what to install where it is missing.
import click


@click.command("evidence")
@click.argument("answers", type=FILE_OR_DASH, nargs=-1, required=True)
@click.option("--toolsets", "toolsets_file", type=FILE, help='JSON lines, `{"id": …, "tools": [...]}`, plain or gzip.')
@click.option(
    "--negatives",
    type=FILE,
    multiple=True,
    help="JSON lines: `text` that must stay text, `tools`, `callish`. Repeatable.",
)
@click.option("--out", type=click.Path(file_okay=False), required=True, help="The folder to write into.")
@click.option(
    "--verdicts",
    type=click.Path(exists=True, file_okay=False),
    help="A folder of ALLOWANCE.jsonl: what readers said of the samples.",
)
@click.option("--seed", metavar="N", type=int, default=1, show_default=True, help="Which samples are drawn.")
@click.option(
    "--samples",
    metavar="N",
    type=click.IntRange(min=0),
    default=150,
    show_default=True,
    help="So many answers of each allowance are drawn, to be read.",
)
def evidence(
    answers: tuple[str, ...],
    toolsets_file: str | None,
    negatives: tuple[str, ...],
    out: str,
    verdicts: str | None,
    seed: int,
    samples: int,
) -> None:
    """Measure each allowance on recorded answers: what it brings, and what it costs.

    A row of ANSWERS is one of `recovery replay`. It may have `allowed`, the calls that the question wanted, each with
    its `name` and, in `allowed`, a list of accepted values for each argument ("" among them: it may be left out), and
    `calls`: what Python's own parser reads, which strict must give exactly. A row of --negatives holds a `text` that
    is no call: it is read with the names in `tools` offered, and with those in `callish`, the words before its
    parentheses.

    \b
    recovery evidence answers.jsonl.gz --toolsets toolsets.jsonl --negatives prose.jsonl.gz --out found

    \b
    In the folder --out:
      evidence.md, evidence.json  the tables, with no text of the answers
      hits.jsonl                  the texts that must stay text and did not, each with why
      samples/ALLOWANCE.jsonl     answers to read: text, calls, and a `verdict` to fill in
      left/CLASS.jsonl            answers that even lenient leaves though an offered tool is called in them

    Give each sample read the verdict "right reading", "wrong reading" or "two readings" (do the calls say what the
    text says?) and `by`: "reader" or "machine". Keep `id`, `allowance`, `reading`, `verdict` and `by` in a folder for
    --verdicts: it tells which allowances have earned a place in the default policy.

    \b
    Exit status:
      0    fine
      1    strict or default made a call of a text that must stay text, or strict differs from Python's parser
      2    misuse
      3    some rows were bad
      130  stopped by Ctrl-C
    """
    errors = Terminal(stderr=True)
    toolsets, bad = ({}, []) if toolsets_file is None else read_toolsets(toolsets_file)
    said, bad_verdicts = ({}, []) if verdicts is None else read_verdicts(Path(verdicts))
    bad += bad_verdicts
    for row in bad:
        print_line(errors, row)
    try:
        with ExitStack() as stack:
            folder = Path(out)
            folder.mkdir(parents=True, exist_ok=True)
            hits = stack.enter_context((folder / "hits.jsonl").open("w", encoding="utf-8", newline="\n"))
            found = gather(
                answers,
                negatives,
                toolsets,
                seed=seed,
                samples=samples,
                verdicts=said,
                on_hit=lambda hit: _write(hits, hit._asdict()),
                on_bad=lambda row: print_line(errors, row),
                on_progress=stack.enter_context(show_progress([*answers, *negatives], errors, "evidence")),
            )
        _write_all(folder, found, _command(answers, toolsets_file, negatives, verdicts, (seed, samples)))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Misuse(f"--out {out}: {error}") from None
    console = output()
    for sheet in sheets(found):
        _print_sheet(console, sheet)
    raise SystemExit(_conclude(console, found, len(bad)))


def _conclude(console: Terminal, found: Evidence, bad: int) -> int:
    """Print what is wrong; the exit status."""
    wrong = {
        f"texts that must stay text and became calls, by {name}": found.hits_under(allowed, "row")
        + found.hits_under(allowed, "callish")
        for name, allowed in policies(found).items()
        if name in {"strict", "default"}
    }
    wrong["answers that strict does not read as Python's parser does"] = len(found.unlike_python)
    for what, count in wrong.items():
        if count:
            print_line(console, f"{what}: {count:,}", "bold red")
    if found.unlike_python:
        print_line(console, f"  {', '.join(found.unlike_python[:20])}")
    bad += found.bad
    if bad:
        print_line(console, f"bad rows: {bad:,}, each reported on standard error")
    return 1 if any(wrong.values()) else 3 if bad else 0


def _command(
    answers: Iterable[str],
    toolsets: str | None,
    negatives: Iterable[str],
    verdicts: str | None,
    drawn: tuple[int, int],
) -> str:
    """The command as a reader types it: names of files without their folders, which are each one's own."""
    words = ["recovery", "evidence", *(Path(file).name for file in answers)]
    words += ["--toolsets", Path(toolsets).name] if toolsets else []
    words += [word for file in negatives for word in ("--negatives", Path(file).name)]
    words += ["--verdicts", verdicts] if verdicts else []
    return shlex.join([*words, "--seed", str(drawn[0]), "--samples", str(drawn[1]), "--out", "found"])


def _write_all(folder: Path, found: Evidence, command: str) -> None:
    (folder / "evidence.md").write_text(to_markdown(found, command), encoding="utf-8", newline="\n")
    (folder / "evidence.json").write_text(json.dumps(to_json(found), indent=2) + "\n", encoding="utf-8", newline="\n")
    drawn = {f"samples/{allowance.value}": draw for allowance, draw in found.drawn.items()}
    drawn |= {f"left/{name}": draw for name, draw in found.drawn_left.items()}
    for name, draw in drawn.items():
        path = folder / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for sample in draw:
                _write(file, sample)


def _write(file: IO[str], row: dict[str, Any]) -> None:
    file.write(json.dumps(row) + "\n")


def _print_sheet(console: Terminal, sheet: Sheet) -> None:
    print_line(console, sheet.title, "bold")
    table = new_table(sheet.words, sheet.numbers, sheet.remarks)
    for row in sheet.rows:
        table.add_row(*map(plain, row))
    console.print(table)
