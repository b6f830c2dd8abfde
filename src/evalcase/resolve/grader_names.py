"""Names by which AgentV and promptfoo know graders that mean the same as ours.

They are read, warned of and renamed. Checks, the schema, `migrate` and the reference all read this
table, so that none of them can drift. A name that means something else is not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evalcase.model.json_value import JSON

_NOTHING: Mapping[str, JSON] = {}
_AS_THEY_ARE: Mapping[str, str] = {}


class Spelling(NamedTuple):
    """What a grader of another name is called here, and how its options are."""

    name: str
    adds: Mapping[str, JSON] = _NOTHING
    """Options that the other name says by itself."""
    renames: Mapping[str, str] = _AS_THEY_ARE
    """Options that have another name here."""
    refuses: Mapping[str, str] = _AS_THEY_ARE
    """Options with which it means something else, each with what to write then."""

    def told(self, after_name: str = "") -> str:
        """What it is here, for a sentence: `contains` with `ignore_case: true`."""
        more = [f"`{name}: {json.dumps(value)}`" for name, value in self.adds.items()]
        for new in dict.fromkeys(self.renames.values()):
            olds = [f"`{old}`" for old, each in self.renames.items() if each == new]
            more.append(f"`{new}` for {' or '.join(olds)}")
        return f"`{self.name}`{after_name}" + (f" with {', '.join(more)}" if more else "")

    def written_as(self, option: str) -> tuple[str, ...]:
        """The names that an option of ours may have where the grader has its other name."""
        others = tuple(old for old, new in self.renames.items() if new == option)
        return others if option in self.renames else (option, *others)


_ANY_CASE: Mapping[str, JSON] = {"ignore_case": True}
_ANY: Mapping[str, str] = {"value": "any"}
_ALL: Mapping[str, str] = {"value": "all"}
"""Which takes lists alone: elsewhere, a text with commas is a list."""
_JUDGE = Spelling("judge")
_SCRIPT = Spelling("script", renames={"script": "value", "command": "value"})

OTHER_NAMES: Mapping[str, Spelling] = {
    "contains-all": Spelling("contains", renames=_ALL),
    "contains-any": Spelling("contains", renames=_ANY),
    "icontains": Spelling("contains", _ANY_CASE),
    "icontains-all": Spelling("contains", _ANY_CASE, _ALL),
    "icontains-any": Spelling("contains", _ANY_CASE, _ANY),
    "starts-with": Spelling("starts_with"),
    "ends-with": Spelling("ends_with"),
    "is-json": Spelling(
        "json", {"strict": True},
        refuses={"value": "write `json_schema` for a schema; it unwraps a fenced block, too"},
    ),
    "llm-rubric": _JUDGE,
    "model-graded-closedqa": _JUDGE,
    "llm_judge": _JUDGE,
    "llm-judge": _JUDGE,
    "llm_grader": _JUDGE,
    "llm-grader": _JUDGE,
    "rubric": _JUDGE,
    "code_judge": _SCRIPT,
    "code-judge": _SCRIPT,
    "code_grader": _SCRIPT,
    "code-grader": _SCRIPT,
    "script-grader": _SCRIPT,
    "assert-set": Spelling(
        "all", renames={"assert": "value"},
        refuses={"threshold": "write `weighted`, whose weighted mean must reach it"},
    ),
}  # fmt: skip
"""By their own names, as the two tools write them."""

NEGATED = "not-"
"""What promptfoo and AgentV write before a name for `not: true`."""
_NEGATED_OWN = ("equals", "contains", "regex", "python")
"""Graders that have the same name in all three, and may have it with `not-` before it."""


def spelling_of(name: str) -> Spelling | None:
    """What another tool's name of a grader stands for; None if it is no such name."""
    found = OTHER_NAMES.get(name)
    if found is not None or not name.startswith(NEGATED):
        return found
    bare = name.removeprefix(NEGATED)
    positive = Spelling(bare) if bare in _NEGATED_OWN else OTHER_NAMES.get(bare)
    return positive and positive._replace(adds={**positive.adds, "not": True})


def other_names() -> Iterator[tuple[str, Spelling]]:
    """Every name that `spelling_of` knows."""
    for name in (*OTHER_NAMES, *[f"{NEGATED}{each}" for each in (*_NEGATED_OWN, *OTHER_NAMES)]):
        spelling = spelling_of(name)
        assert spelling is not None
        yield name, spelling
