"""Questions of a run in batches of a chat API: written, sent, looked after, and answers found."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Any, Protocol

from evalcase.targets.chat.batch_answers import BatchAnswers, batch_error, open_answers
from evalcase.targets.chat.batch_client import BatchClient, BatchLook
from evalcase.targets.chat.batch_draft import BatchedQuestion, BatchForm, DraftFile, open_draft
from evalcase.types.question import Question
from evalcase.types.target import SentBatch
from evalcase.types.value import JSON

if TYPE_CHECKING:
    from evalcase.targets.web.client import HttpClient


class BatchService(Protocol):
    """What services differ in."""

    form: BatchForm

    def line(self, id: str, body: JSON) -> bytes: ...
    async def send(self, client: BatchClient, draft: DraftFile, tag: str) -> str: ...
    def find(self, client: BatchClient, sent: SentBatch) -> AsyncIterator[str]: ...
    async def look(self, client: BatchClient, id: str) -> BatchLook: ...
    async def places(self, client: BatchClient, id: str) -> list[str]: ...
    def has_answer(self, row: dict[str, Any]) -> bool: ...
    def read(self, row: dict[str, Any]) -> dict[str, Any]: ...


class ChatBatches:
    """The batches of one target. Its methods raise TargetError."""

    def __init__(
        self, service: BatchService, base_url: str, poll_s: float,
        client: Callable[[], HttpClient], make_body: Callable[[Question], Awaitable[JSON]],
    ) -> None:  # fmt: skip
        self.poll_s = poll_s
        self._service = service
        self._client = BatchClient(base_url, client)
        self._make_body = make_body
        self._answers: BatchAnswers | None = None
        self._run = ""
        self._ended: dict[str, str] = {}
        """How batches ended, by their ids."""

    def begin(self, run: str) -> None:
        """Start with the questions of a run."""
        self._run = sha256(run.encode()).hexdigest()[:12]
        self._answers = self._answers or open_answers()

    async def write(self, question: Question) -> BatchedQuestion:
        body = await self._make_body(question)
        id = self._id(question, body)
        return BatchedQuestion(id, self._service.line(id, body))

    def draft(self) -> DraftFile:
        return open_draft(self._service.form)

    async def send(self, draft: DraftFile, tag: str) -> str:
        """Send a batch. Return its id at the service."""
        return await self._service.send(self._client, draft, tag)

    def find(self, sent: SentBatch) -> AsyncIterator[str]:
        """The ids at the service that a sent batch may have; when in doubt, several."""
        return self._service.find(self._client, sent)

    async def look(self, id: str) -> BatchLook:
        look = await self._service.look(self._client, id)
        if look.is_over:
            self._ended[id] = look.status
        return look

    async def fetch(self, id: str) -> int:
        """Get the answers of a batch that is over. Return how many belong to this run."""
        assert self._answers is not None, "begin() comes first"
        has_answer, count = self._service.has_answer, 0
        for place in await self._service.places(self._client, id):
            count += await self._client.download(place, self._answers, has_answer, self._is_ours)
        return count

    def has_answer(self, id: str) -> bool:
        """Whether a question has an answer, and not only an error."""
        return self._answers is not None and self._answers.has_answer(id)

    async def reply_to(self, question: Question) -> dict[str, Any]:
        """What the service says to a question. Raise TargetError if it has no answer."""
        id = self._id(question, await self._make_body(question))
        row = None if self._answers is None else self._answers.find(id)
        if row is not None:
            return self._service.read(row)
        ends = ", ".join(f"{batch} ({how})" for batch, how in self._ended.items()) or "none"
        raise batch_error(f"no batch has an answer to it; batches of the run: {ends}")

    def close(self) -> None:
        if self._answers is not None:
            self._answers.close()
            self._answers = None

    def _id(self, question: Question, body: JSON) -> str:
        what = [question.suite, question.case, question.repeat, body]
        return f"{self._run}-{sha256(dumps(what, sort_keys=True).encode()).hexdigest()[:40]}"

    def _is_ours(self, id: str) -> bool:
        return id.startswith(f"{self._run}-")
