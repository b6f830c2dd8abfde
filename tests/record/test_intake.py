"""What is seen at a glance of a journal comes to the same as all of it read whole."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.errors import RecordError
from evalcase.model.answer import Answer
from evalcase.model.codec import encode_object
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.result import VERDICTS, Result
from evalcase.model.trial_key import TrialKey
from evalcase.model.value import replace
from evalcase.record import intake
from evalcase.record.index import Index
from evalcase.record.lines import JournalLines
from evalcase.record.outline import talk_row
from evalcase.system.table import mark_of
from evalcase.text.journal_row import TAIL, encode_members, encode_row
from tests.for_each import for_each
from tests.record.samples import result, row
from tests.record.test_outline import QUICK, USUAL, WHOLE

HASHES = ["0" * 16, "f" * 16]
NAMES = ["a.yaml", 'quo"te', "back\\slash", "日本", "\x01", "b"]
TEXTS = ["3", 'a\n"b"', ',"grading_hash":"x"', '"cached"', "\x00", "ü"]
KEYS = st.builds(
    TrialKey, st.sampled_from(["a", "b", "c", *NAMES]), st.sampled_from(["one", "two", *NAMES]),
    st.sampled_from(["t", "u"]), st.sampled_from([1, 1, 1, 1, 1, 2]),
)  # fmt: skip
ANSWERS = st.builds(
    lambda text, cost, cached: Answer(Answer.of_text(text).messages, None, cost, cached=cached),
    st.sampled_from(TEXTS), st.sampled_from([None, None, 0.5]), st.booleans(),
)  # fmt: skip
CHANGES = st.fixed_dictionaries(
    {
        "key": KEYS,
        "question_hash": st.sampled_from(HASHES),
        "grading_hash": st.sampled_from(HASHES),
        "verdict": st.sampled_from(VERDICTS),
        "answer": st.none() | ANSWERS | st.just(Answer.of_text("3")),
    },
    optional={
        "failure": st.just(Failure("timeout", "late")),
        "grades": st.sampled_from([(), (), (Grade("g", 1.0, True, "", cost_usd=0.25),)]),
        "repeats": st.sampled_from([1, 1, 1, 3]),
        "pass_rate": st.sampled_from([1.0, 1.0, 1.0, 0.5]),
        "number": st.integers(0, 3),
    },
)


def row_of(changes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "result", **encode_object(replace(result(1), **changes))}


ROWS = st.one_of(
    CHANGES.map(row_of),
    CHANGES.map(lambda changes: regraded(row_of(changes))),
    KEYS.map(talk_row),
    st.sampled_from([{"type": "end", "status": "completed"}, {"type": "grading", "number": 2}]),
)


def regraded(before: dict[str, Any]) -> dict[str, Any]:
    names = ("suite", "case", "target", "repeat", "verdict", "grading_hash", "grades", "repeats")
    return {"type": "regraded", "grading": 2} | {
        name: before[name] for name in names if name in before
    }


def told(make: Callable[[], Index], lines: bytes, rows: list[dict[str, Any]]) -> list[object]:
    """All that an index says of a journal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        path.write_bytes(lines)
        index = make()
        index.read(JournalLines(str(path)))
    keys = [TrialKey(*[each[name] for name in TrialKey._fields]) for each in rows if "case" in each]
    known = [(key, index.find(key), index.is_broken_off(key)) for key in keys]
    counts = [index.count_finished(), index.count_finished(("errored",)), index.count_cases()]
    return [
        *known, *counts, index.tally().totals(), list(index.places()), index.count_answers(),
        index.gradings, index.mixed(),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "make", [Index, lambda: Index(in_order=True), lambda: Index(1, in_order=True)]
)
@given(rows=st.lists(ROWS, max_size=8))
def test_a_glance_comes_to_the_same_as_the_whole(
    make: Callable[[], Index], rows: list[dict[str, Any]]
) -> None:
    check(make, rows)


def check(make: Callable[[], Index], rows: list[dict[str, Any]]) -> None:
    lines = b"".join(map(encode_row, rows))
    seen = told(make, lines, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "glance_at", lambda bodies: [None] * len(bodies))
        assert told(make, lines, rows) == seen


@pytest.mark.parametrize("shape", [*QUICK.values(), *WHOLE.values()], ids=[*QUICK, *WHOLE])
def test_a_glance_at_any_shape_comes_to_the_same(shape: Result) -> None:
    usual, other = ({"type": "result", **encode_object(each)} for each in (USUAL, shape))
    for rows in ([other], [usual, other], [other, usual]):
        check(Index, rows)


@given(rows=st.lists(ROWS, max_size=8))
def test_a_trial_that_stands_is_found_to_be_as_it_was(rows: list[dict[str, Any]]) -> None:
    index = Index()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        path.write_bytes(b"".join(map(encode_row, rows)))
        index.read(JournalLines(str(path)))
    for each in rows:
        if "case" not in each:
            continue
        key = TrialKey(each["suite"], each["case"], each["target"], 1)
        known = index.find(key)
        for question in HASHES:
            for grading in HASHES:
                if index.stands(key[:3], (question, grading)):
                    assert known is not None
                    assert (known.question, known.grading) == (mark_of(question), mark_of(grading))
                    assert (known.repeats, known.pass_rate, known.answered) == (1, 1.0, True)
                    assert known.verdict != "skipped"


def test_most_trials_stand(tmp_path: Path) -> None:
    """Without that it would be true of nothing; a result that took the place of another counts."""
    path = tmp_path / "journal.jsonl"
    grades = (Grade("expected", 1.0, True, "equal"),)
    usual = {"answer": Answer.of_text("3"), "grades": grades, "verdict": "passed"}
    rows = [row(number, **usual, grading_hash="g") for number in (1, 2)]
    rows += [row(1, **usual, grading_hash="h"), row(3, **usual | {"verdict": "skipped"})]
    path.write_bytes(b"".join(map(encode_row, rows)))
    index = Index()
    index.read(JournalLines(str(path)))
    names = [(each["suite"], each["case"], each["target"]) for each in rows]
    asked = [each["question_hash"] for each in rows]
    assert index.stands(names[0], (asked[0], "h"))
    assert not index.stands(names[0], (asked[0], "g"))
    assert index.stands(names[1], (asked[1], "g"))
    assert not index.stands(names[1], (asked[0], "g"))
    assert not index.stands(names[3], (asked[3], ""))
    assert not index.stands(("another", "case", "at"), (asked[0], "h"))


@given(changes=CHANGES, data=st.data())
def test_a_row_says_the_same_in_any_order_of_its_keys_or_is_refused(
    changes: dict[str, Any], data: st.DataObject
) -> None:
    said = row_of(changes)
    names = data.draw(st.permutations(list(said)))
    if data.draw(st.booleans()):  # as most would be forged: how it begins is left alone
        begun = ["type", *TrialKey._fields, "question_hash", "verdict"]
        names = begun + [name for name in names if name not in begun]
    moved = {name: said[name] for name in names}
    try:
        seen = told(Index, encode_row(moved), [moved])
    except RecordError as error:
        assert "does not begin with its type" in str(error)  # noqa: PT017 - one of two
        assert names[0] != "type"
        return
    assert seen == told(Index, encode_row(said), [said])


@for_each("key", ["verdict", "repeats", "suite", "type"])
def test_a_key_that_is_there_twice_is_refused(tmp_path: Path, key: str) -> None:
    said = row_of({"repeats": 3})
    again = encode_row({"type": said[key]})[:-TAIL].replace(b"type", key.encode())[1:]
    body = encode_row(said)[:-TAIL].replace(b',"started_at"', b"," + again + b',"started_at"')
    path = tmp_path / "journal.jsonl"
    path.write_bytes(encode_members(body.decode()))
    with pytest.raises(RecordError, match="is not a row of a journal"):
        Index().read(JournalLines(str(path)))
