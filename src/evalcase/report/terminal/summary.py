"""What came of a run, for people: what went wrong in full, then the verdict, and what to do next.

Everything here is a function of the results, the width and the style.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalcase.model.totals import Totals
from evalcase.report.terminal.cells import cut, measure, pad, wrap
from evalcase.report.terminal.failures import INDENT, colour_of, name_lines
from evalcase.report.terminal.progress import VERDICTS, money
from evalcase.report.terminal.statistics import TROUBLED, Gathered, Name, Row, Shown
from evalcase.report.terminal.style import Style, paint
from evalcase.text.visible import visible

_LABEL = 9
_NAME = 10
"""Cells that the name of a target has at least."""
_NARROW = 60
_MOST_REPEATS = 10
_SLOW_S = 0.01


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, as far as its results don't tell."""

    totals: Totals
    duration_s: float
    record: str
    """Its folder, as a person here would write it."""
    notice: str = ""
    """Why it is not complete."""
    next: str = ""
    """The one command that is most useful now."""


def summary_lines(gathered: Gathered, ending: Ending, width: int, style: Style) -> Iterator[str]:
    """All of it."""
    several = len(gathered.targets) > 1
    yield from _trouble_lines(gathered, ending.record, several, width, style)
    if several:
        yield from target_table(gathered.targets, width, style)
        yield ""
    yield from verdict_lines(ending, width, style)
    yield from _facts(gathered, ending, several, width, style)
    yield from ending_lines(ending, width, style)


def verdict_lines(ending: Ending, width: int, style: Style) -> Iterator[str]:
    """How many passed and how many did not, the cost and the time."""
    counts = ending.totals.cases
    parts = [
        (f"{number:,} {word}", colour_of(word, style))
        for word in VERDICTS
        if (number := getattr(counts, word))
    ]
    parts = parts or [("nothing ran", style.warning)]
    rate = counts.pass_rate
    if rate is not None:
        parts.append((f"pass rate {percent(rate)}", style.place))
    if ending.totals.cost_usd is not None:
        parts.append((money(ending.totals.cost_usd), ""))
    parts.append((_duration(ending.duration_s), ""))
    yield from _flow(parts, width, "")


def ending_lines(ending: Ending, width: int, style: Style) -> Iterator[str]:
    """Where the record is, whether it is complete, and what to do now."""
    yield from _to_copy("record", ending.record, "", width, style)
    if ending.notice:
        # It may have a path in it, too.
        yield from _to_copy("stopped", ending.notice, "", width, style)
    if ending.next:
        yield from _to_copy("next", ending.next, style.hint, width, style)


def _to_copy(label: str, text: str, colour: str, width: int, style: Style) -> Iterator[str]:
    """A path or a command: never cut, and on a line of its own if it fits only there."""
    text = visible(text)
    lead = _labelled(label, style)
    if measure(text) <= width < min(_NARROW, _LABEL + measure(text)):
        yield paint(label, style.gutter)
        lead = ""
    yield lead + paint(text, colour)


def percent(rate: float) -> str:
    """To one decimal, but 100.0% only for all and 0.0% only for none."""
    return f"{100 * rate if rate in (0, 1) else min(99.9, max(0.1, 100 * rate)):.1f}%"


def _trouble_lines(
    gathered: Gathered, record: str, several: bool, width: int, style: Style
) -> Iterator[str]:
    for verdict in TROUBLED:
        for (kind, _), shown in gathered.shown.items():
            if kind == verdict:
                yield from name_lines(shown.result, style, width, _extras(shown, several))
                yield from shown.lines
                if shown.same:
                    yield paint(_same(shown, width), style.gutter)
                yield ""
        if more := gathered.more[verdict]:
            word = paint(f"and {more:,} more {verdict}", colour_of(verdict, style))
            yield f"{word}, in {visible(record)}/journal.jsonl"
            yield ""


def _same(shown: Shown, width: int) -> str:
    more = shown.same - len(shown.named)
    names = ", ".join(shown.named) + (f" and {more:,} more" if more > 0 else "")
    return cut(f"{'':{INDENT}}the same for {names}", width)


def _extras(shown: Shown, several: bool) -> list[str]:
    """What tells a trial from others of the same case, where there are any."""
    extras = [shown.result.key.target] if several else []
    if shown.trials > 1:
        extras.append(f"{shown.trials} of its trials")
    elif shown.result.key.repeat > 1:
        extras.append(f"repeat {shown.result.key.repeat}")
    return extras


def target_table(targets: dict[str, Row], width: int, style: Style) -> Iterator[str]:
    """What came of each target, one below the other."""
    words = [word for word in VERDICTS if any(row.verdicts[word] for row in targets.values())]
    priced = any(row.cost_usd is not None for row in targets.values())
    head = ["target", *words, "pass rate", *(["cost"] if priced else []), "mean"]
    rows = [
        [
            visible(name),
            *(f"{row.verdicts[word]:,}" for word in words),
            _rate(row),
            *([money(row.cost_usd)] if priced else []),
            f"{row.busy_s / max(1, row.verdicts.total()):.2f} s",
        ]
        for name, row in targets.items()
    ]
    widths = [max(map(measure, column)) for column in zip(head, *rows, strict=True)]
    while len(widths) > 2 and _NAME + sum(widths[1:]) + 2 * len(widths[1:]) > width:
        widths.pop()  # what comes last can be done without
    widths[0] = min(widths[0], max(_NAME, width - sum(widths[1:]) - 2 * len(widths[1:])))
    yield paint(_row(head, widths), style.gutter)
    for row in rows:
        yield _row(row, widths)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = cells
    numbers = (f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=False))
    return "  ".join([pad(cut(first, widths[0]), widths[0]), *numbers])


def _rate(row: Row) -> str:
    tried = row.verdicts.total() - row.verdicts["skipped"]
    return percent(row.verdicts["passed"] / tried) if tried else "–"


def _facts(
    gathered: Gathered, ending: Ending, several: bool, width: int, style: Style
) -> Iterator[str]:
    """What else there is to know, a label and a line for each."""
    if gathered.repeats:
        yield from _fact("repeats", _repeats(gathered.repeats, several), width, style)
    slow = [each for each in gathered.slowest if each.duration_s >= _SLOW_S]
    if slow:
        said_slow = [f"{_called(each.name, several)} {each.duration_s:.2f} s" for each in slow]
        yield from _fact("slowest", said_slow, width, style)
    if gathered.input_tokens or gathered.output_tokens:
        tokens = [f"{gathered.input_tokens:,} in", f"{gathered.output_tokens:,} out"]
        yield from _fact("tokens", tokens, width, style)
    if ending.totals.cost_usd is not None and ending.totals.unpriced:
        said = f"{_number(ending.totals.unpriced, 'answer')} came without a cost"
        yield from _fact("cost", [said], width, style)


def _repeats(rates: dict[Name, tuple[int, int]], several: bool) -> list[str]:
    """The repeated cases that passed at times, the worst first; then how many never did."""
    mixed = sorted(
        ((passed / tried, name) for name, (passed, tried) in rates.items() if passed),
        key=lambda item: item[0],
    )
    said = [
        f"{_called(name, several)} passed {rates[name][0]} of {rates[name][1]}"
        for _, name in mixed[:_MOST_REPEATS]
    ]
    if more := len(mixed[_MOST_REPEATS:]):
        said.append(f"{more:,} others not always")
    if never := len(rates) - len(mixed):
        said.append(f"{_number(never, 'case')} never passed")
    return said


def _called(name: Name, several: bool) -> str:
    return f"{name.case} ({name.target})" if several else name.case


def _fact(label: str, parts: Sequence[str], width: int, style: Style) -> Iterator[str]:
    room = max(10, width - _LABEL)
    lead = _labelled(label, style)
    flowing = _flow([(cut(part, room - 1), "") for part in parts], room, "")
    for line in flowing if len(parts) > 1 else wrap(parts[0], room):
        yield lead + line
        lead = " " * _LABEL


def _labelled(label: str, style: Style) -> str:
    return paint(f"{label:<{_LABEL}}", style.gutter)


def _flow(parts: Sequence[tuple[str, str]], width: int, line: str) -> Iterator[str]:
    """Parts with commas between them, in as few lines as they fit into; none is broken."""
    room = width
    for number, (text, colour) in enumerate(parts):
        comma = "," if number < len(parts) - 1 else ""
        needed = measure(text) + len(comma) + bool(line)
        if line and needed > room:
            yield line
            line, room = "", width
        line += (" " if line else "") + paint(text, colour) + comma
        room -= needed
    yield line


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours} h {minute:02} min" if hours else f"{minutes} min {second:02} s"
