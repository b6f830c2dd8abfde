from __future__ import annotations

from itertools import chain, count, islice
from typing import Any

import pytest

from evalcase.model.case import Case
from evalcase.run.plan import Selection, Shard, plan_trials

Pair = tuple[str, Case]


def pair(id: str, suite: str = "s.eval.yaml", **fields: Any) -> Pair:
    return suite, Case({"id": id, "input": [{"role": "user", "content": "Hi"}], **fields})


def select(selection: Selection, pairs: list[Pair]) -> list[str]:
    return [case.id for _, case in selection.select(pairs)]


MANY = [pair(f"c{number}") for number in range(200)]


def test_without_options_everything_in_its_order() -> None:
    assert select(Selection(), MANY) == [case.id for _, case in MANY]


def test_globs_are_case_sensitive_and_any_one_is_enough() -> None:
    pairs = [pair("math-1"), pair("Math-2"), pair("art"), pair("x[1]")]
    assert select(Selection(globs=("math-*",)), pairs) == ["math-1"]
    assert select(Selection(globs=("a*", "[Mm]ath-?")), pairs) == ["math-1", "Math-2", "art"]
    assert select(Selection(globs=("math",)), pairs) == []


def test_any_tag_is_enough_and_tags_narrow_globs() -> None:
    pairs = [pair("a", tags=["x"]), pair("b", tags=["y", "z"]), pair("c")]
    assert select(Selection(tags=("x", "z")), pairs) == ["a", "b"]
    assert select(Selection(tags=("x", "z"), globs=("b",)), pairs) == ["b"]


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_are_disjoint_and_complete_and_of_like_size(of: int) -> None:
    shards = [select(Selection(shard=Shard(number, of)), MANY) for number in range(1, of + 1)]
    assert sorted(chain(*shards)) == sorted(case.id for _, case in MANY)
    assert all(len(shard) > 200 / of / 2 for shard in shards)


def test_a_new_case_moves_no_other_into_another_shard() -> None:
    before = select(Selection(shard=Shard(1, 3)), MANY)
    after = select(Selection(shard=Shard(1, 3)), [pair("new"), *MANY])
    assert [id for id in after if id != "new"] == before


def test_a_sample_is_drawn_by_the_seed_in_the_order_of_the_file() -> None:
    order = {case.id: number for number, (_, case) in enumerate(MANY)}
    first = select(Selection(sample=20, seed=1), MANY)
    assert len(first) == len(set(first)) == 20
    assert sorted(first, key=order.__getitem__) == first
    assert select(Selection(sample=20, seed=1), MANY) == first
    assert select(Selection(sample=20, seed=2), MANY) != first
    assert set(select(Selection(sample=20, seed=1), MANY[::-1])) == set(first)
    assert len(select(Selection(sample=999), MANY)) == 200


def test_the_limit_comes_last() -> None:
    sample = select(Selection(sample=20, seed=1), MANY)
    assert select(Selection(sample=20, seed=1, limit=3), MANY) == sample[:3]
    assert select(Selection(globs=("c1*",), limit=2), MANY) == ["c1", "c10"]


def test_cases_are_a_stream() -> None:
    endless = (pair(f"c{number}") for number in count())
    assert len(list(Selection(limit=5).select(endless))) == 5
    chosen = Selection(globs=("*7",), shard=Shard(1, 2)).select(endless)
    assert len(list(islice(chosen, 5))) == 5


def test_cases_of_the_target_or_of_the_default() -> None:
    pairs = [pair("none"), pair("own", targets=["b"]), pair("both", targets=["a", "b"])]

    def planned(target: str, overridden: bool = False) -> list[str]:
        return [each.case.id for each in plan_trials(pairs, target, "a", None, overridden)]

    assert planned("a") == ["none", "both"]
    assert planned("b") == ["own", "both"]
    assert planned("c") == []
    assert planned("c", overridden=True) == ["none", "own", "both"]


def test_repeats_count_from_one_and_a_skipped_case_is_planned_once() -> None:
    pairs = [pair("a", repeat={"times": 2}), pair("b"), pair("c", skip="why", repeat={"times": 9})]
    trials = [(each.case.id, each.repeat) for each in plan_trials(pairs, "t", "t", None, False)]
    assert trials == [("a", 1), ("a", 2), ("b", 1), ("c", 1)]
    trials = [(each.case.id, each.repeat) for each in plan_trials(pairs, "t", "t", 1, False)]
    assert trials == [("a", 1), ("b", 1), ("c", 1)]
