"""The walk of one case on the architecture page in a real run, and how the sources are laid out."""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple, get_args

import pytest

import evalcase
from evalcase.store.rows import Row, StoredAnswer
from tests.cli.command import environment
from tests.cli.in_process import run_in_process

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
STEP = re.compile(r"\| (\d+) \| `([\w.]+)` \| `([\w.]+)` \|")
TARGET = "python:agent:answer"


class Step(NamedTuple):
    module: str
    function: str


def told() -> list[Step]:
    found = STEP.findall(PAGE.read_text())
    assert [int(number) for number, _, _ in found] == list(range(1, len(found) + 1))
    return [Step(f"evalcase.{module}", function) for _, module, function in found]


def followed(steps: list[Step], go: Callable[[], bool]) -> list[Step]:
    """The steps in the order in which a real run first comes to them."""
    seen: list[Step] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__", "")
            step = Step(module, frame.f_code.co_qualname)
            if step in steps and step not in seen:
                seen.append(step)

    sys.setprofile(look)
    try:
        assert go()
    finally:
        sys.setprofile(None)
    return seen


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "agent", raising=False)
    (tmp_path / "evalcase.toml").write_text("")
    path = tmp_path / "sums.eval.yaml"
    path.write_text("- {id: one, input: hi, graders: [contains: hi]}\n")
    (tmp_path / "agent.py").write_text("async def answer(question):\n    return question\n")
    yield path
    sys.modules.pop("agent", None)


def test_a_run_of_a_program_takes_the_steps_that_are_told_in_that_order(suite: Path) -> None:
    steps = told()
    assert followed(steps, lambda: evalcase.evaluate(suite, TARGET).ok) == steps


def test_a_run_of_the_command_takes_the_same_steps(suite: Path) -> None:
    steps, arguments = told(), ["run", suite.name, "--target", TARGET]

    def run() -> bool:
        return run_in_process(arguments, cwd=suite.parent, env=environment()).code == 0

    assert followed(steps, run) == steps


def layers() -> list[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    found: list[str] = contracts["contracts"][0]["layers"]
    return found


def test_the_page_lists_the_layers_that_are_checked() -> None:
    assert f"```text\n{chr(10).join(layers())}\n```" in PAGE.read_text()


def test_only_the_command_may_import_click() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = [
        each for each in contracts["contracts"] if each.get("forbidden_modules") == ["click"]
    ]
    others = {name for layer in layers() for name in layer.split(" | ")} - {"cli"}
    assert set(contract["source_modules"]) == {f"evalcase.{name}" for name in others}


def test_every_row_of_a_journal_is_told() -> None:
    page = (ROOT / "docs" / "records.md").read_text()
    table = page.partition("| row | what it holds |")[2].partition("\n\n")[0]
    rows = [each.__struct_config__.tag for each in get_args(Row) if each is not StoredAnswer]
    told = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(told) == sorted(rows)
