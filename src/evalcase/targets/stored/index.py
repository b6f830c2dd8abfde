"""Where in a file the answer to a question stands: found once, so that each answer is one seek.

Only offsets are kept in memory, for there may be a million answers. A journal may come from anyone,
and be damaged: each of its lines is held to its checksum, when it is found and when it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.stored.said import find_said, list_unread, refuse_misspelt
from evalcase.types.question import Question, TrialKey
from evalcase.types.value import JSON
from evalcase.util.json import DEEPEST_ROW, parse_json, parse_object
from evalcase.util.rows import MAX_LINE, body_of, fault_in, parse_body

_CASE = b'{"type":"case",'
_ANY = 0
"""Stands for every repeat; they are counted from 1."""


class AnswerIndex:
    """The answers of one file, by case, suite and repeat."""

    def __init__(self, path: str, *, is_journal: bool) -> None:
        self.path = path
        self.is_journal = is_journal
        self._offsets: dict[tuple[str | None, int], dict[str, int]] = {}
        """By suite and repeat, then by case: all but the case is shared by many answers."""
        self._targets: set[str] = set()
        self.torn: int | None = None
        """The last line of a journal, if it is cut short, and so left out."""
        self.unread: dict[str, str] = {}
        """What is said of each key of a file of answers that nobody reads, at its first line."""

    def read(self, file: BinaryIO, target: str | None) -> None:
        """Take in every answer of a target. Raise ConfigError for a line that makes no sense."""
        offset = 0
        for number, line in enumerate(self._whole_lines(file), 1):
            # The cases of a journal are most of it, and no answers.
            if line.strip() and not (self.is_journal and line.startswith(_CASE)):
                row = self._row(line, number)
                if self._concerns(row, target):
                    self._add(row, number, offset)
            offset += len(line)
        if target is not None and target not in self._targets:
            self._refuse(f"it has no answers of the target `{target}`{self._others()}")
        if target is None and len(self._targets) > 1:
            self._refuse(f"several targets have answered; say which by `target`{self._others()}")

    def read_row(self, file: BinaryIO, question: Question) -> dict[str, JSON]:
        """The row with the answer to a question. Raise TargetError if there is none."""
        file.seek(self.find(question))
        line = file.readline(MAX_LINE + 1)
        try:
            if not self.is_journal:
                return parse_object(line, DEEPEST_ROW)
            if fault_in(line) is None:
                return _parse_result(line)
        except ValueError:
            pass
        raise TargetError(f"{self.path} changed while it was read", kind="protocol")

    def _whole_lines(self, file: BinaryIO) -> Iterator[bytes]:
        """Every line. The last one of a journal may be cut short: a crash came in between, and
        nobody was told that its trial had finished."""
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            fault = fault_in(line) if self.is_journal else None
            if fault is not None:
                if len(line) <= MAX_LINE and not line.endswith(b"\n"):
                    self.torn = number
                    return
                self._refuse(f"the record is damaged: this line {fault}", number)
            if len(line) > MAX_LINE:
                self._refuse(f"a line is longer than {MAX_LINE:,} bytes", number)
            yield line

    def find(self, question: Question) -> int:
        """The offset of the line with the answer. Raise TargetError if there is none."""
        case = question.case
        for repeat in (question.repeat, _ANY):
            for suite in (question.suite, None):
                offset = self._offsets.get((suite, repeat), {}).get(case)
                if offset is not None:
                    return offset
        elsewhere = [
            cases[case]
            for (_, repeat), cases in self._offsets.items()
            if case in cases and repeat in (question.repeat, _ANY)
        ]
        if len(elsewhere) == 1:
            return elsewhere[0]
        which = "several suites with" if elsewhere else "no answer to"
        message = f"{self.path} has {which} case `{case}` (repeat {question.repeat})"
        raise TargetError(message, kind="protocol")

    def _row(self, line: bytes, number: int) -> dict[str, JSON]:
        try:
            row = _parse_result(line) if self.is_journal else parse_json(line, DEEPEST_ROW)
        except ValueError as error:
            self._refuse(f"not JSON: {error}", number)
        if not isinstance(row, dict):
            self._refuse("a line is a JSON object", number)
        return row

    def _concerns(self, row: dict[str, Any], target: str | None) -> bool:
        if self.is_journal and row.get("type") != "result":
            return False
        name = row.get("target")
        if isinstance(name, str):
            self._targets.add(name)
        return target is None or name == target

    def _add(self, row: dict[str, Any], number: int, offset: int) -> None:
        case, suite, repeat = row.get("case", row.get("id")), row.get("suite"), row.get("repeat")
        if not isinstance(case, str):
            self._refuse("`case` names the case, as text", number)
        if not isinstance(suite, str | None) or not isinstance(repeat, int | None):
            self._refuse("`suite` is text, and `repeat` a number from 1", number)
        if not self.is_journal:
            self._look_at_keys(row, number)
        cases = self._offsets.setdefault((suite, repeat or _ANY), {})
        if case in cases and not self.is_journal:
            self._refuse(f"a second answer to case `{case}`; tell them apart by `repeat`", number)
        cases[case] = offset

    def _look_at_keys(self, row: dict[str, Any], number: int) -> None:
        try:
            find_said(row)
        except ValueError as error:
            self._refuse(str(error), number)
        for key in list_unread(row):
            if key not in self.unread:
                try:
                    self.unread[key] = f"{self.path}:{number}: {refuse_misspelt(key)}"
                except ValueError as error:
                    self._refuse(str(error), number)

    def _others(self) -> str:
        return f": {', '.join(sorted(self._targets))}" if self._targets else ""

    def _refuse(self, why: str, line: int | None = None) -> NoReturn:
        place = self.path if line is None else f"{self.path}:{line}"
        raise ConfigError(f"replay target: {place}: {why}")


def _parse_result(line: bytes) -> dict[str, Any]:
    """A row of a journal, with the parts of its key by name."""
    row = parse_body(body_of(line))
    key = row.get("key")
    if isinstance(key, list) and len(key) == len(TrialKey._fields):
        row |= zip(TrialKey._fields, key, strict=True)
    return row
