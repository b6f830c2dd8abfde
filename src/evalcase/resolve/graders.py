"""The four spellings of a grader, and rubrics, to one."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import QUOTE_IT, Path
from evalcase.model.json_value import kind
from evalcase.resolve.report import Report

SPELLINGS = "write a name, {name: argument}, {name: {options}} or {type: name, …}"

MAPPING_ARGUMENTS = frozenset({"equals", "json_schema"})
"""Graders whose argument is itself a mapping: {name: {…}} gives them that, and no options."""


def read_graders(value: Any, path: Path, report: Report) -> list[dict[str, Any]] | None:
    """Each grader as `{type: name, …}`; an argument is its `value`."""
    if type(value) is not list:
        report.add("wrong-type", path, f"`{path[-1]}` is a list, not {kind(value)}", SPELLINGS)
        return None
    graders = [_read_grader(item, (*path, index), report) for index, item in enumerate(value)]
    return [grader for grader in graders if grader is not None]


def _read_grader(item: Any, path: Path, report: Report) -> dict[str, Any] | None:
    if type(item) is str and item:
        return {"type": item}
    if type(item) is not dict or not item:
        what = kind(item) if item not in ("", [], {}) else kind(item).replace("a ", "an empty ")
        report.add("bad-grader", path, f"a grader is a name or a mapping, not {what}", SPELLINGS)
        return None
    if "type" in item:
        return _read_options(item, item["type"], path, report)
    names = [name for name in item if name not in ("weight", "required")]
    if len(item) > 1 or not names:
        name = names[0] if names else "name"
        hint = f"write {{type: {name}, value: …}} with the other options beside them"
        report.add("bad-grader", path, "a grader with options says its name in `type`", hint)
        return None
    ((name, argument),) = item.items()
    if type(argument) is not dict or "type" in argument or name in MAPPING_ARGUMENTS:
        if not name:
            _report_nameless(path, report)
            return None
        return {"type": name, "value": argument}
    return _read_options({"type": name, **argument}, name, path, report, (name,))


def _read_options(
    options: dict[str, Any], name: Any, path: Path, report: Report, below: Path = ()
) -> dict[str, Any] | None:
    if type(name) is not str or not name:
        _report_nameless(path if below else (*path, "type"), report)
        return None
    before = report.errors
    check_weight(options, (*path, *below), report)
    return options if report.errors == before else None


def _report_nameless(path: Path, report: Report) -> None:
    report.add("bad-grader", path, "the name of a grader is a string", SPELLINGS)


def check_weight(options: dict[str, Any], path: Path, report: Report) -> None:
    """The two options that all graders and rubrics share."""
    weight, required = options.get("weight"), options.get("required")
    if weight is not None and (type(weight) not in (int, float) or weight < 0):
        message = "`weight` is a number that is 0 or more"
        report.add("bad-value", (*path, "weight"), message)
    if required is not None and type(required) is not bool:
        message = f"`required` is true or false, not {kind(required)}"
        report.add("wrong-type", (*path, "required"), message)


def read_rubrics(value: Any, path: Path, report: Report) -> list[dict[str, Any]] | None:
    """Each rubric as `{text, id?, weight?, required?}`."""
    if type(value) is not list:
        message = f"`rubrics` is a list, not {kind(value)}"
        report.add("wrong-type", path, message, "write a list of strings")
        return None
    if not value:
        report.add("empty-list", path, "`rubrics` is an empty list", "leave it out")
        return None
    rubrics = [_read_rubric(item, (*path, index), report) for index, item in enumerate(value)]
    return [rubric for rubric in rubrics if rubric is not None]


def _read_rubric(item: Any, path: Path, report: Report) -> dict[str, Any] | None:
    if type(item) is str and item:
        return {"text": item}
    if type(item) is not dict:
        what = kind(item) if item != "" else "an empty string"
        message = f"a rubric is a string, or {{text: …}}, not {what}"
        report.add("wrong-type", path, message)
        return None
    before = report.errors
    for key in item:
        if key not in ("id", "text", "description", "weight", "required"):
            from evalcase.text.suggest import suggest

            hint = suggest(key, ("id", "text", "weight", "required"))
            report.add("unknown-field", (*path, key), f"a rubric has no `{key}`", hint, "key")
    if item.get("text") is not None and item.get("description") is not None:
        message = "`text` and `description` say the same thing"
        report.add("conflicting-fields", (*path, "description"), message, "keep `text`", "key")
    name = "text" if item.get("description") is None else "description"
    name = "text" if item.get("text") is not None else name
    text, id = item.get(name), item.get("id")
    if type(text) is not str or not text:
        message = f"the text of a rubric is a string that is not empty, not {kind(text)}"
        report.add("wrong-type", (*path, name) if name in item else path, message)
    if id is not None and (type(id) is not str or not id):
        report.add("wrong-type", (*path, "id"), f"an id is a string, not {kind(id)}", QUOTE_IT)
    check_weight(item, path, report)
    extras = {key: item[key] for key in ("id", "weight", "required") if item.get(key) is not None}
    return {"text": text, **extras} if report.errors == before else None
