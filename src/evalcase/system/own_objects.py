"""What evalcase has itself, imported once it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_own(place: str) -> Any:  # noqa: ANN401 - whatever stands there
    """The object that `module:name` names: a class of a plug-in, a function that writes a form."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
