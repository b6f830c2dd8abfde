"""The base of the nouns: frozen, compared by what they hold, read strictly."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from msgspec import Struct, structs

T = TypeVar("T")


class Value(
    Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True
):
    """A plain value. Written as JSON, fields that have their defaults are left out."""


def replace(value: T, /, **changes: Any) -> T:  # noqa: ANN401 - of the types of its fields
    """The same with other fields. Options are dataclasses, and all else are Structs."""
    if isinstance(value, Struct):
        changed: T = structs.replace(value, **changes)
        return changed
    return dataclasses.replace(value, **changes)  # type: ignore[type-var]
