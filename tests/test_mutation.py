"""The mutation command: its tables fit the code, and a mutant is killed exactly where it changes something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.break_code import copy
from tests.mutation import BOUNDS, ROOMS, ROOT, SURVIVORS, Outcome, changed, main, read_survivors, run_room, source_of
from tests.vectors_at_once import KINDS

pytestmark = pytest.mark.sources

LISTED = read_survivors()


@pytest.mark.parametrize("module", ROOMS)
def test_a_room_names_what_is_there(module: str) -> None:
    assert source_of(module).is_file()
    for arguments in ROOMS[module]:
        for name in re.findall(r"tests/\S+", arguments):
            assert (ROOT / name).is_file()
        for word in re.findall(r"[\w-]+", arguments.partition("-k ")[2]) if "vectors_at_once" in arguments else ():
            known = {"whole", "by_characters", "cut", "and", "or", "not"}
            assert word in known or any(word in kind for kind in KINDS), word


def test_the_bounds_are_of_rooms() -> None:
    assert set(BOUNDS) <= set(ROOMS)


@pytest.mark.parametrize("key", LISTED, ids=lambda key: f"{key[0]}-{key[2]}")
def test_what_is_listed_as_changing_nothing_stands_in_the_code(key: tuple[str, str, str, str]) -> None:
    module, where, old, new = key
    lines = [line.strip() for line in source_of(module).read_text(encoding="utf-8").splitlines()]
    count = len(old.split("\n"))
    assert old in {"\n".join(lines[at : at + count]) for at in range(len(lines))}
    assert all(f" {name}" in "\n".join(lines) for name in where.split(".") if name)
    assert old != new
    assert LISTED[key].endswith(".")


def test_an_entry_stands_once(tmp_path: Path) -> None:
    path = tmp_path / SURVIVORS.name
    entry = '[[equivalent]]\nmodule = "names"\nwhere = ""\nwhy = "None."\nchanges = [["a", "b"]]\n'
    path.write_text(entry, encoding="utf-8")
    assert read_survivors(path) == {("names", "", "a", "b"): "None."}
    path.write_text(entry * 2, encoding="utf-8")
    with pytest.raises(ValueError, match="lists 'a' ▶ 'b' of names twice"):
        read_survivors(path)


def test_a_mutant_is_killed_where_it_changes_something() -> None:
    code = source_of("literals").read_text(encoding="utf-8")
    matters = code.replace("if code <= 0x10FFFF", "if code < 0x10FFFF")
    # There is a backslash: it was looked for before.
    same = code.replace('    at = body.find("\\\\")\n', '    at = body.index("\\\\")\n')
    assert code not in (matters, same)
    with copy() as folder:
        for mutant, outcome in ((matters, Outcome.KILLED), (same, Outcome.SURVIVED)):
            with changed(folder, "literals", mutant):
                assert run_room(folder, "literals") is outcome
        assert (folder / "recovery" / "literals.py").read_text(encoding="utf-8") == code


def test_the_mutants_of_a_text() -> None:
    pytest.importorskip("mutmut", reason="the extra `mutation`")
    from tests.mutants import mutants_of

    text = (
        '"""Head."""\nLimit: Final = 3\nNames = int | str\n\nclass A:\n    def f(self, x: int = 1) -> bool:\n'
        '        """Say."""\n        if x < 0:\n            raise ValueError("below 0")\n        return x in (\n'
        "            2,\n        )\n"
    )
    found = {(mutant.where, mutant.line, mutant.old, mutant.new) for mutant in mutants_of("any", text)}
    assert found == {
        ("", 2, "Limit: Final = 3", "Limit: Final = 4"),
        ("A.f", 6, "def f(self, x: int = 1) -> bool:", "def f(self, x: int = 2) -> bool:"),
        ("A.f", 8, "if x < 0:", "if x <= 0:"),
        ("A.f", 8, "if x < 0:", "if x < 1:"),
        ("A.f", 10, "return x in (", "return x not in ("),
        ("A.f", 11, "2,", "3,"),
    }


@pytest.mark.parametrize("given", [["nothing"], ["--number", "0"], ["--number", "3", "--all"], ["--jobs", "x"]])
def test_a_mistake_of_the_caller_is_2(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err
