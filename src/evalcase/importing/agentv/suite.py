"""An eval file of AgentV to a suite: `evalcases` or `tests`, with `input` of their own, or with
`vars` that prompts are filled with."""

from __future__ import annotations

import os
from collections.abc import Iterator

from evalcase.importing.agentv.cases import AgentvCases
from evalcase.importing.agentv.checks import CheckMapper
from evalcase.importing.draft import Chosen, SuiteDraft
from evalcase.importing.promptfoo.folder import Folder
from evalcase.importing.promptfoo.mapping import Mapper
from evalcase.importing.promptfoo.prompts import read_prompts
from evalcase.importing.shapes import shape_input
from evalcase.importing.source import ForeignFile, Item
from evalcase.util.project import project_root

_CONTAINERS = ("tests", "evalcases", "eval_cases", "cases")
_DEFAULTS = ("default_test", "defaultTest")
_CHECKS = ("assert", "assertions", "evaluators")
_READ = frozenset({
    *_CONTAINERS, *_DEFAULTS, *_CHECKS, "$schema", "version", "prompts", "execution", "name",
    "dataset", "description", "tags", "metadata", "target", "targets", "input", "threshold",
    "evaluate_options", "repeat", "providers",
})  # fmt: skip


def import_agentv(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each test, for each prompt if there are any."""
    del chosen
    folder = Folder(source.folder)
    root = _find_root(source, folder)
    _describe_suite(root, suite)
    mapper = Mapper(folder, project_root(suite.folder), counts_scores=False)
    prompts = None
    if root.at("prompts").value is not None:
        prompts = read_prompts(root.at("prompts"), folder, suite)
    default = next((root.at(each) for each in _DEFAULTS if root.at(each).value), Item({}, root[1]))
    cases = AgentvCases(suite, CheckMapper(mapper), prompts, default)
    for item in _find_tests(source, root, folder, suite):
        cases.make(item, list(_shared_checks(root, default)))


def _find_root(source: ForeignFile, folder: Folder) -> Item:
    """The mapping around the tests; beside JSONL it is a file of the same name."""
    if not source.is_table:
        root = source.root
        return root if isinstance(root.value, dict) else Item({}, root.document)
    stem = os.path.splitext(os.path.basename(source.path))[0]
    try:
        beside = folder.parse(f"{stem}.yaml").root
    except ValueError:
        beside = Item({}, source.documents[0])
    return beside if isinstance(beside.value, dict) else Item({}, source.documents[0])


def _find_tests(
    source: ForeignFile, root: Item, folder: Folder, suite: SuiteDraft
) -> Iterator[Item]:
    if source.is_table:
        yield from (Item(each.value, each) for each in source.documents)
        return
    if isinstance(source.root.value, list):
        yield from source.root.items()
        return
    for name in _CONTAINERS:
        held = root.at(name)
        for each in held.items() if isinstance(held.value, list) else [held]:
            if isinstance(each.value, str):
                yield from _read_file(each, folder, suite)
            elif each.value is not None:
                yield each


def _read_file(item: Item, folder: Folder, suite: SuiteDraft) -> Iterator[Item]:
    """Tests in a file of their own."""
    try:
        for name in folder.find(str(item.value)):
            with folder.reading(name):
                file = folder.parse(name)
                yield from _find_tests(file, file.root, folder, suite)
    except ValueError as error:
        suite.lose(item, f"these tests: {error}")


def _describe_suite(root: Item, suite: SuiteDraft) -> None:
    for name, item in root.fields():
        value = item.value
        if name in ("name", "dataset", "description") and isinstance(value, str):
            suite.fields["name" if name == "dataset" else name] = value
        elif (name == "metadata" and isinstance(value, dict)) or name in ("threshold", "repeat"):
            suite.fields[name] = value
        elif name == "input" and value is not None:
            suite.fields[name] = shape_input(value)
        elif name == "tags" and isinstance(value, list):
            suite.fields[name] = value
        elif name not in _READ and value is not None:
            suite.lose(item._replace(value=None), f"`{name}`", at="key")
    for name in ("execution", "evaluate_options"):
        _read_execution(root.at(name), suite)
    _read_targets(root, suite)


def _read_execution(execution: Item, suite: SuiteDraft) -> None:
    for name, item in execution.fields():
        if name in ("threshold", "repeat"):
            suite.fields[name] = item.value
        elif name not in ("target", "targets", *_CHECKS) and item.value is not None:
            suite.lose(item, f"`{name}` of `{execution.path[-1]}`", at="key")


def _read_targets(root: Item, suite: SuiteDraft) -> None:
    for held in (root, root.at("execution")):
        for name in ("target", "targets", "providers"):
            item = held.at(name)
            several = item.value if isinstance(item.value, list) else [item.value]
            names = [each for each in several if isinstance(each, str)]
            if names:
                suite.fields["targets"] = [*names]
            if item.value is not None and len(names) < len(several):
                suite.lose(item, f"`{name}`: a target is named here", at="key")


def _shared_checks(root: Item, default: Item) -> Iterator[Item]:
    """What is asserted of all tests."""
    for held in (root, root.at("execution"), default):
        for name in _CHECKS:
            yield from held.at(name).items()
