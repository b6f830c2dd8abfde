"""What a case asks and what an answer says: texts and tool calls, as lines below a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from evalcase.report.terminal.cells import cut_text, measure_text, pad_text, wrap_text
from evalcase.report.terminal.side_by_side import LABEL
from evalcase.report.terminal.style import Style, paint_text
from evalcase.types.case import Case
from evalcase.types.result import Result
from evalcase.types.value import JSON
from evalcase.util.answers import NO_TEXT, name_silence, shown_content
from evalcase.util.text import call_lines, content_text, name_blank

LONGEST = 4200
"""Characters of a text that are looked at: no more than what the built-in graders keep."""
_MOST_CALLS = 6


class Said(NamedTuple):
    """What is shown of messages: the last text, and every call."""

    text: str | None
    """None where nothing of it can be seen."""
    nothing: str = ""
    """What stands in its place then."""
    calls: tuple[str, ...] = ()
    """The first of them."""
    more: int = 0
    """How many calls there are beside those."""
    stderr: str = ""
    """What a program wrote beside it, where it may say why there is no text."""
    asked: str = ""
    """What was said to the target before it, in a turn of a conversation."""

    @property
    def words(self) -> list[str]:
        """The text, or what stands in its place, where its calls don't say all that there is."""
        if self.text is not None:
            return [self.text]
        return [] if self.calls and self.nothing == NO_TEXT else [self.nothing]


Heard = Mapping[int | None, Said]
"""What is said in a trial; of a conversation, by its turns. That of None is the end of it."""


class AskedText(NamedTuple):
    label: str
    text: str


def said_in(messages: Sequence[Mapping[str, JSON]], last_at: int = 0, asked: str = "") -> Said:
    """The last content of the assistant, and the calls of all messages. Of a conversation, the
    last turn is answered from `last_at` on."""
    last = messages[last_at:]
    nothing = name_silence(last)
    lines = chain.from_iterable(map(call_lines, messages))
    calls = tuple(cut_long(line) for line in islice(lines, _MOST_CALLS))
    text = None if nothing else cut_long(shown_content(last) or "")
    return Said(text, nothing, calls, sum(1 for _ in lines), asked=asked)


def result_heard(result: Result) -> Heard:
    """What is said in a trial: at its end, and in the turns that something is wrong with."""
    if result.answer is None:
        return {}
    turns = {grade.turn for grade in result.grades if grade.turn and not grade.passed}
    heard: dict[int | None, Said] = {
        number: said_in(answer.messages, 0, _said_last(said) or "")
        for number, (said, answer, _) in enumerate(result.exchanges if turns else (), 1)
        if number in turns
    }
    said = said_in(result.answer.messages, result.answer.last_at)
    return {**heard, None: said._replace(stderr=cut_long(result.answer.stderr or ""))}


def asked_in(case: Case, turn: int | None = None) -> AskedText:
    """The last thing that the user says, or what they want where a target plays them; of a
    conversation, in a turn or in the last. Where there is no user, whoever speaks last."""
    if case.user is not None:
        return AskedText("goal", cut_long(case.user.goal))
    turns = case.turns
    said = turns[turn - 1] if turn is not None and turn <= len(turns) else None
    messages = case.written_messages if said is None else said._data["input"]
    text = _said_last(messages)
    if text is not None:
        return AskedText("input", text)
    others = [(each["role"], content_text(each.get("content"))) for each in messages]
    seen = [AskedText(role, cut_long(text)) for role, text in others if text.strip()]
    return seen[-1] if seen else AskedText("input", "")


def _said_last(messages: Sequence[Mapping[str, JSON]]) -> str | None:
    """What the user says last; None where there is no user."""
    for message in reversed(messages):
        if message["role"] == "user":
            return cut_long(content_text(message.get("content")))
    return None


def cut_long(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters)"


def label_text(
    label: str, text: str, width: int, style: Style, most: int | None = None
) -> Iterator[str]:
    """A text with a label before its first row; no more rows than `most`, and how many are left."""
    room = max(10, width - LABEL)
    rows = wrap_text(name_blank(text) or text, room)
    lead = paint_text(pad_text(cut_text(label, width - 1), LABEL), style.gutter)
    if measure_text(label) >= LABEL:
        # It is whole, beside a text that has the room for it, or above it.
        lead += " "
        if len(rows) > 1 or measure_text(f"{label} {rows[0]}") > width:
            yield lead.rstrip()
            lead = " " * LABEL
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
