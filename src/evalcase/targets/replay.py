"""Answers that were given before: from a file of them, or from the folder of an earlier run.

A file of answers has one JSON object per line: `case` (or `id`), where needed `suite`, `target`
and `repeat`, and either `answer`, read by the rule of `answers`, or `text` or `messages`; `usage`
and `cost_usd` may stand beside them. Without a `repeat` an answer is good for all repeats, without
a `suite` for all suites; an answer from another suite counts if no other could be meant.

In a run's journal the last result of a trial counts, and costs nothing again. A trial without an
answer is an error.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, BinaryIO

from evalcase.errors import ConfigError, TargetError
from evalcase.model.answer import Answer
from evalcase.model.trial import Trial
from evalcase.system.files import open_file
from evalcase.targets import Warn, ignore
from evalcase.targets.options import Options
from evalcase.targets.reading.answers import read_json, with_extras
from evalcase.targets.reading.messages import read_messages
from evalcase.targets.replay_index import ReplayIndex
from evalcase.text.strict_json import DEEPEST_ROW, parse_object

JOURNAL = "journal.jsonl"


class ReplayTarget:
    """Gives stored answers. Options: `path`, and `target` where several have answered."""

    cache_key = None
    """It gives the same answer again anyhow."""

    def __init__(self, *, root: str = ".", warn: Warn = ignore, **options: object) -> None:
        read = Options("replay", options)
        self._path = os.path.join(root, read.required_text("path", '"answers.jsonl"'))
        self._target = read.text("target")
        read.check_unknown()
        self._warn = warn
        self._file: BinaryIO | None = None
        self._index = ReplayIndex("", is_journal=False)

    @classmethod
    def from_value(cls, value: str, *, root: str = ".", warn: Warn = ignore) -> ReplayTarget:
        return cls(path=value, root=root, warn=warn)

    async def open(self) -> None:
        self._open()

    def _open(self) -> None:
        path = self._path
        if os.path.isdir(path):
            path = os.path.join(path, JOURNAL)
        self._index = ReplayIndex(path, is_journal=os.path.basename(path) == JOURNAL)
        try:
            self._file = open_file(path)
            self._index.read(self._file, self._target)
        except OSError as error:
            raise ConfigError(f"replay target: {path} can't be read: {error.strerror}") from None

    async def answer(self, trial: Trial) -> Answer:
        assert self._file is not None, "open() comes first"
        offset = self._index.find(trial)
        self._file.seek(offset)
        return self._read_row(parse_object(self._file.readline(), DEEPEST_ROW))

    async def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _read_row(self, row: dict[str, Any]) -> Answer:
        answer = row.get("answer")
        if self._index.is_journal and isinstance(answer, dict) and "messages" in answer:
            kept = with_extras(read_messages(answer["messages"]), answer, self._warn)
            # It was paid for in that run.
            return replace(kept, cached=True, cost_usd=0.0)
        if answer is None:
            answer = row.get("messages", row.get("text"))
        if answer is None:
            message = f"case `{row.get('case', row.get('id'))}` has no answer in {self._index.path}"
            raise TargetError(message, kind="protocol")
        read = read_json(answer, self._warn)
        beside = with_extras(read.messages, row, self._warn)
        return read if read.usage or read.cost_usd is not None else beside
