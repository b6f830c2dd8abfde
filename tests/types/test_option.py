from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator

from evalcase.report.evaluated import Evaluated
from evalcase.store.folder import Run, RunAbout
from evalcase.types.options import Amount, Text, Texts, Whole, about
from evalcase.types.problem import Finding
from evalcase.types.read_options import fields_of, make, problems_in, schema_of
from evalcase.types.result import Counts, Decision, Totals, first_code
from evalcase.types.value import JSON, Value
from tests.for_each import for_each


class Price(Value, frozen=True):
    input: Annotated[Amount, about("For what goes in.", example=0.15)]
    cached: Annotated[Amount | None, about("For what was there.")] = None


class Options(Value, frozen=True):
    price: Annotated[Price | None, about("Prices.", words="a mapping of prices")] = None
    texts: Annotated[Text | Texts | None, about("Texts.")] = None
    least: Annotated[Whole | None, about("The least.")] = None
    most: Annotated[Whole | None, about("The most.")] = None

    def conflicts(self) -> Iterator[Finding]:
        if self.least is not None and self.most is not None and self.least > self.most:
            yield Finding(("least",), "out of order")


def said(**values: JSON) -> list[tuple[object, str, str | None]]:
    found = problems_in(Options, values, "it", ("targets",))
    return [(fault.path, fault.message, fault.hint) for fault in found]


def test_options_are_held_as_their_fields_say() -> None:
    assert make(Options, {"price": {"input": 1, "cached": None}}) == Options(Price(1.0))
    assert make(Options, {"price": None, "texts": ["a"]}) == Options(texts=("a",))


def test_faults_inside_have_their_paths_and_whole_names() -> None:
    here = ("targets", "price")
    assert said(price=3) == [(here, "`price` is a mapping of prices, not 3", None)]
    assert said(price={}) == [(here, "`price` needs `input`", "for example input: 0.15")]
    assert said(price={"input": -1, "cahced": 1}) == [
        ((*here, "input"), "`price.input` is a number of 0 or more, not -1", None),
        ((*here, "cahced"), "`price` has no option `cahced`", "did you mean `cached`?"),
    ]


def test_conflicts_are_found_beside_other_problems() -> None:
    conflict = (("targets", "least"), "out of order", None)
    assert said(least=5, most=3) == [conflict]
    assert said(least=5, most=3, texts="")[1:] == [conflict]
    assert len(said(least=5, most=-1)) == 1


@for_each(
    ("name", "value"),
    [
        ("price", {"input": 1}), ("price", {"input": 0, "cached": 0.5}), ("price", {}),
        ("price", {"x": 1}), ("price", 3), ("texts", ""), ("texts", "a"), ("texts", []),
        ("texts", ["a"]), ("texts", [""]), ("texts", [1]), ("texts", 0), ("texts", {}),
    ],
)  # fmt: skip
def test_the_schema_agrees_with_the_faults(name: str, value: JSON) -> None:
    schema = schema_of(fields_of(Options)[name])
    assert Draft202012Validator(schema).is_valid(value) == (not said(**{name: value}))


# Totals and gates to an exit code


RUN = Run("", "", "", RunAbout({}))
MET = Decision("certain", "met", 0, 1, 2, 0.5, 1.0, 0.5)
MISSED = Decision("certain", "missed", 0, 1, 2, 0.0, 0.4, 0.5)


@pytest.mark.parametrize(
    ("verdicts", "gates", "code"),
    [
        ("P", {}, 0),
        ("PS", {}, 0),
        ("PF", {}, 1),
        ("PE", {}, 3),
        ("PE", {"max_errors": 1}, 1),
        ("EE", {"max_errors": 2}, 1),
        ("EE", {"max_errors": 1}, 3),
        ("PE", {"max_errors": 1, "fail_under": 0.5}, 0),
        ("PE", {"max_errors": 1, "fail_under": 0.6}, 1),
        ("PE", {"max_errors": 0, "fail_under": 0.5}, 3),
        ("PF", {"fail_under": 0.5}, 0),
        ("PF", {"fail_under": 0.6}, 1),
        ("S", {}, 0),
        ("S", {"needs_tries": True}, 1),
        ("S", {"needs_tries": True, "fail_under": 0.0}, 0),
        ("P", {"status": "interrupted"}, 130),
        ("P", {"status": "stopped"}, 3),
        ("PF", {"status": "stopped", "failed_fast": True}, 1),
        ("PE", {"status": "stopped", "failed_fast": True}, 3),
        ("PF", {"status": "stopped", "decision": MET}, 0),
        ("PF", {"status": "stopped", "decision": MISSED}, 1),
        ("PE", {"status": "stopped", "decision": MET}, 3),
    ],
)
def test_exit_code_of_totals(verdicts: str, gates: dict[str, Any], code: int) -> None:
    counts = Counts(len(verdicts), *map(verdicts.count, "PFEUS"))
    gates = {"status": "completed", **gates}
    assert Evaluated(RUN, totals=Totals(counts, counts), **gates).exit_code == code


def test_cases_without_all_of_their_trials_are_not_completed() -> None:
    totals = Totals(Counts(1, passed=1), Counts(2, passed=2), unfinished=1)
    assert Evaluated(RUN, "completed", totals).exit_code == 3


def test_the_first_of_several_codes() -> None:
    assert [first_code(0, 1), first_code(1, 3), first_code(3, 2), first_code(2, 130)] == [
        1, 3, 2, 130,
    ]  # fmt: skip
