"""A run while it goes on: a status line on a terminal, lines of a log elsewhere, or silence.

Only one thread draws, ten times a second at most: the event loop never waits for the terminal, and
a trial costs no more than a few additions.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TextIO

from msgspec import Struct, field
from rich.cells import cell_len

from evalcase.report.details import headline
from evalcase.report.figures import write_money
from evalcase.report.highlights import DecidedCase, Highlights
from evalcase.report.terminal import Screen, cut, hang_text
from evalcase.types.case import Case
from evalcase.types.question import TrialKey
from evalcase.types.result import VERDICTS, Result, Trial, Verdict
from evalcase.util.environment import monotonic
from evalcase.util.text import make_visible

MOST_LINES = 100
"""Failures that are named while it runs."""
_WINDOW_S, _WINDOW_DONE = 30.0, 20
"""The speed is of the last seconds, and of no fewer trials than this."""
_MOST_MARKS = 3600
_BAR = range(8, 31)
"""Cells that the bar may have."""
_PERIOD_S = 0.1
_QUICK_S = 0.5
"""A run that is over sooner shows no status line, and leaves failures to its summary."""
_MARGIN = 3
"""Cells that stay free behind the status line: a terminal echoes `^C` there, and must not fold."""
_LOG_WIDTH = 120
_SHORTEST_S, _LONGEST_S = 2.0, 30.0
"""Seconds between two lines of a log on progress: at least, and at most."""
_TO_END, _BELOW = "\x1b[K", "\x1b[J"
_COLOUR = re.compile(r"(\x1b\[[0-9;:]*m)")
_LONGEST_LINE = 100_000


class Progress(Struct):
    """Counts of a run. It holds no trials, however many there are."""

    planned: int = 0
    """Trials, as the next two."""
    running: int = 0
    done: int = 0
    verdicts: Counter[Verdict] = field(default_factory=lambda: Counter(dict.fromkeys(VERDICTS, 0)))
    """Of cases, each when its last trial is done. All keys are there from the start, so that
    another thread may read it at any time."""
    cost_usd: float | None = None

    @property
    def total(self) -> int:
        """Cases that were edited in between may make it more than was planned."""
        return max(self.planned, self.done + self.running)

    def finish(self, result: Result, verdict: Verdict | None) -> None:
        """A trial is done, and with it its case if that has a verdict now."""
        if self.running:
            self.running -= 1
        self.done += 1
        if verdict is not None:
            self.verdicts[verdict] += 1
        answer = result.answer
        if answer is not None and answer.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + answer.cost_usd


class Speed:
    """Trials per second of late."""

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


def status_parts(
    progress: Progress, speed: Speed, now: float, notice: str
) -> list[tuple[str, str]]:
    """The parts of the status line with their styles, the most important first."""
    noun = " trials" if 0 < progress.verdicts.total() < progress.done else ""
    parts = [(f"{progress.done}/{progress.total}{noun}", "")]
    parts += [(f"{count} {word}", word) for word in VERDICTS if (count := progress.verdicts[word])]
    rate = speed.per_s(now, progress.done)
    left = progress.total - progress.done
    rest = [
        notice,
        write_clock(now - speed.begun),
        f"{write_span(left / rate)} left" if rate and left else "",
        f"{progress.running} running" if progress.running else "",
        write_money(progress.cost_usd) if progress.cost_usd else "",
        _per_time(rate) if rate else "",
    ]
    return parts + [(part, "") for part in rest if part]


def status_line(
    progress: Progress, speed: Speed, now: float, screen: Screen, notice: str = ""
) -> str:
    """The line of the live view: behind a bar as many parts as fit."""
    parts = status_parts(progress, speed, now, notice)
    while len(parts) > 1 and _cells_of(parts) > screen.width:
        parts.pop()
    line = " · ".join(screen.paint(text, style) for text, style in parts)
    room = min(screen.width - _cells_of(parts) - 1, _BAR.stop - 1)
    if room >= _BAR.start:
        return f"{_draw_bar(progress, room, screen)} {line}"
    return line if _cells_of(parts) <= screen.width else cut(parts[0][0], screen.width)


def _cells_of(parts: list[tuple[str, str]]) -> int:
    return cell_len(" · ".join(text for text, _ in parts))


def plain_line(progress: Progress, speed: Speed, now: float) -> str:
    """The same for a log: no bar, no colours, and no width to fit."""
    (count, _), *rest = status_parts(progress, speed, now, "")
    share = f"{count} ({progress.done / max(1, progress.total):.0%})"
    return " · ".join([share, *(text for text, _ in rest)])


def _draw_bar(progress: Progress, width: int, screen: Screen) -> str:
    done = width * progress.done // max(1, progress.total)
    decided = progress.verdicts.total()
    bad = decided - progress.verdicts["passed"] - progress.verdicts["skipped"]
    # Even one that did not pass among thousands is seen.
    red = min(done, max(1, done * bad // max(1, decided))) if bad else 0
    worst = "error" if progress.verdicts["failed"] else "warning"
    return (
        screen.paint("━" * (done - red), "good")
        + screen.paint("━" * red, worst)
        + screen.paint("─" * (width - done), "dim")
    )


def _per_time(rate: float) -> str:
    if rate >= 10:
        return f"{rate:.0f}/s"
    return f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min"


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


class RunView:
    """Listens to a run in the thread of the event loop; counts, and shows nothing."""

    is_live = False
    """Whether it draws on a terminal, which has to be left as it was."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.highlights = Highlights()
        """Of the results that it got; trials that were finished before are not among them."""
        self.name_target = False
        self.notice = ""
        """A word on what else is going on."""
        self._named = 0
        self._tagged: dict[TrialKey, Case] = {}
        """Running cases that have tags: results don't hold these."""

    def expect(self, trials: Mapping[str, int]) -> None:
        """How many trials there are of each target."""
        self.progress.planned = sum(trials.values())
        self.name_target = len(trials) > 1

    def resumed(self, finished: int) -> None:
        """So many of the trials were finished before."""
        self.progress.planned = max(0, self.progress.planned - finished)

    def begin(self) -> None: ...

    def started(self, trial: Trial) -> None:
        self.progress.running += 1
        if "tags" in trial.case._data:
            self._tagged[trial.key] = trial.case

    def finished(self, result: Result) -> None:
        case = self._tagged.pop(result.key, None) if self._tagged else None
        decided = self.highlights.add(result, case)
        self.progress.finish(result, decided and decided.outcome.verdict)
        if decided is None or decided.outcome.verdict not in ("failed", "errored"):
            return
        self._named += 1
        if self._named <= MOST_LINES:
            self.name(decided)
        elif self._named == MOST_LINES + 1:
            self.say("further failures are only counted here; the record has all of them")

    def name(self, decided: DecidedCase) -> None:
        """Say that a case failed or errored."""

    def say(self, line: str) -> None:
        """Say something that is worth a line of its own."""

    def tell(self, text: str) -> None:
        """Say what may hold names and texts of anyone."""
        self.say(make_visible(text))

    def warn(self, text: str) -> None:
        self.tell(f"warning: {text}")

    def close(self) -> None:
        """The run has ended. It may be called twice."""


class QuietView(RunView):
    """Tells warnings only: none is ever swallowed."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out = out

    def started(self, trial: Trial) -> None: ...

    def finished(self, result: Result) -> None: ...

    def tell(self, text: str) -> None:
        with suppress(OSError):  # a log that can't be written must not end the run
            self._out.write(make_visible(text) + "\n")


class _Ticker:
    """Calls something again and again in a thread of its own, also while the event loop is busy."""

    def __init__(self, action: Callable[[], None], period_s: float) -> None:
        self._action = action
        self._period_s = period_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="evalcase-view", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Return when it has stopped, unless it hangs."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def _tick(self) -> None:
        while not self._stopped.wait(self._period_s):
            self._action()


class LogView(RunView):
    """A line for each tenth that is done, or after half a minute without one; no control codes.

    `same` says that the summary goes to the same log: failures are named there.
    """

    def __init__(
        self, out: TextIO, clock: Callable[[], float] = monotonic, *, same: bool = False
    ) -> None:
        super().__init__()
        self.same = same
        self.out = out
        self.clock = clock
        self.speed = Speed(0.0)
        self._said_at = 0.0
        self._tenths = 0
        self._next = 0
        """How many trials are done when another tenth may be."""
        self._ticker = _Ticker(self.tick, 1.0)

    def begin(self) -> None:
        self.speed = Speed(self.clock())
        self._said_at = self.speed.begun
        self._ticker.start()

    def finished(self, result: Result) -> None:
        super().finished(result)
        done, total = self.progress.done, self.progress.total
        if done < self._next:
            return
        if 10 * done // total > self._tenths and done < total:
            self._tenths = 10 * done // total
            if self.clock() - self._said_at >= _SHORTEST_S:
                self._report()
        self._next = -((self._tenths + 1) * total // -10)

    def tick(self) -> None:
        """Once a second."""
        now = self.clock()
        self.speed.mark(now, self.progress.done)
        if now - self._said_at >= _LONGEST_S:
            self._report()

    def name(self, decided: DecidedCase) -> None:
        if not self.same:
            outcome, result = decided
            screen = Screen(_LOG_WIDTH)
            self.say(headline(result, outcome, screen, name_target=self.name_target))

    def say(self, line: str) -> None:
        with suppress(OSError):  # a log that can't be written must not end the run
            self.out.write(make_visible(line) + "\n")
            self.out.flush()

    def close(self) -> None:
        self._ticker.stop()

    def _report(self) -> None:
        self._said_at = now = self.clock()
        self.say(plain_line(self.progress, self.speed, now))


class LiveView(RunView):
    """One line on a terminal that is drawn again and again, and above it what has gone wrong. The
    cursor is never hidden, so that a killed run leaves the terminal as it was.

    `same` says that the summary will be shown there, too.
    """

    is_live = True

    def __init__(
        self, out: TextIO, columns: Callable[[], int], *, colour: bool, same: bool = True,
        clock: Callable[[], float] = monotonic,
    ) -> None:  # fmt: skip
        super().__init__()
        self.out = out
        self.columns = columns
        self.colour = colour
        self.same = same
        self.clock = clock
        self.active = False
        self.speed = Speed(0.0)
        self._lines: deque[tuple[str, bool]] = deque()
        """Lines to be written above the status line, and whether the summary will say them."""
        self._status = ""
        self._cells = 0
        self._spoke = False
        self._ticker = _Ticker(self.draw, _PERIOD_S)

    def begin(self) -> None:
        self.speed = Speed(self.clock())
        self.active = True
        self._ticker.start()

    def name(self, decided: DecidedCase) -> None:
        outcome, result = decided
        screen = Screen(self.columns() - 1, colour=self.colour)
        line = headline(result, outcome, screen, name_target=self.name_target)
        self._lines.append((line, self.same))

    def say(self, line: str) -> None:
        self.write_line(make_visible(line))

    def tell(self, text: str) -> None:
        for row in hang_text(make_visible(text), self.columns() - 1):
            self.write_line(row)

    def write_line(self, line: str) -> None:
        """Put a line above the status line; without one, it is simply written."""
        if self.active:
            self._lines.append((line, False))
        else:
            self._write(line + "\n")

    def draw(self) -> None:
        """Write what is new, if anything is and the terminal is ours."""
        now, columns = self.clock(), self.columns()
        self.speed.mark(now, self.progress.done)
        if not self._status and now - self.speed.begun < _QUICK_S:
            return
        status = self._status_line(now, columns, colour=self.colour)
        if (status == self._status and not self._lines) or _in_background(self.out):
            return
        self._write(self._to_start(columns) + self._new_lines() + status + _TO_END)
        self._status = status
        self._cells = cell_len(self._status_line(now, columns, colour=False))

    def close(self) -> None:
        """Take the status line away, and leave a blank line below what was said."""
        if self.active:
            self.active = False
            self._ticker.stop()
            last = self._to_start(self.columns()) + self._new_lines() + _BELOW
            self._write(last + "\n" if self._spoke else last)

    def _status_line(self, now: float, columns: int, *, colour: bool) -> str:
        screen = Screen(columns - _MARGIN, colour=colour)
        return status_line(self.progress, self.speed, now, screen, self.notice)

    def _to_start(self, columns: int) -> str:
        """Back to where the status line began. A terminal that got narrower has folded it."""
        folded = max(0, self._cells - 1) // max(1, columns)
        return f"\r\x1b[{folded}A{_BELOW}" if folded else "\r"

    def _new_lines(self) -> str:
        text = ""
        while self._lines:
            line, said_again = self._lines.popleft()
            if said_again and not self.active and not self._status:
                continue  # the run was quick: the summary is next
            self._spoke = True
            text += f"{line}{_TO_END}\n"
        return text

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a terminal that is gone must not end the run
            self.out.write(text)
            self.out.flush()


def _in_background(out: TextIO) -> bool:
    """Whether the terminal belongs to another job just now, as after Ctrl-Z and `bg`."""
    try:
        return os.tcgetpgrp(out.fileno()) != os.getpgrp()
    except (OSError, ValueError):
        return False


class StderrProxy:
    """Stands in for standard error while a status line is drawn: what user code prints goes above
    that line, whole line by whole line."""

    def __init__(self, stream: TextIO, view: LiveView) -> None:
        self.stream = stream
        self._view = view
        self._begun: dict[int, str] = {}
        """Lines that have no end yet, by thread."""

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        if not self._view.active:
            return self.stream.write(text)
        thread = threading.get_ident()
        *lines, rest = (self._begun.pop(thread, "") + text).replace("\r\n", "\n").split("\n")
        for line in lines:
            self._view.write_line(tame_line(line))
        # A progress bar writes over itself again and again: only the last of it counts.
        rest = rest[max(0, rest.rfind("\r", 0, -1)) :][-_LONGEST_LINE:]
        if rest:
            self._begun[thread] = rest
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        """The stream is lent: user code must not close it."""

    def finish(self) -> None:
        """Write what has no end yet."""
        while self._begun:
            _, rest = self._begun.popitem()
            self._view.write_line(tame_line(rest))


def tame_line(line: str) -> str:
    """A line as the terminal would show it: colours stay, other control codes are spelt."""
    line = line.rstrip("\r").rpartition("\r")[2].expandtabs()
    parts = _COLOUR.split(line)
    shown = "".join(part if number % 2 else make_visible(part) for number, part in enumerate(parts))
    return f"{shown}\x1b[0m" if len(parts) > 1 else shown
