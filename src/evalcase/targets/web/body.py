"""The body of a request, made from a template: any JSON value with placeholders in its texts.

| placeholder | value |
|---|---|
| `{prompt}` | the last user text; data as JSON |
| `{messages}` | all messages of the input, a list |
| `{case_id}`, `{conversation_id}`, `{metadata}` | as in the case |
| `{repeat}` | which trial of the case this is, from 1 |
| `{files}` | the files that messages refer to, by their names: `{media_type, text}`, or `base64` |

How they are filled in is said in `placeholders`.
"""

from __future__ import annotations

from evalcase.model.json_value import JSON
from evalcase.model.trial import Trial
from evalcase.targets.files import sent_files
from evalcase.targets.options import Options
from evalcase.targets.shown import content_text, last_user_content
from evalcase.text.placeholders import Template

NAMES = (
    "prompt", "messages", "case_id", "conversation_id", "metadata", "repeat", "files"
)  # fmt: skip


class BodyTemplate:
    """A template whose placeholders are known to exist."""

    def __init__(self, read: Options, name: str) -> None:
        self._template = Template(read.json(name), NAMES, strict=True)
        self.used = self._template.used
        for fault in self._template.faults():
            read.refuse(name, f"can't be filled: {fault}")
        if not self.used:
            read.refuse(name, "has no placeholder, so every case would be asked the same")

    def fill(self, trial: Trial) -> JSON:
        return self._template.fill({name: _value(name, trial) for name in self.used})


def _value(name: str, trial: Trial) -> JSON:
    case = trial.case
    if name == "prompt":
        return content_text(last_user_content(case))
    if name == "messages":
        return [message.to_dict() for message in case.input]
    if name == "files":
        return sent_files(trial)
    if name == "repeat":
        return trial.repeat
    if name == "metadata":
        return case.metadata
    return case.id if name == "case_id" else case.conversation_id
