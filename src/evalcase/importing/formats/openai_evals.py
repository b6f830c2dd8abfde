"""OpenAI evals: samples with `input` and `ideal`, or the registry file that says what they are for.

Samples alone don't say how they are compared; the class that the registry names does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.graders import write_grader
from evalcase.importing.rows import Preset, import_rows
from evalcase.importing.source import (
    ForeignFile,
    Item,
    UnusableError,
    parse_source,
    read_referred,
    shape_of,
)
from evalcase.types.value import JSON

PRESET = Preset(
    "OpenAI evals",
    {"id": "id", "input": "input|item.input", "expected_output": "ideal|item.ideal",
     "metadata": "metadata"},
)  # fmt: skip
_CLASS, _ARGS = "class", "args"


def import_openai_evals(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each sample: of this file, or of those that a registry names."""
    if _is_registry(source):
        _import_registry(source, chosen, suite)
        return
    import_rows(source, chosen, suite, PRESET)
    for case in suite.kept:
        _put_comparison(case, _compare_exactly)


def _is_registry(source: ForeignFile) -> bool:
    if source.is_table or not isinstance(source.root.value, dict):
        return False
    return any(isinstance(item.at(_CLASS).value, str) for _, item in source.root.fields())


def _import_registry(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    for name, entry in source.root.fields():
        named = entry.at(_CLASS).value
        if not isinstance(named, str):
            continue  # a base eval, which only names the version that counts
        kind = _CLASSES.get(named.rpartition(":")[2].rpartition(".")[2])
        if kind is None:
            suite.lose(entry.at(_CLASS), f"`{name}`: its class `{named}` is code")
            continue
        _import_samples(entry, kind, chosen, suite)


def _import_samples(entry: Item, kind: _Class, chosen: Chosen, suite: SuiteDraft) -> None:
    samples, spec = entry.at(_ARGS, "samples_jsonl"), entry.at(_ARGS, "modelgraded_spec")
    if kind.is_judged and spec.value not in _JUDGED:
        suite.lose(spec, f"`{entry.path[-1]}`: it is judged by a prompt of its own")
        return
    try:
        own = _read_samples(samples.value, suite.source)
    except ValueError as error:
        suite.lose(samples, f"the samples of `{entry.path[-1]}`: {error}")
        return
    before = len(suite.cases)
    import_rows(own, chosen, suite, PRESET)
    for case in suite.cases[before:]:
        if not case.is_dropped:
            _put_comparison(case, kind.compare)
    if kind.remark is not None:
        suite.lose(entry.at(_CLASS), kind.remark)
    for name, item in entry.at(_ARGS).fields():
        if name not in ("samples_jsonl", "modelgraded_spec", "eval_type"):
            suite.lose(item, f"`{name}` of `{entry.path[-1]}`", at="key")


def _read_samples(name: JSON, registry: str) -> ForeignFile:
    """Samples lie in `data`, beside the folder of the registry file, or below its own folder."""
    if not isinstance(name, str):
        raise ValueError("no file is named")
    folder = os.path.dirname(os.path.abspath(registry))
    data = os.path.join(os.path.dirname(folder), "data")
    inside = data if os.path.isfile(os.path.join(data, name)) else folder
    path, content = read_referred(name, inside)
    shown = os.path.relpath(path)
    try:
        return parse_source(content, shown, shape_of(shown))
    except UnusableError as error:
        raise ValueError(str(error.problems[0])) from None


_Compare = Callable[[list[JSON]], JSON]


def _put_comparison(case: CaseDraft, compare: _Compare) -> None:
    """Put a grader in the place of what is expected, where several answers are, or only a part."""
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


def _by_start(ideals: list[JSON]) -> JSON:
    several = [write_grader("starts_with", each) for each in ideals]
    return several[0] if len(several) == 1 else {"any": several}


def _by_part(ideals: list[JSON]) -> JSON:
    return (
        write_grader("contains", ideals[0]) if len(ideals) == 1 else {"contains": {"any": ideals}}
    )


def _by_part_loosely(ideals: list[JSON]) -> JSON:
    return {"contains": {"any": ideals, "ignore_case": True, "ignore_space": True}}


def _as_json(ideals: list[JSON]) -> JSON:
    from evalcase.util.json import parse_json

    try:
        values = [parse_json(str(each)) for each in ideals]
    except ValueError:
        return {"one_of": ideals}
    several = [write_grader("json_equals", each) for each in values]
    return several[0] if len(several) == 1 else {"any": several}


def _by_judge(ideals: list[JSON]) -> JSON:
    return write_grader("judge", f"The answer agrees with this one: {' / '.join(map(str, ideals))}")


class _Class(NamedTuple):
    compare: _Compare
    remark: str | None = None
    is_judged: bool = False


_FUZZY = (
    "`FuzzyMatch` in part: punctuation and articles count here, and an answer that is a part of "
    "the ideal does not pass"
)
_JUDGED = ("fact", "closedqa", "best")
_CLASSES = {
    "Match": _Class(_by_start),
    "Includes": _Class(_by_part),
    "FuzzyMatch": _Class(_by_part_loosely, _FUZZY),
    "JsonMatch": _Class(_as_json),
    "ModelBasedClassify": _Class(_by_judge, is_judged=True),
}
