"""What a suite says about all of its cases, and how each case takes it over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalcase.model.finding import KeyPath
from evalcase.resolve.fields import CASE_ORDER
from evalcase.resolve.findings import Findings
from evalcase.resolve.messages import read_input
from evalcase.resolve.names import Named
from evalcase.resolve.plain_texts import warn_of_file_texts
from evalcase.resolve.values import READERS, lacks_graders, read_name

if TYPE_CHECKING:
    from evalcase.resolve.variables.of_suite import SuiteVariables


class Shared(NamedTuple):
    """The part of a suite that belongs to every case."""

    messages: list[dict[str, Any]]
    """Put before the case's own input."""
    graders: list[dict[str, Any]]
    """Put before the case's own graders."""
    tags: list[str]
    defaults: dict[str, Any]
    """Used where the case doesn't say it itself."""
    variables: SuiteVariables | None = None
    """Those of the suite, and what has tags in it."""
    has_faults: bool = False
    """Whether it has graders with errors, which are not here."""

    def is_whole_for(self, values: dict[str, Any]) -> bool:
        """Whether all graders that a case with these fields gets from it are here; one that has
        errors may be just what the case seems to lack."""
        return not self.has_faults or values.get("suite_graders") is False

    def add_to(self, data: dict[str, Any], own_graders_only: bool) -> None:
        """Complete the data of a case, in canonical order."""
        if self.messages:
            data["input"] = [*self.messages, *data.get("input", ())]
        own = {name: data.pop(name) for name in CASE_ORDER if name in data}
        if self.graders and not own_graders_only:
            own["graders"] = [*self.graders, *own.get("graders", ())]
        if self.tags:
            more = [tag for tag in own.get("tags", ()) if tag not in self.tags]
            own["tags"] = [*self.tags, *more]
        own = {**self.defaults, **own}
        for name in CASE_ORDER:
            if name in own:
                data[name] = own[name]


NOTHING_SHARED = Shared([], [], [], {})


class SuiteFields(NamedTuple):
    """A suite's own fields in canonical form, and what it hands to its cases."""

    fields: dict[str, Any]
    shared: Shared


def read_suite_fields(
    named: Named, default_name: str, path: KeyPath, findings: Findings
) -> SuiteFields:
    values = named.values
    name = default_name
    if "name" in values:
        name = read_name(values["name"], named.path(path, "name"), findings) or default_name
    if "target" in values and "targets" in values:
        message = "`target` and `targets` say the same thing"
        findings.add("conflicting-fields", (*path, "target"), message, "keep `targets`", "key")
    variables = _read_variables(named, path, findings)
    put_off = () if variables is None else (*variables.tagged, "vars")
    messages = None
    if "input" in values and "input" not in put_off:
        messages = read_input(values["input"], named.path(path, "input"), findings)
        if findings.doubts.texts:
            warn_of_file_texts(named, path, findings)
    found: dict[str, Any] = {}
    for field, value in values.items():
        if field in READERS and field not in put_off:
            canonical, read = READERS[field]
            result = read(value, named.path(path, field), findings)
            if result is not None:
                found[canonical] = result
    found.pop("$schema", None)
    fields = {"name": name}
    fields |= {field: found.pop(field) for field in ("description", "metadata") if field in found}
    has_faults = False
    if "graders" in values and "graders" not in put_off:
        has_faults = lacks_graders(found.get("graders"), values["graders"])
    graders, tags = found.pop("graders", []), found.pop("tags", [])
    if not (messages or graders or tags or found or variables or has_faults):
        return SuiteFields(fields, NOTHING_SHARED)
    shared = Shared(messages or [], graders, tags, found, variables, has_faults)
    return SuiteFields(fields, shared)


def _read_variables(named: Named, path: KeyPath, findings: Findings) -> SuiteVariables | None:
    if _VARIED.isdisjoint(named.values):
        return None
    # Most suites have none, and need not wait for what it takes to read them.
    from evalcase.resolve.variables.of_suite import read_suite_variables

    return read_suite_variables(named, path, findings)


_VARIED = frozenset({"vars", "var_files", "matrix", "rows", "input", "graders"})
