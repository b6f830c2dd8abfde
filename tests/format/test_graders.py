"""The four spellings of graders, normalised and checked by what is declared, to any depth."""

from textwrap import dedent, indent
from typing import Any

from evalcase.config.catalogue import Catalogue
from evalcase.format.load import Loaded, load_text
from evalcase.types.problem import Problem
from tests.for_each import for_each
from tests.format.declared import KNOWN


def load(graders: str) -> Loaded:
    text = f"input: hi\nexpected_output: hi\ngraders:\n{indent(dedent(graders), '  ')}\n"
    return load_text(text, "yaml", known=KNOWN)


def read(graders: str) -> list[Any]:
    loaded = load(graders)
    assert loaded.problems == []
    assert loaded.suite is not None
    return list(loaded.suite.cases[0].graders)


def found(graders: str) -> list[tuple[str, str]]:
    """Codes with the text that each points at."""
    return [(problem.code, pointed_at(problem)) for problem in load(graders).problems]


def pointed_at(problem: Problem) -> str:
    assert problem.span is not None
    assert problem.excerpt is not None
    start, end = problem.span.column - 1, problem.span.end_column - 1
    return problem.excerpt.text[start : end if problem.span.line == problem.span.end_line else None]


def test_inner_graders_are_normalised_to_any_depth() -> None:
    (grader,) = read("""
        - every:
            - expected
            - some: {count: 1, of: [{has: x}, {every: [python:a:b]}]}
            - {type: mean, threshold: 0.5, value: [{size: {max: 3}}]}
    """)
    assert grader == {
        "type": "every",
        "value": [
            {"type": "expected"},
            {
                "type": "some",
                "count": 1,
                "of": [
                    {"type": "has", "value": "x"},
                    {"type": "every", "value": [{"type": "python", "value": "a:b"}]},
                ],
            },
            {"type": "mean", "threshold": 0.5, "value": [{"type": "size", "max": 3}]},
        ],
    }


def test_mistakes_in_inner_graders_are_found_at_any_depth() -> None:
    assert found("""
        - every:
            - nosuch
            - some: {count: 0, of: [{has: 5}, {every: [python:a, {size: {mx: 3}}]}]}
            - {type: mean, value: [{type: sise, weight: -1}]}
            - every: []
            - every: {value: x}
            - 5
    """) == [
        ("unknown-grader", "nosuch"),
        ("bad-value", "0"),
        ("wrong-type", "5"),
        ("bad-value", "python:a"),
        ("unknown-option", "mx"),
        ("missing-option", "{type: mean, value: [{type: sise, weight: -1}]}"),
        ("unknown-grader", "sise"),
        ("bad-value", "-1"),
        ("empty-list", "[]"),
        ("wrong-type", "x"),
        ("bad-grader", "5"),
    ]


def test_every_place_of_a_mistake() -> None:
    assert found("""
        - expectd
        - {expectd: {weight: 2}}
        - {type: expectd}
        - {has: 5}
        - {has: {value: 5}}
        - {type: has, value: 5}
        - {type: has, value: [x, 5]}
        - {has: {ignore_case: true}}
        - has
        - {size: 3}
        - {size: {at_least: 3}}
        - {type: size, unit: line}
        - {type: has, value: x, unit: line}
        - python:a
        - {type: python:a, weight: 2}
        - {python:a: {weight: -1}}
        - {mean: [expected]}
        - {has: x, weight: 2}
        - {name: has, value: x}
        - {not: {has: x}}
    """) == [
        ("unknown-grader", "expectd"),
        ("unknown-grader", "expectd"),
        ("unknown-grader", "expectd"),
        ("wrong-type", "5"),
        ("wrong-type", "5"),
        ("wrong-type", "5"),
        ("wrong-type", "5"),
        ("missing-option", "{ignore_case: true}"),
        ("missing-option", "has"),
        ("unknown-option", "3"),
        ("unknown-option", "at_least"),
        ("unknown-option", "unit"),
        ("bad-value", "line"),
        ("bad-value", "python:a"),
        ("bad-value", "python:a"),
        ("bad-value", "python:a"),
        ("bad-value", "-1"),
        ("missing-option", "[expected]"),
        ("bad-grader", "{has: x, weight: 2}"),
        ("bad-grader", "{name: has, value: x}"),
        ("bad-grader", "{not: {has: x}}"),
    ]


@for_each(
    ("fields", "is_fine"),
    [
        ("threshold: 0.5, graders: [{type: contains, value: a, weight: 0}]", False),
        ("threshold: 0.5, graders: [{contains: a}, {type: contains, value: a, weight: 0}]", True),
        ("graders: [{type: contains, value: a, weight: 0}]", False),
        # The built-in comparison is added, and counts.
        (
            "threshold: 0.5, expected_output: a, graders: [{type: contains, value: a, weight: 0}]",
            True,
        ),
        ("threshold: 0.5, criteria: good, graders: [{contains: a}]", True),
    ],
)
def test_a_case_needs_a_grader_that_counts(fields: str, is_fine: bool) -> None:
    found = load_text(f"cases: [{{input: x, {fields}}}]", "yaml", Catalogue())
    assert (found.suite is not None) == is_fine
    all_zero = "the weights of its graders are all 0, so none of them counts"
    assert [each.message for each in found.problems] == ([] if is_fine else [all_zero])


@for_each(
    ("fields", "is_fine"),
    [
        ("graders: [{judge: good}]", True),
        ("graders: [{judge: ' '}]", False),
        ("graders: [{type: judge, rubrics: [good, ' ']}]", False),
        ("graders: [{type: judge, rubrics: [{text: ' '}]}]", False),
        ("criteria: ' '", False),
        ("rubrics: [good, ' ']", False),
        ("rubrics: [{text: ' '}]", False),
    ],
)
def test_a_criterion_says_something_as_anything_meets_nothing(fields: str, is_fine: bool) -> None:
    found = load_text(f"cases: [{{input: x, {fields}}}]", "yaml", Catalogue())
    assert (found.suite is not None) == is_fine
