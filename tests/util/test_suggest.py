from __future__ import annotations

from evalcase.types.problem import did_you_mean, find_nearest, nearest_meaning
from evalcase.util.text import suggest_field
from tests.for_each import for_each


def test_the_nearest_name_is_the_one_that_is_most_alike() -> None:
    assert find_nearest("answr", ["ask", "answer", "answers"]) == "answer"
    assert find_nearest("xyz", ["answer"]) is None
    assert find_nearest("answr", []) is None
    assert find_nearest("an", ["answer"], alike=0.4) == "answer"


@for_each("name", ["max-cost", "Max_Cost", " max cost ", "budget", "maxcost"])
def test_case_and_dashes_do_not_tell_names_apart(name: str) -> None:
    assert nearest_meaning(name, {"max_cost": "max_cost", "budget": "max_cost"}) == "max_cost"


def test_a_hint_or_none() -> None:
    assert did_you_mean("pyhton", ["python", "command"]) == "did you mean `python`?"
    assert did_you_mean("carrot", ["python", "command"]) is None


def test_a_field_is_suggested_by_its_primary_name_and_never_by_an_alias() -> None:
    fields = ["input", "expected_output", "graders"]
    aliases = {"input_messages": "input"}
    assert suggest_field("expcted_output", fields) == "did you mean `expected_output`?"
    assert suggest_field("input_mesages", fields, aliases) == "did you mean `input`?"
    assert suggest_field("assertions", fields) == "did you mean `graders`?"
    assert suggest_field("assertions", ["input"]) is None


@for_each("name", ["mode", "date", "retries", "promt", "images"])
def test_what_is_only_like_a_name_of_another_tool_is_no_misspelling_of_it(name: str) -> None:
    fields = ["input", "target", "cases", "graders"]
    assert suggest_field(name, fields) is None
    assert suggest_field("model", fields) == "did you mean `target`?"
