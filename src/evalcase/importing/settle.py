"""A suite in the making to one that `check` passes: what our format refuses is left out, and told
where it comes from. So no importer can write a file that doesn't load, whatever it was given; and
texts that we would warn of are written in the way that says they are meant."""

from __future__ import annotations

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import Findings
from evalcase.format.fields import GRADED
from evalcase.format.suite import resolve_suite
from evalcase.format.tables import SuiteFiles
from evalcase.format.writer import keep_literal
from evalcase.importing.draft import CaseDraft, SuiteDraft
from evalcase.types.problem import CODES, Finding
from evalcase.types.value import JSON, copy_value

_MOST_ROUNDS = 10
"""One fault may hide another, but no case has so many that lie behind each other."""


def settle_draft(suite: SuiteDraft) -> None:
    """Leave out what `check` would call an error."""
    _number_ids(suite)
    for _ in range(_MOST_ROUNDS):
        found = _find_faults(suite)
        errors = [each for each in found if CODES[each.code].severity == "error"]
        if not errors:
            _keep_literal(suite.kept, found)
            _note_ungraded(suite, found)
            return
        kept = suite.kept
        seen: set[tuple[str | int, ...]] = set()
        for error in reversed(errors):  # from the end, so that places before it stay true
            _leave_out(suite, kept, error, seen)
    for case in suite.kept:
        case.drop(case.origin, "this case, which can't be put into our format")


def _find_faults(suite: SuiteDraft) -> list[Finding]:
    findings = Findings(Catalogue(needs_graders=True), unusual=True)
    resolve_suite(copy_value(suite.value()), "imported", findings)
    SuiteFiles(suite.folder).check(findings)
    return [each for each in findings.found if each.path]


def _keep_literal(kept: list[CaseDraft], found: list[Finding]) -> None:
    """Say of texts that look like tags, or like addresses of files, that they are meant so."""
    for each in found:
        if each.path[0] == "cases" and len(each.path) > 2:
            keep_literal(kept[int(each.path[1])].fields, each, str(each.path[2]))


def _note_ungraded(suite: SuiteDraft, found: list[Finding]) -> None:
    """Which cases nothing is left of, or was there, that could be graded."""
    kept = suite.kept
    for each in found:
        if each.code == "nothing-to-grade" and each.path[0] == "cases" and len(each.path) == 2:
            fields = kept[int(each.path[1])].fields
            if all(name not in fields for name in GRADED):
                suite.ungraded.append(str(fields.get("id", each.case)))


def _leave_out(
    suite: SuiteDraft, kept: list[CaseDraft], error: Finding, seen: set[tuple[str | int, ...]]
) -> None:
    """Leave out the smallest thing that an error is in: a grader, a field, a case."""
    is_case = error.path[0] == "cases" and len(error.path) > 1
    place = error.path[: 4 if is_case else 2]
    if place in seen:
        return
    seen.add(place)
    if not is_case:
        _leave_out_of_suite(suite, error)
        return
    case = kept[int(error.path[1])]
    field = error.path[2] if len(error.path) > 2 else "input"
    if field in ("graders", "rubrics") and len(error.path) > 3:
        _leave_out_item(case, str(field), int(error.path[3]), error)
        _require_rest(case, suite)
    elif field in ("id", "input") or field not in case.fields:
        case.drop(case.origin, f"this case: {error.message}", error.hint)
    else:
        del case.fields[str(field)]
        case.lose(case.where_from(str(field)), f"`{field}`: {error.message}", error.hint)


def _require_rest(case: CaseDraft, suite: SuiteDraft) -> None:
    """A mean of fewer graders is another one: all that are left have to pass."""
    held = case.fields.get("threshold", suite.fields.get("threshold"))
    if held is not None and held != 1:
        case.fields["threshold"] = 1
        why = "`threshold`, as not all that it counts could be imported; the rest must pass"
        case.lose(case.where_from("threshold"), why, where=("threshold",))


def _leave_out_item(case: CaseDraft, field: str, number: int, error: Finding) -> None:
    items, origin = case.fields[field], case.where_from(field, number)
    assert isinstance(items, list)
    del items[number]
    if field == "graders" and number < len(case.graders_from):
        origin = case.graders_from.pop(number)
    if not items:
        del case.fields[field]
    why = f"one of the {field}: {error.message}"
    case.lose(origin, why, error.hint, where=(field, number))


def _leave_out_of_suite(suite: SuiteDraft, error: Finding) -> None:
    field, origin = error.path[0], suite.cases[0].origin if suite.cases else None
    held = suite.fields.get(str(field))
    if field == "graders" and isinstance(held, list) and len(error.path) > 1:
        del held[int(error.path[1])]
        origin = suite.graders_from.pop(int(error.path[1]))
        if not held:
            del suite.fields["graders"]
        for case in suite.kept:
            _require_rest(case, suite)
    else:
        suite.fields.pop(str(field), None)
    if origin is not None:
        suite.lose(origin, f"`{field}` for all cases: {error.message}", error.hint)


def _number_ids(suite: SuiteDraft) -> None:
    """An id that stands twice gets a number, which is told."""
    taken = {case.fields.get("id") for case in suite.kept}
    seen: set[JSON] = set()
    for case in suite.kept:
        id = case.fields.get("id")
        if isinstance(id, str) and id in seen:
            number = 2
            while f"{id}-{number}" in taken:
                number += 1
            case.fields["id"] = f"{id}-{number}"
            taken.add(case.fields["id"])
            item = case.where_from("id")
            case.lose(item, f"the id `{id}`, which another case has", where=("id",))
        seen.add(case.fields.get("id"))
