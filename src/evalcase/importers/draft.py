"""A suite in the making: its fields and cases, what was left out, and where each comes from."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import takewhile
from json import dumps
from typing import NamedTuple

from msgspec import Struct

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import Document
from evalcase.format.writer import Comments, shorten, suite_lines
from evalcase.importers.source import Item
from evalcase.types.problem import At, Finding, KeyPath, Problem, in_order
from evalcase.types.value import JSON

CODE = "not-imported"
EMPTY: tuple[JSON, ...] = (None, "", [], {})
"""Values that say nothing."""
_MAX_LINE = 200
_MAX_ID = 40
_NO_WORD = re.compile(r"[\W_]+")
SIMULATOR = "simulator"
_SIMULATOR_REMARK = "the target `simulator` plays the user: [targets.simulator] says what it is"


class NoCounterpartError(Exception):
    """Why nothing in evalcase says the same."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


class Choices(NamedTuple):
    """What a user may choose for an import."""

    columns: dict[str, str]
    """Fields of a case, by the columns or paths that fill them."""
    keeps_rest: bool = False
    """Whether columns without a field go to `metadata`."""
    expected: str | None = None
    """`exact` or `criteria`, instead of the tool's default."""


class Loss(NamedTuple):
    item: Item
    why: str
    hint: str | None = None
    at: At = "value"

    @property
    def key(self) -> tuple[int, KeyPath, str]:
        """One item may be of many cases."""
        return id(self.item.document), self.item.path, self.why


class Draft(Struct, kw_only=True):
    """Fields as they will be written, their origins, and what was left out."""

    origin: Item
    fields: dict[str, JSON] = {}
    lost: list[Loss] = []
    fields_from: dict[str, Item] = {}
    """The origins of fields, as far as they are known."""
    graders_from: list[Item] = []
    remarks: list[str] = []
    """Comments that are no loss."""
    misses_grader: bool = False

    def where_from(self, field: str, number: int | None = None) -> Item:
        """The origin of a field, or of one of its items; the whole case if it is unknown."""
        if field == "graders" and number is not None and number < len(self.graders_from):
            return self.graders_from[number]
        item = self.fields_from.get(field, self.origin)
        return item if number is None or item is self.origin else item.at(number)

    def lose(self, item: Item, why: str, hint: str | None = None, *, at: At = "value") -> None:
        self.lost.append(Loss(item, why, hint, at))

    def lose_rest(
        self, item: Item, known: Container[str], of: str = "", *, hides: bool = False
    ) -> None:
        """Leave out all other fields of a mapping, each by its name, with its value or without."""
        for name, held in item.fields():
            if name not in known and held.value is not None:
                self.lose(held.without_value() if hides else held, f"`{name}`{of}", at="key")

    def lose_grader(self, item: Item, why: str, hint: str | None = None) -> None:
        """Leave a grader out, or a rubric: a mean of the others is another mean."""
        self.misses_grader = True
        self.lose(item, why, hint)

    @property
    def graders(self) -> list[JSON]:
        graders = self.fields.get("graders")
        return graders if isinstance(graders, list) else []

    def add_grader(self, grader: dict[str, JSON], origin: Item) -> None:
        self.fields["graders"] = [*self.graders, grader]
        self.graders_from.append(origin)


class CaseDraft(Draft):
    is_dropped: bool = False

    def drop(self, item: Item, why: str, hint: str | None = None) -> None:
        self.is_dropped = True
        self.lost, self.remarks = [Loss(item, why, hint)], []

    def add_rubric(self, rubric: JSON) -> None:
        several = self.fields.setdefault("rubrics", [])
        assert isinstance(several, list)
        several.append(rubric)

    def keep(self, name: str, item: Item) -> None:
        """Put a value into `metadata`; it is left out if the name is taken."""
        metadata = self.fields.setdefault("metadata", {})
        if isinstance(metadata, dict) and metadata.setdefault(name, item.value) == item.value:
            return
        self.lose(item, f"`{name}`: `metadata.{name}` is taken")

    def keep_reference(self) -> None:
        """Move the expected output to `metadata.reference`, which no grader compares."""
        reference = self.fields.pop("expected_output")
        self.keep("reference", self.where_from("expected_output")._replace(value=reference))


class SuiteDraft(Draft):
    """A suite: what is left out of the whole file becomes a comment at the top."""

    source: str
    """The path of the imported file."""
    folder: str
    """The folder of the suite: files are looked up from there."""
    cases: list[CaseDraft] = []
    targets: dict[str, dict[str, JSON]] = {}
    """Targets for the configuration, by name."""
    repos: dict[str, dict[str, JSON]] = {}
    """Repositories for the configuration, by name."""
    judge: str | None = None
    """The name of the target that judges."""
    ungraded: list[str] = []
    """Ids of cases that have nothing to grade."""

    def new_case(self, origin: Item) -> CaseDraft:
        case = CaseDraft(origin=origin)
        self.cases.append(case)
        return case

    @property
    def kept(self) -> list[CaseDraft]:
        return [case for case in self.cases if not case.is_dropped]

    def remark_left_out(self, names: list[str]) -> None:
        shown = ", ".join(f"`{name}`" for name in names)
        self.remarks.append(f"left out, as it says nothing about a case: {shown}")

    def user(
        self, goal: str, max_turns: JSON, persona: JSON = None, facts: JSON = None,
        first: JSON = None,
    ) -> dict[str, JSON]:  # fmt: skip
        if _SIMULATOR_REMARK not in self.remarks:
            self.remarks.append(_SIMULATOR_REMARK)
        given = {"persona": persona or None, "facts": facts or None, "first": first or None}
        return add_options({"goal": goal, "target": SIMULATOR, "max_turns": max_turns}, given)

    def problems(self) -> list[Problem]:
        """Everything that was left out, at its place in the source."""
        lost = {each.key: each for draft in (*self.cases[::-1], self) for each in draft.lost[::-1]}
        found: dict[int, tuple[Document, list[Finding]]] = {}
        for (number, path, why), each in reversed(lost.items()):
            finding = Finding(path, f"left out: {why}", each.hint, each.at, code=CODE)
            found.setdefault(number, (each.item.document, []))[1].append(finding)
        return in_order([one for document, several in found.values()
                         for one in document.place(several)])  # fmt: skip

    def require_all(self) -> None:
        """Where a threshold counts graders that were left out, all others have to pass."""
        for case in self.kept:
            threshold = case.fields.get("threshold", self.fields.get("threshold"))
            if threshold not in (None, 1) and (case.misses_grader or self.misses_grader):
                case.fields["threshold"] = 1
                why = "`threshold`, as not all that it counts could be imported; the rest must pass"
                case.lose(case.where_from("threshold").without_value(), why)

    def share(self) -> None:
        """What all cases begin with, or lack, is said once: graders of the suite, and comments."""
        first, *others = self.kept
        graders, lost = first.graders, {each.key: each for each in first.lost}
        for case in others:
            pairs = zip(graders, case.graders, strict=False)
            graders = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
            lost = {each.key: each for each in case.lost if each.key in lost}
        if not others:
            return
        self.lost += lost.values()
        for case in self.kept:
            case.lost = [each for each in case.lost if each.key not in lost]
            if graders:
                case.fields["graders"] = case.graders[len(graders) :]
            if not case.graders:
                case.fields.pop("graders", None)
        if graders:
            self.fields["graders"] = [*self.graders, *graders]

    def value(self) -> dict[str, JSON]:
        return {**self.fields, "cases": [dict(case.fields) for case in self.kept]}

    def comments(self) -> dict[int, list[str]]:
        """Comments above cases, by their numbers; those of a dropped case are above the next."""
        texts: dict[int, list[str]] = {}
        number = 0
        for case in self.cases:
            texts.setdefault(number, []).extend((*map(_write_comment, case.lost), *case.remarks))
            number += not case.is_dropped
        return texts

    def write(self, tool: str) -> str:
        base = os.path.basename(self.source) if self.source != "-" else "standard input"
        top = [f"Imported from {base} ({tool}).", *self.remarks, *map(_write_comment, self.lost)]
        return write_suite(self.fields, [each.fields for each in self.kept], self.comments(), top)


def write_suite(
    fields: dict[str, JSON], cases: Iterable[dict[str, JSON]], comments: Comments,
    top: Sequence[str],
) -> str:  # fmt: skip
    known = Catalogue(needs_graders=True)
    written = {**shorten(fields, known), "cases": [shorten(each, known) for each in cases]}
    return "".join(suite_lines(written, comments, top))


def _write_comment(lost: Loss) -> str:
    value = lost.item.value
    shown = "" if value is None else dumps(value, ensure_ascii=False)
    is_said = not shown or shown.strip('"') in lost.why
    if len(shown) > _MAX_LINE:
        whole = value if isinstance(value, str) else dumps(value, ensure_ascii=False, indent=2)
        shown = "\n  ".join(whole.splitlines())
    return f"not imported: {lost.why}" + ("" if is_said else f"\n  {shown}")


def number_id(id: str, taken: dict[str, int]) -> str:
    """An id that is not taken, with a number if it has to be, which then is taken."""
    numbered = id
    while numbered in taken:
        taken[id] += 1
        numbered = f"{id}-{taken[id]}"
    taken[numbered] = 1
    return numbered


def slug_of(text: str) -> str:
    """An id from the first words of a text; empty if there are none."""
    return _NO_WORD.sub("-", text[:200].casefold()).strip("-")[:_MAX_ID].strip("-")


def split_history(messages: list[JSON]) -> tuple[list[JSON], JSON]:
    """What was said before, and what the user says first: the last message, if it is theirs."""
    last = messages[-1] if messages else None
    if isinstance(last, dict) and last.get("role") == "user":
        return messages[:-1], last.get("content")
    return messages, None


def write_grader(type: str, /, *value: object, **options: JSON) -> dict[str, JSON]:
    """A grader with an argument, options, or both; the writer finds its shortest spelling."""
    argument: dict[str, JSON] = {"value": value[0]} if value else {}  # type: ignore[dict-item]
    return add_options({"type": type, **argument}, options)


def add_options(grader: dict[str, JSON], options: Mapping[str, JSON]) -> dict[str, JSON]:
    """The same grader with more options; those that are None are left out."""
    return {**grader, **{name: each for name, each in options.items() if each is not None}}


def combine(how: str, graders: Sequence[dict[str, JSON]]) -> dict[str, JSON]:
    """A grader by `all` or `any` of several."""
    return graders[0] if len(graders) == 1 else write_grader(how, [*graders])


def asks_judge(grader: JSON) -> bool:
    """Whether a judge is in it, at any depth."""
    if isinstance(grader, dict):
        return grader.get("type") == "judge" or any(asks_judge(each) for each in grader.values())
    return isinstance(grader, list) and any(asks_judge(each) for each in grader)
