"""Batches by Anthropic's API: all requests go up in one body, and the answers come down as rows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from json import dumps
from typing import Any

from evalcase.targets.chat.batch_answers import batch_error
from evalcase.targets.chat.batch_client import BatchClient, BatchLook, count_of, id_of
from evalcase.targets.chat.batch_draft import BatchForm, DraftFile
from evalcase.targets.web.errors import error_message
from evalcase.types.target import SentBatch
from evalcase.types.value import JSON

_PATH = "/v1/messages/batches"
_PAGES = 20
_EARLIER = timedelta(minutes=10)
"""By how much clocks may differ."""
_ENDED = {"canceled": "it was cancelled", "expired": "it expired before it was asked"}


class AnthropicBatches:
    """What Anthropic's batches have of their own."""

    form = BatchForm(
        head=b'{"requests":[', between=b",", tail=b"]}", content_type="application/json",
        most_questions=100_000, most_bytes=250_000_000,
    )  # fmt: skip

    def line(self, id: str, body: JSON) -> bytes:
        return dumps({"custom_id": id, "params": body}).encode()

    async def send(self, client: BatchClient, draft: DraftFile, tag: str) -> str:
        del tag  # there is no place for it
        return id_of(await client.post_draft(_PATH, draft), "a batch")

    async def find(self, client: BatchClient, sent: SentBatch) -> AsyncIterator[str]:
        """Those that were made at that time or later, with as many questions; first the one that
        was made next to it. Whose it is only its answers tell, by the ids of their questions."""
        at, found = datetime.fromisoformat(sent.at), dict[str, timedelta]()
        async for each in _made_since(client, at - _EARLIER):
            if _look_at_batch(each).questions == sent.questions:
                found[id_of(each, "a batch")] = abs((_made_at(each) or at) - at)
        for id in sorted(found, key=found.__getitem__):
            yield id

    async def look(self, client: BatchClient, id: str) -> BatchLook:
        return _look_at_batch(await client.get(f"{_PATH}/{id}"))

    async def places(self, client: BatchClient, id: str) -> list[str]:
        del client
        return [f"{_PATH}/{id}/results"]  # where else it is said to be, no key is sent to

    def has_answer(self, row: dict[str, Any]) -> bool:
        result = row.get("result")
        if not isinstance(result, dict) or result.get("type") != "succeeded":
            return False
        return isinstance(result.get("message"), dict)

    def read(self, row: dict[str, Any]) -> dict[str, Any]:
        """The answer of the API in a row. Raise TargetError if there is none."""
        result = row.get("result")
        result = result if isinstance(result, dict) else {}
        if self.has_answer(row):
            message: dict[str, Any] = result["message"]
            return message
        how = str(result.get("type"))
        said = _ENDED.get(how) or error_message(result.get("error")) or "it says no more"
        raise batch_error(f"the batch has no answer: {how}: {said}", status=how)


def _look_at_batch(batch: dict[str, Any]) -> BatchLook:
    counts = batch.get("request_counts")
    known = {name: count_of(count) for name, count in (counts or {}).items()}
    questions, status = sum(known.values()), str(batch.get("processing_status"))
    return BatchLook(status == "ended", questions - known.get("processing", 0), questions, status)


async def _made_since(client: BatchClient, since: datetime) -> AsyncIterator[dict[str, Any]]:
    after: dict[str, str] = {}
    for _ in range(_PAGES):
        page = await client.get(_PATH, limit="100", **after)
        batches = [each for each in page.get("data") or () if isinstance(each, dict)]
        for each in batches:
            made = _made_at(each)
            if made is not None and made < since:
                return  # the newest come first
            yield each
        if page.get("has_more") is not True or not batches:
            return
        after = {"after_id": id_of(batches[-1], "a batch")}


def _made_at(batch: dict[str, Any]) -> datetime | None:
    """When it was made; None if it doesn't say so in a way that can be compared."""
    try:
        made = datetime.fromisoformat(str(batch.get("created_at")))
    except ValueError:
        return None
    return made if made.tzinfo is not None else None
