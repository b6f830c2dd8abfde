"""No command does more work for each case of a large file than for each case of a small one."""

import pytest

from benchmarks.growth import COMMANDS, SHAPES
from tests.effort import count_lines

FEW, MANY = 12, 72


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("command", COMMANDS)
def test_work_grows_no_faster_than_the_file(command: str, shape: str) -> None:
    work, file = COMMANDS[command], SHAPES[shape]
    work(file.text(2), file.format)  # what is imported or remembered once counts for nobody
    few = count_lines(lambda: work(file.text(FEW), file.format))
    many = count_lines(lambda: work(file.text(MANY), file.format))
    assert many < few * (MANY / FEW) * 1.25


def test_renaming_a_line_takes_no_look_at_the_lines_before_it() -> None:
    file = SHAPES["JSON lines with old names"]
    few = count_lines(lambda: COMMANDS["migrate"](file.text(60), file.format))
    many = count_lines(lambda: COMMANDS["migrate"](file.text(600), file.format))
    assert many < few * 10 * 1.25
