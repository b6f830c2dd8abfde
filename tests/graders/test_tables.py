"""Every row of the tables gives what it says, in every spelling, negated, and behind a path."""

import json
from typing import Any

import pytest

from evalcase.config.registry import find_class, list_names
from evalcase.errors import SuiteError
from evalcase.graders.base import declared_grader
from evalcase.types.answer import Answer
from evalcase.types.message import Message
from evalcase.types.value import replace
from tests.for_each import for_each
from tests.graders.expectation import answer_of, context_of
from tests.graders.rows import FOLDER, Row, all_rows, grade_by, messages_of, rows

by_place = for_each("row", rows("gives"), ids=lambda row: row.place)


def test_there_is_a_table_for_each_grader() -> None:
    elsewhere = {"python", "script", "judge", "run", "files", "diff", "skill_used"}
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(list_names("graders")) - elsewhere
    for name in set(list_names("graders")) - elsewhere:
        outcomes = [row.data for row in all_rows() if row.place.rpartition("-")[0] == name]
        assert any(each.get("gives", [0, False])[1] for each in outcomes), name
        assert any(not each.get("gives", [1, True])[1] for each in outcomes), name
        assert any("error" in each for each in outcomes), name


@by_place
def test_gives(row: Row) -> None:
    grade = grade_by(row.spec, row.context)
    assert grade.failure is None, grade.failure
    assert [grade.score, grade.passed, grade.reason] == row.data["gives"]
    for name, value in row.data.get("details", {}).items():
        assert grade.details[name] == value


@for_each("row", rows("broken"), ids=lambda row: row.place)
def test_breaks(row: Row) -> None:
    grade = grade_by(row.spec, row.context)
    assert grade.failure is not None
    assert (grade.score, grade.passed, grade.reason) == (None, False, row.data["broken"])


@for_each("row", rows("ungraded"), ids=lambda row: row.place)
def test_has_nothing_to_grade(row: Row) -> None:
    grade = grade_by(row.spec, row.context)
    assert (grade.failure, grade.score, grade.passed) == (None, None, False)
    assert grade.reason == row.data["ungraded"]


@for_each("row", rows("error"), ids=lambda row: row.place)
def test_check_says_what_is_wrong(row: Row) -> None:
    with pytest.raises(SuiteError) as caught:
        _ = row.case
    assert messages_of(caught.value) == [row.data["error"]]
    if "hint" in row.data:
        assert [problem.hint for problem in caught.value.problems] == [row.data["hint"]]


@by_place
def test_all_spellings_are_alike(row: Row) -> None:
    spec = row.spec
    declared = declared_grader(find_class("graders", spec["type"]))
    kind = declared.kind
    options = {name: value for name, value in spec.items() if name != "type"}
    spellings: list[Any] = [spec]
    if not declared.takes_mapping or not isinstance(options.get(kind.argument or ""), dict):
        spellings += [] if declared.takes_mapping else [{spec["type"]: options}]
    # Without an argument, `{name: null}` is the name alone: null itself is said as an option.
    argument = options.get(kind.argument or "")
    if options.keys() == {kind.argument} and argument is not None and type(argument) is not dict:
        spellings.append({spec["type"]: argument})
    if not options:
        spellings += [spec["type"], {spec["type"]: None}]
    for spelling in spellings:
        assert row._replace(data={**row.data, "grader": spelling}).spec == spec


def test_the_schema_of_editors_takes_every_row() -> None:
    from jsonschema import Draft202012Validator

    from evalcase.config.catalogue import suite_schema

    validator = Draft202012Validator(suite_schema())
    for row in [*rows("gives"), *rows("broken")]:
        document = {"input": "?", "graders": [row.data["grader"]]}
        assert validator.is_valid(document), row.place


@by_place
def test_not_is_an_involution(row: Row) -> None:
    grade = grade_by(row.spec, row.context)
    opposite = grade_by({**row.spec, "not": not row.spec.get("not", False)}, row.context)
    if grade.stands:
        assert not opposite.passed, "nothing was looked at, so nothing can be turned round"
        return
    if "*" in row.spec.get("path", ""):
        # Every part has to pass: some may pass by the one, and others by the other.
        assert not (grade.passed and opposite.passed)
        return
    assert opposite.passed is not grade.passed
    assert opposite.score == pytest.approx(1 - (grade.score or 0.0))


@by_place
def test_a_threshold_of_0_passes_whatever_the_score_is(row: Row) -> None:
    if declared_grader(find_class("graders", row.spec["type"])).kind.threshold == "none":
        return  # it passes as its name says, and takes no threshold
    spec = {**row.spec, "threshold": 0}
    if grade_by(row.spec, row.context).stands:
        # A field that is missing is wrong, and the threshold says how many may be.
        assert not grade_by(spec, row.context).passed or row.spec["type"] == "fields"
    elif not row.spec.get("not") and "required: " not in row.data["gives"][2]:
        assert grade_by(spec, row.context).passed


@by_place
def test_a_part_is_graded_as_a_whole_answer_would_be(row: Row) -> None:
    spec = row.spec
    reads = declared_grader(find_class("graders", spec["type"])).kind.reads
    whole = grade_by(spec, row.context)
    if (
        reads not in ("text", "value", "either")
        or "path" in spec
        or not isinstance(row.answer.content, str)
    ):
        return
    if reads == "value" or not isinstance(spec.get("value", ""), str):
        try:
            part = json.loads(row.answer.content)
        except ValueError:
            return  # what is no JSON is no part of any
    else:
        part = row.answer.content
    said = Message({"role": "assistant", "content": json.dumps({"a": [part]})})
    context = row._replace(data=row.data).context
    within = grade_by({**spec, "path": "a.0"}, _with_answer(context, Answer((said,))))
    assert (within.score, within.passed) == (whole.score, whole.passed)


def _with_answer(context: Any, answer: Answer) -> Any:
    return replace(context, answer=answer)


def test_an_answer_that_was_cut_has_no_verdict() -> None:
    for row in rows("gives"):
        kind = declared_grader(find_class("graders", row.spec["type"])).kind
        cut = replace(row.answer, truncated=True)
        grade = grade_by(row.spec, _with_answer(row.context, cut))
        if kind.reads == "figures":
            assert grade.failure is None, row.place
        else:
            assert grade.failure is not None, row.place
            assert "the answer was truncated" in grade.reason, row.place


def test_only_what_measures_the_trial_may_grade_an_answer_that_was_cut() -> None:
    kinds = [declared_grader(find_class("graders", name)).kind for name in list_names("graders")]
    assert {each.name for each in kinds if each.reads == "figures"} == {
        "cost", "latency", "tokens", "turns",
    }  # fmt: skip


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("combined", ["all", "any", "weighted"])
def test_what_is_made_of_graders_is_errored_by_one_that_can_not_see_all(
    combined: str, negated: bool
) -> None:
    inside: list[Any] = [{"type": "tool_calls", "max": 0}, {"type": "turns", "max": 1}]
    spec: Any = {"type": combined, "value": inside, "not": negated}
    spec |= {"threshold": 0.5} if combined == "weighted" else {}
    grade = grade_by(spec, context_of(replace(answer_of("x"), truncated=True)))
    assert grade.failure is not None
    assert "the answer was truncated" in grade.reason
