"""What one question is to a command: the arguments, the variables, stdin and files.

In a shell line a placeholder becomes `"$EVALCASE_PROMPT"` and the like, with the value in that
variable. It is one word to the shell wherever a shell-quoted text would be, and no text of a case
can ever become part of the program.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evalcase.targets.asking.shown import describe_question, last_user_content, write_content
from evalcase.targets.process.program import Program
from evalcase.types.message import Message, named_file, parts_of
from evalcase.types.question import Question

_PLAIN: dict[str, Callable[[Question], str]] = {
    "case_id": lambda question: question.case,
    "EVAL_ID": lambda question: question.case,
    "conversation_id": lambda question: question.conversation_id or "",
    "repeat": lambda question: str(question.repeat),
    "attempt": lambda question: str(question.attempt),
    "ATTEMPT": lambda question: str(question.attempt - 1),
    "session": lambda question: question.session,
    "turn": lambda question: str(question.turn),
}
"""Placeholders for what a question has as it stands."""
_FILES = frozenset({"input_file", "prompt_file", "output_file", "PROMPT_FILE", "OUTPUT_FILE"})


class CommandInput:
    """The argv and the rest for one question."""

    def __init__(self, program: Program, question: Question, folder: str | None) -> None:
        self._program = program
        self._question = question
        self._folder = folder
        self.env: dict[str, str] = {}
        self.argv: list[str] = []

    def fill(self) -> CommandInput:
        """Put the question into arguments, variables and files."""
        self.env = self._program.variables()
        self.argv = self._argv()
        return self

    @property
    def output_file(self) -> str | None:
        """Where the command is to leave its answer, if it was told of a file."""
        is_used = self._program.template.used & {"output_file", "OUTPUT_FILE"}
        return self._path("output.json") if is_used else None

    @property
    def stdin(self) -> bytes | None:
        if self._program.stdin == "none":
            return None
        return self._prompt().encode() if self._program.stdin == "text" else self._object()

    def _argv(self) -> list[str]:
        template = self._program.template
        values = {name: self._value(name) for name in template.used}
        if not self._program.shell:
            return template.fill_texts(values)
        words = {name: self._as_word(name, value) for name, value in values.items()}
        if "FILES" in words:
            words["FILES"] = self._file_words()
        return ["/bin/sh", "-c", *template.fill_texts(words)]

    def _as_word(self, name: str, value: str) -> str:
        variable = f"EVALCASE_{name.upper()}"
        self.env[variable] = value
        return f'"${variable}"'

    def _file_words(self) -> str:
        template = self._program.files
        words = []
        for number, path in enumerate(self._question.files.values(), 1):
            values = {"path": path, "basename": os.path.basename(path)}
            used = {name: self._as_word(f"{name}_{number}", values[name]) for name in template.used}
            words += template.fill_texts(used)
        return " ".join(words)

    def _value(self, name: str) -> str:
        if name in _PLAIN:
            return _PLAIN[name](self._question)
        match name:
            case "prompt" | "PROMPT":
                return self._prompt()
            case "prompt_file" | "PROMPT_FILE":
                return self._write("prompt.txt", self._prompt().encode())
            case "input_file":
                return self._write("input.json", self._object())
            case "output_file" | "OUTPUT_FILE":
                return self._path("output.json")
        return ""

    def _prompt(self) -> str:
        if self._program.agentv:
            return write_conversation(self._question)
        return write_content(last_user_content(self._question))

    def _object(self) -> bytes:
        return json.dumps(describe_question(self._question)).encode() + b"\n"

    def _write(self, name: str, data: bytes) -> str:
        path = self._path(name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def _path(self, name: str) -> str:
        assert self._folder is not None
        return os.path.join(self._folder, name)


@contextmanager
def prepare_input(program: Program, question: Question) -> Iterator[CommandInput]:
    """The input of a command, with a folder for its files where it needs one."""
    if not program.template.used & _FILES:
        yield CommandInput(program, question, None).fill()
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="evalcase-", ignore_cleanup_errors=True) as folder:
        yield CommandInput(program, question, folder).fill()


def write_conversation(question: Question) -> str:
    """All messages as one text, as AgentV writes it: with roles where there are several."""
    texts = [(message.role, _write_text(message, question.files)) for message in question.messages]
    if len({role for role, _ in texts}) < 2:
        return "\n\n".join(text for _, text in texts)
    return "\n\n".join(f"@[{role.capitalize()}]:\n{text}" for role, text in texts)


def _write_text(message: Message, found: dict[str, str]) -> str:
    parts = parts_of(message.content)
    if not parts:
        return write_content(message.content)
    texts = []
    for part in parts:
        file = named_file(part)
        if part["type"] == "file" and file is not None:
            texts.append(f"<file: {found.get(file, file)}>")
        else:
            texts.append(write_content([part]))
    return "\n\n".join(text for text in texts if text)
