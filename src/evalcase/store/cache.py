"""The cache of `--cache`: answers in files, so that no target is asked the same question twice.

The key of an answer covers all that decides it: the target with its options, the question, and the
repeat. Only answers are stored, never errors.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from evalcase.store.rows import StoredAnswer, decode_row
from evalcase.store.scrub import encode_clean
from evalcase.types.answer import Answer
from evalcase.util.files import read_file, write_atomically
from evalcase.util.json import MAX_LINE, body_of, is_whole
from evalcase.util.secrets import Scrubber

CACHE_FOLDER = os.path.join(".evalcase", "cache")


class AnswerCache:
    """A folder with one file for each answer. A damaged file counts as none."""

    def __init__(self, folder: str, scrubber: Scrubber, warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._scrubber = scrubber
        self._warn = warn

    def find(self, key: str) -> Answer | None:
        try:
            line = read_file(self._path(key), MAX_LINE, links=False)
            row = decode_row(body_of(line)) if is_whole(line) else None
        except (OSError, ValueError):
            return None
        return row.answer if isinstance(row, StoredAnswer) and row.key == key else None

    def store(self, key: str, answer: Answer) -> None:
        row = StoredAnswer(key, answer)
        try:
            line, clean = encode_clean(row, self._scrubber.look())
        except ValueError:
            return  # the result says why
        if clean is not row:
            return  # without its secret it would be another answer
        path = self._path(key)
        if os.path.islink(path):
            return  # a stranger's link may lead to any file
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_atomically(path, line, durable=False)
        except OSError as error:
            self._warn(f"the cache can't be written: {error.strerror or error}")

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], f"{key}.json")
