"""A person who labels answers on a terminal, one after the other, without seeing what the judge
said. Every label is on disk before the next answer is shown."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator

from evalcase.cli.terminal import columns_of, style_for
from evalcase.errors import ConfigError
from evalcase.report.calibrate import draw_answers, first_of_each, shares_of
from evalcase.report.calibration_text import question_lines
from evalcase.report.terminal.cells import cut_text
from evalcase.store.labels import Judge, LabelFile, read_labels
from evalcase.store.stored import StoredRun
from evalcase.types.grade import AnswerName, Judged, Label
from evalcase.types.question import TrialKey
from evalcase.util.text import make_visible, write_count

_KEYS = {"p": True, "pass": True, "f": False, "fail": False}
_PROMPT = "pass, fail, skip, back or quit? [p/f/s/b/q] "
_NO_KEY = "is not an answer: type p, f, s, b or q, or the whole word, and Enter"
_SEE, _GO_ON = "to see what they tell", "to go on"


class Labelling:
    """One sitting."""

    def __init__(
        self, kept: StoredRun, judge: Judge, criterion: str | None, path: str, by: str, again: str
    ) -> None:
        """`again` is the command that calibrates by the same labels."""
        self._kept = kept
        self._judge = judge
        self._criterion = criterion
        self._path = path
        self._by = by
        self._again = again
        self._file = LabelFile(path)
        self._written = 0
        self._said: dict[AnswerName, bool] = {}
        self._shares = {True: 1.0, False: 1.0}

    def ask(self) -> int:
        """Ask until nothing is left or the person has enough; the exit code."""
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise ConfigError("--label asks a person: standard input and output must be a terminal")
        left = self._left()
        if not left:
            sys.stdout.write(f"nothing left to label for {self._by}\n")
            return 0
        at = 0
        is_over = False
        try:
            while 0 <= at < len(left):
                step = self._ask_one(left[at], at + 1, len(left))
                if step is None:
                    break
                at = max(0, at + step)
            is_over = all(judged.answer in self._said for judged in left)
        finally:
            self._say_goodbye(is_over=is_over)
        return 0

    def _left(self) -> list[Judged]:
        """What this person has not labelled yet, in the order in which it is drawn."""
        try:
            known = read_labels(self._path)
        except FileNotFoundError:
            known = []
        done = {
            label.answer for label in known
            if label.by == self._by and label.criterion == self._criterion
        }  # fmt: skip
        answers = first_of_each(self._judge.said).values()
        drawn = draw_answers(answers, self._criterion, self._kept.run.id)
        if not drawn:
            raise ConfigError(self._nothing())
        self._shares = shares_of(drawn, self._criterion)
        return [judged for judged in drawn if judged.answer not in done]

    def _nothing(self) -> str:
        what = "" if self._criterion is None else f" on `{self._criterion}`"
        return f"`{self._judge.name}` returned no verdict{what} in run {self._kept.run.id}"

    def _ask_one(self, judged: Judged, number: int, count: int) -> int | None:
        """How far to go on: 1 to the next answer, -1 to the one before; None to stop."""
        for line in self._shown(judged, number, count):
            sys.stdout.write(line + "\n")
        if (said := self._said.get(judged.answer)) is not None:
            sys.stdout.write(f"you said {'pass' if said else 'fail'}; skip keeps it\n")
        while True:
            sys.stdout.write(_PROMPT)
            sys.stdout.flush()
            typed = sys.stdin.readline()
            word = typed.strip().lower()
            if not typed:
                sys.stdout.write("\n")
            if not typed or word in ("q", "quit"):
                return None
            if word in ("s", "skip"):
                return 1
            if word in ("b", "back"):
                return -1
            if word in _KEYS:
                self._save(judged, passed=_KEYS[word])
                return 1
            sys.stdout.write(f"`{cut_text(make_visible(word), 20)}` {_NO_KEY}\n" if word else "")

    def _shown(self, judged: Judged, number: int, count: int) -> Iterator[str]:
        name = judged.answer
        key = TrialKey(name.suite, name.case, name.target, judged.repeat)
        result = self._kept.find_result(key)
        case = self._kept.find_case(name.suite, name.case)
        width, style = columns_of(sys.stdout), style_for(sys.stdout)
        yield ""
        yield f"── answer {number:,} of {count:,} ".ljust(width, "─")
        if result is not None:
            grader = self._judge.name
            yield from question_lines(case, result, grader, self._criterion, width, style)

    def _save(self, judged: Judged, *, passed: bool) -> None:
        name, verdict = judged.answer, bool(judged.verdict_on(self._criterion))
        self._file.append(
            Label(
                name.suite, name.case, name.target, name.hash, passed, self._by,
                repeat=judged.repeat, criterion=self._criterion, drawn_from=self._shares[verdict],
            )
        )  # fmt: skip
        self._written += 1
        self._said[name] = passed

    def _say_goodbye(self, *, is_over: bool) -> None:
        labels = write_count(self._written, "label")
        sys.stdout.write(f"\n{labels} written to {make_visible(self._path)}\n")
        if self._written:
            sys.stdout.write(f"{_SEE}  {self._again}\n")
        if is_over:
            return
        going_on = f"{self._again} --label --by {make_visible(shlex.quote(self._by))}"
        sys.stdout.write(f"{_GO_ON:{len(_SEE)}}  {going_on}\n")
