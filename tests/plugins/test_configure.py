from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from evalcase.errors import ConfigError
from evalcase.graders.expected import ExpectedGrader
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.plugins.configure import configure


@dataclass(frozen=True)
class Shorter(Grader):
    kind: ClassVar[GraderKind] = GraderKind("shorter", "It is shorter.", "value")

    value: int

    def grade(self, context: Context) -> Score:
        return Score(float(len(context.answer.text) < self.value), "measured")


def test_the_options_of_a_grader_are_its_fields() -> None:
    named = configure(Shorter, {"type": "shorter", "value": 5})
    assert (named.name, named.grader, named.weight) == ("shorter", Shorter(5), 1.0)
    assert (named.required, named.compares_expected, named.judges) == (False, False, False)


def test_name_weight_and_required_are_options_of_every_grader() -> None:
    spec: dict[str, Any] = {"type": "expected", "name": "exact", "weight": 2, "required": True}
    named = configure(ExpectedGrader, spec)
    assert (named.name, named.weight, named.required) == ("exact", 2.0, True)
    assert named.compares_expected


def test_options_that_are_null_are_absent() -> None:
    spec = {"type": "expected", "name": None, "weight": None, "required": None}
    named = configure(ExpectedGrader, spec)
    assert (named.name, named.weight, named.required) == ("expected", 1.0, False)


@pytest.mark.parametrize(
    ("grader", "spec", "message"),
    [
        (Shorter, {"value": 5, "wieght": 1}, "no option `wieght`: did you mean `weight`?"),
        (Shorter, {"value": 5, "xyz": 1}, "there are value, name, weight, required"),
        (Shorter, {}, "grader `a` needs `value`"),
        (ExpectedGrader, {"value": "4"}, "grader `a` takes no argument"),
        (ExpectedGrader, {"name": 3}, "`name` is a string"),
        (ExpectedGrader, {"weight": "2"}, "`weight` is a number, not a string"),
        (ExpectedGrader, {"weight": True}, "`weight` is a number, not a boolean"),
        (ExpectedGrader, {"weight": 10**400}, "`weight` is between"),
    ],
)
def test_a_wrong_option_is_an_error_that_says_what_is_right(
    grader: Any, spec: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        configure(grader, {"type": "a", **spec})
    assert message in str(caught.value)
