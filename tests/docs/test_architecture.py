"""The walk of one case on the architecture page in a real run, and how the sources are laid out."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import evalcase

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
STEP = re.compile(r"\| (\d+) \| `([\w.]+)` \| `([\w.]+)` \|")
MOST_MODULES = 12
LONGEST_FILE = 300
MOST_ROOT_MODULES = 5
SOURCES = Path(evalcase.__file__).parent


class Step(NamedTuple):
    module: str
    function: str


def told() -> list[Step]:
    found = STEP.findall(PAGE.read_text())
    assert [int(number) for number, _, _ in found] == list(range(1, len(found) + 1))
    return [Step(f"evalcase.{module}", function) for _, module, function in found]


def followed(folder: Path, steps: list[Step]) -> list[Step]:
    """The steps in the order in which a real run first comes to them."""
    seen: list[Step] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__", "")
            step = Step(module, frame.f_code.co_qualname)
            if step in steps and step not in seen:
                seen.append(step)

    (folder / "sums.eval.yaml").write_text("- {id: one, input: hi, expected_output: hi}\n")
    sys.setprofile(look)
    try:
        assert evalcase.evaluate(folder / "sums.eval.yaml", "echo", root=folder).ok
    finally:
        sys.setprofile(None)
    return seen


def test_a_real_run_takes_the_steps_that_are_told_in_that_order(tmp_path: Path) -> None:
    steps = told()
    assert followed(tmp_path, steps) == steps


def test_no_more_modules_are_told_than_a_person_reads() -> None:
    assert len({step.module for step in told()}) <= MOST_MODULES


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    lengths = {
        str(path.relative_to(SOURCES)): len(path.read_text().splitlines())
        for path in SOURCES.rglob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_few_modules_stand_at_the_root() -> None:
    assert len(list(SOURCES.glob("*.py"))) <= MOST_ROOT_MODULES


def test_every_room_of_reports_is_told() -> None:
    page = PAGE.read_text()
    for storey in ("report", "cli"):
        rooms = [path.parent.name for path in (SOURCES / storey).glob("*/__init__.py")]
        assert [room for room in rooms if f"`{storey}/{room}`" not in page] == []
