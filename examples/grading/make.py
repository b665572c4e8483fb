"""Make answers.jsonl: what three invented models say to cases.jsonl, three times each, the same on every machine.

    python examples/grading/make.py

What is built in, and what the report must find:

- `petrel` writes most of its calls as text: in shapes that recovery reads, and in some that it refuses.
- `auk` often answers without a call.
- `tern` takes `berth_find` and `berth_book` for each other: their descriptions say nearly the same.
- `auk` and `tern` are correct in shares two points apart, which is noise.
- The case `tide-fortnight` expects ten days where it asks for fourteen: every model fails it, rightly.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MODELS = ("petrel", "auk", "tern")
REPEATS = 3
# Found by trying: the first by which `auk` and `tern` are 3 of 150 answers apart.
SEED = 0

Row = dict[str, Any]
Call = tuple[str, dict[str, Any]]


def draw(*what: object) -> float:
    """A number from 0 to 1 that these words fix."""
    digest = hashlib.sha256(json.dumps([SEED, *what]).encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64


def calls_of(case: Row) -> list[Call]:
    if "expected_calls" in case:
        return [(call["tool"], call["args"]) for call in case["expected_calls"]]
    return [(case["expected_tool"], case["expected_args"])] if "expected_tool" in case else []


def native(calls: list[Call]) -> Row:
    made = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls, 1)
    ]
    return {"message": {"role": "assistant", "content": None, "tool_calls": made}}


def written(call: Call) -> str:
    return f"{call[0]}({', '.join(f'{name}={value!r}' for name, value in call[1].items())})"


# How petrel writes its calls: what is read by default, and what is not.
def read_shapes(calls: list[Call]) -> list[str]:
    inside = ", ".join(map(written, calls))
    as_json = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls]
    return [f"[{inside}]", f"```\n[{inside}]\n```", "\n".join(f"<tool_call>{call}</tool_call>" for call in as_json)]


def refused_shapes(calls: list[Call]) -> list[str]:
    one = written(calls[0])
    name, arguments = calls[0]
    return [
        f"[{one[:-1]}",
        f"<function={name}>{json.dumps(arguments)}</function>",
        f"I will look that up.\n{one}\nOne moment, please.",
        f"{one} + {one}",
    ]


def petrel(case: Row, calls: list[Call], repeat: int) -> tuple[str, Row]:
    key = ("petrel", case["id"], repeat)
    # Some requests draw the broken shapes more than others do.
    broken = 0.7 if draw("petrel", case["id"]) < 0.35 else 0.12
    if case["id"] != "tide-fortnight" and draw(*key, "broken") < broken:
        return "no_call", {"text": pick(refused_shapes(calls), *key)}
    if draw(*key, "slip") < 0.03:
        return slip(calls, *key)
    if draw(*key, "written") < 0.75:
        return "correct", {"text": pick(read_shapes(calls), *key)}
    return "correct", native(calls)


def auk(case: Row, calls: list[Call], repeat: int) -> tuple[str, Row]:
    key = ("auk", case["id"], repeat)
    kind = draw("auk", case["id"])
    skips = 0.95 if kind < 0.18 else 0.5 if kind < 0.45 else 0.04
    if case["id"] != "tide-fortnight" and draw(*key, "skips") < skips:
        sayings = [
            "I can look that up for you. Shall I?",
            "The harbour office will know; please ask there.",
            "That depends on the day and on the port.",
        ]
        return "no_call", {"text": pick(sayings, *key)}
    return slip(calls, *key) if draw(*key, "slip") < 0.04 else ("correct", native(calls))


def tern(case: Row, calls: list[Call], repeat: int) -> tuple[str, Row]:
    key = ("tern", case["id"], repeat)
    name, arguments = calls[0]
    if name == "berth_find" and draw(*key, "confused") < 0.85:
        return "wrong_tool", native([("berth_book", arguments)])
    if name == "berth_book" and draw(*key, "confused") < 0.5:
        return "wrong_tool", native([("berth_find", {name: arguments[name] for name in ("port", "metres")})])
    return slip(calls, *key) if draw(*key, "slip") < 0.05 else ("correct", native(calls))


def slip(calls: list[Call], *key: object) -> tuple[str, Row]:
    """One of the small mistakes that every model makes."""
    name, arguments = calls[0]
    wrong = dict(arguments)
    if "day" in wrong:
        return "invalid_args", native([(name, {**wrong, "day": wrong["day"][:3]}), *calls[1:]])
    if "metres" in wrong and draw(*key, "kind") < 0.5:
        return "invalid_args", native([(name, {**wrong, "metres": str(wrong["metres"])}), *calls[1:]])
    if "metres" in wrong:
        return "valid_but_wrong", native([(name, {**wrong, "metres": wrong["metres"] + 1}), *calls[1:]])
    if "port" in wrong:
        return "valid_but_wrong", native([(name, {**wrong, "port": "Skarvik"}), *calls[1:]])
    return "valid_but_wrong", native([(name, {**wrong, "text": "please see me"}), *calls[1:]])


def no_call(model: str, case: Row, repeat: int) -> tuple[str, Row]:
    key = (model, case["id"], repeat)
    if case["id"] == "chat-dont-book" and model == "tern" and draw(*key, "eager") < 0.7:
        return "spurious_call", native([("berth_book", {"port": "Kilvik", "metres": 10})])
    if case["id"] == "chat-pizza" and model == "petrel":
        # An attempt that nobody can read: no abstention, though no call comes of it.
        return "spurious_call", {"text": '[note_to_crew(text="one pizza", urgent=True'}
    return "correct", {"text": pick(["With pleasure.", "Here is what I know of that.", "Fair winds to you."], *key)}


def pick(what: list[str], *key: object) -> str:
    return what[int(draw(*key, "shape") * len(what))]


def answer(model: str, case: Row, repeat: int) -> tuple[str, Row]:
    """The outcome that is built in, and the answer."""
    calls = calls_of(case)
    if not calls:
        return no_call(model, case, repeat)
    if case["id"] == "tide-fortnight":
        name, arguments = calls[0]
        asked = [(name, {**arguments, "days": 14})]
        return "valid_but_wrong", {"petrel": petrel, "auk": auk, "tern": tern}[model](case, asked, repeat)[1]
    return {"petrel": petrel, "auk": auk, "tern": tern}[model](case, calls, repeat)


def rows() -> Iterator[tuple[str, Row]]:
    """Each answer with the outcome that is built into it: by pass, within a pass by case, within a case by model."""
    cases = [json.loads(line) for line in (HERE / "cases.jsonl").read_text().splitlines()]
    for repeat in range(REPEATS):
        for case in cases:
            for model in MODELS:
                outcome, said = answer(model, case, repeat)
                yield outcome, {"case": case["id"], "model": model, "repeat": repeat, **said}


def main() -> None:
    made = list(rows())
    counts = Counter((row["model"], outcome) for outcome, row in made)
    apart = abs(counts["auk", "correct"] - counts["tern", "correct"])
    if apart != 3:
        raise SystemExit(f"auk and tern are {apart} answers apart, not 3 of 150: another SEED")
    (HERE / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for _, row in made))
    for model in MODELS:
        print(model, *(f"{outcome} {count}" for (name, outcome), count in sorted(counts.items()) if name == model))


if __name__ == "__main__":
    main()
