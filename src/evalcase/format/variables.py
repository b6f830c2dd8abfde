"""Variables: `vars`, `var_files`, `matrix` and `rows` of a suite and of its cases.

A case is expanded to one set of values for each row and each combination of a matrix. Each set is
rendered into its texts, and the result is resolved like any other case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import product
from json import dumps
from math import prod
from typing import Any, NoReturn

from evalcase.format.case import Ids, Shared, resolve_case
from evalcase.format.fields import EXECUTION, Named, Vocabulary, WrittenSuite
from evalcase.format.findings import Findings, TableRow
from evalcase.format.graders import read_grader_list
from evalcase.format.messages import Messages, read_input
from evalcase.format.templates import (
    NAME,
    Tag,
    TaggedValue,
    Variable,
    Variables,
    follow,
    say_row,
    tagged_fields,
    warn_of_file,
    warn_of_tags,
    warn_of_texts,
)
from evalcase.types.case import Case
from evalcase.types.problem import QUOTE_IT, Finding, KeyPath, Unfit
from evalcase.types.read_options import fields_of
from evalcase.types.value import Value, describe_kind, write_alike

VARYING = ("vars", "var_files", "matrix", "rows")
"""The fields that give variables. Tags are replaced only in cases that have some."""
_NOT_RENDERED = (
    "id", "description", "tags", "metadata", "skip", "conversation_id", "target", "targets",
)  # fmt: skip
_FIELDS = fields_of(WrittenSuite)
_IN_SUITE = ("input", "graders")
"""The rendered fields of a suite."""
_MOST_OF_ONE = 100_000
"""How many cases a matrix may make of one."""
_MOST_OF_ALL = 1_000_000
"""How many cases all matrices of a file may make."""


class Declared(Value, frozen=True):
    """The variables that a suite or a case declares."""

    names: dict[str, Variable]
    """Variables with one value."""
    matrix: dict[str, list[Variable]]
    """The values of each name of a matrix."""
    rows: str | None
    """The file of a table."""
    path: KeyPath
    """The path of the suite or the case."""
    findings: Findings
    columns: set[str]
    """The columns of the table, as far as it has been read."""

    def report(self, code: str, name: str, message: str, hint: str) -> None:
        """Report a problem at the name of a variable."""
        field = "matrix" if name in self.matrix else self.names[name].field
        self.findings.add(code, (*self.path, field, name), message, hint, "key")

    def stop(self, field: str, why: Unfit) -> NoReturn:
        self.findings.say_once(why.code, (*self.path, field), why.message, why.hint)
        raise _ReportedError

    def warn_of_unused(self, used: set[str]) -> None:
        for name in (*self.names, *self.matrix):
            if name not in used:
                hint = f"write {{{{{name}}}}} where its value belongs, or remove it"
                self.report("unused-variable", name, f"nothing uses the variable `{name}`", hint)
        if self.columns and used.isdisjoint(self.columns):
            message = f"nothing uses a column of `{self.rows}`"
            names = ", ".join(f"`{name}`" for name in sorted(self.columns)[:8])
            hint = f"the columns are {names}; write {{{{name}}}} where a value belongs"
            self.findings.add("unused-variable", (*self.path, "rows"), message, hint)


class _ReportedError(Exception):
    """No more cases can be made, for a reason that is reported."""


def read_declared(values: dict[str, Any], path: KeyPath, findings: Findings) -> Declared:
    names: dict[str, Variable] = {}
    matrix: dict[str, list[Variable]] = {}
    for field in VARYING:
        given = values.get(field)
        if given is not None:
            findings.accepts(_FIELDS[field].takes, given, (*path, field))
        for name, value in given.items() if type(given) is dict else ():
            at = (*path, field, name)
            if re.fullmatch(NAME, name) is None:
                message = f"`{name}` can't be the name of a variable"
                hint = "a name has letters, digits, `_` and `-`, and starts with a letter or `_`"
                findings.add("bad-value", at, message, hint, "key")
            elif name in names:
                message = f"the variable `{name}` has a value already, in `{names[name].field}`"
                findings.add("conflicting-fields", at, message, "keep one of the two", "key")
            elif field == "vars":
                _warn_of_file_value(value, name, at, findings)
                names[name] = Variable(value, at, value)
            elif field == "matrix":
                matrix[name] = _read_several(value, at, findings)
            elif type(value) is str and value:
                text = findings.text_of(value)
                if isinstance(text, Unfit):
                    findings.add(text.code, at, text.message, text.hint)
                # Results show the name of the file, since the text may be long.
                names[name] = Variable(text, None, value, field)
    return Declared(names, matrix, values.get("rows"), path, findings, set())


def _warn_of_file_value(value: Any, name: str, path: KeyPath, findings: Findings) -> None:
    # An address from the root is a link, and may be meant.
    if type(value) is str and not value.startswith("file:///"):
        warn_of_file(value, path, findings, name, "a link is written file:///…")


def _read_several(values: Any, path: KeyPath, findings: Findings) -> list[Variable]:
    """The values of one name of a matrix: a list, or a mapping of labels to values."""
    name = str(path[-1])
    pairs = values if type(values) is dict else {}
    if type(values) is list:
        pairs = dict(enumerate(values))
    found: dict[str, Variable] = {}
    labels, taken = _Labels(), set[str]()
    for key, value in pairs.items():
        at, shown = (*path, key), value if type(values) is list else key
        _warn_of_file_value(value, name, at, findings)
        same = write_alike(shown)
        if same in found:
            message = f"this value of `{name}` appears twice"
            findings.add("bad-value", at, message, "keep each value once")
            continue
        text = shown if type(shown) is str else dumps(shown)
        label = labels.of(text, 20)
        if label in taken:
            label = labels.digits(f"{describe_kind(value)} {text}")
        taken.add(label)
        found[same] = Variable(value, at, shown, "matrix", label)
    return list(found.values())


class _Labels:
    """Labels of values and rows in ids: short plain texts as they are, else digits of a hash."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def of(self, text: str, most: int) -> str:
        # Other characters mean something to a shell, or in a glob.
        is_plain = len(text) <= most and re.fullmatch(r"[\w.-]+", text)
        return text if is_plain else self.digits(text)

    def digits(self, text: str) -> str:
        """Six digits, or more if another text has the same six."""
        whole, length = sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), 6
        while self._texts.setdefault(whole[:length], text) != text:
            length += 2
        return whole[:length]


# Findings in rendered texts.


@contextmanager
def _reporting_once(
    known: set[object], findings: Findings, tagged: Collection[TaggedValue], variables: Variables
) -> Iterator[None]:
    """Keep of the findings inside those that are not known yet, each at the place of its cause: one
    text makes many cases with the same mistake. The count of errors stays."""
    start, files = len(findings.found), len(findings.files)
    yield
    found = findings.found[start:]
    del findings.found[start:]
    for finding in found:
        placed = _place(finding, tagged, variables)
        key = placed.code, placed.path, placed.at, finding.within or finding.message
        # A variable that is the address of a file has its warning already.
        is_told = placed.code == "file-as-text" and placed.path != finding.path
        if key not in known and not is_told:
            known.add(key)
            findings.found.append(placed)
    named = {(each.name, each.path): each for each in findings.files[files:]}
    findings.files[files:] = [each for key, each in named.items() if key not in known]
    known.update(named)


def _place(finding: Finding, tagged: Collection[TaggedValue], variables: Variables) -> Finding:
    """The finding at the value of the variable that is its cause, or with the row of that value."""
    at = finding.path
    if finding.code == "duplicate-id":
        return finding._replace(message=finding.message + say_row(variables.values()))
    field = next((each for each in tagged if at[: len(each.path)] == each.path), None)
    if field is None or finding.within is not None:
        return finding
    text = next((path for path in field.texts if path == at[: len(path)]), None)
    # What is wrong with one option may be the fault of another beside it.
    causes = [
        variables[tag.name]
        for path, tag in field.tags()
        if path == text or (text is None and path != field.path and path[:-1] == at[:-1])
    ]
    message = finding.message + say_row(causes)
    if text is None or (finding.at == "key" and text == at):
        return finding._replace(message=message)
    hint = finding.hint
    match field.texts[text]:
        case [Tag(name, steps)]:
            value, source = variables[name].value, variables[name].path
            if source is not None:
                fix = finding.fix if text != at else None
                path = (*source, *follow(value, steps)[1], *at[len(text) :])
                return finding._replace(path=path, fix=fix)
            hint = None if hint == QUOTE_IT else hint
    return finding._replace(path=text, at="value", message=message, hint=hint, fix=None)


# Suites and cases.


class SuiteVariables:
    """The variables of a suite, and its fields that have tags in them."""

    def __init__(self, named: Named, findings: Findings) -> None:
        values = named.values
        self.findings = findings
        """Collects the problems in fields of the suite."""
        self.raw = {name: values[name] for name in (*VARYING, *_IN_SUITE) if name in values}
        self.declares = any(name in values for name in VARYING)
        before = findings.errors
        self.declared = read_declared(values, named.path, findings)
        self.is_valid = findings.errors == before
        tagged = {name: TaggedValue(values.get(name), named.at(name)) for name in _IN_SUITE}
        self.tagged = {name: each for name, each in tagged.items() if each.has_braces}
        self.used: set[str] | None = None
        """The variables that cases use; None before the first case that is rendered."""
        self._known: set[object] = set()
        self._warned: set[str] = set()

    def complete(self, shared: Shared, variables: Variables | None) -> Shared:
        """What the suite gives to a case with these variables; None leaves tags as they are."""
        findings, tagged = self.findings, self.tagged
        rendered = () if variables is None else tagged.values()
        with _reporting_once(self._known, findings, rendered, variables or {}):
            before = findings.errors
            values = {
                name: each.value if variables is None else each.render(variables, findings)
                for name, each in tagged.items()
            }
            if findings.errors > before:
                return shared._replace(lacks_graders=True)
            if "input" in values:
                messages = read_input(values["input"], tagged["input"].path, findings)
                shared = shared._replace(messages=messages or [])
            if "graders" in values:
                before = findings.errors
                graders = read_grader_list(values["graders"], tagged["graders"].path, findings)
                lacks_graders = findings.errors > before
                shared = shared._replace(graders=graders or [], lacks_graders=lacks_graders)
        return shared

    def warn_of_tags(self) -> None:
        """Warn of tags that stay as they are in a case without variables."""
        for each in self.tagged.values():
            warn_of_tags(each, "there are cases without `vars`", self._warned, self.findings)

    def finish(self) -> None:
        """Warn of variables that no case has used, once all cases are known."""
        if self.used is not None:
            self.findings.case = None
            self.declared.warn_of_unused(self.used)


def read_suite_variables(named: Named, findings: Findings) -> SuiteVariables | None:
    """The variables of a suite; None if it has neither variables nor tags in its fields."""
    suite = SuiteVariables(named, findings)
    return suite if suite.declares or suite.tagged else None


def resolve_literally(
    raw: Any, path: KeyPath, findings: Findings, ids: Ids, shared: Shared, vocabulary: Vocabulary
) -> Case | None:
    """The case that `raw` stands for, with its tags as they are."""
    case = resolve_case(raw, path, findings, ids, shared, vocabulary)
    if findings.doubts.texts and type(raw) is dict:
        warn_of_texts(raw, path, findings)
    return case


def vary_case(
    raw: Any, path: KeyPath, findings: Findings, ids: Ids, shared: Shared, vocabulary: Vocabulary
) -> Iterator[Case | None]:
    """The cases that `raw` stands for; None, with findings, for each that has errors."""
    suite: SuiteVariables | None = shared.variables
    fields = raw if type(raw) is dict else {"rendered": True}
    given = [name for name in VARYING if fields.get(name) is not None]
    is_rendered = fields.get("rendered") is True
    if is_rendered or not (given or (suite is not None and suite.declares)):
        for name in given:
            if name != "vars":
                message = f"`{name}` can't be used in a case that is `rendered`"
                at = (*path, name)
                findings.add("conflicting-fields", at, message, "remove one of the two", "key")
        if suite is not None:
            shared = suite.complete(shared, None)
            if not is_rendered:
                suite.warn_of_tags()
        yield resolve_literally(raw, path, findings, ids, shared, vocabulary)
        return
    findings.case = raw["id"] if type(raw.get("id")) is str else None
    before = findings.errors
    own = read_declared(raw, path, findings)
    if findings.errors > before or (suite is not None and not suite.is_valid):
        yield None
    else:
        yield from _VariedCase(raw, own, shared, ids, vocabulary).cases()


class _VariedCase:
    """A case as it is written, and the cases that its variables make of it."""

    def __init__(
        self, raw: dict[str, Any], own: Declared, shared: Shared, ids: Ids, vocabulary: Vocabulary
    ) -> None:
        self.own = own
        self.path = own.path
        self.findings = own.findings
        self.shared = shared
        self.suite: SuiteVariables | None = shared.variables
        self.outer: Declared = own if self.suite is None else self.suite.declared
        self.ids = ids
        self.vocabulary = vocabulary
        self.raw = {name: value for name, value in raw.items() if name not in VARYING}
        self.base_id = ""
        self.reported: set[object] = set()
        self.row_labels, self.copies = _Labels(), Counter[str]()
        self.tagged = tagged_fields(self.raw, self.path)

    def cases(self) -> Iterator[Case | None]:
        used = {name for each in self.tagged.values() for name in each.names}
        if self.suite is not None:
            used.update(*[each.names for each in self.suite.tagged.values()])
            self.suite.used = used | (self.suite.used or set())
        known: set[str] = set()
        try:
            for variables, labels in self._variations():
                known.update(variables)
                yield self._make(variables, labels)
            self.own.warn_of_unused(used)
        except _ReportedError:
            self.findings.errors += 1
            yield None
        self._warn_of_unrendered(known)

    def _variations(self) -> Iterator[tuple[dict[str, Variable], list[str]]]:
        """The variables of each case, and what its id says about them."""
        own, outer = self.own, self.outer
        for row in self._rows():
            columns: dict[str, Variable] = {}
            labels: list[str] = []
            if row is not None:
                origin = f"for the row at {row.place}"
                columns = {
                    name: Variable(value, None, value, "rows", origin=origin)
                    for name, value in row.values.items()
                }
                labels = [self._label_row(row.values)]
            # A name of the case hides that of the suite.
            of_case = {**own.names, **columns} if own.rows is not None else own.names
            hidden = of_case.keys() | own.matrix.keys()
            matrix = {name: each for name, each in outer.matrix.items() if name not in hidden}
            matrix |= own.matrix
            self._check_number(matrix)
            names = {**outer.names, **columns, **of_case}
            names = {name: each for name, each in names.items() if name not in own.matrix}
            for chosen in product(*matrix.values()):
                several = dict(zip(matrix, chosen, strict=True))
                of_matrix = [f"{name}={each.label}" for name, each in several.items()]
                yield {**names, **several}, [*labels, *of_matrix]

    def _rows(self) -> Iterator[TableRow | None]:
        """The rows of the table; one None if there is no table."""
        level = self.own if self.own.rows is not None else self.outer
        if level.rows is None:
            yield None
            return
        rows = self.findings.rows_of(level.rows)
        if isinstance(rows, Unfit):
            level.stop("rows", rows)
        row = None
        for row in rows:
            if not row.values.keys() <= level.columns:
                level.columns.update(row.values)
                taken = row.values.keys() & {*level.names, *level.matrix}
                for name in sorted(taken):
                    message = f"the variable `{name}` is a column of `{level.rows}`, too"
                    level.report("conflicting-fields", name, message, "give it another name")
                if taken:
                    raise _ReportedError
            yield row
        if row is None:
            if self.findings.has_errors_in(level.rows):
                raise _ReportedError
            message = f"`{level.rows}` has no rows, so there is no case"
            level.stop("rows", Unfit("no-cases", message))

    def _check_number(self, matrix: Mapping[str, list[Variable]]) -> None:
        number = prod(map(len, matrix.values()))
        self.findings.multiplied += number - 1
        message = f"the matrices of this file make more than {_MOST_OF_ALL:,} cases"
        if number > _MOST_OF_ONE:
            message = f"this matrix makes {number:,} cases of one; the most is {_MOST_OF_ONE:,}"
        if number > _MOST_OF_ONE or self.findings.multiplied >= _MOST_OF_ALL:
            hint = "leave values out, or split them into several suites"
            level = self.own if self.own.matrix else self.outer
            level.stop("matrix", Unfit("too-many-cases", message, hint))

    def _label_row(self, row: dict[str, Any]) -> str:
        """The `id` of a row, else digits of what it holds; copies of a row are numbered."""
        id = row.get("id")
        if type(id) is int or (type(id) is str and id.strip()):
            return self.row_labels.of(str(id).strip(), 64)
        label = self.row_labels.digits(dumps(row, sort_keys=True))
        self.copies[label] += 1
        return label if self.copies[label] == 1 else f"{label}-{self.copies[label]}"

    def _make(self, variables: Variables, labels: list[str]) -> Case | None:
        """The case with these variables."""
        findings, raw = self.findings, dict(self.raw)
        if labels:
            self.base_id = self.base_id or _make_base_id(raw, self.ids)
            raw["id"] = f"{self.base_id}:{','.join(labels)}" if self.base_id else raw.get("id")
        findings.case = raw["id"] if type(raw.get("id")) is str else None
        with _reporting_once(self.reported, findings, self.tagged.values(), variables):
            before = findings.errors
            for name, each in self.tagged.items():
                value = each.render(variables, findings)
                raw[name] = {**raw[name], "evaluators": value} if name == EXECUTION else value
            raw["vars"] = {name: each.shown for name, each in variables.items()}
            raw["rendered"] = True
            if findings.errors > before:
                return None
            shared, is_right = self.shared, True
            if self.suite is not None:
                self.suite.findings.case = findings.case
                before = self.suite.findings.errors
                shared = self.suite.complete(shared, variables)
                is_right = self.suite.findings.errors == before
            doubts = findings.doubts
            # A value in the place of a tag is nested deeper than it is written.
            findings.doubts = doubts._replace(deep=True, texts=True)
            case = resolve_literally(raw, self.path, findings, self.ids, shared, self.vocabulary)
            findings.doubts = doubts
            return case if is_right else None

    def _warn_of_unrendered(self, known: set[str]) -> None:
        """Warn of known names where no value takes their place."""
        unrendered = [pair for each in self.tagged.values() for pair in each.unrendered]
        hint = "values take their place in what is asked, expected and graded"
        for field in _NOT_RENDERED:
            for path, tag in TaggedValue(self.raw.get(field), (*self.path, field)).tags():
                why = f"{tag.source} stays as it is: `{field}` is not rendered"
                finding = Finding("not-rendered", path, why, hint, within=tag.source)
                unrendered.append((tag.name, finding))
        for name, each in unrendered:
            if name in known:
                self.findings.found.append(each._replace(case=self.findings.case))


def _make_base_id(raw: dict[str, Any], ids: Ids) -> str:
    """The id of a case as it is written, else one made of its input, tags and all; nothing if what
    is written is no id."""
    id = raw.get("id")
    if id is not None:
        return id if type(id) is str and id.strip() else ""
    turns = raw.get("turns")
    said = [raw.get("input"), raw.get("input_messages"), *(turns if type(turns) is list else ())]
    messages: Messages = []
    for each in said:
        value = each.get("input", each) if type(each) is dict else each
        if value not in (None, [], ""):
            messages += read_input(value, (), Findings()) or ()
    return ids.make(messages)
