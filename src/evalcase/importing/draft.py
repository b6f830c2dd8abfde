"""A suite in the making: fields and cases as they will be written, what could not be mapped, and
where each of them comes from."""

from __future__ import annotations

from json import dumps
from typing import NamedTuple

from evalcase.format.document import Document
from evalcase.importing.source import Item
from evalcase.types.problem import At, Finding, KeyPath, Problem, in_order
from evalcase.types.value import JSON

CODE = "not-imported"


class Chosen(NamedTuple):
    """What whoever imports a file may choose."""

    columns: dict[str, str]
    """Fields of a case, by the columns or paths that they are filled from."""
    keeps_rest: bool = False
    """Whether columns that nothing is said about go to `metadata`."""
    expected: str | None = None
    """`exact` or `criteria`, in place of what is usual for the tool."""


class Unmapped(NamedTuple):
    """Something that could not be mapped: where it is, why, and where it would have been."""

    item: Item
    why: str
    hint: str | None
    at: At
    where: KeyPath


class CaseDraft:
    """A case as it will be written, with what it lost."""

    def __init__(self, origin: Item) -> None:
        self.origin = origin
        self.fields: dict[str, JSON] = {}
        self.lost: list[Unmapped] = []
        self.graders_from: list[Item] = []
        """Where each of its graders comes from."""
        self.remarks: list[tuple[str, str]] = []
        """What whoever reads the case should know, and what is no loss, each with its field."""
        self.is_dropped = False
        self.fields_from: dict[str, Item] = {}
        """Where fields come from, as far as somebody noted it."""

    def where_from(self, field: str, number: int | None = None) -> Item:
        """Where a field comes from, or an item of it; the whole case, if nobody knows."""
        item = self.fields_from.get(field, self.origin)
        if number is None or field not in self.fields_from:
            return item
        return item.at(number)

    def drop(self, item: Item, why: str, hint: str | None = None) -> None:
        """Leave the case out: a comment where it would be."""
        self.is_dropped = True
        self.lost = [Unmapped(item, why, hint, "value", ())]

    def remark(self, text: str, field: str) -> None:
        """Have a comment stand above a field, of what is no loss."""
        self.remarks.append((text, field))

    def lose(
        self, item: Item, why: str, hint: str | None = None, *, at: At = "value",
        where: KeyPath | None = None,
    ) -> None:  # fmt: skip
        """Note that something can't be mapped. It becomes a comment at the path `where`, by
        default at the end of the case."""
        self.lost.append(Unmapped(item, why, hint, at, ("…",) if where is None else where))

    def add_grader(self, grader: JSON, origin: Item) -> None:
        graders = self.fields.setdefault("graders", [])
        assert isinstance(graders, list)
        graders.append(grader)
        self.graders_from.append(origin)

    def lose_grader(self, item: Item, why: str, hint: str | None = None) -> None:
        """Note that a check can't be mapped: a comment among the graders."""
        self.lose(item, why, hint, where=self.grader_place())

    def grader_place(self) -> KeyPath:
        """Where the next grader would stand."""
        return ("graders", len(self.graders_from))

    def add_rubric(self, rubric: JSON) -> None:
        rubrics = self.fields.setdefault("rubrics", [])
        assert isinstance(rubrics, list)
        rubrics.append(rubric)

    def keep_reference(self) -> None:
        """Have what is expected be no more than `metadata.reference`, which nothing compares."""
        reference = self.fields.pop("expected_output")
        metadata = self.fields.setdefault("metadata", {})
        if isinstance(metadata, dict) and metadata.setdefault("reference", reference) is reference:
            return
        item = self.where_from("expected_output")._replace(value=reference)
        self.lose(item, "what is expected, which nothing compares: `metadata.reference` is taken")


class SuiteDraft:
    """A suite as it will be written, with all that was lost."""

    def __init__(self, source: str, folder: str) -> None:
        self.source = source
        """The path of the file that is imported."""
        self.folder = folder
        """The folder that the suite will lie in: files are looked for from there."""
        self.fields: dict[str, JSON] = {}
        self.cases: list[CaseDraft] = []
        self.lost: list[Unmapped] = []
        self.graders_from: list[Item] = []
        """Where each of the graders for all cases comes from."""
        self.targets: dict[str, dict[str, JSON]] = {}
        """Targets for the configuration, by name."""
        self.judge: str | None = None
        """Which of them judges."""
        self.ungraded: list[str] = []
        """The ids of cases that have nothing to grade, as far as they are known."""
        self.remarks: list[str] = []
        """What whoever reads the suite should know, and what is no loss."""

    def new_case(self, origin: Item) -> CaseDraft:
        case = CaseDraft(origin)
        self.cases.append(case)
        return case

    def add_grader(self, grader: JSON, origin: Item) -> None:
        """A grader for all cases."""
        graders = self.fields.setdefault("graders", [])
        assert isinstance(graders, list)
        graders.append(grader)
        self.graders_from.append(origin)

    def lose(self, item: Item, why: str, hint: str | None = None, *, at: At = "value") -> None:
        """Note that something of the whole file can't be mapped: a comment at its top."""
        self.lost.append(Unmapped(item, why, hint, at, ()))

    def problems(self) -> list[Problem]:
        """All that was lost, at its place in the source."""
        by_document: dict[int, tuple[Document, list[Finding]]] = {}
        told: set[tuple[int, KeyPath, str]] = set()
        for lost in (*self.lost, *(each for case in self.cases for each in case.lost)):
            document = lost.item.document
            if (id(document), lost.item.path, lost.why) in told:
                continue  # many cases may be made of one thing
            told.add((id(document), lost.item.path, lost.why))
            _, findings = by_document.setdefault(id(document), (document, []))
            findings.append(
                Finding(CODE, lost.item.path, f"left out: {lost.why}", lost.hint, lost.at)
            )
        placed = (document.place(findings) for document, findings in by_document.values())
        return in_order([problem for problems in placed for problem in problems])

    def value(self) -> dict[str, JSON]:
        """The suite as it will be written."""
        return {**self.fields, "cases": [dict(case.fields) for case in self.kept]}

    @property
    def kept(self) -> list[CaseDraft]:
        """The cases that will be written."""
        return [case for case in self.cases if not case.is_dropped]

    def comments(self) -> dict[KeyPath, str]:
        """What stands between the lines, by the path that it stands above."""
        texts: dict[KeyPath, list[str]] = {}
        for remark in self.remarks:
            texts.setdefault((), []).append(remark)
        for lost in self.lost:
            texts.setdefault((), []).append(_write_comment(lost))
        number = 0
        for case in self.cases:
            for lost in case.lost:
                texts.setdefault(("cases", number, *lost.where), []).append(_write_comment(lost))
            for text, field in () if case.is_dropped else case.remarks:
                texts.setdefault(("cases", number, field), []).append(text)
            number += not case.is_dropped
        return {path: "\n".join(each) for path, each in texts.items()}


_LONGEST_SHOWN = 200


def _write_comment(lost: Unmapped) -> str:
    """Why it is not there, and what it was, unless that is said already."""
    value = lost.item.value
    shown = "" if value is None else dumps(value, ensure_ascii=False)
    if len(shown) > _LONGEST_SHOWN:
        shown = f"{shown[:_LONGEST_SHOWN]}…"
    is_said = not shown or shown.strip('"') in lost.why
    return f"not imported: {lost.why}" + ("" if is_said else f"\n  {shown}")
