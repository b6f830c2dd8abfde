"""Datasets of pydantic-evals: cases with `inputs`, and evaluators for one case or for all."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.importers.draft import (
    CaseDraft,
    Choices,
    Draft,
    NoCounterpartError,
    SuiteDraft,
    write_grader,
)
from evalcase.importers.rows import Preset, import_rows, skip_column
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

    def argument(self, name: str, kind: type) -> JSON:
        """An option that has to be there. Raise NoCounterpartError if it isn't, or is no such."""
        value = self.options.get("", self.options.get(name))
        if value is None or value == [] or not isinstance(value, kind):
            raise NoCounterpartError(f"`{self.name}` whose `{name}` can't be read")
        return value


def import_pydantic_evals(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    """Evaluators of all cases go to the suite; judges go to each case."""
    root = source.root
    has_reports = bool(root.at("report_evaluators").value)  # the library writes an empty list
    source.leave_out("evaluators", "$schema", *(() if has_reports else ("report_evaluators",)))
    import_rows(source, choices, suite, _PRESET)
    shared = _read_evaluators(root.at("evaluators"))
    judges = [each for each in shared if each.name == _JUDGE]
    for each in judges:
        if not _name_judge(suite, each):
            suite.lose(each.item.at(_JUDGE, "model"), _OTHER_JUDGE)
    for case in suite.kept:
        own = _read_evaluators(case.origin.at("evaluators"))
        for each in (*shared, *own):
            if each.name != _JUDGE:
                _add_grader(case, each)
                continue
            _add_rubric(case, each)
            if each in own and not _name_judge(suite, each):
                case.lose(each.item.at(_JUDGE, "model"), _OTHER_JUDGE)
        _put_comparison(case, [*shared, *own], choices)


def _read_evaluators(several: Item) -> list[_Evaluator]:
    """Evaluators as `Name`, `{Name: argument}` or `{Name: {options}}`."""
    found = []
    for item in several.items():
        match item.value:
            case str(name):
                found.append(_Evaluator(name, {}, item))
            case dict(value) if len(value) == 1:
                ((name, held),) = value.items()
                options: dict[str, JSON] = held if isinstance(held, dict) else {"": held}
                found.append(_Evaluator(name, options, item))
            case _:
                found.append(_Evaluator("", {}, item))
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
            case.add_grader(write_grader("expected"), asked.item)
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


def _add_rubric(case: CaseDraft, evaluator: _Evaluator) -> None:
    try:
        text = evaluator.argument("rubric", str)
        if evaluator.options.get("assertion") is False:
            raise NoCounterpartError("`LLMJudge` that only scores")
        case.add_rubric(text)
    except NoCounterpartError as error:
        case.lose(evaluator.item, str(error))
    settings = evaluator.item.at(_JUDGE, "model_settings")
    if settings.value is not None:
        case.lose(settings, "`model_settings` of a judge: they are options of its target")


def _add_grader(draft: Draft, evaluator: _Evaluator) -> None:
    if evaluator.name == _EQUALS_EXPECTED:
        return
    try:
        draft.add_grader(_map_evaluator(evaluator), evaluator.item)
        if evaluator.name == "ArgumentCorrectness":
            draft.lose(evaluator.item.without_value(), _ANY_CALL)
    except NoCounterpartError as error:
        draft.lose(evaluator.item, str(error))


def _map_evaluator(evaluator: _Evaluator) -> dict[str, JSON]:
    options = evaluator.options
    name = options.get("evaluation_name")
    match evaluator.name:
        case "Equals":
            return write_grader("equals", evaluator.argument("value", object), name=name)
        case "Contains":
            ignores = True if options.get("case_sensitive") is False else None
            text = evaluator.argument("value", str)
            return write_grader("contains", text, ignore_case=ignores, name=name)
        case "MaxDuration":
            seconds = options.get("", options.get("seconds"))
            if not isinstance(seconds, int | float):
                raise NoCounterpartError("`MaxDuration` that is not a number of seconds")
            return write_grader("latency", seconds, name=name)
        case "TrajectoryMatch" | "ToolCorrectness":
            is_match = evaluator.name == "TrajectoryMatch"
            tools = evaluator.argument(
                "expected_trajectory" if is_match else "expected_tools", list
            )
            order = str(options.get("order", "in_order")) if is_match else "any_order"
            allows = not is_match and options.get("allow_extra") is True
            return write_grader(
                "trajectory", tools, order=None if order == "in_order" else order,
                extra=None if allows else "forbid", arguments="ignore", name=name,
            )  # fmt: skip
        case "ArgumentCorrectness":
            tool, given = options.get("tool_name"), options.get("expected_arguments")
            if not isinstance(tool, str) or not isinstance(given, dict):
                raise NoCounterpartError("`ArgumentCorrectness` without a tool and its arguments")
            exact = "exact" if options.get("match_mode") == "exact" else None
            if exact is None and any(isinstance(each, dict | list) for each in given.values()):
                what = "`ArgumentCorrectness` whose nested arguments are compared whole"
                raise NoCounterpartError(what)
            calls: list[JSON] = [{"tool": tool, "input": given}]
            return write_grader("trajectory", calls, arguments=exact, name=name)
        case "MaxToolCalls":
            most = evaluator.argument("max_calls", int)
            return write_grader("tool_calls", max=most, name=name)
    what = f"the evaluator `{evaluator.name}`" if evaluator.name else "this evaluator"
    raise NoCounterpartError(what)


_PRESET = Preset(
    {"id": "name", "input": "inputs", "expected_output": "expected_output", "metadata": "metadata"},
    handlers={"evaluators": skip_column},
    containers=("cases",),
)
