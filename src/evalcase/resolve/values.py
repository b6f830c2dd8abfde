"""The small fields of cases and suites: each reader checks a value and gives its canonical form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evalcase.model.finding import IN_LIST, QUOTE_IT, Fix, KeyPath
from evalcase.model.json_value import describe_kind
from evalcase.resolve.findings import Findings

Reader = Callable[[Any, KeyPath, Findings], Any]


def read_text(value: Any, path: KeyPath, findings: Findings) -> str | None:
    if type(value) is str:
        return value
    hint = QUOTE_IT if type(value) in (int, float, bool) else None
    findings.add("wrong-type", path, f"`{path[-1]}` is a string, not {describe_kind(value)}", hint)
    return None


def read_name(value: Any, path: KeyPath, findings: Findings) -> str | None:
    """A text that can't be empty."""
    if value == "":
        findings.add(
            "bad-value", path, f"`{path[-1]}` is an empty string", "leave it out, or fill it"
        )
        return None
    return read_text(value, path, findings)


def read_criteria(value: Any, path: KeyPath, findings: Findings) -> str | None:
    if type(value) is list:
        message = f"`{path[-1]}` is a string, not a list"
        findings.add("wrong-type", path, message, "single points are called `rubrics`")
        return None
    if type(value) is str and value.isspace():
        message = f"`{path[-1]}` is only white space, so there is nothing to judge by"
        findings.add("bad-value", path, message, "leave it out, or fill it")
        return None
    return read_name(value, path, findings)


def read_tags(value: Any, path: KeyPath, findings: Findings) -> list[str] | None:
    tags = _read_texts(value, path, findings)
    if tags is None or len(set(tags)) == len(tags):
        return tags
    once: list[str] = list(dict.fromkeys(tags))
    index = next((at for at, tag in enumerate(once) if tag != tags[at]), len(once))
    message = f"the tag `{tags[index]}` appears twice"
    findings.add("duplicate-tag", (*path, index), message, "keep each tag once")
    return once


def read_targets(value: Any, path: KeyPath, findings: Findings) -> list[str] | None:
    if value == []:
        findings.add("empty-list", path, "`targets` is an empty list", "leave it out")
        return None
    names = _read_texts(value, path, findings)
    for index, name in enumerate(names or ()):
        if name:
            findings.mention("target", name, (*path, index))
        else:
            findings.add("bad-value", (*path, index), "the name of a target is empty")
    return names


def read_target(value: Any, path: KeyPath, findings: Findings) -> list[str] | None:
    if type(value) in (list, dict):
        cure = "several are written as `targets`"
        if type(value) is dict:
            cure = "a table of options goes in evalcase.toml, as [targets.NAME]; write its name"
        message = f"`{path[-1]}` is a string, not {describe_kind(value)}"
        findings.add("wrong-type", path, message, cure)
        return None
    name = read_name(value, path, findings)
    if name is None:
        return None
    findings.mention("target", name, path)
    return [name]


def _read_texts(value: Any, path: KeyPath, findings: Findings) -> list[str] | None:
    if type(value) is not list:
        example = value if type(value) is str and value.isprintable() else "one, two"
        hint = f"write [{example}]"
        message = f"`{path[-1]}` is a list of strings, not {describe_kind(value)}"
        fix = IN_LIST if type(value) is str and value.strip() else None
        findings.add("wrong-type", path, message, hint, fix=fix)
        return None
    before = findings.errors
    for index, item in enumerate(value):
        if type(item) is not str:
            message = f"`{path[-1]}` holds strings, but this is {describe_kind(item)}"
            cure = QUOTE_IT if item is None or type(item) in (int, float, bool) else None
            findings.add("wrong-type", (*path, index), message, cure)
    return value if findings.errors == before else None


def read_mapping(value: Any, path: KeyPath, findings: Findings) -> dict[str, Any] | None:
    if type(value) is dict:
        return value
    findings.add("wrong-type", path, f"`{path[-1]}` is a mapping, not {describe_kind(value)}")
    return None


NOT_SKIPPED = ("no", "No", "NO", "n", "N", "off", "Off", "OFF", "false", "False", "FALSE", "0")
"""Texts that can't be a reason: who writes them means `false`, as older YAML would have it."""


def read_skip(value: Any, path: KeyPath, findings: Findings) -> str | bool | None:
    if value is False:
        return None
    if value in NOT_SKIPPED:
        message = f"`{value}` is text here, not a reason to skip a case"
        findings.add("bad-value", path, message, "write `false`", fix=Fix("false"))
        return None
    if value is True or (type(value) is str and value):
        return value
    what = describe_kind(value) if value != "" else "an empty string"
    findings.add("wrong-type", path, f"`skip` is true, or the reason as a string, not {what}")
    return None


def read_flag(value: Any, path: KeyPath, findings: Findings) -> bool | None:
    from evalcase.resolve.shaped import FLAG, read_as

    return read_as(FLAG, value, path, findings)  # type: ignore[no-any-return]


def read_rendered(value: Any, path: KeyPath, findings: Findings) -> bool | None:
    return read_flag(value, path, findings) or None


def read_share(value: Any, path: KeyPath, findings: Findings) -> float | None:
    from evalcase.resolve.shaped import SHARE, read_as

    return read_as(SHARE, value, path, findings)  # type: ignore[no-any-return]


def read_seconds(value: Any, path: KeyPath, findings: Findings) -> float | None:
    from evalcase.resolve.shaped import SECONDS, read_as

    return read_as(SECONDS, value, path, findings)  # type: ignore[no-any-return]


def read_repeat(value: Any, path: KeyPath, findings: Findings) -> dict[str, Any] | None:
    """`5` or `{times: 5, pass_rate: 0.8}`, to the latter."""
    if type(value) is not dict:
        times = read_times(value, path, findings)
        return None if times is None else {"times": times}
    before = findings.errors
    for key in value:
        if key not in ("times", "pass_rate"):
            message, hint = f"`repeat` has no `{key}`", "it has `times` and `pass_rate`"
            findings.add("unknown-field", (*path, key), message, hint, "key")
    if value.get("times") is None:
        findings.add("wrong-type", path, "`repeat` needs `times`", "write {times: 5}")
    else:
        read_times(value["times"], (*path, "times"), findings)
    if value.get("pass_rate") is not None:
        read_share(value["pass_rate"], (*path, "pass_rate"), findings)
    kept = {key: value[key] for key in ("times", "pass_rate") if value.get(key) is not None}
    return kept if findings.errors == before else None


def read_times(value: Any, path: KeyPath, findings: Findings) -> int | None:
    """A count, from 1."""
    from evalcase.resolve.shaped import TIMES, read_as

    return read_as(TIMES, value, path, findings)  # type: ignore[no-any-return]


def read_graders(value: Any, path: KeyPath, findings: Findings) -> list[dict[str, Any]] | None:
    # Most suites name none, and need not wait for what it takes to read them.
    from evalcase.resolve.graders import read_grader_list

    return read_grader_list(value, path, findings)


def lacks_graders(graders: list[dict[str, Any]] | None, written: Any) -> bool:
    """Whether some of the graders that are written could not be read."""
    return graders is None or len(graders) < len(written)


def read_rubrics(value: Any, path: KeyPath, findings: Findings) -> list[dict[str, Any]] | None:
    from evalcase.resolve.rubrics import read_rubric_list

    return read_rubric_list(value, path, findings)


READERS: dict[str, tuple[str, Reader]] = {
    "$schema": ("$schema", read_text),
    "description": ("description", read_text),
    "tags": ("tags", read_tags),
    "metadata": ("metadata", read_mapping),
    "skip": ("skip", read_skip),
    "conversation_id": ("conversation_id", read_text),
    "criteria": ("criteria", read_criteria),
    "rubrics": ("rubrics", read_rubrics),
    "graders": ("graders", read_graders),
    "suite_graders": ("suite_graders", read_flag),
    "target": ("targets", read_target),
    "targets": ("targets", read_targets),
    "repeat": ("repeat", read_repeat),
    "threshold": ("threshold", read_share),
    "timeout_s": ("timeout_s", read_seconds),
    "vars": ("vars", read_mapping),
    "rendered": ("rendered", read_rendered),
}
"""Field as written → field of the canonical form, and how to read it."""
