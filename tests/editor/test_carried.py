from __future__ import annotations

from evalcase.editor.documents import map_lines


def carried(before: str, now: str) -> list[int | None]:
    move = map_lines([*before], [*now])
    return [move(line) for line in range(len(before))]


def test_lines_above_a_change_stay_and_those_below_move_along() -> None:
    assert carried("abcd", "abXYcd") == [0, 1, 4, 5]
    assert carried("abcd", "abd") == [0, 1, None, 2]
    assert carried("abcd", "aXcd") == [0, None, 2, 3]


def test_nothing_changed_or_all_of_it() -> None:
    assert carried("abc", "abc") == [0, 1, 2]
    assert carried("abc", "xyz") == [None, None, None]
    assert carried("aaa", "aa") == [0, 1, None]
    assert carried("", "a") == []
