from __future__ import annotations

from evalcase.text.abridge import abridge_message

LONG = "n" * 200


def test_a_long_name_is_cut() -> None:
    assert abridge_message(f"there is no `{LONG}` here") == f"there is no `{'n' * 60}…` here"


def test_what_stands_between_two_names_is_never_cut() -> None:
    between = ", ".join(f"name{number}" for number in range(40))
    message = f"`f` can't be given `x`: there are {between}, and what `arguments` names"
    assert abridge_message(message) == message
    assert abridge_message(f"`{LONG}` {message}") == f"`{'n' * 60}…` {message}"
