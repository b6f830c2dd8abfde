from __future__ import annotations

from evalcase.util.text import defuse_line, in_ci
from tests.for_each import for_each


@for_each(
    ("line", "shown"),
    [
        ("::warning::x", ": :warning::x"), ("   ::stop-commands::x", "   : :stop-commands::x"),
        ("\x1b[2m \x1b[0m::x", "\x1b[2m \x1b[0m: :x"), ("a ::x", "a ::x"), ("std::map", "std::map"),
        ("x ##[error]y", "x # #[error]y"), ("##vso[task.set]", "# #vso[task.set]"),
        ("## Title", "## Title"), ("plain", "plain"),
    ],
)  # fmt: skip
def test_a_command_has_a_blank_in_it_and_other_text_is_as_it_was(line: str, shown: str) -> None:
    assert defuse_line(line) == shown


def test_ci_is_told_by_its_variables() -> None:
    assert in_ci({"GITHUB_ACTIONS": "true"})
    assert in_ci({"TF_BUILD": "True"})
    assert not in_ci({"CI": "1"})
