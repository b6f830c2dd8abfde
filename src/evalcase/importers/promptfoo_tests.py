"""Prompts and tests of promptfoo, and tests of AgentV: in the file itself, other files, tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import product
from json import dumps
from math import prod
from typing import NamedTuple

from msgspec import Struct

from evalcase.format.document import parse_document
from evalcase.importers.draft import SuiteDraft, number_id
from evalcase.importers.javascript import UnrenderableError, Variables, refuse_computed
from evalcase.importers.promptfoo_checks import Assertion, read_assertions, read_cell
from evalcase.importers.source import FILE, REMOTE, Folder, ForeignFile, Item, is_code
from evalcase.types.message import is_message
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json

MAX_CASES = 100_000
_PROMPT_ENDINGS = (".txt", ".md", ".j2", ".json", ".jsonl", ".yaml", ".yml", ".csv")
_FIELDS = frozenset({
    "description", "vars", "assert", "options", "metadata", "threshold", "provider", "providers",
    "prompts", "providerOutput", "assertScoringFunction", "id",
})  # fmt: skip
_DELIMITER = re.compile(r"^[^\S\n]*---[^\S\n]*$", re.MULTILINE)
_COLUMNS = ("description", "threshold", "providerOutput", "providers", "prompts")
_COMMA = re.compile(r"(?<!\\),")


# Prompts


class PromptTemplate(Struct):
    label: str
    text: str
    item: Item
    references: tuple[str, ...] = ()
    """What providers and tests call it: its written label, its id, its file."""

    def is_meant_by(self, name: str) -> bool:
        """Whether a name means it, or a group of prompts: `Group` or `Group:*`."""
        start = name.removesuffix("*") if name.endswith("*") else f"{name}:"
        return any(each == name or each.startswith(start)
                   for each in (self.label, *self.references))  # fmt: skip

    def fill(self, variables: Variables, around: tuple[str, str], unset: list[str]) -> JSON:
        before, after = around
        chat = _read_chat(self.text)
        if chat is not None and not before and not after:
            return variables.render_all(chat, unset)
        value = variables.render_value(before + self.text + after, unset)
        return (_read_chat(value) or value) if isinstance(value, str) else value


def _read_chat(text: str) -> JSON:
    """The messages of a text that is JSON or YAML of them; None for other texts."""
    value: JSON = None
    if text.lstrip().startswith("["):
        try:
            value = parse_json(text)
        except BadJsonError:
            return None
    elif text.lstrip().startswith(("- role:", '- "role":', "- content:")):
        document = parse_document(text, "yaml", "prompt")
        value = document.value if document.is_sound else None
    return value if isinstance(value, list) and value and all(map(is_message, value)) else None


def read_prompts(prompts: Item, folder: Folder, suite: SuiteDraft) -> list[PromptTemplate]:
    """All prompts that can be used, each with a label of its own."""
    if prompts.value is None:
        return [PromptTemplate("", "{{prompt}}", prompts)]
    found: list[PromptTemplate] = []
    taken: dict[str, int] = {}
    for number, whole in enumerate(prompts.several(), 1):
        is_mapping = isinstance(whole.value, dict)
        item = whole.first("raw", "prompt", "file", "path", "id") if is_mapping else whole
        try:
            read = [*_read_prompt(item, whole.mapping(), folder)]
            for each in read:
                refuse_computed(each.text)
        except ValueError as error:
            how = ", which has" if isinstance(error, UnrenderableError) else ":"
            suite.lose(item, f"this prompt{how} {error}")
            continue
        for each in read:
            each.label = number_id(each.label or f"prompt-{number}", taken)
        found += read
    return found


def _read_prompt(item: Item, whole: Mapping[str, JSON], folder: Folder) -> Iterator[PromptTemplate]:
    text, label, id = item.value, whole.get("label"), whole.get("id")
    references = tuple(each for each in (label, id) if isinstance(each, str))
    label = label if isinstance(label, str) else ""
    if isinstance(text, list) and text and all(map(is_message, text)):
        text = dumps(text, ensure_ascii=False)
    if not isinstance(text, str):
        raise ValueError("it is not text")
    is_name = "\n" not in text and "{" not in text and " " not in text.strip()
    is_file = is_name and (text.lower().endswith(_PROMPT_ENDINGS) or is_code(text))
    if not is_file and not text.startswith((FILE, *REMOTE)):
        yield PromptTemplate(label, text, item, references)
        return
    references += (text, text.removeprefix(FILE))
    for name in folder.find(text):
        texts = _read_texts(name, folder)
        base = label or os.path.splitext(os.path.basename(name))[0]
        for number, each in enumerate(texts, 1):
            own = base if len(texts) == 1 else f"{base}-{number}"
            yield PromptTemplate(own, each, item, references)


def _read_texts(name: str, folder: Folder) -> list[str]:
    ending = os.path.splitext(name)[1].lower()
    if ending == ".csv":
        raise ValueError("it is in a table")
    if ending in (".yaml", ".yml"):
        return [dumps(folder.value(name))]
    text = folder.read(name)
    if ending == ".jsonl":
        return [line for line in text.splitlines() if line.strip()]
    if ending != ".txt":
        return [text]
    lines = "\n".join(text.splitlines())
    return [each.strip() for each in _DELIMITER.split(lines) if each.strip()]


# Tests


class TestReader(Struct):
    """Finds tests, wherever they are written. Those that can't be read are left out."""

    folder: Folder
    suite: SuiteDraft
    containers: tuple[str, ...]

    def read_file(self, file: ForeignFile) -> Iterator[Item]:
        if file.is_table:
            yield from map(read_row, file.rows()) if file.shape == "csv" else file.rows()
        else:
            yield from self.read_root(file.root)

    def read_root(self, root: Item) -> Iterator[Item]:
        """Tests of a list, of a mapping that holds some, or a mapping that is one."""
        held = [root.at(name) for name in self.containers if root.at(name).value is not None]
        scenarios = root.at("scenarios").several()
        for item in [root] if not held and not scenarios else held:
            for each in item.several():
                yield from self._read_entry(each)
        for each in scenarios:
            yield from self._read_scenario(each)

    def _read_entry(self, item: Item) -> Iterator[Item]:
        named = item.value
        if isinstance(named, dict) and "path" in named and "vars" not in named:
            named = named["path"]
        if isinstance(named, dict) and not isinstance(item.at("vars").value, str | list):
            yield item
            return
        try:
            if not isinstance(named, str):
                raise ValueError("it is neither a test with variables nor a file")
            if named.endswith("/"):  # a folder for each case, as in AgentV
                for path in self.folder.find(f"{named}*/case.*"):
                    case = self.folder.parse(path).root
                    id = os.path.basename(os.path.dirname(path))
                    yield case._replace(value={"id": id, **case.mapping()})
                return
            for each in self.folder.find(named):
                with self.folder.reading(each):
                    yield from self.read_file(self.folder.parse(each))
        except ValueError as error:
            self.suite.lose(item, f"these tests: {error}")

    def _read_scenario(self, item: Item) -> Iterator[Item]:
        """Each test of a scenario with each of its settings."""
        if not isinstance(item.value, dict):
            self.suite.lose(item, "this scenario, which is not written here")
        configs = enumerate(item.at("config").several(), 1)
        for (number, config), entry in product(configs, item.at("tests").several()):
            for test in self._read_entry(entry):
                given, own = config.mapping(), test.mapping()
                value = {**given, **own}
                for name in {"vars", "options", "metadata"} & given.keys():
                    value[name] = {**config.at(name).mapping(), **test.at(name).mapping()}
                if id := value.get("id"):
                    value["id"] = f"{id}-{number}"
                yield test._replace(value=value)


def read_row(row: Item) -> Item:
    """A row of a table as a test: columns are variables, except those that start with `__`."""
    variables: dict[str, JSON] = {}
    test: dict[str, JSON] = {"vars": variables}
    held: dict[str, dict[str, JSON]] = {"options": {}, "metadata": {}}
    checks: dict[str, dict[str, JSON]] = {}
    for name, value in row.mapping().items():
        bare = name.removeprefix("__")
        kind, _, key = bare.partition(":")
        if bare == name:
            # An empty cell is an empty text in promptfoo; AgentV writes `vars.` before names.
            variables[name.removeprefix("vars.")] = value or ""
        elif value is None or kind in ("metric", "config"):
            continue
        elif bare.startswith("expected"):
            checks[name] = read_cell(str(value))
        elif kind == "metadata" and key:
            texts = [each.replace("\\,", ",").strip() for each in _COMMA.split(str(value))]
            held["metadata"][key.removesuffix("[]")] = [*texts] if key.endswith("[]") else value
        elif bare in ("prefix", "suffix"):
            held["options"][bare] = value
        else:
            given = _read_number(value) if bare == "threshold" else value
            test[bare if bare in _COLUMNS else name] = given
    _set_options(row, checks)
    return row._replace(value={
        **test, **{name: each for name, each in held.items() if each},
        **({"assert": [*checks.values()]} if checks else {}),
    })  # fmt: skip


def _set_options(row: Item, checks: Mapping[str, dict[str, JSON]]) -> None:
    """`__metric`, and options such as `__config:__expected1:threshold`."""
    for column, value in row.mapping().items():
        kind, of, option = (*column.split(":", 2), "", "")[:3]
        if kind == "__metric":
            of, option = "__expected", "metric"
        for name, check in checks.items() if kind in ("__metric", "__config") else ():
            if value is not None and of in (name, "__expected"):
                check[option] = value if kind == "__metric" else _read_number(value)


def _read_number(value: JSON) -> JSON:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


class PromptfooTest(NamedTuple):
    item: Item
    variables: Mapping[str, Item]
    assertions: tuple[Assertion, ...]
    fields: Mapping[str, Item]
    options: Mapping[str, Item]
    metadata: Mapping[str, JSON]

    @classmethod
    def of(cls, item: Item, root: Item, suite: SuiteDraft) -> PromptfooTest:
        fields = {name: each for name, each in item.fields() if each.value is not None}
        suite.lose_rest(item, _FIELDS, ", which is not a field of a test")
        metadata = item.at("metadata")
        if metadata.value is not None and not isinstance(metadata.value, dict):
            suite.lose(metadata, "`metadata`, which is not a mapping", at="key")
        if isinstance(item.at("description").value, list | dict):
            suite.lose(fields.pop("description"), "`description`, which is not text", at="key")
        return cls(
            item, dict(item.at("vars").fields()), read_assertions(item.at("assert"), root),
            fields, dict(item.at("options").fields()), metadata.mapping(),
        )  # fmt: skip

    def over(self, default: PromptfooTest) -> PromptfooTest:
        """The same with the defaults of all tests, except assertions."""
        return self._replace(
            variables={**default.variables, **self.variables},
            fields={**default.fields, **self.fields},
            options={**default.options, **self.options},
            metadata={**default.metadata, **self.metadata},
        )

    def is_set(self, option: str) -> bool:
        return option in self.options and self.options[option].value is True

    @property
    def transform(self) -> JSON:
        """Code that changes answers before they are checked."""
        item = self.options.get("transform") or self.options.get("postprocess")
        return None if item is None else item.value


def vary_variables(
    variables: Mapping[str, Item], folder: Folder, *, expands: bool
) -> Iterator[dict[str, JSON]]:
    """The values of variables, for each combination of those that are lists of texts. Raise
    ValueError if a file can't be used, or there are too many combinations."""
    choices: dict[str, list[JSON]] = {name: [item.value] for name, item in variables.items()}
    for name, item in variables.items() if expands else ():
        value = item.value
        if isinstance(value, str) and value.startswith(FILE) and "*" in value:
            choices[name] = [f"{FILE}{each}" for each in folder.find(value)]
        elif isinstance(value, list) and value and isinstance(value[0], str):
            choices[name] = value
    if prod(map(len, choices.values())) > MAX_CASES:
        raise ValueError(f"its variables can be chosen in over {MAX_CASES:,} ways")
    for chosen in product(*choices.values()):
        yield {name: _load(value, folder) for name, value in zip(choices, chosen, strict=True)}


def _load(value: JSON, folder: Folder) -> JSON:
    if isinstance(value, str) and value.startswith(FILE):
        try:
            return folder.variable(value)
        except ValueError as error:
            raise ValueError(f"{value}: {error}") from None
    return value.removesuffix("\n") if isinstance(value, str) else value
