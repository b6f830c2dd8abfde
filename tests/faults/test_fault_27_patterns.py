from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from evalcase.errors import EvalcaseError
from evalcase.system.patterns import searchers
from evalcase.system.patterns.search import MatchSpan, Search
from evalcase.system.patterns.searchers import end_searchers, find_elsewhere
from evalcase.system.patterns.searches import Searches, settle_searches
from evalcase.text.pattern_cost import worst_steps
from tests.for_each import for_each
from tests.run.project import Project, case

ENDLESS = "(a+)+$"
"""It takes Python longer than anybody lives to find that it is not there."""
TEXT = "a" * 60 + "b"


def test_fault_27_a_pattern_that_takes_too_long_costs_its_own_trial(project: Project) -> None:
    slow: Any = [{"type": "regex", "value": ENDLESS, "timeout_s": 0.1}]
    project.suite(
        case("slow", f"say {TEXT}", graders=slow),
        case("other", "say ok", graders=[{"regex": "^(o|k)+$"}]),
        case("plain", "say ok", graders=[{"regex": "k"}]),
    )
    done = project.run("run", "--json")
    assert done.code == 3
    assert project.verdicts() == {"slow": "errored", "other": "passed", "plain": "passed"}
    (row,) = [row for row in project.rows() if row.get("case") == "slow" and "grades" in row]
    assert row["grades"][0]["reason"] == (
        f"to look for `{ENDLESS}` in a text of 61 characters took longer than 0.1 s"
    )
    assert searchers._idle == []


def test_fault_27_the_loop_goes_on_while_a_pattern_is_looked_for() -> None:
    async def search() -> int:
        slow = asyncio.create_task(find_elsewhere(Search(ENDLESS, TEXT), 600))
        turns = 0
        while turns < 100:
            await asyncio.sleep(0.001)
            turns += 1
        assert not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        return turns

    assert asyncio.run(search()) == 100


def test_fault_27_a_process_is_used_again_and_replaced_once_it_is_gone() -> None:
    async def search() -> None:
        found = await find_elsewhere(Search("(a|b)+", "xab"), 60)
        assert found == MatchSpan(1, 3)
        (searcher,) = searchers._idle[-1:]
        process = searcher._process
        assert process is not None
        assert await find_elsewhere(Search("(a|b)+", "c", full=True), 60) is None
        assert searchers._idle[-1]._process is process
        os.kill(process.pid, 9)
        process.wait()
        with pytest.raises(EvalcaseError, match="ended"):
            await find_elsewhere(Search("(a|b)+", "xab"), 60)
        assert await find_elsewhere(Search("(a|b)+", "xab"), 60) == MatchSpan(1, 3)

    end_searchers()
    asyncio.run(search())
    end_searchers()


@for_each(
    "pattern",
    [
        ENDLESS, "(a|aa)+$", "(a*)*b", "(.*)*x", r"(\w+\s?)*$", "(a?){40}a{40}", r"(x+x+)+y",
        r"(a+)\1", "((a{1,5}){1,5}){1,50}", "(?:a|b|ab)*c", "(?P<x>a)(?(x)b|c)",
    ],
)  # fmt: skip
def test_fault_27_patterns_without_a_bound_are_known(pattern: str) -> None:
    assert worst_steps(pattern, 10) is None


@for_each(
    ("pattern", "steps"),
    [
        ("Paris", 101),
        ("(?i)paris|rome", 202),
        (r"\d{4}-\d{2}", 101),
        (r"\d+ items?", 2 * 101 * 101),
        (r"^\w+@\w+\.com$", 101**3),
        ("(?:ab){1,3}", 303),
        ("(a|bc){0,2}x", 7 * 101),
        (r"(?=.*a)(?!.*b).*", 101**4),
    ],
)
def test_fault_27_others_have_a_bound_that_grows_with_the_text(pattern: str, steps: int) -> None:
    assert worst_steps(pattern, 100) == steps


def test_fault_27_what_is_quick_for_sure_is_found_at_once() -> None:
    assert settle_searches(lambda searches: searches.find(Search("b", "abc"))) == MatchSpan(1, 2)
    searches = Searches()
    assert searches.find(Search(r".*x.*y.*z", "a" * 10_000)) is None
    assert len(searches.unknown) == 1
