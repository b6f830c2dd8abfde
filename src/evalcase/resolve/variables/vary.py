"""One case as it is written to the cases that it stands for: one for each row of a table, and each
combination of the values in a matrix, with the values of variables in the place of their tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any, NamedTuple

from evalcase.model.case import Case
from evalcase.model.finding import KeyPath, Unfit
from evalcase.model.table_source import TableRow
from evalcase.resolve.case import resolve_case
from evalcase.resolve.fields import CASE_ALIASES, EXECUTION
from evalcase.resolve.findings import Findings
from evalcase.resolve.ids import Ids
from evalcase.resolve.names import CASE, Vocabulary
from evalcase.resolve.plain_texts import TAGGED_FIELDS
from evalcase.resolve.suite_fields import Shared
from evalcase.resolve.variables.base_ids import RowLabels, find_base_id
from evalcase.resolve.variables.declared import VARYING, DeclaredVariables, read_declared
from evalcase.resolve.variables.labels import Labelled
from evalcase.resolve.variables.of_suite import SuiteVariables, warn_of_unused
from evalcase.resolve.variables.said import OnceSaid
from evalcase.resolve.variables.tagged import TaggedValue, Variable
from evalcase.resolve.variables.unrendered import warn_of_unrendered

MOST_OF_ONE = 100_000
"""So many a matrix may make of one case."""
MOST_OF_ALL = 1_000_000
"""So many the matrices of a file may make of all of its cases."""

RENDERED = frozenset(
    (*TAGGED_FIELDS, *(old for old, new in CASE_ALIASES.items() if new in TAGGED_FIELDS))
)
"""The fields that tags are replaced in."""


def vary_case(
    raw: Any,
    path: KeyPath,
    findings: Findings,
    ids: Ids,
    shared: Shared,
    vocabulary: Vocabulary = CASE,
) -> Iterator[Case | None]:
    """The cases that `raw` stands for; None, with findings, for each that has errors."""
    suite = shared.variables
    is_rendered = type(raw) is not dict or raw.get("rendered") is True
    if is_rendered or (not _has_variables(raw) and (suite is None or not suite.declares)):
        _check_rendered(raw, path, findings)
        plain = shared if suite is None else suite.plain(shared, is_rendered=is_rendered)
        yield resolve_case(raw, path, findings, ids, plain, vocabulary)
        return
    findings.case = raw["id"] if type(raw.get("id")) is str else None
    before = findings.errors
    own = read_declared(raw, path, findings)
    if findings.errors > before or (suite is not None and not suite.is_valid):
        yield None
        return
    varying = _Varying(raw, own, shared, findings, ids, vocabulary)
    yield from varying.cases()


def _has_variables(raw: dict[str, Any]) -> bool:
    """Whether a case says anything of variables; null says nothing."""
    return any(raw.get(name) is not None for name in VARYING)


def _check_rendered(raw: Any, path: KeyPath, findings: Findings) -> None:
    """What is rendered already has values for `vars`, and none of the fields that would make it."""
    for name in ("var_files", "matrix", "rows"):
        if type(raw) is dict and raw.get("rendered") and raw.get(name) is not None:
            message = f"`{name}` can't be used in a case that is `rendered`"
            findings.add(
                "conflicting-fields", (*path, name), message, "remove one of the two", "key"
            )


class _Variation(NamedTuple):
    """The variables of one case, and what its id says of it."""

    variables: dict[str, Variable]
    labels: tuple[str, ...]
    row: TableRow | None


class _Varying:
    """A case as it is written, with what its variations have in common."""

    def __init__(
        self, raw: dict[str, Any], own: DeclaredVariables, shared: Shared, findings: Findings,
        ids: Ids, vocabulary: Vocabulary,
    ) -> None:  # fmt: skip
        self.raw = raw
        self.own = own
        self.path = own.path
        self.shared = shared
        self.suite: SuiteVariables | None = shared.variables
        self.findings = findings
        self.ids = ids
        self.vocabulary = vocabulary
        self.said = OnceSaid()
        self.kept = {name: value for name, value in raw.items() if name not in VARYING}
        self.tagged = {
            name: TaggedValue(value, (*self.path, name))
            for name, value in self.kept.items()
            if name in RENDERED
        }
        grouped = self.kept.get(EXECUTION)
        if type(grouped) is dict and "evaluators" in grouped:
            at = (*self.path, EXECUTION, "evaluators")
            self.tagged[EXECUTION] = TaggedValue(grouped["evaluators"], at)
        self.base: str | None = None
        self.columns: set[str] = set()

    def cases(self) -> Iterator[Case | None]:
        used = {name for each in self.tagged.values() for name in each.names}
        if self.suite is not None:
            used |= self.suite.names
            self.suite.used |= used
            self.suite.is_varied = True
        known: set[str] = set()
        for variation in self._variations():
            if variation is None:
                yield None
                continue
            known.update(variation.variables)
            yield self._make(variation)
        if known or not self.columns:
            warn_of_unused(self.own, used, self.columns, self.findings)
        warn_of_unrendered(self.kept, self.path, self.tagged, known, self.findings)

    def _make(self, variation: _Variation) -> Case | None:
        """The case of one variation."""
        findings = self.findings
        raw = dict(self.kept)
        if variation.labels:
            raw["id"] = self._id(variation.labels)
        id = raw.get("id")
        findings.case = id if type(id) is str else None
        start = self.said.begin(findings)
        for name, each in self.tagged.items():
            value = each.render(variation.variables, findings)
            raw[name] = {**raw[name], "evaluators": value} if name == EXECUTION else value
        raw["vars"] = {name: each.shown for name, each in variation.variables.items()}
        raw["rendered"] = True
        case = self._resolve(raw, variation) if findings.errors == start.errors else None
        self.said.keep_new(findings, start, self.tagged.values(), variation.variables)
        return case

    def _resolve(self, raw: dict[str, Any], variation: _Variation) -> Case | None:
        findings, shared, is_right = self.findings, self.shared, True
        if self.suite is not None:
            self.suite.findings.case = findings.case
            before = self.suite.findings.errors
            shared = self.suite.render(shared, variation.variables)
            is_right = self.suite.findings.errors == before
        doubts, found = findings.doubts, len(findings.found)
        # Values are nested deeper than they are written, where they take the place of a tag.
        findings.doubts = doubts._replace(deep=True, texts=True)
        case = resolve_case(raw, self.path, findings, self.ids, shared, self.vocabulary)
        findings.doubts = doubts
        if variation.row is not None:
            _name_row(findings, found, variation.row)
        return case if is_right else None

    def _id(self, labels: tuple[str, ...]) -> Any:
        if self.base is None:
            self.base = find_base_id(self.raw, self.ids)
        # What is no id is left as it is: it is told of by who reads it.
        return f"{self.base}:{','.join(labels)}" if self.base else self.raw.get("id")

    def _variations(self) -> Iterator[_Variation | None]:
        row_labels = RowLabels()
        for row in self._rows():
            if row is None:
                yield None
                return
            values = _as_variables(row)
            if not self._check_columns(values):
                yield None
                return
            label = () if row is _NO_ROW else (row_labels.take(row.values),)
            names, matrix = self._merge(values)
            if not self._check_number(matrix):
                yield None
                return
            for chosen in product(*matrix.values()):
                several = dict(zip(matrix, chosen, strict=True))
                yield _Variation(
                    {**names, **{name: each.variable for name, each in several.items()}},
                    (*label, *[f"{name}={each.label}" for name, each in several.items()]),
                    None if row is _NO_ROW else row,
                )

    def _merge(
        self, row: Mapping[str, Variable]
    ) -> tuple[dict[str, Variable], dict[str, list[Labelled]]]:
        """What has one value now, and what goes through several: the case's own goes first."""
        own, suite = self.own, self.suite.declared if self.suite is not None else _NOTHING
        of_case = {**own.names, **(row if own.rows is not None else {})}
        of_suite = {**suite.names, **(row if own.rows is None else {})}
        matrix = {
            name: each
            for name, each in suite.matrix.items()
            if name not in of_case and name not in own.matrix
        }
        names = {
            name: each for name, each in {**of_suite, **of_case}.items() if name not in own.matrix
        }
        return names, {**matrix, **own.matrix}

    def _rows(self) -> Iterator[TableRow | None]:
        """The rows of the table; one without anything, where there is none."""
        level = self.own
        if level.rows is None and self.suite is not None:
            level = self.suite.declared
        if level.rows is None:
            yield _NO_ROW
            return
        rows = self.findings.rows_of(level.rows)
        if isinstance(rows, Unfit):
            at = self.findings if level is self.own or self.suite is None else self.suite.findings
            at.say_once(rows.code, (*level.path, "rows"), rows.message, rows.hint)
            self.findings.errors += 1
            yield None
            return
        is_empty = True
        for row in rows:
            is_empty = False
            yield row
        if is_empty:
            if self.findings.has_errors_in(level.rows):
                self.findings.errors += 1  # what is wrong with its rows is told where they stand
            else:
                self._report_no_rows(level)
            yield None

    def _report_no_rows(self, level: DeclaredVariables) -> None:
        at = self.findings if level is self.own or self.suite is None else self.suite.findings
        message = f"`{level.rows}` has no rows, so there is no case"
        at.say_once("no-cases", (*level.path, "rows"), message, None)
        self.findings.errors += 1

    def _check_columns(self, row: Mapping[str, Variable]) -> bool:
        """Note the columns, and whether one is called as a variable of the same level is."""
        if row.keys() <= self.columns:
            return True
        self.columns.update(row)
        level, findings = self.own, self.findings
        if self.own.rows is None and self.suite is not None:
            level, findings = self.suite.declared, self.suite.findings
            self.suite.columns.update(row)
        before = findings.errors
        for name in row:
            if name in level.names or name in level.matrix:
                field = "matrix" if name in level.matrix else level.names[name].field
                message = f"the variable `{name}` is a column of `{level.rows}`, too"
                at = (*level.path, field, name)
                findings.say_once("conflicting-fields", at, message, "give it another name", "key")
                findings.errors += findings.errors == before
        return findings.errors == before

    def _check_number(self, matrix: Mapping[str, list[Labelled]]) -> bool:
        number = prod(map(len, matrix.values()))
        self.findings.multiplied += number - 1
        if number <= MOST_OF_ONE and self.findings.multiplied < MOST_OF_ALL:
            return True
        level, findings = self.own, self.findings
        if not self.own.matrix and self.suite is not None:
            level, findings = self.suite.declared, self.suite.findings
        message = f"this matrix makes {number:,} cases of one; the most is {MOST_OF_ONE:,}"
        if number <= MOST_OF_ONE:
            message = f"the matrices of this file make more than {MOST_OF_ALL:,} cases"
        hint = "leave values out, or split them into several suites"
        findings.say_once("too-many-cases", (*level.path, "matrix"), message, hint)
        return False


_NO_ROW = TableRow({}, "")
_NOTHING = DeclaredVariables({}, {}, None, ())


def _as_variables(row: TableRow) -> dict[str, Variable]:
    origin = f"for the row at {row.place}"
    return {
        name: Variable(value, None, value, "rows", origin) for name, value in row.values.items()
    }


def _name_row(findings: Findings, since: int, row: TableRow) -> None:
    """Say which row has an id that is taken."""
    for index in range(since, len(findings.found)):
        finding = findings.found[index]
        if finding.code == "duplicate-id":
            message = f"{finding.message}; {row.place} has it, too"
            findings.found[index] = finding._replace(message=message)
