"""How far a run has come: counts, speed and time left in; one line of a given width out."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from functools import partial
from math import floor, log10

from msgspec import Struct, field

from evalcase.report.terminal.style import PLAIN, Style, colour_of, paint_text
from evalcase.types.result import VERDICTS, Result, Verdict

_SIGNS = {"passed": "✓", "failed": "✗", "errored": "!", "ungraded": "?", "skipped": "○"}
_WINDOW_S, _WINDOW_DONE = 30.0, 20
"""The speed is taken over the last seconds, and over no fewer trials than this."""
_MOST_MARKS = 3600
_BAR = range(8, 31)
"""Cells that the bar may have."""


def _no_verdicts() -> Counter[Verdict]:
    return Counter(dict.fromkeys(VERDICTS, 0))


class Progress(Struct):
    """What is known while a run goes on. It holds no trials, however many there are."""

    planned: int = 0
    """Trials, as the next two."""
    running: int = 0
    done: int = 0
    verdicts: Counter[Verdict] = field(default_factory=_no_verdicts)
    """Of cases, each when its last trial is done. All of them are there from the start, so that
    another thread may add them up at any time."""
    cost_usd: float | None = None

    @property
    def total(self) -> int:
        """Cases that were edited in between may make it more than was planned."""
        return max(self.planned, self.done + self.running)

    def start(self) -> None:
        self.running += 1

    def finish(self, result: Result, verdict: Verdict | None) -> None:
        """A trial is done, and with it its case, if that has a verdict now."""
        if self.running:
            self.running -= 1
        self.done += 1
        if verdict is not None:
            self.verdicts[verdict] += 1
        answer = result.answer
        if answer is not None and answer.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + answer.cost_usd


class Speed:
    """Trials per second of late, from marks that are set while time goes by."""

    def __init__(self, now: float) -> None:
        self.begun = now
        self._marks: deque[tuple[float, int]] = deque([(now, 0)], maxlen=_MOST_MARKS)

    def mark(self, now: float, done: int) -> None:
        """Remember, about once a second, how many are done."""
        marks = self._marks
        if now - marks[-1][0] >= 1.0:
            marks.append((now, done))
        while (
            len(marks) > 2 and now - marks[1][0] >= _WINDOW_S and done - marks[1][1] >= _WINDOW_DONE
        ):
            marks.popleft()

    def per_s(self, now: float, done: int) -> float | None:
        """None before it means something: a few trials, over a few seconds."""
        then, before = self._marks[0]
        spent, made = now - then, done - before
        return made / spent if spent >= 2 and made >= 3 else None


def status_line(
    progress: Progress, speed: Speed, now: float, width: int, style: Style, notice: str = ""
) -> str:
    """The line of the live view: all of it where it fits, else what tells most."""
    from evalcase.report.terminal.cells import cut_text

    count = f"{progress.done}/{progress.total}"
    signs = " ".join([count, *_list_verdicts(progress, style, long=False)])
    rest = _list_rest(progress, speed, now, notice)
    fits = partial(_fit_parts, progress, width, style)
    whole = fits([count, *_list_verdicts(progress, style, long=True), *rest], " · ")
    least = len(rest) - 2  # cost and rate make room for the bar; the others don't
    with_bar = (fits([signs, *rest[:end]], "  ") for end in range(len(rest), least - 1, -1))
    bare = (_join_bare([signs, *rest[:end]], width, style) for end in range(len(rest), -1, -1))
    return next(line for line in (whole, *with_bar, *bare, cut_text(count, width)) if line)


def plain_line(progress: Progress, speed: Speed, now: float) -> str:
    """The same for a log: no bar, no colours, and no width to fit."""
    share = f"{progress.done}/{progress.total} ({progress.done / max(1, progress.total):.0%})"
    verdicts = _list_verdicts(progress, PLAIN, long=True)
    return " · ".join([share, *verdicts, *_list_rest(progress, speed, now, "")])


def _list_rest(progress: Progress, speed: Speed, now: float, notice: str) -> list[str]:
    rate = speed.per_s(now, progress.done)
    left = progress.total - progress.done
    return [
        part
        for part in (
            notice,
            write_clock(now - speed.begun),
            f"{write_span(left / rate)} left" if rate and left else "",
            f"{progress.running} running" if progress.running else "",
            write_money(progress.cost_usd) if progress.cost_usd else "",
            per_time(rate) if rate else "",
        )
        if part
    ]


def _fit_parts(
    progress: Progress, width: int, style: Style, parts: Sequence[str], between: str
) -> str | None:
    """The parts behind a bar; None where there is no room for both."""
    line = between.join(parts)
    room = width - _measure_width(line, style) - 1
    if room < _BAR.start:
        return None
    return f"{draw_bar(progress, min(room, _BAR.stop - 1), style)} {line}"


def _join_bare(parts: Sequence[str], width: int, style: Style) -> str | None:
    line = "  ".join(parts)
    return line if _measure_width(line, style) <= width else None


def _measure_width(text: str, style: Style) -> int:
    from evalcase.report.terminal.cells import measure_text

    for start in {*style, "\x1b[0m"} - {""}:
        text = text.replace(start, "")
    return measure_text(text)


def _list_verdicts(progress: Progress, style: Style, long: bool) -> list[str]:
    counts = [(word, progress.verdicts[word]) for word in VERDICTS]
    return [
        paint_text(f"{count} {word}" if long else f"{_SIGNS[word]}{count}", colour_of(word, style))
        for word, count in counts
        if count
    ]


def draw_bar(progress: Progress, width: int, style: Style) -> str:
    """How much is done, in the colours of what came of it."""
    total = max(1, progress.total)
    done = width * progress.done // total
    decided = progress.verdicts.total()
    bad = decided - progress.verdicts["passed"] - progress.verdicts["skipped"]
    # Even one that did not pass among thousands is seen.
    red = min(done, max(1, done * bad // max(1, decided))) if bad else 0
    worst = style.error if progress.verdicts["failed"] else style.warning
    return (
        paint_text("━" * (done - red), style.good)
        + paint_text("━" * red, worst)
        + paint_text("─" * (width - done), style.gutter)
    )


def write_money(usd: float | None) -> str:
    """Dollars, small amounts to a hundredth of a cent, and less than that to its first digits."""
    if usd is None:
        return "–"
    if not usd:
        return "$0"
    if abs(usd) < 0.0001:
        return f"${usd:.{min(12, 1 - floor(log10(abs(usd))))}f}"
    return f"${usd:,.4f}" if abs(usd) < 10 else f"${usd:,.2f}"


def write_percent(rate: float) -> str:
    """To one decimal, but 100.0% only for all and 0.0% only for none."""
    return f"{100 * rate if rate in (0, 1) else min(99.9, max(0.1, 100 * rate)):.1f}%"


def per_time(rate: float) -> str:
    return (
        f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min"
    )


def write_clock(seconds: float) -> str:
    """Time that goes by: 0:07, 12:05, 1:02:33."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def write_span(seconds: float) -> str:
    """About how long: 8 s, 3 min, 2 h 10 min."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
