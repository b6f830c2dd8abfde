from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import fields

from evalcase.format.fields import WrittenTurn, WrittenUser, field_names
from evalcase.runner.hashes import DECIDES_NOTHING, OF_GRADING, OF_QUESTION
from evalcase.types.answer import SimulatedUser
from evalcase.types.case import FIELDS, TURN_FIELDS, check_case, field_types


def names(wanted: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(wanted))


def test_the_fields_of_a_recorded_case_are_those_of_the_canonical_form() -> None:
    assert field_types().keys() == {*FIELDS}
    assert field_names(WrittenTurn) == TURN_FIELDS
    assert names(SimulatedUser) == field_names(WrittenUser)


def test_of_every_field_it_is_said_what_it_decides() -> None:
    said = {*OF_QUESTION, *OF_GRADING}
    assert said.isdisjoint(DECIDES_NOTHING)
    assert said | DECIDES_NOTHING == {*FIELDS}


def test_every_valid_case_can_be_read_from_a_record() -> None:
    corpus = Path(__file__).parent.parent / "corpus" / "canonical.json"
    cases = [case for suite in json.loads(corpus.read_text()).values() for case in suite["cases"]]
    assert len(cases) > 100
    for case in cases:
        check_case(case)
