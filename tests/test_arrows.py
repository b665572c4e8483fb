"""The arrows between the modules of `recovery/`: who may import whom.

Read from the source with `ast`, so an import inside a function or under `TYPE_CHECKING` counts like any other, and
nothing is imported to find out. The order is the table; what a module may import *within* the order stands in its
own docstring ("May import: …"), and the two are held against the code.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parent.parent

# From low to high: a module may import only modules that stand before it. Everything up to `__init__` is the engine.
ORDER = (
    "frozen",
    "text",
    "policy",
    "result",
    "toolset",
    "names",
    "dialects",
    "literals",
    "arguments",
    "jsoncalls",
    "markers",
    "prose",
    "tables",
    "lexemes",
    "scanner",
    "builder",
    "parser",
    "reader",
    "envelope",
    "verdict",
    "certain",
    "stream",
    "recover",
    "__init__",
    "gateways.__init__",
    "gateways.answer",
    "gateways.items",
    "gateways.sanitize",
    "gateways.iterators",
    "gateways.request",
    "gateways.log",
    "gateways.whole",
    "gateways.completion",
    "gateways.response",
    "gateways.message",
    "gateways.options",
    "gateways.openai",
    "gateways.anthropic",
    "gateways.client",
    "gateways.openai_client",
    "gateways.anthropic_client",
    "gateways.litellm",
    "gateways.vllm_plugin",
    "gateways.serve.__init__",
    "gateways.serve.settings",
    "gateways.serve.sse",
    "gateways.serve.items",
    "gateways.serve.gathered",
    "gateways.serve.headers",
    "gateways.serve.request",
    "gateways.serve.reading",
    "gateways.serve.metrics",
    "gateways.serve.log",
    "gateways.serve.pool",
    "gateways.serve.proxy",
    "gateways.serve.app",
    "gateways.serve.demo",
    "grading.outcome",
    "grading.cell",
    "grading.matchers",
    "grading.case",
    "grading.semantic",
    "grading.difference",
    "grading.spelling",
    "grading.coerce",
    "grading.schema",
    "grading.match",
    "grading.rawargs",
    "grading.answer",
    "grading.grade",
    "grading.documents",
    "grading.caselint",
    "grading.casefile",
    "grading.lines",
    "grading.recorded",
    "grading.truth",
    "grading.provenance",
    "grading.store",
    "grading.fingerprint",
    "grading.calling",
    "grading.endpoints",
    "grading.filling",
    "grading.sections",
    "grading.run",
    "grading.recording",
    "grading.statistics.quantiles",
    "grading.statistics.arrays",
    "grading.statistics.rates",
    "grading.statistics.resampling",
    "grading.statistics.paired",
    "grading.statistics.floor",
    "grading.statistics.family",
    "grading.statistics.plan",
    "grading.statistics.__init__",
    "grading.tables",
    "grading.advice",
    "grading.verdict",
    "grading.__init__",
    "rows",
    "replay",
    "truth",
    "leftovers",
    "evidence",
    "evidence_report",
    "terminal",
    "grading.report.escape",
    "grading.report.model",
    "grading.report.build",
    "grading.report.sheets",
    "grading.report.svg",
    "grading.report.page",
    "grading.report.markdown",
    "grading.report.gate",
    "grading.report.files",
    "grading.report.compare",
    "grading.report.__init__",
    "grading.asserting",
    "grading.report.terminal",
    "grading.report.cli",
    "cli_options",
    "cli_evidence",
    "cli_serve",
    "cli_stream",
    "grading.show",
    "grading.cli",
    "cli",
    "__main__",
)

# What stands on top of the engine sees its public names and, by name, its own helpers.
ON_TOP = {
    "gateways.__init__": set(),
    "gateways.answer": {"__init__"},
    "gateways.items": set(),
    "gateways.sanitize": {"__init__", "gateways.items"},
    "gateways.iterators": {"gateways.items"},
    "gateways.request": {"__init__", "gateways.answer", "gateways.items"},
    "gateways.log": {"__init__"},
    "gateways.whole": {"__init__", "gateways.items", "gateways.log", "gateways.request"},
    "gateways.completion": {"__init__", "gateways.items", "gateways.log", "gateways.request", "gateways.whole"},
    "gateways.response": {"__init__", "gateways.items", "gateways.log", "gateways.request", "gateways.whole"},
    "gateways.openai": {
        "__init__",
        "gateways.answer",
        "gateways.completion",
        "gateways.items",
        "gateways.iterators",
        "gateways.log",
        "gateways.request",
        "gateways.response",
        "gateways.whole",
    },
    "gateways.message": {"__init__", "gateways.items", "gateways.log", "gateways.request", "gateways.whole"},
    "gateways.anthropic": {
        "__init__",
        "gateways.answer",
        "gateways.items",
        "gateways.iterators",
        "gateways.log",
        "gateways.message",
        "gateways.request",
        "gateways.whole",
    },
    "gateways.client": {"__init__", "gateways.answer", "gateways.log", "gateways.request", "gateways.whole"},
    "gateways.openai_client": {
        "__init__",
        "gateways.answer",
        "gateways.client",
        "gateways.items",
        "gateways.log",
        "gateways.openai",
    },
    "gateways.anthropic_client": {
        "__init__",
        "gateways.answer",
        "gateways.anthropic",
        "gateways.client",
        "gateways.items",
        "gateways.log",
    },
    "gateways.options": {"__init__", "gateways.answer", "gateways.request"},
    "gateways.litellm": {
        "gateways.items",
        "gateways.log",
        "gateways.openai",
        "gateways.options",
        "gateways.request",
    },
    "gateways.vllm_plugin": {"__init__", "gateways.answer", "gateways.options", "gateways.request"},
    "gateways.serve.__init__": set(),
    "gateways.serve.settings": {"__init__", "gateways.answer"},
    "gateways.serve.sse": set(),
    "gateways.serve.items": {"gateways.serve.sse"},
    "gateways.serve.gathered": set(),
    "gateways.serve.headers": set(),
    "gateways.serve.request": set(),
    "gateways.serve.reading": {
        "__init__",
        "gateways.completion",
        "gateways.items",
        "gateways.log",
        "gateways.openai",
        "gateways.request",
        "gateways.serve.items",
        "gateways.serve.sse",
    },
    "gateways.serve.metrics": {"gateways.log"},
    "gateways.serve.log": {"gateways.log"},
    "gateways.serve.pool": {"gateways.serve.settings"},
    "gateways.serve.proxy": {
        "gateways.log",
        "gateways.request",
        "gateways.serve.gathered",
        "gateways.serve.headers",
        "gateways.serve.log",
        "gateways.serve.metrics",
        "gateways.serve.pool",
        "gateways.serve.reading",
        "gateways.serve.request",
        "gateways.serve.settings",
    },
    "gateways.serve.app": {
        "gateways.serve.log",
        "gateways.serve.metrics",
        "gateways.serve.pool",
        "gateways.serve.proxy",
        "gateways.serve.settings",
    },
    "gateways.serve.demo": set(),
    "grading.outcome": set(),
    "grading.cell": {"grading.outcome"},
    "grading.matchers": set(),
    "grading.case": {"grading.matchers"},
    "grading.semantic": {"grading.case"},
    "grading.difference": set(),
    "grading.spelling": {"grading.difference"},
    "grading.coerce": set(),
    "grading.schema": {"__init__", "grading.coerce", "grading.difference", "grading.spelling"},
    "grading.match": {"grading.case", "grading.difference", "grading.matchers"},
    "grading.provenance": {"grading.cell", "grading.outcome"},
    "grading.store": {"grading.cell", "grading.provenance"},
    "grading.fingerprint": {"__init__", "grading.provenance", "grading.schema"},
    "grading.calling": {"grading.outcome"},
    "grading.endpoints": {"__init__", "grading.calling", "grading.fingerprint", "grading.provenance"},
    "grading.rawargs": {"grading.difference"},
    "grading.answer": {"grading.difference"},
    "grading.grade": {
        "__init__",
        "grading.answer",
        "grading.case",
        "grading.cell",
        "grading.difference",
        "grading.match",
        "grading.outcome",
        "grading.rawargs",
        "grading.schema",
        "grading.semantic",
    },
    "grading.filling": {
        "grading.answer",
        "grading.calling",
        "grading.case",
        "grading.cell",
        "grading.outcome",
    },
    "grading.sections": {
        "__init__",
        "grading.case",
        "grading.cell",
        "grading.fingerprint",
        "grading.outcome",
        "grading.provenance",
        "grading.schema",
        "grading.semantic",
    },
    "grading.run": {
        "__init__",
        "grading.case",
        "grading.cell",
        "grading.filling",
        "grading.fingerprint",
        "grading.grade",
        "grading.outcome",
        "grading.provenance",
        "grading.schema",
        "grading.sections",
        "grading.semantic",
        "grading.store",
    },
    "grading.recording": {
        "__init__",
        "grading.casefile",
        "grading.cell",
        "grading.documents",
        "grading.fingerprint",
        "grading.provenance",
        "grading.recorded",
        "grading.schema",
        "grading.sections",
        "grading.store",
    },
    "grading.documents": {"grading.difference", "grading.rawargs"},
    "grading.caselint": {
        "__init__",
        "grading.case",
        "grading.difference",
        "grading.match",
        "grading.matchers",
        "grading.schema",
    },
    "grading.casefile": {
        "__init__",
        "grading.case",
        "grading.caselint",
        "grading.difference",
        "grading.documents",
        "grading.schema",
        "grading.spelling",
    },
    "grading.lines": {"grading.documents", "grading.rawargs"},
    "grading.recorded": {
        "__init__",
        "grading.answer",
        "grading.case",
        "grading.casefile",
        "grading.cell",
        "grading.difference",
        "grading.documents",
        "grading.grade",
        "grading.lines",
        "grading.outcome",
        "grading.schema",
        "grading.semantic",
    },
    "grading.truth": {
        "__init__",
        "grading.case",
        "grading.casefile",
        "grading.caselint",
        "grading.difference",
        "grading.documents",
        "grading.lines",
        "grading.matchers",
        "grading.schema",
    },
    "grading.__init__": {
        "grading.answer",
        "grading.calling",
        "grading.case",
        "grading.casefile",
        "grading.cell",
        "grading.difference",
        "grading.documents",
        "grading.endpoints",
        "grading.filling",
        "grading.grade",
        "grading.match",
        "grading.matchers",
        "grading.outcome",
        "grading.provenance",
        "grading.recorded",
        "grading.run",
        "grading.schema",
        "grading.semantic",
        "grading.spelling",
        "grading.store",
        "grading.truth",
        "grading.verdict",
    },
    "grading.statistics.quantiles": set(),
    "grading.statistics.arrays": set(),
    "grading.statistics.rates": {"grading.statistics.arrays", "grading.statistics.quantiles"},
    "grading.statistics.resampling": {"grading.statistics.arrays"},
    "grading.statistics.paired": {
        "grading.statistics.arrays",
        "grading.statistics.quantiles",
        "grading.statistics.rates",
        "grading.statistics.resampling",
    },
    "grading.statistics.floor": {
        "grading.statistics.arrays",
        "grading.statistics.paired",
        "grading.statistics.quantiles",
    },
    "grading.statistics.family": {"grading.statistics.arrays", "grading.statistics.resampling"},
    "grading.statistics.plan": {"grading.statistics.quantiles"},
    "grading.statistics.__init__": set(),
    "grading.tables": {
        "grading.cell",
        "grading.outcome",
        "grading.statistics.arrays",
        "grading.statistics.family",
        "grading.statistics.floor",
        "grading.statistics.paired",
        "grading.statistics.plan",
        "grading.statistics.rates",
    },
    "grading.advice": {"grading.outcome"},
    "grading.verdict": {
        "grading.advice",
        "grading.cell",
        "grading.outcome",
        "grading.tables",
        "grading.statistics.arrays",
        "grading.statistics.floor",
        "grading.statistics.plan",
        "grading.statistics.resampling",
    },
    "rows": {"__init__"},
    "replay": {"__init__", "rows"},
    "truth": {"__init__"},
    "leftovers": {"__init__"},
    "evidence": {"__init__", "leftovers", "rows", "truth"},
    "evidence_report": {"__init__", "evidence", "leftovers"},
    "terminal": set(),
    "grading.report.escape": set(),
    "grading.report.model": {"grading.outcome", "grading.provenance", "grading.verdict"},
    "grading.report.build": {
        "grading.case",
        "grading.cell",
        "grading.outcome",
        "grading.provenance",
        "grading.report.model",
        "grading.run",
        "grading.tables",
        "grading.verdict",
    },
    "grading.report.sheets": {"grading.outcome", "grading.provenance", "grading.report.model"},
    "grading.report.svg": {"grading.outcome", "grading.report.escape", "grading.report.model", "grading.report.sheets"},
    "grading.report.page": {
        "grading.report.escape",
        "grading.report.model",
        "grading.report.sheets",
        "grading.report.svg",
    },
    "grading.report.markdown": {"grading.report.escape", "grading.report.model", "grading.report.sheets"},
    "grading.report.gate": {"grading.outcome", "grading.report.model", "grading.report.sheets"},
    "grading.report.files": {
        "grading.report.escape",
        "grading.report.gate",
        "grading.report.model",
        "grading.report.sheets",
    },
    "grading.report.compare": {
        "grading.cell",
        "grading.provenance",
        "grading.report.build",
        "grading.report.gate",
        "grading.report.model",
        "grading.report.sheets",
        "grading.run",
        "grading.verdict",
    },
    "grading.report.__init__": {
        "grading.report.build",
        "grading.report.compare",
        "grading.report.files",
        "grading.report.gate",
        "grading.report.markdown",
        "grading.report.model",
        "grading.report.page",
    },
    "grading.asserting": {
        "grading.case",
        "grading.grade",
        "grading.outcome",
        "grading.report.build",
        "grading.report.compare",
        "grading.report.gate",
        "grading.report.model",
        "grading.report.page",
        "grading.run",
    },
    "grading.report.terminal": {
        "grading.report.escape",
        "grading.report.model",
        "grading.report.sheets",
        "terminal",
    },
    "grading.report.cli": {
        "grading.provenance",
        "grading.report.build",
        "grading.report.compare",
        "grading.report.files",
        "grading.report.gate",
        "grading.report.markdown",
        "grading.report.model",
        "grading.report.page",
        "grading.report.terminal",
        "grading.run",
        "terminal",
    },
    "cli_options": {"__init__", "terminal"},
    "cli_evidence": {"__init__", "evidence", "evidence_report", "rows", "terminal"},
    "cli_serve": {
        "__init__",
        "cli_options",
        "gateways.serve.app",
        "gateways.serve.demo",
        "gateways.serve.log",
        "gateways.serve.settings",
        "terminal",
    },
    "cli_stream": {"__init__", "cli_options", "terminal"},
    "cli": {
        "__init__",
        "cli_evidence",
        "cli_options",
        "cli_serve",
        "cli_stream",
        "grading.cli",
        "grading.report.cli",
        "replay",
        "rows",
        "terminal",
    },
    "grading.show": {
        "grading.filling",
        "grading.outcome",
        "grading.provenance",
        "grading.sections",
        "grading.statistics.plan",
        "terminal",
    },
    "grading.cli": {
        "__init__",
        "cli_options",
        "grading.case",
        "grading.casefile",
        "grading.documents",
        "grading.endpoints",
        "grading.filling",
        "grading.outcome",
        "grading.provenance",
        "grading.recording",
        "grading.run",
        "grading.sections",
        "grading.semantic",
        "grading.show",
        "grading.truth",
        "terminal",
    },
    "__main__": {"cli"},
}

# What is imported from outside the standard library, by whom. Never by the engine.
THIRD_PARTY = {
    "gateways.litellm": {"litellm"},
    "gateways.vllm_plugin": {"vllm"},
    "gateways.serve.request": {"starlette"},
    "gateways.serve.metrics": {"prometheus_client"},
    "gateways.serve.pool": {"httpx"},
    "gateways.serve.proxy": {"httpx", "starlette"},
    "gateways.serve.app": {"starlette", "uvicorn"},
    "gateways.serve.demo": {"starlette", "uvicorn"},
    "grading.cell": {"pydantic"},
    "grading.case": {"pydantic"},
    "grading.semantic": {"pydantic"},
    "grading.statistics.arrays": {"numpy"},
    "grading.statistics.rates": {"numpy"},
    "grading.statistics.resampling": {"numpy"},
    "grading.statistics.paired": {"numpy"},
    "grading.statistics.floor": {"numpy"},
    "grading.statistics.family": {"numpy"},
    "grading.tables": {"numpy", "pydantic"},
    "grading.verdict": {"numpy", "pydantic"},
    "grading.match": {"pydantic"},
    "grading.documents": {"yaml"},
    "grading.recorded": {"pydantic"},
    "grading.truth": {"pydantic"},
    "grading.casefile": {"pydantic"},
    "grading.schema": {"jsonschema", "pydantic", "referencing"},
    "grading.provenance": {"pydantic"},
    "grading.store": {"pydantic"},
    "grading.filling": {"pydantic"},
    "grading.run": {"pydantic"},
    "grading.endpoints": {"anthropic", "openai", "pydantic", "yaml"},
    "grading.report.model": {"pydantic"},
    "grading.report.cli": {"click"},
    "terminal": {"click", "rich"},
    "cli_options": {"click"},
    "cli_evidence": {"click"},
    "cli_serve": {"click"},
    "cli_stream": {"click"},
    "cli": {"click"},
    "grading.show": {"rich"},
    "grading.cli": {"click"},
}


@dataclass(frozen=True)
class Module:
    """One file of a package: its docstring, and where it imports what (name ▶ line)."""

    doc: str
    inside: Mapping[str, int]
    outside: Mapping[str, int]


def read_package(package: Path) -> dict[str, Module]:
    """Every module of the package, those of sub-packages too, by its dotted name within the package."""
    trees = {
        ".".join(path.relative_to(package).with_suffix("").parts): ast.parse(path.read_bytes(), str(path))
        for path in sorted(package.rglob("*.py"))
    }
    public = _bound_names(trees["__init__"])
    modules = {}
    for name, tree in trees.items():
        inside: dict[str, int] = {}
        outside: dict[str, int] = {}
        for target, line in _imports(tree, [package.name, *name.split(".")]):
            if target[0] == package.name:
                inside.setdefault(_resolve(target[1:], trees, public), line)
            else:
                outside.setdefault(target[0], line)
        modules[name] = Module(ast.get_docstring(tree) or "", inside, outside)
    return modules


def find_faults(
    modules: Mapping[str, Module],
    order: Sequence[str],
    on_top: Mapping[str, Collection[str]],
    third_party: Mapping[str, Collection[str]],
) -> list[str]:
    """Every breach, as a sentence that says where it is and what is wrong."""
    rank = {name: at for at, name in enumerate(order)}
    faults = [f"ORDER names {name}, and there is no such module" for name in order if name not in modules]
    for name, module in sorted(modules.items()):
        if name not in rank:
            faults.append(f"{name} is not in ORDER: add it to tests/test_arrows.py, behind the modules that it imports")
            continue
        declared = _declared(module.doc, modules)
        if declared is None:
            faults.append(f"{name}: the docstring must say `May import: …`")
        for target, line in module.inside.items():
            breach = f"{name}, line {line}, imports {target}"
            if rank.get(target, len(order)) >= rank[name]:
                faults.append(f"{breach}, which does not stand before it in ORDER")
            elif target not in on_top.get(name, order):
                faults.append(f"{breach}, but stands on top of the engine: only {', '.join(sorted(on_top[name]))}")
            elif declared is not None and target not in declared:
                faults.append(f"{breach}, and the docstring's `May import: …` does not name it")
        faults.extend(
            f"{name}, line {line}, imports {target}, which is not in the standard library"
            for target, line in module.outside.items()
            if target not in sys.stdlib_module_names and target not in third_party.get(name, ())
        )
    try:
        TopologicalSorter({name: module.inside for name, module in modules.items()}).prepare()
    except CycleError as error:
        faults.append(f"a cycle: {' imports '.join(reversed(error.args[1]))}")
    return faults


def _declared(doc: str, modules: Collection[str]) -> Collection[str] | None:
    """What a docstring says the module may import: the names in backticks, or in words, to the sentence's end."""
    said = re.search(r"\bMay\s+import:(.*?)(\.\s|\.?$)", doc, re.DOTALL)
    if said is None:
        return None
    words = " ".join(said[1].split())
    if words.startswith("everything below"):
        return modules  # the order says what is below
    return {*re.findall(r"`([\w.]+)`", words), *(["__init__"] if "public names" in words else [])}


def _imports(tree: ast.Module, here: Sequence[str]) -> Iterator[tuple[list[str], int]]:
    """Each target as the parts of its absolute dotted name, `from a import b` as `a.b`; and its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split("."), node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = [*here[: -node.level]] if node.level else []
            base += node.module.split(".") if node.module else []
            for alias in node.names:
                yield [*base, alias.name], node.lineno


def _resolve(target: Sequence[str], modules: Collection[str], public: Collection[str]) -> str:
    """The module that `target`, the parts of a dotted name within the package, is or stands in.

    `from . import recover` is a function where `__init__` binds that name, though a file of the name is there too:
    what `__init__` binds wins, as it does at run time.
    """
    if len(target) == 1 and target[0] in public:
        return "__init__"
    for end in range(len(target), -1, -1):
        for name in (".".join(target[:end]), ".".join([*target[:end], "__init__"])):
            if name in modules:
                return name
    raise AssertionError(f"the package has no __init__ to find {target} in")


def _bound_names(tree: ast.Module) -> set[str]:
    """The names that a module binds at its top: by import, assignment or definition."""
    bound = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            bound |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        else:
            bound |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return bound


def test_the_arrows_of_recovery_point_down() -> None:
    assert find_faults(read_package(ROOT / "recovery"), ORDER, ON_TOP, THIRD_PARTY) == []


# The checker itself, on a small made-up package: each fault put into it is reported, and nothing else.
MADE_UP = {
    "__init__": '"""May import: everything below `top`."""\nfrom .high import run',
    "low": '"""May import: nothing of the package."""\nimport re',
    "high": '"""May import: `low`."""\nfrom .low import x',
    "top": '"""May import: the public names, nothing else."""\nimport click\nfrom . import run',
    "aside": '"""May import: nothing of the package."""',
}
MADE_UP_ORDER = ("low", "high", "__init__", "top", "aside")


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        pytest.param("low", MADE_UP["low"], [], id="sound"),
        pytest.param(
            "low",
            '"""May import: `high`."""\nfrom .high import y',
            [
                "low, line 2, imports high, which does not stand before it in ORDER",
                "a cycle: high imports low imports high",
            ],
            id="cycle",
        ),
        pytest.param(
            "low",
            '"""May import: `aside`."""\nfrom made_up.aside import y',
            ["low, line 2, imports aside, which does not stand before it in ORDER"],
            id="upward",
        ),
        pytest.param(
            "low",
            '"""May import: `aside`."""\ndef f():\n    import made_up.aside',
            ["low, line 3, imports aside, which does not stand before it in ORDER"],
            id="upward-in-a-function",
        ),
        pytest.param(
            "low",
            '"""May import: `aside`."""\nif TYPE_CHECKING:\n    from . import aside',
            ["low, line 3, imports aside, which does not stand before it in ORDER"],
            id="upward-for-types",
        ),
        pytest.param(
            "high",
            '"""May import: `low`, `__init__`."""\nfrom . import run',
            [
                "high, line 2, imports __init__, which does not stand before it in ORDER",
                "a cycle: __init__ imports high imports __init__",
            ],
            id="public-name-from-below",
        ),
        pytest.param(
            "top",
            '"""May import: the public names, `low`."""\nfrom .low import x',
            ["top, line 2, imports low, but stands on top of the engine: only __init__"],
            id="past-the-public-names",
        ),
        pytest.param(
            "high",
            '"""May import: nothing of the package."""\nfrom . import low',
            ["high, line 2, imports low, and the docstring's `May import: …` does not name it"],
            id="not-declared",
        ),
        pytest.param("low", '"""No word."""', ["low: the docstring must say `May import: …`"], id="says-nothing"),
        pytest.param(
            "low",
            '"""May import: nothing of the package."""\nimport lark.lark',
            ["low, line 2, imports lark, which is not in the standard library"],
            id="third-party",
        ),
        pytest.param(
            "new",
            '"""May import: nothing of the package."""',
            ["new is not in ORDER: add it to tests/test_arrows.py, behind the modules that it imports"],
            id="new-module",
        ),
        pytest.param(
            "sub/deep",
            '"""May import: `low`."""\nfrom ..low import x',
            ["sub.deep is not in ORDER: add it to tests/test_arrows.py, behind the modules that it imports"],
            id="new-module-in-a-folder",
        ),
    ],
)
def test_a_fault_is_reported(tmp_path: Path, name: str, source: str, expected: list[str]) -> None:
    package = tmp_path / "made_up"
    for file, text in (MADE_UP | {name: source}).items():
        path = package / f"{file}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    modules = read_package(package)
    assert find_faults(modules, MADE_UP_ORDER, {"top": {"__init__"}}, {"top": {"click"}}) == expected


def test_a_missing_module_is_reported(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text('"""May import: nothing of the package."""')
    faults = find_faults(read_package(tmp_path), ("gone", "__init__"), {}, {})
    assert faults == ["ORDER names gone, and there is no such module"]
