"""Real packages still answer in the shapes that are recorded. `make frameworks` runs this; its name
keeps it out of `make test`, which needs none of them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.answers.table import read_table
from tests.frameworks.settled import shape

ROOT = Path(__file__).parent.parent.parent
PYTHON = ROOT / ".venv-frameworks" / "bin" / "python"
SOURCES, ROWS = read_table()
FILES = [row.file for row in ROWS if SOURCES[row.source].made == "package"]


NOT_OF_THE_SERVICE = {
    "anthropic/error.json", "anthropic/error.sse", "openai_chat/error.json",
    "openai_chat/error.sse",  # in place of a reply
    "openai_chat/error_beside_choices.json", "openai_chat/error_in_choice.json",
    "openai_chat/reasoning_content.json",  # of other services with the same API
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything made anew, in a home of its own and without a proxy."""
    folder, home = tmp_path_factory.mktemp("answers"), tmp_path_factory.mktemp("home")
    run_module("record", str(folder), HOME=str(home))
    return folder


def test_the_table_has_all_that_is_recorded(recorded: Path) -> None:
    made = [path.relative_to(recorded).as_posix() for path in recorded.rglob("*") if path.is_file()]
    assert sorted(made) == sorted(FILES)


@pytest.mark.parametrize("file", FILES)
def test_a_package_answers_in_the_recorded_shape(file: str, recorded: Path) -> None:
    assert shape_of(recorded / file) == shape_of(ROOT / "tests" / "answers" / file)


def test_packages_have_the_versions_that_the_table_names() -> None:
    names = json.loads((ROOT / "tests" / "frameworks" / "package.json").read_text())["dependencies"]
    lines = (ROOT / "tests" / "frameworks" / "requirements.txt").read_text().splitlines()
    pinned = {
        name.partition("[")[0]: version
        for name, _, version in (line.partition("==") for line in lines)
    }
    said = {name: each.version for name, each in SOURCES.items() if each.made == "package"}
    assert said == {name: {**pinned, **names}.get(name) for name in said}


def test_replies_written_by_hand_are_what_libraries_of_services_know() -> None:
    problems = run_module("validate").splitlines()
    odd = [each for each in problems if each.partition(":")[0] not in NOT_OF_THE_SERVICE]
    assert problems
    assert not odd


def test_objects_of_sdks_and_frameworks_are_read_with_their_calls_and_tokens() -> None:
    lines = run_module("objects", PYTHONPATH=str(ROOT / "src")).splitlines()
    found = {each["of"]: each for each in map(json.loads, lines)}
    assert {of: each["calls"] for of, each in found.items()} == {
        "sdk_chat": ["find_ferry"], "sdk_responses": ["read_sensor"],
        "sdk_anthropic": ["order_flour"], "langgraph": ["find_ferry"],
        "pydantic_ai": ["find_ferry"], "openai_agents": ["read_sensor"],
        "smolagents": ["find_ferry", "final_answer"],
    }  # fmt: skip
    assert [of for of, each in found.items() if not each["tokens"]] == []
    silent = [of for of, each in found.items() if not each["text"]]
    assert silent == ["sdk_chat", "sdk_responses"]  # only calls were sent


def run_module(name: str, *arguments: str, **variables: str) -> str:
    """What a module prints in the environment that has the packages. No proxy is asked."""
    known = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_PROXY": "*", **variables}
    command = [str(PYTHON), "-m", f"tests.frameworks.{name}", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    return done.stdout.decode()


def shape_of(path: Path) -> Any:
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        return shape(json.loads(text))
    lines = [line.removeprefix("data: ") for line in text.splitlines()]
    return shape([json.loads(line) for line in lines if line.startswith("{")])
