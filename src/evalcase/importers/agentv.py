"""An eval file of AgentV to a suite: `evalcases` or `tests` with inputs of their own, or with
`vars` for prompts. A text among assertions is a statement for the judge; what promptfoo has as well
is mapped as there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evalcase.importers.draft import (
    NO_ARGUMENT,
    CaseDraft,
    Choices,
    NoCounterpartError,
    SuiteDraft,
    add_options,
    asks_judge,
    write_grader,
    write_not,
)
from evalcase.importers.javascript import UnrenderableError, Variables, has_tags
from evalcase.importers.promptfoo_checks import NEGATION, Assertion, Mapper, to_seconds
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


# Assertions

_JUDGES = ("llm-rubric", "llm-grader", "llm-judge", "rubric", "rubrics", "g-eval")
_SCRIPTS = ("script", "code-grader", "code-judge", "script-grader")
_SHARED = ("name", "weight", "required", "negate", "type", "metric")
_LOST = {
    "field-accuracy": "it takes its values from what is expected; `fields` has them itself",
    "composite": "its parts are put together by rules of its own; `all` and `weighted` are near",
    "skill-trigger": "targets report no skills",
}


class Statement(NamedTuple):
    """A rubric of the case."""

    rubric: JSON


def map_check(item: Item, variables: Variables, mapper: Mapper) -> Iterator[Statement | JSON]:
    """Rubrics and graders of an assertion. Raise NoCounterpartError if there are none."""
    value = item.value
    if isinstance(value, str):
        yield Statement(variables.render(value))
        return
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise NoCounterpartError("this assertion, which has no type")
    kind = str(value["type"]).replace("_", "-")
    fields = {key: each for key, each in value.items() if key not in _SHARED}
    if kind in _JUDGES:
        yield from _map_judge(item, value, variables, mapper)
    elif kind in _SCRIPTS:
        yield _share(_map_script(fields, mapper), value)
    elif kind in _OPTIONS:
        other = next((name for name in fields if name not in _OPTIONS[kind]), None)
        if other is not None:
            raise NoCounterpartError(f"`{value['type']}` with `{other}`")
        yield from [_share(each, value) for each in _map_own(kind, fields, f"`{value['type']}`")]
    elif kind in _LOST:
        raise NoCounterpartError(f"`{value['type']}`: {_LOST[kind]}")
    else:
        for grader in mapper.map(_to_promptfoo(kind, item).render(variables)):
            yield add_options(grader, {"required": _is_required(value)})


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


def _map_judge(
    item: Item, value: dict[str, JSON], variables: Variables, mapper: Mapper
) -> Iterator[Statement | JSON]:
    """A text is a statement; so is each item of a list of criteria."""
    held = next((n for n in ("rubrics", "criteria", "value") if value.get(n) is not None), None)
    for name in value:
        if name in ("target", "provider"):
            why = f"`{name}` of a judge: [judge] of the configuration says who judges"
            mapper.notes.append((item.at(name), why))
        elif name not in (*_SHARED, held):
            raise NoCounterpartError(f"`{value['type']}` with `{name}`")
    if held is None:  # it judges by the criteria of the case
        yield _share("judge", value)
        return
    several = item.at(held).items() or [item.at(held)]
    rubrics = [_read_rubric(each.value, variables) for each in several]
    if not any(value.get(name) for name in ("weight", "required", "negate")):
        metric = _name_of(value)
        if metric is not None and len(rubrics) == 1 and isinstance(rubrics[0], str):
            rubrics = [{"id": metric, "text": rubrics[0]}]
        yield from map(Statement, rubrics)
        return
    is_text = len(rubrics) == 1 and isinstance(rubrics[0], str)
    yield _share({"judge": rubrics[0] if is_text else {"rubrics": rubrics}}, value)


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


def _share(grader: JSON, value: dict[str, JSON]) -> JSON:
    """A grader with the options that every assertion may have."""
    if value.get("negate") is True:
        grader = write_not(grader)
    given = {"weight": value.get("weight"), "name": _name_of(value)}
    return add_options(grader, {**given, "required": _is_required(value)})


def _name_of(value: dict[str, JSON]) -> JSON:
    name = value.get("name", value.get("metric"))
    return name if isinstance(name, str) and name.strip() else None


def _is_required(value: dict[str, JSON]) -> JSON:
    required = value.get("required")
    if isinstance(required, float | int) and not isinstance(required, bool):
        raise NoCounterpartError("`required` with a number, the score that is needed")
    return True if required is True else None


def _map_script(fields: dict[str, JSON], mapper: Mapper) -> JSON:
    """A program. AgentV runs it in the folder of the eval file, and passes every other key on."""
    command = fields.get("command", fields.get("script", fields.get("value")))
    if not isinstance(command, list) or not command:
        hint = "a program is written as a list: [python, check.py]"
        raise NoCounterpartError("a program that isn't written as a list", hint)
    own, target = fields.get("cwd", "."), fields.get("target", fields.get("provider"))
    cwd = os.path.relpath(os.path.join(mapper.folder.path, str(own)), mapper.root)
    if cwd.startswith(".."):
        raise NoCounterpartError("a program that runs outside the project")
    config = fields.get("config")
    if config is not None and not isinstance(config, dict):
        raise NoCounterpartError("a program whose `config` is not a mapping")
    read = ("command", "script", "value", "cwd", "target", "provider", "config")
    rest = {name: each for name, each in fields.items() if name not in read}
    most = target.get("max_calls", 50) if isinstance(target, dict) else None
    given: dict[str, JSON] = {**(config or {}), **rest}
    return write_grader(
        "script", command, cwd=None if cwd == "." else cwd, config=given or None,
        target=target if isinstance(target, str) else None,
        max_calls=50 if target is True else most,
    )  # fmt: skip


_METRICS = {
    "max_tool_calls": "tool_calls", "max_tokens": "tokens", "max_cost_usd": "cost",
    "max_duration_ms": "latency",
}  # fmt: skip
_OPTIONS: dict[str, tuple[str, ...]] = {
    "ends-with": ("value",),
    "latency": ("threshold",),
    "token-usage": ("max_total", "max_input", "max_output"),
    "execution-metrics": tuple(_METRICS),
    "tool-trajectory": ("mode", "minimums", "expected"),
}
"""The options of assertions that promptfoo doesn't have, or has otherwise."""


def _map_own(kind: str, fields: Mapping[str, JSON], name: str) -> list[JSON]:
    if kind == "ends-with":
        return [write_grader("ends_with", fields.get("value"))]
    if kind == "tool-trajectory":
        return [_map_trajectory(fields, name)]
    if kind == "latency":
        fields = {"threshold": fields.get("threshold")}
    limits: dict[str, float] = {}
    for option, limit in fields.items():
        if not isinstance(limit, int | float) or isinstance(limit, bool):
            raise NoCounterpartError(f"{name} without a number")
        limits[option] = limit
    if kind == "latency":
        return [{"latency": to_seconds(limits["threshold"])}]
    if kind == "token-usage":
        named: dict[str, JSON] = {each.removeprefix("max_"): limits[each] for each in limits}
        total = named.pop("total", NO_ARGUMENT)
        return [write_grader("tokens", total, **named)]
    if not limits:
        raise NoCounterpartError(f"{name} without limits")
    graders = {_METRICS[option]: limit for option, limit in limits.items()}
    if "latency" in graders:
        graders["latency"] = to_seconds(graders["latency"])
    return [{each: {"max": limit} if each == "tool_calls" else limit}
            for each, limit in graders.items()]  # fmt: skip


def _map_trajectory(fields: Mapping[str, JSON], name: str) -> JSON:
    mode, expected = fields.get("mode"), fields.get("expected")
    if mode == "any_order" and isinstance(fields.get("minimums"), dict) and expected is None:
        return {"tool_calls": {"needed": fields["minimums"]}}
    if mode not in ("in_order", "exact") or not isinstance(expected, list) or not expected:
        raise NoCounterpartError(f"{name} of the mode `{mode}`")
    calls: list[JSON] = []
    for each in expected:
        if not isinstance(each, dict) or not set(each) <= {"tool", "args"}:
            raise NoCounterpartError(f"{name} with more than tools and arguments")
        given, call = each.get("args"), {"tool": each.get("tool")}
        calls.append(call if given in (None, "any") else {**call, "input": given})
    return write_grader("trajectory", calls, order="exact" if mode == "exact" else None)
