"""Inputs that are an answer: a few bytes that choose the policy and the tools, then the text.

The choice stands in front and has a fixed length, so that libFuzzer's own mutations and the words of the dictionary
meet the text as it is.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final, NamedTuple

import fuzz.instrumented  # noqa: F401
from recovery import Allowance, Limits, Policy, Toolset
from tests.cases import VECTORS, Case, read
from tests.strategies import TOOLS

# Three bytes for the allowances, one for flags and the cuts, two for the tools.
HEAD: Final = 6
# Seeds are the vectors up to this length.
LONGEST_SEED: Final = 1024
# Limits that a short answer meets; others have the usual ones.
LIMITS: Final = {"characters": 200, "depth": 3, "calls": 2, "values": 6, "digits": 12, "name": 16}

_ALLOWANCES: Final = tuple(Allowance)


class Offer(NamedTuple):
    """Tools as a vector gives them."""

    tools: list[Any]
    aliases: dict[str, str] | None


class Answer(NamedTuple):
    """What an input is read as. `pieces` is the text as a stream gets it."""

    text: str
    offer: Offer
    toolset: Toolset
    policy: Policy
    reasoning_open: bool
    by_call: bool
    longest: int

    @property
    def pieces(self) -> list[str]:
        """The cuts depend on the text alone, so that the words of the dictionary stay whole in the input."""
        pieces, at = [], 0
        while at < len(self.text):
            size = 1 + (ord(self.text[at]) + at) % self.longest
            pieces.append(self.text[at : at + size])
            at += size
        return pieces


def read_answer(data: bytes) -> Answer | None:
    """None where the input is too short."""
    if len(data) < HEAD:
        return None
    offered = _offered()
    _, offer, toolset = offered[bisect_right(offered, int.from_bytes(data[4:HEAD], "big"), key=itemgetter(0)) - 1]
    return Answer(
        text=text_of(data[HEAD:]),
        offer=offer,
        toolset=toolset,
        policy=_policy(int.from_bytes(data[:3], "big"), LIMITS if data[3] & 4 else {}),
        reasoning_open=bool(data[3] & 1),
        by_call=bool(data[3] & 2),
        longest=1 + data[3] // 32,
    )


def text_of(data: bytes) -> str:
    """Any bytes as text: what is no UTF-8 becomes lone surrogates, which are text too."""
    return data.decode("utf-8", "surrogateescape")


def answer_seeds() -> Iterator[bytes]:
    """The vectors, each under its first policy, with its tools."""
    seen = set()
    for case in read(VECTORS):
        if case.row["id"] not in seen and len(case.text) <= LONGEST_SEED:
            seen.add(case.row["id"])
            yield _head(case) + case.text.encode("utf-8", "surrogatepass")


def text_seeds() -> Iterator[bytes]:
    """The texts of the vectors alone."""
    texts = {case.text for case in read(VECTORS) if len(case.text) <= LONGEST_SEED}
    return (text.encode("utf-8", "surrogatepass") for text in sorted(texts))


def _head(case: Case) -> bytes:
    mask = sum(1 << bit for bit, allowance in enumerate(_ALLOWANCES) if allowance in case.policy.allow)
    return mask.to_bytes(3, "big") + b"\x40" + _key(_offer(case)).to_bytes(2, "big")


def _offer(case: Case) -> Offer:
    return Offer(case.row["tools"], case.row.get("aliases"))


def _key(offer: Offer) -> int:
    """By what is offered and not by number, so that an input means the same when vectors are added."""
    digest = blake2b(json.dumps(offer).encode(), digest_size=2).digest()
    return max(1, int.from_bytes(digest, "big"))


@cache
def _offered() -> list[tuple[int, Offer, Toolset]]:
    """What the vectors offer, by key; those of the property tests, which the dictionary knows, have the key 0."""
    tools = [
        {"name": tool.name, "parameters": tool.parameters} if tool.parameters else tool.name for tool in TOOLS.tools
    ]
    offers = {0: Offer(tools, dict(TOOLS.aliases))} | {_key(_offer(case)): _offer(case) for case in read(VECTORS)}
    return [(key, offer, Toolset(offer.tools, aliases=offer.aliases)) for key, offer in sorted(offers.items())]


def _policy(mask: int, limits: dict[str, int]) -> Policy:
    return Policy([allowance for bit, allowance in enumerate(_ALLOWANCES) if mask >> bit & 1], Limits(**limits))


def text_answer(data: bytes) -> Answer:
    """An input that is the text alone, as the targets read it that need no policy: strict, the usual tools."""
    _, offer, toolset = _offered()[0]
    return Answer(text_of(data), offer, toolset, Policy.strict(), reasoning_open=False, by_call=False, longest=1)
