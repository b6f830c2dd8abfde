"""One eval case as written to its canonical form."""

from __future__ import annotations

from typing import Any

from evalcase.model.case import Case, canonical_case
from evalcase.model.finding import NO_DOUBTS, QUOTE_IT, KeyPath
from evalcase.model.json_value import describe_kind
from evalcase.resolve.advice import (
    WrittenExpected,
    advise_case,
    advise_comparing,
    advise_passing,
    check_judges,
    check_material,
    check_weights,
    is_compared_whole,
)
from evalcase.resolve.doubts import look_into
from evalcase.resolve.fields import CASE_FIELDS, CASE_ORDER
from evalcase.resolve.findings import Findings
from evalcase.resolve.ids import Ids
from evalcase.resolve.messages import are_plain, read_expected_output, read_input
from evalcase.resolve.names import CASE, NOWHERE_ELSE, Named, Vocabulary, settle_names
from evalcase.resolve.plain_texts import warn_of_texts
from evalcase.resolve.replaced import advise_replaced
from evalcase.resolve.suite_fields import NOTHING_SHARED, Shared
from evalcase.resolve.values import READERS

_FIELDS = frozenset(CASE_FIELDS)


def resolve_case(
    raw: Any,
    path: KeyPath,
    findings: Findings,
    ids: Ids,
    shared: Shared = NOTHING_SHARED,
    vocabulary: Vocabulary = CASE,
) -> Case | None:
    """The case that `raw` stands for; None, with findings, where it has errors."""
    if type(raw) is not dict:
        return _report_no_case(raw, path, findings)
    errors = findings.errors
    id = raw.get("id")
    findings.case = id = id if type(id) is str and id and not id.isspace() else None
    # Most cases are written with primary names only, and need no second dict; and most of them
    # with no more than three, which spares a look at the others.
    values, where = raw, NOWHERE_ELSE
    has_more = len(raw) != 3 or "input" not in raw or "expected_output" not in raw or id is None
    if has_more and not _OF_ONE_TURN.issuperset(raw):
        if not _FIELDS.issuperset(raw):
            values, where = settle_names(raw, path, vocabulary, findings)
        if _is_spoken(values):
            return _resolve_conversation(Named(values, where), path, findings, ids, shared)
    expected_at = path + where.get("expected_output", _EXPECTED) if where else path + _EXPECTED

    messages = values.get("input")
    if messages is None:
        # A misspelt `input` has been reported already, with its cure.
        if not findings.suggested("input", path):
            findings.add("missing-input", path, "the case has no `input`", "add `input: …`")
    elif type(messages) is not list or not are_plain(messages):
        messages = read_input(messages, path + where.get("input", _INPUT), findings)
    expected = values.get("expected_output")
    if type(expected) is str:
        expected = [{"role": "assistant", "content": expected}]
    elif expected is not None:
        expected = read_expected_output(expected, expected_at, findings)

    if id is None:
        id = make_id(values.get("id"), path, messages, ids, findings)
    elif not ids.claim(id):
        findings.add("duplicate-id", (*path, "id"), f"the id `{id}` is taken")
    data: dict[str, Any] = {"id": id, "input": messages}
    if expected is not None:
        data["expected_output"] = expected
    if has_more:
        read_the_rest(values, where, path, data, findings)
    if shared is not NOTHING_SHARED and messages is not None:
        shared.add_to(data, own_graders_only=values.get("suite_graders") is False)
    if findings.doubts is not NO_DOUBTS:
        look_into(data, values.get("expected_output"), path, expected_at, findings)
        warn_of_texts(Named(values, where), path, findings)
    if findings.errors > errors:
        return None
    if not _WEIGHED.isdisjoint(data) and shared.is_whole_for(values):
        _look_at_graders(data, path, findings)
    as_written = values.get("expected_output")
    if (
        expected is None
        or not (
            type(as_written) is str
            or (type(as_written) is dict and expected[0].get("content") is as_written)
            or is_compared_whole(expected)
        )
    ) and shared.is_whole_for(values):
        # Text and data are compared as they stand: there is nothing to be said of them.
        advise_case(data, path, WrittenExpected(as_written, expected_at), findings)
    case = canonical_case(data)
    graders = data.get("graders")
    if graders and "skip" not in data:
        check_material(case, graders, path, findings)
    if graders or (has_more and case.needs_judge):
        check_judges(data, path, findings)
        advise_replaced(data, expected_at, findings)
    return case if findings.errors == errors else None


def _look_at_graders(data: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    if data.get("graders"):
        check_weights(data, path, findings)
        if "expected_output" in data:
            advise_comparing(data, path, findings)
    advise_passing(data, path, findings)


_WEIGHED = frozenset({"graders", "threshold", "repeat"})
"""Without these, nothing but what is expected decides."""


_IN_TURNS = frozenset({"turns", "stop_on_failure", "user"})
_OF_ONE_TURN = _FIELDS - _IN_TURNS


def _is_spoken(values: dict[str, Any]) -> bool:
    """Whether a case says anything of a conversation; null says nothing."""
    return any(values.get(name) is not None for name in _IN_TURNS)


def _resolve_conversation(
    named: Named, path: KeyPath, findings: Findings, ids: Ids, shared: Shared
) -> Case | None:
    # Most suites have none, and need not wait for what it takes to read them.
    from evalcase.resolve.conversation import resolve_conversation

    return resolve_conversation(named, path, findings, ids, shared)


def _report_no_case(raw: Any, path: KeyPath, findings: Findings) -> Case | None:
    findings.case = None
    findings.add(
        "wrong-type",
        path,
        f"a case is a mapping, not {describe_kind(raw)}",
        _hint_at_case(raw, path),
    )
    return None


def _hint_at_case(raw: Any, path: KeyPath) -> str | None:
    """What to write where something stands that is no case."""
    if type(raw) is list and not path:
        return "each line of a .jsonl file is one case; a list of cases goes in a .json file"
    name = raw.partition(":")[0] if type(raw) is str else ""
    return f"a key needs a space after its `:`: write `{name}: …`" if name in _FIELDS else None


_INPUT = ("input",)
_EXPECTED = ("expected_output",)


def make_id(
    id: Any, path: KeyPath, messages: list[dict[str, Any]] | None, ids: Ids, findings: Findings
) -> str | None:
    """An id for a case that has none; None, with a finding, where it has one that is no id."""
    if id is None:
        if messages is None:
            return None
        id = ids.make(messages)
        findings.case = id
        findings.name_case(id, path)
        return id  # type: ignore[no-any-return]
    if type(id) is str:
        what = "blank" if id else "empty"
        findings.add("bad-value", (*path, "id"), f"the id is {what}", "leave it out, or fill it")
    else:
        hint = QUOTE_IT if type(id) in (int, float, bool) else None
        findings.add(
            "wrong-type", (*path, "id"), f"an id is a string, not {describe_kind(id)}", hint
        )
    return None


def read_the_rest(
    values: dict[str, Any],
    where: dict[str, KeyPath],
    path: KeyPath,
    data: dict[str, Any],
    findings: Findings,
) -> None:
    """All fields but the three that nearly every case has, in canonical order."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name in READERS and value is not None:
            canonical, read = READERS[name]
            result = read(value, path + where.get(name, (name,)), findings)
            if result is not None:
                found[canonical] = result
    if "targets" in found and values.get("target") is not None and values.get("targets"):
        message = "`target` and `targets` say the same thing"
        findings.add("conflicting-fields", (*path, "target"), message, "keep `targets`", "key")
    if "skip" not in found and ("criteria" in found or "rubrics" in found):
        name = "criteria" if "criteria" in found else "rubrics"
        findings.mention("judge", name, path + where.get(name, (name,)), "key")
    for name in sorted(found, key=_RANKS.__getitem__) if len(found) > 1 else found:
        if name not in _LEFT_OUT:
            data[name] = found[name]


_LEFT_OUT = frozenset(canonical for canonical, _ in READERS.values()).difference(CASE_ORDER)
"""What is read, and has no place in the canonical form."""
_RANKS = {name: rank for rank, name in enumerate((*CASE_ORDER, *_LEFT_OUT))}
