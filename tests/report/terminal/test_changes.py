"""The diff of a workspace in a terminal."""

from __future__ import annotations

from evalcase.report.case_text import trial_lines
from evalcase.report.terminal import Screen
from evalcase.types.result import outcome_of_one
from evalcase.types.value import replace
from evalcase.types.workspace import Changes
from tests.report.figures.results import trial

DIFF = """diff --git a/x b/x
index 1..2
--- a/x
+++ b/x
@@ -1 +1 @@
--- old
+new
"""


def test_the_head_of_a_diff_does_not_look_like_a_change() -> None:
    result = replace(trial("a", "p"), workspace=Changes("1", "2", "none", diff=DIFF))
    outcome, screen = outcome_of_one("passed", 1.0), Screen(colour=True)
    lines = list(trial_lines(result, None, outcome, screen, is_first=True))
    at = next(number for number, line in enumerate(lines) if "diff --git" in line)
    styles = [line.strip().partition("m")[0] for line in lines[at : at + 7]]
    assert styles == ["\x1b[2"] * 4 + ["\x1b[36", "\x1b[1;31", "\x1b[1;32"]
