"""An eval file of AgentV to a suite: `evalcases` or `tests` with inputs of their own, or with
`vars` for prompts."""

from __future__ import annotations

import os
from collections.abc import Iterator

from evalcase.importers.agentv_checks import Statement, map_check
from evalcase.importers.draft import CaseDraft, Choices, SuiteDraft, asks_judge
from evalcase.importers.javascript import UnrenderableError, Variables, has_tags
from evalcase.importers.promptfoo_assertions import NEGATION, NoCounterpartError
from evalcase.importers.promptfoo_graders import Mapper
from evalcase.importers.promptfoo_tests import PromptTemplate, read_prompts, read_row
from evalcase.importers.rows import put_field, shape_expected, shape_id, shape_input
from evalcase.importers.source import Folder, ForeignFile, Item
from evalcase.types.value import JSON
from evalcase.util.project import project_root

_CONTAINERS = ("tests", "evalcases", "eval_cases", "cases")
_DEFAULTS = ("default_test", "defaultTest")
_CHECKS = ("assert", "assertions", "evaluators")
_SUITE_FIELDS = frozenset({
    *_CONTAINERS, *_DEFAULTS, *_CHECKS, "$schema", "version", "prompts", "execution", "name",
    "dataset", "description", "tags", "metadata", "target", "targets", "input", "threshold",
    "evaluate_options", "repeat", "providers", "scenarios",
})  # fmt: skip
_SUITE_TYPES = {"metadata": dict, "tags": list, "input": str | list | dict}
_INPUTS = ("input", "input_messages")
_EXPECTED = ("expected_output", "expected_messages")
_CRITERIA = ("criteria", "expected_outcome", "outcome")
_COPIED = ("description", "tags", "metadata", "conversation_id")
_CASE_FIELDS = frozenset({
    *_CHECKS, *_INPUTS, *_EXPECTED, *_CRITERIA, *_COPIED, "id", "vars", "rubrics", "execution",
    "turns", "mode", "on_turn_failure", "target", "threshold", "repeat", "skip", "$schema",
})  # fmt: skip


def import_agentv(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    del choices
    folder = Folder(source.folder)
    root = _find_root(source, folder)
    _describe_suite(root, suite)
    mapper = Mapper(folder, project_root(suite.folder), counts_scores=False)
    prompts = None
    if root.at("prompts").value is not None:
        prompts = read_prompts(root.at("prompts"), folder, suite)
    cases = _CaseMaker(suite, mapper, prompts, root)
    for item in _find_tests(source, root, folder, suite):
        cases.make(item)


def _find_root(source: ForeignFile, folder: Folder) -> Item:
    """The mapping around the tests; next to JSONL it is a YAML file of the same name."""
    root = source.root
    if source.is_table:
        stem = os.path.splitext(os.path.basename(source.path))[0]
        try:
            root = folder.parse(f"{stem}.yaml").root
        except ValueError:
            return Item({}, source.documents[0])
    return root if isinstance(root.value, dict) else Item({}, source.documents[0])


def _find_tests(
    source: ForeignFile, root: Item, folder: Folder, suite: SuiteDraft
) -> Iterator[Item]:
    if source.is_table:
        yield from source.rows()
        return
    if isinstance(source.root.value, list):
        yield from source.root.items()
        return
    for name in _CONTAINERS:
        for each in root.at(name).several():
            yield from _read_tests(each, folder, suite)
    for each in root.at("scenarios").several():
        yield from _read_scenario(each, folder, suite)


def _read_tests(item: Item, folder: Folder, suite: SuiteDraft) -> Iterator[Item]:
    """A test, or those of a file or of a folder that it names."""
    if not isinstance(item.value, str):
        yield item
        return
    try:
        if item.value.endswith("/"):  # a folder for each case
            for path in folder.find(f"{item.value}*/case.*"):
                case = folder.parse(path).root
                named = {"id": os.path.basename(os.path.dirname(path)), **case.mapping()}
                yield case._replace(value=named)
            return
        for path in folder.find(item.value):
            with folder.reading(path):
                file = folder.parse(path)
                if file.shape == "csv":
                    yield from map(_read_row, file.rows())
                else:
                    yield from _find_tests(file, file.root, folder, suite)
    except ValueError as error:
        suite.lose(item, f"these tests: {error}")


def _read_row(row: Item) -> Item:
    """A test of a table: columns are variables, except those that start with `__`."""
    test = read_row(row)
    checks: list[JSON] = [
        {"type": f"{NEGATION if each.is_negated else ''}{each.type}", **each.fields}
        for each in test.assertions
    ]
    fields = {name: item.value for name, item in test.fields.items()}
    values = {name.removeprefix("vars."): item.value for name, item in test.variables.items()}
    id = {"id": values.pop("id")} if "id" in values else {}
    metadata = {"metadata": dict(test.metadata)} if test.metadata else {}
    return row._replace(value={**id, **fields, **metadata, "vars": values, "assert": checks})


def _read_scenario(item: Item, folder: Folder, suite: SuiteDraft) -> Iterator[Item]:
    """Each test of a scenario with each of its settings."""
    if isinstance(item.value, str):
        try:
            for path in folder.find(item.value):
                with folder.reading(path):
                    for each in folder.parse(path).root.several():
                        yield from _read_scenario(each, folder, suite)
        except ValueError as error:
            suite.lose(item, f"this scenario: {error}")
        return
    for entry in item.at("tests").several():
        for test in _read_tests(entry, folder, suite):
            for number, config in enumerate(item.at("config").items(), 1):
                given = {**config.at("vars").mapping(), **test.at("vars").mapping()}
                named = test.mapping().get("id", config.mapping().get("id", "case"))
                value = {**config.mapping(), **test.mapping(), "id": f"{named}-{number}"}
                yield test._replace(value={**value, "vars": given})


def _describe_suite(root: Item, suite: SuiteDraft) -> None:
    for name, item in root.fields():
        value = item.value
        if name in ("name", "dataset", "description") and isinstance(value, str):
            suite.fields["name" if name == "dataset" else name] = value
        elif name in ("threshold", "repeat"):
            suite.fields[name] = value
        elif isinstance(value, _SUITE_TYPES.get(name, ())):
            suite.fields[name] = shape_input(value) if name == "input" else value
        elif name not in _SUITE_FIELDS and value is not None:
            suite.lose(item.without_value(), f"`{name}`", at="key")
    _read_execution(root, suite)


def _read_execution(root: Item, suite: SuiteDraft) -> None:
    for section in ("execution", "evaluate_options"):
        for name, item in root.at(section).fields():
            if name in ("threshold", "repeat"):
                suite.fields[name] = item.value
            elif name not in ("target", "targets", *_CHECKS) and item.value is not None:
                suite.lose(item, f"`{name}` of `{section}`", at="key")
    for held in (root, root.at("execution")):
        for name in ("target", "targets", "providers"):
            several = [each.value for each in held.at(name).several()]
            names: list[JSON] = [each for each in several if isinstance(each, str)]
            if names:
                suite.fields["targets"] = names
            if len(names) < len(several):
                suite.lose(held.at(name), f"`{name}`: a target is named here", at="key")


class _CaseMaker:
    def __init__(
        self, suite: SuiteDraft, mapper: Mapper, prompts: list[PromptTemplate] | None, root: Item
    ) -> None:
        self.suite = suite
        self.mapper = mapper
        self.prompts = prompts
        default = next((root.at(name) for name in _DEFAULTS if root.at(name).value), root.at("?"))
        self.default_variables = default.at("vars").mapping()
        self.shared = [
            check for held in (root, root.at("execution"), default) for name in _CHECKS
            for check in held.at(name).items()
        ]  # fmt: skip

    def make(self, item: Item) -> None:
        """Make the case of a test, or one for each prompt."""
        if not isinstance(item.value, dict):
            self.suite.new_case(item).drop(item, "this test, which is not a mapping")
            return
        given = {**self.default_variables, **item.at("vars").mapping()}
        variables = Variables(given, "vars")
        is_asked = any(item.at(name).value is not None for name in (*_INPUTS, "turns"))
        if self.prompts is None and not is_asked:
            self.suite.new_case(item).drop(item, "this test, which has no input")
            return
        for prompt in (None,) if self.prompts is None else self.prompts:
            case = self.suite.new_case(item)
            try:
                self._fill(case, item, prompt, variables)
                self._check(case, item, variables)
                for name, value in given.items():
                    if name not in (*variables.used, "expected_output"):
                        case.keep(name, item.at("vars", name)._replace(value=value))
            except UnrenderableError as error:
                case.drop(item, f"this test, which has {error}")

    def _fill(
        self, case: CaseDraft, item: Item, prompt: PromptTemplate | None, variables: Variables
    ) -> None:
        id = shape_id(item.at("id").value)
        if id is not None:
            several = self.prompts is not None and len(self.prompts) > 1
            case.fields["id"] = f"{id}:{prompt.label}" if several and prompt is not None else id
        for name in _COPIED:
            if item.at(name).value is not None:
                put_field(case, name, item.at(name))
        asked = item.first(*_INPUTS)
        if asked.value is not None:
            value = variables.render_all(asked.value) if has_tags(asked.value) else asked.value
            case.fields["input"] = shape_input(_without_root(value))
        elif prompt is not None:
            unset: list[str] = []
            filled = prompt.fill(variables, ("", ""), unset)
            case.fields["input"] = shape_input(_without_root(filled))
            for name in dict.fromkeys(unset):
                case.lose(prompt.item, f"the variable `{name}`, which nothing sets")
        self._expect(case, item, variables)
        for name, held in item.fields():
            if name not in _CASE_FIELDS and held.value is not None:
                case.lose(held, f"`{name}`", at="key")
        self._read_execution(case, item)

    def _read_execution(self, case: CaseDraft, item: Item) -> None:
        for held in (item, item.at("execution")):
            target = held.at("target").value
            if isinstance(target, str):
                case.fields["targets"] = [target]
            for name in ("threshold", "repeat", "skip"):
                if held.at(name).value is not None:
                    case.fields[name] = held.at(name).value
        for name, held in item.at("execution").fields():
            if name not in ("target", "threshold", "repeat", "skip_defaults", *_CHECKS):
                case.lose(held, f"`{name}` of `execution`", at="key")

    def _expect(self, case: CaseDraft, item: Item, variables: Variables) -> None:
        expected = item.first(*_EXPECTED)
        if expected.value is None and "expected_output" in variables.values:
            value = variables.values["expected_output"]
            expected = item.at("vars", "expected_output")._replace(value=value)
        value = expected.value
        if value is not None:
            value = variables.render_value(value) if isinstance(value, str) else value
            case.fields["expected_output"] = shape_expected(_without_root(value))
            case.fields_from["expected_output"] = expected
        criteria = item.first(*_CRITERIA).value
        if isinstance(criteria, str) and criteria.strip():
            case.fields["criteria"] = variables.render(criteria)

    def _check(self, case: CaseDraft, item: Item, variables: Variables) -> None:
        execution = item.at("execution")
        checks = [each for held in (item, execution) for name in _CHECKS
                  for each in held.at(name).items()]  # fmt: skip
        for each in item.at("rubrics").items():
            checks.append(each._replace(value={"type": "rubrics", "value": [each.value]}))
        # Evaluators of a test used to replace the shared ones.
        is_old = any(held.at("evaluators").value for held in (item, execution))
        if not is_old and execution.at("skip_defaults").value is not True:
            checks = [*self.shared, *checks]
        threshold = case.fields.get("threshold", self.suite.fields.get("threshold"))
        self.mapper.counts_scores = threshold is not None
        is_whole = [self._add(case, each, variables) for each in checks]
        if threshold is not None and not all(is_whole):
            case.require_all(item.at("threshold"))
        self._converse(case, item, variables)
        is_judged = not case.fields.keys().isdisjoint(("criteria", "rubrics"))
        is_judged = is_judged or asks_judge(case.fields.get("graders"))
        if "graders" in case.fields and "expected_output" in case.fields and not is_judged:
            case.keep_reference()  # AgentV never compares it beside assertions

    def _add(self, case: CaseDraft, item: Item, variables: Variables) -> bool:
        """Add an assertion to a case; whether that was possible."""
        is_whole = True
        try:
            for made in map_check(item, variables, self.mapper):
                if isinstance(made, Statement):
                    case.add_rubric(made.rubric)
                else:
                    case.add_grader(made, item)
        except NoCounterpartError as error:
            case.lose_grader(item, str(error), error.hint)
            is_whole = False
        for place, why in self.mapper.notes:
            case.lose_grader(place, why)
        self.mapper.notes.clear()
        return is_whole

    def _converse(self, case: CaseDraft, item: Item, variables: Variables) -> None:
        """Turns, each with its assertions."""
        turns: list[JSON] = []
        for number, each in enumerate(item.at("turns").items()):
            turn = CaseDraft(each)
            asked = each.at("input").value
            turn.fields["input"] = asked if asked is None else shape_input(_without_root(asked))
            self._expect(turn, each, Variables({}))
            for name in _CHECKS:
                for check in each.at(name).items():
                    self._add(turn, check, variables)
            for lost in turn.lost:
                case.lost.append(lost._replace(where=("turns", number, *lost.where)))
            turns.append(turn.fields)
        if turns:
            case.fields["turns"] = turns
        if item.at("on_turn_failure").value == "stop":
            case.fields["stop_on_failure"] = True


def _without_root(value: JSON) -> JSON:
    """Files of the repository's root, which evalcase finds without the `/`."""
    if isinstance(value, list):
        return [_without_root(each) for each in value]
    if not isinstance(value, dict):
        return value
    is_file = value.get("type") == "file"
    return {
        name: each.lstrip("/")
        if is_file and name in ("value", "path") and isinstance(each, str)
        else _without_root(each)
        for name, each in value.items()
    }
