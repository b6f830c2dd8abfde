"""Batches by OpenAI's API: a file of requests goes up, files of answers and of errors come down."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from json import dumps
from typing import Any

from evalcase.targets.chat.batch_answers import batch_error
from evalcase.targets.chat.batch_client import BatchClient, BatchLook, count_of, id_of
from evalcase.targets.chat.batch_draft import BatchForm, DraftFile
from evalcase.targets.web.errors import error_message
from evalcase.types.target import SentBatch
from evalcase.types.value import JSON

_MARK = "evalcase"
"""The name of the tag among what a batch is told."""
_PAGES = 20
_OVER = frozenset({"completed", "failed", "expired", "cancelled"})
# No line of JSON has a line end in it, so none can be taken for this.
_BOUNDARY = "evalcase-7MA4YWxkTrZu0gW"
_PART = f"--{_BOUNDARY}\r\nContent-Disposition: form-data; name="


class OpenAIBatches:
    """What OpenAI's batches have of their own."""

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
        url = "/v1/chat/completions"
        return dumps({"custom_id": id, "method": "POST", "url": url, "body": body}).encode()

    async def send(self, client: BatchClient, draft: DraftFile, tag: str) -> str:
        file = id_of(await client.post_draft("/files", draft), "the file of a batch")
        asked: JSON = {
            "input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h",
            "metadata": {_MARK: tag},
        }  # fmt: skip
        return id_of(await client.post("/batches", asked), "a batch")

    async def find(self, client: BatchClient, sent: SentBatch) -> AsyncIterator[str]:
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            page = await client.get("/batches", limit="100", **after)
            batches = [each for each in page.get("data") or () if isinstance(each, dict)]
            for each in batches:
                told = each.get("metadata")
                if isinstance(told, dict) and told.get(_MARK) == sent.tag:
                    yield id_of(each, "a batch")
            if page.get("has_more") is not True or not batches:
                return
            after = {"after": id_of(batches[-1], "a batch")}

    async def look(self, client: BatchClient, id: str) -> BatchLook:
        batch = await client.get(f"/batches/{id}")
        counts, status = batch.get("request_counts"), str(batch.get("status"))
        counts = counts if isinstance(counts, dict) else {}
        answered = count_of(counts.get("completed")) + count_of(counts.get("failed"))
        said = "; ".join(_find_complaints(batch))
        return BatchLook(
            status in _OVER, answered, count_of(counts.get("total")),
            f"{status}: {said}" if said else status,
        )  # fmt: skip

    async def places(self, client: BatchClient, id: str) -> list[str]:
        batch = await client.get(f"/batches/{id}")
        files = [batch.get("output_file_id"), batch.get("error_file_id")]
        return [f"/files/{id_of({'id': file}, 'a file')}/content" for file in files if file]

    def has_answer(self, row: dict[str, Any]) -> bool:
        response = row.get("response")
        if row.get("error") is not None or not isinstance(response, dict):
            return False
        return response.get("status_code") == 200 and isinstance(response.get("body"), dict)

    def read(self, row: dict[str, Any]) -> dict[str, Any]:
        """The answer of the API in a row. Raise TargetError if there is none."""
        response, error = row.get("response"), row.get("error")
        response = response if isinstance(response, dict) else {}
        if self.has_answer(row):
            body: dict[str, Any] = response["body"]
            return body
        status = response.get("status_code")
        said = error_message(response.get("body")) or error_message({"error": error})
        code = error.get("code") if isinstance(error, dict) else None
        words = ": ".join(str(each) for each in (code or status, said) if each)
        raise batch_error(f"the batch has no answer: {words or 'it says no more'}", status=status)


def _find_complaints(batch: dict[str, Any]) -> Iterator[str]:
    errors = batch.get("errors")
    data = errors.get("data") if isinstance(errors, dict) else None
    for each in (data if isinstance(data, list) else [])[:3]:
        said = error_message({"error": each})
        if said:
            yield said
