"""Graders that are made of graders: what each passes for, and what a broken one does to it."""

import asyncio
from typing import Any

import pytest

import evalcase
from evalcase.config.catalogue import Catalogue
from evalcase.config.graders import make_grader
from evalcase.errors import ConfigError
from evalcase.format.load import load_text
from evalcase.graders.base import NamedGrader
from evalcase.runner.graders import Graders
from evalcase.runner.grading import grade_answer
from evalcase.types.grade import Grade, Score
from evalcase.types.result import Verdict
from evalcase.types.value import decode_object, encode_object
from evalcase.util.user_calls import UserCalls
from tests.for_each import for_each
from tests.grade.test_apply import Fixed
from tests.graders.expectation import answer_of, context_of

GOOD, FAIR, BAD, NOTHING, BROKEN = (
    Score(1.0, "good"), Score(0.5, "fair"), Score(0.0, "bad"), Score(None, "nothing there"),
    ValueError("oops"),
)  # fmt: skip
UNSEEN = Score(0.0, "nothing there", stands=True)


def inner(*outcomes: Any, **options: Any) -> tuple[NamedGrader, ...]:
    return tuple(
        each if isinstance(each, NamedGrader) else NamedGrader(f"g{number}", Fixed(each), **options)
        for number, each in enumerate(outcomes, 1)
    )


def combined(kind: str, *outcomes: Any, **options: Any) -> NamedGrader:
    """A combinator of graders whose scores are known before."""
    of = "of" if kind == "at_least" else "value"
    shell = make_grader({"type": kind, of: [{"type": "expected"}] * len(outcomes), **options})
    grader = type(shell.grader)(**{
        **{name: value for name, value in options.items() if name == "count"}, of: inner(*outcomes)
    })  # fmt: skip
    return NamedGrader(shell.name, grader, threshold=shell.threshold, negated=shell.negated)


def grade(*graders: NamedGrader, **fields: Any) -> tuple[Verdict, Grade]:
    async def apply() -> tuple[Verdict, Grade]:
        context = context_of(answer_of("4"), **fields)
        verdict, grades = await grade_answer(context, graders, UserCalls(), 5.0)
        return verdict, grades[0]

    return asyncio.run(apply())


@for_each(
    ("kind", "options", "outcomes", "verdict", "score"),
    [
        ("all", {}, [GOOD, GOOD], "passed", 1.0),
        ("all", {}, [GOOD, FAIR], "failed", 0.5),
        ("all", {}, [GOOD, BROKEN], "errored", None),
        ("all", {}, [GOOD, NOTHING], "failed", 0.0),
        ("all", {}, [NOTHING, NOTHING], "ungraded", None),
        ("any", {}, [BAD, GOOD], "passed", 1.0),
        ("any", {}, [BAD, FAIR], "failed", 0.5),
        ("any", {}, [BROKEN, GOOD], "errored", None),
        ("at_least", {"count": 2}, [GOOD, BAD, GOOD], "passed", 1.0),
        ("at_least", {"count": 2}, [GOOD, BAD, FAIR], "failed", 0.5),
        ("at_least", {"count": 2}, [GOOD, BROKEN, GOOD], "errored", None),
        ("weighted", {"threshold": 0.5}, [GOOD, BAD], "passed", 0.5),
        ("weighted", {"threshold": 0.6}, [GOOD, BAD], "failed", 0.5),
        ("weighted", {"threshold": 0.5}, [GOOD, BROKEN], "errored", None),
        ("weighted", {"threshold": 0.5}, [NOTHING], "ungraded", None),
        ("weighted", {"threshold": 0.5}, [NOTHING, GOOD], "ungraded", None),
    ],
)
def test_what_it_passes_for(
    kind: str, options: dict[str, Any], outcomes: list[Any], verdict: str, score: float | None
) -> None:
    found, single = grade(combined(kind, *outcomes, **options))
    assert (found, single.score) == (verdict, score)
    assert decode_object(Grade, encode_object(single)) == single


@for_each(
    ("kind", "options", "outcomes", "verdict"),
    [
        ("all", {}, [UNSEEN], "failed"),
        ("all", {}, [GOOD, NOTHING], "failed"),
        ("all", {}, [BAD, UNSEEN], "passed"),
        ("any", {}, [BAD, UNSEEN], "failed"),
        ("any", {}, [BAD, BAD], "passed"),
        ("at_least", {"count": 2}, [BAD, BAD, UNSEEN], "passed"),
        ("at_least", {"count": 2}, [GOOD, BAD, UNSEEN], "failed"),
        ("weighted", {"threshold": 0.5}, [BAD, UNSEEN], "failed"),
        ("weighted", {"threshold": 0.5}, [BAD, BAD], "passed"),
    ],
)
def test_what_could_not_be_looked_at_is_not_turned_into_a_pass(
    kind: str, options: dict[str, Any], outcomes: list[Any], verdict: str
) -> None:
    found, single = grade(combined(kind, *outcomes, **options, **{"not": True}))
    assert found == verdict
    assert single.stands is (verdict == "failed")
    assert decode_object(Grade, encode_object(single)) == single
    outer = combined("any", combined(kind, *outcomes, **options), **{"not": True})
    assert grade(outer)[0] == verdict, "however deep it is"
    turned = [NamedGrader("not", Fixed(each), negated=True) for each in outcomes]
    if kind == "all":
        assert grade(combined("any", *turned))[0] == verdict, "by De Morgan"


def test_the_reason_names_those_that_did_not_pass() -> None:
    _, single = grade(combined("all", GOOD, BAD, FAIR))
    assert single.reason == (
        "1 of 3 graders passed, and 3 are needed: `g2`: bad; `g3`: fair (score 0.5, needs 1)"
    )
    assert [each["grader"] for each in single.details["grades"]] == ["g1", "g2", "g3"]
    _, single = grade(combined("any", BROKEN, BAD))
    assert single.reason == "`g1`: ValueError: oops"


def test_weights_and_required_ones() -> None:
    light, heavy = NamedGrader("l", Fixed(GOOD)), NamedGrader("h", Fixed(BAD), weight=3.0)
    assert grade(combined("weighted", light, heavy, threshold=0.25))[1].score == 0.25
    needed = NamedGrader("n", Fixed(FAIR), required=True)
    assert grade(combined("weighted", light, needed, threshold=0.1))[0] == "failed"


@pytest.mark.parametrize(("name", "options"), [("any", {}), ("at_least", {"count": 1})])
def test_a_required_one_must_pass_where_others_are_enough(
    name: str, options: dict[str, Any]
) -> None:
    good, needed = NamedGrader("g", Fixed(GOOD)), NamedGrader("n", Fixed(BAD), required=True)
    verdict, found = grade(combined(name, good, needed, **options))
    assert verdict == "failed"
    assert found.reason.startswith("required: `n` did not pass; 1 of 2 graders passed: `n`: ")
    unseen = NamedGrader("n", Fixed(UNSEEN), required=True)
    assert grade(combined(name, good, unseen, **{"not": True}, **options))[0] == "failed"
    assert grade(combined(name, good, needed, **{"not": True}, **options))[0] == "passed"


@pytest.mark.parametrize("weight", [0, 1, 2])
@pytest.mark.parametrize(
    "spec",
    [
        "{all: [{type: contains, value: x, weight: W}]}",
        "{any: [{contains: {value: x, weight: W}}]}",
        "{at_least: {count: 1, of: [{type: contains, value: x, weight: W}]}}",
        "{type: weighted, threshold: 0.5, value: [{any: [{type: expected, weight: W}]}]}",
        "{any: [{type: of_a_plugin, weight: W}]}",
    ],
)
def test_a_weight_where_passes_are_counted_is_an_error_at_its_place(spec: str, weight: int) -> None:
    text = f"- {{id: a, input: x, expected_output: x, graders: [{spec.replace('W', str(weight))}]}}"
    (problem,) = (
        each for each in load_text(text, "yaml", Catalogue()).problems if each.severity == "error"
    )
    assert problem.code == "conflicting-fields"
    assert problem.message.startswith("`weight` has no effect")
    assert problem.span is not None
    assert problem.span.column == text.index("weight: ") + 1


def python(function: str) -> dict[str, Any]:
    return {"type": "python", "value": f"evalcase.testing:{function}"}


def never_empty(text: str) -> bool:
    return bool(text)


def test_those_inside_are_made_ready_told_apart_and_may_be_forbidden() -> None:
    case = evalcase.Case(input="hi", graders=[{"all": [{"any": ["python:nosuch_module:f"]}]}])
    with pytest.raises(ConfigError, match="nosuch_module"):
        Graders().of(case)
    with pytest.raises(
        ConfigError, match=r"`python:nosuch_module:f` would run code, and --no-exec forbids that"
    ):
        Graders(no_exec=True).of(case)
    named = {"any": [f"python:{__name__}:never_empty"]}
    code, graders = evalcase.Case(input="hi", graders=[{"all": [named]}]), Graders()
    assert graders.prints_for(code, graders.of(code))
    light = evalcase.Case(input="hi", expected_output="hi", graders=[{"all": ["expected"]}])
    assert graders.prints_for(light, graders.of(light)) == []


@for_each(
    ("spec", "message"),
    [
        ({"type": "at_least", "count": 3, "of": [{"type": "expected"}]}, "`of` has only 1"),
        ({"type": "weighted", "value": [{"type": "expected"}]}, "needs `threshold`"),
        ({"type": "weighted", "threshold": 1, "value": [{"type": "expected", "weight": 0}]},
         "the weights are all 0"),
        ({"type": "all", "value": []}, "`value` is an empty list"),
        ({"type": "all", "threshold": 0.5, "value": [{"type": "expected"}]},
         "`all` has no option `threshold`"),
        ({"type": "at_least", "threshold": 1, "count": 1, "of": [{"type": "expected"}]},
         "no option `threshold`"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense(spec: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_grader(spec)
