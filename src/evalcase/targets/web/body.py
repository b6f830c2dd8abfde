"""The body of a request, made from a template: any JSON value with placeholders in its texts.

| placeholder | value |
|---|---|
| `{prompt}` | the last user text; data as JSON |
| `{messages}` | all messages of the input, a list |
| `{case_id}`, `{conversation_id}`, `{metadata}` | as in the case |
| `{repeat}` | which trial of the case this is, from 1 |
| `{files}` | the files that messages refer to, by their names: `{media_type, text}`, or `base64` |

A text that is one placeholder becomes the value itself. In a longer text the value stands as text,
JSON where it is none. All is filled in at once: what is put in is never looked at again. `{{name}}`
is the literal `{name}`; braces around anything but a name stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from evalcase.model.json_value import JSON
from evalcase.model.question import Question
from evalcase.model.shape import Fault
from evalcase.targets.asking.files import describe_files
from evalcase.targets.asking.shown import content_text, last_user_content

NAMES = (
    "prompt", "messages", "case_id", "conversation_id", "metadata", "repeat", "files"
)  # fmt: skip
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")


class BodyTemplate:
    """A template, and the placeholders that stand in it."""

    def __init__(self, template: JSON) -> None:
        self._template = template
        self.used = {found for text in _texts(template) for found in _names(text)}

    def faults(self, name: str) -> Iterator[Fault]:
        """What is wrong with its placeholders; `name` is the option that it is of."""
        for used in sorted(self.used - set(NAMES)):
            literal = f"write {{{{{used}}}}} if it is meant literally"
            yield Fault((name,), f"`{name}` has no placeholder {{{used}}}: {_hint(used)} {literal}")
        if not self.used:
            what = "has no placeholder, so every case would be asked the same"
            yield Fault((name,), f"`{name}` {what}")

    def fill(self, question: Question, root: str) -> JSON:
        """The body of a question."""
        values = {name: _value(name, question, root) for name in self.used}
        return _filled(self._template, values)


def _hint(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, NAMES, 1, 0.6)
    known = ", ".join(f"{{{each}}}" for each in NAMES)
    return f"did you mean {{{near[0]}}}?" if near else f"there are {known};"


def _names(text: str) -> Iterator[str]:
    return (match[2] for match in _PLACEHOLDER.finditer(text) if match[2] is not None)


def _texts(template: JSON) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, dict | list):
        for item in template.values() if isinstance(template, dict) else template:
            yield from _texts(item)


def _filled(template: JSON, values: dict[str, JSON]) -> JSON:
    if isinstance(template, dict):
        return {key: _filled(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return [_filled(item, values) for item in template]
    if not isinstance(template, str):
        return template
    whole = _PLACEHOLDER.fullmatch(template)
    if whole is not None and whole[2] is not None:
        return values[whole[2]]
    return _PLACEHOLDER.sub(
        lambda match: match[0][1:-1] if match[2] is None else _as_text(values[match[2]]), template
    )


def _value(name: str, question: Question, root: str) -> JSON:
    if name == "prompt":
        return content_text(last_user_content(question))
    if name == "messages":
        return [message.to_dict() for message in question.messages]
    if name == "files":
        return describe_files(question, root)
    if name == "repeat":
        return question.repeat
    if name == "metadata":
        return question.metadata
    return question.case if name == "case_id" else question.conversation_id


def _as_text(value: JSON) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
