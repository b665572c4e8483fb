"""The page in a real browser: what a model writes runs nothing there, and nothing is fetched. Needs a Chromium."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from recovery.grading.report import to_page
from tests.grading import worked_example as example
from tests.grading.test_report import Page, hostile_report

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(NAMES)} is installed")


def browse(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def test_a_hostile_answer_runs_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(to_page(hostile_report(), example.TODAY), encoding="utf-8")
    seen = Page(browse(page, "--dump-dom").stdout)
    written = Page(page.read_text(encoding="utf-8"))
    # What the browser made of the page is what was written, tag for tag: nothing was opened, nothing was added.
    assert [tag for tag, _ in seen.tags if tag != "tbody"] == [tag for tag, _ in written.tags if tag != "tbody"]
    assert "<script>alert(1)</script>" in seen.text


def test_a_script_that_got_in_would_not_run(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = to_page(example.report(), example.TODAY)
    script = "<script>document.title = 'ran'</script><img src=x onerror=\"document.title = 'ran'\">"
    page.write_text(text.replace("<main>", f"<main>{script}"), encoding="utf-8")
    assert "<title>ran</title>" not in browse(page, "--dump-dom").stdout
    # Without the page's policy it does: the test can fail.
    page.write_text(page.read_text(encoding="utf-8").replace("default-src 'none';", ""), encoding="utf-8")
    assert "<title>ran</title>" in browse(page, "--dump-dom").stdout


@pytest.mark.parametrize("width", [420, 1100])
def test_a_picture_of_the_page_is_no_blank(tmp_path: Path, width: int) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(to_page(example.report(), example.TODAY), encoding="utf-8")
    browse(page, f"--window-size={width},3000", f"--screenshot={picture}")
    # A blank page of this size has some kilobytes.
    assert picture.stat().st_size > 60_000
