"""Answers with more calls than can be held against each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evalcase.errors import EvalcaseError
from evalcase.graders.compare import call_match
from evalcase.graders.compare.call_match import Call, find_missing, match_calls
from evalcase.graders.compare.json_difference import Difference


def test_too_many_calls_are_refused_before_they_take_their_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(call_match, "_MOST_PAIRS", 300)
    expected = [Call("t", {"a": -number}) for number in range(10)]
    got = [Call("t", {"a": number}) for number in range(40)]
    for order in ("in_order", "any_order"):
        with pytest.raises(EvalcaseError, match=r"10 expected calls and 40 .* too many"):
            match_calls(expected, got, order=order)
    assert len(match_calls(expected, got, order="exact")) == 10
    others = [Call("u", None)] * 40
    assert [each.is_made for each in match_calls(expected, others)] == [False] * 10


def test_no_two_calls_are_held_against_each_other_twice() -> None:
    compared: list[tuple[Call, Call]] = []

    def lacking(expected: Call, got: Call) -> Iterator[Difference]:
        compared.append((expected, got))
        return find_missing(expected, got)

    expected = [Call("t", {"a": -number}) for number in range(1, 150)]
    got = [Call("t", {"a": number}) for number in range(150)]
    for order in ("in_order", "any_order"):
        compared.clear()
        match_calls(expected, got, lacking, order)
        assert len(compared) == 149 * 150


def test_it_ends_once_nobody_waits() -> None:
    several = [Call("t", {"a": number}) for number in range(10)]
    with pytest.raises(InterruptedError):
        match_calls(several, several, is_given_up=lambda: True)
