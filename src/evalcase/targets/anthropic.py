"""Models by Anthropic's Messages API.

The key is that of ANTHROPIC_API_KEY, or of the variable that `key_env` names; with another
`base_url`, only the latter.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

from evalcase.targets.chat.anthropic_answer import AnthropicStream, read_anthropic_answer
from evalcase.targets.chat.anthropic_messages import write_anthropic_messages
from evalcase.targets.chat.api import Api
from evalcase.targets.chat.model_names import has_address, split_model
from evalcase.targets.chat.options import ChatOptions
from evalcase.targets.chat.target import ChatTarget
from evalcase.targets.web.options import KeyRule
from evalcase.types.options import Text, about
from evalcase.types.target import TargetKind
from evalcase.types.value import JSON

if TYPE_CHECKING:
    from evalcase.targets.chat.batches import BatchService


def _write_schema(schema: JSON, params: dict[str, JSON]) -> dict[str, JSON]:
    given = params.get("output_config")
    kept = given if isinstance(given, dict) else {}
    return {"output_config": {**kept, "format": {"type": "json_schema", "schema": schema}}}


def _make_batches() -> BatchService:
    from evalcase.targets.chat.anthropic_batches import AnthropicBatches  # few ask by batches

    return AnthropicBatches()


_API = Api(
    kind="anthropic",
    base_url="https://api.anthropic.com",
    address_names=("ANTHROPIC_BASE_URL",),
    path="/v1/messages",
    key=KeyRule("x-api-key", "", "ANTHROPIC_API_KEY"),
    own_params=frozenset({"model", "messages", "system"}),
    defaults={"max_tokens": 4096},
    stream_defaults={},
    write_messages=write_anthropic_messages,
    write_schema={"json_schema": _write_schema},
    read_answer=read_anthropic_answer,
    make_assembler=AnthropicStream,
    make_batches=_make_batches,
)


class AnthropicOptions(ChatOptions, frozen=True, kw_only=True):
    """Which version of the API is spoken, too."""

    api: ClassVar[Api] = _API

    version: Annotated[
        Text, about("The version of the API.", elsewhere=("anthropic_version", "api_version"))
    ] = "2023-06-01"

    @property
    def own_headers(self) -> dict[str, str]:
        return {"anthropic-version": self.version}


class AnthropicTarget(ChatTarget):
    """Calls a model through Anthropic's Messages API."""

    kind: ClassVar[TargetKind] = TargetKind(
        "anthropic", "Calls a model through Anthropic's Messages API.", AnthropicOptions,
        value="model", split_value=partial(split_model, "anthropic"),
        carries_address=has_address, priced=True,
    )  # fmt: skip
