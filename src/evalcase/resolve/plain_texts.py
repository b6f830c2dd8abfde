"""Texts that other tools make something else of: `{{name}}` without variables, `file://…`. Here
they are text, and a warning says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalcase.model.finding import KeyPath

if TYPE_CHECKING:
    from evalcase.resolve.findings import Findings
    from evalcase.resolve.names import Named
    from evalcase.resolve.variables.tagged import TaggedValue

_SCHEME = "file://"
_OF_JUDGES = "template"
"""The option of graders that has names in braces of its own."""
TAGGED_FIELDS = ("input", "expected_output", "criteria", "rubrics", "graders", "turns", "user")
"""The fields of a case in which values take the place of tags."""


def warn_of_texts(case: Named, path: KeyPath, findings: Findings) -> None:
    """Look for both in a case, if there is a doubt. What is rendered may have anything in
    braces."""
    if not findings.doubts.texts:
        return
    if case.values.get("rendered") is not True:
        _warn_of_tags(case, path, findings)
    warn_of_file_texts(case, path, findings)


def _warn_of_tags(case: Named, path: KeyPath, findings: Findings) -> None:
    from evalcase.resolve.variables.tagged import TaggedValue

    told: set[str] = set()
    for field in TAGGED_FIELDS:
        if case.values.get(field) is not None:
            tagged = TaggedValue(case.values[field], case.path(path, field))
            report_tags(tagged, "this case has no `vars`", told, findings)


def report_tags(tagged: TaggedValue, why: str, told: set[str], findings: Findings) -> None:
    """Warn of tags that nothing takes the place of, but for those of which it is told."""
    for at, tag in tagged.tags():
        if tag.name not in told and at[-1] != _OF_JUDGES:
            told.add(tag.name)
            message = f"{tag.source} stays as it is: {why}"
            hint = f"give it a value, `vars: {{{tag.name}: …}}`"
            hint += "; if the braces are meant, say `rendered: true`"
            findings.add("no-variables", at, message, hint, within=tag.source)


def warn_of_file_texts(part: Named, path: KeyPath, findings: Findings) -> None:
    """Warn of a text that is the address of a file, and nothing else. In a message it is meant."""
    for field, role in (("input", "user"), ("expected_output", "assistant")):
        text = part.values.get(field)
        if type(text) is not str or not is_file_address(text):
            continue
        message = f"this is the text `{text}`, and not what is in that file"
        hint = f"write `var_files: {{text: {text.removeprefix(_SCHEME)}}}`, and {{{{text}}}} here"
        at, meant = part.path(path, field), f"{{role: {role}, content: …}}"
        # A turn that is a text is no place for a message.
        hint += f"; if the text is meant, write {meant if at != path else f'{{input: {meant}}}'}"
        findings.add("file-as-text", at, message, hint)


def is_file_address(text: str) -> bool:
    """Whether a text is the address of a file, and nothing else."""
    return text.startswith(_SCHEME) and len(text.split()) == 1


def warn_of_file_value(value: object, path: KeyPath, findings: Findings) -> None:
    """Warn of a variable whose value only other tools take for what is in a file."""
    if not is_file_value(value):
        return
    field, name = path[-2], path[-1]
    told = f"`var_files: {{{name}: {str(value).removeprefix(_SCHEME)}}}` takes its text"
    if field != "vars":
        told = "`var_files` takes the text of a file"
    message = f"this is the text `{value}`, and not what is in that file"
    findings.add("file-as-text", path, message, f"{told}; a link is written file:///…")


def is_file_value(value: object) -> bool:
    """Whether a value is such an address from a folder on. One from the root is a link as people
    write it, and may be meant."""
    return type(value) is str and is_file_address(value) and not value.startswith(_SCHEME + "/")
