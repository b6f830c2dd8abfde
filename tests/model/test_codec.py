from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

import evalcase
from evalcase.model import codec
from evalcase.model.answer import Answer, Earlier, Usage
from evalcase.model.codec import decode_object, encode_after, encode_object
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.message import Message
from evalcase.model.quick_constructor import FEW
from evalcase.model.quick_dataclass import dataclass, fields, is_dataclass
from evalcase.model.result import Result
from evalcase.model.step import Step
from evalcase.model.trial import TrialKey
from evalcase.project.options import RunOptions
from evalcase.run.selection import Selection, Shard
from tests.for_each import for_each

SAID = Message({"role": "assistant", "content": "4"})
ANSWER = Answer(
    (SAID, SAID), Usage(1, 2), 0.5, earlier=Earlier(1.5),
    steps=(Step("ask", "model", input=["a", "b"]), Step("look", "tool")),
)  # fmt: skip
GRADES = (Grade("equals", 1.0, True, "as expected"), Grade("judge", 0.0, False, "bad", {"at": 1}))
VALUES: list[Any] = [
    Usage(), Usage(0, None, 3), ANSWER, Answer((SAID,)), RunOptions(),
    RunOptions(("a", "b"), ("echo",), Selection(tags=("new",), shard=Shard(1, 2)), repeat=3),
    Result(TrialKey("sums", "one", "echo", 1), "hash", "passed", ANSWER, GRADES),
    Result(TrialKey("sums", "two", "echo", 1), "hash", "errored", failure=Failure("timeout", "?")),
]  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_written_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "_ENCODERS", {})


@for_each("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_is_written_often_is_written_as_at_first(value: Any) -> None:
    first, *others = [encode_object(value) for _ in range(FEW + 3)]
    assert others == [first] * (FEW + 2)
    assert all(repr(other) == repr(first) for other in others)  # the same types, in the same order
    assert decode_object(type(value), first) == value


def test_what_is_begun_stays_in_front() -> None:
    for _ in range(FEW + 3):
        assert list(encode_after({"type": "usage"}, Usage(1, 2)).items()) == [
            ("type", "usage"), ("input_tokens", 1), ("output_tokens", 2),
        ]  # fmt: skip


@pytest.mark.parametrize("often", [False, True])
def test_what_is_no_dataclass_is_refused_in_the_place_of_one(often: bool) -> None:
    if often:
        for _ in range(FEW + 1):
            encode_object(Answer((SAID,)))
    with pytest.raises((AttributeError, TypeError)):
        encode_object(Answer((SAID,), earlier={"duration_s": 1.5}))  # type: ignore[arg-type]
    with pytest.raises((AttributeError, TypeError)):
        encode_object(Answer((SAID,), steps=5))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Below(Usage):
    more: tuple[Usage, ...] = ()


def test_fields_of_a_class_above_are_written_too() -> None:
    value = _Below(1, more=(Usage(2),))
    assert encode_object(value) == {"input_tokens": 1, "more": [{"input_tokens": 2}]}
    assert decode_object(_Below, encode_object(value)) == value


def dataclasses_of_the_package() -> Iterator[type]:
    for module in pkgutil.walk_packages(evalcase.__path__, "evalcase."):
        if module.name.startswith(("evalcase.model.", "evalcase.record.", "evalcase.project.")):
            for each in vars(importlib.import_module(module.name)).values():
                if isinstance(each, type) and is_dataclass(each):
                    yield each


def test_types_of_fields_are_those_that_typing_finds() -> None:
    found = 0
    for each in set(dataclasses_of_the_package()):
        try:
            wanted = get_type_hints(each)
        except NameError:  # a type that is imported for type checkers alone: it is never written
            continue
        hints = codec._hints_of(each)
        for one in fields(each):
            found += 1
            hint, other = hints[one.name], wanted[one.name]
            # A type of itself, as JSON is, has a text inside: typing goes one step further.
            assert hint == other or "'" in str(hint) or isinstance(hint, str), (each, one.name)
            assert (codec._find_writer(hint) is None) == (codec._find_writer(other) is None), (
                each,
                one.name,
            )
    assert found > 200


@pytest.mark.parametrize("calls", [1, FEW + 2])
@pytest.mark.parametrize(
    "odd",
    [
        {"duration_s": -0.5}, {"duration_s": float("nan")}, {"duration_s": float("inf")},
        {"attempts": -1},
    ],
    ids=str,
)  # fmt: skip
def test_what_would_be_refused_when_it_is_read_is_not_written(
    odd: dict[str, Any], calls: int
) -> None:
    key = TrialKey("sums", "one", "echo", 1)
    for _ in range(calls):
        encode_object(Result(key, "hash", "passed", duration_s=0.5))
    with pytest.raises(ValueError, match=next(iter(odd))):
        encode_object(Result(key, "hash", "passed", **odd))
