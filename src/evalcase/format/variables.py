"""Variables: `{{name}}` in texts, and their values in `vars`, `var_files`, `matrix` and `rows`.

A case is expanded to one set of values for each row and each combination of a matrix. Each set is
rendered into its texts, and the result is resolved like any other case. There are no expressions
and no filters. Values are put in once and never searched for tags.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from itertools import product
from json import dumps
from math import prod
from typing import Any, NamedTuple, NoReturn

from evalcase.format.case import (
    Ids,
    Shared,
    known_by,
    read_fields,
    resolve_case,
    warn_of_file,
)
from evalcase.format.document import Findings
from evalcase.format.fields import (
    CASE,
    CASE_ALIASES,
    EXECUTION,
    PRIVATE_PREFIX,
    Named,
    Vocabulary,
    WrittenSuite,
    settle_names,
)
from evalcase.format.tables import TableRow
from evalcase.types.case import Case
from evalcase.types.options import is_index
from evalcase.types.problem import QUOTE_IT, At, Finding, KeyPath, did_you_mean
from evalcase.types.read_options import fields_of
from evalcase.types.value import Value, canonical_text, describe_kind

VARYING = ("vars", "var_files", "matrix", "rows")
"""The fields that give variables. Tags are replaced only in cases that have some."""
_VARYING = frozenset(VARYING)
_TAGGED = (
    "input", "expected_output", "criteria", "rubrics", "graders", "turns", "user", "workspace",
)  # fmt: skip
_RENDERED = {*_TAGGED, *(old for old, new in CASE_ALIASES.items() if new in _TAGGED)}
"""The fields of a case in which values replace tags, under all their names."""
_TAGGED_OF_SUITE = ("input", "graders", "workspace")
_OF_SUITE = (*VARYING, *_TAGGED_OF_SUITE)
"""The fields of a suite that decide about variables: those that give some, and those with tags."""
_FIELDS = fields_of(WrittenSuite)
_UNREAD = Finding((), "files can't be read here", code="unreadable-file")
_MOST_OF_ONE = 100_000
"""How many cases a matrix may make of one."""
_MOST_OF_ALL = 1_000_000
"""How many cases all matrices of a file may make."""

_NAME = r"[^\W\d][\w-]*"
_TAG = rf"[ \t]*({_NAME}(?:\.[\w-]+)*)[ \t]*"
_TAGS = re.compile(rf"\{{\{{(\{{\{{{_TAG}\}}\}})\}}\}}|\{{\{{{_TAG}\}}\}}")
"""A literal in four braces, which loses two of them, or a tag."""
_FILTERED = re.compile(rf"\{{\{{[ \t]*({_NAME})(?:\.[\w-]+)*[ \t]*[|(\[]")
"""The start of a filter, a call or an index, as languages of templates have them."""


# Texts with tags


class Tag(NamedTuple):
    name: str
    steps: tuple[str, ...]
    """The parts that lead into the value."""
    source: str
    """The tag as it is written, with its braces."""


class Variable(Value, frozen=True):
    value: Any
    path: KeyPath | None = None
    """Where the value is written in the suite; None if it comes from another file."""
    shown: Any = None
    """The value in results: itself, its label, or the name of its file."""
    field: str = "vars"
    label: str = ""
    """The value in ids, if the variable is one of a matrix."""
    origin: str = ""
    """Words about the row that has the value, if it comes from a table."""


Variables = Mapping[str, Variable]


class Tagged(NamedTuple):
    """A field in which values replace tags, as it is written."""

    value: Any
    path: KeyPath

    def tags(self) -> Iterator[tuple[KeyPath, Tag]]:
        for path, at, text in _find_braces(self.value, self.path):
            for tag in _tags_in(text) if at == "value" else ():
                yield path, tag


def _find_braces(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, At, str]]:
    """The texts and the names of fields that have braces."""
    if type(value) is str and "{{" in value:
        yield path, "value", value
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from _find_braces(item, (*path, index))
    elif type(value) is dict:
        for key, item in value.items():
            if "{{" in key:
                yield (*path, key), "key", key
            yield from _find_braces(item, (*path, key))


@lru_cache(1000)
def _split(text: str) -> tuple[str | Tag, ...]:
    """The pieces of a text in order; literals have lost their outer braces."""
    pieces: list[str | Tag] = []
    end = 0
    for found in _TAGS.finditer(text):
        pieces.append(text[end : found.start()])
        end = found.end()
        if found[1] is not None:
            pieces.append(found[1])
        else:
            name, *steps = found[3].split(".")
            pieces.append(Tag(name, tuple(steps), found[0]))
    pieces.append(text[end:])
    return tuple(piece for piece in pieces if piece != "")


def _tags_in(text: str) -> list[Tag]:
    return [piece for piece in _split(text) if isinstance(piece, Tag)]


def _render(value: Any, path: KeyPath, variables: Variables, findings: Findings) -> Any:
    """The value with every tag replaced. A tag that has no value is reported."""
    if type(value) is list:
        return [_render(each, (*path, at), variables, findings) for at, each in enumerate(value)]
    if type(value) is dict:
        return {
            key: _render(each, (*path, key), variables, findings) for key, each in value.items()
        }
    if type(value) is not str or "{{" not in value:
        return value
    match _split(value):
        case [Tag() as tag]:
            return _look_up(tag, path, variables, findings)
        case pieces:
            return "".join([_as_text(each, path, variables, findings) for each in pieces])


def _follow(value: Any, steps: Iterable[str | int]) -> tuple[Any, KeyPath]:
    """The part of a value that steps lead to, and its path, which is shorter than the steps if one
    of them leads nowhere."""
    path: list[str | int] = []
    for step in steps:
        key = int(step) if type(value) is list and is_index(str(step)) else step
        is_item = type(value) is list and type(key) is int and key < len(value)
        if not is_item and not (type(value) is dict and key in value):
            break
        value = value[key]
        path.append(key)
    return value, tuple(path)


def _as_text(piece: str | Tag, path: KeyPath, variables: Variables, findings: Findings) -> str:
    if isinstance(piece, str):
        return piece
    value = _look_up(piece, path, variables, findings)
    if type(value) is str:
        return value
    if type(value) in (int, float):
        variable = variables[piece.name]
        if findings.unusual and variable.path is not None:
            message = f"this is read as the number {value!r}, so the way it is written is lost"
            at = (*variable.path, *_follow(variable.value, piece.steps)[1])
            findings.add("lost-spelling", at, message, QUOTE_IT)
        return dumps(value)
    what = f"`{'.'.join((piece.name, *piece.steps))}` is {describe_kind(value)}"
    message = f"{what}, and only text and numbers can be inserted into text"
    hint = f"write {piece.source} alone, as the whole value, or name a part of it"
    findings.add("wrong-type", path, message, hint, within=piece.source)
    return ""


def _look_up(tag: Tag, path: KeyPath, variables: Variables, findings: Findings) -> Any:
    """The value of a tag. One that has none is reported, and counts as an empty text."""
    literal = f"write {{{{{tag.source}}}}} if it is meant literally"
    variable = variables.get(tag.name)
    if tag.name == "env" and tag.steps:
        message = f"{tag.source} would read the environment, which a suite can't"
        hint = f"give the value a name in `vars`; {literal}"
    elif variable is None:
        message = f"there is no variable `{tag.name}` here{_say_row(variables.values())}"
        near = did_you_mean(tag.name, variables)
        hint = f"{near} W{literal[1:]}" if near else f"define it in `vars`; {literal}"
    else:
        value, way = _follow(variable.value, tag.steps)
        if len(way) == len(tag.steps):
            return value
        step = tag.steps[len(way)]
        above = ".".join((tag.name, *tag.steps[: len(way)]))
        message = f"`{above}` is {describe_kind(value)}, and has no `{step}`"
        near = did_you_mean(step, value) if type(value) is dict else None
        hint = near or "the items of a list are counted from 0"
    findings.add("unknown-variable", path, message, hint, within=tag.source)
    return ""


def _say_row(variables: Collection[Variable]) -> str:
    return next((f", {each.origin}" for each in variables if each.origin), "")


# Tags that stay as they are, where other tools would replace them


def _tagged_fields(raw: dict[str, Any], path: KeyPath) -> dict[str, Tagged]:
    """The fields of a case in which tags are replaced."""
    tagged = {
        name: Tagged(value, (*path, name)) for name, value in raw.items() if name in _RENDERED
    }
    match raw.get(EXECUTION):
        case {"evaluators": graders}:
            tagged[EXECUTION] = Tagged(graders, (*path, EXECUTION, "evaluators"))
    return tagged


def _warn_of_tags(tagged: Tagged, why: str, told: set[str], findings: Findings) -> None:
    """Warn of tags that no value replaces. The `template` of a judge has tags of its own."""
    for at, tag in tagged.tags():
        if tag.name not in told and at[-1] != "template":
            told.add(tag.name)
            message = f"{tag.source} stays as it is: {why}"
            hint = f"give it a value, `vars: {{{tag.name}: …}}`"
            hint += "; if the braces are meant, say `rendered: true`"
            findings.add("no-variables", at, message, hint, within=tag.source)


# Declarations of variables


class _ReportedError(Exception):
    """No more cases can be made, for a reason that is reported."""


class Declared:
    """The variables that a suite or a case declares, and its fields that have tags."""

    def __init__(
        self, values: dict[str, Any], path: KeyPath, tagged: dict[str, Tagged], findings: Findings
    ) -> None:
        self.path = path
        self.findings = findings
        self.tagged = tagged
        self.names: dict[str, Variable] = {}
        """Variables with one value."""
        self.matrix: dict[str, list[Variable]] = {}
        """The values of each name of a matrix."""
        self.rows: str | None = values.get("rows")
        """The file of a table."""
        self.columns: set[str] = set()
        """The columns of the table, as far as it has been read."""
        before = findings.errors
        for field in VARYING:
            given = values.get(field)
            if given is not None:
                findings.accepts(_FIELDS[field].takes, given, (*path, field))
            for name, value in given.items() if type(given) is dict else ():
                self._declare(field, name, value)
        self.is_valid = findings.errors == before

    def _declare(self, field: str, name: str, value: Any) -> None:
        findings, at = self.findings, (*self.path, field, name)
        if re.fullmatch(_NAME, name) is None:
            message = f"`{name}` can't be the name of a variable"
            hint = "a name has letters, digits, `_` and `-`, and starts with a letter or `_`"
            findings.add("bad-value", at, message, hint, "key")
        elif name in self.names:
            message = f"the variable `{name}` has a value already, in `{self.names[name].field}`"
            findings.add("conflicting-fields", at, message, "keep one of the two", "key")
        elif field == "vars":
            warn_of_file(value, at, findings, name)
            self.names[name] = Variable(value, at, value)
        elif field == "matrix":
            self.matrix[name] = _read_several(value, at, findings)
        elif type(value) is str and value:
            text = _UNREAD if findings.files is None else findings.files.text_of(value)
            if isinstance(text, Finding):
                findings.add_finding(text._replace(path=at))
            # Results show the name of the file, since the text may be long.
            self.names[name] = Variable(text, None, value, field)

    def used(self) -> set[str]:
        """The names in its tags."""
        return {tag.name for each in self.tagged.values() for _, tag in each.tags()}

    def report(self, code: str, name: str, message: str, hint: str) -> None:
        """Report a problem at the name of a variable."""
        field = "matrix" if name in self.matrix else self.names[name].field
        self.findings.add(code, (*self.path, field, name), message, hint, "key")

    def stop(self, field: str, why: Finding) -> NoReturn:
        self.findings.add_once(why.code, (*self.path, field), why.message, why.hint)
        raise _ReportedError

    def warn_of_unused(self, used: set[str]) -> None:
        for name in (*self.names, *self.matrix):
            if name not in used:
                hint = f"write {{{{{name}}}}} where its value belongs, or remove it"
                self.report("unused-variable", name, f"nothing uses the variable `{name}`", hint)
        if self.columns and used.isdisjoint(self.columns):
            names = ", ".join(f"`{name}`" for name in sorted(self.columns)[:8])
            message = f"nothing uses a column of `{self.rows}`"
            hint = f"the columns are {names}; write {{{{name}}}} where a value belongs"
            self.findings.add("unused-variable", (*self.path, "rows"), message, hint)


def _read_several(values: Any, path: KeyPath, findings: Findings) -> list[Variable]:
    """The values of one name of a matrix: a list, or a mapping of labels to values."""
    name, found = str(path[-1]), dict[str, Variable]()
    labels, taken = _Labels(), set[str]()
    pairs = values if type(values) is dict else {}
    if type(values) is list:
        pairs = dict(enumerate(values))
    for key, value in pairs.items():
        at, shown = (*path, key), value if type(values) is list else key
        warn_of_file(value, at, findings, name)
        same = canonical_text(shown)
        if same in found:
            message = f"this value of `{name}` appears twice"
            findings.add("bad-value", at, message, "keep each value once")
            continue
        text = shown if type(shown) is str else dumps(shown)
        label = labels.of(text, 20)
        if label in taken:  # the text "1" and the number 1
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


# Findings in rendered texts


@contextmanager
def _reporting_once(
    known: set[object], findings: Findings, tagged: Collection[Tagged], variables: Variables
) -> Iterator[None]:
    """Keep of the findings inside those that are not known yet, each at the place of its cause: one
    text makes many cases with the same mistake. The count of errors stays."""
    start, files = len(findings.found), len(findings.references)
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
    named = {(each.name, each.path): each for each in findings.references[files:]}
    findings.references[files:] = [each for key, each in named.items() if key not in known]
    known.update(named)


def _place(finding: Finding, tagged: Collection[Tagged], variables: Variables) -> Finding:
    """The finding at the value of the variable that is its cause, or with the row of that value."""
    at = finding.path
    if finding.code == "duplicate-id":
        return finding._replace(message=finding.message + _say_row(variables.values()))
    field = next((each for each in tagged if at[: len(each.path)] == each.path), None)
    if field is None or finding.within is not None:
        return finding
    text, way = _follow(field.value, at[len(field.path) :])
    path = field.path + way
    is_text = type(text) is str and "{{" in text
    # What is wrong with one option may be the fault of another beside it.
    tags = _tags_in(text) if is_text else [tag for _, tag in field.tags()]
    message = finding.message + _say_row([variables[tag.name] for tag in tags])
    if not is_text or (finding.at == "key" and path == at):
        return finding._replace(message=message)
    match _split(text):
        case [Tag(name, steps)] if (source := variables[name].path) is not None:
            fix = finding.fix if path != at else None
            part = _follow(variables[name].value, steps)[1]
            return finding._replace(path=(*source, *part, *at[len(path) :]), fix=fix)
    hint = None if finding.hint == QUOTE_IT else finding.hint
    return finding._replace(path=path, at="value", message=message, hint=hint, fix=None)


# Suites and cases


class SuiteVariables(Declared):
    """The variables of a suite. Its `findings` collect the problems in fields of the suite."""

    def __init__(self, named: Named, tagged: dict[str, Tagged], findings: Findings) -> None:
        super().__init__(named.values, named.path, tagged, findings)
        self.raw = {name: named.values[name] for name in _OF_SUITE if name in named.values}
        self.declares = not _VARYING.isdisjoint(named.values)
        self.used_in_cases: set[str] | None = None
        """The variables that cases use; None before the first case that is rendered."""
        self._named = named
        self._known: set[object] = set()
        self._warned: set[str] = set()

    def complete(self, shared: Shared, variables: Variables | None) -> Shared:
        """What the suite gives to a case with these variables; None leaves tags as they are."""
        findings, tagged = self.findings, self.tagged
        rendered = () if variables is None else tagged.values()
        with _reporting_once(self._known, findings, rendered, variables or {}):
            before, found = findings.errors, dict[str, Any]()
            values = {
                name: each.value if variables is None else _render(*each, variables, findings)
                for name, each in tagged.items()
            }
            if findings.errors == before:
                found = read_fields(Named(values, self._named.path, self._named.where), findings)
            space = {"workspace": found["workspace"]} if "workspace" in found else {}
            return shared._replace(
                messages=found.get("input", shared.messages),
                graders=found.get("graders", shared.graders),
                defaults={**shared.defaults, **space},
                lacks_graders=shared.lacks_graders or findings.errors > before,
            )

    def warn_of_tags(self) -> None:
        """Warn of tags that stay as they are in a case without variables."""
        for each in self.tagged.values():
            _warn_of_tags(each, "there are cases without `vars`", self._warned, self.findings)

    def finish(self) -> None:
        """Warn of variables that no case has used, once all cases are known."""
        if self.used_in_cases is not None:
            self.findings.case = None
            self.warn_of_unused(self.used_in_cases)


def read_suite_variables(named: Named, findings: Findings) -> SuiteVariables | None:
    """The variables of a suite; None if it has neither variables nor tags in its fields."""
    tagged: dict[str, Tagged] = {
        name: Tagged(named.values[name], named.at(name))
        for name in _TAGGED_OF_SUITE
        if name in named.values and any(_find_braces(named.values[name], ()))
    }
    if not tagged and _VARYING.isdisjoint(named.values):
        return None
    return SuiteVariables(named, tagged, findings)


def resolve_line(
    raw: Any,
    findings: Findings,
    ids: Ids,
    shared: Shared,
    path: KeyPath = (),
    vocabulary: Vocabulary = CASE,
) -> Iterable[Case | None]:
    """The cases that one written case stands for: one, unless it has a matrix or rows. None, with
    findings, for each that has errors."""
    suite, is_rendered = shared.variables, type(raw) is not dict
    if suite is not None or not (is_rendered or _VARYING.isdisjoint(raw)):
        given = [] if is_rendered else [name for name in VARYING if raw.get(name) is not None]
        is_rendered = is_rendered or raw.get("rendered") is True
        if not is_rendered and (given or (suite is not None and suite.declares)):
            return _VariedCase(raw, findings, ids, shared, path, vocabulary).cases()
        for name in given:
            if name != "vars":
                message = f"`{name}` can't be used in a case that is `rendered`"
                at = (*path, name)
                findings.add("conflicting-fields", at, message, "remove one of the two", "key")
        if suite is not None:
            shared = suite.complete(shared, None)
            if not is_rendered:
                suite.warn_of_tags()
    case = resolve_case(raw, path, findings, ids, shared, vocabulary)
    if findings.unusual and type(raw) is dict and raw.get("rendered") is not True:
        told: set[str] = set()
        for each in _tagged_fields(raw, path).values():
            _warn_of_tags(each, "this case has no `vars`", told, findings)
    return (case,)


class _VariedCase:
    """A case as it is written, and the cases that its variables make of it."""

    def __init__(
        self, raw: dict[str, Any], findings: Findings, ids: Ids, shared: Shared, path: KeyPath,
        vocabulary: Vocabulary,
    ) -> None:  # fmt: skip
        self.findings = findings
        self.ids = ids
        self.shared = shared
        self.path = path
        self.vocabulary = vocabulary
        self.suite: SuiteVariables | None = shared.variables
        self.raw = {name: value for name, value in raw.items() if name not in VARYING}
        findings.case = raw["id"] if type(raw.get("id")) is str else None
        self.own = Declared(raw, path, _tagged_fields(self.raw, path), findings)
        self.outer: Declared = self.suite or self.own
        self.base_id = ""
        self.reported: set[object] = set()
        self.row_labels, self.copies = _Labels(), Counter[str]()

    def cases(self) -> Iterator[Case | None]:
        if not (self.own.is_valid and self.outer.is_valid):
            yield None
            return
        used = self.own.used() | self.outer.used()
        if self.suite is not None:
            self.suite.used_in_cases = used | (self.suite.used_in_cases or set())
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
        """The variables of each case, and what its id says about them. A name of the case hides
        that of the suite."""
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
            of_case = {**own.names, **columns} if own.rows is not None else own.names
            names = {**outer.names, **columns, **of_case}
            matrix = {name: each for name, each in outer.matrix.items() if name not in of_case}
            matrix |= own.matrix
            self._check_number(matrix)
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
        files = self.findings.files
        rows = _UNREAD if files is None else files.rows_of(level.rows)
        if isinstance(rows, Finding):
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
            if files is not None and files.has_errors_in(level.rows):
                raise _ReportedError
            message = f"`{level.rows}` has no rows, so there is no case"
            level.stop("rows", Finding((), message, code="no-cases"))

    def _check_number(self, matrix: Mapping[str, list[Variable]]) -> None:
        number = prod(map(len, matrix.values()))
        self.findings.multiplied += number - 1
        message = f"the matrices of this file make more than {_MOST_OF_ALL:,} cases"
        if number > _MOST_OF_ONE:
            message = f"this matrix makes {number:,} cases of one; the most is {_MOST_OF_ONE:,}"
        if number > _MOST_OF_ONE or self.findings.multiplied >= _MOST_OF_ALL:
            hint = "leave values out, or split them into several suites"
            level = self.own if self.own.matrix else self.outer
            level.stop("matrix", Finding((), message, hint, code="too-many-cases"))

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
        findings, raw, suite = self.findings, dict(self.raw), self.suite
        if labels:
            self.base_id = self.base_id or _make_base_id(raw, self.ids)
            raw["id"] = f"{self.base_id}:{','.join(labels)}" if self.base_id else raw.get("id")
        findings.case = raw["id"] if type(raw.get("id")) is str else None
        with _reporting_once(self.reported, findings, self.own.tagged.values(), variables):
            before = findings.errors
            for name, each in self.own.tagged.items():
                value = _render(*each, variables, findings)
                raw[name] = {**raw[name], "evaluators": value} if name == EXECUTION else value
            raw["vars"] = {name: each.shown for name, each in variables.items()}
            raw["rendered"] = True
            if findings.errors > before:
                return None
            shared, is_right = self.shared, True
            if suite is not None:
                suite.findings.case = findings.case
                before = suite.findings.errors
                shared = suite.complete(shared, variables)
                is_right = suite.findings.errors == before
            case = resolve_case(raw, self.path, findings, self.ids, shared, self.vocabulary)
            return case if is_right else None

    def _warn_of_unrendered(self, known: set[str]) -> None:
        """Warn of known names where no value takes their place: in other fields, in names of
        fields, and before a filter."""
        hint = "values take their place in what is asked, expected and graded, without filters"
        for path, at, text in _find_braces(self.raw, self.path):
            field = str(path[len(self.path)])
            is_rendered = at == "value" and field in self.own.tagged
            found = [(tag.name, tag.source) for tag in _tags_in(text)]
            if is_rendered:
                found = [(each[1], each[0].strip()) for each in _FILTERED.finditer(text)]
            for name, source in found if not field.startswith(PRIVATE_PREFIX) else ():
                if name in known:
                    message = f"{source} stays as it is"
                    self.findings.add("not-rendered", path, message, hint, at, within=source)


def _make_base_id(raw: dict[str, Any], ids: Ids) -> str:
    """The id of a case as it is written, else one made of its input, tags and all; nothing if what
    is written is no id."""
    id = raw.get("id")
    if id is not None:
        return id if type(id) is str and id.strip() else ""
    unheard = Findings()
    messages = known_by(read_fields(settle_names(raw, (), CASE, unheard), unheard))
    return ids.make(messages) if messages else ""
