"""Cases that a program gives, each by an id of its own, as the cases of a file have them."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.errors import SuiteError
from evalcase.model.case import Case
from evalcase.model.problem import Problem
from evalcase.resolve.conversation import talk_known_by
from evalcase.resolve.ids import Ids


def number_cases(cases: Sequence[Case], path: str) -> tuple[Case, ...]:
    """The cases; copies whose id was made of the input are numbered.

    Raise SuiteError, with all of them, for ids that were written twice.
    """
    shared = _twice(cases)
    if not shared:
        return tuple(cases)
    # A copy that has its number already is numbered with the others.
    made = {_make_id(case) for case in cases if case.id in shared and _is_made(case)}
    ids, numbered, problems = Ids(), list[Case](), list[Problem]()
    for case in cases:
        if _is_made(case) and _make_id(case) in made:
            numbered.append(Case({**case.data, "id": ids.make(_known_by(case))}))
        elif ids.claim(case.id):
            numbered.append(case)
        else:
            hint = "give each case an id of its own, or none: then one is made of its input"
            message = f"the id `{case.id}` is used twice"
            problems.append(Problem("duplicate-id", message, path, hint=hint, case=case.id))
    if problems:
        raise SuiteError(problems)
    return tuple(numbered)


def _twice(cases: Sequence[Case]) -> set[str]:
    seen: set[str] = set()
    twice: set[str] = set()
    for case in cases:
        (twice if case.id in seen else seen).add(case.id)
    return twice


def _is_made(case: Case) -> bool:
    """Whether its id is one that a case of its input gets, or a copy of it."""
    made, copy, number = _make_id(case), *_split_number(case.id)
    return case.id == made or (copy == made and number.isdecimal())


def _split_number(id: str) -> tuple[str, str]:
    before, _, number = id.rpartition("-")
    return before, number


def _make_id(case: Case) -> str:
    return Ids().make(_known_by(case))


def _known_by(case: Case) -> list[dict[str, object]]:
    return [*case.data.get("input", ()), *talk_known_by(case.data)]
