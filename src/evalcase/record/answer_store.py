"""Answers that were given before, kept in files: with `--cache` nobody is asked the same twice.

The key of an answer is what decides it: the target with its options, all that it is asked, and
which repeat it is, so that five repeats are five answers. Only answers are kept, never errors.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from evalcase.model.answer import Answer
from evalcase.model.codec import decode_object, encode_object
from evalcase.record.scrub import write_row
from evalcase.system.disk import write_atomically
from evalcase.system.files import read_file
from evalcase.text.journal_row import MAX_LINE, decode_row, fault_in
from evalcase.text.secrets import Scrubber

CACHE_FOLDER = os.path.join(".evalcase", "cache")


class AnswerStore:
    """A folder with one file for each answer. A file that makes no sense is no answer."""

    def __init__(self, folder: str, scrubber: Scrubber, warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._scrubber = scrubber
        self._warn = warn

    def find(self, key: str) -> Answer | None:
        try:
            line = read_file(self._path(key), MAX_LINE, links=False)
            if fault_in(line) is not None:
                return None
            row = decode_row(line)
            return decode_object(Answer, row["answer"]) if row["key"] == key else None
        except (OSError, AttributeError, KeyError, TypeError, ValueError):
            return None

    def keep(self, key: str, answer: Answer) -> None:
        row = {"type": "answer", "key": key, "answer": encode_object(answer)}
        try:
            line, clean = write_row(row, self._scrubber.look())
        except ValueError:
            return  # the engine says the same of the result
        if clean is not None:
            return  # without its secret it would be another answer
        path = self._path(key)
        if os.path.islink(path):
            return  # nobody but a stranger has put it there, and it may lead to any file
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_atomically(path, line, durable=False)
        except OSError as error:
            self._warn(f"the cache can't be written: {error.strerror or error}")

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], f"{key}.json")
