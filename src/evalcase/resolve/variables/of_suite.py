"""What a suite says for all of its cases, where that has tags: made anew for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalcase.model.finding import KeyPath
from evalcase.resolve.messages import read_input
from evalcase.resolve.plain_texts import report_tags
from evalcase.resolve.values import lacks_graders, read_graders
from evalcase.resolve.variables.declared import VARYING, DeclaredVariables, read_declared
from evalcase.resolve.variables.said import OnceSaid
from evalcase.resolve.variables.tagged import TaggedValue, VariableValues

if TYPE_CHECKING:
    from evalcase.resolve.findings import Findings
    from evalcase.resolve.names import Named
    from evalcase.resolve.suite_fields import Shared

_TAGGED = ("input", "graders")


class SuiteVariables:
    """The variables of a suite, and its fields that have tags in them."""

    def __init__(self, named: Named, path: KeyPath, findings: Findings) -> None:
        values = named.values
        self.findings = findings
        """Where it is told what is wrong with fields of the suite."""
        self.said = OnceSaid()
        self.raw = {name: values[name] for name in (*VARYING, *_TAGGED) if name in values}
        self.declares = not VARYING.isdisjoint(values)
        """Whether there are variables; if there are none, only cases may have some."""
        before = findings.errors
        self.declared: DeclaredVariables = read_declared(values, path, findings)
        self.is_valid = findings.errors == before
        self.tagged = {
            name: TaggedValue(values[name], named.path(path, name))
            for name in _TAGGED
            if holds_tags(values.get(name))
        }
        self.used: set[str] = set()
        """The names that some case makes use of."""
        self.columns: set[str] = set()
        """The columns of its table."""
        self.is_varied = False
        """Whether a case was made with it."""
        self._plain: Shared | None = None
        self._told: set[str] = set()
        """The names of which it is said that nothing takes their place."""

    @property
    def names(self) -> set[str]:
        """What its own fields make use of."""
        return {name for each in self.tagged.values() for name in each.names}

    def plain(self, shared: Shared, *, is_rendered: bool) -> Shared:
        """What it hands to a case that has no variables, or is rendered: texts are texts there."""
        if not is_rendered:
            for tagged in self.tagged.values():
                report_tags(tagged, "there are cases without `vars`", self._told, self.findings)
        if self._plain is None:
            start = self.said.begin(self.findings)
            self._plain = self._read(shared, {name: self.raw[name] for name in self.tagged})
            # Cases with variables may have had it told of already, or will.
            self.said.keep_new(self.findings, start, (), {})
        return self._plain

    def render(self, shared: Shared, variables: VariableValues) -> Shared:
        """What it hands to a case with these variables. Of each mistake it is told once."""
        if not self.tagged:
            return shared
        findings, start = self.findings, self.said.begin(self.findings)
        values = {name: each.render(variables, findings) for name, each in self.tagged.items()}
        if findings.errors == start.errors:
            shared = self._read(shared, values)
        else:
            shared = shared._replace(has_faults=True)
        self.said.keep_new(findings, start, self.tagged.values(), variables)
        return shared

    def _read(self, shared: Shared, values: dict[str, Any]) -> Shared:
        if "input" in values:
            messages = read_input(values["input"], self.tagged["input"].path, self.findings)
            shared = shared._replace(messages=messages or [])
        if "graders" in values:
            graders = read_graders(values["graders"], self.tagged["graders"].path, self.findings)
            has_faults = lacks_graders(graders, values["graders"])
            shared = shared._replace(graders=graders or [], has_faults=has_faults)
        return shared

    def finish(self) -> None:
        """Warn of what no case has made use of, once all cases are known."""
        if not self.is_varied:
            return
        self.findings.case = None
        warn_of_unused(self.declared, self.used, self.columns, self.findings)


def read_suite_variables(named: Named, path: KeyPath, findings: Findings) -> SuiteVariables | None:
    """The variables of a suite; None if it has none, and no tags in its fields."""
    values = named.values
    if VARYING.isdisjoint(values) and not any(holds_tags(values.get(name)) for name in _TAGGED):
        return None
    return SuiteVariables(named, path, findings)


def holds_tags(value: Any) -> bool:
    """Whether some text in a value may have a tag."""
    if type(value) is str:
        return "{{" in value
    if type(value) is list:
        return any(map(holds_tags, value))
    if type(value) is dict:
        return any(map(holds_tags, value)) or any(map(holds_tags, value.values()))
    return False


def warn_of_unused(
    declared: DeclaredVariables, used: set[str], columns: set[str], findings: Findings
) -> None:
    """Warn of names that nothing makes use of, and of a table of which no column is."""
    for name in (*declared.names, *declared.matrix):
        if name not in used:
            field = "matrix" if name in declared.matrix else declared.names[name].field
            message = f"nothing uses the variable `{name}`"
            hint = f"write {{{{{name}}}}} where its value belongs, or remove it"
            at = (*declared.path, field, name)
            findings.add("unused-variable", at, message, hint, "key")
    if declared.rows is not None and columns and used.isdisjoint(columns):
        message = f"nothing uses a column of `{declared.rows}`"
        names = ", ".join(f"`{name}`" for name in sorted(columns)[:8])
        hint = f"the columns are {names}; write {{{{name}}}} where a value belongs"
        findings.add("unused-variable", (*declared.path, "rows"), message, hint)
