"""Campaigns of fuzzing: `python -m fuzz --help`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fuzz.campaign import Campaign, Outcome, Plan
from fuzz.progress import Progress

HERE: Final = Path(__file__).parent
KEPT: Final = HERE / "kept"
TARGETS: Final = tuple(sorted(path.stem for path in HERE.glob("fuzz_*.py")))

FOUND_NONE: Final = 0
FOUND: Final = 1
MISUSE: Final = 2


def main() -> int:
    options = _parser().parse_args()
    if find_spec("atheris") is None:
        print("atheris is not installed: pip install -e '.[dev,fuzz]' (its wheels are for Linux)", file=sys.stderr)
        return MISUSE
    if options.repro is not None:
        return _repro(options.repro, options.targets)
    outcomes = _run(options.targets or list(TARGETS), options.seconds, options.jobs, options.kept)
    _print_findings(outcomes)
    _print_table(outcomes)
    if options.report is not None:
        _write_report(options.report, outcomes, options.seconds, options.jobs)
    if any(outcome.broken for outcome in outcomes):
        return MISUSE
    return FOUND if any(outcome.findings for outcome in outcomes) else FOUND_NONE


def _parser() -> argparse.ArgumentParser:
    lines = [f"  {name:15} {_invariant(name)}" for name in TARGETS]
    parser = argparse.ArgumentParser(
        prog="python -m fuzz",
        description="Look for an input that breaks an invariant. Without TARGET all of them:\n\n" + "\n".join(lines),
        epilog="""Kept in fuzz/kept/TARGET: `corpus`, which the next campaign begins with; `found`, each finding as it
is and, where it is an answer, as a vector for tests/vectors; `log`, what libFuzzer said.

examples:
  python -m fuzz                              all targets, a minute each
  python -m fuzz names ast --seconds 3600     two of them, an hour each
  python -m fuzz --repro fuzz/kept/fuzz_ast/found/failed-1a2b3c4d

exit status: 0 nothing found, 1 findings, 2 misuse or a target that can't run""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "targets", nargs="*", type=_target, metavar="TARGET", help="the name of a target, with or without `fuzz_`"
    )
    parser.add_argument("--seconds", type=_number, default=60, metavar="N", help="how long to run each target (60)")
    parser.add_argument(
        "--jobs",
        type=_number,
        default=os.cpu_count() or 1,
        metavar="N",
        help="how many targets run at once (one a core)",
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write what the campaign was and found, as JSON")
    parser.add_argument("--kept", type=Path, default=KEPT, metavar="FOLDER", help="another folder to keep things in")
    parser.add_argument(
        "--repro", type=Path, metavar="FILE", help="replay one input; its folder says the target, or TARGET does"
    )
    return parser


def _invariant(name: str) -> str:
    first = (HERE / f"{name}.py").read_text("utf-8").partition("\n")[0]
    return first.removeprefix('"""Invariant: ').removesuffix('"""')


def _target(text: str) -> str:
    name = text if text.startswith("fuzz_") else f"fuzz_{text}"
    if name not in TARGETS:
        raise argparse.ArgumentTypeError(f"there is no target {text!r}; the targets: {', '.join(TARGETS)}")
    return name


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not {text!r}")
    return int(text)


def _run(targets: list[str], seconds: int, jobs: int, kept: Path) -> list[Outcome]:
    with Progress(seconds) as progress:
        plan = Plan(seconds, kept.resolve(), progress.update)
        campaigns = [Campaign(target, plan) for target in dict.fromkeys(targets)]
        with ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(campaign.run): campaign for campaign in campaigns}
            try:
                for done in as_completed(running):
                    progress.end(done.result())
            except KeyboardInterrupt:
                for future, campaign in running.items():
                    future.cancel()
                    campaign.stop()
    return [campaign.outcome for campaign in campaigns]


def _print_findings(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.broken:
            print(f"\n{outcome.target} {outcome.broken}")
        for finding in outcome.findings:
            print(f"\n{outcome.target}: {finding['problem']}\n  {finding['file']}\n  {finding['input']}")
            print(finding.get("traceback", ""), end="")
            if finding.get("vector"):
                print("  as a vector, where `expect` is what comes of it now: say what must, by the design\n")
                print(finding["vector"])


def _print_table(outcomes: list[Outcome]) -> None:
    rows: list[list[str | int]] = [["target", "executions", "a second", "edges", "features", "corpus", "findings"]]
    for one in outcomes:
        speed = round(one.executions / one.seconds) if one.seconds else 0
        found = "broken" if one.broken else len(one.findings)
        rows.append([one.target, one.executions, speed, one.edges, one.features, one.corpus, found])
    executions, findings = sum(one.executions for one in outcomes), sum(len(one.findings) for one in outcomes)
    rows.append(["all", executions, "", "", "", "", findings])
    print()
    for row in rows:
        cells = [f"{cell:,}" if isinstance(cell, int) else f"{cell}" for cell in row]
        print(f"{cells[0]:15}" + "".join(f"{cell:>12}" for cell in cells[1:]))


def _write_report(file: Path, outcomes: list[Outcome], seconds: int, jobs: int) -> None:
    report = {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "atheris": version("atheris"),
        "seconds": seconds,
        "jobs": jobs,
        "targets": [vars(outcome) for outcome in outcomes],
    }
    file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _repro(file: Path, targets: list[str]) -> int:
    """Replay one input: what it is, and the traceback where it fails."""
    names = targets or [folder.name for folder in file.resolve().parents if folder.name in TARGETS]
    file = file.with_suffix("") if file.suffix == ".jsonl" else file
    if len(names) != 1 or not file.is_file():
        why = "say the TARGET: the file's folder does not tell it" if file.is_file() else "there is no such file"
        print(f"{file}: {why}", file=sys.stderr)
        return MISUSE
    from fuzz.findings import describe, load

    target, data = load(names[0]), file.read_bytes()
    answer = target.answer(data) if target.answer else None
    shown = {"input": data} if answer is None else answer._asdict()
    for name, value in shown.items():
        print(f"{name}: {value!r}")
    finding = describe(names[0], file)
    print("\nnothing fails" if finding is None else f"\n{finding.traceback}")
    return FOUND_NONE if finding is None else FOUND


if __name__ == "__main__":
    sys.exit(main())
