"""Short names for what an answer rests on, and for what its grading does.

A trial is asked again when its question hash has changed, and graded again when its grading hash
has: a new expectation costs no call of a target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from evalcase.model.case import Case
from evalcase.text.quick_json import compact_encoder

_ASKED = ("input", "metadata", "conversation_id")
_GRADED = ("expected_output", "criteria", "rubrics", "graders", "threshold")
_to_json = compact_encoder(sort_keys=True)


def hash_question(case: Case, files: Mapping[str, str] | None = None) -> str:
    """16 hex digits of all that a target is given; `files` are hashes of those that it names."""
    data = case.data
    asked = {name: data[name] for name in _ASKED if name in data}
    if files:
        asked["files"] = files
    return sha256(_to_json(asked).encode()).hexdigest()[:16]


def hash_grading(case: Case, prints: Sequence[str] = ()) -> str:
    """16 hex digits of all that a verdict rests on beside the answer; `prints` are those of
    graders whose code may change."""
    data = case.data
    graded = {name: data[name] for name in _GRADED if name in data}
    if prints:
        graded["code"] = list(prints)
    return sha256(_to_json(graded).encode()).hexdigest()[:16]
