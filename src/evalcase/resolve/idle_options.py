"""What is said of a grader and changes nothing where it stands: a pattern that every answer has, a
weight where nothing is weighed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evalcase.model.finding import KeyPath
from evalcase.resolve.findings import Findings
from evalcase.resolve.written_grader import WrittenGrader

if TYPE_CHECKING:
    from evalcase.model.grader_options import DeclaredGrader


def check_weight(written: WrittenGrader, within: DeclaredGrader | None, findings: Findings) -> None:
    """Refuse a weight where nothing is weighed."""
    if within is None or not within.kind.decides or written.options.get("weight") is None:
        return
    message = f"`weight` has no effect in `{within.kind.name}`, which goes by how many pass"
    hint = "leave it out, or use `weighted`, which takes their mean"
    findings.add("conflicting-fields", written.place(("weight",)), message, hint, "key")


def advise_patterns(written: WrittenGrader, findings: Findings) -> None:
    """Warn of what is found in every answer, so that a grader that looks for it can't fail."""
    if written.name not in ("regex", "fields"):
        return
    from evalcase.text.empty_match import is_found_everywhere  # few graders search

    for path, pattern in _list_patterns(written):
        if is_found_everywhere(pattern):
            message = f"`{pattern:.60}` is found in every answer, as nothing at all is a match"
            hint = "say what has to be there, for example `x+` for `x*`, or use `full: true`"
            hint = hint if written.name == "regex" else hint.partition(", or")[0]
            findings.add("nothing-to-grade", written.place(path), message, hint)


def _list_patterns(written: WrittenGrader) -> Iterator[tuple[KeyPath, str]]:
    value = written.options.get("value")
    if written.name == "regex":
        if type(value) is str and not written.options.get("full"):
            yield ("value",), value
        return
    for name, matcher in value.items() if type(value) is dict else ():
        if type(matcher) is dict and type(matcher.get("regex")) is str:
            yield ("value", name, "regex"), matcher["regex"]
