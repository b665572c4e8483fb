"""The commands `recovery plan`, `run`, `grade` and `lint`: their options, what they print, their exit statuses.

May import: `cli_options`, `grading.case`, `grading.casefile`, `grading.documents`, `grading.endpoints`,
`grading.filling`, `grading.outcome`, `grading.provenance`, `grading.recording`, `grading.run`, `grading.sections`,
`grading.semantic`, `grading.show`, `grading.truth`, `terminal`, the public names.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from recovery.cli_options import allow_option, policy_of, policy_option
from recovery.terminal import FILE, Misuse, Terminal, output, print_line

# isort: split
# Behind `terminal`, which tells what to install where these are missing.
import click

from .case import Case
from .casefile import CaseFile, CaseFileError, case_of, documents_of, load_cases, read_cases
from .documents import Problem
from .endpoints import EndpointError, Endpoints, load_endpoints
from .filling import StimulusError
from .outcome import Ungraded
from .provenance import MOST_TTL_DAYS, TTL_DAYS
from .recording import grade_file
from .run import run_matrix
from .sections import Tally
from .semantic import SemanticCheck
from .show import bar, print_counts, print_plan
from .truth import read_truth

# Some cells have no outcome, or some rows were bad.
_INCOMPLETE: Final = 3

_cases_option = click.option(
    "--cases", "cases_file", type=FILE, required=True, help="The cases: JSON lines (.jsonl) or YAML (.yaml)."
)
_tools_option = click.option(
    "--tools", "tools_file", type=FILE, required=True, help="JSON: a list of the tools that the models are offered."
)
_check_option = click.option(
    "--check",
    "check_name",
    metavar="MODULE:NAME",
    help="Your own semantic check, `check(case, args) -> bool | Verdict`, in place of comparing with `expected_args`.",
)
_validation_option = click.option(
    "--validation",
    type=click.Choice(["strict", "lax"]),
    default="strict",
    show_default=True,
    help='`lax`: arguments that fit once coerced, as "3" for 3, fit.',
)
_ttl_option = click.option(
    "--ttl-days",
    type=click.IntRange(0, MOST_TTL_DAYS),
    default=TTL_DAYS,
    show_default=True,
    help="For so many days the numbers may be shown; then they read EXPIRED.",
)


@click.command("plan")
@click.option("--cases", metavar="FILE|N", required=True, help="A file of cases, or how many there will be.")
@click.option("--models", metavar="FILE|N", default="2", show_default=True, help="A file of endpoints, or how many.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Answers to each case.")
@click.option("--alpha", type=click.FloatRange(0, 0.5, True, True), default=0.05, show_default=True)
@click.option("--power", type=click.FloatRange(0.5, 1, True, True), default=0.8, show_default=True)
@click.option(
    "--see",
    metavar="POINTS",
    type=click.FloatRange(0, 100, min_open=True),
    help="Say how many cases it takes to see a difference of so many points, too.",
)
def plan(cases: str, models: str, repeats: int, alpha: float, power: float, see: float | None) -> None:
    """Say what a run costs and what it can see, before it is run.

    Prints the number of calls and the smallest difference between two models, in points, that this many cases and
    repeats show with the given power: in one comparison, and where every two models are compared in every outcome. The
    variances are those of cases of mixed difficulty; failures that are rare vary less, and are seen sooner.

    \b
    recovery plan --cases 100 --models 3 --repeats 3
    recovery plan --cases cases.jsonl --models models.yaml --see 10

    Exit status: 0 fine, 2 misuse.
    """
    number = _number(cases, "--cases")
    wants = None
    if number is None:
        found = _cases_alone(cases)
        number, wants = len(found), sum(case.expects_call for case in found)
    asked = _number(models, "--models")
    many = len(_endpoints(models)) if asked is None else asked
    print_plan(output(), number, wants, many, repeats, alpha=alpha, power=power, see=see)


@click.command("lint")
@_cases_option
@_tools_option
def lint(cases_file: str, tools_file: str) -> None:
    """Check a file of cases against the tools, without a call.

    Errors: a tool that is not offered, arguments that do not fit its schema, an id that stands twice, a field that
    there is not. Warnings: an expected value that appears nowhere in the query, which no model can know. Each names the
    file, the line and the field.

    \b
    recovery lint --cases cases.jsonl --tools tools.json

    Exit status: 0 no errors, 1 errors, 2 misuse.
    """
    console = output()
    try:
        found = read_cases(cases_file, tools_file)
    except CaseFileError as error:
        raise Misuse(str(error)) from None
    for problem in found.problems:
        print_line(console, problem, "red" if problem.is_error else "yellow")
    errors = sum(problem.is_error for problem in found.problems)
    calls = sum(case.expects_call for case in found.cases)
    print_line(
        console,
        f"{len(found.cases):,} sound cases ({calls:,} want a call, {len(found.cases) - calls:,} want none); "
        f"{errors:,} errors, {len(found.problems) - errors:,} warnings",
    )
    raise SystemExit(1 if errors else 0)


@click.command("run")
@_cases_option
@_tools_option
@click.option(
    "--models",
    "models_file",
    type=FILE,
    help="YAML or JSON, `NAME: {base_url: …, model: …, api: openai|anthropic, key_env: …, parameters: {…}}`.",
)
@click.option("--call-model", metavar="MODULE:NAME", help="Ask by your own `call_model(model, query)` instead.")
@click.option("--model", "names", multiple=True, metavar="NAME", help="With --call-model: a model. Repeatable.")
@click.option("--out", type=click.Path(dir_okay=False), help="The run's file (SQLite); each cell is in it at once.")
@click.option("--resume", is_flag=True, help="Go on with --out; what is in it is not asked for again.")
@click.option("--retry-ungraded", is_flag=True, help="With --resume: fill the cells without an outcome once more.")
@click.option("--dry-run", is_flag=True, help="Check everything, print what `recovery plan` says, and ask nobody.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Answers to each case.")
@click.option("--system", "system_file", type=FILE, help="The system prompt, the same for all.")
@click.option("--tool-choice", type=click.Choice(["auto", "required", "none"]), help="Not sent without it.")
@click.option(
    "--concurrency", type=click.IntRange(min=1), default=4, show_default=True, help="Calls at a time, each endpoint."
)
@click.option(
    "--retries", type=click.IntRange(min=0), default=2, show_default=True, help="After lost connections, 429, 5xx."
)
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=120.0, show_default=True, help="Seconds a call."
)
@click.option("--budget", metavar="CALLS", type=click.IntRange(min=0), help="Stop after so many calls.")
@_check_option
@_validation_option
@policy_option
@allow_option
@_ttl_option
def run(  # noqa: PLR0913, PLR0917 - each is an option
    cases_file: str,
    tools_file: str,
    models_file: str | None,
    call_model: str | None,
    names: tuple[str, ...],
    out: str | None,
    resume: bool,
    retry_ungraded: bool,
    dry_run: bool,
    repeats: int,
    system_file: str | None,
    tool_choice: Literal["auto", "required", "none"] | None,
    concurrency: int,
    retries: int,
    timeout: float,
    budget: int | None,
    check_name: str | None,
    validation: Literal["strict", "lax"],
    policy: str,
    allow: tuple[str, ...],
    ttl_days: int,
) -> None:
    """Ask every model every case, several times, and grade the answers.

    Every model is shown the same tools, hashed as they are sent. Each cell is in --out when its answer is graded:
    stopped or killed, go on with --resume. Answers that were lost on the way are asked for again, --retries times; what
    a model said is never asked for again. An answer that could not be graded is counted apart, and is no failure of the
    model. `recovery report` shows what came of it.

    \b
    recovery run --cases cases.jsonl --tools tools.json --models models.yaml --out run.db
    recovery run … --dry-run                    what it would cost, and what it could see
    recovery run … --call-model mine:ask --model a --model b

    \b
    models.yaml:
      small: {base_url: "http://localhost:8000/v1", model: small-7b, parameters: {temperature: 0.7}}
      large: {api: anthropic, model: large-latest, parameters: {max_tokens: 1024}}

    Without a base_url the key is taken from OPENAI_API_KEY or ANTHROPIC_API_KEY; with one, from the variable that
    key_env names, or none is sent.

    \b
    Exit status:
      0    every cell has an outcome
      2    misuse: nothing was asked, and no file was changed
      3    some cells have no outcome (lost, timed out, not run for --budget, or the grader failed)
      130  stopped by Ctrl-C; what is in --out stays
    """
    cases = _load_cases(cases_file, tools_file)
    own, models = _asking(models_file, call_model, names)
    if dry_run:
        calls = sum(case.expects_call for case in cases.cases)
        print_plan(output(), len(cases.cases), calls, len(models), repeats)
        return
    if out is None:
        raise click.UsageError("--out is needed, so that no answer is lost (or --dry-run)")
    if retry_ungraded and not resume:
        raise click.UsageError("--retry-ungraded needs --resume")
    system = None if system_file is None else _text(system_file)
    try:
        ask: Any = own or Endpoints(_endpoints(str(models_file)), cases.tools, system=system, tool_choice=tool_choice)
        with bar(len(cases.cases) * len(models) * repeats) as on_progress:
            made = run_matrix(
                cases.cases,
                models,
                ask,
                None,
                _check(check_name),
                repeats,
                tools=cases.tools,
                policy=policy_of(policy, allow),
                validation=validation,
                concurrency=concurrency,
                retries=retries,
                timeout=timeout,
                budget=budget,
                store=out,
                resume=resume,
                retry_ungraded=retry_ungraded,
                cases_file=Path(cases_file).name,
                ttl_days=ttl_days,
                on_progress=on_progress,
            )
    except StimulusError as error:
        raise Misuse(f"{error}. What was answered before stays in {out}.") from None
    except (ValueError, TypeError) as error:
        raise Misuse(str(error)) from None
    except KeyboardInterrupt:
        click.echo(f"\nWhat is answered is in {out}: go on with --resume.", err=True)
        raise
    tally = Tally()
    for cell in made.cells:
        tally.add(cell)
    print_counts(output(), made.block, tally, made.models)
    print_line(output(), f"{out}: recovery report {out}")
    raise SystemExit(_INCOMPLETE if made.ungraded else 0)


@click.command("grade")
@click.option(
    "--answers", "answers_file", type=FILE, required=True, help="Recorded answers: JSON lines, plain or gzip."
)
@click.option("--cases", "cases_file", type=FILE, help="The cases: JSON lines (.jsonl) or YAML (.yaml); with --tools.")
@click.option("--tools", "tools_file", type=FILE, help="JSON: a list of the tools that the models were offered.")
@click.option(
    "--toolsets",
    "toolsets_file",
    type=FILE,
    help="In place of the two, for answers that carry their ground truth in `allowed` and name a `toolset`: "
    'JSON lines, `{"id": …, "tools": [...]}`.',
)
@click.option("--out", type=click.Path(dir_okay=False), help="Write a run's file, for `recovery report`.")
@click.option("--answered", type=click.DateTime(["%Y-%m-%d"]), help="The day of the answers, if it was not today.")
@_check_option
@_validation_option
@policy_option
@allow_option
@_ttl_option
def grade(  # noqa: PLR0913, PLR0917 - each is an option
    answers_file: str,
    cases_file: str | None,
    tools_file: str | None,
    toolsets_file: str | None,
    out: str | None,
    answered: datetime | None,
    check_name: str | None,
    validation: Literal["strict", "lax"],
    policy: str,
    allow: tuple[str, ...],
    ttl_days: int,
) -> None:
    """Grade recorded answers: six counts a model, and no call to anyone.

    A row of --answers is a JSON object: `case` (the id of a case), `model`, `repeat` (from 0; by default the next), and
    the answer as it was: `text`, or an OpenAI or Anthropic `message`, or `tool_name` with `raw_args`. A call that was
    written as text is read by `recovery`, and graded as the call it is.

    \b
    recovery grade --cases cases.jsonl --tools tools.json --answers answers.jsonl --out run.db
    recovery grade --answers answers.jsonl.gz --toolsets toolsets.jsonl.gz

    A bad row is reported on standard error with file, line and field, and never ends the command.

    \b
    Exit status:
      0    every row has an outcome
      2    misuse
      3    some rows were bad, or have no outcome
      130  stopped by Ctrl-C
    """
    errors = Terminal(stderr=True)
    case_field = "case"
    excluded: Mapping[str, str] = {}
    if toolsets_file is not None and cases_file is None and tools_file is None:
        case_field = "toolset"
        cases, excluded = read_truth(answers_file, toolsets_file)
        if not cases.cases:
            raise Misuse(f"{answers_file}: no row has a ground truth in `allowed`")
    elif cases_file is not None and tools_file is not None and toolsets_file is None:
        cases = _load_cases(cases_file, tools_file)
    else:
        raise click.UsageError("give --cases with --tools, or --toolsets")
    left_out = 0

    def on_problem(problem: Problem) -> None:
        nonlocal left_out
        if problem.is_error:
            print_line(errors, problem)
        else:
            left_out += 1

    try:
        made = grade_file(
            answers_file,
            cases,
            out=out,
            case_field=case_field,
            excluded=excluded,
            answered=answered,
            ttl_days=ttl_days,
            on_problem=on_problem,
            semantic_check=_check(check_name),
            policy=policy_of(policy, allow),
            validation=validation,
        )
    except (ValueError, TypeError) as error:
        raise Misuse(str(error)) from None
    console = output()
    if made.block is None:
        raise Misuse(f"{answers_file}: no row could be graded")
    print_counts(console, made.block, made.tally, made.tally.models)
    if left_out:
        print_line(console, f"left out: {left_out:,} rows of {len(excluded):,} cases that have no ground truth")
    if made.bad_rows:
        print_line(console, f"bad rows: {made.bad_rows:,}, each reported on standard error")
    if out is not None:
        print_line(console, f"{out}: recovery report {out}")
    lost = sum(made.tally.words[str(reason)] for reason in Ungraded)
    raise SystemExit(_INCOMPLETE if made.bad_rows or lost else 0)


# What is read


def _load_cases(cases_file: str, tools_file: str) -> CaseFile:
    try:
        found = load_cases(cases_file, tools_file)
    except CaseFileError as error:
        raise Misuse(str(error)) from None
    for problem in found.problems:
        click.echo(str(problem), err=True)
    return found


def _cases_alone(cases_file: str) -> tuple[Case, ...]:
    """The cases, not held against any tools."""
    if not Path(cases_file).is_file():
        raise Misuse(f"--cases {cases_file}: no number, and no file")
    problems: list[Problem] = []
    documents = documents_of(cases_file, Path(cases_file).read_bytes(), problems)
    cases = [case for document in documents if (case := case_of(document, problems)) is not None]
    if problems or not cases:
        raise Misuse("\n".join(map(str, problems)) or f"{cases_file}: holds no case")
    return tuple(cases)


def _number(given: str, option: str) -> int | None:
    if not given.isdecimal():
        return None
    if int(given) < 1:
        raise click.UsageError(f"{option}: must be 1 or more")
    return int(given)


def _endpoints(models_file: str) -> dict[str, Any]:
    try:
        return dict(load_endpoints(models_file))
    except EndpointError as error:
        raise Misuse(str(error)) from None


def _asking(models_file: str | None, call_model: str | None, names: tuple[str, ...]) -> tuple[Any, list[str]]:
    """The caller's own function, or None, and the models."""
    if (models_file is None) == (call_model is None):
        raise click.UsageError("give --models, or --call-model with --model")
    if call_model is None:
        if names:
            raise click.UsageError("--model goes with --call-model; --models names its own")
        return None, list(_endpoints(str(models_file)))
    if not names:
        raise click.UsageError("--call-model needs a --model to ask")
    return _named(call_model, "--call-model"), list(names)


def _check(name: str | None) -> SemanticCheck | None:
    found: SemanticCheck | None = None if name is None else _named(name, "--check")
    return found


def _named(name: str, option: str) -> Callable[..., Any]:
    """What `MODULE:NAME` names, the module looked for in the working directory too."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise click.UsageError(f"{option} {name}: expected MODULE:NAME")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise Misuse(f"{option} {name}: {error}") from None
    if not callable(found):
        raise Misuse(f"{option} {name}: not a function")
    return found  # type: ignore[no-any-return]


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Misuse(f"{file}: no UTF-8: {error}") from None
