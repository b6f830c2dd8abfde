"""Cases of a file as they are read, and what of the file is never held at once."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import evalcase
from evalcase import SuiteError


def test_iter_cases_gives_what_load_gives(tmp_path: Path) -> None:
    """For every format."""
    for ending, text in (("yaml", "- input: a\n- input: b\n"), ("json", '[{"input": "a"}]'),
                         ("jsonl", '{"input": "a"}\n{"input": "a"}\n')):  # fmt: skip
        path = tmp_path / f"a.{ending}"
        path.write_text(text)
        assert tuple(evalcase.iter_cases(path)) == evalcase.load(path).cases


def write_big(path: Path, cases: int, **fields: str) -> None:
    """A JSONL file of 8 kB a line."""
    with path.open("w") as file:
        for number in range(cases):
            file.write(json.dumps({"id": str(number), "input": "x" * 8000, **fields}) + "\n")


def test_iter_cases_gives_cases_before_the_file_is_read_to_its_end(tmp_path: Path) -> None:
    """What is added to the file meanwhile comes out as well."""
    path = tmp_path / "big.jsonl"
    write_big(path, 1000, criteria="c")
    cases = evalcase.iter_cases(path)
    assert next(cases).id == "0"
    with path.open("a") as file:
        file.write('{"id": "late", "input": "x", "criteria": "c"}\n')
    assert [case.id for case in cases][-2:] == ["999", "late"]


def peak_memory(work: Callable[[], int]) -> tuple[int, int]:
    """The result of some work, and the most memory it held at once."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("fields", [{"criteria": "c"}, {}, {"outcome": "o"}])
def test_iter_cases_never_holds_the_file_in_memory(tmp_path: Path, fields: dict[str, str]) -> None:
    """24 MB go by, and not a tenth of that is ever there at once, with a warning a line or none."""
    path = tmp_path / "big.jsonl"
    write_big(path, 3000, **fields)
    count, peak = peak_memory(lambda: sum(1 for _ in evalcase.iter_cases(path)))
    assert count == 3000
    assert peak < path.stat().st_size / 10


def test_check_never_holds_the_file_in_memory(tmp_path: Path) -> None:
    """What is only checked is let go as well."""
    path = tmp_path / "big.jsonl"
    write_big(path, 3000, expected_output="c")
    found, peak = peak_memory(lambda: len(evalcase.check([path])))
    assert found == 0
    assert peak < path.stat().st_size / 10


def test_iter_cases_stops_at_the_first_error_and_raises_after_checking_the_rest(
    tmp_path: Path,
) -> None:
    """Cases before the error are given, none after it; the error has all there is."""
    path = tmp_path / "a.jsonl"
    lines = ['{"id": "a", "input_messages": "x"}', '{"id": "b", "input": "y"}', '{"id": "b"}',
             '{"id": "c", "input": "z"}', "{", '{"id": "a", "input": "again"}']  # fmt: skip
    path.write_text("\n".join(lines))
    given: list[str] = []

    def consume() -> None:
        for case in evalcase.iter_cases(path):
            given.append(case.id)

    with pytest.raises(SuiteError) as raised:
        consume()
    assert given == ["a", "b"]
    found = [(each.code, each.line) for each in raised.value.problems]
    assert [each for each in found if each[0] != "nothing-to-grade"] == [
        ("deprecated-name", 1),
        ("missing-input", 3),
        ("duplicate-id", 3),
        ("syntax", 5),
        ("duplicate-id", 6),
    ]


def test_iter_cases_gives_no_case_of_a_file_whose_suite_fields_are_wrong(tmp_path: Path) -> None:
    """What holds for every case isn't known then."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"input": "x"}\n')
    (tmp_path / "a.suite.yaml").write_text("oops: 1\n")
    cases = evalcase.iter_cases(path)
    with pytest.raises(SuiteError):
        next(cases)


def open_files() -> set[str]:
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        # One of them is the folder that is being listed.
        with suppress(FileNotFoundError):
            found.add(str(link.readlink()))
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_iter_cases_closes_its_file(tmp_path: Path) -> None:
    """At its end, on an error, and when it is left half-way."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"input": "x"}\n{"input": "y"}\n{"oops": 1}\n')
    cases = evalcase.iter_cases(path)
    next(cases)
    assert str(path) in open_files()
    assert isinstance(cases, Iterator)
    cases.close()  # type: ignore[attr-defined]
    assert str(path) not in open_files()
    with pytest.raises(SuiteError):
        list(evalcase.iter_cases(path))
    assert str(path) not in open_files()
