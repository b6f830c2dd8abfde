"""Datasets of pydantic-evals: cases with `inputs`, and evaluators for one case or for all."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.importers.draft import NO_ARGUMENT, CaseDraft, Choices, SuiteDraft, write_grader
from evalcase.importers.rows import Preset, import_rows
from evalcase.importers.source import ForeignFile, Item
from evalcase.types.value import JSON

_EQUALS_EXPECTED, _JUDGE = "EqualsExpected", "LLMJudge"
_SERVICES = {"openai": "openai", "openai-chat": "openai", "anthropic": "anthropic"}
"""Kinds of targets, by the prefix of the name of a model."""
_OTHER_JUDGE = "`model` of a judge: [judge] of the configuration says who judges, for all cases"


_ANY_CALL = (
    "`occurrence` of `ArgumentCorrectness`: any call of the tool may have the arguments here"
)


class _Evaluator(NamedTuple):
    name: str
    options: dict[str, JSON]
    """The key of a single positional argument is empty."""
    item: Item

    def argument(self, name: str) -> JSON:
        value = self.options.get("", self.options.get(name))
        if value is None:
            raise _UnmappedError(f"an evaluator without `{name}`")
        return value


class _UnmappedError(Exception):
    """Why an evaluator can't be mapped."""


def import_pydantic_evals(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    """Evaluators of all cases go to the suite; judges go to each case."""
    root = source.root
    if isinstance(root.value, dict):
        beside = {"evaluators", "$schema"}
        if not root.value.get("report_evaluators"):  # the library writes an empty list
            beside.add("report_evaluators")
        source.documents[0].value = {
            key: item for key, item in root.value.items() if key not in beside
        }
    import_rows(source, choices, suite, _PRESET)
    shared = _read_evaluators(root.at("evaluators"))
    _add_to_suite(suite, shared)
    for case in suite.kept:
        own = _read_evaluators(case.origin.at("evaluators"))
        for each in own:
            if each.name == _JUDGE and not _name_judge(suite, each):
                case.lose(each.item.at(_JUDGE, "model"), _OTHER_JUDGE)
        for each in (*(each for each in shared if each.name == _JUDGE), *own):
            if each.name != _EQUALS_EXPECTED:
                _add_to_case(case, each)
        _put_comparison(case, [*shared, *own], choices)


def _add_to_suite(suite: SuiteDraft, shared: list[_Evaluator]) -> None:
    for each in shared:
        if each.name == _JUDGE and not _name_judge(suite, each):
            suite.lose(each.item.at(_JUDGE, "model"), _OTHER_JUDGE)
        elif each.name not in (_EQUALS_EXPECTED, _JUDGE):
            try:
                suite.add_grader(_map_evaluator(each), each.item)
                if each.name == "ArgumentCorrectness":
                    suite.lose(each.item.without_value(), _ANY_CALL)
            except _UnmappedError as error:
                suite.lose(each.item, str(error))


def _read_evaluators(several: Item) -> list[_Evaluator]:
    """Evaluators as `Name`, `{Name: argument}` or `{Name: {options}}`."""
    found = []
    for item in several.items():
        value, name = item.value, ""
        options: dict[str, JSON] = {}
        if isinstance(value, str):
            name = value
        elif isinstance(value, dict) and len(value) == 1:
            ((name, held),) = value.items()
            options = held if isinstance(held, dict) else {"": held}
        found.append(_Evaluator(name, options, item))
    return found


def _put_comparison(case: CaseDraft, evaluators: list[_Evaluator], choices: Choices) -> None:
    """pydantic-evals compares the expected output only by an evaluator; evalcase always does,
    except beside rubrics. A case without any evaluator is compared: its evaluators are in Python,
    and nothing else would grade it."""
    if "expected_output" not in case.fields:
        return
    asked = next((each for each in evaluators if each.name == _EQUALS_EXPECTED), None)
    if "rubrics" in case.fields:
        if asked is not None:
            case.add_grader("expected", asked.item)
    elif asked is None and evaluators and choices.expected is None:
        case.keep_reference()


def _name_judge(suite: SuiteDraft, evaluator: _Evaluator) -> bool:
    """Make the model of a judge the judge of the configuration, unless that is another."""
    model = evaluator.options.get("model")
    if model is None:
        return True
    service, _, name = str(model).partition(":")
    if service not in _SERVICES or not name:
        return False
    target: dict[str, JSON] = {"kind": _SERVICES[service], "model": name}
    if suite.judge is not None and suite.targets[suite.judge] != target:
        return False
    suite.targets[name], suite.judge = target, name
    return True


def _add_to_case(case: CaseDraft, evaluator: _Evaluator) -> None:
    try:
        if evaluator.name != _JUDGE:
            case.add_grader(_map_evaluator(evaluator), evaluator.item)
            if evaluator.name == "ArgumentCorrectness":
                case.lose_grader(evaluator.item.without_value(), _ANY_CALL)
            return
        case.add_rubric(_read_rubric(evaluator))
        settings = evaluator.item.at(_JUDGE, "model_settings")
        if settings.value is not None:
            case.lose(settings, "`model_settings` of a judge: they are options of its target")
    except _UnmappedError as error:
        case.lose_grader(evaluator.item, str(error))


def _read_rubric(evaluator: _Evaluator) -> JSON:
    text = evaluator.argument("rubric")
    if not isinstance(text, str):
        raise _UnmappedError("`LLMJudge` whose rubric is not text")
    if evaluator.options.get("assertion") is False:
        raise _UnmappedError("`LLMJudge` that only scores")
    return text


def _map_evaluator(evaluator: _Evaluator) -> JSON:
    options = evaluator.options
    name = options.get("evaluation_name")
    match evaluator.name:
        case "Equals":
            return write_grader("equals", evaluator.argument("value"), name=name)
        case "Contains":
            value = evaluator.argument("value")
            if not isinstance(value, str):
                raise _UnmappedError("`Contains` with other things than text")
            ignores = True if options.get("case_sensitive") is False else None
            return write_grader("contains", value, ignore_case=ignores, name=name)
        case "MaxDuration":
            seconds = evaluator.argument("seconds")
            if not isinstance(seconds, int | float):
                raise _UnmappedError("`MaxDuration` that is not a number of seconds")
            return write_grader("latency", seconds, name=name)
        case "":
            raise _UnmappedError("this evaluator")
    return _map_tools(evaluator, name)


def _map_tools(evaluator: _Evaluator, name: JSON) -> JSON:
    options = evaluator.options
    match evaluator.name:
        case "TrajectoryMatch":
            order = str(options.get("order", "in_order"))
            tools = _tools(evaluator, "expected_trajectory")
            return _trajectory(tools, order, "forbid", name)
        case "ToolCorrectness":
            extra = None if options.get("allow_extra") is True else "forbid"
            return _trajectory(_tools(evaluator, "expected_tools"), "any_order", extra, name)
        case "ArgumentCorrectness":
            return _map_arguments(options, name)
        case "MaxToolCalls":
            most = evaluator.argument("max_calls")
            return write_grader("tool_calls", NO_ARGUMENT, max=most, name=name)
        case other:
            raise _UnmappedError(f"the evaluator `{other}`")


def _tools(evaluator: _Evaluator, argument: str) -> list[JSON]:
    tools = evaluator.argument(argument)
    if not isinstance(tools, list) or not tools or not all(isinstance(each, str) for each in tools):
        raise _UnmappedError(f"`{evaluator.name}` without names of tools")
    return tools


def _trajectory(tools: list[JSON], order: str, extra: JSON, name: JSON) -> JSON:
    options = {"order": None if order == "in_order" else order, "extra": extra}
    return write_grader("trajectory", tools, **options, arguments="ignore", name=name)


def _map_arguments(options: dict[str, JSON], name: JSON) -> JSON:
    tool, given = options.get("tool_name"), options.get("expected_arguments")
    if not isinstance(tool, str) or not isinstance(given, dict):
        raise _UnmappedError("`ArgumentCorrectness` without a tool and its arguments")
    is_exact = options.get("match_mode") == "exact"
    if not is_exact and any(isinstance(each, dict | list) for each in given.values()):
        raise _UnmappedError("`ArgumentCorrectness` whose nested arguments are compared whole")
    calls: list[JSON] = [{"tool": tool, "input": given}]
    return write_grader("trajectory", calls, arguments="exact" if is_exact else None, name=name)


def _skip(case: CaseDraft, item: Item) -> None:
    """Evaluators are read when all fields are known."""


_PRESET = Preset(
    {"id": "name", "input": "inputs", "expected_output": "expected_output", "metadata": "metadata"},
    handlers={"evaluators": _skip},
    containers=("cases",),
)
