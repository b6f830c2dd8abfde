"""Where a judge takes the place of the comparison with what is expected, a note says so."""

from __future__ import annotations

from pathlib import Path

import evalcase

JUDGE = '[judge]\ntarget = "echo"\n'


def notes_of(folder: Path, cases: str, config: str = JUDGE) -> list[tuple[str, str, int | None]]:
    (folder / "evalcase.toml").write_text(config)
    (folder / "a.eval.yaml").write_text(cases)
    problems = evalcase.check([folder / "a.eval.yaml"], root=folder)
    return [(each.severity, each.code, each.line) for each in problems]


def test_a_note_says_once_that_what_is_expected_is_not_compared(tmp_path: Path) -> None:
    case = "- {input: hi, expected_output: x, criteria: Is polite.}\n"
    assert notes_of(tmp_path, case * 2) == [("note", "not-compared", 1)]
    case = "- {input: hi, expected_output: x, rubrics: [polite], graders: [{contains: a}]}\n"
    assert notes_of(tmp_path, case) == [("note", "not-compared", 1)]
    case = "- turns: [{input: hi, expected_output: x, criteria: Is polite.}]\n"
    assert notes_of(tmp_path, case) == [("note", "not-compared", 1)]


def test_there_is_nothing_to_note_where_it_is_compared_or_nobody_judges(tmp_path: Path) -> None:
    case = "- {input: hi, expected_output: x, criteria: Is polite., graders: [expected]}\n"
    assert notes_of(tmp_path, case) == []
    case = "- {input: hi, expected_output: x, criteria: Is polite., skip: later}\n"
    assert notes_of(tmp_path, case) == []
    assert notes_of(tmp_path, "- {input: hi, expected_output: x, graders: [expected]}\n") == []
    case = "- {input: hi, expected_output: x, criteria: Is polite.}\n"
    assert notes_of(tmp_path, case, config="") == [("warning", "no-judge", 1)]
