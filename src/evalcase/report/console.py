"""A run as a person sees it: what is going on, then what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TextIO

from evalcase.model.result import Result, Verdict
from evalcase.model.trial import Trial
from evalcase.report.style import Style, paint
from evalcase.report.visible import visible

_REDRAW_S = 0.1
_LONGEST = 100
_WORDS: tuple[Verdict, ...] = ("passed", "failed", "errored", "ungraded", "skipped")


class RunView:
    """Follows a run: with a status line on a terminal, and with sparse lines elsewhere."""

    def __init__(
        self, out: TextIO, style: Style, planned: int, live: bool,
        clock: Callable[[], float] = monotonic,
    ) -> None:  # fmt: skip
        self.out = out
        self.style = style
        self.planned = planned
        self.live = live
        self.clock = clock
        self.running = 0
        self.verdicts: Counter[Verdict] = Counter()
        self.cost_usd = 0.0
        self.begun = clock()
        self.drawn = 0.0
        self.said = 0

    def started(self, trial: Trial) -> None:  # noqa: ARG002 - the view counts, and names no case
        self.running += 1
        self._draw()

    def finished(self, result: Result) -> None:
        self.running -= 1
        self.verdicts[result.verdict] += 1
        if result.answer is not None:
            self.cost_usd += result.answer.cost_usd or 0.0
        if result.verdict in ("failed", "errored"):
            self.say(" ".join(_headline(result, self.style)))
        self._draw()

    def say(self, line: str) -> None:
        """Print a line above the status line."""
        self.out.write(("\r\x1b[K" if self.live else "") + line + "\n")
        self.drawn = 0.0

    def warn(self, text: str) -> None:
        """Print what may hold names and texts of anybody."""
        self.say(visible(text))

    def close(self) -> None:
        """Take the status line away."""
        if self.live:
            self.out.write("\r\x1b[K")
        self.out.flush()

    def _draw(self) -> None:
        now = self.clock()
        if self.live:
            if now - self.drawn >= _REDRAW_S:
                self.drawn = now
                self.out.write("\r\x1b[K" + self._status(now))
                self.out.flush()
        elif (tenths := 10 * self.verdicts.total() // max(1, self.planned)) > self.said:
            self.said = tenths
            self.out.write(self._status(now) + "\n")
            self.out.flush()

    def _status(self, now: float) -> str:
        done, spent = self.verdicts.total(), max(1e-9, now - self.begun)
        parts = [f"{done}/{self.planned}", *_counts(self.verdicts, self.style)]
        if self.running:
            parts.append(f"{self.running} running")
        if self.cost_usd:
            parts.append(f"${self.cost_usd:.4f}")
        parts.append(f"{done / spent:.1f}/s")
        if 0 < done < self.planned:
            parts.append(f"{_span((self.planned - done) * spent / done)} left")
        return " · ".join(parts)


def _counts(verdicts: Counter[Verdict], style: Style) -> list[str]:
    colours = {"passed": style.good, "failed": style.error, "errored": style.warning}
    return [
        paint(f"{verdicts[word]} {word}", colours.get(word, ""))
        for word in _WORDS
        if verdicts[word]
    ]


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _headline(result: Result, style: Style) -> list[str]:
    colour = style.error if result.verdict == "failed" else style.warning
    _, case, target, repeat = result.key
    name = f"{case} ({target})" if repeat == 1 else f"{case} ({target}, repeat {repeat})"
    return [paint(result.verdict, colour), visible(name) + ":", visible(_short(result.reason))]


def _short(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def summary_lines(results: Iterable[Result], style: Style) -> Iterator[str]:
    """The failed and errored trials with what was expected and what came, then the slowest."""
    slowest: list[tuple[float, str]] = []
    tokens = [0, 0]
    for result in results:
        slowest = sorted([*slowest, (result.duration_s, result.key.case)], reverse=True)[:3]
        if result.answer is not None and result.answer.usage is not None:
            tokens[0] += result.answer.usage.input_tokens or 0
            tokens[1] += result.answer.usage.output_tokens or 0
        if result.verdict in ("failed", "errored", "ungraded"):
            yield from _details(result, style)
    if any(tokens):
        yield f"tokens: {tokens[0]:,} in, {tokens[1]:,} out"
    named = ", ".join(f"{visible(case)} {seconds:.2f} s" for seconds, case in slowest)
    if slowest and slowest[0][0] >= 0.01:
        yield f"slowest: {named}"


def _details(result: Result, style: Style) -> Iterator[str]:
    yield " ".join(_headline(result, style))
    for grade in result.grades:
        if not grade.passed and "expected" in grade.details and "got" in grade.details:
            yield f"  expected  {visible(_short(str(grade.details['expected'])))}"
            yield f"  got       {visible(_short(str(grade.details['got'])))}"
    yield ""
