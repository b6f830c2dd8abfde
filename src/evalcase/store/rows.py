"""The rows of a journal: Structs, with one encoder and one decoder. A journal may come from anyone,
so that every value must have the type of its field."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.json import Decoder

from evalcase.types.answer import Answer, Count, Failure, Seconds, Usd, split_turns
from evalcase.types.case import Case, check_case
from evalcase.types.grade import Grade
from evalcase.types.result import Decision, Regraded, Result
from evalcase.types.target import SentBatch, TargetVersion, TrialKey
from evalcase.types.value import Value, decode_hook, explain_error, measure_depth
from evalcase.util.json import DEEPEST_ROW, compact_encoder, copy_json, parse_body, seal_line

Status = Literal["completed", "interrupted", "stopped", "failed", "incomplete"]
Number = Annotated[int, Meta(ge=1, lt=1 << 31)]


class CaseRow(Value, frozen=True, tag="case"):
    """A case in its canonical form, once, before its first result."""

    suite: str
    case: str
    data: dict[str, Any]
    scrubbed: bool = False
    """Whether a secret was taken out."""

    @classmethod
    def of(cls, suite: str, case: Case) -> CaseRow:
        return cls(suite, case._data["id"], case._data)

    def check(self) -> None:
        """Raise ValueError if it is no case."""
        if self.data.get("id") != self.case:
            raise ValueError("its data is of another case")
        check_case(self.data)


class GradingRow(Value, frozen=True, tag="grading"):
    """From here on, stored answers are graded again."""

    number: Number
    """The number of the grading. The first has no row, unless a merge wrote it."""
    at: str = ""
    origin: Literal["resume", "grade"] | None = None
    """The command that graded."""
    suites: dict[str, str] | None = None
    """The hashes of the files that hold expectations and graders."""
    graders: tuple[str, ...] = ()
    """Graders that replace those of the cases, as they were typed."""
    recorded: bool = False
    """Whether it used the cases in the record."""
    cases_of: int | None = None
    """The grading whose cases in the record it used; None where it used others."""
    others: bool = False
    """Whether the suites are others than those of the run."""


class TargetRow(Value, frozen=True, tag="target"):
    """From here on, results are of another version of a target."""

    target: str
    version: TargetVersion
    at: str = ""


class LostRow(Value, frozen=True, tag="lost"):
    """Money that was spent on a trial, and bought no answer that counts."""

    key: TrialKey
    cost_usd: Usd


class Basis(Value, frozen=True, tag="basis"):
    """What verdicts rest on beside the answers, with hashes: `run.json` has it for the start of
    a run, and a row for each later change."""

    suites: dict[str, str]
    dealt: str | None = None
    """A hash of the cases that were split into shards."""
    rests_on: dict[str, str] | None = None
    """The files of graders, and the targets that they ask; None where there are none."""


class End(Value, frozen=True, tag="end"):
    """How a session of a run ended. Without this row at its end, a run goes on or was killed."""

    status: Status
    """`completed` only if every planned trial has a result; `incomplete` where no row says how it
    ended."""
    notice: str | None = None
    """Why it ended early, in words."""
    failed_fast: bool = False
    """Whether `--fail-fast` ended it."""
    cap_usd: Annotated[float, Meta(ge=0)] | None = None
    """The spending cap, where that ended it."""
    duration_s: Seconds | None = None
    """The time of all sessions together; None where one was killed."""
    lost: Count = 0
    """How many planned cases have no result, and are no longer part of the suites."""
    decision: Decision | None = None
    """The decision that ended it."""
    was_decided: bool = False
    """Whether a decision or a failure on an earlier grading ended it, so that no interval of this
    grading holds."""
    errored: Count | None = None
    """How many trials errored; None where only the other rows can say."""
    trials: Count | None = None
    """How many trials have a result, where it was completed."""
    graded: Number | None = None
    """The later grading that was completed."""


class StoredAnswer(Value, frozen=True, tag="answer"):
    """An answer in the cache."""

    key: str
    answer: Answer


Row: TypeAlias = (
    CaseRow | Result | Regraded | GradingRow | TargetRow | LostRow | SentBatch | Basis
    | End | StoredAnswer
)  # fmt: skip


T = TypeVar("T")
_encode = msgspec.json.Encoder().encode
_decoder: Decoder[Row] = Decoder(Row, dec_hook=decode_hook)
_encode_loosely = compact_encoder(ascii_only=False)


def encode_struct(value: Struct) -> bytes:
    """The JSON object of a value. Raise ValueError for what can't be written as JSON."""
    if not isinstance(value, CaseRow):
        check_values(value)
    try:
        body = _encode(value)
    except UnicodeEncodeError:
        # UTF-8 has no form for lone surrogates: they are written as escapes.
        body = _encode_loosely(msgspec.to_builtins(value)).encode("utf-8", "backslashreplace")
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from error
    return body


def decode_struct(body: bytes, decoder: Decoder[T]) -> T:
    """The value of a JSON object. Raise ValueError if it is of another type."""
    try:
        if b"\\ud" in body:  # lone surrogates are escapes, which msgspec does not read
            value = msgspec.convert(parse_body(body), decoder.type, dec_hook=decode_hook)
        else:
            value = decoder.decode(body)
    except msgspec.ValidationError as error:
        raise ValueError(explain_error(error)) from None
    except RecursionError:
        raise ValueError(f"it is nested more than {DEEPEST_ROW} deep") from None
    if body.count(b"[") + body.count(b"{") > DEEPEST_ROW:
        _check_depth(body)
    return value


def _check_depth(body: bytes) -> None:
    if measure_depth(parse_body(body), DEEPEST_ROW) > DEEPEST_ROW:
        raise ValueError(f"it is nested more than {DEEPEST_ROW} deep")


def write_row(row: Row) -> bytes:
    return seal_line(encode_struct(row))


def decode_row(body: bytes) -> Row:
    """The row of a JSON object. Raise ValueError if it is none."""
    row = decode_struct(body, _decoder)
    match row:
        case CaseRow():
            row.check()
        case Result() | Regraded() | LostRow():
            if row.key.repeat < 1:
                raise ValueError(f"{row.key.repeat} is not the number of a trial")
            if isinstance(row, Result) and row.turns:
                if row.answer is None:
                    raise ValueError("it has turns, and no answer")
                split_turns(row.answer, row.turns)
        case End(decision=Decision() as decision):
            if not 0 <= decision.low <= decision.high <= 1:
                raise ValueError("its decision makes no sense")
    return row


def check_values(value: Struct) -> None:
    """Raise ValueError if a part of a value that may come from user code is no JSON: msgspec would
    write NaN as null, and dates and sets as something else. Cases were checked when they were read,
    and messages when they were returned."""
    answer: Answer | None = getattr(value, "answer", None)
    failures: tuple[Failure | None, ...] = (getattr(value, "failure", None),)
    if isinstance(value, Result):
        if not 0 <= value.duration_s < inf:
            raise ValueError(f"`duration_s` is {value.duration_s!r:.60}, not a number of 0 or more")
        failures += value.retried
    if answer is not None:
        for step in answer.steps:
            copy_json(step.input)
    grades: tuple[Grade, ...] = getattr(value, "grades", ())
    for grade in grades:
        failures += (grade.failure,)
        if grade.details:
            copy_json(grade.details)
    for failure in failures:
        if failure is not None:
            copy_json(failure.details)
