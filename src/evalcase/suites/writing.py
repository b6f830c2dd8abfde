"""Suites in, eval files for people out: short forms, a good order of keys, texts as blocks, a
blank line between cases; and comments, for whoever has something to say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from json import dumps
from types import MappingProxyType
from typing import Any

from evalcase.errors import SuiteError
from evalcase.model.case import Case
from evalcase.model.suite import Suite
from evalcase.read.discover import format_of, suite_name
from evalcase.suites.load import load_text
from evalcase.suites.shared_form import share_fields
from evalcase.suites.short_form import Shortening
from evalcase.system.disk import write_atomically
from evalcase.text.yaml_notes import Comments, place_comments
from evalcase.text.yaml_writer import Inline, write_yaml

_NO_COMMENTS: Comments = MappingProxyType({})

_SUITE_ORDER = (
    "$schema", "name", "description", "tags", "metadata", "target", "targets", "repeat",
    "threshold", "timeout_s", "vars", "var_files", "matrix", "rows", "input", "graders",
)  # fmt: skip
_CASE_ORDER = (
    "id", "description", "tags", "skip", "conversation_id", "target", "targets", "vars",
    "var_files", "matrix", "rows", "input", "turns", "stop_on_failure", "user", "expected_output",
    "criteria", "rubrics", "suite_graders", "graders", "repeat", "threshold", "timeout_s",
    "metadata",
)  # fmt: skip
"""The order in which a person would tell it: what a case is, what goes in, what should come out,
how it is judged. What is in neither list comes after."""


def write_suite(
    suite: Suite | Iterable[Case], path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a suite, or cases, to a YAML file that loads as exactly the same.

    Raise FileExistsError if there is a file already and it isn't to be overwritten, SuiteError if
    what is to be written is no valid suite there, and ValueError if the path isn't that of a YAML
    file. Nothing is written then.
    """
    name = os.fspath(path)
    if format_of(name) != "yaml":
        raise ValueError(f"a suite is written as YAML, to a .yaml or .yml file, not to {name}")
    if not isinstance(suite, Suite):
        suite = Suite(name, {"name": suite_name(name)}, tuple(suite))
    text = suite_text(suite, name)
    write_atomically(name, text.encode(), replace=overwrite)


def suite_text(suite: Suite, path: str) -> str:
    """The text of a file at this path. Raise SuiteError where it wouldn't be that suite."""
    about, cases = suite.about(), [case.to_dict() for case in suite]
    if about.get("name") == suite_name(path):
        del about["name"]
    shortening = Shortening()
    for shared, rest in (share_fields(cases), ({}, cases)):
        written = shortening.fields({**about, **shared})
        written["cases"] = [shortening.case(case) for case in rest]
        text = "".join(suite_lines(written))
        loaded = load_text(text, "yaml", path)
        if loaded.suite is not None and _write_exact(loaded.suite) == _write_exact(suite):
            return text
    if loaded.suite is None:
        raise SuiteError(loaded.problems)
    raise ValueError("the suite has fields that no file can have")


def suite_lines(written: Mapping[str, Any], comments: Comments = _NO_COMMENTS) -> Iterator[str]:
    """A suite, as it may stand in a file or in canonical form, as chunks of the text of one.

    Nothing is said shorter than it is given: `Shortening` does that. Each comment stands above
    what its path leads to (`("cases", 3, "graders", 0)`), and where that isn't there (one past
    the end of a list, a field that was left out) at the end of what it would be in.
    """
    value = _order_fields(written, _SUITE_ORDER, last="cases")
    if isinstance(value.get("cases"), list):
        value["cases"] = [_lay_out(case) for case in value["cases"]]
    if isinstance(value.get("graders"), list):
        value["graders"] = _in_line(value["graders"])
    notes = place_comments(value, comments)
    notes.at("cases").spaced = True
    notes.at("cases").blank = len(value) > 1
    return write_yaml(value, notes)


def _lay_out(case: Any) -> Any:  # noqa: ANN401 - a case as it is written
    if not isinstance(case, dict):
        return case
    value = _order_fields(case, _CASE_ORDER)
    if isinstance(value.get("graders"), list):
        value["graders"] = _in_line(value["graders"])
    if isinstance(value.get("turns"), list):
        value["turns"] = [_lay_out(turn) for turn in value["turns"]]
    if isinstance(value.get("repeat"), dict):
        value["repeat"] = Inline(value["repeat"])
    return value


def _order_fields(
    fields: Mapping[str, Any], order: tuple[str, ...], last: str = ""
) -> dict[str, Any]:
    known = [name for name in order if name in fields]
    rest = [name for name in fields if name not in order and name != last]
    end = [last] if last in fields else []
    return {name: fields[name] for name in (*known, *rest, *end)}


def _in_line(graders: list[Any]) -> list[Any]:
    """`- length: {max: 20}` is easier to read than three lines."""
    return [_option_in_line(grader) for grader in graders]


def _option_in_line(grader: Any) -> Any:  # noqa: ANN401 - a grader as it is written
    if not isinstance(grader, dict) or len(grader) != 1:
        return grader
    ((name, options),) = grader.items()
    if isinstance(options, list):
        return {name: _in_line(options)}
    return {name: Inline(options) if isinstance(options, dict) else options}


def _write_exact(suite: Suite) -> str:
    return dumps(suite.to_dict())
