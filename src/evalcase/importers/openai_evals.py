"""OpenAI evals: samples with `input` and `ideal`, or a registry file that names their class.

Samples alone don't say how they are compared; the class in the registry does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

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
_JUDGED_SPECS = ("fact", "closedqa", "best")
_FUZZY = (
    "`FuzzyMatch` in part: punctuation and articles count here, and an answer that is a part of "
    "the ideal does not pass"
)
_Compare = Callable[[list[JSON]], JSON]


class _Class(NamedTuple):
    compare: _Compare
    remark: str | None = None
    is_judged: bool = False


def import_openai_evals(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    """Make a case of each sample: of this file, or of those that a registry names."""
    entries = [] if source.is_table else source.root.fields()
    classes = [(name, entry) for name, entry in entries
               if isinstance(entry.at("class").value, str)]  # fmt: skip
    if not classes:
        import_rows(source, choices, suite, _PRESET)
        for case in suite.kept:
            _put_comparison(case, _compare_exactly)
    for name, entry in classes:
        named = str(entry.at("class").value)
        kind = _CLASSES.get(named.rpartition(":")[2].rpartition(".")[2])
        if kind is None:
            suite.lose(entry.at("class"), f"`{name}`: its class `{named}` is code")
        else:
            _import_samples(entry, kind, choices, suite)


def _import_samples(entry: Item, kind: _Class, choices: Choices, suite: SuiteDraft) -> None:
    samples, spec = entry.at("args", "samples_jsonl"), entry.at("args", "modelgraded_spec")
    if kind.is_judged and spec.value not in _JUDGED_SPECS:
        suite.lose(spec, f"`{entry.path[-1]}`: it is judged by a prompt of its own")
        return
    try:
        own = _read_samples(samples.value, suite.source)
    except ValueError as error:
        suite.lose(samples, f"the samples of `{entry.path[-1]}`: {error}")
        return
    before = len(suite.cases)
    import_rows(own, choices, suite, _PRESET)
    for case in suite.cases[before:]:
        if not case.is_dropped:
            _put_comparison(case, kind.compare)
    if kind.remark is not None:
        suite.lose(entry.at("class"), kind.remark)
    for name, item in entry.at("args").fields():
        if name not in ("samples_jsonl", "modelgraded_spec", "eval_type"):
            suite.lose(item, f"`{name}` of `{entry.path[-1]}`", at="key")


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


def _put_comparison(case: CaseDraft, compare: _Compare) -> None:
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


def _compare_exactly(ideals: list[JSON]) -> JSON:
    return None if len(ideals) == 1 else {"one_of": ideals}


def _any_of(graders: list[JSON]) -> JSON:
    return graders[0] if len(graders) == 1 else {"any": graders}


def _starts_with(ideals: list[JSON]) -> JSON:
    return _any_of([write_grader("starts_with", each) for each in ideals])


def _contains(ideals: list[JSON]) -> JSON:
    return {"contains": ideals[0] if len(ideals) == 1 else {"any": ideals}}


def _contains_loosely(ideals: list[JSON]) -> JSON:
    return {"contains": {"any": ideals, "ignore_case": True, "ignore_space": True}}


def _equals_json(ideals: list[JSON]) -> JSON:
    try:
        values = [parse_json(str(each)) for each in ideals]
    except BadJsonError:
        return {"one_of": ideals}
    return _any_of([write_grader("json_equals", each) for each in values])


def _judge(ideals: list[JSON]) -> JSON:
    return {"judge": f"The answer agrees with this one: {' / '.join(map(str, ideals))}"}


_CLASSES = {
    "Match": _Class(_starts_with),
    "Includes": _Class(_contains),
    "FuzzyMatch": _Class(_contains_loosely, _FUZZY),
    "JsonMatch": _Class(_equals_json),
    "ModelBasedClassify": _Class(_judge, is_judged=True),
}
