"""Quick fixes: each makes what it says, and what is left is what was wrong before without it."""

from __future__ import annotations

from pathlib import Path

from evalcase.editor.fixes import find_fixes, fix_all
from evalcase.format.positions import apply_edits
from tests.editor.test_reading import read
from tests.for_each import for_each


@for_each(("text", "title", "after"), [
    ("- inptu: x\n  expected_output: x\n", "Write `input` for `inptu`",
     "- input: x\n  expected_output: x\n"),
    ("- input: 5\n  expected_output: x\n", 'Write `"5"` for `5`',
     '- input: "5"\n  expected_output: x\n'),
    ("- input: [{role: usr, content: 😀}]\n  expected_output: x\n", "Write `user` for `usr`",
     "- input: [{role: user, content: 😀}]\n  expected_output: x\n"),
    ("- input: x\n  evaluators: [expected]\n  expected_output: x\n",
     "Rename `evaluators` to `graders`",
     "- input: x\n  graders: [expected]\n  expected_output: x\n"),
    ("tests:\n  - input: x\n    expected_output: x\n", "Rename `tests` to `cases`",
     "cases:\n  - input: x\n    expected_output: x\n"),
])  # fmt: skip
def test_a_quick_fix_cures_what_it_stands_at(
    tmp_path: Path, text: str, title: str, after: str
) -> None:
    reading, _ = read(tmp_path, text)
    (found,) = find_fixes(reading, 1, 3)
    assert found.title == title
    assert found.problem in reading.problems
    assert apply_edits(text, found.edits, "yaml") == after
    assert read(tmp_path, after)[0].problems == []


def test_all_deprecated_names_at_once(tmp_path: Path) -> None:
    text = "tests:\n  - input_messages: x\n    expected_messages: 😀\n"
    reading, _ = read(tmp_path, text)
    *_, found = find_fixes(reading, 1, 1)
    assert found.title == "Rename all 3 deprecated names of this file"
    after = apply_edits(text, found.edits, "yaml")
    assert after == "cases:\n  - input: x\n    expected_output: 😀\n"


def test_all_that_check_would_fix_as_one_edit(tmp_path: Path) -> None:
    text = "cases:\n  - inptu: x\n    expected_output: 5\n    tags: a\n  - id: b\n    input: 7\n"
    reading, known = read(tmp_path, text)
    found = fix_all(reading, known)
    assert found is not None
    after = apply_edits(text, found.edits, "yaml")
    assert "input: x" in after
    assert 'input: "7"' in after
    assert [each for each in read(tmp_path, after)[0].problems if each.fix is not None] == []
    assert fix_all(*read(tmp_path, "- input: x\n  expected_output: x\n")) is None
