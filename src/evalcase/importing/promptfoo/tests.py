"""The tests of a configuration, wherever they are: in it, in files of their own, in tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from evalcase.importing.draft import SuiteDraft
from evalcase.importing.promptfoo.assertions import read_assertions
from evalcase.importing.promptfoo.drafted import DraftedTest
from evalcase.importing.promptfoo.folder import FILE, Folder, is_code
from evalcase.importing.promptfoo.table import read_table_test
from evalcase.importing.source import ForeignFile, Item
from evalcase.types.value import JSON

KNOWN_FIELDS = frozenset({
    "description", "vars", "assert", "options", "metadata", "threshold", "provider", "providers",
    "prompts", "providerOutput", "assertScoringFunction", "id",
})  # fmt: skip
_ELSEWHERE = ("http://", "https://", "huggingface://", "sharepoint://", "az://", "s3://")


class ReaderOfTests:
    """Reads tests; tells of what it can't read."""

    def __init__(self, root: Item, folder: Folder, suite: SuiteDraft) -> None:
        self.root = root
        self.folder = folder
        self.suite = suite

    def read_default(self) -> DraftedTest:
        item = self.root.at("defaultTest")
        if isinstance(item.value, str):
            try:
                item = self.folder.parse(item.value).root
            except ValueError as error:
                self.suite.lose(item, f"`defaultTest`: {error}")
        return self.read_test(item)

    def read_all(self) -> Iterator[DraftedTest]:
        """Each test, in the order in which promptfoo has them."""
        tests = self.root.at("tests")
        if tests.value is not None:
            several = tests.items() if isinstance(tests.value, list) else [tests]
            for each in several:
                yield from self._read_entry(each)
        for scenario in self.root.at("scenarios").items():
            yield from self._read_scenario(scenario)
        if tests.value is None and self.root.at("scenarios").value is None:
            yield self.read_test(Item({}, self.root.document, self.root.path))

    def _read_entry(self, item: Item) -> Iterator[DraftedTest]:
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
        if name.startswith(_ELSEWHERE):
            raise ValueError("they are kept somewhere else")
        if is_code(name):
            raise ValueError("they are made by code")
        for each in self.folder.find(name):
            with self.folder.reading(each):
                yield self.folder.parse(each)

    def read_file(self, file: ForeignFile) -> Iterator[DraftedTest]:
        """The tests of a file that has nothing else."""
        if file.shape == "csv":
            for row in file.documents:
                yield read_table_test(Item(row.value, row))
        elif file.shape == "jsonl":
            for line in file.documents:
                yield self.read_test(Item(line.value, line))
        else:
            root = file.root
            for each in root.items() if isinstance(root.value, list) else [root]:
                yield from self._read_entry(each)

    def _read_scenario(self, item: Item) -> Iterator[DraftedTest]:
        if isinstance(item.value, str):
            try:
                for file in self._files(item.value):
                    root = file.root
                    for each in root.items() if isinstance(root.value, list) else [root]:
                        yield from self._read_scenario(each)
            except ValueError as error:
                self.suite.lose(item, f"this scenario: {error}")
            return
        for config, entry in product(item.at("config").items(), item.at("tests").items()):
            given = self.read_test(config)
            for test in self._read_entry(entry):
                # A test that has assertions has these alone; so it is there.
                own = test.assertions or given.assertions
                yield test.over(given)._replace(assertions=own)

    def read_test(self, item: Item) -> DraftedTest:
        fields = dict(item.fields())
        for name, held in fields.items():
            if name not in KNOWN_FIELDS:
                self.suite.lose(held, f"`{name}`, which is not a field of a test", at="key")
        metadata = item.at("metadata").value
        if metadata is not None and not isinstance(metadata, dict):
            self.suite.lose(item.at("metadata"), "`metadata`, which is not a mapping", at="key")
        described = fields.get("description")
        if described is not None and isinstance(described.value, list | dict):
            self.suite.lose(fields.pop("description"), "`description`, which is not text", at="key")
        return DraftedTest(
            item,
            self._read_variables(item.at("vars")),
            tuple(read_assertions(item.at("assert"), self.root)),
            {name: each for name, each in fields.items() if each.value is not None},
            dict(item.at("options").fields()),
            metadata if isinstance(metadata, dict) else {},
        )

    def _read_variables(self, item: Item) -> dict[str, Item]:
        if isinstance(item.value, str | list):
            found: dict[str, Item] = {}
            for each in item.items() if isinstance(item.value, list) else [item]:
                try:
                    for name in self.folder.find(str(each.value)):
                        found.update(self.folder.parse(name).root.fields())
                except ValueError as error:
                    self.suite.lose(each, f"these variables: {error}")
            return found
        return dict(item.fields())


def vary_variables(
    variables: Mapping[str, Item], folder: Folder, *, expands: bool
) -> Iterator[dict[str, JSON]]:
    """The values of variables, once for each way to choose from those that are lists of texts.
    Raise ValueError where a file can't be used, or there are too many ways."""
    choices = {
        name: list(_list_choices(item.value, folder)) if expands else [item.value]
        for name, item in variables.items()
    }
    ways = 1
    for several in choices.values():
        ways *= max(1, len(several))
        if ways > MOST_WAYS:
            raise ValueError(f"its variables can be chosen in over {MOST_WAYS:,} ways")
    for chosen in product(*choices.values()):
        yield {
            name: _load_value(value, folder) for name, value in zip(choices, chosen, strict=True)
        }


MOST_WAYS = 100_000


def _list_choices(value: JSON, folder: Folder) -> Iterator[JSON]:
    if isinstance(value, str) and value.startswith(FILE) and "*" in value:
        for name in folder.find(value):
            yield f"{FILE}{name}"
    elif isinstance(value, list) and value and isinstance(value[0], str):
        yield from value
    else:
        yield value


def _load_value(value: JSON, folder: Folder) -> JSON:
    if isinstance(value, str) and value.startswith(FILE):
        try:
            return folder.variable(value)
        except ValueError as error:
            raise ValueError(f"{value}: {error}") from None
    return value.removesuffix("\n") if isinstance(value, str) else value
