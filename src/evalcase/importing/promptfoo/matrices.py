"""Cases that differ only in values of variables to one case with a `matrix`, where that says
exactly the same: both are resolved, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import Findings
from evalcase.format.suite import resolve_suite
from evalcase.importing.draft import CaseDraft
from evalcase.importing.source import Item
from evalcase.importing.templates import Variables
from evalcase.types.case import Case
from evalcase.types.value import JSON, copy_value

_OWN = ("id", "vars", "rendered")
"""What a case has for itself, and says nothing about what is asked and graded."""


class KeptTags(Variables):
    """Variables of which some stay tags; what is named by them is named by their names."""

    def __init__(self, values: Mapping[str, JSON], kept: Sequence[str]) -> None:
        super().__init__({**values, **{name: name for name in kept}})
        self._kept = frozenset(kept)

    def _text(self, path: str, unset: list[str] | None, depth: int) -> str:
        if path in self._kept:
            return f"{{{{{path}}}}}"
        return super()._text(path, unset, depth)


def find_matrix(variables: Mapping[str, Item], values: Mapping[str, JSON]) -> dict[str, list[JSON]]:
    """The variables of which each of several values was chosen in turn, the last being these."""
    lists = {name: item.value for name, item in variables.items()}
    return {
        name: several
        for name, several in lists.items()
        if isinstance(several, list) and values.get(name) != several
    }


def put_matrix(case: CaseDraft, matrix: Mapping[str, list[JSON]]) -> None:
    """Before what it is put into, where a reader looks for it."""
    fields, case.fields = case.fields, {}
    for name, value in fields.items():
        if name == "input":
            case.fields["matrix"] = {**matrix}
        case.fields[name] = value


def says_the_same(draft: CaseDraft, written: Sequence[CaseDraft]) -> bool:
    """Whether a case with a matrix makes exactly the cases that are written out."""
    if any(case.lost or case.is_dropped for case in (draft, *written)):
        return False
    made, out = _resolve_drafts([draft]), _resolve_drafts(written)
    return made is not None and out is not None and made == out


def _resolve_drafts(drafts: Sequence[CaseDraft]) -> list[dict[str, JSON]] | None:
    """What cases mean; None where something is wrong with one of them."""
    findings = Findings(Catalogue(needs_graders=True))
    value: JSON = {"cases": [copy_value(draft.fields) for draft in drafts]}
    _, cases, _ = resolve_suite(value, "imported", findings)
    if findings.errors or any("variable" in each.code for each in findings.found):
        return None
    return [_meaning_of_case(case) for case in cases if case is not None]


def _meaning_of_case(case: Case) -> dict[str, JSON]:
    return {name: value for name, value in case.to_dict().items() if name not in _OWN}
