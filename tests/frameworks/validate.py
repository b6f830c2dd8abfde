"""`python -m tests.frameworks.validate` holds what services send, as it was written by hand from
their documentation, to the types of their libraries. It prints what these don't know."""

import json
from collections.abc import Iterator
from typing import Any

from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from google.genai.types import GenerateContentResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter, ValidationError

from tests.frameworks.servers import ANSWERS

TYPES: dict[str, tuple[Any, Any]] = {
    "openai_chat": (ChatCompletion, ChatCompletionChunk),
    "openai_responses": (Response, ResponseStreamEvent),
    "anthropic": (BetaMessage, BetaRawMessageStreamEvent),
    "gemini": (GenerateContentResponse, GenerateContentResponse),
}
SENT_BUT_UNTYPED = {".store", ".response.store"}
"""What OpenAI documents, and its library leaves out."""


def main() -> None:
    for folder, (whole, event) in TYPES.items():
        for path in sorted((ANSWERS / folder).iterdir()):
            name = f"{folder}/{path.name}"
            if path.suffix == ".sse":
                lines = path.read_text("utf-8").splitlines()
                values = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
                values = [value for value in values if value.get("type") != "ping"]
                problems = [each for value in values for each in _check(event, value)]
            elif path.name.count(".") > 1:
                continue  # a library wrote it
            else:
                value = json.loads(path.read_text("utf-8"))
                problems = list(_check(whole, value)) if isinstance(value, dict) else []
            for problem in dict.fromkeys(problems):
                print(f"{name}: {problem}")  # noqa: T201 - its purpose


def _check(kind: Any, value: Any) -> Iterator[str]:
    try:
        read = TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        yield f"is none: {error.errors()[0]['msg']}"
        return
    yield from (key for key in _unknown(read, "") if key not in SENT_BUT_UNTYPED)


def _unknown(value: Any, path: str) -> Iterator[str]:
    """Where there are keys that a type does not have."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _unknown(item, f"{path}.{number}")
    for key in getattr(value, "model_extra", None) or ():
        yield f"{path}.{key}"
    for key in getattr(type(value), "model_fields", ()):
        yield from _unknown(getattr(value, key), f"{path}.{key}")


if __name__ == "__main__":
    main()
