#!/usr/bin/env python3
"""A made-up travel desk, asked for the picture of the HTML report. What it says follows from the
name of the case: it is right as often as its size allows."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Any

from evalcase import Question

FARES = {"Lisbon": 240, "Oslo": 310, "Kyoto": 980, "Lagos": 720, "Quito": 860, "Perth": 1120}
_SKILL = {"large": 88, "small": 70}
Said = tuple[list[dict[str, Any]], str]


async def large_desk(question: Question) -> dict[str, Any]:
    return await _respond(question, "large")


async def small_desk(question: Question) -> dict[str, Any]:
    return await _respond(question, "small")


async def _respond(question: Question, size: str) -> dict[str, Any]:
    id = question.case
    kind, place, number = id.split("-")
    await asyncio.sleep(0.02 + _toss(size, id, "slow") / (400 if size == "small" else 160))
    if _toss(size, id, "down") < 2:
        raise TimeoutError("the booking system did not answer")
    is_right = _toss(size, id, question.repeat) < _SKILL[size] - 12 * (kind == "refund")
    calls, text = _KINDS[kind](place, FARES[place] + 10 * int(number), is_right)
    messages = [{"role": "assistant", "content": None, "tool_calls": calls}] if calls else []
    given, said = 180 + _toss(id), 20 + len(text) // 4
    return {
        "messages": [*messages, {"role": "assistant", "content": text}],
        "usage": {"input_tokens": given, "output_tokens": said},
        "cost_usd": (given + 4 * said) * (2e-6 if size == "large" else 3e-7),
    }


def _toss(*words: object) -> int:
    """A number below 100."""
    return int(sha256(" ".join(map(str, words)).encode()).hexdigest(), 16) % 100


def _tell_fare(place: str, eur: int, is_right: bool) -> Said:
    asked = {"to": place, "month": "May" if is_right else "March"}
    call = {"tool": "search_flights", "input": asked, "output": {"eur": eur}}
    told = eur if is_right else eur - 60
    return [call], f"A return flight to {place} in May is {told} euros, hand luggage included."


def _refund(place: str, eur: int, is_right: bool) -> Said:
    calls: list[dict[str, Any]] = [{"tool": "find_booking", "input": {"place": place}}]
    calls += [{"tool": "check_policy", "input": {"fare": "flex"}}] if is_right else []
    calls += [{"tool": "refund", "input": {"eur": eur}}]
    days = "five" if is_right else "thirty"
    said = f"I have cancelled your trip to {place}; {eur} euros will be back on your card within"
    return calls, f"{said} {days} days."


def _tell_papers(place: str, eur: int, is_right: bool) -> Said:
    del eur
    more = "." if is_right else ", and a visa."
    return [], f"For {place} you need a passport that is valid for six more months{more}"


_KINDS = {"fare": _tell_fare, "refund": _refund, "entry": _tell_papers}
