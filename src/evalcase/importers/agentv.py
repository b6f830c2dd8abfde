"""An eval file of AgentV to a suite: `evalcases` or `tests` with inputs of their own, or with
`vars` for prompts. A text among assertions is a statement for the judge; what promptfoo has as well
is mapped as there."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import Findings
from evalcase.format.graders import read_grader_list
from evalcase.format.tables import SuiteFiles
from evalcase.importers.draft import (
    CaseDraft,
    Choices,
    Draft,
    NoCounterpartError,
    SuiteDraft,
    add_options,
    asks_judge,
    write_grader,
)
from evalcase.importers.javascript import UnrenderableError, Variables, has_tags
from evalcase.importers.promptfoo_checks import NEGATION, Assertion, Grader, Mapper, to_seconds
from evalcase.importers.promptfoo_tests import PromptTemplate, TestReader, read_prompts
from evalcase.importers.rows import put_field, shape_expected, shape_id, shape_input
from evalcase.importers.source import FILE, Folder, ForeignFile, Item
from evalcase.types.problem import CODES
from evalcase.types.value import JSON
from evalcase.util.project import project_root

_CONTAINERS = ("tests", "evalcases", "eval_cases", "cases")
_DEFAULTS = ("default_test", "defaultTest")
_CHECKS = ("assert", "assertions", "evaluators")
_TARGETS = ("target", "targets", "providers")
_SUITE_FIELDS = frozenset({
    *_CONTAINERS, *_DEFAULTS, *_CHECKS, *_TARGETS, "$schema", "version", "prompts", "execution",
    "name", "dataset", "description", "tags", "metadata", "input", "threshold",
    "evaluate_options", "repeat", "scenarios", "workspace", "environment", "governance",
})  # fmt: skip
_SUITE_TYPES = {"metadata": dict, "tags": list, "input": str | list | dict}
_INPUTS = ("input", "input_messages")
_EXPECTED = ("expected_output", "expected_messages")
_CRITERIA = ("criteria", "expected_outcome", "outcome")
_COPIED = ("description", "tags", "metadata", "conversation_id")
_CASE_FIELDS = frozenset({
    *_CHECKS, *_INPUTS, *_EXPECTED, *_CRITERIA, *_COPIED, "id", "vars", "rubrics", "execution",
    "turns", "mode", "on_turn_failure", "target", "threshold", "repeat", "skip", "$schema",
    "workspace", "environment",
})  # fmt: skip


def import_agentv(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    del choices
    folder = Folder(source.folder)
    root = _find_root(source, folder)
    _describe_suite(root, suite)
    project, targets = project_root(suite.folder), suite.fields.get("targets")
    names = [*targets] if isinstance(targets, list) else []
    for test in root.first(*_CONTAINERS).items():
        names += [test.at("target").value, test.at("execution", "target").value]
    _map_named_targets(names, folder.path, project, suite)
    named, default = root.at("prompts"), root.first(*_DEFAULTS)
    cases = _CaseMaker(
        suite, Mapper(folder, project),
        None if named.value is None else read_prompts(named, folder, suite),
        default.at("vars").mapping(), _list_checks(root, root.at("execution"), default),
    )  # fmt: skip
    for item in TestReader(folder, suite, _CONTAINERS).read_file(source):
        cases.make(item)


def _find_root(source: ForeignFile, folder: Folder) -> Item:
    """The mapping around the tests; next to JSONL it is a YAML file of the same name."""
    root = Item({}, source.documents[0])
    if not source.is_table:
        return source.root if isinstance(source.root.value, dict) else root
    stem = os.path.splitext(os.path.basename(source.path))[0]
    try:
        return folder.parse(f"{stem}.yaml").root
    except ValueError:
        return root


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
    if root.at("governance").value is not None:  # who answers for the tests, by which policy
        given = {"governance": root.at("governance").value}
        suite.fields["metadata"] = {**root.at("metadata").mapping(), **given}
    _map_workspace(root, suite, suite)
    _read_execution(root, suite)


def _read_execution(root: Item, suite: SuiteDraft) -> None:
    for section in ("execution", "evaluate_options"):
        given = root.at(section).mapping()
        suite.fields |= {name: given[name] for name in ("threshold", "repeat") if name in given}
        known = ("threshold", "repeat", *_TARGETS, *_CHECKS)
        suite.lose_rest(root.at(section), known, f" of `{section}`")
    for held in (root, root.at("execution")):
        for name in _TARGETS:
            several = held.at(name).several()
            named = [each.value if isinstance(each.value, str) else _map_target(each, suite)
                     for each in several]  # fmt: skip
            names: list[JSON] = [each for each in named if each is not None]
            if names:
                suite.fields["targets"] = names
            if len(names) < len(several):
                suite.lose(held.at(name), f"`{name}`: a target is named here", at="key")


class _CaseMaker(Struct):
    suite: SuiteDraft
    mapper: Mapper
    prompts: list[PromptTemplate] | None
    default_variables: dict[str, JSON]
    shared: list[Item]
    """The checks of all cases."""

    def make(self, item: Item) -> None:
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
                    if name not in (*variables.used, "expected_output", "id"):
                        case.keep(name, item.at("vars", name)._replace(value=value))
            except UnrenderableError as error:
                case.drop(item, f"this test, which has {error}")

    def _fill(
        self, case: CaseDraft, item: Item, prompt: PromptTemplate | None, variables: Variables
    ) -> None:
        id = shape_id(item.at("id").value) or shape_id(item.at("vars", "id").value)
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
        case.lose_rest(item, _CASE_FIELDS)
        _map_workspace(item, case, self.suite)
        _read_settings(case, item)

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
        checks = _list_checks(item, execution)
        for each in item.at("rubrics").items():
            checks.append(each._replace(value={"type": "rubrics", "value": [each.value]}))
        # Evaluators of a test used to replace the shared ones.
        is_old = any(held.at("evaluators").value for held in (item, execution))
        if not is_old and execution.at("skip_defaults").value is not True:
            checks = [*self.shared, *checks]
        threshold = case.fields.get("threshold", self.suite.fields.get("threshold"))
        self.mapper.counts_scores = threshold is not None
        for each in checks:
            self._add(case, each, variables)
        self._converse(case, item, variables)
        is_judged = not case.fields.keys().isdisjoint(("criteria", "rubrics"))
        is_judged = is_judged or asks_judge(case.fields.get("graders"))
        if "graders" in case.fields and "expected_output" in case.fields and not is_judged:
            case.keep_reference()  # AgentV never compares it beside assertions

    def _add(self, case: CaseDraft, item: Item, variables: Variables) -> None:
        try:
            for grader in _map_check(item, variables, self.mapper):
                statements = _statements_of(grader)
                for each in statements:
                    case.add_rubric(each)
                if not statements:
                    case.add_grader(grader, item)
        except NoCounterpartError as error:
            case.lose_grader(item, str(error), error.hint)
        for place, why in self.mapper.notes:
            case.lose(place, why)
        self.mapper.notes.clear()

    def _converse(self, case: CaseDraft, item: Item, variables: Variables) -> None:
        turns: list[JSON] = []
        for each in item.at("turns").items():
            turn = CaseDraft(origin=each)
            asked = each.at("input").value
            turn.fields["input"] = asked if asked is None else shape_input(_without_root(asked))
            self._expect(turn, each, Variables({}))
            for check in _list_checks(each):
                self._add(turn, check, variables)
            case.lost += turn.lost
            turns.append(turn.fields)
        if turns:
            case.fields["turns"] = turns
        if item.at("on_turn_failure").value == "stop":
            case.fields["stop_on_failure"] = True


def _read_settings(case: CaseDraft, item: Item) -> None:
    execution = item.at("execution").fields()
    for name, held in (*item.fields(), *execution):
        if name == "target" and isinstance(held.value, str):
            case.fields["targets"] = [held.value]
        elif name in ("threshold", "repeat", "skip") and held.value is not None:
            case.fields[name], case.fields_from[name] = held.value, held
    known = ("target", "threshold", "repeat", "skip", "skip_defaults", *_CHECKS)
    case.lose_rest(item.at("execution"), known, " of `execution`")


def _list_checks(*several: Item) -> list[Item]:
    return [check for held in several for name in _CHECKS for check in held.at(name).items()]


def _without_root(value: JSON) -> JSON:
    """Files of the repository's root, which evalcase finds without the `/`."""
    if isinstance(value, list):
        return [_without_root(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _without_root(each) for name, each in value.items()}
    for name in ("value", "path") if value.get("type") == "file" else ():
        if isinstance(path := kept.get(name), str):
            kept[name] = path.lstrip("/")
    return kept


# Assertions

_JUDGES = ("llm-rubric", "llm-grader", "llm-judge", "rubric", "rubrics", "g-eval")
_EVALUATORS = {
    **dict.fromkeys(("script", "code-grader", "code-judge", "script-grader"), "code_judge"),
    **{name.replace("_", "-"): name for name in ("tool_trajectory", "field_accuracy", "composite")},
}
"""Evaluators of its first releases, which `check` reads, too."""
_OF_TEST = re.compile(r"\{\{\s*vars\.|\{[%#]")
_SHARED = ("name", "weight", "required", "negate", "type", "metric")


def _statements_of(grader: Grader) -> list[JSON]:
    """The rubrics of a judge that has nothing else but a name; none of other graders."""
    rubrics = grader.get("rubrics")
    match sorted(grader) if grader["type"] == "judge" else []:
        case ["type", "value"]:
            return [grader["value"]]
        case ["name", "type", "value"]:
            return [{"id": grader["name"], "text": grader["value"]}]
        case ["rubrics", "type"] if isinstance(rubrics, list):
            return rubrics
    return []


def _map_check(item: Item, variables: Variables, mapper: Mapper) -> list[Grader]:
    """Graders of an assertion. Raise NoCounterpartError if there are none."""
    value = item.value
    if isinstance(value, str):
        return [write_grader("judge", variables.render(value))]
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise NoCounterpartError("this assertion, which has no type")
    required = value.get("required") or None
    if required not in (None, True) or isinstance(required, float):
        raise NoCounterpartError(f"`required: {required}`, and not only true")
    kind = str(value["type"]).replace("_", "-")
    fields = {key: each for key, each in value.items() if key not in _SHARED}
    if kind in _JUDGES:
        graders = [_map_judge(item, fields, variables, mapper)]
    elif kind in _EVALUATORS:
        graders = [_map_evaluator(item, _EVALUATORS[kind], fields, mapper)]
    elif kind in _OPTIONS:
        graders = _map_own(kind, fields, f"`{value['type']}`")
    else:
        several = mapper.map(_to_promptfoo(kind, item).render(variables))
        return [add_options(each, {"required": required}) for each in several]
    if value.get("negate") is True:
        graders = [{**each, "not": True} for each in graders]
    named = value.get("name", value.get("metric"))
    given: dict[str, JSON] = {
        "weight": value.get("weight"), "required": required,
        "name": named if isinstance(named, str) and named.strip() else None,
    }  # fmt: skip
    return [add_options(each, given) for each in graders]


def _to_promptfoo(kind: str, item: Item) -> Assertion:
    value = item.mapping()
    dropped = ("type", "negate", "name", "required")
    fields: dict[str, JSON] = {
        key: each for key, each in value.items() if key not in dropped and each is not None
    }
    if value.get("name") is not None:
        fields["metric"] = value["name"]
    if kind == "cost" and "budget" in fields:
        fields["threshold"] = fields.pop("budget")
    if kind == "regex" and "flags" in fields:
        flags = fields.pop("flags")
        if not isinstance(flags, str) or not set(flags) <= set("imsu"):
            raise NoCounterpartError(f"`regex` with the flags `{flags}`")
        flags = flags.replace("u", "")
        fields["value"] = f"(?{flags}){fields.get('value')}" if flags else fields.get("value")
    bare = kind.removeprefix(NEGATION)
    is_negated = (bare != kind) != (value.get("negate") is True)
    inner = tuple(
        _to_promptfoo(str(each.at("type").value).replace("_", "-"), each)
        if isinstance(each.value, dict)
        else Assertion(each, "llm-rubric", False, {"value": each.value})
        for each in item.at("assert").items()
    )
    return Assertion(item, bare, is_negated, fields, inner)


def _map_judge(item: Item, fields: dict[str, JSON], variables: Variables, mapper: Mapper) -> Grader:
    """A text is a statement; so is each item of a list of criteria."""
    held = next((n for n in ("rubrics", "criteria", "value") if fields.get(n) is not None), None)
    prompt = fields.get("prompt")
    if held is None and isinstance(prompt, str):
        read = {**fields, "prompt": prompt.removeprefix(FILE)}
        return _map_evaluator(item, "llm_judge", read, mapper)
    for name in fields:
        if name in ("target", "provider"):
            why = f"`{name}` of a judge: [judge] of the configuration says who judges"
            mapper.notes.append((item.at(name), why))
        elif name != held:
            raise NoCounterpartError(f"`{item.at('type').value}` with `{name}`")
    if held is None:  # it judges by the criteria of the case
        return write_grader("judge")
    several = item.at(held).items() or [item.at(held)]
    rubrics = [_read_rubric(each.value, variables) for each in several]
    is_text = len(rubrics) == 1 and isinstance(rubrics[0], str)
    return write_grader("judge", rubrics[0]) if is_text else write_grader("judge", rubrics=rubrics)


def _read_rubric(value: JSON, variables: Variables) -> JSON:
    if isinstance(value, str) and value.strip():
        return variables.render(value)
    if not isinstance(value, dict):
        raise NoCounterpartError("a criterion that is not text")
    text = value.get("outcome", value.get("text", value.get("description")))
    known = ("id", "outcome", "text", "description", "weight", "required", "operator")
    other = next((name for name in value if name not in known), None)
    if other or not isinstance(text, str) or not text.strip():
        raise NoCounterpartError(f"a criterion with `{other}`" if other else "an empty criterion")
    text = variables.render(text)
    if value.get("operator") == "contradiction":
        text = f"Does not contradict this: {text}"
    kept = {key: value[key] for key in ("weight", "required") if value.get(key) is not None}
    id = value.get("id")
    named: dict[str, JSON] = {"id": str(id)} if isinstance(id, str | int) else {}
    return {**named, "text": text, **kept} if named or kept else text


def _map_evaluator(item: Item, kind: str, fields: dict[str, JSON], mapper: Mapper) -> Grader:
    """An evaluator as `check` reads it."""
    name = f"`{item.at('type').value}`"
    target = fields.pop("target", fields.pop("provider", None))
    command = fields.pop("command", fields.pop("value", None))
    given = {"script": command, "target": None if isinstance(target, str) else target}
    written = add_options(fields, given)
    if _OF_TEST.search(str(written)):
        raise NoCounterpartError(f"{name} that differs from test to test")
    findings = Findings(Catalogue(needs_graders=True), SuiteFiles(mapper.folder.path))
    read = read_grader_list([{"type": kind, **written}], ("assert",), findings)
    if not read:
        wrong = next(each for each in findings.found if CODES[each.code].severity == "error")
        raise NoCounterpartError(f"{name}: {wrong.message}", wrong.hint)
    if findings.references and project_root(mapper.folder.path) != mapper.root:
        raise NoCounterpartError(f"{name} with files outside the project")
    return add_options(read[0], {"target": target if isinstance(target, str) else None})


_OPTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "ends-with": {"value": ("ends_with", "value")},
    "token-usage": {
        "max_total": ("tokens", "value"), "max_input": ("tokens", "input"),
        "max_output": ("tokens", "output"),
    },
    "execution-metrics": {
        "max_tool_calls": ("tool_calls", "max"), "max_tokens": ("tokens", "value"),
        "max_cost_usd": ("cost", "value"), "max_duration_ms": ("latency", "value"),
    },
}  # fmt: skip
"""The options of assertions that promptfoo doesn't have: the grader of each, and the option."""


def _map_own(kind: str, fields: Mapping[str, JSON], name: str) -> list[Grader]:
    graders: dict[str, Grader] = {}
    for option, value in fields.items():
        if option not in _OPTIONS[kind]:
            raise NoCounterpartError(f"{name} with `{option}`")
        grader, argument = _OPTIONS[kind][option]
        held = graders.setdefault(grader, write_grader(grader))
        if isinstance(value, int | float) and not isinstance(value, bool):
            held[argument] = to_seconds(value) if grader == "latency" else value
        elif grader == "ends_with":
            held[argument] = value
        else:
            raise NoCounterpartError(f"{name} without a number")
    if not graders:
        raise NoCounterpartError(f"{name} without limits")
    return [*graders.values()]


# Workspaces, and the coding agents that work in them, in the forms that AgentV has had

_COMMANDS = {
    "setup": "setup", "teardown": "teardown",
    "before_all": "prepare", "before_each": "setup", "after_each": "teardown",
}  # fmt: skip
_TEMPLATES = ("template", "workspace_template", "workdir")
_AGENTS = {
    "claude-code": "claude", "claude": "claude", "claude-cli": "claude", "codex": "codex",
    "codex-cli": "codex", "copilot-cli": "copilot", "copilot": "copilot",
    "gemini-cli": "gemini-cli", "opencode": "opencode",
}  # fmt: skip
_AGENT_OPTIONS = {
    "executable": "program", "model": "model", "args": "args", "timeout_seconds": "time_s",
}  # fmt: skip
_TARGETS_FILE = os.path.join(".agentv", "targets.yaml")


def _map_workspace(item: Item, draft: Draft, suite: SuiteDraft) -> None:
    """`workspace` and `environment` of a file or a case, as far as there is something like it."""
    found: dict[str, JSON] = {}
    for whole in map(item.at, ("workspace", "environment")):
        if whole.value is not None and not isinstance(whole.value, dict):
            draft.lose(whole, f"`{whole.path[-1]}` of another file", at="key")
        for name, held in whole.fields():
            if name == "repos":
                _add_repo(held, found, draft, suite)
            elif name == "hooks":
                for hook, each in held.fields():
                    _add_part(hook, each, found, draft)
            else:
                _add_part(name, held, found, draft)
    held = item.first("workspace", "environment")
    if found.keys() & {"template", "repo"}:
        draft.fields["workspace"] = found
        draft.fields_from["workspace"] = held
    elif found:
        draft.lose(held, "a workspace without a `template`", "name the folder that agents work in")


def _add_part(name: str, held: Item, found: dict[str, JSON], draft: Draft) -> None:
    value = held.value
    if name in _TEMPLATES and isinstance(value, str):
        found["template"] = value
    elif name in _COMMANDS:
        _add_command(held, _COMMANDS[name], found, draft)
    elif name == "env" and isinstance(value, dict):
        found["env"] = {key: str(each) for key, each in value.items()}
    elif (name, value) == ("type", "docker"):
        hint = 'a target takes `isolation = "docker:IMAGE"`'
        draft.lose(held, "`docker`: the isolation is that of a target", hint)
    elif name != "type" and value is not None:
        draft.lose(held, f"`{name}` of the workspace", at="key")


def _add_command(item: Item, field: str, found: dict[str, JSON], draft: Draft) -> None:
    held = item.first("command", "script") if isinstance(item.value, dict) else item
    command: JSON = held.value
    if isinstance(command, str):
        command = {"sh": command}
    elif not isinstance(command, list) or not all(isinstance(each, str) for each in command):
        draft.lose(item, f"`{field}`, which is no command")
        return
    several = found.setdefault(field, [])
    assert isinstance(several, list)
    several.append(command)
    limit = item.at("timeout_ms").value
    if isinstance(limit, int) and limit > 0:
        found["timeout_s"] = max(limit / 1000, float(str(found.get("timeout_s", 0))))
    why = f"the JSON on the standard input of `{field}`, which runs in the workspace here"
    draft.lose(held.without_value(), why)


def _add_repo(item: Item, found: dict[str, JSON], draft: Draft, suite: SuiteDraft) -> None:
    for number, each in enumerate(item.items()):
        address = each.first("repo", "url").value
        commit = each.first("commit", "base_commit").value
        is_root = str(each.at("path").value or ".").rstrip("/") in (".", "")
        if number or not is_root or not isinstance(address, str):
            draft.lose(each, "a repository beside the one at the root of the workspace")
        elif not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", str(commit)):
            draft.lose(each, "a repository without the full id of a commit")
        else:
            name = re.sub(r"\W+", "-", address.rstrip("/").removesuffix(".git").split("/")[-1])
            if "/" not in address.removesuffix(".git") or "://" not in address:
                address = f"https://github.com/{address.removeprefix('github.com/')}"
            suite.repos[name] = {"url": address}
            found |= {"repo": name, "commit": commit}
            known = ("path", "repo", "url", "commit", "base_commit")
            draft.lose_rest(each, known, " of a repository")


def _map_target(item: Item, suite: SuiteDraft) -> str | None:
    """The name of a target that is a coding agent, which the configuration then gets."""
    name, kind = item.at("name").value, _AGENTS.get(str(item.at("provider").value))
    if not isinstance(name, str) or kind is None:
        return None
    suite.targets[name] = {"kind": kind}
    for place in (item, item.at("settings")):
        for key, value in place.mapping().items():
            if key in _AGENT_OPTIONS and value is not None:
                suite.targets[name][_AGENT_OPTIONS[key]] = value
        known = ("name", "provider", "settings", *_AGENT_OPTIONS)
        suite.lose_rest(place, known, f" of the target `{name}`")
    return name


def _map_named_targets(names: list[Any], folder: str, root: str, suite: SuiteDraft) -> None:
    """The coding agents among the targets that a file names, from `.agentv/targets.yaml`."""
    while not os.path.isfile(os.path.join(folder, _TARGETS_FILE)):
        if folder in (root, os.path.dirname(folder)):
            return
        folder = os.path.dirname(folder)
    try:
        declared = Folder(folder).parse(_TARGETS_FILE).root
    except ValueError:
        return
    for each in declared.at("targets").items() or declared.items():
        if each.at("name").value in names:
            _map_target(each, suite)
