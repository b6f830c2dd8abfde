"""Edits that are safe: `migrate` renames deprecated names, `check --fix` follows exact hints.

Every other byte of a file stays as it is. `migrate` reads the result again, and drops renames that
would change what the file means.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from evalcase.format.case import ADDS_NO_JUDGE, NOTHING_SHARED, Ids
from evalcase.format.document import Document, Findings, parse_document
from evalcase.format.fields import CASE_ALIASES, SUITE_ALIASES
from evalcase.format.graders import SPELLINGS, Spelling
from evalcase.format.load import load_text
from evalcase.format.positions import LINE_BREAK, Edit, Format, Lines, apply_edits
from evalcase.format.source import (
    BOM,
    STDIN,
    UnreadableError,
    find_sidecars,
    folder_of,
    format_at,
    is_sidecar,
    outside_link,
    read_raw,
    tell_undecodable,
)
from evalcase.format.suite import resolve_sidecar, resolve_suite
from evalcase.format.tables import SuiteFiles
from evalcase.format.variables import resolve_line
from evalcase.graders.base import Known
from evalcase.types.problem import Finding, KeyPath, Problem, Span, in_order
from evalcase.types.value import JSON, are_same

OLD_NAME_CODES = ("deprecated-name", "ignored-alias")
_RENAMED = {**CASE_ALIASES, **SUITE_ALIASES}
_MOST_ROUNDS = 20
"""A text that can't be parsed shows one mistake at a time, so it is read again after each edit."""


class Change(NamedTuple):
    """What is written in place of something else, and the edits that write it."""

    span: Span
    old: str
    new: str
    edits: tuple[Edit, ...]

    def moved_by(self, lines: int) -> Change:
        edits = tuple(Edit(at.moved_by(lines), text) for at, text in self.edits)
        return self._replace(span=self.span.moved_by(lines), edits=edits)


class Rewrite(NamedTuple):
    """A file before and after its changes."""

    path: str
    before: bytes
    after: bytes
    changes: list[Change]
    left: list[Problem]
    """Deprecated names that are no plain rename."""
    errors: list[Problem]
    """Why the file, or a line of it, can't be read."""

    @classmethod
    def of_unreadable(cls, problem: Problem) -> Rewrite:
        return cls(problem.path, b"", b"", [], [], [problem])


def migrate_file(path: str, known: Known, stdin_format: Format = "yaml") -> Iterator[Rewrite]:
    """Plan the migration of a file, and of the suite fields beside it. Nothing is written."""
    try:
        format = format_at(path, stdin_format)
        yield migrate_bytes(read_raw(path), format, path, known)
    except UnreadableError as error:
        yield Rewrite.of_unreadable(error.problem)
        return
    for sidecar in find_sidecars(path) if format == "jsonl" and path != STDIN else ():
        outside = outside_link(sidecar)
        if outside is None:
            yield from migrate_file(sidecar, known)
        else:
            yield Rewrite.of_unreadable(outside)


def migrate_bytes(data: bytes, format: Format, path: str, known: Known) -> Rewrite:
    """Plan the migration of a file's content: of JSONL line by line, else as a whole."""
    body = data.removeprefix(BOM)
    pieces = body.split(b"\n") if format == "jsonl" else [body]
    changes, left, errors = list[Change](), list[Problem](), list[Problem]()
    for number, piece in enumerate(pieces):
        if format == "jsonl" and not piece.strip():
            continue
        try:
            document = parse_document(piece.decode(), format, path)
        except UnicodeDecodeError as error:
            errors.append(tell_undecodable(error, path, number + 1))
            continue
        document.first_line = number + 1
        if not document.is_sound:
            errors += document.problems
            continue
        planned, others = _plan_renames(document, format, known)
        placed = [change.moved_by(number) for change in planned]
        # A key in an anchor may stand beside its primary in one case, and alone in the next.
        done = {change.span for change in placed}
        problems = dict.fromkeys(in_order(document.place(others)))
        left += [problem for problem in problems if problem.span not in done]
        changes += placed
        pieces[number] = _change_all(document, planned).encode()
    mark = data[: len(data) - len(body)]
    return Rewrite(path, data, mark + b"\n".join(pieces), changes, left, errors)


def _plan_renames(
    document: Document, format: Format, known: Known
) -> tuple[list[Change], list[Finding]]:
    """The renames in a document that keep what it means, and the old names that they leave."""
    meaning, found = _resolve(document, format, known)
    old_names = [finding for finding in found if finding.code in OLD_NAME_CODES]
    plans = [(finding, _plan_rename(finding, document)) for finding in old_names]
    planned = {plan.span: (plan, each) for each, plan in plans if isinstance(plan, Change)}
    left = [plan for _, plan in plans if isinstance(plan, Finding)]

    def keeps_meaning(renames: list[Change]) -> bool:
        after = parse_document(_change_all(document, renames), format, document.path)
        return after.is_sound and are_same(_resolve(after, format, known)[0], meaning)

    renames = _find_safe([rename for rename, _ in planned.values()], keeps_meaning)
    hint = "another name here may change what the file means"
    safe = {rename.span for rename in renames}
    left += [each._replace(hint=hint) for span, (_, each) in planned.items() if span not in safe]
    return renames, left


def _resolve(document: Document, format: Format, known: Known) -> tuple[Any, list[Finding]]:
    """What a document means (its fields, its cases, its errors), and all that is found in it."""
    findings = Findings(known, SuiteFiles(folder_of(document.path)))
    meaning: Any
    if format == "jsonl":
        made = resolve_line(document.value, findings, Ids(), NOTHING_SHARED)
        meaning = [case and case.to_dict() for case in made]
    elif is_sidecar(document.path):
        fields, shared = resolve_sidecar(document.value, "", findings)
        meaning = [fields, shared._replace(variables=None)[:-1]]
        if (of_suite := shared.variables) is not None:
            tagged = [each[:2] for each in of_suite.tagged]
            meaning += [of_suite.names, of_suite.matrix, of_suite.rows, tagged]
    else:
        fields, cases, _ = resolve_suite(document.value, "", findings)
        meaning = [fields, [case and case.to_dict() for case in cases]]
    others = sorted(each.code for each in findings.found if each.code not in OLD_NAME_CODES)
    return [meaning, others], findings.found


def _change_all(document: Document, renames: list[Change]) -> str:
    return apply_edits(document.text, (edit for each in renames for edit in each.edits), "yaml")


def _find_safe(
    planned: list[Change], keeps_meaning: Callable[[list[Change]], bool]
) -> list[Change]:
    """The renames that keep what a file means: nearly always all, else those of each name that
    can all be made, perhaps because another one was."""
    if not planned or keeps_meaning(planned):
        return planned
    by_name: dict[str, list[Change]] = {}
    for each in planned:
        by_name.setdefault(each.old, []).append(each)
    safe: list[Change] = []
    for _ in range(2):
        for old, some in [*by_name.items()]:
            if keeps_meaning(safe + some):
                safe += by_name.pop(old)
    return safe


def _plan_rename(finding: Finding, document: Document) -> Change | Finding:
    """The rename of a field or a grader; or the finding, with a hint at what to do by hand."""
    path, at = finding.path, finding.at
    old: Any = path[-1] if at == "key" else _value_at(document.value, path)
    span = document.positions.span(path, at)
    is_plain = document.written_name(span) in (old, f'"{old}"', f"'{old}'")
    if at == "key" and old in _RENAMED and finding.code != "ignored-alias":
        new = _RENAMED[old]
        if new in _value_at(document.value, path[:-1]) or not is_plain:
            return finding._replace(hint=f"write `{new}` by hand, and nothing beside it")
        pairs = [_swap(document.source_of(span), old, new)]
        if finding.message.endswith(ADDS_NO_JUDGE):
            pairs = [*_write_pairs({"criteria_judge": False}, document.format), *pairs]
        edit = Edit(span, _join_pairs(pairs, path[:-1], span, document))
        return Change(span, old, new, (edit,))
    spelling = SPELLINGS.get(old) if isinstance(old, str) else None
    if spelling is None:
        return finding
    edits = _grader_edits(old, spelling, finding, document) if is_plain else None
    new = ", ".join([spelling.name, *_write_pairs(spelling.adds, "yaml")])
    if edits is None:
        return finding._replace(hint=f"write {{type: {new}}} by hand")
    return Change(span, old, new, tuple(edits))


def _swap(source: str, old: str, new: str) -> str:
    """A written name with another name in it; quotes and an anchor stay."""
    before, _, after = source.rpartition(old)
    return before + new + after


def _value_at(value: Any, path: KeyPath) -> Any:
    for step in path:
        value = value[step]
    return value


def _grader_edits(
    old: str, spelling: Spelling, finding: Finding, document: Document
) -> list[Edit] | None:
    """The edits that write our name, the options that it implies, and our names of its options.
    None for `{NAME: …}` that takes more than another name."""
    path, positions, is_key = finding.path, document.positions, finding.at == "key"
    span = positions.span(path, finding.at)
    renamed = _swap(document.source_of(span), old, spelling.name)
    more = dict(spelling.adds)
    folder = SuiteFiles(folder_of(document.path)).from_root
    if old == "code_judge" and folder != ".":  # it runs in the folder of its suite
        more["cwd"] = folder
    adds = _write_pairs(more, document.format)
    if not is_key and path[-1] != "type":  # a name alone
        typed = _write_pairs({"type": spelling.name}, document.format) + adds
        return [Edit(span, "{" + ", ".join(typed) + "}" if adds else renamed)]
    around = path if is_key else path[:-1]
    options = _value_at(document.value, around)
    written = options.keys() if isinstance(options, dict) else {"value"}
    others = sorted(written & spelling.renames.keys())
    if is_key:
        return None if adds or others else [Edit(span, renamed)]
    keys = [(each, positions.span((*around, each), "key")) for each in others]
    return [
        Edit(span, _join_pairs([renamed, *adds], around, positions.span(path, "key"), document)),
        *[Edit(key, _swap(document.source_of(key), each, spelling.renames[each]))
          for each, key in keys],
    ]  # fmt: skip


def _write_pairs(options: Mapping[str, JSON], format: str) -> list[str]:
    if format == "yaml":
        return [f"{name}: {each if isinstance(each, str) else json.dumps(each)}"
                for name, each in options.items()]  # fmt: skip
    return [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in options.items()]


def _join_pairs(pairs: list[str], around: KeyPath, key: Span, document: Document) -> str:
    """Pairs for the mapping at a path, written as that is: side by side or line by line."""
    source = document.source_of(document.positions.written_span(around))
    while source[:1] in ("&", "!"):
        _, _, source = source.partition(" ")
    if source.startswith("{"):
        return ", ".join(pairs)
    line_end = LINE_BREAK.search(document.text)
    return ((line_end[0] if line_end else "\n") + " " * (key.column - 1)).join(pairs)


# Fixes.


def fix_file(path: str, known: Known) -> Rewrite:
    """Plan the exact fixes of a file. Nothing is written; one that can't be read has none."""
    nothing = Rewrite(path, b"", b"", [], [], [])
    if outside_link(path) is not None:
        return nothing
    try:
        format, data = format_at(path), read_raw(path)
        text = data.removeprefix(BOM).decode()
    except (UnreadableError, UnicodeDecodeError):
        return nothing
    after, changes = fix_text(text, format, path, known)
    mark = BOM if data.startswith(BOM) else b""
    return Rewrite(path, data, mark + after.encode(), changes, [], [])


def fix_text(text: str, format: Format, path: str, known: Known) -> tuple[str, list[Change]]:
    """A text at a path after all exact fixes, and the changes that were made."""
    done: list[Change] = []
    problems = _problems_in(text, format, path, known)
    for _ in range(_MOST_ROUNDS):
        edits: list[Edit] = []
        for each in problems:
            if each.fix is None or each.span is None:
                continue
            if not edits or each.span[:2] >= edits[-1].span[2:]:
                edits.append(Edit(each.span, each.fix))
        after = apply_edits(text, edits, format)
        left = _problems_in(after, format, path, known) if edits else problems
        if not edits or not _is_better(left, problems):
            break
        lines = Lines(text, only_feeds=format == "jsonl")
        for edit in edits:
            old = text[lines.offset(*edit.span[:2]) : lines.offset(*edit.span[2:])]
            done.append(Change(edit.span, old, edit.text, (edit,)))
        text, problems = after, left
    return text, done


def _problems_in(text: str, format: Format, path: str, known: Known) -> list[Problem]:
    found = load_text(text, format, known, path).problems
    return [problem for problem in found if problem.path == path and problem.span is not None]


def _is_better(after: list[Problem], before: list[Problem]) -> bool:
    """Whether fewer problems are left. A text that can't be parsed may hide any number of them."""
    if any(each.code == "syntax" for each in before):
        first, second = ([(each.code, each.span) for each in some] for some in (after, before))
        return first != second
    # A case that has become valid may get warnings that it did not get before.
    errors = [sum(each.severity == "error" for each in some) for some in (after, before)]
    is_broken = any(each.code == "syntax" for each in after)
    return not is_broken and (errors[0], len(after)) < (errors[1], len(before))
