"""Variables: `{{name}}` in texts, and their values in `vars`, `var_files`, `matrix` and `rows`.

A case is expanded to one set of values for each row and each combination of a matrix. Each set is
rendered into its texts, and the result is resolved like any other case. There are no expressions
and no filters. Values are put in once and never searched for tags.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import chain, product
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
    PRIVATE_PREFIX,
    Named,
    Vocabulary,
    WrittenSuite,
    all_names,
    settle_names,
)
from evalcase.format.tables import TableRow
from evalcase.types.case import Case
from evalcase.types.options import is_index
from evalcase.types.problem import QUOTE_IT, Finding, KeyPath, did_you_mean
from evalcase.types.read_options import fields_of
from evalcase.types.value import canonical_text, describe_kind

_VARYING = ("vars", "var_files", "matrix", "rows")
"""The fields that give variables. Tags are replaced only in cases that have some."""
_GIVING = frozenset(_VARYING)
_TAGGED = (
    "input", "expected_output", "criteria", "rubrics", "graders", "turns", "user", "workspace",
)  # fmt: skip
_RENDERED = {*all_names(*_TAGGED)}
"""The fields of a case in which values replace tags, under all their names."""
_TAGGED_OF_SUITE = ("input", "graders", "workspace")
_FIELDS = fields_of(WrittenSuite)
_UNREAD = Finding((), "files can't be read here", code="unreadable-file")
_MOST_OF_ONE = 100_000
"""How many cases a matrix may make of one."""
_MOST_OF_ALL = 1_000_000
"""How many cases all matrices of a file may make."""

_NAME = r"[^\W\d][\w-]*"
_TAG = rf"[ \t]*{_NAME}(?:\.[\w-]+)*[ \t]*"
_TAGS = re.compile(rf"\{{\{{(\{{\{{{_TAG}\}}\}})\}}\}}|\{{\{{({_TAG})\}}\}}")
"""A literal in four braces, which loses two of them, or a tag."""
_FILTERED = re.compile(rf"\{{\{{[ \t]*({_NAME})(?:\.[\w-]+)*[ \t]*[|(\[]")
"""The start of a filter, a call or an index, as languages of templates have them."""


# Texts with tags


class Variable(NamedTuple):
    value: Any
    shown: Any
    """The value in results: itself, its label, or the name of its file."""
    path: KeyPath | None = None
    """Where the value is written in the suite; None if it comes from another file."""
    label: str = ""
    """The value in ids, if the variable is one of a matrix."""


Variables = Mapping[str, Variable]


class Tagged(NamedTuple):
    """A field with tags, as it is written."""

    name: str
    value: Any
    path: KeyPath

    def tags(self) -> Iterator[tuple[KeyPath, str, str]]:
        """The path of each tag, the name of its variable, and the tag with its braces."""
        for path, text in _find_braces(self.value, self.path):
            for name, source in _tags_in(text):
                yield path, name, source


def _find_braces(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """The texts with braces."""
    if type(value) is str and "{{" in value:
        yield path, value
    elif type(value) in (list, dict):
        for step, item in value.items() if type(value) is dict else enumerate(value):
            yield from _find_braces(item, (*path, step))


def _tags_in(text: str) -> list[tuple[str, str]]:
    """The names in the tags of a text, and the tags."""
    found = [each for each in _TAGS.finditer(text) if each[2]]
    return [(each[2].strip().partition(".")[0], each[0]) for each in found]


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
    whole = _TAGS.fullmatch(value)
    if whole is not None and whole[2]:
        return _look_up(whole, path, variables, findings)
    return _TAGS.sub(lambda each: each[1] or _as_text(each, path, variables, findings), value)


def _as_text(tag: re.Match[str], path: KeyPath, variables: Variables, findings: Findings) -> str:
    value = _look_up(tag, path, variables, findings)
    if type(value) is str:
        return value
    name, *steps = tag[2].strip().split(".")
    if type(value) in (int, float):
        variable = variables[name]
        if findings.unusual and variable.path is not None:
            message = f"this is read as the number {value!r}, so the way it is written is lost"
            at = (*variable.path, *_follow(variable.value, steps)[1])
            findings.add("lost-spelling", at, message, QUOTE_IT)
        return dumps(value)
    what = f"`{tag[2].strip()}` is {describe_kind(value)}"
    message = f"{what}, and only text and numbers can be inserted into text"
    hint = f"write {tag[0]} alone, as the whole value, or name a part of it"
    findings.add("wrong-type", path, message, hint, within=tag[0])
    return ""


def _look_up(tag: re.Match[str], path: KeyPath, variables: Variables, findings: Findings) -> Any:
    """The value of a tag. One that has none is reported, and counts as an empty text."""
    name, *steps = tag[2].strip().split(".")
    variable = variables.get(name)
    literal = f"write {{{{{tag[0]}}}}} if it is meant literally"
    if name == "env" and steps:
        message = f"{tag[0]} would read the environment, which a suite can't"
        hint = f"give the value a name in `vars`; {literal}"
    elif variable is None:
        message = f"there is no variable `{name}` here"
        near = did_you_mean(name, variables)
        hint = f"{near} W{literal[1:]}" if near else f"define it in `vars`; {literal}"
    else:
        value, way = _follow(variable.value, steps)
        if len(way) == len(steps):
            return value
        step = steps[len(way)]
        message = f"`{'.'.join((name, *steps[: len(way)]))}` is {describe_kind(value)}"
        message += f", and has no `{step}`"
        near = did_you_mean(step, value) if type(value) is dict else None
        hint = near or "the items of a list are counted from 0"
    findings.add("unknown-variable", path, message, hint, within=tag[0])
    return ""


def _follow(value: Any, steps: Iterable[str]) -> tuple[Any, KeyPath]:
    """The part of a value that steps lead to, and its path, which is shorter than the steps if one
    of them leads nowhere."""
    path: KeyPath = ()
    for step in steps:
        if type(value) is dict and step in value:
            key: str | int = step
        elif type(value) is list and is_index(step) and int(step) < len(value):
            key = int(step)
        else:
            break
        value = value[key]
        path = (*path, key)
    return value, path


def _warn_of_tags(tagged: Iterable[Tagged], why: str, told: set[str], findings: Findings) -> None:
    """Warn of tags that no value replaces. The `template` of a judge has tags of its own."""
    for at, name, source in chain.from_iterable(each.tags() for each in tagged):
        if name not in told and at[-1] != "template":
            told.add(name)
            message = f"{source} stays as it is: {why}"
            hint = f"give it a value, `vars: {{{name}: …}}`"
            hint += "; if the braces are meant, say `rendered: true`"
            findings.add("no-variables", at, message, hint, within=source)


@contextmanager
def _reporting_once(
    known: set[object], findings: Findings, tagged: Iterable[Tagged], row: str = ""
) -> Iterator[None]:
    """Keep of the findings inside those that are not known yet: one text makes many cases with the
    same mistake. Those in fields with tags name the row, and have no fix, since the text that is at
    fault stands elsewhere. The count of errors stays."""
    first, first_file = len(findings.found), len(findings.references)
    yield
    found, files = findings.found[first:], findings.references[first_file:]
    del findings.found[first:], findings.references[first_file:]
    for each in found:
        key = each.code, each.path, each.at, each.within or each.message
        is_tagged = any(each.path[: len(field.path)] == field.path for field in tagged)
        # A variable that is the address of a file has its warning already.
        if key in known or (is_tagged and each.code == "file-as-text"):
            continue
        known.add(key)
        has_row = is_tagged or each.code == "duplicate-id"
        placed = each._replace(message=each.message + row) if has_row else each
        if is_tagged:
            hint = None if each.hint == QUOTE_IT else each.hint
            placed = placed._replace(hint=hint, fix=None)
        findings.found.append(placed)
    for file in files:
        if (file.name, file.path) not in known:
            known.add((file.name, file.path))
            findings.references.append(file)


# Declarations of variables


class _ReportedError(Exception):
    """No more cases can be made, for a reason that is reported."""


class Declared:
    """The variables that a suite or a case declares, and its fields that have tags."""

    def __init__(
        self, values: dict[str, Any], path: KeyPath, tagged: list[Tagged], findings: Findings
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
        self._fields: dict[str, str] = {}
        """The field that each name is written in."""
        before = findings.errors
        for field in _VARYING:
            given = values.get(field)
            if given is not None:
                findings.accepts(_FIELDS[field], given, (*path, field))
            for name, value in given.items() if type(given) is dict else ():
                self._declare(field, name, value)
        self.is_valid = findings.errors == before

    def _declare(self, field: str, name: str, value: Any) -> None:
        findings, at = self.findings, (*self.path, field, name)
        if re.fullmatch(_NAME, name) is None:
            message = f"`{name}` can't be the name of a variable"
            hint = "a name has letters, digits, `_` and `-`, and starts with a letter or `_`"
            findings.add("bad-value", at, message, hint, "key")
            return
        first = self._fields.setdefault(name, field)
        if first != field:
            message = f"the variable `{name}` has a value already, in `{first}`"
            findings.add("conflicting-fields", at, message, "keep one of the two", "key")
        elif field == "vars":
            warn_of_file(value, at, findings, name)
            self.names[name] = Variable(value, value, at)
        elif field == "matrix":
            self.matrix[name] = _read_several(value, at, findings)
        elif type(value) is str and value:
            text = _UNREAD if findings.files is None else findings.files.text_of(value)
            if isinstance(text, Finding):
                findings.add_finding(text._replace(path=at))
            # Results show the name of the file, since the text may be long.
            self.names[name] = Variable(text, value)

    def used(self) -> set[str]:
        """The names in its tags."""
        return {name for each in self.tagged for _, name, _ in each.tags()}

    def report(self, code: str, name: str, message: str, hint: str) -> None:
        """Report a problem at the name of a variable."""
        self.findings.add(code, (*self.path, self._fields[name], name), message, hint, "key")

    def stop(self, field: str, why: Finding) -> NoReturn:
        self.findings.add_once(why.code, (*self.path, field), why.message, why.hint)
        raise _ReportedError

    def warn_of_unused(self, used: set[str]) -> None:
        for name in (*self.names, *self.matrix):
            if name not in used:
                hint = f"write {{{{{name}}}}} where its value belongs, or remove it"
                self.report("unused-variable", name, f"nothing uses the variable `{name}`", hint)
        if self.columns and used.isdisjoint(self.columns):
            message = f"nothing uses a column of `{self.rows}`"
            hint = f"write {{{{{min(self.columns)}}}}} where the value of that column belongs"
            self.findings.add("unused-variable", (*self.path, "rows"), message, hint)


def _read_several(values: Any, path: KeyPath, findings: Findings) -> list[Variable]:
    """The values of one name of a matrix: a list, or a mapping of labels to values."""
    name, found, copies = str(path[-1]), dict[str, Variable](), Counter[str]()
    is_list = type(values) is list
    pairs = dict(enumerate(values)) if is_list else values if type(values) is dict else {}
    for key, value in pairs.items():
        at, shown = (*path, key), value if is_list else key
        warn_of_file(value, at, findings, name)
        same = canonical_text(shown)
        if same in found:
            message = f"this value of `{name}` appears twice"
            findings.add("bad-value", at, message, "keep each value once")
            continue
        text = shown if type(shown) is str else dumps(shown)
        label = _number(_label(text, 20), copies)
        found[same] = Variable(value, shown, at, label)
    return list(found.values())


def _label(text: str, most: int, digits: int = 6) -> str:
    """A value or a row in an id: a short plain text as it is, else digits of a hash."""
    # Other characters mean something to a shell, or in a glob.
    if len(text) <= most and re.fullmatch(r"[\w.-]+", text):
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def _number(label: str, copies: Counter[str]) -> str:
    """The label, with a number if another is the same."""
    copies[label] += 1
    return label if copies[label] == 1 else f"{label}-{copies[label]}"


# Suites and cases


class SuiteVariables(Declared):
    """The variables of a suite. Its `findings` collect the problems in fields of the suite."""

    def __init__(self, named: Named, tagged: list[Tagged], findings: Findings) -> None:
        super().__init__(named.values, named.path, tagged, findings)
        self.declares = not _GIVING.isdisjoint(named.values)
        self.used_in_cases: set[str] | None = None
        """The variables that cases use; None before the first case that is rendered."""
        self._named = named
        self._known: set[object] = set()
        self._warned: set[str] = set()

    def complete(self, shared: Shared, variables: Variables | None, row: str = "") -> Shared:
        """What the suite gives to a case with these variables; None leaves tags as they are."""
        findings = self.findings
        rendered = () if variables is None else self.tagged
        with _reporting_once(self._known, findings, rendered, row):
            before, found = findings.errors, dict[str, Any]()
            values = {
                name: value if variables is None else _render(value, path, variables, findings)
                for name, value, path in self.tagged
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
        _warn_of_tags(self.tagged, "there are cases without `vars`", self._warned, self.findings)

    def finish(self) -> None:
        """Warn of variables that no case has used, once all cases are known."""
        if self.used_in_cases is not None:
            self.findings.case = None
            self.warn_of_unused(self.used_in_cases)


def read_suite_variables(named: Named, findings: Findings) -> SuiteVariables | None:
    """The variables of a suite; None if it has neither variables nor tags in its fields."""
    fields = [name for name in _TAGGED_OF_SUITE if name in named.values]
    tagged = [Tagged(name, named.values[name], named.at(name)) for name in fields]
    tagged = [each for each in tagged if any(_find_braces(each.value, ()))]
    if not tagged and _GIVING.isdisjoint(named.values):
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
    suite = shared.variables
    if type(raw) is dict and (suite is not None or not _GIVING.isdisjoint(raw)):
        given = [name for name in _VARYING if raw.get(name) is not None]
        is_rendered = raw.get("rendered") is True
        if not is_rendered and (given or (suite is not None and suite.declares)):
            return _resolve_varied(raw, findings, ids, shared, path, vocabulary)
        for name in given:
            if name != "vars":
                message = f"`{name}` can't be used in a case that is `rendered`"
                at = (*path, name)
                findings.add("conflicting-fields", at, message, "remove one of the two", "key")
        if suite is not None and not is_rendered:
            suite.warn_of_tags()
    if suite is not None:
        shared = suite.complete(shared, None)
    case = resolve_case(raw, path, findings, ids, shared, vocabulary)
    if findings.unusual and type(raw) is dict and raw.get("rendered") is not True:
        _warn_of_tags(_tagged_fields(raw, path), "this case has no `vars`", set(), findings)
    return (case,)


def _tagged_fields(raw: dict[str, Any], path: KeyPath) -> list[Tagged]:
    """The fields of a case in which tags are replaced."""
    found = [Tagged(name, raw[name], (*path, name)) for name in raw if name in _RENDERED]
    return [each for each in found if any(_find_braces(each.value, ()))]


def _resolve_varied(
    raw: dict[str, Any], findings: Findings, ids: Ids, shared: Shared, path: KeyPath,
    vocabulary: Vocabulary,
) -> Iterator[Case | None]:  # fmt: skip
    """The cases that variables make of a written case."""
    suite = shared.variables
    written = {name: value for name, value in raw.items() if name not in _VARYING}
    findings.case = raw["id"] if type(raw.get("id")) is str else None
    own = Declared(raw, path, _tagged_fields(written, path), findings)
    outer: Declared = suite or own
    if not (own.is_valid and outer.is_valid):
        yield None
        return
    used = own.used() | outer.used()
    if suite is not None:
        suite.used_in_cases = used | (suite.used_in_cases or set())
    base_id = raw.get("id")
    known, reported = set[str](), set[object]()
    try:
        for variables, labels, row in _variations(own, outer):
            known.update(variables)
            case = {**written, "rendered": True}
            case["vars"] = {name: each.shown for name, each in variables.items()}
            if labels and base_id is None:
                unheard = Findings()
                about = read_fields(settle_names(written, (), CASE, unheard), unheard)
                base_id = ids.make(known_by(about)) if known_by(about) else ""
            if labels and type(base_id) is str and base_id.strip():
                case["id"] = f"{base_id}:{','.join(labels)}"
            findings.case = case["id"] if type(case.get("id")) is str else None
            with _reporting_once(reported, findings, own.tagged, row):
                before, made = findings.errors, None
                for name, value, at in own.tagged:
                    case[name] = _render(value, at, variables, findings)
                if findings.errors == before:
                    completed = shared
                    if suite is not None:
                        suite.findings.case = findings.case
                        completed = suite.complete(shared, variables, row)
                    made = resolve_case(case, path, findings, ids, completed, vocabulary)
                    made = None if completed.lacks_graders else made
            yield made
        own.warn_of_unused(used)
    except _ReportedError:
        findings.errors += 1
        yield None
    _warn_of_unrendered(written, path, known, findings)


def _variations(
    own: Declared, outer: Declared
) -> Iterator[tuple[dict[str, Variable], list[str], str]]:
    """The variables of each case, what its id says about them, and words about its row. A name of
    the case hides that of the suite."""
    copies, findings = Counter[str](), own.findings
    for row in _rows_of(own if own.rows is not None else outer, findings):
        columns, labels, place = dict[str, Variable](), list[str](), ""
        if row is not None:
            columns = {name: Variable(value, value) for name, value in row.values.items()}
            labels = [_label_row(row.values, copies)]
            place = f", for the row at {row.place}"
        of_case = {**own.names, **columns} if own.rows is not None else own.names
        names = {**outer.names, **columns, **of_case}
        matrix = {name: each for name, each in outer.matrix.items() if name not in of_case}
        matrix |= own.matrix
        number = prod(map(len, matrix.values()))
        findings.multiplied += number - 1
        if number > _MOST_OF_ONE or findings.multiplied >= _MOST_OF_ALL:
            message = f"the matrices of this file make more than {_MOST_OF_ALL:,} cases"
            if number > _MOST_OF_ONE:
                message = f"this matrix makes {number:,} cases of one; "
                message += f"the most is {_MOST_OF_ONE:,}"
            hint = "leave values out, or split them into several suites"
            level = own if own.matrix else outer
            level.stop("matrix", Finding((), message, hint, code="too-many-cases"))
        for chosen in product(*matrix.values()):
            several = dict(zip(matrix, chosen, strict=True))
            of_matrix = [f"{name}={each.label}" for name, each in several.items()]
            yield {**names, **several}, [*labels, *of_matrix], place


def _rows_of(level: Declared, findings: Findings) -> Iterator[TableRow | None]:
    """The rows of the table; one None if there is no table."""
    if level.rows is None:
        yield None
        return
    files = findings.files
    rows = _UNREAD if files is None else files.rows_of(level.rows)
    if isinstance(rows, Finding):
        level.stop("rows", rows)
    row = None
    for row in rows:
        new = row.values.keys() - level.columns
        level.columns |= new
        taken = sorted(new & {*level.names, *level.matrix})
        for name in taken:
            message = f"the variable `{name}` is a column of `{level.rows}`, too"
            level.report("conflicting-fields", name, message, "give it another name")
        if taken:
            raise _ReportedError
        yield row
    if row is None:
        if files is not None and files.problems:  # they say why
            raise _ReportedError
        message = f"`{level.rows}` has no rows, so there is no case"
        level.stop("rows", Finding((), message, code="no-cases"))


def _label_row(row: dict[str, Any], copies: Counter[str]) -> str:
    """The `id` of a row, else digits of what it holds; copies of a row are numbered."""
    id = row.get("id")
    if type(id) is int or (type(id) is str and id.strip()):
        return _label(str(id).strip(), 64, 12)
    return _number(_label(dumps(row, sort_keys=True), 0), copies)


def _warn_of_unrendered(
    raw: dict[str, Any], path: KeyPath, known: set[str], findings: Findings
) -> None:
    """Warn of known names where no value takes their place: in other fields, and before a
    filter."""
    hint = "values take their place in what is asked, expected and graded, without filters"
    for at, text in _find_braces(raw, path):
        field, found = str(at[len(path)]), _tags_in(text)
        if field in _RENDERED:
            found = [(each[1], each[0].strip()) for each in _FILTERED.finditer(text)]
        for name, source in found if not field.startswith(PRIVATE_PREFIX) else ():
            if name in known:
                message = f"{source} stays as it is"
                findings.add("not-rendered", at, message, hint, within=source)
