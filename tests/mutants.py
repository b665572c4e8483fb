"""Source text ▶ its mutants: the code with one small thing changed, which some test should see.

What is changed into what is mutmut's table (`mutation_operators`): a number, a string, a comparison, an operator, a
condition, an argument or an assigned value that becomes None, and so on. mutmut's own run is not used: it wants to own
the tests, and mutates nothing outside functions, where the scanner's patterns and tables stand.

Left out is what can't change behaviour, or changes it so that the interpreter itself says so, which proves nothing
about the tests:
- annotations, type aliases, docstrings, `__all__`, `__slots__`, decorators;
- what `raise` and `assert` say: messages, and what input never reaches;
- a constant of a module that becomes None, an argument left out, None handed to `len`, `isinstance` or `cast`: nearly
  always a TypeError;
- an assigned False that becomes None: either is no;
- a set of characters (behind `in`, in `frozenset`, in `strip`) that gains the letter X, which mutmut puts around every
  string: no case has an X in just that place, and none should.
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
_TAKES_CHARACTERS: Final = ("frozenset", "fromkeys", "strip", "lstrip", "rstrip")


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
    begins = [0]
    for line in source.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    functions = _functions(source)
    found: dict[str, Mutant] = {}
    for old, new in _changes(wrapper.module, at_top=True):
        start, end, text = _edit(wrapper.module, source, ranges.get(old), begins, old, new)
        mutant = _mutant(module, source, start, end, text, functions)
        if mutant.code != source:
            found.setdefault(mutant.code, mutant)
    return sorted(found.values(), key=lambda mutant: mutant.line)


def _changes(
    node: libcst.CSTNode, *, at_top: bool, parent: libcst.CSTNode | None = None
) -> Iterator[tuple[libcst.CSTNode, libcst.CSTNode]]:
    """Each node from this one on that can be changed, and what it becomes; `at_top`: it stands outside functions."""
    if isinstance(node, _NOT_ENTERED) or _is_left_out(node, at_top=at_top):
        return
    at_top = at_top and not isinstance(node, libcst.FunctionDef | libcst.ClassDef)
    if not (at_top and isinstance(node, libcst.AnnAssign)):
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                for new in operator(node):
                    if not (_is_type_error(node, new) or _is_still_no(node, new) or _gains_x(node, new, parent)):
                        yield node, new
    for child in node.children:
        # An argument is no more than the call that it stands in.
        yield from _changes(child, at_top=at_top, parent=parent if isinstance(node, libcst.Arg) else node)


def _is_left_out(node: libcst.CSTNode, *, at_top: bool) -> bool:
    """Whether this is a docstring, a type alias, or a list of names."""
    if isinstance(node, libcst.Expr):
        return isinstance(node.value, libcst.BaseString)
    if isinstance(node, libcst.Assign):
        names = [target.target.value for target in node.targets if isinstance(target.target, libcst.Name)]
        # Constants of a module are annotated as final; what is not is an alias.
        return at_top or any(name in _UNCHANGED_NAMES for name in names)
    return False


def _is_still_no(old: libcst.CSTNode, new: libcst.CSTNode) -> bool:
    if not isinstance(old, libcst.Assign | libcst.AnnAssign) or not isinstance(new, libcst.Assign | libcst.AnnAssign):
        return False
    values = [value.value if isinstance(value, libcst.Name) else "" for value in (old.value, new.value)]
    return values == ["False", "None"]


def _is_type_error(old: libcst.CSTNode, new: libcst.CSTNode) -> bool:
    if not isinstance(old, libcst.Call) or not isinstance(new, libcst.Call):
        return False
    fewer = len(new.args) < len(old.args)
    named = isinstance(old.func, libcst.Name) and old.func.value in _NEVER_NONE
    return fewer or (named and new.func is old.func)


def _gains_x(old: libcst.CSTNode, new: libcst.CSTNode, parent: libcst.CSTNode | None) -> bool:
    if not isinstance(old, libcst.SimpleString) or not isinstance(new, libcst.SimpleString):
        return False
    if new.raw_value != f"XX{old.raw_value}XX":
        return False
    if isinstance(parent, libcst.ComparisonTarget):
        return isinstance(parent.operator, libcst.In | libcst.NotIn)
    function = parent.func if isinstance(parent, libcst.Call) else None
    name = function.attr if isinstance(function, libcst.Attribute) else function
    return isinstance(name, libcst.Name) and name.value in _TAKES_CHARACTERS


def _edit(
    module: libcst.Module,
    source: str,
    span: CodeRange | None,
    begins: list[int],
    old: libcst.CSTNode,
    new: libcst.CSTNode,
) -> tuple[int, int, str]:
    """What of the source has to be replaced by what, to change one node."""
    if span is not None:
        start = begins[span.start.line - 1] + span.start.column
        end = begins[span.end.line - 1] + span.end.column
        if source[start:end] == module.code_for_node(old):
            return start, end, str(module.code_for_node(new))
    # What goes over several lines is indented by what stands around it.
    changed = module.deep_replace(old, new)
    assert isinstance(changed, libcst.Module)
    return 0, len(source), str(changed.code)


def _mutant(module: str, source: str, start: int, end: int, text: str, functions: list[tuple[int, int, str]]) -> Mutant:
    line_start = source.rfind("\n", 0, start) + 1
    line_end = (source.find("\n", end) + 1 or len(source) + 1) - 1
    old = source[line_start:line_end].split("\n")
    new = f"{source[line_start:start]}{text}{source[end:line_end]}".split("\n")
    line = source.count("\n", 0, line_start) + 1
    while len(old) > 1 and len(new) > 1 and old[0] == new[0]:
        del old[0], new[0]
        line += 1
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        del old[-1], new[-1]
    where = [name for first, last, name in functions if first <= line <= last]
    code = f"{source[:start]}{text}{source[end:]}"
    return Mutant(module, where[-1] if where else "", line, _joined(old), _joined(new), code)


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
