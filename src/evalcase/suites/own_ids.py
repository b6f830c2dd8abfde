"""Cases that a program gives, each by an id of its own, as the cases of a file have them."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.errors import SuiteError
from evalcase.model.case import Case, canonical_case
from evalcase.model.problem import Problem
from evalcase.resolve.conversation import talk_known_by
from evalcase.resolve.ids import Ids


def number_cases(cases: Sequence[Case], path: str) -> tuple[Case, ...]:
    """The cases; copies whose id was made of the input are numbered.

    Raise SuiteError, with all of them, for ids that were written twice.
    """
    shared = _find_twice(cases)
    if not shared:
        return tuple(cases)
    # A copy that has its number already is numbered with the others.
    made = [_find_made(case) for case in cases]
    copied = {each for case, each in zip(cases, made, strict=True) if each and case.id in shared}
    ids, numbered, problems = Ids(), list[Case](), list[Problem]()
    for case, each in zip(cases, made, strict=True):
        if each in copied:
            numbered.append(canonical_case({**case._data, "id": ids.make(_known_by(case))}))
        elif ids.claim(case.id):
            numbered.append(case)
        else:
            hint = "give each case an id of its own, or none: then one is made of its input"
            message = f"the id `{case.id}` is used twice"
            problems.append(Problem("duplicate-id", message, path, hint=hint, case=case.id))
    if problems:
        raise SuiteError(problems)
    return tuple(numbered)


def _find_twice(cases: Sequence[Case]) -> set[str]:
    seen: set[str] = set()
    twice: set[str] = set()
    for case in cases:
        (twice if case.id in seen else seen).add(case.id)
    return twice


def _find_made(case: Case) -> str | None:
    """The id that a case of its input gets, if its own is that, or that of a copy; else None."""
    made = Ids().make(_known_by(case))
    before, _, number = case.id.rpartition("-")
    is_copy = before == made and number.isdecimal()
    return made if case.id == made or is_copy else None


def _known_by(case: Case) -> list[dict[str, object]]:
    return [*case._data.get("input", ()), *talk_known_by(case._data)]
