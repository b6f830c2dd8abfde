"""Prompts and tests of a promptfoo configuration, from the file itself, other files and tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import product
from json import dumps
from typing import NamedTuple

from evalcase.format.document import parse_document
from evalcase.importers.draft import SuiteDraft
from evalcase.importers.javascript import UnrenderableError, Variables, refuse_computed
from evalcase.importers.promptfoo_checks import Assertion, read_assertions, read_cell
from evalcase.importers.source import FILE, Folder, ForeignFile, Item, is_code
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json

MAX_CASES = 100_000
_PROMPT_ENDINGS = (".txt", ".md", ".j2", ".json", ".jsonl", ".yaml", ".yml", ".csv")
_REMOTE_PROMPTS = (
    "langfuse://", "portkey://", "helicone://", "http://", "https://", "exec:", "mlflow:",
)  # fmt: skip
_REMOTE_TESTS = ("http://", "https://", "huggingface://", "sharepoint://", "az://", "s3://")
_FIELDS = frozenset({
    "description", "vars", "assert", "options", "metadata", "threshold", "provider", "providers",
    "prompts", "providerOutput", "assertScoringFunction", "id",
})  # fmt: skip
_DELIMITER = re.compile(r"^[^\S\n]*---[^\S\n]*$", re.MULTILINE)
_COLUMNS = ("description", "threshold", "providerOutput", "providers", "prompts")
_CONFIG, _METADATA = "__config:", "__metadata:"


class PromptTemplate:
    def __init__(self, label: str, text: str, item: Item, references: tuple[str, ...] = ()) -> None:
        self.label = label
        """Its name; empty if it has none."""
        self.references = references
        """What providers and tests call it: its written label, its id, its file."""
        self.text = text
        self.item = item
        self._chat = _read_chat(text)

    def is_meant_by(self, name: str) -> bool:
        """Whether a name means it, or a group of prompts: `Group` or `Group:*`."""
        start = name.removesuffix("*")
        return any(
            each == name or each.startswith(start if start != name else f"{name}:")
            for each in (self.label, *self.references)
        )

    def fill(self, variables: Variables, around: tuple[str, str], unset: list[str]) -> JSON:
        """The text or the messages for a target."""
        before, after = around
        if self._chat is not None and not before and not after:
            return variables.render_all(self._chat, unset)
        value = variables.render_value(before + self.text + after, unset)
        return (_read_chat(value) or value) if isinstance(value, str) else value


def _read_chat(text: str) -> JSON:
    """The messages of a text that is JSON or YAML of them; None for other texts."""
    start = text.lstrip()[:40]
    value: JSON = None
    if start.startswith("["):
        try:
            value = parse_json(text)
        except BadJsonError:
            return None
    elif start.startswith(("- role:", '- "role":', "- content:")):
        document = parse_document(text, "yaml", "prompt")
        value = None if document.problems else document.value
    return value if isinstance(value, list) and value and all(map(_is_message, value)) else None


def _is_message(value: JSON) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    return isinstance(value.get("content"), str | list) or "tool_calls" in value


def read_prompts(prompts: Item, folder: Folder, suite: SuiteDraft) -> list[PromptTemplate]:
    """All prompts that can be used."""
    if prompts.value is None:
        return [PromptTemplate("", "{{prompt}}", prompts)]
    named = [_read_named(each) for each in prompts.several()]
    if isinstance(prompts.value, dict):  # an old spelling: labels by their files
        named = [
            (item._replace(value=name), str(item.value), ()) for name, item in prompts.fields()
        ]
    found: list[PromptTemplate] = []
    for item, label, references in named:
        try:
            read = list(_read_prompt(item, label, references, folder))
            for each in read:
                refuse_computed(each.text)
            found += read
        except UnrenderableError as error:
            suite.lose(item, f"this prompt, which has {error}")
        except ValueError as error:
            suite.lose(item, f"this prompt: {error}")
    if len(found) > 1:
        _label_prompts(found)
    return found


def _read_named(item: Item) -> tuple[Item, str, tuple[str, ...]]:
    """Where a prompt is written, its label, and how providers and tests may name it."""
    value = item.mapping()
    held = next((name for name in ("raw", "prompt", "file", "path", "id") if name in value), None)
    label, id = value.get("label"), value.get("id")
    names = tuple(each for each in (label, id) if isinstance(each, str))
    return (item if held is None else item.at(held)), label if isinstance(label, str) else "", names


def _read_prompt(
    item: Item, label: str, references: tuple[str, ...], folder: Folder
) -> Iterator[PromptTemplate]:
    text = item.value
    if isinstance(text, list) and text and all(map(_is_message, text)):
        text = dumps(text, ensure_ascii=False)
    if isinstance(text, dict) and isinstance(item.path[-1], int):
        raise ValueError("it has neither `raw` nor `id`")
    if not isinstance(text, str):
        raise ValueError("it is not text")
    if text.startswith(_REMOTE_PROMPTS):
        raise ValueError("it is kept, or made, somewhere else")
    is_name = "\n" not in text and "{" not in text and " " not in text.strip()
    is_file = is_name and (text.lower().endswith(_PROMPT_ENDINGS) or is_code(text))
    if not is_file and not text.startswith(FILE):
        yield PromptTemplate(label, text, item, references)
        return
    if is_code(text):
        raise ValueError("it is code")
    for name in folder.find(text):
        stem, ending = os.path.splitext(os.path.basename(name))
        for own, each in _read_prompt_file(name, label or stem, ending.lower(), folder):
            yield PromptTemplate(own, each, item, (*references, text, text.removeprefix(FILE)))


def _read_prompt_file(
    name: str, label: str, ending: str, folder: Folder
) -> Iterator[tuple[str, str]]:
    """The labels and texts of the prompts in a file."""
    if ending in (".yaml", ".yml"):
        yield label, dumps(folder.value(name))
    elif ending == ".csv":
        for number, row in enumerate(folder.parse(name).rows(), 1):
            text = row.at("prompt").value
            if not isinstance(text, str):
                raise ValueError("it has no column `prompt`")
            yield str(row.at("label").value or f"{label}-{number}"), text
    elif ending == ".jsonl":
        for number, line in enumerate(folder.read(name).splitlines(), 1):
            if line.strip():
                yield f"{label}-{number}", line
    elif ending == ".txt":
        lines = "\n".join(folder.read(name).splitlines())
        texts = [text.strip() for text in _DELIMITER.split(lines) if text.strip()]
        for number, text in enumerate(texts, 1):
            yield label if len(texts) == 1 else f"{label}-{number}", text
    else:
        yield label, folder.read(name)


def _label_prompts(prompts: list[PromptTemplate]) -> None:
    """Give each prompt a label of its own."""
    seen: dict[str, int] = {}
    for number, prompt in enumerate(prompts, 1):
        place = prompt.item.path[-1] if prompt.item.path else None
        label = prompt.label or f"prompt-{place + 1 if isinstance(place, int) else number}"
        seen[label] = seen.get(label, 0) + 1
        prompt.label = label if seen[label] == 1 else f"{label}-{seen[label]}"


class PromptfooTest(NamedTuple):
    """A test as it is written."""

    item: Item
    variables: Mapping[str, Item]
    assertions: tuple[Assertion, ...]
    fields: Mapping[str, Item]
    options: Mapping[str, Item]
    metadata: Mapping[str, JSON]

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

    def judges(self) -> list[Item]:
        """The judges that it names."""
        own = [self.options["provider"]] if "provider" in self.options else []
        return own + [judge for each in self.assertions for judge in each.judges()]

    def without_judge(self, judge: JSON) -> PromptfooTest:
        """The same without the name of the judge of all tests."""
        options = {name: item for name, item in self.options.items()
                   if name != "provider" or item.value != judge}  # fmt: skip
        assertions = tuple(each.without_judge(judge) for each in self.assertions)
        return self._replace(options=options, assertions=assertions)


class ConfigReader:
    """Reads tests; those that can't be read are left out."""

    def __init__(self, root: Item, folder: Folder, suite: SuiteDraft) -> None:
        self.root = root
        self.folder = folder
        self.suite = suite

    def read_default(self) -> PromptfooTest:
        item = self.root.at("defaultTest")
        if isinstance(item.value, str):
            try:
                item = self.folder.parse(item.value).root
            except ValueError as error:
                self.suite.lose(item, f"`defaultTest`: {error}")
        return self.read_test(item)

    def read_all(self) -> Iterator[PromptfooTest]:
        tests, scenarios = self.root.at("tests"), self.root.at("scenarios")
        for each in tests.several():
            yield from self._read_entry(each)
        for each in scenarios.items():
            yield from self._read_scenario(each)
        if tests.value is None and scenarios.value is None:
            yield self.read_test(Item({}, self.root.document, self.root.path))

    def read_file(self, file: ForeignFile) -> Iterator[PromptfooTest]:
        """The tests of a file that has nothing else."""
        if file.shape == "csv":
            yield from map(read_row, file.rows())
        elif file.shape == "jsonl":
            yield from map(self.read_test, file.rows())
        else:
            is_list = isinstance(file.root.value, list)
            for each in file.root.items() if is_list else [file.root]:
                yield from self._read_entry(each)

    def _read_entry(self, item: Item) -> Iterator[PromptfooTest]:
        named: JSON = item.value
        if isinstance(named, dict) and "path" in named and "vars" not in named:
            named = named["path"]
        if isinstance(named, dict):
            yield self.read_test(item)
            return
        try:
            if not isinstance(named, str):
                raise ValueError("it is neither a test nor a file")
            for file in self._files(named):
                yield from self.read_file(file)
        except ValueError as error:
            self.suite.lose(item, f"these tests: {error}")

    def _files(self, name: str) -> Iterator[ForeignFile]:
        if name.startswith(_REMOTE_TESTS):
            raise ValueError("they are kept somewhere else")
        if is_code(name):
            raise ValueError("they are made by code")
        for each in self.folder.find(name):
            with self.folder.reading(each):
                yield self.folder.parse(each)

    def _read_scenario(self, item: Item) -> Iterator[PromptfooTest]:
        if isinstance(item.value, str):
            try:
                for file in self._files(item.value):
                    for each in file.root.several():
                        yield from self._read_scenario(each)
            except ValueError as error:
                self.suite.lose(item, f"this scenario: {error}")
            return
        for config, entry in product(item.at("config").items(), item.at("tests").items()):
            given = self.read_test(config)
            for test in self._read_entry(entry):
                # In promptfoo, the assertions of a test replace those of its scenario.
                own = test.assertions or given.assertions
                yield test.over(given)._replace(assertions=own)

    def read_test(self, item: Item) -> PromptfooTest:
        fields = dict(item.fields())
        for name, held in fields.items():
            if name not in _FIELDS:
                self.suite.lose(held, f"`{name}`, which is not a field of a test", at="key")
        metadata = item.at("metadata")
        if metadata.value is not None and not isinstance(metadata.value, dict):
            self.suite.lose(metadata, "`metadata`, which is not a mapping", at="key")
        if isinstance(item.at("description").value, list | dict):
            self.suite.lose(fields.pop("description"), "`description`, which is not text", at="key")
        return PromptfooTest(
            item,
            self._read_variables(item.at("vars")),
            read_assertions(item.at("assert"), self.root),
            {name: each for name, each in fields.items() if each.value is not None},
            dict(item.at("options").fields()),
            metadata.mapping(),
        )

    def _read_variables(self, item: Item) -> dict[str, Item]:
        """Variables, or those of files."""
        if not isinstance(item.value, str | list):
            return dict(item.fields())
        found: dict[str, Item] = {}
        for each in item.several():
            try:
                for name in self.folder.find(str(each.value)):
                    found.update(self.folder.parse(name).root.fields())
            except ValueError as error:
                self.suite.lose(each, f"these variables: {error}")
        return found


def read_row(row: Item) -> PromptfooTest:
    """A row of a table: columns are variables, except those that start with `__`."""
    variables: dict[str, Item] = {}
    fields: dict[str, Item] = {}
    options: dict[str, Item] = {}
    metadata: dict[str, JSON] = {}
    assertions: dict[str, Assertion] = {}
    for name, item in row.fields():
        bare = name.removeprefix("__")
        if bare == name:
            # An empty cell is an empty text in promptfoo.
            variables[name] = item._replace(value=item.value or "")
        elif item.value is None or name == "__metric" or name.startswith(_CONFIG):
            continue
        elif name.startswith("__expected"):
            assertions[name] = read_cell(item)
        elif name.startswith(_METADATA):
            _add_metadata(metadata, name.removeprefix(_METADATA), str(item.value))
        elif bare in ("prefix", "suffix"):
            options[bare] = item
        else:
            value = _read_number(item.value) if bare == "threshold" else item.value
            fields[bare if bare in _COLUMNS else name] = item._replace(value=value)
    _configure_assertions(row, assertions)
    return PromptfooTest(row, variables, tuple(assertions.values()), fields, options, metadata)


def _configure_assertions(row: Item, assertions: dict[str, Assertion]) -> None:
    """`__metric`, and options such as `__config:__expected1:threshold`."""
    metric = row.at("__metric").value
    for name, assertion in assertions.items():
        if isinstance(metric, str):
            assertion.fields["metric"] = metric
        for column, item in row.fields():
            if column.startswith(_CONFIG) and item.value is not None:
                of, _, setting = column.removeprefix(_CONFIG).partition(":")
                if setting and of in (name, "__expected"):
                    assertion.fields[setting] = _read_number(item.value)


def _add_metadata(metadata: dict[str, JSON], name: str, text: str) -> None:
    if name.endswith("[]"):
        texts = text.replace("\\,", "\0").split(",")
        metadata[name.removesuffix("[]")] = [each.replace("\0", ",").strip() for each in texts]
    else:
        metadata[name] = text


def _read_number(value: JSON) -> JSON:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def vary_variables(
    variables: Mapping[str, Item], folder: Folder, *, expands: bool
) -> Iterator[dict[str, JSON]]:
    """The values of variables, for each combination of those that are lists of texts. Raise
    ValueError if a file can't be used, or there are too many combinations."""
    choices = {
        name: _list_choices(item.value, folder) if expands else [item.value]
        for name, item in variables.items()
    }
    ways = 1
    for several in choices.values():
        ways *= max(1, len(several))
        if ways > MAX_CASES:
            raise ValueError(f"its variables can be chosen in over {MAX_CASES:,} ways")
    for chosen in product(*choices.values()):
        yield {name: _load(value, folder) for name, value in zip(choices, chosen, strict=True)}


def _list_choices(value: JSON, folder: Folder) -> list[JSON]:
    if isinstance(value, str) and value.startswith(FILE) and "*" in value:
        return [f"{FILE}{name}" for name in folder.find(value)]
    if isinstance(value, list) and value and isinstance(value[0], str):
        return value
    return [value]


def _load(value: JSON, folder: Folder) -> JSON:
    if isinstance(value, str) and value.startswith(FILE):
        try:
            return folder.variable(value)
        except ValueError as error:
            raise ValueError(f"{value}: {error}") from None
    return value.removesuffix("\n") if isinstance(value, str) else value
