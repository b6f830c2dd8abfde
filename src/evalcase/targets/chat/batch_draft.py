"""Questions put together to one body, on disk: it may be larger than anybody wants in memory."""

from __future__ import annotations

import os
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple

from evalcase.types.value import Value


class BatchForm(Value, frozen=True):
    """How a service wants a batch to be written, and how much of it."""

    head: bytes
    between: bytes
    tail: bytes
    content_type: str
    most_questions: int
    most_bytes: int


class BatchedQuestion(NamedTuple):
    """A question as a part of a batch."""

    id: str
    """The same for the same question of the same run; its answer has it, too."""
    line: bytes


class DraftFile:
    """A body that grows."""

    def __init__(self, form: BatchForm, file: BinaryIO) -> None:
        """`file` has the head of the body, and is closed with this."""
        self.form = form
        self.count = 0
        self._file = file
        self._size = len(form.head)

    def add(self, question: BatchedQuestion) -> bool:
        """Take a question in; False if there is no room for it."""
        form, size = self.form, len(question.line) + len(self.form.between)
        is_full = self.count >= form.most_questions
        if self.count and (is_full or self._size + size + len(form.tail) > form.most_bytes):
            return False
        self._size += self._file.write((form.between if self.count else b"") + question.line)
        self.count += 1
        return True

    def finish(self) -> BinaryIO:
        """The whole body, from its beginning. Whoever sends it may close it, and it can be had
        again."""
        self._file.seek(self._size)
        self._file.write(self.form.tail)
        self._file.flush()
        again = os.fdopen(os.dup(self._file.fileno()), "rb")
        again.seek(0)
        return again

    def close(self) -> None:
        self._file.close()


def open_draft(form: BatchForm) -> DraftFile:
    """A body that has nothing but its head yet."""
    file = TemporaryFile("w+b")  # noqa: SIM115 - closed with the draft
    file.write(form.head)
    return DraftFile(form, file)
