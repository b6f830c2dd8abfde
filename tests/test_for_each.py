from pathlib import Path

import pytest

from tests.for_each import for_each


@for_each(("a", "b"), [(1, 2), pytest.param(1, 3, id="x"), (2, 4)])
@for_each("c", "pq")
def sees(seen: list[str], a: int, b: int, c: str) -> None:
    seen.append(f"{a}{b}{c}")
    if (a, c) == (1, "q"):
        pytest.fail("no")
    assert b != 4, "four"


def test_each_row_is_seen_and_all_that_fail_are_told() -> None:
    seen: list[str] = []
    with pytest.raises(BaseExceptionGroup) as caught:
        sees(seen=seen)
    assert seen == ["12p", "12q", "13p", "13q", "24p", "24q"]
    assert caught.value.message == "3 of 3 rows"
    inner = [each for each in caught.value.exceptions if isinstance(each, BaseExceptionGroup)]
    assert [(len(each.exceptions), each.__notes__) for each in inner] == [
        (1, ["of 1, 2"]), (1, ["of 1, 3"]), (2, ["of 2, 4"]),
    ]  # fmt: skip


@pytest.fixture
def numbers() -> list[int]:
    return []


@for_each("number", range(3))
def test_fixtures_are_shared_but_for_a_folder(
    tmp_path: Path, numbers: list[int], number: int
) -> None:
    numbers.append(number)
    assert numbers == [*range(number + 1)]
    (tmp_path / str(number)).touch()
    assert [each.name for each in tmp_path.iterdir()] == [str(number)]


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="proves nothing"):
        for_each("a", [])
