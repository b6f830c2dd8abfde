"""A run while it goes on: a status line on a terminal, lines of a log elsewhere, or silence.

Only one thread draws, ten times a second: the event loop does not wait for the terminal, and a
trial costs no more than a few additions.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.control import Control
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

from evalcase.report.aggregate import Highlights
from evalcase.report.details import Telling, headline
from evalcase.report.figures import write_clock, write_money
from evalcase.report.terminal import STYLES, Screen, defuse_lines, hang_text
from evalcase.types.case import Case
from evalcase.types.result import VERDICTS, Result, Trial, Verdict
from evalcase.types.target import TrialKey
from evalcase.util.environment import monotonic
from evalcase.util.text import make_visible

MOST_LINES = 100
"""Failures that are named while it runs."""
_BAR = range(8, 31)
"""Cells that the bar may have."""
_PERIOD_S = 0.1
_QUICK_S = 0.5
"""A run that is over sooner shows no status line."""
_BRIEF_S = 5.0
"""A run that is over sooner leaves failures to its summary, which is next."""
_MARGIN = 3
"""Cells that stay free behind the status line: a terminal echoes `^C` there, and must not fold."""
_LOG_PERIOD_S, _LOG_WIDTH = 30.0, 120


class RunView:
    """Listens to a run in the thread of the event loop. By itself it shows warnings only: none is
    ever swallowed. Where it has a period, it counts results, and calls `tick` in a thread of its
    own, also while the event loop is busy."""

    period_s: float | None = None

    def __init__(
        self, out: TextIO, columns: int | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        """`columns` is how wide a warning may be; None for any width."""
        self.out = out
        self.columns = columns
        self.clock = clock
        self.planned = 0
        """Trials that are to be run now."""
        self.highlights = Highlights()
        """Of the results that it got; trials that were finished before are not among them."""
        self.name_target = False
        self.notice = ""
        """A word on what else is going on."""
        self._tagged: dict[TrialKey, Case] = {}
        """Running cases that have tags: results don't hold these."""
        self._begun = 0.0
        self._running = self._done = 0
        """Trials."""
        self._verdicts: Counter[Verdict] = Counter(dict.fromkeys(VERDICTS, 0))
        """Of cases, each when its last trial is done. All keys are there from the start, so that
        another thread may read it at any time."""
        self._cost_usd = 0.0
        self._named = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="evalcase-view", daemon=True)

    def expect(self, trials: Mapping[str, int]) -> None:
        self.planned = sum(trials.values())
        self.name_target = len(trials) > 1

    def resumed(self, finished: int) -> None:
        """So many of the trials were finished before."""
        self.planned = max(0, self.planned - finished)

    def begin(self) -> None:
        self._begun = self.clock()
        if self.period_s is not None:
            self._thread.start()

    def started(self, trial: Trial) -> None:
        self._running += 1
        if "tags" in trial.case._data:
            self._tagged[trial.key] = trial.case

    def finished(self, result: Result) -> None:
        if self.period_s is None:
            return
        case = self._tagged.pop(result.key, None) if self._tagged else None
        held = self.highlights.add(result, case)
        self._running = max(0, self._running - 1)
        self._done += 1
        self._cost_usd += (result.answer and result.answer.cost_usd) or 0.0
        if (verdict := held.outcome.verdict) is None:
            return
        self._verdicts[verdict] += 1
        self._named += verdict in ("failed", "errored")
        if verdict in ("failed", "errored") and self._named <= MOST_LINES:
            self.name(held.telling[verdict])

    def name(self, told: Telling) -> None:
        """Say that a case failed or errored, and why."""

    def say(self, line: str) -> None:
        """Say something that is worth a line of its own."""

    def tell(self, text: str) -> None:
        """Say what must be heard."""
        with suppress(OSError):  # a log that can't be written must not end the run
            lines = defuse_lines(hang_text(make_visible(text), self.columns, indent=2))
            self.out.writelines(f"{line}\n" for line in lines)
            self.out.flush()

    def warn(self, text: str) -> None:
        self.tell(f"warning: {text}")

    def tick(self) -> None: ...

    @property
    def total(self) -> int:
        """Cases that were edited in between may make it more than was planned."""
        return max(self.planned, self._done + self._running)

    def status_parts(self) -> list[tuple[str, str]]:
        """With their styles, the most important first."""
        done, counts, spent_s = self._done, self._verdicts, self.clock() - self._begun
        noun = " trials" if 0 < counts.total() < done else ""
        parts = [(f"{done}/{self.total}{noun}", "")]
        parts += [(f"{counts[word]} {word}", word) for word in VERDICTS if counts[word]]
        left = self.total - done
        # A few trials in a few seconds say nothing.
        is_known = left and spent_s >= 2 and done >= 3
        rest = [
            self.notice,
            write_clock(spent_s),
            f"{write_clock(left * spent_s / done)} left" if is_known else "",
            f"{self._running} running" if self._running else "",
            write_money(self._cost_usd) if self._cost_usd else "",
        ]
        return parts + [(part, "") for part in rest if part]

    def close(self) -> None:
        """The run has ended: return when the thread has, unless it hangs. It may be called
        twice."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def _tick(self) -> None:
        while not self._stopped.wait(self.period_s):
            self.tick()


class LogView(RunView):
    """A line every half a minute, without control codes. Failures are left to the summary where it
    goes to the same log."""

    period_s = _LOG_PERIOD_S
    has_summary = True

    def name(self, told: Telling) -> None:
        if not self.has_summary:
            self.say(headline(told, Screen(_LOG_WIDTH), name_target=self.name_target))

    def tick(self) -> None:
        (count, _), *rest = self.status_parts()
        share = f"{count} ({self._done / max(1, self.total):.0%})"
        self.say(" · ".join([share, *(text for text, _ in rest)]))

    def say(self, line: str) -> None:
        self.tell(line)


_TO_START = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))
"""Over the `^C` that a terminal echoes before there is a status line."""


class _Console(Console):
    """Never hides the cursor, so that a killed run leaves the terminal as it was."""

    has_printed = False

    def show_cursor(self, show: bool = True) -> bool:
        del show
        return False

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 - as rich has it
        self.has_printed = self.has_printed or not isinstance(objects[0], Control)
        super().print(*objects, **options)


class LiveView(RunView):
    """One line on a terminal that is drawn again and again, and above it what has gone wrong."""

    period_s = _PERIOD_S

    def __init__(
        self, out: TextIO, *, colour: bool, width: int | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:  # fmt: skip
        super().__init__(out, clock=clock)
        self.console = _Console(
            file=out, width=width, color_system="standard" if colour else None,
            force_terminal=True, no_color=not colour, markup=False, highlight=False, emoji=False,
        )  # fmt: skip
        self._live = Live(
            get_renderable=self._draw_status, console=self.console, auto_refresh=False,
            transient=True, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._lines: deque[str] = deque()
        """To be written above the status line."""
        self._failures: deque[str] = deque()
        """Held back while the summary may be near: it says them in full."""
        self._is_active = False

    def begin(self) -> None:
        self._is_active = True
        super().begin()

    def name(self, told: Telling) -> None:
        screen = Screen(self.console.width - 1, colour=not self.console.no_color)
        line = headline(told, screen, name_target=self.name_target)
        self._failures.append(line)

    def tell(self, text: str) -> None:
        self.say(text)

    def say(self, line: str) -> None:
        for row in hang_text(make_visible(line), self.console.width - 1):
            self._lines.append(row)
        if not self._is_active:
            self._write_lines()

    def tick(self) -> None:
        """Write what is new, if the run is not over at once."""
        spent_s = self.clock() - self._begun
        if not self._live.is_started and spent_s < _QUICK_S:
            return
        while self._failures and spent_s >= _BRIEF_S:
            self._lines.append(self._failures.popleft())
        with suppress(OSError):  # a terminal that is gone must not end the run
            if not self._live.is_started:
                self.console.control(_TO_START)
            self._live.start()
            self._write_lines()
            self._live.refresh()

    def close(self) -> None:
        """Take the status line away, and leave a blank line below what was said."""
        if not self._is_active:
            return
        self._is_active = False
        super().close()
        with suppress(OSError):
            if self._lines and not self._live.is_started:
                self.console.control(_TO_START)
            self._write_lines()
            has_printed = self.console.has_printed  # rich ends the status line with one more
            self._live.stop()
            if has_printed:
                self.console.line()

    def _write_lines(self) -> None:
        with suppress(OSError):
            while self._lines:
                self.console.print(Text.from_ansi(self._lines.popleft()), soft_wrap=True)

    def _draw_status(self) -> RenderableType:
        """A bar, where there is room, and behind it as much as fits."""
        room = self.console.width - _MARGIN
        parts = (Text(text, STYLES.get(style, "")) for text, style in self.status_parts())
        line = Text(" · ").join(parts)
        line.truncate(room, overflow="ellipsis")
        width = min(room - line.cell_len - 1, _BAR.stop - 1)
        if width < _BAR.start:
            return line
        is_good = self._verdicts["failed"] + self._verdicts["errored"] == 0
        style = STYLES["good" if is_good else "error"]
        bar = ProgressBar(self.total, self._done, width, complete_style=style, finished_style=style)
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_row(bar, line)
        return row
