"""Rows of results told at a glance say the same as when they are read whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.model.answer import Answer, Usage
from evalcase.model.codec import decode_object, encode_after
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.message import Message
from evalcase.model.result import VERDICTS, Result
from evalcase.model.trial_key import TrialKey
from evalcase.model.value import replace
from evalcase.record.glance import Glance, glance_at
from evalcase.record.outline import outline_of
from evalcase.text.journal_row import TAIL, decode_body, encode_row
from tests.for_each import for_each

GRADE = Grade("expected", 1.0, True, "the text is equal")
USUAL = Result(
    TrialKey("sums.eval.jsonl", "sum-1", "python:adding:add", 1), "0" * 16, "passed",
    Answer.of_text("3"), (GRADE,), None, 1, "2026-01-01T00:00:00.000+00:00", 0.25, (), "f" * 16,
    number=7,
)  # fmt: skip


def body_of(result: Result) -> bytes:
    return encode_row(encode_after({"type": "result"}, result))[:-TAIL]


def answer(**content: Any) -> Answer:
    said: dict[str, Any] = {"role": "assistant", "content": content}
    return Answer((Message(said),))


QUICK: dict[str, Result] = {
    "usual": USUAL,
    "first": replace(USUAL, number=0),
    "other letters": replace(USUAL, key=TrialKey("süß.yaml", "日本", "x", 1)),
    "several grades": replace(USUAL, grades=(GRADE, replace(GRADE, score=0.25, passed=False))),
    "a tiny score": replace(USUAL, grades=(replace(GRADE, score=1.5e-07, passed=False),)),
    "no time at all": replace(USUAL, duration_s=1e-05),
    **{verdict: replace(USUAL, verdict=verdict) for verdict in VERDICTS},
}
WHOLE: dict[str, Result] = {
    "no answer": replace(USUAL, answer=None, grades=(), failure=Failure("timeout", "late")),
    "lines and quotes": replace(USUAL, answer=Answer.of_text('a\n"b"\\ ,"grading_hash":"x"')),
    "data": replace(USUAL, answer=answer(x="y", n=3)),
    "usage": replace(USUAL, answer=replace(Answer.of_text("3"), usage=Usage(1, 2))),
    "cost": replace(USUAL, answer=replace(Answer.of_text("3"), cost_usd=0.5)),
    "cached": replace(USUAL, answer=replace(Answer.of_text("3"), cached=True)),
    "cost of grading": replace(USUAL, grades=(replace(GRADE, cost_usd=0.25),)),
    "third repeat": replace(USUAL, key=USUAL.key._replace(repeat=3)),
    "repeats": replace(USUAL, repeats=5, pass_rate=0.8),
    "a later grading": replace(USUAL, grading=2),
    "quotes in names": replace(USUAL, key=TrialKey('a"b', "c\\", "\x1f", 1)),
    "another verdict in data": replace(USUAL, answer=answer(verdict="failed")),
    "another hash in data": replace(USUAL, answer=answer(grading_hash="x", number=3)),
    "control characters": replace(USUAL, answer=Answer.of_text("\x00")),
    "control characters in data": replace(USUAL, answer=answer(x="\x00")),
}


def seen_whole(body: bytes) -> Glance:
    """What a glance has to say of a row that is read whole; it is one that a glance may tell."""
    row = decode_body(body)
    whole = outline_of(row)
    usual = {"grading": 1, "repeats": 1, "pass_rate": 1.0, "cached": False, "cost_usd": None}
    usual |= {"grading_usd": None, "user": None, "user_usd": None, "answered": True}
    assert {name: value for name, value in whole._asdict().items() if name in usual} == usual
    assert whole.key.repeat == 1
    del row["type"]
    decode_object(Result, row)
    number = str(whole.number) if whole.number else ""
    return (*whole.key[:3], whole.question_hash, whole.verdict, whole.grading_hash, number)


@pytest.mark.parametrize("result", QUICK.values(), ids=QUICK)
def test_a_glance_tells_the_same_as_the_whole_row(result: Result) -> None:
    body = body_of(result)
    assert glance_at([body]) == [seen_whole(body)]


def test_each_line_is_told_by_itself() -> None:
    usual, other = body_of(USUAL), body_of(WHOLE["a later grading"])
    seen = seen_whole(usual)
    assert glance_at([]) == []
    assert glance_at([b"", usual, other, usual, b""]) == [None, seen, None, seen, None]
    assert glance_at([usual, b"\xff"]) == [None, None]


@pytest.mark.parametrize("result", WHOLE.values(), ids=WHOLE)
def test_what_a_glance_could_miss_is_read_whole(result: Result) -> None:
    assert glance_at([body_of(result)]) == [None]


@for_each(
    ("old", "new"),
    [
        (b'"passed"', b'"perfect"'),
        (b'"repeat":1', b'"repeat":01'),
        (b'"number":7', b'"number":-7'),
        (b'"number":7', b'"number":7,"verdict":"failed"'),
        (b'"number":7', b'"number":7}'),
        (b'"answer":{', b'"answer":{"c\\u0061ched":true,'),
        (b'{"type":"result"', b'{ "type":"result"'),
        (b'"number":7', b'"number":0'),
        (b'"number":7', b'"number":07'),
        (b'"number":7', '"number":\u0667'.encode()),
        (b'"number":7', b'"number":1234567890'),
        (b'"answer":{', b'"answer":[{'),
        (b'"answer":{', b'"grades":[],"answer":{'),
        (b'"content":"3"', b'"content":"\xff"'),
        (b'"sum-1"', b'"sum-\\n"'),
        (b'"score":1.0', b'"score":banana'),
        (b'"score":1.0', b'"score":1.5'),
        (b'"score":1.0', b'"score":01'),
        (b'"score":1.0', b'"score":NaN'),
        (b'"passed":true', b'"passed":nonsense'),
        (b'"duration_s":0.25', b'"duration_s":-1'),
        (b'"duration_s":0.25', b'"duration_s":1e999'),
        (b'"content":"3"', b'"content":"\t"'),
        (b'"content":"3"', b'"content":"3",%%%'),
    ],
)
def test_a_row_that_evalcase_would_not_write_is_read_whole(old: bytes, new: bytes) -> None:
    body = body_of(USUAL)
    assert old in body
    assert glance_at([body.replace(old, new, 1)]) == [None]


_PIECES = [b'"', b"\\", b",", b":", b"{", b"}", b"[", b"]", b"0", b"1e9", b"null", b"\x00", b"\xff"]
_PIECES += [f'"{each}":'.encode() for each in ("verdict", "repeat", "cost_usd", "grading", "score")]
_WRITTEN = st.one_of(st.sampled_from(_PIECES), st.binary(max_size=8))
_EDIT = st.tuples(st.integers(0, 600), st.integers(0, 12), _WRITTEN)


@given(st.sampled_from([*QUICK.values()]), st.lists(_EDIT, max_size=3))
def test_whatever_is_written_a_glance_tells_nothing_or_what_the_reader_does(
    result: Result, edits: list[tuple[int, int, bytes]]
) -> None:
    body = body_of(result)
    for at, length, piece in edits:
        body = body[:at] + piece + body[at + length :]
    body = body.replace(b"\n", b"")  # the end of a line
    usual = body_of(USUAL)
    *_, seen, after = glance_at([usual, body, usual])
    assert seen is None or seen == seen_whole(body)
    assert after is None or after == seen_whole(usual)
