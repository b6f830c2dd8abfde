"""What is wrong with options, told to whoever writes TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evalcase.model.json_value import JSON
from evalcase.model.nearest import find_nearest
from evalcase.model.option import Option
from evalcase.model.shape import MapOf, OptionFault
from evalcase.read.fault import Fault

_GRADERS = (
    "a suite says what it is graded by, as `graders`; a function of yours is `python:…` there"
)
_AT_TOP = "settings go at the top of the file, before any table"
_TABLES: Mapping[str, str] = {
    "target": "targets", "targets": "targets", "provider": "targets", "providers": "targets",
    "model": "targets", "models": "targets", "agent": "targets", "agents": "targets",
    "judge": "judge", "judges": "judge", "engine": "engine", "harvest": "harvest",
}  # fmt: skip
"""What a table is probably meant to be."""
_ELSEWHERE: Mapping[str, str] = {
    "tool": "[tool.evalcase] is for pyproject.toml: here its settings go at the top",
    **dict.fromkeys(("grader", "graders", "evaluators", "assertions", "metrics"), _GRADERS),
    **dict.fromkeys(
        ("evalcase", "default", "defaults", "settings", "options", "config", "run"), _AT_TOP
    ),
}
"""What to say of tables that a configuration has nowhere."""
_HEADER = re.compile(r"\s*\[+\s*(?:tool\s*\.\s*evalcase\s*\.\s*)?([\w-]+)(?:\s*\.\s*([\w-]+))?")


def in_toml(fault: OptionFault) -> OptionFault:
    """The same with its example as TOML has it."""
    if fault.example is None:
        return fault
    from evalcase.text.toml_writer import write_setting

    return fault._replace(hint=f"for example {write_setting(*fault.example)}")


def hint_at_header(fault: Fault, lines: Sequence[str]) -> Fault:
    """The same with a hint where it is a table that is called as a setting is: `[target.bot]`
    below `target = "bot"`."""
    found = _HEADER.match(lines[fault.span.line - 1]) if fault.hint is None else None
    if found is None or found[1] not in ("target", "judge"):
        return fault
    if found[1] == "judge":
        hint = 'keep [judge], and write target = "…" below it'
    else:
        hint = f"did you mean [targets.{found[2] or 'NAME'}]?"
    return fault._replace(hint=hint)


def hint_at_inside(
    fault: OptionFault, options: Mapping[str, Option], values: Mapping[str, JSON]
) -> OptionFault:
    """The same with the form of what stands in a table of options: `params = {temperature = 0}`."""
    if fault.code != "unknown-option" or fault.hides:
        return fault
    name = str(fault.path[-1])
    for each in options.values():
        is_inside = name in each.elsewhere and isinstance(each.shape, MapOf)
        # A table may be that table under another name.
        if is_inside and not isinstance(values.get(name), dict | None):
            from evalcase.text.toml_writer import write_setting

            return fault._replace(hint=f"write {write_setting(each.name, {name: values[name]})}")
    return fault


def hint_at_table(fault: OptionFault, settings: Mapping[str, JSON]) -> OptionFault:
    """The same with a hint at the table that is meant, where one is, or should be one."""
    if len(fault.path) != 1:
        return fault
    name = str(fault.path[0])
    hint = _hint_at_table(name, settings.get(name))
    return fault if hint is None else fault._replace(hint=hint)


def _hint_at_table(name: str, value: JSON) -> str | None:
    if name == "targets" and isinstance(value, list):
        return 'write [targets.NAME] for each of them, and kind = "…" below it'
    if name == "target" and isinstance(value, list):
        return "one is the default; a suite or --target may name several"
    if name == "judge" and isinstance(value, str):
        return f'write [judge], and target = "{value}" below it'
    if not isinstance(value, dict):
        return None
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    near = find_nearest(name, _TABLES)
    if near is None or name in ("targets", "judge", "engine", "harvest"):
        return None
    meant, inner = _TABLES[near], next(iter(value), "NAME")
    is_named = meant == "targets" and all(isinstance(each, dict) for each in value.values())
    if meant == "targets" and not is_named:
        return "write [targets.NAME]: each target has a name"
    return f"did you mean [{meant}{f'.{inner}' if is_named else ''}]?"
