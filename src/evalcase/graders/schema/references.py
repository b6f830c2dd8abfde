"""Where a `$ref` leads: to a part of the same schema, and never anywhere else."""

from __future__ import annotations

from evalcase.types.options import is_index, path_steps
from evalcase.types.value import JSON


class RemoteError(LookupError):
    """A reference leads to another document."""


def find_schema(reference: str, root: JSON) -> JSON:
    """The part that a reference names. Raise LookupError if there is none."""
    document, hash_mark, fragment = reference.partition("#")
    own = root.get("$id") if isinstance(root, dict) else None
    if document and document != own:
        raise RemoteError(reference)
    if not hash_mark or not fragment:
        return root
    if not fragment.startswith("/"):
        return _find_anchor(fragment, root)
    from urllib.parse import unquote  # slow to import, and seldom needed

    value = root
    for step in path_steps(unquote(fragment)):
        if isinstance(value, dict):
            value = value[step]
        elif isinstance(value, list) and is_index(step):
            value = value[int(step)]
        else:
            raise LookupError(reference)
    return value


def _find_anchor(name: str, schema: JSON) -> JSON:
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if each.get("$anchor") == name:
                return each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    raise LookupError(name)
