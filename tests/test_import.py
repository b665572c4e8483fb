"""Importing `recovery` brings in nothing but itself and a little of the standard library, and is quick.

Each import is measured in an interpreter of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recovery

# Where the `recovery` under test was found. `-E` keeps what the caller's environment says about Python out of it.
HOME = str(Path(recovery.__file__).parent.parent)

# A child prints one JSON line: seconds to import, seconds to import and recover once, and the modules that came in.
# Processor time, which a busy machine stretches less than the clock's; counted from inside the running interpreter, so
# that its own start counts for nothing.
CHILD = """
import sys, time
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
start = time.process_time()
import recovery
imported = time.process_time()
result = recovery.recover('[f(x=1), g.h(y="two", z=[3, {"four": 5.0}])]', ["f", "g_h"])
recovered = time.process_time()
assert len(result.calls) == 2, result
after = set(sys.modules)
import json
print(json.dumps({"import": imported - start, "recover": recovered - start, "modules": sorted(after - before)}))
"""
# What another child prints: seconds to import what every gateway has imported.
OTHER = """
import time
start = time.process_time()
import asyncio
print(time.process_time() - start)
"""

# Parts of the standard library that take longer to import than the whole engine, or that only a program needs.
HEAVY = {
    "argparse",
    "asyncio",
    "concurrent",
    "ctypes",
    "dataclasses",
    "email",
    "gzip",
    "http",
    "importlib.metadata",
    "inspect",
    "logging",
    "multiprocessing",
    "pathlib",
    "pickle",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "unittest",
    "urllib",
    "uuid",
    "xml",
    "zipfile",
}


def run(code: str, cwd: Path) -> Any:
    """What one child prints, in a folder that holds nothing it could import."""
    command = [sys.executable, "-E", "-c", code, HOME]
    return json.loads(subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout)


def test_an_import_brings_in_only_the_standard_library(tmp_path: Path) -> None:
    modules = run(CHILD, tmp_path)["modules"]
    roots = {name.partition(".")[0] for name in modules}
    assert "recovery" in roots
    assert roots - sys.stdlib_module_names == {"recovery"}
    assert [name for name in modules if name in HEAVY or name.partition(".")[0] in HEAVY] == []


@pytest.mark.parametrize(("what", "bound"), [("import", 0.9), ("recover", 1.0)])
def test_an_import_is_quick(tmp_path: Path, what: str, bound: float) -> None:
    """Beside asyncio, since machines differ; the best of seven runs, on a busy machine of a few more."""
    measured: list[float] = []
    others: list[float] = []
    while len(measured) < 7 or (min(measured) > bound * min(others) and len(measured) < 28):
        measured.append(run(CHILD, tmp_path)[what])
        others.append(run(OTHER, tmp_path))
    taken = min(measured) / min(others)
    assert taken <= bound, f"{what} took {taken:.2f} times as long as to import asyncio, the bound is {bound}"
