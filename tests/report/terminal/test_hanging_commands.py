"""A command is there to be copied: it is never broken."""

from __future__ import annotations

from evalcase.report.terminal.hanging import hang_text
from tests.for_each import for_each

COMMAND = "evalcase import a-long-name.eval.yaml --from deepeval -o another-name.eval.yaml"


@for_each(
    ("text", "rows"),
    [
        (f"this converts it to a suite: {COMMAND}",
         ["this converts it to a suite:", f"  {COMMAND}"]),
        (f"write `{COMMAND}`; then look at what it wrote, and run it",
         ["write", f"  `{COMMAND}`;", "  then look at what it wrote, and run it"]),
        ("to say evalcase in a sentence is no command and may be broken",
         ["to say evalcase in a sentence is no", "  command and may be broken"]),
        (COMMAND, ["evalcase import a-long-name.eval.yaml", "  --from deepeval -o",
                   "  another-name.eval.yaml"]),
    ],
)  # fmt: skip
def test_a_command_stays_in_one_row(text: str, rows: list[str]) -> None:
    assert hang_text(text, 40, indent=2) == rows
    assert " ".join(row.strip() for row in rows) == text
