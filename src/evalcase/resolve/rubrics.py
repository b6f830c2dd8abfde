"""Rubrics in their short and long spelling, to the long one."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import QUOTE_IT, KeyPath
from evalcase.model.json_value import describe_kind
from evalcase.model.levels import Levels
from evalcase.resolve.findings import Findings
from evalcase.resolve.shaped import FLAG, WEIGHT, read_as


def read_rubric_list(value: Any, path: KeyPath, findings: Findings) -> list[dict[str, Any]] | None:
    """Each rubric as `{text, id?, weight?, required?, levels?}`."""
    if type(value) is not list:
        message = f"`rubrics` is a list, not {describe_kind(value)}"
        findings.add("wrong-type", path, message, "write a list of strings")
        return None
    if not value:
        findings.add("empty-list", path, "`rubrics` is an empty list", "leave it out")
        return None
    before = findings.errors
    rubrics = [_read_rubric(item, (*path, index), findings) for index, item in enumerate(value)]
    read = [rubric for rubric in rubrics if rubric is not None]
    if findings.errors == before:
        _check_together(read, path, findings)
    return read


def _check_together(rubrics: list[dict[str, Any]], path: KeyPath, findings: Findings) -> None:
    """What is wrong with several rubrics that are right one by one."""
    if not any(each.get("weight", 1) for each in rubrics):
        message = "the weights are all 0, so there is no score"
        findings.add("bad-value", path, message, "leave `weight` out")
    ids: set[str] = set()
    for index, each in enumerate(rubrics):
        id = each.get("id")
        if id in ids:
            message = f"two rubrics have the id `{id}`"
            findings.add("bad-value", (*path, index, "id"), message)
        elif id is not None:
            ids.add(id)


def _read_rubric(item: Any, path: KeyPath, findings: Findings) -> dict[str, Any] | None:
    if type(item) is str and item.strip():
        return {"text": item}
    if type(item) is not dict:
        what = _describe_unfit(item)
        message = f"a rubric is a string, or {{text: …}}, not {what}"
        findings.add("wrong-type", path, message)
        return None
    before = findings.errors
    is_misspelt = False
    for key in item:
        if key not in ("id", "text", "description", "weight", "required", "levels"):
            from evalcase.text.suggest import suggest_field

            hint = suggest_field(key, ("id", "text", "weight", "required", "levels"))
            is_misspelt |= hint is not None and "`text`" in hint
            findings.add("unknown-field", (*path, key), f"a rubric has no `{key}`", hint, "key")
    if item.get("text") is not None and item.get("description") is not None:
        message = "`text` and `description` say the same thing"
        findings.add("conflicting-fields", (*path, "description"), message, "keep `text`", "key")
    name = "text" if item.get("description") is None else "description"
    name = "text" if item.get("text") is not None else name
    text, id = item.get(name), item.get("id")
    # What is misspelt is not missing.
    if (type(text) is not str or not text.strip()) and not (is_misspelt and text is None):
        message = (
            f"the text of a rubric is a string that says something, not {_describe_unfit(text)}"
        )
        findings.add("wrong-type", (*path, name) if name in item else path, message)
    if id is not None and (type(id) is not str or not id):
        findings.add(
            "wrong-type", (*path, "id"), f"an id is a string, not {describe_kind(id)}", QUOTE_IT
        )
    _check_weight(item, path, findings)
    _check_levels(item.get("levels"), (*path, "levels"), findings)
    names = ("id", "weight", "required", "levels")
    extras = {key: item[key] for key in names if item.get(key) is not None}
    return {"text": text, **extras} if findings.errors == before else None


def _describe_unfit(text: Any) -> str:
    if type(text) is not str:
        return describe_kind(text)
    return "a blank string" if text else "an empty string"


def _check_weight(options: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    weight, required = options.get("weight"), options.get("required")
    if weight is not None:
        read_as(WEIGHT, weight, (*path, "weight"), findings)
    if required is not None:
        read_as(FLAG, required, (*path, "required"), findings)


def _check_levels(levels: Any, path: KeyPath, findings: Findings) -> None:
    if levels is None:
        return
    for fault in Levels().faults(levels, path):
        findings.add_fault(fault)
