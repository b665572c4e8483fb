"""The writers of a report: what they show, that hostile text stays text, and that an expired number is not shown."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from recovery.grading import OUTCOMES, Case, Cell, Detail, Grade, Outcome, Ungraded
from recovery.grading.report import Report, check_bounds, parse_bound, to_json, to_junit, to_markdown, to_page
from recovery.grading.report.sheets import Show, sections
from recovery.grading.report.terminal import print_report
from recovery.terminal import Terminal
from tests.grading import worked_example as example

HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>|`x`| ]]> &amp; {{7*7}} \x1b[31mred\x07 \u202eabc\u0000 "
    "[bold]x[/bold] @everyone ![x](http://example.org/x.png) <!-- --> \ud800"
)


class Page(HTMLParser):
    """What a browser would see: tags with attributes, and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def to_text(report: Report, now: object = example.TODAY) -> str:
    file = io.StringIO()
    print_report(report, Terminal(file=file, width=120), now)  # type: ignore[arg-type]
    return file.getvalue()


def hostile_report() -> Report:
    cases = [Case(HOSTILE, "tool", {}, id=f"{HOSTILE} {at}") for at in range(4)]
    lost = Grade(
        outcome=Outcome.NO_CALL, detail=Detail.WRITTEN_AND_REFUSED, reason=HOSTILE, called=(), differences=(HOSTILE,)
    )
    wrong = Grade(outcome=Outcome.WRONG_TOOL, detail=Detail.UNKNOWN_TOOL, called=(HOSTILE,), differences=(HOSTILE,))
    cells = [
        Cell(
            case_id=case.id,
            model=model,
            repeat=repeat,
            grade=lost if (at + repeat) % 2 else wrong,
            answer={"text": HOSTILE},
        )
        for model in (HOSTILE, f"{HOSTILE} b")
        for at, case in enumerate(cases)
        for repeat in range(2)
    ]
    return example.report_of(cases, [HOSTILE, f"{HOSTILE} b"], cells, 2)


def test_the_page_is_whole_by_itself() -> None:
    page = Page(to_page(example.report(), example.TODAY))
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "style-src"}
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in {"src", "href"}:
                assert value is not None
                assert value.startswith("#"), (tag, value)
    assert "url(" not in to_page(example.report(), example.TODAY)
    assert "@import" not in to_page(example.report(), example.TODAY)
    targets = {attributes.get("id") for _, attributes in page.tags}
    assert {attributes["href"] for tag, attributes in page.tags if tag == "a"} <= {f"#{name}" for name in targets}


def test_the_page_has_a_title_and_a_table_beside_every_plot() -> None:
    text = to_page(example.report(), example.TODAY)
    plots = re.findall(r'<svg role="img" aria-labelledby="(\S+) (\S+)".*?</svg>', text, re.DOTALL)
    assert len(plots) == 5
    for title, description in plots:
        assert re.search(rf'<title id="{title}">[^<]+</title><desc id="{description}">[^<]+</desc>', text)
    for section in re.findall(r"<section .*?</section>", text, re.DOTALL):
        assert section.count("<svg") <= section.count("<table")
    assert '<html lang="en">' in text
    assert "prefers-color-scheme: dark" in text
    assert re.findall(r"<th(?! scope)[^e]", text) == []


def test_the_page_shows_every_count() -> None:
    report = example.report()
    text = Page(to_page(report, example.TODAY)).text
    for model in report.models:
        for outcome in OUTCOMES:
            rate = model.rate(outcome)
            assert f"{rate.count} of {rate.of}" in text


def test_the_same_report_is_the_same_text() -> None:
    assert to_page(example.report(), example.TODAY) == to_page(example.report(), example.TODAY)
    assert to_markdown(example.report(), example.TODAY) == to_markdown(example.report(), example.TODAY)


@pytest.mark.parametrize("writer", [to_page, to_markdown, to_text, to_json])
def test_an_expired_number_is_not_to_be_seen(writer: Callable[..., str]) -> None:
    fresh, stale = writer(example.report(), example.TODAY), writer(example.report(), example.LATER)
    assert "EXPIRED" not in fresh
    assert "EXPIRED 2027-03-01" in stale
    assert "<svg" not in stale
    # Counts and rates of the result that stand nowhere else.
    for number in ("27.5", "72.0", "108 of 150", "0.72", "15.3", "33 of"):
        assert number not in stale, number
    assert not re.search(r"\d\.\d%|\d of \d", stale)
    # What a difference is read as, and what became of a case.
    for said in ("noise", "real"):
        assert not re.search(rf">{said}<|\| {said} \||\b{said} *\n|\"{said}\"", stale), said
    assert not re.search(r'\[\s*"(no_call|correct)"', stale)


def test_an_expired_junit_shows_none_either() -> None:
    stale = to_junit(example.report(), [], example.LATER)
    assert "EXPIRED" in stale
    assert not re.search(r"\d%", stale)


def test_hostile_text_stays_text_in_the_page() -> None:
    report = hostile_report()
    page = Page(to_page(report, example.TODAY))
    clean = Page(to_page(example.report(), example.TODAY))
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in clean.tags}
    assert {name for _, given in page.tags for name in given} <= {name for _, given in clean.tags for name in given}
    assert "<script>alert(1)</script>" in page.text
    for character in "\x1b\x07\u202e\x00\ud800":
        assert character not in page.text
    to_page(report, example.TODAY).encode()


def test_hostile_text_breaks_no_table_of_the_markdown() -> None:
    text = to_markdown(hostile_report(), example.TODAY)
    width = 0
    for line in text.splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        bars = len(re.findall(r"(?<!\\)\|", line))
        width = width or bars
        assert bars == width, line
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<script" not in outside
    assert "![" not in outside
    assert "@everyone" not in outside
    text.encode()


def test_hostile_text_is_no_markup_of_the_terminal() -> None:
    text = to_text(hostile_report())
    assert "\x1b[31m" not in text
    assert "\x07" not in text
    assert "[bold]x" in text.replace("\n", "")


def test_junit_and_json_are_read_back() -> None:
    for report in (example.report(), hostile_report()):
        checks = check_bounds(report, [parse_bound("correct>=1%"), parse_bound("no_call<=90%")], example.TODAY)
        root = ET.fromstring(to_junit(report, checks, example.TODAY))
        assert int(root.attrib["tests"]) == len(root.findall(".//testcase"))
        assert int(root.attrib["failures"]) == len(root.findall(".//failure"))
        for suite in root.findall("testsuite"):
            assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        data = json.loads(to_json(report, example.TODAY, checks))
        assert data["block"]["sha256"] == report.block.sha256
        assert [model["name"] for model in data["models"]] == [model.name for model in report.models]
        assert len(data["gates"]) == len(checks)


def test_one_model_has_no_differences_and_one_repeat_no_floor() -> None:
    cases, cells = example.made_up({"a": lambda *_: Outcome.CORRECT}, repeats=1)
    report = example.report_of(cases, ["a"], cells, 1)
    keys = {section.key for section in sections(report, example.TODAY)}
    assert "differences" not in keys
    assert "floor" in to_markdown(report, example.TODAY)
    cases, cells = example.made_up(
        {"a": lambda *_: Outcome.CORRECT, "b": lambda at, _: Outcome.WRONG_TOOL if at < 9 else Outcome.CORRECT},
        repeats=1,
    )
    report = example.report_of(cases, ["a", "b"], cells, 1)
    assert {d.reading for d in report.differences} == {"identical", "floor unknown"}
    to_page(report, example.TODAY)


def test_what_no_case_can_show_is_not_estimable() -> None:
    cases, cells = example.made_up({"a": lambda *_: Outcome.CORRECT}, idle=0)
    report = example.report_of(cases, ["a"], cells, 3)
    assert report.models[0].rate(Outcome.SPURIOUS_CALL).value is None
    assert "not estimable" in to_markdown(report, example.TODAY)
    assert "no such cases" in to_page(report, example.TODAY)


def test_ungraded_cells_are_counted_apart() -> None:
    cases, cells = example.made_up({"a": lambda *_: Outcome.CORRECT})
    lost = [cell.model_copy(update={"grade": None, "ungraded": Ungraded.TIMEOUT}) for cell in cells[:2]]
    report = example.report_of(cases, ["a"], [*lost, *cells[3:]], 3)
    (model,) = report.models
    assert model.ungraded == {"timeout": 2, "not_run": 1}
    assert model.rate(Outcome.CORRECT).value == 1
    details = next(section for section in sections(report, example.TODAY) if section.key == "details")
    assert ("ungraded", "timeout", "2") in details.tables[0].rows


def test_a_cell_of_another_run_is_an_error() -> None:
    cases, cells = example.made_up({"a": lambda *_: Outcome.CORRECT})
    stray = cells[0].model_copy(update={"case_id": "elsewhere"})
    with pytest.raises(ValueError, match="'elsewhere'"):
        example.report_of(cases, ["a"], [*cells, stray], 3)


def test_several_calls_are_matched_before_they_are_called_confused() -> None:
    case = Case("both", id="both", expected_calls=({"tool": "a"}, {"tool": "b"}))
    grade = Grade(outcome=Outcome.WRONG_TOOL, called=("c", "a"))
    report = example.report_of([case], ["m"], [Cell(case_id="both", model="m", repeat=0, grade=grade)], 1)
    assert [(pair.wanted, pair.called, pair.counts) for pair in report.confusion] == [("b", "c", {"m": 1})]


def test_of_very_many_models_a_page_shows_what_it_has_room_for() -> None:
    models = {f"model-{at}": lambda at, _, m=at: Outcome(OUTCOMES[0 if at <= m else 5]) for at in range(9)}
    cases, cells = example.made_up(models, wanting=12, idle=0, repeats=2)
    report = example.report_of(cases, list(models), cells, 2)
    assert len(report.differences) == 9 * 8 // 2 * 5
    page = to_page(report, example.TODAY)
    assert "<h1>Tool calls of 9 models</h1>" in page
    assert "The first 60 are shown" in page
    assert page.count("model-8 ") < 60
    (section,) = [section for section in sections(report, example.TODAY) if section.key == "differences"]
    assert len(section.tables[0].rows) == 60
    said = next(section for section in sections(report, example.TODAY) if section.key == "findings").lines
    assert not any(line.startswith("model-8") for line in said)
    assert "pairs of models differ by more than noise" in "".join(said)
    assert len(json.loads(to_json(report, example.TODAY))["differences"]) == len(report.differences)


def test_a_p_value_is_never_nought() -> None:
    show = Show(example.report().block, example.TODAY)
    assert show.chance(0.0001) == "< 0.001"
    assert show.chance(0.0317) == "0.032"
    assert show.points(-0.0001) == "+0.0"
