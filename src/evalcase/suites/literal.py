"""A case of somebody else's data, written so that it says of its texts that they are meant as they
are: what is imported or harvested is no mistake of whoever would be warned of it."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import Finding, KeyPath


def keep_literal(fields: dict[str, Any], finding: Finding, field: str) -> None:
    """Change the fields of a case that a finding is about, if it warns of what looks like a tag, or
    like the address of a file."""
    if finding.code == "no-variables":
        fields["rendered"] = True
    elif finding.code == "file-as-text" and field in _SAID:
        _keep_address(fields, finding.path[finding.path.index(field) :])


_SAID = ("input", "expected_output", "turns")


def _keep_address(part: Any, path: KeyPath) -> None:  # noqa: ANN401 - mappings and lists
    """Write the text at a path as a message; a turn that is a text has one inside of it."""
    *above, last = path
    for key in above:
        part = part[key]
    if isinstance(part[last], str):
        said = [
            {"role": "assistant" if last == "expected_output" else "user", "content": part[last]}
        ]
        part[last] = {"input": said} if isinstance(last, int) else said
