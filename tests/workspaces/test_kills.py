"""Runs of agents that are killed at random points lose no result and leave no workspace."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import psutil

from tests.cli.command import environment
from tests.workspaces.shop import Shop, case

ANSWERS = Path(__file__).parent.parent / "answers"
FORMATS = {
    "claude-stream-json": "claude_code/one_call.jsonl",
    "codex-json": "codex/one_call.jsonl",
    "gemini-stream-json": "gemini_cli/one_call.jsonl",
    "copilot-jsonl": "copilot/one_call.jsonl",
    "opencode-json": "opencode/one_call.jsonl",
}
AGENT = """
import os, subprocess, sys, time
subprocess.Popen(["sleep", "MARK"], start_new_session=True, stdout=subprocess.DEVNULL)
open("cart.py", "a").write("# seen\\n")
for line in open(sys.argv[1]):
    print(line, end="", flush=True)
    time.sleep(0.03)
"""


def test_runs_that_are_killed_at_random_points_lose_nothing(shop: Shop) -> None:
    mark = f"{300 + random.random():.12f}"
    shop.write("agent.py", AGENT.replace("MARK", mark))
    tables = [
        f"[targets.{name}]\nkind = 'command'\noutput = '{name}'\nstdin = 'none'\n"
        f"command = ['python3', '{{project}}/agent.py', '{ANSWERS / said}']\n"
        for name, said in FORMATS.items()
    ]
    shop.write("evalcase.toml", "\n".join(tables))
    graders = [{"tool_calls": {"needed": {"@shell": 1}}}, {"diff": {"only": ["cart.py"]}}]
    shop.suite(*[case("?", *graders, id=f"c{number}") for number in range(3)])
    env = environment(XDG_CACHE_HOME=str(shop.cache))
    command = ["run", *(word for name in FORMATS for word in ("-t", name))]
    random.seed(7)
    known: dict[tuple[str, str], object] = {}
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-m", "evalcase", *command, "--concurrency", "3"], cwd=shop.root,
            env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(0.4 + random.random())
        process.kill()
        process.wait()
        if list((shop.root / ".evalcase/runs").glob("2*")):
            command = ["resume", "latest"]
            now = {(each["target"], each["case"]): each["answer"] for each in shop.trials()}
            assert {key: now.get(key) for key in known} == known
            known = now
    done = shop.evalcase(*command)
    assert done.code == 0, (done.out, done.err)
    trials = shop.trials()
    assert len(trials) == 15
    assert {json.dumps(each["workspace"]["changed"][0]["path"]) for each in trials} == {'"cart.py"'}
    assert shop.left() == []
    assert not [
        each for each in psutil.process_iter(["cmdline"]) if mark in (each.info["cmdline"] or ())
    ]
