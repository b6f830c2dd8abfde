"""What a case asks and what an answer says: texts and tool calls, as lines below a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.json_value import JSON
from evalcase.model.quick_tuple import NamedTuple
from evalcase.model.result import Result
from evalcase.report.terminal.cells import cut_text, pad_text, wrap_text
from evalcase.report.terminal.side_by_side import LABEL
from evalcase.report.terminal.style import Style, paint_text
from evalcase.text.readable import call_lines, content_text
from evalcase.text.visible import name_blank

LONGEST = 4200
"""Characters of a text that are looked at: no more than what the built-in graders keep."""
_MOST_CALLS = 6


class Said(NamedTuple):
    """What is shown of messages: the last text, and every call."""

    text: str | None
    """None where there is none."""
    calls: tuple[str, ...] = ()
    """The first of them."""
    more: int = 0
    """How many calls there are beside those."""


def said_in(messages: Iterable[Mapping[str, JSON]]) -> Said:
    """The last content of the assistant, and the calls of all messages."""
    messages = list(messages)
    contents = [
        message["content"]
        for message in reversed(messages)
        if message.get("role") == "assistant" and message.get("content") is not None
    ]
    lines = chain.from_iterable(map(call_lines, messages))
    calls = tuple(_cut(line) for line in islice(lines, _MOST_CALLS))
    text = _cut(content_text(contents[0])) if contents else None
    return Said(text, calls, sum(1 for _ in lines))


def answer_said(answer: Answer | None) -> Said | None:
    return None if answer is None else said_in(answer.messages)


def result_said(result: Result) -> Said | None:
    """The same for a trial: of a conversation, in the first turn that failed where one did."""
    turn = next((grade.turn for grade in result.grades if not grade.passed), None)
    exchanges = result.exchanges if turn is not None else []
    if turn is not None and turn <= len(exchanges):
        return answer_said(exchanges[turn - 1].answer)
    return answer_said(result.answer)


def asked_in(case: Case, turn: int | None = None) -> str:
    """The last thing that the user says, or what they want where a target plays them; of a
    conversation, in a turn or in the last."""
    if case.user is not None:
        return _cut(case.user.goal)
    turns = case.turns
    said = turns[turn - 1] if turn is not None and turn <= len(turns) else None
    for message in reversed(case.written_messages if said is None else said._data["input"]):
        if message["role"] == "user":
            return _cut(content_text(message.get("content")))
    return ""


def asked_label(case: Case) -> str:
    """What stands before that."""
    return "input" if case.user is None else "goal"


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters)"


def label_text(
    label: str, text: str, width: int, style: Style, most: int | None = None
) -> Iterator[str]:
    """A text with a label before its first row; no more rows than `most`, and how many are left."""
    room = max(10, width - LABEL)
    rows = wrap_text(name_blank(text, "") or text, room)
    lead = paint_text(pad_text(cut_text(label, LABEL - 1), LABEL), style.gutter)
    # One row more costs no more than saying that it is left out.
    shown = rows if most is None or len(rows) <= most + 1 else rows[:most]
    for row in shown:
        yield (lead + row).rstrip()
        lead = " " * LABEL
    if left := len(rows) - len(shown):
        yield f"{lead}{paint_text(f'… {left:,} more lines', style.gutter)}"


def call_rows(
    calls: Sequence[str], more: int, width: int, style: Style, most: int = 3
) -> Iterator[str]:
    """Tool calls below each other, each in a few rows at most."""
    label = "calls"
    for call in calls:
        yield from label_text(label, call, width, style, most)
        label = ""
    if more:
        yield paint_text(f"{'':{LABEL}}… {more:,} more calls", style.gutter)
