"""A project with a template, and an agent that does what the prompt says, line by line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Result, environment
from tests.cli.in_process import run_in_process

AGENT = """
import os, shutil, sys
from pathlib import Path

for line in sys.stdin.read().splitlines():
    verb, *words = line.split(" ", 2)
    if verb == "write":
        Path(words[0]).parent.mkdir(parents=True, exist_ok=True)
        Path(words[0]).write_text(words[1].replace("|", chr(10)) + chr(10))
    elif verb == "remove":
        os.unlink(words[0])
    elif verb == "link":
        os.symlink(words[1], words[0])
    elif verb == "show":
        print(Path(words[0]).read_text() if Path(words[0]).exists() else "nothing")
    elif verb == "env":
        print(os.environ.get(words[0]))
    elif verb == "lock":
        os.chmod(words[0], 0o500)
    elif verb == "fail":
        sys.exit(3)
print("done")
"""
CONFIG = """
[targets.agent]
kind = "command"
command = ["python3", "{project}/agent.py"]
stdin = "text"
"""


class Shop:
    """What a person has on disk, and what they type."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.cache = root / "cache"
        for name, text in {
            "evalcase.toml": CONFIG,
            "agent.py": AGENT,
            "shop/cart.py": "def total(a, b):\n    return a - b\n",
            "shop/tests/test_cart.py": "old\n",
        }.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def suite(self, *cases: dict[str, Any], **workspace: Any) -> None:
        declared = {"template": "shop", **workspace}
        self.write("s.eval.yaml", json.dumps({"workspace": declared, "cases": list(cases)}))

    def evalcase(self, *arguments: str, **variables: str) -> Result:
        env = environment(XDG_CACHE_HOME=str(self.cache), **variables)
        return Result(*run_in_process(arguments, cwd=self.root, env=env))

    def run(self, *arguments: str, **variables: str) -> Result:
        return self.evalcase("run", "--target", "agent", *arguments, **variables)

    def trials(self, run: str = "latest") -> list[dict[str, Any]]:
        shown = self.evalcase("report", run, "--format", "jsonl")
        assert shown.code == 0, shown.err
        return [json.loads(line) for line in shown.out.splitlines()]

    def left(self) -> list[str]:
        """What is left of workspaces in the cache folder."""
        return sorted(path.name for path in self.cache.glob("evalcase/work/run-*"))


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def case(prompt: str, *graders: Any, id: str = "c", **fields: Any) -> dict[str, Any]:
    return {"id": id, "input": prompt, "graders": list(graders), **fields}
