"""A row as it is written, without secrets: what users and targets said is looked through, and
nothing else.

Ids, paths, names, verdicts, hashes and times are what a run is resumed by, and are never altered.
An answer or a case that something was taken out of is marked: whoever grades it again has to know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from evalcase.text.journal_row import dump_row, encode_line
from evalcase.text.secret_search import KnownSecrets

ScrubPart = Callable[[Any, KnownSecrets], Any]

MARK = "scrubbed"
_CUT = ("steps", "stderr")
"""What is kept of an answer, and may have been cut in the middle of a secret."""

_OF_CASE = ("description", "input", "expected_output", "criteria", "rubrics", "metadata", "skip")
_OF_USER = ("goal", "persona", "facts", "first")
_NAMES = ("type", "name")
_OF_GRADE = ("reason", "details")
_OF_FAILURE = ("message", "details")


class WrittenRow(NamedTuple):
    """A row as it is written."""

    line: bytes
    clean: dict[str, Any] | None = None
    """The row without secrets, if there were any in it."""


def write_row(row: dict[str, Any], known: KnownSecrets) -> WrittenRow:
    """The line of a row, without secrets; ValueError if the row can't be kept as JSON."""
    text = dump_row(row)
    if known.values and _may_hold_secrets(row, text, known):
        clean = scrub_row(row, known)
        if clean is not row:
            return WrittenRow(encode_line(dump_row(clean)), clean)
    return WrittenRow(encode_line(text))


def _may_hold_secrets(row: dict[str, Any], text: str, known: KnownSecrets) -> bool:
    """Whether a row has to be looked through, seen from its JSON. Hardly any has."""
    return known.finds(text) or (bool(known.pieces) and _has_pieces(row, known))


def scrub_row(row: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    """The row itself if it has no secrets in it, or else a copy without them."""
    parts = _PARTS.get(row["type"], {})
    clean = {name: scrub(row[name], known) for name, scrub in parts.items() if name in row}
    if all(row[name] == value for name, value in clean.items()):
        return row
    return {**row, **clean, **({MARK: True} if row["type"] == "case" else {})}


def _has_pieces(row: dict[str, Any], known: KnownSecrets) -> bool:
    """Whether what tells of an answer, or of a failure, has cut a secret; or an answer that was cut
    itself. Most rows have a reason, and nothing else of it."""
    for grade in row.get("grades", ()):
        if known.has_piece(grade["reason"]) or (len(grade) > 4 and _has_secret(grade, known)):
            return True
    told = [row[name] for name in ("failure", "retried", "notice") if name in row]
    answer = row.get("answer", {})
    if answer.get("truncated"):
        told.append(answer)
    elif answer:
        told += [message["content"] for message in answer["messages"] if _is_in_parts(message)]
        told += [answer[name] for name in _CUT if name in answer]
    return any(_has_secret(value, known) for value in told)


def _has_secret(value: Any, known: KnownSecrets) -> bool:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, str):
        return known.has_piece(value)
    if isinstance(value, dict):
        return any(_has_secret(item, known) for pair in value.items() for item in pair)
    return isinstance(value, list) and any(_has_secret(item, known) for item in value)


def _scrub_answer(answer: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    scrub = known.told if answer.get("truncated") else known.data
    clean = {name: _scrub_typed(value, known.data) for name, value in answer.items()}
    clean["messages"] = [
        (known.told if _is_in_parts(message) else scrub)(message) for message in answer["messages"]
    ]
    clean |= {name: _scrub_typed(answer[name], known.told) for name in _CUT if name in answer}
    # What stands beside an answer is no part of what is graded.
    is_same = clean | {"stderr": None} == answer | {"stderr": None}
    return clean if is_same else {**clean, MARK: True}


def _is_in_parts(message: dict[str, Any]) -> bool:
    """Whether one text stands in several parts, which may have cut a secret."""
    content = message.get("content")
    return isinstance(content, list) and len(content) > 1


def _scrub_typed(value: Any, scrub: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - fields of any type
    """Values whose types the record holds them to: a number that is a secret is not known."""
    if isinstance(value, dict):
        return {name: _scrub_typed(item, scrub) for name, item in value.items()}
    if isinstance(value, list):
        return [_scrub_typed(item, scrub) for item in value]
    clean = scrub(value)
    return None if isinstance(clean, str) and not isinstance(value, str) else clean


def _scrub_case(data: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    clean = {name: known.data(data[name]) for name in _OF_CASE if name in data}
    if "graders" in data:
        clean["graders"] = [_scrub_grader(grader, known) for grader in data["graders"]]
    if "turns" in data:
        clean["turns"] = [_scrub_case(turn, known) for turn in data["turns"]]
    if "user" in data:
        user = data["user"]
        said = {name: known.data(user[name]) for name in _OF_USER if name in user}
        clean["user"] = {**user, **said}
    return {**data, **clean}


def _scrub_grader(grader: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    clean = {name: known.data(value) for name, value in grader.items() if name not in _NAMES}
    return {**grader, **clean}


def _scrub_grade(grade: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    clean = {name: known.told(grade[name]) for name in _OF_GRADE if name in grade}
    if "failure" in grade:
        clean["failure"] = _scrub_failure(grade["failure"], known)
    return {**grade, **clean}


def _scrub_failure(failure: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    clean = {name: known.told(failure[name]) for name in _OF_FAILURE if name in failure}
    return {**failure, **clean}


def _scrub_each(part: ScrubPart) -> ScrubPart:
    return lambda items, known: [part(item, known) for item in items]


_GRADED: dict[str, ScrubPart] = {"grades": _scrub_each(_scrub_grade)}
_PARTS: dict[str, dict[str, ScrubPart]] = {
    "case": {"data": _scrub_case},
    "result": {
        **_GRADED,
        "answer": _scrub_answer,
        "failure": _scrub_failure,
        "retried": _scrub_each(_scrub_failure),
    },
    "answer": {"answer": _scrub_answer},
    "regraded": _GRADED,
    "grading": {"graders": lambda graders, known: known.data(graders)},
    "end": {"notice": lambda notice, known: known.told_text(notice)},
}
"""What is looked through, by the type of the row."""
