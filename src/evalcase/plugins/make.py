"""The graders of a case to graders that are ready to use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from evalcase.grade.apply import needs_expected
from evalcase.graders import NamedGrader
from evalcase.graders.expected import ExpectedGrader
from evalcase.model.case import Case
from evalcase.plugins.configure import configure
from evalcase.plugins.registry import find


def graders_of(case: Case) -> Sequence[NamedGrader]:
    """The graders of a case, the built-in comparison added where nothing else compares."""
    specs = case.graders
    graders = _made(_to_json(specs)) if specs else ()
    return (*graders, _EXPECTED) if needs_expected(case, graders) else graders


@lru_cache(maxsize=256)
def _made(specs: str) -> tuple[NamedGrader, ...]:
    """Most cases of a suite have the same graders, and to make one is slower than to use it."""
    graders = []
    for spec in json.loads(specs):
        kind, _, value = str(spec["type"]).partition(":")
        options = {**spec, "type": kind, "value": value} if value else spec
        if kind == "python" and spec.get("name") is None:
            # There may be several, and a person wants to know which of them failed.
            options = {**options, "name": f"python:{options.get('value')}"}
        graders.append(configure(find("graders", kind), options))
    return tuple(graders)


_to_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_EXPECTED = NamedGrader("expected", ExpectedGrader())
