"""The body of a request, or its query, made from a template: any JSON value with placeholders in
its texts.

| placeholder | value |
|---|---|
| `{prompt}` | the last user text; data as JSON |
| `{messages}` | all messages of the input, a list |
| `{case_id}`, `{conversation_id}`, `{metadata}` | as in the case |
| `{repeat}` | which trial of the case this is, from 1 |
| `{session}`, `{turn}` | which conversation this is of, new for every trial; and which turn of it |
| `{files}` | the files that messages refer to, by their names: `{media_type, text}`, or `base64` |

How they are filled in is said in `placeholders`.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from evalcase.targets.asking.files import describe_files
from evalcase.targets.asking.shown import last_user_content, write_content
from evalcase.types.options import OptionFault
from evalcase.types.question import Question
from evalcase.types.value import JSON
from evalcase.util.placeholders import Template, value_as_text

NAMES = (
    "prompt", "messages", "case_id", "conversation_id", "metadata", "repeat", "session", "turn",
    "files",
)  # fmt: skip


class BodyTemplate:
    """A template, and the placeholders that stand in it."""

    def __init__(self, template: JSON) -> None:
        self._template = Template(template, NAMES, strict=True)
        self.used = self._template.used

    def faults(self, name: str) -> Iterator[OptionFault]:
        """What is wrong with its placeholders; `name` is the option that it is of."""
        for path, message in self._template.faults():
            yield OptionFault((name, *path), f"`{name}`: {message}")

    def lack_of_any(self, name: str) -> Iterator[OptionFault]:
        """That it has no placeholder, if it is all that tells cases apart."""
        if self.used or any(self._template.faults()):
            return
        what = f"`{name}` has no placeholder, so every case would be asked the same"
        for literal, path in self._template.escaped.items():
            hint = f"{{{{{literal}}}}} is the literal {{{literal}}}: write it with one brace"
            yield OptionFault((name, *path), what, f"{hint}, {{{literal}}}")
            return
        yield OptionFault((name,), what)

    def fill(self, question: Question, root: str) -> JSON:
        """The body of a question."""
        return self._template.fill(
            {name: _value_of_name(name, question, root) for name in self.used}
        )


def write_query(parameters: JSON) -> str:
    """Parameters as addresses have them: whatever a value holds, it stays a value of its name."""
    assert isinstance(parameters, dict)
    return "&".join(
        f"{_encode(name)}={_encode(value_as_text(value))}" for name, value in parameters.items()
    )


def _encode(text: str) -> str:
    return quote(text, safe="")


def _value_of_name(name: str, question: Question, root: str) -> JSON:
    match name:
        case "prompt":
            return write_content(last_user_content(question))
        case "messages":
            return [message.to_dict() for message in question.messages]
        case "files":
            return describe_files(question, root)
        case "repeat":
            return question.repeat
        case "session":
            return question.session
        case "turn":
            return question.turn
        case "metadata":
            return question.metadata
    return question.case if name == "case_id" else question.conversation_id
