"""The command line: `recovery recover` for one answer, `recovery replay` for files of recorded ones.

What is read and counted is `replay`'s; here are the exit statuses and how it looks. `recovery evidence`, `recovery
serve` and `recovery stream` stand in `cli_evidence`, `cli_serve` and `cli_stream`, those that grade in `grading.cli`.
May import: the public names of the package, `cli_evidence`, `cli_options`, `cli_serve`, `cli_stream`, `grading.cli`,
`grading.report.cli`, `replay`, `rows`, `terminal`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any, Final

from . import RULES, compiled, recover
from .cli_evidence import evidence
from .cli_options import aliases_option, allow_option, policy_of, policy_option, read_tools, tools_option
from .cli_serve import serve
from .cli_stream import stream
from .replay import MOST_KEYS, OTHER_GROUPS, Baseline, Count, Plan, Report, replay
from .rows import read_toolsets
from .terminal import FILE, FILE_OR_DASH, Misuse, Terminal, cut, new_table, output, plain, print_line, show_progress

# isort: split
# Behind `terminal`, which tells what to install where these are missing.
import click

# What a shell gives for a process that this signal ended.
_INTERRUPTED: Final = 128 + 2
_BROKEN_PIPE: Final = 128 + 13


class _Group(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        # An answer may hold characters that the terminal's encoding lacks.
        for file in (sys.stdout, sys.stderr):
            getattr(file, "reconfigure", lambda **_: None)(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Stopped by Ctrl-C.", err=True)
            ctx.exit(_INTERRUPTED)
        except BrokenPipeError:
            # Left to click it would be status 1, which says something else here.
            ctx.exit(_BROKEN_PIPE)
        except OSError as error:
            # A full disk, for one: a traceback has status 1, which says something else here.
            raise Misuse(str(error)) from None


class _Later(click.Command):
    """A command that needs more than the others do: what it needs is imported where it is asked for."""

    def __init__(self, name: str, short_help: str, load: Callable[[], click.Command]) -> None:
        super().__init__(name, short_help=short_help)
        self._load = load

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            command = self._load()
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.partition(".")[0] == "recovery":
                raise
            needs = f"recovery {self.name} needs {missing.name}: pip install 'recovery[cli,grading]'"
            raise Misuse(needs) from None
        return command.make_context(info_name, args, parent, **extra)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        try:
            click.echo(f"recovery {version('recovery')}{', compiled' if compiled else ''}")
        except PackageNotFoundError:
            click.echo("recovery, not installed: run from its source")
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Show it.")
def main() -> None:
    """Recover tool calls that a model wrote as text, and grade models on them.

    A model sometimes writes `[weather.today(city="Oslo")]` into its answer instead of calling the tool. These commands
    read such answers and give back the calls, each mapped onto exactly one offered tool, or the untouched text and
    the reason.

    \b
    recovery recover --tools tools.json answer.txt
    ask_a_model | recovery stream --tools tools.json
    recovery replay answers.jsonl.gz --toolsets toolsets.jsonl
    recovery evidence answers.jsonl.gz --toolsets toolsets.jsonl --negatives prose.jsonl --out found
    recovery serve --upstream http://127.0.0.1:8000

    Which failure is it, on your tools and your traffic, and is the difference between two models more than noise?

    \b
    recovery lint --cases cases.jsonl --tools tools.json
    recovery plan --cases cases.jsonl --models models.yaml
    recovery run --cases cases.jsonl --tools tools.json --models models.yaml --out run.db
    recovery grade --cases cases.jsonl --tools tools.json --answers answers.jsonl --out run.db
    recovery report run.db --html report.html
    recovery compare baseline.db run.db
    """


main.add_command(evidence)
main.add_command(serve)
main.add_command(stream)


def _plan() -> click.Command:
    from .grading.cli import plan

    return plan


def _grading_run() -> click.Command:
    from .grading.cli import run

    return run


def _grade() -> click.Command:
    from .grading.cli import grade

    return grade


def _lint() -> click.Command:
    from .grading.cli import lint

    return lint


def _report() -> click.Command:
    from .grading.report.cli import report

    return report


def _compare() -> click.Command:
    from .grading.report.cli import compare

    return compare


main.add_command(_Later("plan", "Say what a run costs and what it can see.", _plan))
main.add_command(_Later("run", "Ask every model every case, and grade the answers.", _grading_run))
main.add_command(_Later("grade", "Grade recorded answers, without a call.", _grade))
main.add_command(_Later("lint", "Check a file of cases against the tools.", _lint))
main.add_command(_Later("report", "Show a run, write it as a page, hold it to gates.", _report))
main.add_command(_Later("compare", "Hold a run against a baseline.", _compare))


@main.command("recover")
@click.argument("answer_file", type=FILE_OR_DASH, default="-")
@tools_option
@aliases_option
@policy_option
@allow_option
def _recover(answer_file: str, tools_file: str, aliases_file: str | None, policy: str, allow: tuple[str, ...]) -> None:
    """Read one answer: what was recovered, as JSON.

    The answer comes from a file or from standard input, is read as UTF-8 and not changed in any way. Tools are given
    in the shape of OpenAI, Anthropic or MCP, or as plain names. Why an answer was left as text stands on standard
    error.

    \b
    echo '[weather.today(city="Oslo")]' > answer.txt
    echo '["weather_today"]' > tools.json
    recovery recover --tools tools.json answer.txt

    Exit status: 0 recovered, 1 left as text, 2 misuse.
    """
    tools = read_tools(tools_file, aliases_file)
    with click.open_file(answer_file, "rb") as stream:
        raw = stream.read()
    try:
        answer = raw.decode()
    except UnicodeDecodeError as error:
        raise Misuse(f"{answer_file}: no UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}") from None
    result = recover(answer, tools, policy=policy_of(policy, allow))
    click.echo(json.dumps(result.to_dict(), indent=2))
    if result.status != "recovered":
        refusal = result.refusal
        click.echo("text: nothing here looks like a call" if refusal is None else refusal.explain(answer), err=True)
        raise SystemExit(1)


@main.command("replay")
@click.argument("answers", type=FILE_OR_DASH, nargs=-1, required=True)
@click.option("--toolsets", "toolsets_file", type=FILE, help='JSON lines, `{"id": …, "tools": [...]}`, plain or gzip.')
@policy_option
@allow_option
@click.option(
    "--commit",
    type=click.Choice(["answer", "call"]),
    default="answer",
    show_default=True,
    help="`call`: read each answer as `recovery stream --commit call` does too, and count premature calls.",
)
@click.option("--by", multiple=True, metavar="FIELD", help="Count by this field of the rows too. Repeatable.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write one JSON line for each answer: what became of it.")
@click.option("--baseline", "baseline_file", type=FILE, help="An earlier --out: list every answer that changed.")
@click.option(
    "--protect",
    multiple=True,
    metavar="FIELD=VALUE",
    help="With --baseline: no answer of this group that was not recovered may become a call. Repeatable.",
)
@click.option(
    "--jobs", metavar="N", type=click.IntRange(min=1), default=1, show_default=True, help="Read in so many processes."
)
def _replay(  # noqa: PLR0913, PLR0917 - each is an option
    answers: tuple[str, ...],
    toolsets_file: str | None,
    policy: str,
    allow: tuple[str, ...],
    commit: str,
    by: tuple[str, ...],
    out: str | None,
    baseline_file: str | None,
    protect: tuple[str, ...],
    jobs: int,
) -> None:
    """Read files of recorded answers: what becomes of them, in a table.

    A row of ANSWERS is a JSON object on a line of its own, plain or gzip: `text` (or an OpenAI `message`), and `tools`
    (a list of tools or names) or `toolset` (an id in --toolsets). It may have `id`, `aliases`, `namespaces`, `never`,
    and `seen`: how often the text occurred. Any other field serves --by and --protect.

    \b
    recovery replay examples/answers.jsonl --toolsets examples/toolsets.jsonl --by model
    recovery replay answers.jsonl.gz --out before.jsonl
    recovery replay answers.jsonl.gz --allow fence --baseline before.jsonl --protect category=chat

    With --commit call each answer is read in pieces of 4 characters as well, which takes a few times as long, and a
    call goes out as soon as it has ended. Premature are the calls that are out when the answer turns out to be one that
    is refused. They stand in a table, by the reason, and in `premature` of --out.

    A bad row is reported on standard error with file and line, and never ends the run.

    \b
    Exit status:
      0    fine
      1    an answer of a protected group became a call (whatever else happened)
      2    misuse
      3    some rows were bad
      130  stopped by Ctrl-C
    """
    _check_usage(protect, baseline_file, out, [*answers, toolsets_file, baseline_file])
    errors = Terminal(stderr=True)
    try:
        baseline = None if baseline_file is None else Baseline(baseline_file)
    except ValueError as error:
        raise Misuse(str(error)) from None
    toolsets, bad_toolsets = ({}, []) if toolsets_file is None else read_toolsets(toolsets_file)
    for bad in bad_toolsets:
        print_line(errors, bad)
    protected = tuple((name, value) for name, _, value in (group.partition("=") for group in protect))
    by_call = commit == "call"
    record = out is not None or baseline is not None
    plan = Plan(policy_of(policy, allow), toolsets, by, protected, by_call=by_call, record=record)
    report = _run(answers, plan, jobs, baseline, out, errors)
    console = output()
    _print_report(console, report, by)
    if by_call:
        _print_premature(console, report)
    if baseline is not None:
        _print_changes(console, baseline, report)
    bad_rows = report.bad + len(bad_toolsets)
    if bad_rows:
        print_line(console, f"bad rows: {bad_rows:,}, each reported on standard error")
    for group, count in report.protected.items():
        if not count:
            print_line(errors, f"--protect {group} protects nothing: no answer has it")
    if baseline is not None and any(change.breaks for change in baseline.changes):
        raise SystemExit(1)
    if bad_rows:
        raise SystemExit(3)


def _check_usage(protect: Iterable[str], baseline: str | None, out: str | None, inputs: Iterable[str | None]) -> None:
    for group in protect:
        if not group.partition("=")[0] or "=" not in group:
            raise click.UsageError(f"--protect {group}: expected FIELD=VALUE")
        if baseline is None:
            raise click.UsageError("--protect needs a --baseline to compare with")
    for file in inputs:
        if out is not None and file not in {None, "-"} and Path(out).exists() and Path(out).samefile(file):
            raise click.UsageError(f"--out {out} would overwrite what is read")


def _run(
    answers: tuple[str, ...], plan: Plan, jobs: int, baseline: Baseline | None, out: str | None, errors: Terminal
) -> Report:
    # Outside the stack: a full disk may be found out only when the file is closed.
    try:
        with ExitStack() as stack:
            file = None if out is None else stack.enter_context(Path(out).open("w", encoding="utf-8", newline="\n"))
            return replay(
                answers,
                plan,
                jobs=jobs,
                baseline=baseline,
                on_bad=lambda bad: print_line(errors, bad),
                on_record=lambda record: file and file.write(f"{record}\n"),
                on_progress=stack.enter_context(show_progress(answers, errors, "replay")),
            )
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Misuse(f"--out {out}: {error}" if out else str(error)) from None
    except BrokenProcessPool:
        raise Misuse("a process of --jobs died, perhaps of lack of memory") from None


# How it looks


def _print_report(console: Terminal, report: Report, by: tuple[str, ...]) -> None:
    recovered, refused, text = (report.tally.status[status] for status in ("recovered", "refused", "text"))
    shaped = Count(recovered.answers + refused.answers, recovered.occurrences + refused.occurrences)
    table = new_table(["recorded answers"], _headings(report))
    table.add_row("all", *_numbers(report.tally.total, report))
    table.add_row("call-shaped", *_numbers(shaped, report))
    table.add_row("  recovered", *_numbers(recovered, report))
    table.add_row("  refused", *_numbers(refused, report))
    table.add_row("left as text", *_numbers(text, report))
    console.print(table)
    if report.tally.reason:
        _print_reasons(console, report)
    if report.tally.lacking:
        table = new_table(["not_allowed: it takes"], _headings(report))
        for name, count in _by_size(report.tally.lacking):
            table.add_row(name, *_numbers(count, report))
        console.print(table)
    if report.tally.used:
        table = new_table(["recovered, by allowance"], ["calls", "answers"])
        for name, count in _by_size(report.tally.used):
            table.add_row(name or "none", f"{count.calls:,}", f"{count.answers:,}")
        console.print(table)
    if by:
        _print_groups(console, report, by)


def _print_reasons(console: Terminal, report: Report) -> None:
    table = new_table(["refused, by reason"], _headings(report), ["the first"])
    for name, count in _by_size(report.tally.reason):
        table.add_row(name, *_numbers(count, report), cut(*_example(name, report.examples)))
    console.print(table)


def _print_premature(console: Terminal, report: Report) -> None:
    premature = report.tally.premature
    calls = sum(count.calls for count in premature.values())
    print_line(console, f"premature calls: {calls:,} of the {report.tally.total.calls + calls:,} that go out")
    if not premature:
        return
    table = new_table(["premature calls, by reason"], ["calls", *_headings(report)], ["the first"])
    for name, count in _by_size(premature):
        example = _example(name, report.premature_examples)
        table.add_row(name, f"{count.calls:,}", *_numbers(count, report), cut(*example))
    console.print(table)


def _example(name: str, examples: Mapping[str, tuple[str, str]]) -> list[str]:
    place, sentence = examples[name]
    # The reason stands at the beginning of the row; what is text has no sentence.
    return [place, sentence.replace(f": {name}:", ":", 1)] if sentence else [place]


def _print_groups(console: Terminal, report: Report, by: tuple[str, ...]) -> None:
    occurrences = ["occurrences"] if report.has_occurrences else []
    table = new_table(
        by, ["answers", *occurrences, "call-shaped", "recovered", "refused", "text"], ["refused, by reason"]
    )
    for column, values in zip(table.columns, zip(*report.groups, strict=True), strict=False):
        column.min_width = min(max(map(len, values)), 30)
    for group, tally in sorted(report.groups.items(), key=lambda item: (OTHER_GROUPS in item[0], item[0])):
        recovered, refused, text = (tally.status[status].answers for status in ("recovered", "refused", "text"))
        total = [tally.total.answers, tally.total.occurrences][: 1 + len(occurrences)]
        numbers = [f"{number:,}" for number in (*total, recovered + refused, recovered, refused, text)]
        reasons = ", ".join(f"{name} {count.answers:,}" for name, count in _by_size(tally.reason))
        table.add_row(*map(plain, group), *numbers, reasons)
    console.print(table)


def _print_changes(console: Terminal, baseline: Baseline, report: Report) -> None:
    changes = baseline.changes
    if baseline.rules - {RULES}:
        made_by = ", ".join(sorted(baseline.rules))
        print_line(console, f"the baseline was made by reading rules {made_by}, this run by {RULES}")
    print_line(console, f"changed since the baseline: {len(changes):,} of {report.tally.total.answers:,} answers")
    for (before, after), times in Counter((change.before, change.after) for change in changes).most_common():
        print_line(console, f"{times:>9,}  {before} ▶ {after}")
    for change in changes:
        name = "" if change.id is None else f"{change.id}  "
        line = f"{name}{change.file}:{change.line}  {change.before} ▶ {change.after}"
        if change.breaks:
            line += f"  protected: {', '.join(change.protected)}"
        print_line(console, line, "red" if change.breaks else "")
    missing = list(islice(baseline.missing(), MOST_KEYS))
    _print_keys(console, "not in the baseline", baseline.new, baseline.new_answers)
    if baseline.new_protected_calls:
        print_line(console, f"  recovered among these, in a protected group: {baseline.new_protected_calls:,}", "red")
    _print_keys(console, "only in the baseline", missing, sum(1 for _ in baseline.missing()))
    breaks = sum(change.breaks for change in changes)
    if breaks:
        print_line(console, f"answers of a protected group that became a call: {breaks:,}", "bold red")


def _print_keys(console: Terminal, title: str, keys: list[str], count: int) -> None:
    if count:
        more = f" and {count - len(keys):,} more" if count > len(keys) else ""
        print_line(console, f"{title}: {count:,} ({', '.join(keys)}{more})")


def _headings(report: Report) -> list[str]:
    return ["answers", "share", *(["occurrences"] if report.has_occurrences else [])]


def _numbers(count: Count, report: Report) -> list[str]:
    """The cells under `_headings`."""
    share = count.answers / max(report.tally.total.answers, 1)
    return [f"{count.answers:,}", f"{share:.1%}", f"{count.occurrences:,}"][: len(_headings(report))]


def _by_size(counts: Mapping[str, Count]) -> list[tuple[str, Count]]:
    return sorted(counts.items(), key=lambda item: (-item[1].answers, item[0]))
