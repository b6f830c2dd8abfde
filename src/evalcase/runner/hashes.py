"""Short names for what an answer rests on, and for what its grading does.

A trial is asked again when its question hash has changed, and graded again when its grading hash
has: a new expectation costs no call of a target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from evalcase.types.case import Case
from evalcase.types.conversation import USER_PROTOCOL
from evalcase.util.json import compact_encoder

_ASKED = ("input", "metadata", "conversation_id", "user")
_ASKED_ELSE = frozenset({*_ASKED[1:], "turns"})
_GRADED = ("expected_output", "criteria", "rubrics", "graders", "threshold")
_GRADED_ELSE = frozenset({*_GRADED[1:], "turns"})
_ELSE = _ASKED_ELSE | _GRADED_ELSE | {"repeat"}
OF_QUESTION = (*_ASKED, "turns", "stop_on_failure")
OF_GRADING = (*_GRADED, "turns", "repeat")
"""What an answer rests on, and what a verdict does; `repeat` is no part of a hash, but stands in
each result."""
DECIDES_NOTHING = frozenset({
    "id", "description", "tags", "skip", "targets", "timeout_s", "vars", "rendered"
})  # fmt: skip
"""All other fields of a case: by these it is found and chosen, or they are in its texts already."""
_to_json = compact_encoder(sort_keys=True)


def hash_question(case: Case, files: Mapping[str, str] | None = None) -> str:
    """16 hex digits of all that a target is given; `files` are hashes of those that it names."""
    data = case._data
    if not files and (plain := hash_plain_question(case)) is not None:
        return plain
    asked = {name: data[name] for name in _ASKED if name in data}
    if "turns" in data:
        # How many of them are asked rests on whether a failure ends it.
        asked["turns"] = [turn["input"] for turn in data["turns"]]
        asked["stop_on_failure"] = case.stops_on_failure
    if "user" in data:
        asked["protocol"] = USER_PROTOCOL
    if files:
        asked["files"] = files
    return _hash_text(_to_json(asked))


def hash_plain_question(case: Case) -> str | None:
    """The same for a case that asks one text and nothing else, as most do, and so names no files;
    None for all others."""
    data = case._data
    return _hash_plain(data["input"]) if _ASKED_ELSE.isdisjoint(data) else None


def hash_plain_case(case: Case) -> tuple[str, str] | None:
    """Both hashes of a case that asks one text, expects one, is asked once and is graded by nothing
    else, as most are; None for all others."""
    data = case._data
    if _ELSE.isdisjoint(data) and "expected_output" in data:
        asked, expected = _hash_plain(data["input"]), _hash_plain(data["expected_output"])
        if asked is not None and expected is not None:
            return asked, expected
    return None


def hash_grading(case: Case, prints: Sequence[str] = ()) -> str:
    """16 hex digits of all that a verdict rests on beside the answer; `prints` are those of
    graders whose code may change."""
    data = case._data
    if not prints and _GRADED_ELSE.isdisjoint(data):
        plain = _hash_plain(data.get("expected_output", ()))
        if plain is not None:
            return plain
    graded = {name: data[name] for name in _GRADED if name in data}
    if "turns" in data:
        graded["turns"] = [
            {name: turn[name] for name in _GRADED if name in turn} for turn in data["turns"]
        ]
    if prints:
        graded["code"] = list(prints)
    return _hash_text(_to_json(graded))


def _hash_plain(messages: Sequence[Mapping[str, object]]) -> str | None:
    """The hash of one message that is a role and a text, as most are; None for all others."""
    if len(messages) == 1:
        message = messages[0]
        if len(message) == 2 and type(content := message.get("content")) is str:
            text = f"{message['role']}:{content}"  # JSON never begins like this
            return _hash_text(text)
    return None


def _hash_text(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
