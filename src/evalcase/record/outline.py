"""What has to be known of a row of the journal to count it, read strictly and quickly."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import Any, NamedTuple

from evalcase.model.batching import SentBatch
from evalcase.model.codec import decode_object, encode_object
from evalcase.model.result import VERDICTS, Verdict
from evalcase.model.target import TargetVersion
from evalcase.model.trial_key import TrialKey
from evalcase.record.basis import Basis, decode_basis
from evalcase.record.ending import End, decode_end
from evalcase.record.gradings import GradingBegun, decode_grading
from evalcase.record.lines import damaged_error
from evalcase.text.journal_row import decode_body

RESULT, REGRADED, CHANGED, GRADING, END = "result", "regraded", "target", "grading", "end"
LOST, TALK, BATCH, BASIS = "lost", "talk", "batch", "basis"
SKIPPED = b'{"type":"case",'
"""How rows begin that are the most of a journal, and that count nothing."""
_MOST_USD = 1e15
_TYPES = [str, str, str, int]


class Outline(NamedTuple):
    """A result, or what became of one that was graded again."""

    type: str
    key: TrialKey
    verdict: Verdict
    question_hash: str
    grading_hash: str
    grading: int
    repeats: int
    pass_rate: float
    answered: bool
    cached: bool
    cost_usd: float | None
    grading_usd: float | None
    number: int
    user: str | None = None
    """Who played the user of a conversation."""
    user_usd: float | None = None


class Changed(NamedTuple):
    """That a target is another from here on than it was before."""

    target: str
    version: TargetVersion


class Begun(NamedTuple):
    """That answers are graded again from here on."""

    grading: GradingBegun


class Ended(NamedTuple):
    """That a part of the run is over: what follows was added by a later one."""

    end: End


class Lost(NamedTuple):
    """That money was spent on a trial, and bought no answer that counts."""

    cost_usd: float


class Talking(NamedTuple):
    """That a conversation is under way from here on, until it has a result."""

    key: TrialKey


Counting = Outline | Changed | Begun | Ended | Lost | Talking | SentBatch | Basis
"""What a row says that counts."""


def read_counting(body: bytes, path: str, number: int) -> Counting | None:
    """What a line says that counts trials, or of who answers or which grading they are of; `body`
    is that line without its checksum, the one with this number in the journal at `path`."""
    row = _decode_line(body, path, number)
    read = _READERS.get(row.get("type"))
    try:
        return read(row) if read is not None else None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        fault = f"is not a result: {_explain_error(error)}"
        raise damaged_error(path, number, fault) from error


def _explain_error(error: Exception) -> str:
    """What is wrong with a row, in words."""
    if isinstance(error, KeyError):
        return f"`{error.args[0]}` is missing"
    return str(error) if isinstance(error, ValueError) else "a part of it has a wrong type"


def _decode_line(body: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        return decode_body(body)
    except ValueError as error:
        raise damaged_error(path, number, f"is not a row of a journal: {error}") from error


def outline_of(row: dict[str, Any]) -> Outline:
    """Raise KeyError, TypeError or ValueError if a row is none of a result."""
    answer, verdict = row.get("answer"), row["verdict"]
    if verdict not in VERDICTS:
        raise ValueError(f"unknown verdict {verdict!r:.60}")
    key = _read_key(row)
    question, grading = row.get("question_hash", ""), row.get("grading_hash", "")
    if (type(question), type(grading)) != (str, str):
        raise ValueError("a hash has a wrong type")
    user, user_usd = _read_user(row.get("user"))
    costs = [_read_money(grade.get("cost_usd")) for grade in row.get("grades", ())]
    known = [cost for cost in costs if cost is not None]
    return Outline(
        row["type"], key, verdict, question, grading,
        _read_count(row, "grading"), _read_count(row, "repeats"),
        _read_share(row.get("pass_rate", 1.0)),
        answer is not None,
        answer is not None and answer.get("cached") is True,
        _read_money(answer.get("cost_usd")) if answer is not None else None,
        fsum(known) if known else None,
        _read_count(row, "number", 0), user, user_usd,
    )  # fmt: skip


def _read_user(value: Any) -> tuple[str | None, float | None]:  # noqa: ANN401 - JSON of any shape
    """Who played the user of a conversation, and what that cost."""
    if value is None:
        return None, None
    if not isinstance(value["target"], str):
        raise ValueError("who played the user has a wrong type")
    return value["target"], _read_money(value.get("cost_usd"))


def _read_key(row: dict[str, Any]) -> TrialKey:
    key = TrialKey(row["suite"], row["case"], row["target"], row["repeat"])
    if [*map(type, key)] != _TYPES:
        raise ValueError("suite, case, target or repeat has a wrong type")
    if key.repeat < 1:
        raise ValueError(f"{key.repeat} is not a trial of a case")
    return key


def _read_changed(row: dict[str, Any]) -> Changed:
    target = row["target"]
    if not isinstance(target, str):
        raise ValueError("target has a wrong type")
    return Changed(target, decode_object(TargetVersion, row["version"]))


def changed_row(target: str, version: TargetVersion, at: str) -> dict[str, Any]:
    """The row that says so."""
    return {"type": CHANGED, "target": target, "version": encode_object(version), "at": at}


def lost_row(key: TrialKey, spent_usd: float) -> dict[str, Any]:
    """The row that says so."""
    return {"type": LOST, **key._asdict(), "cost_usd": spent_usd}


def talk_row(key: TrialKey) -> dict[str, Any]:
    """The row that says that a conversation is begun."""
    return {"type": TALK, **key._asdict()}


def batch_row(sent: SentBatch) -> dict[str, Any]:
    """The row that says that a batch is sent; and, once it is known, what the service calls it."""
    return {"type": BATCH, **sent._asdict()}


def _read_batch(row: dict[str, Any]) -> SentBatch:
    target, tag, at, id = row["target"], row["tag"], row["at"], row.get("id")
    if not all(isinstance(each, str) for each in (target, tag, at, "" if id is None else id)):
        raise ValueError("target, tag, at or id has a wrong type")
    return SentBatch(target, tag, _read_count(row, "questions"), at, id)


def _read_lost(row: dict[str, Any]) -> Lost:
    spent = _read_money(row["cost_usd"])
    if spent is None:
        raise ValueError("cost_usd is missing")
    return Lost(spent)


def _read_money(value: object) -> float | None:
    if value is not None and (type(value) not in (int, float) or not 0 <= value < _MOST_USD):  # type: ignore[operator]
        raise ValueError("cost_usd is not an amount of money")
    return value  # type: ignore[return-value]


def _read_count(row: dict[str, Any], name: str, least: int = 1) -> int:
    value = row.get(name, least)
    if type(value) is not int or not least <= value < 1 << 31:
        raise ValueError(f"{name} is not a count")
    return value


def _read_share(value: object) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:  # type: ignore[operator]
        raise ValueError("pass_rate is not a share")
    return float(value)  # type: ignore[arg-type]


_READERS: dict[object, Callable[[dict[str, Any]], Counting]] = {
    RESULT: outline_of,
    REGRADED: outline_of,
    CHANGED: _read_changed,
    LOST: _read_lost,
    TALK: lambda row: Talking(_read_key(row)),
    BATCH: _read_batch,
    BASIS: decode_basis,
    GRADING: lambda row: Begun(decode_grading(row)),
    END: lambda row: Ended(decode_end(row)),
}
