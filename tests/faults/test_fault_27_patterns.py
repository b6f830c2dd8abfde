import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from evalcase.errors import EvalcaseError
from evalcase.graders.text import Searcher, settle
from evalcase.types.options import object_to_pattern
from tests.for_each import for_each
from tests.run.project import Project, case

ENDLESS = "(a|aa)+$"
"""It takes longer than anybody lives to find that it is not there."""
TEXT = "a" * 60 + "b"


def test_fault_27_a_pattern_that_takes_too_long_costs_its_own_trial(project: Project) -> None:
    slow: Any = [{"type": "regex", "value": ENDLESS, "timeout_s": 0.1}]
    fields: Any = [{"fields": {"0": {"regex": ENDLESS}}}]
    schema: Any = [{"json_schema": {"items": {"pattern": ENDLESS}}}]
    project.suite(
        case("slow", f"say {TEXT}", graders=slow),
        case("fields", f'say ["{TEXT}"]', graders=fields),
        case("schema", f'say ["{TEXT}"]', graders=schema),
        case("other", "say ok", graders=[{"regex": "^(o|k)+$"}]),
        case("plain", "say ok", graders=[{"regex": "k"}]),
    )
    done = project.run("run", "--json")
    assert done.code == 3
    errored = dict.fromkeys(("slow", "fields"), "errored")
    # Patterns of schemas are searched in linear time.
    assert project.verdicts() == errored | {
        "schema": "failed", "other": "passed", "plain": "passed",
    }  # fmt: skip
    (row,) = [row for row in project.rows() if row.get("case") == "slow" and "grades" in row]
    assert row["grades"][0]["reason"] == (
        f"to look for `{ENDLESS}` in a text of 61 characters took longer than 0.1 s"
    )


def test_fault_27_the_loop_goes_on_while_a_pattern_is_looked_for() -> None:
    async def search() -> int:
        found = settle(lambda searcher: searcher.find(ENDLESS, TEXT), 1)
        assert isinstance(found, Awaitable)
        slow = asyncio.ensure_future(found)
        turns = 0
        while not slow.done():
            await asyncio.sleep(0.001)
            turns += 1
        with pytest.raises(EvalcaseError, match="took longer than 1 s"):
            await slow
        return turns

    assert asyncio.run(search()) > 50


@for_each(
    ("pattern", "text"),
    [(ENDLESS, TEXT), ("b", "a" * 100_000), ("a" * 1_000, "b"), (r"(a+)\1b", "a" * 10_000)],
)
def test_fault_27_what_may_take_long_is_searched_in_a_thread(pattern: str, text: str) -> None:
    async def search() -> object:
        found = settle(lambda searcher: searcher.find(pattern, text), 0.1)
        assert isinstance(found, Awaitable)
        return await found

    try:
        assert asyncio.run(search()) is None
    except EvalcaseError:
        assert pattern in (ENDLESS, r"(a+)\1b")


def test_fault_27_a_pattern_that_only_re_can_read_is_an_error() -> None:
    with pytest.raises(EvalcaseError, match="is not a pattern"):
        Searcher(1).find("(?t)a", "a")


@for_each(
    ("pattern", "why"),
    [
        ("a{e<=1}", "`{e<=1}` would allow errors; write \\{ for a brace"),
        ("(?:cat){e}", "`{e}` would allow errors; write \\{ for a brace"),
        ("x{s<=2,i<=1}", "`{s<=2,i<=1}` would allow errors; write \\{ for a brace"),
        ("x{e:[a-z]}", "`{e:[a-z]}` would allow errors; write \\{ for a brace"),
        ("[[:alpha:]]+", "`[:alpha:]` is not a set of Python's; write it out, such as a-zA-Z"),
        ("[^a[:^digit:]]", "`[:^digit:]` is not a set of Python's; write it out, such as a-zA-Z"),
        (r"\p{L}", r"bad escape \p at character 1"),
        ("a{2,3}", None),
        (r"\{e<=1\}", None),
        (r"\{e}", None),
        ("[{e}]", None),
        ("{name}", None),
        ("[:alpha:]", None),
        (r"[\[:alpha:]", None),
        ('{"side": [0-9]+}', None),
    ],
)
def test_fault_27_what_two_engines_read_differently_is_refused(
    pattern: str, why: str | None
) -> None:
    assert object_to_pattern(pattern) == why
