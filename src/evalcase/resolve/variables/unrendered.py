"""What looks as if a value would take its place, and stays as it is: a warning for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalcase.model.finding import KeyPath
from evalcase.resolve.findings import Findings
from evalcase.resolve.variables.tagged import TaggedValue

_ELSEWHERE = (
    "id",
    "description",
    "tags",
    "metadata",
    "skip",
    "conversation_id",
    "target",
    "targets",
)
"""Fields that are never rendered."""


def warn_of_unrendered(
    case: Mapping[str, Any],
    path: KeyPath,
    tagged: Mapping[str, TaggedValue],
    known: set[str],
    findings: Findings,
) -> None:
    """Warn of known names where nothing takes their place."""
    for each in tagged.values():
        warn_of_odd(each, known, findings)
    for field in _ELSEWHERE:
        if field not in case:
            continue
        for at, tag in TaggedValue(case[field], (*path, field)).tags():
            if tag.name in known:
                message = f"{tag.source} stays as it is: `{field}` is not rendered"
                hint = "values take their place in what is asked, expected and graded"
                findings.add("not-rendered", at, message, hint, within=tag.source)


def warn_of_odd(tagged: TaggedValue, known: set[str], findings: Findings) -> None:
    """Warn of what begins like a tag, and of tags in the names of fields."""
    for path, name, source in tagged.odd:
        if name in known:
            message = f"`{source.strip()}` begins like {{{{{name}}}}}, and stays as it is"
            hint = "a tag is a name, or a name and its parts: {{name.part}}; there are no filters"
            findings.add("not-rendered", path, message, hint, within=source)
    for path, name, source in tagged.keys:
        if name in known:
            message = f"{source} stays as it is: the names of fields are not rendered"
            findings.add("not-rendered", path, message, at="key", within=source)
