"""Source text ▶ its mutants: the code with one small thing changed, which some test should see.

What is changed into what is mutmut's table (`mutation_operators`): a number, a string, a comparison, an operator, a
condition, an argument or an assigned value that becomes None, and so on. mutmut's own run is not used: it wants to own
the tests, and mutates nothing outside functions, where the scanner's patterns and tables stand.

Left out is what can't change behaviour, or changes it so that the interpreter itself says so, which proves nothing
about the tests:
- annotations, type aliases, docstrings, `__all__`, `__slots__`, decorators;
- what `raise` and `assert` say: messages, and what input never reaches;
- a constant of a module that becomes None, an argument left out, None handed to `len`, `isinstance` or `cast`: nearly
  always a TypeError.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

import libcst
from libcst.metadata import CodeRange, MetadataWrapper, WhitespaceInclusivePositionProvider
from mutmut.mutation.mutators import mutation_operators

_NOT_ENTERED: Final = (libcst.Annotation, libcst.Raise, libcst.Assert, libcst.Decorator, libcst.Import)
_UNCHANGED_NAMES: Final = ("__all__", "__slots__")
_NEVER_NONE: Final = ("len", "isinstance", "cast")


class Mutant(NamedTuple):
    """One change: the module, the function it stands in (empty for none), the line it begins in, and the code.

    `old` and `new` are the lines that differ, without the blanks around them: with `module` and `where` they tell a
    mutant from all others wherever it moves to.
    """

    module: str
    where: str
    line: int
    old: str
    new: str
    code: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.module, self.where, self.old, self.new


def mutants_of(module: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of the text; each once."""
    wrapper = MetadataWrapper(libcst.parse_module(source))
    ranges = wrapper.resolve(WhitespaceInclusivePositionProvider)
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    functions = _functions(source)
    found: dict[str, Mutant] = {}
    for old, new in _changes(wrapper.module, at_top=True):
        code = _replaced(wrapper.module, source, ranges.get(old), begins, old, new)
        mutant = None if code == source or code in found else _mutant(module, source, code, functions)
        if mutant is not None:
            found[code] = mutant
    return sorted(found.values(), key=lambda mutant: mutant.line)


def _changes(node: libcst.CSTNode, *, at_top: bool) -> Iterator[tuple[libcst.CSTNode, libcst.CSTNode]]:
    """Each node below this one that can be changed, and what it becomes; `at_top`: it stands outside functions."""
    if isinstance(node, _NOT_ENTERED) or _is_left_out(node, at_top=at_top):
        return
    at_top = at_top and not isinstance(node, libcst.FunctionDef | libcst.ClassDef)
    if not (at_top and isinstance(node, libcst.AnnAssign)):
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                for new in operator(node):
                    if not _is_type_error(node, new):
                        yield node, new
    for child in node.children:
        yield from _changes(child, at_top=at_top)


def _is_left_out(node: libcst.CSTNode, *, at_top: bool) -> bool:
    """Whether this is a docstring, a type alias, or a list of names."""
    if isinstance(node, libcst.Expr):
        return isinstance(node.value, libcst.BaseString)
    if isinstance(node, libcst.Assign):
        names = [target.target.value for target in node.targets if isinstance(target.target, libcst.Name)]
        # Constants of a module are annotated as final; what is not is an alias.
        return at_top or any(name in _UNCHANGED_NAMES for name in names)
    return False


def _is_type_error(old: libcst.CSTNode, new: libcst.CSTNode) -> bool:
    if not isinstance(old, libcst.Call) or not isinstance(new, libcst.Call):
        return False
    fewer = len(new.args) < len(old.args)
    named = isinstance(old.func, libcst.Name) and old.func.value in _NEVER_NONE
    return fewer or (named and new.func is old.func)


def _replaced(
    module: libcst.Module,
    source: str,
    span: CodeRange | None,
    begins: list[int],
    old: libcst.CSTNode,
    new: libcst.CSTNode,
) -> str:
    """The source with one node changed."""
    if span is not None:
        start = begins[span.start.line - 1] + span.start.column
        end = begins[span.end.line - 1] + span.end.column
        if source[start:end] == module.code_for_node(old):
            return f"{source[:start]}{module.code_for_node(new)}{source[end:]}"
    # What goes over several lines is indented by what stands around it.
    changed = module.deep_replace(old, new)
    assert isinstance(changed, libcst.Module)
    return str(changed.code)


def _mutant(module: str, source: str, code: str, functions: list[tuple[int, int, str]]) -> Mutant | None:
    """The mutant with this code; None where it can't be compiled."""
    try:
        compile(code, module, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    old, new = source.splitlines(), code.splitlines()
    first = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    last = next((at for at, (a, b) in enumerate(zip(old[::-1], new[::-1], strict=False)) if a != b), 0)
    gone, come = old[first : max(first, len(old) - last)], new[first : max(first, len(new) - last)]
    where = [name for start, end, name in functions if start <= first + 1 <= end]
    return Mutant(module, where[-1] if where else "", first + 1, _joined(gone), _joined(come), code)


def _joined(lines: list[str]) -> str:
    return "\n".join(line.strip() for line in lines)


def _functions(source: str) -> list[tuple[int, int, str]]:
    """The first and the last line of each class and function, and its name within the module; outer ones first."""
    found: list[tuple[int, int, str]] = []

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, ast.ClassDef | ast.FunctionDef):
                name = f"{prefix}.{child.name}" if prefix else child.name
                found.append((child.lineno, child.end_lineno or child.lineno, name))
            walk(child, name)

    walk(ast.parse(source), "")
    return found
