"""Questions of a run in batches of a chat API: written, sent, looked after, and answers found.

Drafts and answers are files without a name, which are gone with the process: there may be more than
fits in memory.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from json import dumps
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

from evalcase.errors import TargetError
from evalcase.targets.base import count_of, objects_of, part_of
from evalcase.targets.web import connection_error, error_message, protocol_error
from evalcase.types.target import Question, SentBatch
from evalcase.types.value import JSON, Value
from evalcase.util.json import BadJsonError, parse_object
from evalcase.util.table import Table

if TYPE_CHECKING:
    from evalcase.targets.client import HttpClient, Reply

_LONGEST_S = 600.0
_MOST_BYTES = 10_000_000
_MOST_ROW_BYTES = 64 * 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")


class BatchLook(NamedTuple):
    is_over: bool
    answered: int
    questions: int
    """0 where the service has not counted them yet."""
    status: str


class BatchForm(Value, frozen=True):
    head: bytes
    between: bytes
    tail: bytes
    content_type: str
    most_questions: int
    most_bytes: int


class BatchedQuestion(NamedTuple):
    id: str
    """The same for the same question of the same run; its answer has it, too."""
    line: bytes


class DraftFile:
    """The body of a batch, which grows."""

    def __init__(self, form: BatchForm) -> None:
        self.form = form
        self.count = 0
        self._file = TemporaryFile("w+b")  # noqa: SIM115 - closed with the draft
        self._size = self._file.write(form.head)

    def add(self, question: BatchedQuestion) -> bool:
        """Take a question in; False if there is no room for it."""
        form = self.form
        size = self._size + len(question.line) + len(form.between) + len(form.tail)
        if self.count and (self.count >= form.most_questions or size > form.most_bytes):
            return False
        self._size += self._file.write((form.between if self.count else b"") + question.line)
        self.count += 1
        return True

    def finish(self) -> BinaryIO:
        """The whole body. This file is closed once it is sent; the draft can be sent again."""
        self._file.seek(self._size)
        self._file.write(self.form.tail)
        self._file.flush()
        again = os.fdopen(os.dup(self._file.fileno()), "rb")
        again.seek(0)
        return again

    def close(self) -> None:
        self._file.close()


class ChatBatches:
    """The batches of one target at one service. Its methods raise TargetError."""

    form: BatchForm

    def __init__(
        self, base_url: str, client: Callable[[], HttpClient], poll_s: float,
        make_body: Callable[[Question], Awaitable[JSON]], path: str,
    ) -> None:  # fmt: skip
        self.poll_s = poll_s
        self._base_url = urlsplit(base_url)._replace(query="").geturl().rstrip("/")
        self._client = client
        """Returns the client once it is open."""
        self._make_body = make_body
        self._path = path
        self._run = ""
        self._rows: BinaryIO | None = None
        self._places = Table(2)
        """The offset of the row of a question, and whether it has an answer."""

    # What a service has of its own.

    def line(self, id: str, body: JSON) -> bytes:
        """A question in a batch."""
        raise NotImplementedError

    async def send(self, draft: DraftFile, tag: str) -> str:
        """Send a batch. Return its id at the service."""
        raise NotImplementedError

    def find(self, sent: SentBatch) -> AsyncIterator[str]:
        """The ids at the service that a sent batch may have whose id was not heard."""
        raise NotImplementedError

    async def look(self, id: str) -> BatchLook:
        raise NotImplementedError

    async def places(self, id: str) -> list[str]:
        raise NotImplementedError

    def read_row(self, row: dict[str, Any]) -> dict[str, Any] | TargetError:
        """The reply in a row of answers, or why there is none."""
        raise NotImplementedError

    # The questions of a run, and their answers.

    def begin(self, run: str) -> None:
        self._run = sha256(run.encode()).hexdigest()[:12]
        self._rows = self._rows or TemporaryFile("w+b")  # noqa: SIM115 - closed with this

    async def write(self, question: Question) -> BatchedQuestion:
        body = await self._make_body(question)
        what = [question.suite, question.case, question.repeat, body]
        hashed = sha256(dumps(what, sort_keys=True).encode()).hexdigest()
        id = f"{self._run}-{hashed[:40]}"
        return BatchedQuestion(id, self.line(id, body))

    async def fetch(self, id: str) -> int:
        """Get the answers of a batch that is over. Return how many belong to this run."""
        count = 0
        for place in await self.places(id):
            async with self._request(place) as reply:
                rest = b""
                while chunk := await reply.next():
                    *lines, rest = (rest + chunk).split(b"\n")
                    if len(rest) > _MOST_ROW_BYTES:
                        raise protocol_error("a row of the batch is too long", rest[:1000])
                    count += sum(map(self._add, lines))
                count += self._add(rest)
        return count

    def _add(self, line: bytes) -> bool:
        """Store a row if it is of this run. A row with an answer is never replaced by an error."""
        assert self._rows is not None, "begin() comes first"
        if not line.strip():
            return False
        row = _parse_object(line, "a row of the batch")
        id = row.get("custom_id")
        if not isinstance(id, str) or not id.startswith(f"{self._run}-"):
            return False
        has_answer = isinstance(self.read_row(row), dict)
        if has_answer or self._places.find(hash(id)) is None:
            self._rows.seek(0, os.SEEK_END)
            self._places.add(hash(id), self._rows.tell(), has_answer)
            self._rows.write(line + b"\n")
        return True

    def has_answer(self, id: str) -> bool:
        known = self._places.find(hash(id))
        return known is not None and bool(known[1])

    async def reply_to(self, question: Question) -> dict[str, Any]:
        """The reply of the API to a question. Raise TargetError if it has no answer."""
        known = self._places.find(hash((await self.write(question)).id))
        if known is None or self._rows is None:
            raise TargetError("no batch of the run has an answer to it", kind="http")
        self._rows.seek(known[0])
        reply = self.read_row(_parse_object(self._rows.readline(), "a row of the batch"))
        if isinstance(reply, TargetError):
            raise reply
        return reply

    def close(self) -> None:
        if self._rows is not None:
            self._rows.close()
            self._rows, self._places = None, Table(2)

    # Requests.

    async def _ask(self, path: str, sent: JSON | DraftFile = None) -> dict[str, Any]:
        async with self._request(path, sent) as reply:
            return _parse_object((await reply.read(_MOST_BYTES)).data, "the answer")

    async def _list_batches(self, path: str) -> list[dict[str, Any]]:
        """The last hundred batches of a user, the newest first."""
        return objects_of((await self._ask(f"{path}?limit=100")).get("data"))

    @asynccontextmanager
    async def _request(self, path: str, sent: JSON | DraftFile = None) -> AsyncIterator[Reply]:
        """Get something, or post what is sent."""
        kind = "application/json"
        body: bytes | BinaryIO = b""
        if isinstance(sent, DraftFile):
            kind, body = sent.form.content_type, sent.finish()
        elif sent is not None:
            body = dumps(sent).encode()
        how, headers = "GET" if sent is None else "POST", {"Content-Type": kind}
        send = self._client().send(how, self._base_url + path, body, headers)
        try:
            async with asyncio.timeout(_LONGEST_S), send as reply:
                yield reply
        except TimeoutError:
            raise connection_error(f"nothing within {_LONGEST_S:g} s", self._base_url) from None
        finally:
            if not isinstance(body, bytes):
                body.close()


def _id_of(value: dict[str, Any]) -> str:
    """The id that a service gave something. It becomes part of an address."""
    id = value.get("id")
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise TargetError(f"the service returned no id, but {id!r:.60}", kind="protocol")
    return id


def _parse_object(data: bytes, what: str) -> dict[str, Any]:
    try:
        return parse_object(data)
    except BadJsonError as error:
        raise protocol_error(f"{what} is not JSON: {error}", data) from None


def _no_answer(words: Iterable[object], status: object) -> TargetError:
    """Why a question of a batch has no answer. To ask it again needs another batch."""
    said = ": ".join(str(each) for each in words if each) or "it says no more"
    what = f"the batch has no answer: {said}"
    return TargetError(what, kind="http", details={"status": status})


_TAG = "evalcase"
"""The name of the tag in the metadata of a batch of OpenAI's."""
_OVER = frozenset({"completed", "failed", "expired", "cancelled"})
# No line of JSON has a line end in it, so none can be taken for this.
_BOUNDARY = "evalcase-7MA4YWxkTrZu0gW"
_PART = f"--{_BOUNDARY}\r\nContent-Disposition: form-data; name="


class OpenAIBatches(ChatBatches):
    """A file of requests goes up, files of answers and of errors come down."""

    form = BatchForm(
        head=f'{_PART}"purpose"\r\n\r\nbatch\r\n{_PART}"file"; filename="batch.jsonl"\r\n'
        "Content-Type: application/jsonl\r\n\r\n".encode(),
        between=b"\n",
        tail=f"\n\r\n--{_BOUNDARY}--\r\n".encode(),
        content_type=f"multipart/form-data; boundary={_BOUNDARY}",
        most_questions=50_000,
        most_bytes=190_000_000,
    )

    def line(self, id: str, body: JSON) -> bytes:
        row = {"custom_id": id, "method": "POST", "url": f"/v1{self._path}", "body": body}
        return dumps(row).encode()

    async def send(self, draft: DraftFile, tag: str) -> str:
        batch: JSON = {
            "input_file_id": _id_of(await self._ask("/files", draft)),
            "endpoint": f"/v1{self._path}", "completion_window": "24h", "metadata": {_TAG: tag},
        }  # fmt: skip
        return _id_of(await self._ask("/batches", batch))

    async def find(self, sent: SentBatch) -> AsyncIterator[str]:
        for each in await self._list_batches("/batches"):
            if part_of(each, "metadata").get(_TAG) == sent.tag:
                yield _id_of(each)

    async def look(self, id: str) -> BatchLook:
        batch = await self._ask(f"/batches/{id}")
        counts, errors = part_of(batch, "request_counts"), part_of(batch, "errors")
        said = [error_message({"error": each}) for each in (errors.get("data") or ())[:3]]
        status = str(batch.get("status"))
        return BatchLook(
            status in _OVER,
            (count_of(counts.get("completed")) or 0) + (count_of(counts.get("failed")) or 0),
            count_of(counts.get("total")) or 0,
            ": ".join([status, "; ".join(filter(None, said))]) if any(said) else status,
        )

    async def places(self, id: str) -> list[str]:
        batch = await self._ask(f"/batches/{id}")
        files = [batch.get("output_file_id"), batch.get("error_file_id")]
        return [f"/files/{_id_of({'id': file})}/content" for file in files if file]

    def read_row(self, row: dict[str, Any]) -> dict[str, Any] | TargetError:
        response, error = part_of(row, "response"), row.get("error")
        status, body = response.get("status_code"), response.get("body")
        if status == 200 and isinstance(body, dict) and not error:
            return body
        said = error_message(body) or error_message({"error": error})
        return _no_answer((part_of(error).get("code") or status, said), status)


_ANTHROPIC_PATH = "/v1/messages/batches"
_CLOCKS_DIFFER = timedelta(minutes=10)
_ENDED = {"canceled": "it was cancelled", "expired": "it expired before it was asked"}


class AnthropicBatches(ChatBatches):
    """All requests go up in one body, and the answers come down as rows."""

    form = BatchForm(
        head=b'{"requests":[', between=b",", tail=b"]}", content_type="application/json",
        most_questions=100_000, most_bytes=250_000_000,
    )  # fmt: skip

    def line(self, id: str, body: JSON) -> bytes:
        return dumps({"custom_id": id, "params": body}).encode()

    async def send(self, draft: DraftFile, tag: str) -> str:
        del tag  # there is no place for it
        return _id_of(await self._ask(_ANTHROPIC_PATH, draft))

    async def find(self, sent: SentBatch) -> AsyncIterator[str]:
        """Batches of that time or later with as many questions, the nearest in time first. The ids
        of their questions tell whether they are ours."""
        at, found = datetime.fromisoformat(sent.at), dict[str, timedelta]()
        for each in await self._list_batches(_ANTHROPIC_PATH):
            try:
                made = datetime.fromisoformat(str(each.get("created_at")))
                if made < at - _CLOCKS_DIFFER:
                    break
            except (ValueError, TypeError):  # no time, or one without a zone
                made = at
            if _look_at(each).questions == sent.questions:
                found[_id_of(each)] = abs(made - at)
        for id in sorted(found, key=found.__getitem__):
            yield id

    async def look(self, id: str) -> BatchLook:
        return _look_at(await self._ask(f"{_ANTHROPIC_PATH}/{id}"))

    async def places(self, id: str) -> list[str]:
        # The service names an address, too; but no key is sent to an address from an answer.
        return [f"{_ANTHROPIC_PATH}/{id}/results"]

    def read_row(self, row: dict[str, Any]) -> dict[str, Any] | TargetError:
        result = part_of(row, "result")
        how, message = result.get("type"), result.get("message")
        if how == "succeeded" and isinstance(message, dict):
            return message
        said = _ENDED.get(str(how)) or error_message(result.get("error"))
        return _no_answer((how, said or "it says no more"), how)


def _look_at(batch: dict[str, Any]) -> BatchLook:
    counts = part_of(batch, "request_counts")
    known = {name: count_of(count) or 0 for name, count in counts.items()}
    questions, status = sum(known.values()), str(batch.get("processing_status"))
    return BatchLook(status == "ended", questions - known.get("processing", 0), questions, status)
