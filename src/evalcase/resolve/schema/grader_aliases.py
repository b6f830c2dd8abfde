"""The part of the JSON Schema for graders under other tools' names: read and explained, never
offered.

Names that stand for the same share one rule. All of them stand behind patterns, which editors
don't offer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from evalcase.model.grader_options import DeclaredGrader
from evalcase.resolve.grader_names import Spelling, other_names
from evalcase.resolve.schema.words import (
    SuiteSchema,
    describe_mapping,
    match_present,
    not_both,
    pattern_of,
    refer_to,
    refer_to_field,
)


class GraderAlias(NamedTuple):
    """Some names that stand for one grader in one way."""

    names: list[str]
    spelling: Spelling
    grader: DeclaredGrader

    @property
    def pattern(self) -> str:
        return pattern_of(self.names)

    @property
    def about(self) -> str:
        told = self.spelling.told()
        return f"Another tool's name: here it is {told}. `evalcase migrate` renames it."

    @property
    def has_our_options(self) -> bool:
        """Whether its options are called as ours are, and may stand beside it."""
        return not self.spelling.renames and not self.spelling.refuses

    @property
    def argument(self) -> str | None:
        """The option that an argument gives."""
        name = self.grader.kind.argument
        return name and self.spelling.renames.get(name, name)

    @property
    def part(self) -> str:
        return f"{part_of(self.grader)}-as-{self.names[0]}"


def part_of(grader: DeclaredGrader) -> str:
    """What the options of a grader are called among the parts of the schema."""
    return f"grader-{grader.kind.name}"


def aliases_of(graders: Sequence[DeclaredGrader]) -> list[GraderAlias]:
    """The other names of these graders, but for those that one of them has itself."""
    known = {each.kind.name: each for each in graders}
    found: dict[str, GraderAlias] = {}
    for name, spelling in other_names():
        if name not in known and spelling.name in known:
            alias = found.setdefault(
                repr(spelling), GraderAlias([], spelling, known[spelling.name])
            )
            alias.names.append(name)
    return list(found.values())


def alias_parts(aliases: Iterable[GraderAlias]) -> dict[str, SuiteSchema]:
    """The options that those take whose options are called otherwise; `type` is among them."""
    return {
        each.part: {"title": each.names[0], **_describe_options(each)}
        for each in aliases
        if not each.has_our_options
    }


def any_alias(aliases: Iterable[GraderAlias]) -> SuiteSchema:
    """A string that is one of the names."""
    names = [name for each in aliases for name in each.names]
    return {"type": "string", "pattern": pattern_of(names)}


def typed_alias(alias: GraderAlias) -> SuiteSchema:
    """What stands beside its name in `type`, as far as our name doesn't say it."""
    return _forbid_said(alias) if alias.has_our_options else refer_to(alias.part)


def named_alias(alias: GraderAlias, argument: SuiteSchema) -> SuiteSchema:
    """What stands under its name: the argument, or the options."""
    about: SuiteSchema = {"description": alias.about}
    if alias.grader.kind.takes_mapping:
        return {**about, **argument}
    if alias.has_our_options:
        options: list[SuiteSchema] = [refer_to(part_of(alias.grader)), _forbid_said(alias)]
    else:
        options = [refer_to(alias.part), {"type": "object", "properties": {"type": False}}]
    return {**about, "if": {"type": "object"}, "then": {"allOf": options}, "else": argument}


def _forbid_said(alias: GraderAlias) -> SuiteSchema:
    """What the name itself says is not said again."""
    return {"type": "object", "properties": dict.fromkeys(alias.spelling.adds, _NOTHING)}


_NOTHING: SuiteSchema = {"type": "null"}


def _describe_options(alias: GraderAlias) -> SuiteSchema:
    """The options by the names that may be written; one that has several names has one of them."""
    spelling, fields = alias.spelling, {"type": _TYPE}
    fields |= dict.fromkeys(spelling.refuses, _NOTHING)
    needed: list[str] = []
    rules: list[SuiteSchema] = []
    for name, each in alias.grader.options.items():
        names = spelling.written_as(name)
        shape = _NOTHING if name in spelling.adds else refer_to_field(part_of(alias.grader), name)
        if each.needed and len(names) > 1:
            # One of the names may be null, if another is not.
            shape = {"if": _NOTHING, "then": True, "else": shape}
        fields = {**dict.fromkeys(names, shape), **fields}
        rules += [not_both(*pair) for pair in combinations(names, 2)]
        if each.needed and len(names) == 1:
            needed += names
        elif each.needed:
            rules.append({"anyOf": [match_present(written) for written in names]})
    options = describe_mapping(fields)
    existing = options["allOf"]
    assert isinstance(existing, list)
    return {**options, "allOf": [*existing, *rules], "required": needed}


_TYPE: SuiteSchema = {"description": "The grader, by the name that another tool has for it."}
