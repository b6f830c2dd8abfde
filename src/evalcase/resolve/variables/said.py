"""Findings about cases that are made of one text: each is told once, and where it can be mended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evalcase.model.finding import QUOTE_IT, Finding
from evalcase.resolve.findings import Findings
from evalcase.resolve.plain_texts import is_file_value
from evalcase.resolve.variables.tagged import TaggedValue, VariableValues


class Mark(NamedTuple):
    """How much was found up to some moment."""

    found: int
    files: int
    errors: int


class OnceSaid:
    """What was told so far. The same mistake in a thousand cases of one text is one mistake."""

    def __init__(self) -> None:
        self._found: set[tuple[object, ...]] = set()
        self._files: set[tuple[object, ...]] = set()

    def begin(self, findings: Findings) -> Mark:
        return Mark(len(findings.found), len(findings.files), findings.errors)

    def keep_new(
        self,
        findings: Findings,
        start: Mark,
        tagged: Iterable[TaggedValue],
        variables: VariableValues,
    ) -> None:
        """Forget what was found since then and is known, and point at variables where it is their
        values that are wrong. What counts as an error still does."""
        if len(findings.found) > start.found:
            found = [
                _point_finding(each, tagged, variables) for each in findings.found[start.found :]
            ]
            told = {each.path for each in variables.values() if is_file_value(each.value)}
            new = [
                _name_row(each, tagged, variables)
                for each in found
                # Of a variable that is the address of a file it is told where it is given.
                if not (each.code == "file-as-text" and each.path in told)
                and _is_new(_key_of_finding(each), self._found)
            ]
            findings.found[start.found :] = new
        if len(findings.files) > start.files:
            files = findings.files[start.files :]
            findings.files[start.files :] = [
                each for each in files if _is_new((each.name, each.path), self._files)
            ]


def _name_row(
    finding: Finding, tagged: Iterable[TaggedValue], variables: VariableValues
) -> Finding:
    """The finding with the row of the table that it is about, if one of its values may be why. Of
    all rows that it holds for, this is the first."""
    origins = (
        variables[tag.name].origin
        for each in tagged
        for path, tag in each.tags()
        if tag.name in variables and variables[tag.name].field == "rows"
        if path == finding.path[: len(path)]
        or (path != each.path and path[:-1] == finding.path[:-1])  # one option beside another
    )
    origin = next(origins, "")
    if not origin or finding.within is not None:
        return finding
    return finding._replace(message=f"{finding.message}, {origin}")


def _key_of_finding(finding: Finding) -> tuple[object, ...]:
    """What makes two findings the same. A tag that is wrong is so for every row of a table."""
    told = finding.within or finding.message
    return finding.code, finding.path, finding.at, told


def _is_new(key: tuple[object, ...], known: set[tuple[object, ...]]) -> bool:
    if key in known:
        return False
    known.add(key)
    return True


def _point_finding(
    finding: Finding, tagged: Iterable[TaggedValue], variables: VariableValues
) -> Finding:
    """The finding at the value of a variable, if that is what it is about."""
    if finding.within is not None:
        return finding
    for each in tagged:
        if finding.path[: len(each.path)] != each.path:
            continue
        if finding.path in each.texts and finding.at == "key":
            return finding  # a name is no value, whatever stands behind it
        if finding.path in each.texts:
            finding = finding._replace(fix=None)
        text, source = each.source_of(finding.path, variables)
        if source is None:
            hint = None if finding.hint == QUOTE_IT else finding.hint
            return finding._replace(path=text, at="value", hint=hint, fix=None)
        return finding._replace(path=source)
    return finding
