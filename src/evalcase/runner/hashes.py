"""Short hashes of everything that an answer rests on, and of everything that its grading rests on.

A trial is asked again when its question hash has changed, and graded again when its grading hash
has: a new expectation costs no call of a target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from json import dumps

from msgspec.json import Encoder

from evalcase.types.answer import USER_PROTOCOL
from evalcase.types.case import Case

_ASKED = ("input", "metadata", "conversation_id", "user")
_GRADED = ("expected_output", "criteria", "criteria_judge", "rubrics", "graders", "threshold")
OF_QUESTION = (*_ASKED, "turns", "stop_on_failure", "workspace")
OF_GRADING = (*_GRADED, "turns", "repeat", "workspace")
"""The fields that an answer rests on, and a verdict; `repeat` is in no hash, but in each result."""
DECIDES_NOTHING = frozenset({
    "id", "description", "tags", "skip", "targets", "timeout_s", "vars", "rendered"
})  # fmt: skip
"""All other fields of a case."""
_encode = Encoder(order="deterministic").encode


def hash_question(
    case: Case, files: Mapping[str, str] | None = None, workspace: str | None = None
) -> str:
    """16 hex digits of everything that a target is given; `files` has hashes of attached files, and
    `workspace` says what it finds to work in."""
    data = case._data
    asked: list[object] = [*map(data.get, _ASKED), files or None, workspace]
    if "turns" in data:  # `stop_on_failure` decides how many of them are asked
        asked += [[turn["input"] for turn in data["turns"]], case.stops_on_failure]
    if "user" in data:
        asked.append(USER_PROTOCOL)
    return _hash_data(asked)


def hash_grading(case: Case, prints: Sequence[str] = (), workspace: str | None = None) -> str:
    """16 hex digits of everything that a verdict rests on beside the answer; `prints` are those of
    graders whose code may change."""
    data = case._data
    graded: list[object] = [*map(data.get, _GRADED), workspace, prints]
    if "turns" in data:
        graded += [[*map(turn.get, _GRADED)] for turn in data["turns"]]
    return _hash_data(graded)


def _hash_data(data: list[object]) -> str:
    try:
        text = _encode(data)
    except UnicodeEncodeError:  # a lone surrogate
        text = dumps(data, sort_keys=True).encode()
    return sha256(text).hexdigest()[:16]
