"""Which engine runs, compiled or interpreted; and that the compiled one makes of every answer what the sources make.

RECOVERY_PURE names the folder in which the package stands as sources, where the one under test is compiled (`.ci/run
compiled`). Without it the one under test is no compiled one: a module that was compiled in a checkout shadows its
source, and would be tested in its place.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recovery
from recovery import Policy, Toolset
from tests.account import account
from tests.cases import VECTORS, read
from tests.mathematics import mathematics
from tests.strategies import ALIASES, OFFER, TOOLS, answers, examples, policies

PURE: Final = os.environ.get("RECOVERY_PURE", "")
DATA: Final = os.environ.get("RECOVERY_DATA", "")

needs_both = pytest.mark.skipif(not PURE, reason="RECOVERY_PURE names no folder with the sources")
recorded = pytest.mark.skipif(not DATA, reason="RECOVERY_DATA names no folder")


def test_the_engine_is_what_it_is_expected_to_be() -> None:
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "recovery"]
    # Beside each stands one with its code.
    extensions = {
        module.__name__.removesuffix("__mypyc") for module in modules if not str(module.__file__).endswith(".py")
    }
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
    listed = {"recovery." + Path(path).stem for path in hook["include"]}
    assert recovery.compiled is bool(PURE)
    assert extensions == (listed if PURE else set()), "git clean -fX recovery removes what a build left there"


class Sources:
    """A process that reads answers with the sources."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([PURE, str(Path(__file__).parent.parent)])}
        command = [sys.executable, "-m", "tests.account"]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def account(self, text: str, offer: Mapping[str, object], policy: Policy, size: int) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([text, offer, sorted(policy.allow), size]) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().rstrip("\n")

    def end(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def sources() -> Iterator[Sources]:
    process = Sources()
    yield process
    process.end()


@needs_both
def test_both_agree_on_every_vector(sources: Sources) -> None:
    for case in read(VECTORS):
        if "limits" not in case.row:
            offer: dict[str, object] = {
                name: case.row[name] for name in ("tools", "aliases", "never") if name in case.row
            }
            said = sources.account(case.text, offer, case.policy, 1)
            assert account(case.text, case.toolset, case.policy, 1) == said, str(case)


@needs_both
@examples(2_000)
@given(text=answers | mathematics, policy=policies, size=st.integers(1, 9))
def test_both_agree_on_answers(sources: Sources, text: str, policy: Policy, size: int) -> None:
    said = sources.account(text, {"tools": OFFER, "aliases": ALIASES}, policy, size)
    assert account(text, TOOLS, policy, size) == said


@needs_both
@recorded
@pytest.mark.parametrize("policy", [Policy.strict(), Policy.default(), Policy.lenient()])
def test_both_agree_on_recorded_answers(sources: Sources, policy: Policy) -> None:
    toolsets: dict[str, list[Any]] = {row["id"]: row["tools"] for row in _rows("toolsets")}
    drawn = random.Random(3).sample([*_rows("answers")], 1_000)
    for row in drawn:
        tools = toolsets[row["toolset"]]
        said = sources.account(row["text"], {"tools": tools}, policy, 4)
        assert account(row["text"], Toolset(tools), policy, 4) == said, row["id"]


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(Path(DATA) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
