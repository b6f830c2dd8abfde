"""A case of somebody else's data, written so that it says of its texts that they are meant as they
are: what is imported or harvested is no mistake of whoever would be warned of it."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import Finding


def keep_literal(fields: dict[str, Any], finding: Finding, field: str) -> None:
    """Change the fields of a case that a finding is about, if it warns of what looks like a tag, or
    like the address of a file."""
    if finding.code == "no-variables":
        fields["rendered"] = True
    elif finding.code == "file-as-text" and isinstance(fields.get(field), str):
        role = "user" if field == "input" else "assistant"
        fields[field] = [{"role": role, "content": fields[field]}]
