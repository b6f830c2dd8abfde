"""OpenAI evals: samples with `input` and `ideal`, or a registry file that names their class.

Samples alone don't say how they are compared; the class in the registry does.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from evalcase.importers.draft import CaseDraft, Choices, SuiteDraft, write_grader
from evalcase.importers.rows import Preset, import_rows
from evalcase.importers.source import (
    ForeignFile,
    Item,
    UnusableError,
    parse_source,
    read_referenced,
    shape_of,
)
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json

_PRESET = Preset(
    {"id": "id", "input": "input|item.input", "expected_output": "ideal|item.ideal",
     "metadata": "metadata"},
)  # fmt: skip
_Compare = Callable[[list[JSON]], dict[str, JSON] | None]
_JUDGED_SPECS = ("fact", "closedqa", "best")
_FUZZY = (
    "`FuzzyMatch` in part: punctuation and articles count here, and an answer that is a part of "
    "the ideal does not pass"
)


def import_openai_evals(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    """Make a case of each sample: of this file, or of those that a registry names."""
    entries = [] if source.is_table else source.root.fields()
    named = [entry for _, entry in entries if isinstance(entry.at("class").value, str)]
    if not named:
        import_rows(source, choices, suite, _PRESET)
        for case in suite.kept:
            _put_comparison(
                case, lambda ideals: write_grader("one_of", ideals) if len(ideals) > 1 else None
            )
    for entry in named:
        _import_samples(entry, choices, suite)


def _import_samples(entry: Item, choices: Choices, suite: SuiteDraft) -> None:
    own, kind = entry.path[-1], str(entry.at("class").value)
    name = kind.rpartition(":")[2].rpartition(".")[2]
    samples, spec = entry.at("args", "samples_jsonl"), entry.at("args", "modelgraded_spec")
    if name not in _COMPARE:
        suite.lose(entry.at("class"), f"`{own}`: its class `{kind}` is code")
        return
    if name == "ModelBasedClassify" and spec.value not in _JUDGED_SPECS:
        suite.lose(spec, f"`{own}`: it is judged by a prompt of its own")
        return
    try:
        file = _read_samples(samples.value, suite.source)
    except ValueError as error:
        suite.lose(samples, f"the samples of `{own}`: {error}")
        return
    before = len(suite.cases)
    import_rows(file, choices, suite, _PRESET)
    for case in suite.cases[before:]:
        if not case.is_dropped:
            _put_comparison(case, _COMPARE[name])
    if name == "FuzzyMatch":
        suite.lose(entry.at("class"), _FUZZY)
    for field, item in entry.at("args").fields():
        if field not in ("samples_jsonl", "modelgraded_spec", "eval_type"):
            suite.lose(item, f"`{field}` of `{own}`", at="key")


def _read_samples(name: JSON, registry: str) -> ForeignFile:
    """Samples lie in `data`, next to the folder of the registry file, or in its own folder."""
    if not isinstance(name, str):
        raise ValueError("no file is named")
    folder = os.path.dirname(os.path.abspath(registry))
    data = os.path.join(os.path.dirname(folder), "data")
    inside = data if os.path.isfile(os.path.join(data, name)) else folder
    path, content = read_referenced(name, inside)
    shown = os.path.relpath(path)
    try:
        return parse_source(content, shown, shape_of(shown))
    except UnusableError as error:
        raise ValueError(str(error.problems[0])) from None


def _put_comparison(
    case: CaseDraft, compare: Callable[[list[JSON]], dict[str, JSON] | None]
) -> None:
    """Replace the expected output by a grader, if several answers are right, or only a part."""
    ideal = case.origin.at("ideal")
    if ideal.value is None:
        ideal = case.origin.at("item", "ideal")
    texts: list[JSON] = ideal.value if isinstance(ideal.value, list) else [ideal.value]
    if "expected_output" not in case.fields or not all(isinstance(each, str) for each in texts):
        return
    grader = compare(texts)
    if grader is not None:
        del case.fields["expected_output"]
        case.add_grader(grader, ideal)


def _one_of_several(ideals: list[JSON]) -> dict[str, JSON] | None:
    return write_grader("one_of", ideals) if len(ideals) > 1 else None


def _any_of(graders: list[dict[str, JSON]]) -> dict[str, JSON]:
    return graders[0] if len(graders) == 1 else write_grader("any", graders)


def _equals_json(ideals: list[JSON]) -> dict[str, JSON]:
    try:
        values = [parse_json(str(each)) for each in ideals]
    except BadJsonError:
        return write_grader("one_of", ideals)
    return _any_of([write_grader("json_equals", each) for each in values])


_COMPARE: dict[str, _Compare] = {
    "Match": lambda ideals: _any_of([write_grader("starts_with", each) for each in ideals]),
    "Includes": lambda ideals: (
        write_grader("contains", ideals[0])
        if len(ideals) == 1
        else write_grader("contains", any=ideals)
    ),
    "FuzzyMatch": lambda ideals: write_grader(
        "contains", any=ideals, ignore_case=True, ignore_space=True
    ),
    "JsonMatch": _equals_json,
    "ModelBasedClassify": lambda ideals: write_grader(
        "judge", f"The answer agrees with this one: {' / '.join(map(str, ideals))}"
    ),
}
"""The graders of classes, by several right answers."""
