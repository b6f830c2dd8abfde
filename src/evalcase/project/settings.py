"""Settings that are tables of their own: the targets of a project, its judge, and its harvest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalcase.model.conflict import conflict
from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.option import option
from evalcase.model.shape import Choice, Flag, MapOf, Number, OptionFault, Plain, Text
from evalcase.model.shape_pattern import Pattern


class TargetTables(Plain, frozen=True):
    """Targets by their names. What else than its kind a target has is the kind's business."""

    words: str = "a table of targets"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, dict):
            yield from MapOf(Text(), self.words).faults(value, path)
            return
        if isinstance(value.get("kind"), str):
            message = "`targets` has a table for each target, and no options of its own"
            hint = "write [targets.NAME] in place of [targets]"
            yield OptionFault(path, message, hint, "key", "wrong-type")
            return
        for name, table in value.items():
            if not isinstance(table, dict):
                hint = f'write [targets.{name}] and kind = "…" below it'
                message = f"target `{name}` is a table, not {describe_kind(table)}"
                yield OptionFault((*path, name), message, hint, code="wrong-type")
            elif "kind" not in table:
                hint = 'for example kind = "python"'
                if isinstance(table.get("type"), str):
                    hint = f'write kind = "{table["type"]}" in place of `type`'
                message = f"target `{name}` needs `kind`"
                yield OptionFault((*path, name), message, hint, "key", _MISSING)
            else:
                yield from Text("the name of a kind").faults(table["kind"], (*path, name, "kind"))

    def schema(self) -> dict[str, JSON]:
        return {"type": "object", "additionalProperties": {"type": "object", "required": ["kind"]}}


_MISSING = "missing-option"


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Who grades `criteria` and `rubrics`, and how."""

    target: str = option(
        Text("the name of a target"), "The target that acts as judge.", example="judge",
        elsewhere=("model", "provider", "name"),
    )  # fmt: skip
    votes: int = option(
        Number(1, whole=True), "How often to ask it; an odd number.", default=1, example=3
    )
    unsure: Literal["error", "fail"] = option(
        Choice(("error", "fail")), "What it counts as if the judge can't tell.", default="error"
    )

    @conflict
    def _has_no_majority(self) -> Iterator[OptionFault]:
        if self.votes % 2 == 0:
            message = f"`votes` is an odd number, not {self.votes}"
            yield OptionFault(("votes",), message, "with an odd number there is always a majority")


@dataclass(frozen=True, slots=True)
class HarvestSettings:
    """What `harvest` keeps out of the suites that it drafts."""

    patterns: dict[str, str] = option(
        MapOf(Pattern(), "a table of patterns"),
        "Patterns by name; each match is replaced by the name and a number.", default={},
        example={"order": "ORD-[0-9]{6}"}, elsewhere=("replace", "redact"),
    )  # fmt: skip
    defaults: bool = option(
        Flag(), "Whether to also replace keys, e-mail addresses, phone numbers and the like.",
        default=True,
    )  # fmt: skip
