"""Real coding agents as targets: their flags are known, and their transcripts are read. A scripted
model on loopback has each of them change a file. `make frameworks` runs this."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.frameworks.scripted import DONE, serving

ROOT = Path(__file__).parent.parent.parent
INSTALLED = ROOT / ".venv-frameworks"
MODULES = INSTALLED / "node_modules"
EDIT = "sed -i 's/ \\* len(prices)//' cart.py"
SUITE = {
    "workspace": {"template": "shop"},
    "cases": [
        {
            "id": "discount",
            "input": "The discount is taken for each price. Take it once.",
            "graders": [
                {"equals": DONE},
                {"run": ["grep", "-q", "(prices) - discount$", "cart.py"]},
                {"diff": {"only": ["cart.py"], "max_lines": 2}},
                {"tool_calls": {"min": 1, "max": 1, "forbidden": ["@web"], "errors": "forbid"}},
                {"trajectory": [{"tool": "@shell"}]},
            ],
        }
    ],
}
CODEX = '{name = "loop", base_url = "<url>/v1", env_key = "OPENAI_API_KEY", wire_api = "responses"}'
AGENTS: dict[str, dict[str, Any]] = {
    "claude": {
        "model": "claude-sonnet-4-5", "program": "./claude", "max_turns": 5, "max_cost_usd": 1.0,
        "allow": ["Bash"],
        "system": "Be brief.", "mcp": "mcp.json",
        "env": {"ANTHROPIC_BASE_URL": "<url>", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    },
    "codex": {
        "model": "gpt-5", "permission": "danger-full-access",
        "args": ["-c", "model_provider=loop", "-c", f"model_providers.loop={CODEX}"],
    },
    "gemini-cli": {
        "model": "gemini-2.5-flash", "max_turns": 5, "program": "./gemini",
        "env": {"GOOGLE_GEMINI_BASE_URL": "<url>"},
    },
    "copilot": {
        "model": "gpt-5",
        "env": {
            "COPILOT_PROVIDER_BASE_URL": "<url>/v1", "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_API_KEY": "a-key-of-nothing",
        },
    },
}  # fmt: skip
CLAUDE = """#!/bin/sh
exec node {modules}/@anthropic-ai/claude-code/cli-wrapper.cjs "$@"
"""
"""A script of the package, which is not run here, would put the program in its place."""
GEMINI = """#!{python}
import json, os, sys
path = os.path.join(os.environ["GEMINI_CLI_HOME"], ".gemini", "settings.json")
settings = json.load(open(path))
settings["security"] = {{"auth": {{"selectedType": "gemini-api-key"}}}}
json.dump(settings, open(path, "w"))
os.execvp("gemini", ["gemini", *sys.argv[1:]])
"""
"""With an address of its own, Gemini CLI takes no key unless its settings say so."""


@pytest.mark.parametrize("kind", AGENTS)
def test_an_agent_is_run_and_read(kind: str, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text(
        "def total(prices, discount):\n    return sum(prices) - discount * len(prices)\n"
    )
    (tmp_path / "cart.eval.yaml").write_text(json.dumps(SUITE))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "node").symlink_to(INSTALLED / "bin" / "node")
    (tmp_path / "mcp.json").write_text('{"mcpServers": {}}')
    for name, text in (("claude", CLAUDE), ("gemini", GEMINI)):
        script = text.format(python=sys.executable, modules=MODULES)
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    with serving(EDIT) as url:
        table = {"kind": kind, **AGENTS[kind]}
        env = table.pop("env", {})
        lines = ["[targets.agent]", *(f"{name} = {json.dumps(table[name])}" for name in table)]
        lines += ["[targets.agent.env]", *(f"{name} = {json.dumps(env[name])}" for name in env)]
        config = "\n".join(lines).replace("<url>", url)
        (tmp_path / "evalcase.toml").write_text(config)
        done = subprocess.run(
            [Path(sys.executable).with_name("evalcase"), "run", "--target", "agent", "--timeout",
             "100", "--report", "run.jsonl"],
            cwd=tmp_path, env=_variables(tmp_path), capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    trial = json.loads((tmp_path / "run.jsonl").read_text())
    assert trial["answer"][-1]["content"] == DONE
    assert [each["path"] for each in trial["workspace"]["changed"]] == ["cart.py"]
    if kind != "copilot":  # which counts no tokens here
        assert trial["usage"]["input_tokens"] >= 200


def _variables(home: Path) -> dict[str, str]:
    """A proxy that is not there: agents look for news elsewhere, and are to find none."""
    path = f"{home / 'bin'}:{MODULES / '.bin'}:{os.environ['PATH']}"
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")
    return {
        "PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1", **dict.fromkeys(keys, "a-key-of-nothing"),
    }  # fmt: skip
