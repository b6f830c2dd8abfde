"""What a judge said of an answer, for people: each criterion with its verdict and reason, each
claim, and who was asked how.

It is read from the details of a grade, which may come from anybody's record: what doesn't look as
expected is shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalcase.report.terminal.said import label_text
from evalcase.report.terminal.style import Style
from evalcase.util.text import as_json

DRAWN = ("protocol", "votes", "criteria", "claims", "neutralised", "template")
"""The details that are shown here."""
_TIMES = {2: "twice", 3: "three times"}


def is_judged(details: Mapping[str, Any]) -> bool:
    """Whether details are those of a judge."""
    return str(details.get("protocol", "")).startswith("judge/")


def judged_lines(details: Mapping[str, Any], width: int, style: Style) -> Iterator[str]:
    """The lines of a grade below its reason."""
    for each in _read_items(details, "criteria"):
        yield from _criterion_lines(each, width, style)
    for each in _read_items(details, "claims"):
        text = f"{each.get('claim')}\n{each.get('reason')}"
        yield from label_text(_write_word(each.get("verdict")), text, width, style)
    votes = _read_items(details, "votes")
    for vote in votes:
        yield from label_text("judge", _describe_vote(vote), width, style)
        if len(votes) > 1:
            yield from _said_lines(vote, width, style)
    broken = details.get("neutralised")
    if isinstance(broken, int):
        what = "control token was" if broken == 1 else "control tokens were"
        yield from label_text("", f"{broken} {what} neutralised in what it was shown", width, style)
    if "template" in details:
        yield from label_text("template", str(details["template"]), width, style)


def _read_items(details: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = details.get(name)
    items = value if isinstance(value, list) else []
    return [each if isinstance(each, dict) else {"reason": as_json(each)} for each in items]


def _criterion_lines(each: Mapping[str, Any], width: int, style: Style) -> Iterator[str]:
    more = []
    if each.get("weight", 1.0) != 1.0:
        more.append(f"weight {_write_number(each['weight'])}")
    if each.get("required"):
        more.append("required")
    if isinstance(each.get("votes"), dict):
        more.append(
            ", ".join(f"{count} × {_write_word(name)}" for name, count in each["votes"].items())
        )
    told = f" ({'; '.join(more)})" if more else ""
    text = f"{each.get('id')}: {each.get('text')}{told}\n{each.get('reason')}"
    yield from label_text(_write_word(each.get("verdict")), text, width, style)


def _said_lines(vote: Mapping[str, Any], width: int, style: Style) -> Iterator[str]:
    """What one of several votes was."""
    said = [
        f"{each.get('id')} {_write_word(each.get('verdict'))}: {each.get('reason')}"
        for each in _read_items(vote, "criteria")
    ]
    said += [
        f"{_write_word(each.get('verdict'))}: {each.get('claim')}"
        for each in _read_items(vote, "claims")
    ]
    if said:
        yield from label_text("", "\n".join(said), width, style)


def _describe_vote(vote: Mapping[str, Any]) -> str:
    model, attempts = vote.get("model"), vote.get("attempts")
    told = [f"{vote.get('judge')} ({model})" if model is not None else str(vote.get("judge"))]
    if isinstance(attempts, int) and attempts > 1:
        told.append(f"asked {_TIMES.get(attempts, f'{attempts} times')}")
    if "mode" in vote:
        told.append(f"by {_write_word(vote['mode'])}")
    if vote.get("cached"):
        told.append("from the cache")
    if "message" in vote:
        told.append(str(vote["message"]))
    return ", ".join(told)


def _write_word(name: object) -> str:
    return str(name).replace("_", " ")


def _write_number(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
