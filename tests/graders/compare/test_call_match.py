"""Answers with more calls than can be held against each other."""

from __future__ import annotations

import pytest

from evalcase.errors import EvalcaseError
from evalcase.graders.compare import call_match
from evalcase.graders.compare.call_match import Call, match_calls


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
