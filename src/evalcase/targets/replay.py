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
from typing import Annotated, Any, BinaryIO, ClassVar

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.reading.replies import note_unread
from evalcase.targets.reading.shaped import read_json, with_extras
from evalcase.targets.stored.index import AnswerIndex
from evalcase.targets.stored.said import describe_keys, find_said, list_unread, refuse_failed
from evalcase.targets.stored.turns import expect_asked, expect_whole, listed_turn, recorded_turn
from evalcase.types.answer import Answer, Earlier
from evalcase.types.codec import decode_object
from evalcase.types.message import Step
from evalcase.types.options import Text, about
from evalcase.types.question import Question
from evalcase.types.target import Surroundings, Target, TargetKind, TargetOptions, Traits
from evalcase.types.value import replace
from evalcase.util.calls import CALLS
from evalcase.util.files import digest_file, open_file
from evalcase.util.rows import JOURNAL

_MOST_UNREAD = 10
"""Of so many keys it is told that nobody reads them."""


class ReplayOptions(TargetOptions, frozen=True, kw_only=True):
    """Where the answers are."""

    path: Annotated[
        Text,
        about(
            "The file of answers, or the folder of a stored run.",
            example="answers.jsonl",
            elsewhere=("file", "run"),
        ),
    ]
    target: Annotated[
        Text | None, about("The target whose answers to use, if there are several.")
    ] = None


class ReplayTarget(Target):
    """Gives stored answers."""

    kind: ClassVar[TargetKind] = TargetKind(
        "replay", "Replays stored answers.", ReplayOptions,
        value="path", value_is_path=True, folder_holds=(JOURNAL,),
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
        return path, os.path.basename(path) == JOURNAL

    def _open(self) -> None:
        path, is_journal = self._find_file()
        self._index = AnswerIndex(path, is_journal=is_journal)
        try:
            # In a stranger's record, a link could lead anywhere.
            self._file = open_file(path, links=not is_journal)
            self._index.read(self._file, self._options.target)
        except OSError as error:
            raise ConfigError(f"replay target: {path} can't be read: {error.strerror}") from None
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
        """The file of answers. A record says itself what it is of."""
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
