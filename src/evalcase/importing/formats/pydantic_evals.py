"""Datasets of pydantic-evals: cases with `inputs`, and evaluators for one case or for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.graders import write_grader
from evalcase.importing.rows import Preset, import_rows
from evalcase.importing.source import ForeignFile, Item
from evalcase.types.value import JSON

EVALUATORS, EXPECTED, JUDGE = "evaluators", "EqualsExpected", "LLMJudge"
_SERVICES = {"openai": "openai", "openai-chat": "openai", "anthropic": "anthropic"}
"""Kinds of targets, by what stands before the colon in the name of a model."""
_OTHER_JUDGE = "`model` of a judge: [judge] of the configuration says who judges, for all cases"


class _Evaluator(NamedTuple):
    name: str
    options: dict[str, JSON]
    item: Item


class _UnmappedError(Exception):
    """Why an evaluator can't be mapped."""


def import_pydantic_evals(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each case. What is said of all of them goes to the suite, or to each."""
    root = source.root
    if isinstance(root.value, dict):
        known = {
            key: item for key, item in root.value.items() if key not in (EVALUATORS, "$schema")
        }
        source.documents[0].value = known
    import_rows(source, chosen, suite, PRESET)
    shared = list(_read_evaluators(root.at(EVALUATORS)))
    for each in shared:
        if each.name not in (EXPECTED, JUDGE):
            _add_to_suite(suite, each)
        elif each.name == JUDGE and not _name_judge(suite, each):
            suite.lose(each.item.at(JUDGE, "model"), _OTHER_JUDGE)
    for case in suite.kept:
        own = list(_read_evaluators(case.origin.at(EVALUATORS)))
        for each in own:
            if each.name == JUDGE and not _name_judge(suite, each):
                case.lose(each.item.at(JUDGE, "model"), _OTHER_JUDGE)
        for each in (*(each for each in shared if each.name == JUDGE), *own):
            if each.name != EXPECTED:
                _add_to_case(case, each)
        _put_comparison(case, [*shared, *own], chosen)


def _put_comparison(case: CaseDraft, evaluators: list[_Evaluator], chosen: Chosen) -> None:
    """There, what is expected is compared only if an evaluator says so. Here it always is, but for
    rubrics, beside which a grader says so. A case without any evaluator is compared: those are in
    Python, and it would be graded by nothing."""
    if "expected_output" not in case.fields:
        return
    asked = next((each for each in evaluators if each.name == EXPECTED), None)
    if "rubrics" in case.fields:
        if asked is not None:
            case.add_grader("expected", asked.item)
    elif asked is None and evaluators and chosen.expected is None:
        case.keep_reference()


def _read_evaluators(several: Item) -> Iterator[_Evaluator]:
    """Each of them by its name and its options, in whichever of three spellings it is."""
    for item in several.items():
        value = item.value
        if isinstance(value, str):
            yield _Evaluator(value, {}, item)
        elif isinstance(value, dict) and len(value) == 1:
            ((name, held),) = value.items()
            options: dict[str, JSON] = held if isinstance(held, dict) else {"": held}
            yield _Evaluator(name, options, item)
        else:
            yield _Evaluator("", {}, item)


def _add_to_suite(suite: SuiteDraft, evaluator: _Evaluator) -> None:
    try:
        suite.add_grader(_map_evaluator(evaluator), evaluator.item)
    except _UnmappedError as error:
        suite.lose(evaluator.item, str(error))


def _name_judge(suite: SuiteDraft, evaluator: _Evaluator) -> bool:
    """Have the model of a judge be that of the configuration, unless there is another already."""
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
        if evaluator.name == JUDGE:
            case.add_rubric(_read_rubric(evaluator))
            settings = evaluator.item.at(JUDGE, "model_settings")
            if settings.value is not None:
                case.lose(settings, "`model_settings` of a judge: they are options of its target")
        else:
            case.add_grader(_map_evaluator(evaluator), evaluator.item)
    except _UnmappedError as error:
        case.lose_grader(evaluator.item, str(error))


def _map_evaluator(evaluator: _Evaluator) -> JSON:
    mapping = _MAPPINGS.get(evaluator.name)
    if mapping is None:
        name = evaluator.name
        raise _UnmappedError(f"the evaluator `{name}`" if name else "this evaluator")
    return mapping(evaluator.options, evaluator.options.get("evaluation_name"))


def _read_argument(options: dict[str, JSON], name: str) -> JSON:
    value = options.get("", options.get(name))
    if value is None:
        raise _UnmappedError(f"an evaluator without `{name}`")
    return value


def _map_equals(options: dict[str, JSON], name: JSON) -> JSON:
    return write_grader("equals", _read_argument(options, "value"), name=name)


def _map_contains(options: dict[str, JSON], name: JSON) -> JSON:
    value = _read_argument(options, "value")
    if not isinstance(value, str):
        raise _UnmappedError("`Contains` with other things than text")
    ignores = True if options.get("case_sensitive") is False else None
    return write_grader("contains", value, ignore_case=ignores, name=name)


def _max_duration(options: dict[str, JSON], name: JSON) -> JSON:
    seconds = _read_argument(options, "seconds")
    if not isinstance(seconds, int | float):
        raise _UnmappedError("`MaxDuration` that is not a number of seconds")
    return write_grader("latency", seconds, name=name)


def _read_rubric(evaluator: _Evaluator) -> JSON:
    text = _read_argument(evaluator.options, "rubric")
    if not isinstance(text, str):
        raise _UnmappedError("`LLMJudge` whose rubric is not text")
    if evaluator.options.get("assertion") is False:
        raise _UnmappedError("`LLMJudge` that only scores")
    return text


_MAPPINGS: dict[str, Callable[[dict[str, JSON], JSON], JSON]] = {
    "Equals": _map_equals,
    "Contains": _map_contains,
    "MaxDuration": _max_duration,
}


def _take_evaluators(case: CaseDraft, item: Item) -> None:
    """Evaluators are read once all fields are known."""
    del case, item


PRESET = Preset(
    "pydantic-evals",
    {"id": "name", "input": "inputs", "expected_output": "expected_output", "metadata": "metadata"},
    handlers={EVALUATORS: _take_evaluators},
    containers=("cases",),
)
