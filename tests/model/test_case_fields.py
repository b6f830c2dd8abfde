from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import fields

from evalcase.model.case_fields import CaseFields, TurnFields, UserFields, check_case
from evalcase.model.simulated_user import USER_FIELDS
from evalcase.resolve.fields import CASE_ORDER, TURN_FIELDS
from evalcase.run.hashes import DECIDES_NOTHING, OF_GRADING, OF_QUESTION


def names(wanted: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(wanted))


def test_the_fields_of_a_recorded_case_are_those_of_the_canonical_form() -> None:
    assert names(CaseFields) == ("id", "input", "expected_output", *CASE_ORDER)
    assert names(TurnFields) == TURN_FIELDS
    assert names(UserFields) == USER_FIELDS


def test_of_every_field_it_is_said_what_it_decides() -> None:
    said = {*OF_QUESTION, *OF_GRADING}
    assert said.isdisjoint(DECIDES_NOTHING)
    assert said | DECIDES_NOTHING == {*names(CaseFields)}


def test_every_valid_case_can_be_read_from_a_record() -> None:
    corpus = Path(__file__).parent.parent / "corpus" / "canonical.json"
    cases = [case for suite in json.loads(corpus.read_text()).values() for case in suite["cases"]]
    assert len(cases) > 100
    for case in cases:
        check_case(case)
