"""What a gateway logs of its answers is what `recovery replay` reads, with the same outcome."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner
from hypothesis import given

from recovery import Policy, Toolset, recover
from recovery.cli import main
from recovery.gateways.log import Reading
from tests.strategies import TOOLS, answers, examples

TIDE = {"name": "tide", "description": "low water", "parameters": {"properties": {"port": {"type": "string"}}}}


def replayed(readings: list[Reading], folder: Path, *options: str) -> list[dict[str, object]]:
    log, out = folder / "log.jsonl", folder / "out.jsonl"
    log.write_text("".join(json.dumps(reading.to_row()) + "\n" for reading in readings), encoding="utf-8")
    done = CliRunner().invoke(main, ["replay", str(log), "--out", str(out), *options])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_a_log_of_readings_is_replayed(tmp_path: Path) -> None:
    tools = Toolset([TIDE, "berth", "wipe"], aliases={"Ebb!": "tide"}, namespaces=["api"], never={"wipe"})
    readings = [
        Reading(answer, tools, recover(answer, tools), model)
        for answer, model in [
            ('tide("Arbo")', "m"),
            ("api.berth()", None),
            ("functions.berth()", None),
            ("[berth(), wipe()]", "m"),
            ("No call, \ud800.", "n"),
            ("berth(x=2*3)", "n"),
        ]
    ]
    rows = replayed(readings, tmp_path, "--by", "model", "--by", "reason")
    for reading, row in zip(readings, rows, strict=True):
        refusal = reading.recovery.refusal
        assert row["status"] == reading.recovery.status == reading.to_row()["status"]
        assert row["reason"] == (refusal.reason if refusal else None) == reading.to_row()["reason"]
    assert [row["reason"] for row in rows] == [None, None, "unknown_tool", "never_recovered", None, "operator"]


def test_another_policy_over_the_same_log(tmp_path: Path) -> None:
    answer = "One moment.\ntide()"
    reading = Reading(answer, Toolset(["tide"]), recover(answer, ["tide"]), None)
    assert reading.to_row()["reason"] == "not_allowed"
    (row,) = replayed([reading], tmp_path, "--policy", "lenient")
    assert row["status"] == "recovered"


@examples(100)
@given(answers)
def test_a_row_holds_all_that_a_reading_takes(answer: str) -> None:
    result = recover(answer, TOOLS, policy=Policy.lenient())
    row = json.loads(json.dumps(Reading(answer, TOOLS, result, "m").to_row()))
    tools = Toolset(row["tools"], aliases=row["aliases"], namespaces=row["namespaces"], never=row["never"])
    assert tools.tools == TOOLS.tools
    again = recover(row["text"], tools, policy=Policy.lenient())
    assert again == result
    assert row["used"] == sorted(again.used)
