"""The extension for VS Code: what it starts, for which files, and what its matchers match."""

import json
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from docs.regenerate import ROOT, blocks_of
from tests.cli.command import LIMIT_S, evalcase
from tests.for_each import for_each
from tests.servers.server import INSTALLED

FOLDER = ROOT / "editors" / "vscode"


def package() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    return found


def activate(command: list[str]) -> dict[str, Any]:
    script = Path(__file__).parent / "extension.cjs"
    done = subprocess.run(
        [INSTALLED / "bin" / "node", script, FOLDER / package()["main"], json.dumps(command)],
        capture_output=True, timeout=LIMIT_S, check=True,
    )  # fmt: skip
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def test_it_starts_the_server_for_the_files_that_are_ours() -> None:
    default = package()["contributes"]["configuration"]["properties"]["evalcase.command"]["default"]
    seen = activate(default)
    assert (seen["server"]["command"], seen["server"]["args"]) == ("evalcase", ["lsp"])
    assert seen["server"]["options"] == {"cwd": "/project"}
    assert seen["started"] is seen["stopped"] is True
    assert seen["errors"] == []
    patterns = [
        each["pattern"] for each in seen["options"]["documentSelector"] if "pattern" in each
    ]
    for name in ("a/b.eval.yaml", "a/b.eval.jsonl", "a/b.suite.yaml", "a/evalcase.toml"):
        plain = [each for pattern in patterns for each in spread(pattern)]
        assert any(fnmatch(name, each) for each in plain), name


def spread(pattern: str) -> list[str]:
    """A pattern without braces for each of their choices."""
    found = re.fullmatch(r"(.*)\{(.*)\}(.*)", pattern)
    if found is None:
        return [pattern]
    return [found[1] + each + found[3] for each in found[2].split(",")]


def test_a_path_is_seen_from_the_folder_that_is_open() -> None:
    assert activate([".venv/bin/evalcase", "lsp"])["server"]["command"] == (
        "/project/.venv/bin/evalcase"
    )


def documented_tasks() -> list[dict[str, Any]]:
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (text,) = [each.text for each in blocks_of(page) if each.file == ".vscode/tasks.json"]
    tasks: list[dict[str, Any]] = json.loads(text)["tasks"]
    return tasks


def matchers() -> list[dict[str, Any]]:
    own = [each["problemMatcher"] for each in documented_tasks()]
    return [*package()["contributes"]["problemMatchers"], *own]


@for_each("number", range(3))
def test_the_matchers_match_what_check_writes(tmp_path: Path, number: int) -> None:
    (tmp_path / "a b.eval.yaml").write_text("- id: a\n  input_messages: x\n- {id: b, input: 5}\n")
    pattern = matchers()[number]["pattern"]
    lines = evalcase("check", cwd=tmp_path).out.splitlines()
    found = [match for line in lines if (match := re.search(pattern["regexp"], line))]
    names = ("file", "line", "column", "severity", "code")
    assert [tuple(each[pattern[name]] for name in names) for each in found] == [
        ("a b.eval.yaml", "1", "3", "warning", "nothing-to-grade"),
        ("a b.eval.yaml", "2", "3", "warning", "deprecated-name"),
        ("a b.eval.yaml", "3", "18", "error", "wrong-type"),
    ]
