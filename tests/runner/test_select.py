from array import array
from itertools import chain
from typing import Any

import pytest

from evalcase.config.options import FailedOf, Selection, Shard
from evalcase.runner.select import Selector, UnmatchedFilters, deal_cases, make_selector
from evalcase.types.case import Case, canonical_case
from evalcase.types.value import replace

Pair = tuple[str, Case]


def pair(id: str, suite: str = "s.eval.yaml", **fields: Any) -> Pair:
    return suite, canonical_case({"id": id, "input": [{"role": "user", "content": "Hi"}], **fields})


def make(selection: Selection) -> Selector:
    return make_selector(selection, str)


def select(selection: Selection, pairs: list[Pair]) -> list[str]:
    selector = make(selection)
    if selection.shard is not None:
        numbers = array(
            "Q", [selector.number(*each) for each in selector.select_for_all_shards(pairs)]
        )
        selector = replace(selector, part=deal_cases(numbers, selection.shard))
    return [case.id for _, case in selector.select(pairs)]


MANY = [pair(f"c{number}") for number in range(200)]


def test_globs_are_case_sensitive_and_any_one_is_enough() -> None:
    pairs = [pair("math-1"), pair("Math-2"), pair("art"), pair("x[1]")]
    assert select(Selection(cases=("math-*",)), pairs) == ["math-1"]
    assert select(Selection(cases=("a*", "?ath-?")), pairs) == ["math-1", "Math-2", "art"]
    assert select(Selection(cases=("math",)), pairs) == []


def test_any_tag_is_enough_and_tags_narrow_globs() -> None:
    pairs = [pair("a", tags=["x"]), pair("b", tags=["y", "z"]), pair("c")]
    assert select(Selection(tags=("x", "z")), pairs) == ["a", "b"]
    assert select(Selection(tags=("x", "z"), cases=("b",)), pairs) == ["b"]


@pytest.mark.parametrize("of", [1, 2, 3, 7, 200, 300])
def test_shards_are_disjoint_and_complete_and_differ_by_one_at_most(of: int) -> None:
    shards = [select(Selection(shard=Shard(number, of)), MANY) for number in range(1, of + 1)]
    assert sorted(chain(*shards)) == sorted(case.id for _, case in MANY)
    assert {len(shard) for shard in shards} <= {200 // of, 200 // of + 1}


@pytest.mark.parametrize(
    "whole", [Selection(sample=9), Selection(limit=9), Selection(sample=30, limit=10, seed=3)]
)
def test_shards_together_are_what_there_is_without_them(whole: Selection) -> None:
    shards = [select(replace(whole, shard=Shard(number, 3)), MANY) for number in (1, 2, 3)]
    assert sorted(chain(*shards)) == sorted(select(whole, MANY))


def test_shards_are_dealt_from_what_filters_leave() -> None:
    tagged = [pair(f"t{number}", tags=["t"]) for number in range(10)]
    for number in range(1, 6):
        chosen = select(Selection(tags=("t",), shard=Shard(number, 5)), [*MANY, *tagged])
        assert len(chosen) == 2


def test_only_cases_of_another_run_that_did_not_pass() -> None:
    failed = FailedOf("x", (("s.eval.yaml", "c7"), ("t.eval.yaml", "c8"), ("s.eval.yaml", "c9")))
    assert select(Selection(failed_of=failed), MANY) == ["c7", "c9"]
    assert select(Selection(failed_of=failed, cases=("c9",)), MANY) == ["c9"]


def test_a_sample_is_drawn_by_the_seed_in_the_order_of_the_file() -> None:
    order = {case.id: number for number, (_, case) in enumerate(MANY)}
    first = select(Selection(sample=20, seed=1), MANY)
    assert len(first) == len(set(first)) == 20
    assert sorted(first, key=order.__getitem__) == first
    assert select(Selection(sample=20, seed=1), MANY) == first
    assert select(Selection(sample=20, seed=2), MANY) != first
    assert set(select(Selection(sample=20, seed=1), MANY[::-1])) == set(first)
    assert len(select(Selection(sample=999), MANY)) == 200


def test_what_matches_nothing_is_named_with_the_nearest_each_value_by_itself() -> None:
    pairs = [pair("total", tags=["smoke"]), pair("count", tags=["slow"])]
    watch = UnmatchedFilters(make(Selection(cases=("total", "cuont"), tags=("smok", "slow"))))
    assert list(watch.watch(pairs)) == pairs
    assert watch.describe(pairs) == (
        "no case has an id like `cuont` (the nearest is `count`); "
        "no case has the tag `smok` (the nearest is `smoke`)"
    )
    watch = UnmatchedFilters(make(Selection(cases=(("s.eval.yaml", "totl"), "t*"))))
    list(watch.watch(pairs))
    said = "there is no case `totl` in s.eval.yaml (the nearest is `total`)"
    assert watch.describe(pairs) == said
    watch = UnmatchedFilters(make(Selection(cases=("t*",), tags=("slow",))))
    list(watch.watch(pairs))
    assert watch.describe(pairs) is None


def test_a_case_that_is_named_with_its_suite_or_a_target() -> None:
    pairs = [pair("two", "a"), pair("one", "a"), pair("three", "b")]
    for asked, said in {
        ("b", "thre"): "there is no case `thre` in b (the nearest is `three`)",
        ("b", "two"): "there is no case `two` in b",
        ("b", "two", "echo"): "there is no case `two` at `echo` in b",
        ("a", "one", "other"): "there is no case `one` at `other` in a",
    }.items():
        watch = UnmatchedFilters(make(Selection(cases=(asked,))))
        for each in watch.watch(pairs):
            watch.remove_targets(*each, ("echo",))
        assert watch.describe(pairs) == said
