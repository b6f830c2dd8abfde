"""Fields, calls and combined graders, as a terminal shows them."""

from __future__ import annotations

from typing import Any

from evalcase.report.terminal.compared import compared_lines
from evalcase.report.terminal.pairs import SideLine, pair_calls, pair_texts
from evalcase.report.terminal.style import PLAIN
from evalcase.types.grade import Grade

FIELDS: list[Any] = [
    {"field": "a", "expected": "1", "got": "1", "matches": True, "weight": 1.0},
    {"field": "b", "expected": "2 ± 1", "got": "9", "matches": False, "weight": 1.0},
]


def test_fields_stand_side_by_side_with_those_marked_that_do_not_match() -> None:
    grade = Grade("fields", 0.5, False, "1 of 2 fields match", {"fields": FIELDS})
    assert list(compared_lines(grade, "", PLAIN, 80)) == [
        "expected   │ got",
        "a: 1       │ a: 1",
        "b: 2 ± 1   │ b: 9",
        "   ^^^^^   │    ^",
    ]
    passed = Grade("fields", 1.0, True, "all 2 fields match", {"fields": FIELDS})
    assert list(compared_lines(passed, "", PLAIN, 80)) == []


def test_a_call_that_is_not_allowed_is_marked() -> None:
    row: dict[str, Any] = {"expected": None, "got": "x()", "made": False, "note": "not expected"}
    assert list(pair_calls([row])) == [
        (SideLine("(not expected)", note=True), SideLine("x()", 0, 3))
    ]


def test_the_name_of_a_tool_is_never_cut() -> None:
    long = "x" * 200
    row: Any = {
        "expected": f'search(a="{long}", b=1)',
        "got": f'search(a="{long}", b=2)',
        "made": False,
    }
    ((left, right),) = pair_calls([row])
    assert left is not None
    assert right is not None
    assert left.text.startswith("search((168 characters) …xxx")
    assert left.text[left.start : left.end] == "1"
    assert right.text[right.start : right.end] == "2"


def test_what_is_hardly_longer_than_the_note_on_it_is_not_cut() -> None:
    tail = "y" * 90
    row: Any = {"expected": f"f(a=1, b={tail})", "got": f"f(a=2, b={tail})", "made": False}
    ((left, _),) = pair_calls([row])
    assert left is not None
    assert left.text.endswith(f"{tail})")


def test_an_extra_key_is_a_line_of_its_own_and_no_comma() -> None:
    pairs = list(pair_texts('{\n  "a": 1\n}', '{\n  "a": 1,\n  "k": 3\n}'))
    assert pairs == [
        (SideLine("{"), SideLine("{")),
        (SideLine('  "a": 1'), SideLine('  "a": 1')),
        (None, SideLine('  "k": 3', 0, 8)),
        (SideLine("}"), SideLine("}")),
    ]
