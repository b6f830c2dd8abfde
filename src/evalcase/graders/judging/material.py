"""What a judge is shown of a trial: each block as text that can't be taken for another's words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evalcase.types.case import Case
from evalcase.types.grader import Context
from evalcase.types.message import Message
from evalcase.types.value import JSON
from evalcase.util.json import JsonPath, MissingError
from evalcase.util.text import as_json, content_text


def show_blocks(context: Context, chunks: Sequence[str]) -> dict[str, str]:
    """All blocks but the criteria; what the case hasn't got is empty."""
    answer = context.answer
    before = (*context.question.messages, *answer.messages[: answer.last_at])
    user = context.case.user
    return {
        "goal": user.goal if user is not None else "",
        "conversation": "\n".join(as_json(_write_message(each)) for each in before),
        "reference": show_reference(context),
        "context": "\n".join(
            as_json({"chunk": number, "text": text}) for number, text in enumerate(chunks, start=1)
        ),
        "answer": context.text,
        "tool_calls": "\n".join(_show_calls(context.answer.messages)),
    }


def show_reference(context: Context) -> str:
    """What is expected: the last text or data of the assistant, and the calls."""
    expected = context.case.expected_output
    said = [
        each.content for each in expected if each.role == "assistant" and each.content is not None
    ]
    texts = [content_text(said[-1])] if said else []
    return "\n".join([*texts, *_show_calls(expected)])


def find_chunks(context: Context, place: str | None) -> list[str]:
    """The context that an answer should rest on: of the case's metadata, or of its tools.

    `place` says where: `tools`, or a path into the metadata.
    """
    if place == "tools":
        return _tool_outputs(context.answer.messages)
    found = _in_metadata(context.case.metadata, place or "context")
    if found is None and place is None:
        return _tool_outputs(context.answer.messages)
    items = found if isinstance(found, list) else [found]
    return _as_texts(items)


def has_context(case: Case, place: str | None) -> bool:
    """Whether there is a context for every answer; the outputs of tools have to be named for it."""
    return place == "tools" or _in_metadata(case.metadata, place or "context") not in (None, [], "")


def _in_metadata(metadata: Mapping[str, JSON], path: str) -> JSON:
    try:
        return JsonPath(path.removeprefix("metadata.")).find(dict(metadata))
    except MissingError:
        return None


def _write_message(message: Message) -> dict[str, JSON]:
    data = message.to_dict()
    return {key: data[key] for key in ("role", "content", "tool_calls", "name") if key in data}


def _show_calls(messages: Sequence[Message]) -> list[str]:
    """Each call in a line, with its output where that is known."""
    outputs = {each.get("tool_call_id"): each.content for each in messages if each.role == "tool"}
    lines = []
    for call in (call for message in messages for call in message.tool_calls):
        told: dict[str, JSON] = {"tool": call.name, "input": call.arguments}
        output = call.output if call.output is not None else outputs.get(call.id)
        if output is not None:
            told["output"] = output
        lines.append(json.dumps(told, ensure_ascii=False))
    return lines


def _tool_outputs(messages: Sequence[Message]) -> list[str]:
    called = [call.output for message in messages for call in message.tool_calls]
    told = [message.content for message in messages if message.role == "tool"]
    return _as_texts([*called, *told])


def _as_texts(values: Sequence[JSON]) -> list[str]:
    return [each if isinstance(each, str) else as_json(each) for each in values if each is not None]
