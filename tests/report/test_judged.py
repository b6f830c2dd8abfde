"""What graders said, from a record that may come from anyone."""

from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import ConfigError
from evalcase.report.labels import read_judge
from evalcase.store.folder import Run, RunAbout
from evalcase.store.stored import StoredRun
from evalcase.types.grade import Grade
from tests.store.samples import result, row, write

JUDGED: dict[str, Any] = {"protocol": "judge/1"}


def kept(folder: Path, *grades: tuple[Grade, ...]) -> StoredRun:
    """A run whose trials have these grades."""
    rows = [row(number, verdict="failed", grades=each) for number, each in enumerate(grades)]
    write(folder / "journal.jsonl", rows)
    return StoredRun(Run("id", str(folder), "", RunAbout({})))


def judge(passed: bool = True, name: str = "judge", **details: Any) -> Grade:
    return Grade(name, float(passed), passed, "", JUDGED | details)


def test_the_judge_is_found_among_other_graders(tmp_path: Path) -> None:
    plain = Grade("expected", 1.0, True, "")
    found = read_judge("r", kept(tmp_path, (plain, judge(False)), (plain, judge(True))).results())
    assert found.name == "judge"
    assert [each.passed for each in found.said] == [False, True]
    first = found.said[0]
    answer = result(0).answer
    assert answer is not None
    assert first.answer == (*result(0).key[:3], answer.fingerprint())


def test_several_judges_have_to_be_told_apart(tmp_path: Path) -> None:
    run = kept(tmp_path, (judge(name="polite"), judge(False, name="right")))
    with pytest.raises(
        ConfigError, match="has several graders: `polite`, `right`; choose with --grader"
    ):
        read_judge("r", run.results())
    assert [each.passed for each in read_judge("r", run.results(), "right").said] == [False]
    with pytest.raises(ConfigError, match="no grader `rihgt`; the nearest is `right`"):
        read_judge("r", run.results(), "rihgt")


def test_criteria_and_votes_are_read_with_care(tmp_path: Path) -> None:
    criteria: list[Any] = [
        {"id": "right", "score": 1.0, "votes": {"met": 2, "not_met": 1}},
        {"id": "polite", "score": 0.5, "votes": {"met": "3"}},
        {"id": "odd", "score": "1", "votes": {"met": -1}},
        {"id": ["no"], "score": 1.0}, {"score": 1.0}, "text", None, 7,
    ]  # fmt: skip
    found = read_judge(
        "r", kept(tmp_path, (judge(criteria=criteria),), (judge(criteria="none"),)).results()
    )
    assert found.said[0].criteria == {"right": True, "polite": False}
    assert found.said[0].votes == {"right": {"met": 2, "not_met": 1}}
    assert found.said[1].criteria == {}
