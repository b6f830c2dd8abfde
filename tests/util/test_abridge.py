from __future__ import annotations

from evalcase.util.text import abridge_message


def test_a_long_name_in_a_long_message_is_cut() -> None:
    said = f"there is no `{'x' * 300}`"
    assert abridge_message(said) == f"there is no `{'x' * 60}…`"


def test_a_short_message_stays_as_it_is() -> None:
    said = f"there is no `{'x' * 100}`"
    assert abridge_message(said) == said


def test_what_stands_between_two_names_is_no_name() -> None:
    said = f"`a` {'is said at length, ' * 20}and `b`"
    assert abridge_message(said) == said
