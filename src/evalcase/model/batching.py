"""What a target can do whose service takes many questions at once and answers them later."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

from evalcase.model.question import Question


class BatchedQuestion(NamedTuple):
    """A question as a part of a batch."""

    id: str
    """By which its answer is known: always the same for the same question of the same run."""
    line: bytes


class BatchLook(NamedTuple):
    """How far a batch is."""

    is_over: bool
    answered: int
    questions: int
    """0 where the service has not counted them yet."""
    status: str
    """In the words of the service."""


class SentBatch(NamedTuple):
    """A batch as the record knows it."""

    target: str
    tag: str
    """What it was called before it was sent."""
    questions: int
    at: str
    """When that was."""
    id: str | None = None
    """What the service calls it; None if nobody lived to hear that."""


class Batching(Protocol):
    """Sends questions to a service in batches, and holds what came back. What goes wrong is raised
    as TargetError."""

    poll_s: float
    """How often a batch is looked at."""

    def begin(self, run: str) -> None:
        """Questions are those of a run from now on."""
        ...

    async def write(self, question: Question) -> BatchedQuestion: ...

    def draft(self) -> BatchDraft:
        """An empty batch."""
        ...

    async def send(self, draft: BatchDraft, tag: str) -> str:
        """Send a batch. Return what the service calls it."""
        ...

    def find(self, sent: SentBatch) -> AsyncIterator[str]:
        """What the service calls batches that may be one that was sent; when in doubt, several."""
        ...

    async def look(self, id: str) -> BatchLook: ...

    async def fetch(self, id: str) -> int:
        """Get the answers of a batch that is over. Return how many are of this run."""
        ...

    def has_answer(self, id: str) -> bool:
        """Whether there is an answer, and not only an error, to a question."""
        ...


class BatchDraft(Protocol):
    """A batch that is being put together. What it takes is on disk, and gone with it."""

    count: int

    def add(self, question: BatchedQuestion) -> bool:
        """Take a question in; False if there is no room for it."""
        ...

    def close(self) -> None: ...
