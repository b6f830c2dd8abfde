"""Answers that were given before: from a file of them, or from the folder of an earlier run.

A file of answers has one JSON object per line: `case` (or `id`), where needed `suite`, `target`
and `repeat`, and one of `answer`, read by the rule of `answers`, `text` and `messages`;
`tool_calls` may stand beside a text, and `usage`, `cost_usd` and `duration_s` beside all of them.
Where there is an `error` or a `failure`, nothing was answered, whatever else there is.
Without a `repeat` an answer is good for all repeats, without a `suite` for all suites; an answer
from another suite counts if no other could be meant.

In a run's journal the last result of a trial counts, and costs nothing again; a line that doesn't
match its checksum is an error. A trial without an answer is one, too. Of a conversation, the answer
of the turn is given that is asked for, as long as the user says what they said then; a line of a
file has a list of them, `turns`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from evalcase.errors import ConfigError, RecordError, TargetError
from evalcase.model.answer import Answer, Earlier
from evalcase.model.codec import decode_object
from evalcase.model.option import option
from evalcase.model.question import Question
from evalcase.model.shape import Text
from evalcase.model.step import Step
from evalcase.model.target import Surroundings, Target, TargetKind, TargetOptions, Traits
from evalcase.model.value import replace
from evalcase.system.digests import digest_file
from evalcase.system.files import open_file
from evalcase.system.packed import ENDING, open_stored
from evalcase.targets.reading.replies import note_unread
from evalcase.targets.reading.shaped import read_json, with_extras
from evalcase.targets.stored.index import AnswerIndex
from evalcase.targets.stored.said import describe_keys, find_said, list_unread, refuse_failed
from evalcase.targets.stored.turns import expect_asked, expect_whole, listed_turn, recorded_turn
from evalcase.text.calls import CALLS
from evalcase.text.journal_row import JOURNAL

_MOST_UNREAD = 10
"""Of so many keys it is told that nobody reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions(TargetOptions):
    """Where the answers are."""

    path: str = option(
        Text(),
        "The file of answers, or the folder of a stored run.",
        example="answers.jsonl",
        elsewhere=("file", "run"),
    )
    target: str | None = option(
        Text(), "The target whose answers to use, if there are several.", default=None
    )


class ReplayTarget(Target):
    """Gives stored answers."""

    kind: ClassVar[TargetKind] = TargetKind(
        "replay", "Replays stored answers.", ReplayOptions,
        value="path", value_is_path=True, folder_holds=(JOURNAL, JOURNAL + ENDING),
    )  # fmt: skip

    def __init__(self, options: ReplayOptions, surroundings: Surroundings) -> None:
        self.traits = Traits(options.concurrency, caching="useless", only_reads=True)
        self._options = options
        self._surroundings = surroundings
        self._file: BinaryIO | None = None
        self._index = AnswerIndex("", is_journal=False)

    async def open(self) -> None:
        self._open()

    def _find_file(self) -> tuple[str, bool]:
        """The file of answers, and whether it is a journal."""
        path = os.path.join(self._surroundings.root, self._options.path)
        if os.path.isdir(path):
            path = os.path.join(path, JOURNAL)
            path = path if os.path.exists(path) else _find_packed(path)
        return path, os.path.basename(path) in (JOURNAL, JOURNAL + ENDING)

    def _open(self) -> None:
        path, is_journal = self._find_file()
        self._index = AnswerIndex(path, is_journal=is_journal)
        try:
            # In a stranger's record, a link could lead anywhere.
            opener = open_stored if is_journal else open_file
            self._file = opener(path, links=not is_journal)
            self._index.read(self._file, self._options.target)
        except OSError as error:
            raise ConfigError(f"replay target: {path} can't be read: {error.strerror}") from None
        except RecordError as error:
            raise ConfigError(f"replay target: {error}") from None
        self._warn_of_lines()

    def _warn_of_lines(self) -> None:
        warn, path = self._surroundings.warn, self._index.path
        if self._index.torn is not None:
            warn(f"replay target: {path}:{self._index.torn}: this line is cut short, and left out")
        for said in [*self._index.unread.values()][:_MOST_UNREAD]:
            warn(f"replay target: {said}")

    async def answer(self, question: Question) -> Answer:
        assert self._file is not None, "open() comes first"
        row = self._index.read_row(self._file, question)
        refuse_failed(row)
        if row.get("answer") is not None and self._index.is_journal:
            answer = _recorded_answer(row, question)
        else:
            answer = self._listed_answer(listed_turn(row, question))
        expect_asked(row, question, self._index.path)
        return answer

    def sources(self) -> dict[str, str]:
        """The file of answers. A record says itself what it is of, and may be packed meanwhile."""
        path, is_journal = self._find_file()
        return {} if is_journal else {self._options.path: digest_file(path)}

    async def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _listed_answer(self, row: dict[str, Any]) -> Answer:
        warn = self._surroundings.warn
        refuse_failed(row)
        try:
            answer = find_said(row)
        except ValueError as error:
            message = (
                f"the answer to case `{row.get('case', row.get('id'))}` can't be read: {error}"
            )
            raise TargetError(message, kind="protocol") from None
        if answer is None:
            message = f"case `{row.get('case', row.get('id'))}` has no answer in {self._index.path}"
            raise TargetError(message + describe_keys(row), kind="protocol")
        expect_whole(row.get("scrubbed") is True, row.get("case"))
        read = read_json(answer, warn)
        dropped = {name: row[name] for name in (*CALLS, *list_unread(row)) if name in row}
        read = replace(read, messages=note_unread(read.messages, dropped))
        beside = with_extras(read.messages, row, warn)
        found = read if read.usage or read.cost_usd is not None else beside
        return replace(
            found, truncated=read.truncated or beside.truncated, earlier=_read_earlier(row, found),
            steps=_read_steps(row.get("steps")), steps_cut=_read_count(row.get("steps_cut")),
        )  # fmt: skip


def _recorded_answer(row: dict[str, Any], question: Question) -> Answer:
    answer, seconds = recorded_turn(row, question)
    expect_whole(answer.scrubbed, question.case)
    # It was paid for in that run, or in one before it.
    earlier = answer.earlier or _read_earlier({"duration_s": seconds}, answer)
    return replace(answer, cached=True, cost_usd=0.0, earlier=earlier, last_at=0)


def _find_packed(path: str) -> str:
    return path + ENDING if os.path.exists(path + ENDING) else path


def _read_steps(value: object) -> tuple[Step, ...]:
    """What a record says was done on the way to an answer."""
    with suppress(ValueError):
        return (
            tuple([decode_object(Step, each) for each in value]) if isinstance(value, list) else ()
        )
    return ()


def _read_count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _read_earlier(row: dict[str, Any], answer: Answer) -> Earlier:
    """What an answer took when it was given, in so far as its row says so."""
    seconds = row.get("duration_s")
    if not _is_time(seconds) and _is_time(row.get("duration_ms")):
        seconds = row["duration_ms"] / 1000
    return Earlier(seconds if _is_time(seconds) else None, answer.cost_usd)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
