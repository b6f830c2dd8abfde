"""The prompts of a configuration: texts, messages, and files of both."""

from __future__ import annotations

import os
from collections.abc import Iterator

from evalcase.importing.draft import SuiteDraft
from evalcase.importing.promptfoo.folder import FILE, Folder, is_code
from evalcase.importing.source import Item
from evalcase.importing.templates import UnrenderableError, Variables, refuse_computed
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json

_ENDINGS = (".txt", ".md", ".j2", ".json", ".jsonl", ".yaml", ".yml", ".csv")
_ELSEWHERE = ("langfuse://", "portkey://", "helicone://", "http://", "https://", "exec:", "mlflow:")
_DELIMITER = "---"


class PromptTemplate:
    """A prompt, before variables are put into it."""

    def __init__(self, label: str, text: str, item: Item) -> None:
        self.label = label
        """What it is called; empty if nobody named it."""
        self.text = text
        self.item = item
        self._chat = _read_chat(text)

    def fill(self, variables: Variables, around: tuple[str, str], unset: list[str]) -> JSON:
        """What a target is asked: messages where it is a list of them, else text."""
        before, after = around
        if self._chat is not None and not before and not after:
            return _fill_all(self._chat, variables, unset)
        value = variables.render_value(before + self.text + after, unset)
        return (_read_chat(value) or value) if isinstance(value, str) else value


def _fill_all(value: JSON, variables: Variables, unset: list[str]) -> JSON:
    if isinstance(value, str):
        return variables.render(value, unset)
    if isinstance(value, list):
        return [_fill_all(each, variables, unset) for each in value]
    if isinstance(value, dict):
        return {name: _fill_all(each, variables, unset) for name, each in value.items()}
    return value


def _read_chat(text: str) -> JSON:
    """The messages that a text is, as JSON or as YAML; None if it is something else."""
    start = text.lstrip()[:40]
    try:
        if start.startswith("["):
            value = parse_json(text)
        elif start.startswith(("- role:", '- "role":', "- content:")):
            from evalcase.format.document import parse_document

            document = parse_document(text.encode(), "yaml", "prompt")
            value = None if document.problems else document.value
        else:
            return None
    except BadJsonError:
        return None
    is_chat = isinstance(value, list) and value and all(map(_is_turn, value))
    return value if is_chat else None


def _is_turn(value: JSON) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    return isinstance(value.get("content"), str | list) or "tool_calls" in value


def read_prompts(prompts: Item, folder: Folder, suite: SuiteDraft) -> list[PromptTemplate]:
    """All prompts; those that can't be used are told."""
    if prompts.value is None:
        return [PromptTemplate("", "{{prompt}}", prompts)]
    if isinstance(prompts.value, dict):  # an old spelling: labels by their files
        named = [(item._replace(value=name), item.value) for name, item in prompts.fields()]
    elif isinstance(prompts.value, list):
        named = [_read_named(each) for each in prompts.items()]
    else:
        named = [_read_named(prompts)]
    found: list[PromptTemplate] = []
    for item, label in named:
        try:
            read = list(_read_prompt(item, label if isinstance(label, str) else "", folder))
            for each in read:
                refuse_computed(each.text)
            found += read
        except UnrenderableError as error:
            suite.lose(item, f"this prompt, which has {error}")
        except ValueError as error:
            suite.lose(item, f"this prompt: {error}")
    return _label_prompts(found)


def _read_named(item: Item) -> tuple[Item, JSON]:
    if not isinstance(item.value, dict):
        return item, None
    held = next((name for name in ("raw", "id", "file", "path") if name in item.value), None)
    return (item if held is None else item.at(held)), item.value.get("label")


def _read_prompt(item: Item, label: str, folder: Folder) -> Iterator[PromptTemplate]:
    text = item.value
    if isinstance(text, dict) and isinstance(item.path[-1], int):
        raise ValueError("it has neither `raw` nor `id`")
    if not isinstance(text, str):
        raise ValueError("it is not text")
    if text.startswith(_ELSEWHERE):
        raise ValueError("it is kept, or made, somewhere else")
    if not _is_file(text):
        yield PromptTemplate(label, text, item)
        return
    if is_code(text):
        raise ValueError("it is code")
    for name in folder.find(text):
        yield from _read_file(name, label, item, folder)


def _is_file(text: str) -> bool:
    if text.startswith(FILE):
        return True
    is_name = "\n" not in text and "{" not in text and " " not in text.strip()
    return is_name and (text.lower().endswith(_ENDINGS) or is_code(text))


def _read_file(name: str, label: str, item: Item, folder: Folder) -> Iterator[PromptTemplate]:
    stem, ending = os.path.splitext(os.path.basename(name))
    own, ending = label or stem, ending.lower()
    if ending in (".yaml", ".yml", ".json"):
        from json import dumps

        text = folder.read(name)
        is_json = ending == ".json"
        yield PromptTemplate(own, text if is_json else dumps(folder.value(name)), item)
    elif ending == ".csv":
        for number, row in enumerate(folder.parse(name).documents, 1):
            cells = row.value if isinstance(row.value, dict) else {}
            text_of_row = cells.get("prompt")
            if not isinstance(text_of_row, str):
                raise ValueError("it has no column `prompt`")
            yield PromptTemplate(str(cells.get("label") or f"{own}-{number}"), text_of_row, item)
    elif ending == ".jsonl":
        for number, line in enumerate(folder.read(name).splitlines(), 1):
            if line.strip():
                yield PromptTemplate(f"{own}-{number}", line, item)
    elif ending == ".txt":
        texts = _split_prompts(folder.read(name))
        for number, text in enumerate(texts, 1):
            yield PromptTemplate(own if len(texts) == 1 else f"{own}-{number}", text, item)
    else:
        yield PromptTemplate(own, folder.read(name), item)


def _split_prompts(text: str) -> list[str]:
    """The prompts of a file, which stand between lines of `---`."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip() == _DELIMITER:
            found.append([])
        else:
            found[-1].append(line)
    texts = ("\n".join(lines).strip() for lines in found)
    return [each for each in texts if each]


def _label_prompts(prompts: list[PromptTemplate]) -> list[PromptTemplate]:
    """Each with a label of its own, where there are several."""
    if len(prompts) < 2:
        return prompts
    seen: dict[str, int] = {}
    for number, prompt in enumerate(prompts, 1):
        place = prompt.item.path[-1] if prompt.item.path else None
        label = prompt.label or f"prompt-{place + 1 if isinstance(place, int) else number}"
        seen[label] = seen.get(label, 0) + 1
        own = label if seen[label] == 1 else f"{label}-{seen[label]}"
        prompt.label = own
    return prompts
