"""Any service with OpenAI's chat API.

The key is that of OPENAI_API_KEY, or of the variable that `key_env` names; with another
`base_url`, only the latter.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from evalcase.targets.chat.api import Api
from evalcase.targets.chat.model_names import has_address, split_model
from evalcase.targets.chat.openai_answer import OpenAIStream, read_openai_answer
from evalcase.targets.chat.openai_messages import write_openai_messages
from evalcase.targets.chat.options import ChatOptions
from evalcase.targets.chat.target import ChatTarget
from evalcase.targets.web.options import KeyRule
from evalcase.types.target import TargetKind
from evalcase.types.value import JSON

if TYPE_CHECKING:
    from evalcase.targets.chat.batches import BatchService


def _write_object(_: JSON, __: dict[str, JSON]) -> dict[str, JSON]:
    return {"response_format": {"type": "json_object"}}


def _write_schema(schema: JSON, _: dict[str, JSON]) -> dict[str, JSON]:
    named: JSON = {"name": "answer", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _make_batches() -> BatchService:
    from evalcase.targets.chat.openai_batches import OpenAIBatches  # few ask by batches

    return OpenAIBatches()


_API = Api(
    kind="openai",
    base_url="https://api.openai.com/v1",
    address_names=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    path="/chat/completions",
    key=KeyRule(variable="OPENAI_API_KEY"),
    own_params=frozenset({"model", "messages"}),
    defaults={},
    stream_defaults={"stream_options": {"include_usage": True}},
    write_messages=write_openai_messages,
    write_schema={"json_schema": _write_schema, "json_object": _write_object},
    read_answer=read_openai_answer,
    make_assembler=OpenAIStream,
    make_batches=_make_batches,
)


class OpenAIOptions(ChatOptions, frozen=True, kw_only=True):
    """It has none of its own."""

    api: ClassVar[Api] = _API


class OpenAITarget(ChatTarget):
    """Calls a model through OpenAI's chat API."""

    kind: ClassVar[TargetKind] = TargetKind(
        "openai", "Calls a model through OpenAI's chat API.", OpenAIOptions,
        value="model", split_value=partial(split_model, "openai"),
        carries_address=has_address, priced=True,
    )  # fmt: skip
