"""Names: a written name becomes exactly one offered tool, or the reason why not."""

from __future__ import annotations

import pickle
import statistics
import time
import timeit

import pytest

from recovery.names import OPERATORS, may_become_name, operator_at, operator_end, resolve, widen
from recovery.policy import Allowance
from recovery.result import Reason
from recovery.toolset import Toolset

UNKNOWN, AMBIGUOUS, OPERATOR, NO_TOOLS = (
    Reason.UNKNOWN_TOOL,
    Reason.AMBIGUOUS_NAME,
    Reason.OPERATOR,
    Reason.NO_TOOLS,
)


def found(written: str, offered: list[str], aliases: dict[str, str] | None = None) -> str | Reason:
    """The name of the tool, or the reason; and the same from a toolset that went through pickle."""
    toolset = Toolset(offered, aliases=aliases)
    result = resolve(written, toolset)
    again = resolve(written, pickle.loads(pickle.dumps(toolset)))
    assert result == again
    if isinstance(result, Reason):
        return result
    assert result is toolset.get(result.name)
    return result.name


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("q", ["q"]),
        ("_sync", ["_sync"]),
        ("probe_2", ["probe_2", "probe_22"]),
        ("查水位", ["查水位"]),
        ("2fast", ["2fast"]),
        ("orchard.prune", ["orchard.prune"]),
        ("read gauge", ["read gauge"]),
        ("print", ["print"]),
        # Rule 2 leaves an offered name in its own spelling alone.
        ("orchard.prune", ["orchard_prune", "orchard.prune"]),
        ("read gauge", ["read_gauge", "read gauge"]),
    ],
)
def test_the_offered_name_itself_is_found(written: str, offered: list[str]) -> None:
    assert found(written, offered) == written


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("tide.predict", "tide_predict"),
        ("kiln_.heat", "kiln__heat"),
        ("SUN.Dial.readHour", "SUN_Dial_readHour"),
        ("река.уровень", "река_уровень"),
        ("pump.3start", "pump_3start"),
        ("read gauge", "read_gauge"),
        ("Weekly Hot 100 Chart", "Weekly_Hot_100_Chart"),
        ("water the.plants", "water_the_plants"),
        ("3d.print", "3d_print"),
    ],
)
def test_each_dot_and_space_stands_for_one_underscore(written: str, name: str) -> None:
    assert found(written, ["other", name, "another"]) == name


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("lantern_dim", ["lantern.dim"]),
        ("lantern.dim", ["lantern dim", "lantern-dim", "lanterndim", "lantern/dim"]),
        ("read gauge", ["readgauge", "read-gauge", "read.gauge"]),
        ("kiln.heat", ["kiln__heat", "kiln_heat_", "_kiln_heat"]),
        ("tide.predict", ["predict", "tide"]),
        ("hive.open", ["box_open", "lid_open"]),
        ("seek", ["mseek", "seeker", "seek_all"]),
        ("search", ["msearch"]),
        ("Polish_Blade", ["polish_blade"]),
        ("polish_blade", ["polishBlade", "polishblade"]),
        ("Read Gauge", ["read_gauge"]),
        ("\uff46ind_nest", ["find_nest"]),
        ("find_n\u0435st", ["find_nest"]),
        ("\ufb01nd", ["find"]),
        ("find__nest", ["find_nest"]),
        ("find_nest_", ["find_nest"]),
        ("list_hive", ["list_hives"]),
        ("please drain", ["drain"]),
        ("mixed.dot space", ["mixed_dot space", "mixed.dot_space"]),
    ],
)
def test_nothing_is_folded_cut_off_or_guessed(written: str, offered: list[str]) -> None:
    assert found(written, offered) is UNKNOWN


@pytest.mark.parametrize("written", ["f", "a.f", "a f", "not f"])
def test_without_any_tool_that_is_the_reason(written: str) -> None:
    assert found(written, []) is NO_TOOLS


@pytest.mark.parametrize(
    ("written", "offered", "aliases", "expected"),
    [
        pytest.param("crane.drop", ["t_1"], {"crane.drop": "t_1"}, "t_1", id="dotted"),
        pytest.param("Weather At Sea", ["wx"], {"Weather At Sea": "wx"}, "wx", id="spaced"),
        pytest.param("погода", ["wx"], {"погода": "wx"}, "wx", id="other-script"),
        pytest.param("t_1", ["t_1"], {"crane.drop": "t_1"}, "t_1", id="the-offered-name-still-works"),
        pytest.param("raise_it", ["lift"], {"up": "lift", "raise_it": "lift"}, "lift", id="second-alias"),
        pytest.param("crane_drop", ["t_1"], {"crane.drop": "t_1"}, UNKNOWN, id="no-underscore-for-a-dot"),
        pytest.param("crane.drop", ["t_1"], {"crane_drop": "t_1"}, UNKNOWN, id="no-rule-2-towards-an-alias"),
        pytest.param("Go", ["nav"], {"go": "nav"}, UNKNOWN, id="case"),
        pytest.param("Sonar", ["s1"], {"Sonar.sweep": "s1"}, UNKNOWN, id="prefix"),
    ],
)
def test_an_alias_is_found_exactly(
    written: str, offered: list[str], aliases: dict[str, str], expected: str | Reason
) -> None:
    assert found(written, offered, aliases) == expected


@pytest.mark.parametrize(
    ("written", "offered", "aliases", "expected"),
    [
        pytest.param("scan", ["scan", "deep"], {"scan": "deep"}, AMBIGUOUS, id="alias-and-offered-name"),
        pytest.param("bay.scan", ["bay.scan", "deep"], {"bay.scan": "deep"}, AMBIGUOUS, id="the-same-dotted"),
        pytest.param("bay.scan", ["bay_scan", "deep"], {"bay.scan": "deep"}, AMBIGUOUS, id="alias-and-rule-2"),
        pytest.param("bay scan", ["bay_scan", "deep"], {"bay scan": "deep"}, AMBIGUOUS, id="alias-and-rule-2-spaced"),
        pytest.param("lift", ["lift"], {"lift": "lift"}, "lift", id="alias-of-the-same-tool"),
        pytest.param("bay.scan", ["bay_scan"], {"bay.scan": "bay_scan"}, "bay_scan", id="alias-agrees-with-rule-2"),
        pytest.param(
            "a.b", ["a.b", "a_b"], {"a.b": "a.b"}, "a.b", id="offered-name-and-its-alias-leave-nothing-to-rule-2"
        ),
        pytest.param("a.b", ["a.b", "a_b"], {"a.b": "a_b"}, AMBIGUOUS, id="alias-sides-with-rule-2-against-the-name"),
        pytest.param("bay_scan", ["bay_scan", "deep"], {"bay.scan": "deep"}, "bay_scan", id="another-spelling"),
        # Identical but for the name: they are two tools all the same.
        pytest.param("b", ["a", "b"], {"b": "a"}, AMBIGUOUS, id="twins"),
    ],
)
def test_a_name_that_two_tools_claim_is_ambiguous(
    written: str, offered: list[str], aliases: dict[str, str], expected: str | Reason
) -> None:
    assert found(written, offered, aliases) == expected


# Python's keywords, and what stands before a call in the languages that models write.
WORDS = (
    "and assert async await call case class def default defer del delete do echo elif else except exec fn for from fun "
    "func function go if in instanceof is lambda match new not of or print puts raise return select switch then throw "
    "try typeof unless until void when where while with yield"
).split()


@pytest.mark.parametrize("word", [*WORDS, "Not", "RETURN"])
def test_a_word_of_code_before_another_tool_is_ambiguous(word: str) -> None:
    assert found(f"{word} f", [f"{word}_f", "f"]) is AMBIGUOUS
    assert found(f"{word} f", [f"{word}_f"]) == f"{word}_f"
    assert found(f"{word} f", ["f"]) is UNKNOWN
    # With a dot or an underscore it is no code.
    assert found(f"{word}.f", [f"{word}_f", "f"]) == f"{word}_f"
    assert found(f"{word}_f", [f"{word}_f", "f"]) == f"{word}_f"


@pytest.mark.parametrize(
    ("written", "offered", "aliases", "expected"),
    [
        pytest.param("please f", ["please_f", "f"], {}, "please_f", id="a-word-that-is-no-code"),
        pytest.param("fetch print f", ["fetch_print_f", "f", "print_f"], {}, "fetch_print_f", id="not-at-the-start"),
        pytest.param("nota f", ["nota_f", "f"], {}, "nota_f", id="a-word-that-begins-so"),
        pytest.param("return await f", ["return_await_f", "f"], {}, AMBIGUOUS, id="two-words"),
        pytest.param("return await f", ["return_await_f", "await_f"], {}, AMBIGUOUS, id="two-words-rest-of-two"),
        pytest.param("return await f", ["return_await_f"], {}, "return_await_f", id="two-words-alone"),
        pytest.param("return await a b", ["return_await_a_b", "a_b"], {}, AMBIGUOUS, id="two-words-before-two"),
        pytest.param("return await f", ["await_f", "f"], {}, UNKNOWN, id="the-whole-is-not-offered"),
        pytest.param("return a.b", ["return_a_b", "a_b"], {}, AMBIGUOUS, id="rest-by-rule-2"),
        pytest.param("return a b", ["return_a_b", "a b"], {}, AMBIGUOUS, id="rest-exact"),
        pytest.param("not f", ["not f", "f"], {}, AMBIGUOUS, id="whole-exact"),
        pytest.param("not f", ["g", "f"], {"not f": "g"}, AMBIGUOUS, id="whole-by-alias"),
        pytest.param("not f", ["f"], {"not f": "f"}, AMBIGUOUS, id="one-tool-both-ways"),
        pytest.param("not f", ["not_f", "g"], {"f": "g"}, AMBIGUOUS, id="rest-by-alias"),
        pytest.param("not f", ["not_f", "f", "g"], {"f": "g"}, AMBIGUOUS, id="rest-itself-ambiguous"),
        pytest.param("not", ["not", "f"], {}, "not", id="the-word-alone"),
    ],
)
def test_two_readings_of_the_text(
    written: str, offered: list[str], aliases: dict[str, str], expected: str | Reason
) -> None:
    assert found(written, offered, aliases) == expected


@pytest.mark.parametrize("sign", sorted(OPERATORS))
@pytest.mark.parametrize("form", ["a{}b", "a {} b", "a {}b", "{}b", "x.a{}b", "not a{}b"])
def test_an_operator_sign_never_resolves(form: str, sign: str) -> None:
    written = form.format(sign)
    joined = written.replace(sign, "_").replace(" ", "_").replace(".", "_")
    assert found(written, ["a", "b", joined]) is OPERATOR
    # Not even letter for letter, nor as an alias; and with nothing offered it is arithmetic too.
    assert found(written, [written, "f"], {written: "f"}) is OPERATOR
    assert found(written, [written, "b"]) is OPERATOR
    assert found(written, []) is OPERATOR


def test_the_operator_signs() -> None:
    assert "".join(sorted(OPERATORS)) == "!%&*+-/<=>@^|~"


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("", -1),
        ("a.b c_d", -1),
        ("a-b", 1),
        ("-f", 0),
        ("read the a/b-c", 10),
        ("f =", 2),
        ("a\u2013b", -1),
        ("a\u2212b", -1),
    ],
)
def test_operator_at_is_the_first_sign(written: str, at: int) -> None:
    assert operator_at(written) == at


def _cost(count: int, written: str) -> float:
    toolset = Toolset(
        ["return_get_tool_7", *(f"get_tool_{number}" for number in range(count))],
        aliases={f"alias {number}": f"get_tool_{number}" for number in range(count)},
    )
    return statistics.median(timeit.repeat(lambda: resolve(written, toolset), number=200, repeat=51))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("get_tool_7", "get_tool_7"),
        ("get.tool 7", "get_tool_7"),
        ("alias 7", "get_tool_7"),
        ("return get tool 7", AMBIGUOUS),
        ("set_tool_7", UNKNOWN),
        ("get-tool", OPERATOR),
    ],
)
def test_a_look_up_costs_the_same_with_10_and_with_10_000_tools(written: str, expected: str | Reason) -> None:
    assert found(written, ["return_get_tool_7", "get_tool_7"], {"alias 7": "get_tool_7"}) == expected
    # A walk over the tools would make it a hundred times dearer; the bound leaves room for a busy machine.
    assert _cost(10_000, written) < 5 * _cost(10, written)


def test_a_long_name_is_judged_in_linear_time() -> None:
    # Words of code before a tool. Only a whole that is offered is read a second way: a walk here would be quadratic,
    # some ten seconds.
    start = time.process_time()
    assert found("not " * 100_000 + "f", ["f"]) is UNKNOWN
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("written", "offered", "aliases", "name", "used", "skipped"),
    [
        ("await f", ["f"], {}, "f", "wrapper", 6),
        ("return f", ["f"], {}, "f", "wrapper", 7),
        ("return functions.f", ["f"], {}, "f", "wrapper namespace", 7),
        ("return get-f", ["get-f"], {}, "get-f", "wrapper exact_operator_name", 7),
        ("await return f", ["f"], {}, None, "", 0),
        ("await f", ["f", "await"], {}, None, "", 0),
        ("awaiting f", ["f"], {}, None, "", 0),
        ("await", ["f"], {}, None, "", 0),
        ("functions.f", ["f"], {}, "f", "namespace", 0),
        ("functions.get-f", ["get-f"], {}, "get-f", "namespace exact_operator_name", 0),
        ("functions.functions.f", ["f"], {}, None, "", 0),
        ("functions.return f", ["f"], {}, "f", "namespace wrapper", 7),
        ("functions", ["f"], {}, None, "", 0),
        # A prefix that leads to no tool may be part of an offered name.
        ("functions.get-f", ["functions.get-f"], {}, "functions.get-f", "exact_operator_name", 0),
        ("get-f", ["get-f"], {}, "get-f", "exact_operator_name", 0),
        ("-f", ["-f"], {}, "-f", "exact_operator_name", 0),
        ("get-f", ["f"], {"get-f": "f"}, "f", "exact_operator_name", 0),
        ("get-f", ["get-f"], {"get-f": "get-f"}, "get-f", "exact_operator_name", 0),
        ("get-f", ["get-f", "f"], {"get-f": "f"}, None, "", 0),
        ("get-f", ["get_f"], {}, None, "", 0),
    ],
)
def test_a_tool_by_the_allowances_for_names(
    written: str, offered: list[str], aliases: dict[str, str], name: str | None, used: str, skipped: int
) -> None:
    found = widen(written, Toolset(offered, aliases=aliases))
    if name is None:
        assert found is None
    else:
        assert found is not None
        assert (found.tool.name, " ".join(found.used), found.skipped) == (name, used, skipped)
        assert all(isinstance(step, Allowance) for step in found.used)


@pytest.mark.parametrize(("written", "at", "end"), [("a//b", 1, 3), ("a-", 1, 2), ("a-b-c", 1, 2), ("==", 0, 2)])
def test_an_operator_is_as_long_as_its_signs(written: str, at: int, end: int) -> None:
    assert operator_end(written, at) == end


BECOMING = Toolset(["get_docs", "f", "read gauge", "x-y"], aliases={"Ask it": "f"})


@pytest.mark.parametrize(
    ("written", "wrapped", "may"),
    [
        # A name, as far as it goes, in any spelling.
        ("", False, True),
        ("get", False, True),
        ("get.do", False, True),
        ("get do", False, True),
        ("get\\", False, True),
        ("get\\_do", False, True),
        ("get_docs_", False, False),
        ("x-", False, True),
        ("x_", False, False),
        ("Ask i", False, True),
        ("Ask.i", False, False),
        ("zzz", False, False),
        # What surely ended is a name, or none.
        ("f(", False, True),
        ("f (", False, True),
        ("get(", False, False),
        ("f(x", False, True),
        ("f ", False, True),
        ("f  ", False, True),
        ("f\t", False, True),
        ("f #", False, True),
        ("get  ", False, False),
        ("read ", False, True),
        ("  ", False, True),
        # What may stand before it.
        ("fun", False, True),
        ("functions.ge", False, True),
        ("functions.zz", False, False),
        ("functions.f(", False, True),
        ("awa", False, False),
        ("awa", True, True),
        ("await ge", True, True),
        ("await ge", False, False),
        ("await zz", True, False),
        ("return f(", True, True),
        ("pri", True, True),
        ("print(", True, True),
        ("print(", False, False),
        ("printed(", True, False),
        ("print  ", True, True),
        ("r = ge", True, True),
        ("r = zz", True, False),
        ("r = zz", False, False),
        ("r =", True, True),
        ("r", True, True),
        ("r", False, True),
        ("zz", True, True),
        ("zz ", True, True),
        ("z\\_z = f(", True, True),
        ("2z", True, False),
    ],
)
def test_what_more_text_could_make_a_name_of_a_tool(written: str, wrapped: bool, may: bool) -> None:
    assert may_become_name(written, BECOMING, wrapped=wrapped) is may
