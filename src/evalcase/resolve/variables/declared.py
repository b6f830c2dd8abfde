"""What a suite or a case says of variables: names and their values, and what multiplies it."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalcase.model.finding import Fix, KeyPath, Unfit
from evalcase.model.json_value import describe_kind
from evalcase.resolve.findings import Findings
from evalcase.resolve.plain_texts import warn_of_file_value
from evalcase.resolve.variables.labels import Labelled, label_values
from evalcase.resolve.variables.tagged import Variable
from evalcase.text.tags import is_name

VARYING = frozenset({"vars", "var_files", "matrix", "rows"})
"""The fields that make texts be rendered."""

ROW_ENDINGS = (".csv", ".tsv", ".jsonl")


class DeclaredVariables(NamedTuple):
    """The variables of one level: those of a suite, or those of a case."""

    names: dict[str, Variable]
    """What has one value in all cases."""
    matrix: dict[str, list[Labelled]]
    """The values that a name goes through, one case for each."""
    rows: str | None
    """The table whose rows are cases."""
    path: KeyPath
    """Of what these fields belong to."""


def read_declared(values: dict[str, Any], path: KeyPath, findings: Findings) -> DeclaredVariables:
    """The variables in the fields of a suite or a case; what is wrong with them is reported."""
    names: dict[str, Variable] = {}
    matrix: dict[str, list[Labelled]] = {}
    for field in ("vars", "var_files", "matrix"):
        given = values.get(field)
        if given is None:
            continue
        if type(given) is not dict:
            hint = "write names and their values: {name: value}"
            message = f"`{field}` is a mapping, not {describe_kind(given)}"
            findings.add("wrong-type", (*path, field), message, hint)
            continue
        for name, value in given.items():
            at = (*path, field, name)
            if not _check_name(name, at, names, matrix, findings):
                continue
            if field == "vars":
                warn_of_file_value(value, at, findings)
                names[name] = Variable(value, at, value)
            elif field == "var_files":
                names[name] = _read_file(value, at, findings)
            else:
                matrix[name] = label_values(value, at, findings)
    return DeclaredVariables(names, matrix, _read_rows(values.get("rows"), path, findings), path)


def _check_name(
    name: str,
    path: KeyPath,
    names: dict[str, Variable],
    matrix: dict[str, list[Labelled]],
    findings: Findings,
) -> bool:
    if not is_name(name):
        message = f"`{name}` can't be the name of a variable"
        hint = "a name has letters, digits, `_` and `-`, and starts with a letter or `_`"
        findings.add("bad-value", path, message, hint, "key")
        return False
    if name in names or name in matrix:
        message = f"the variable `{name}` has a value already, in `{names[name].field}`"
        findings.add("conflicting-fields", path, message, "keep one of the two", "key")
        return False
    return True


def _read_file(value: Any, path: KeyPath, findings: Findings) -> Variable:
    """The text in a file. Results have its name: the text may be long, and tells nothing apart."""
    if type(value) is not str or not value:
        what = describe_kind(value) if value != "" else "an empty string"
        findings.add("wrong-type", path, f"`var_files` has names of files, not {what}")
        return Variable("", None, "", "var_files")
    text = findings.text_of(value)
    if isinstance(text, Unfit):
        findings.add(text.code, path, text.message, text.hint)
        return Variable("", None, value, "var_files")
    return Variable(text, None, value, "var_files")


_ADDRESS = "file://"


def _hint_for_values(value: Any) -> str:
    """What to do with values that stand where the name of a file belongs."""
    if type(value) is list:
        return f"put the rows into a file ({', '.join(ROW_ENDINGS)}), or write a case for each"
    return "rows come from a file; `matrix` makes a case of each combination of values"


def _read_rows(value: Any, path: KeyPath, findings: Findings) -> str | None:
    if value is None:
        return None
    at = (*path, "rows")
    if type(value) is not str:
        what = f"`rows` is the name of a file, not {describe_kind(value)}"
        findings.add("wrong-type", at, what, _hint_for_values(value))
        return None
    if value.startswith(_ADDRESS):
        what = "`rows` is the path of a file, without `file://`"
        plain = value.removeprefix(_ADDRESS)
        findings.add("bad-value", at, what, f"write {plain:.80}", fix=Fix(plain))
        return None
    if not value.lower().endswith(ROW_ENDINGS):
        endings = f"{', '.join(ROW_ENDINGS[:-1])} or {ROW_ENDINGS[-1]}"
        findings.add("bad-value", at, f"`rows` is a file that ends in {endings}")
        return None
    return value
