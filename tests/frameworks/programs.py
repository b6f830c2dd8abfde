"""Recipes of programs: the AI SDK in node, and coding agents in a small folder."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.frameworks.settled import settle
from tests.frameworks.table import Recipe

HERE = Path(__file__).parent
NODE = Path(sys.prefix) / "bin" / "node"
MODULES = Path(sys.prefix) / "node_modules"
LOOPBACK_ONLY = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
"""A proxy that is not there: Codex looks for news and plug-ins elsewhere, and is to find none."""
ASK = "Which beds are there?"
SERVER = HERE / "greenhouse.py"
GREENHOUSE = (
    f'mcp_servers.greenhouse={{command="{sys.executable}", args=["{SERVER}"], required=true}}'
)


def vercel(what: str, tools: str, url: str) -> Any:
    script = Path(sys.prefix) / "vercel.mjs"  # node finds packages beside a script
    shutil.copy(HERE / script.name, script)
    done = subprocess.run([NODE, script, what, tools, url], capture_output=True, check=True)
    return done.stdout.decode() if what == "sse" else json.loads(done.stdout)


def claude_code(url: str, *options: str, verbose: bool = True) -> Any:
    with _folders() as (work, home):
        program = MODULES / "@anthropic-ai" / "claude-code" / "cli-wrapper.cjs"
        command = [NODE, program, "-p", ASK, "--model", "wren-5", "--no-session-persistence"]
        command += ["--tools", "Bash,Write", "--disable-slash-commands"]
        command += ["--verbose"] if verbose else []
        variables = {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CONFIG_DIR": str(home),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "0",
            "IS_SANDBOX": "1",
        }  # fmt: skip
        return _run([*command, *options], work, home, variables)


def codex(url: str, *options: str) -> Any:
    with _folders() as (work, home):
        service = f'{{name="loop", base_url="{url}/v1", env_key="LOOP_KEY", wire_api="responses", '
        service += "request_max_retries=0, stream_max_retries=0}"
        command = [NODE, MODULES / "@openai" / "codex" / "bin" / "codex.js", "exec", "--json"]
        command += ["--skip-git-repo-check", "--ephemeral", "-C", work, "-m", "heron-3"]
        command += ["--dangerously-bypass-approvals-and-sandbox", "-c", "model_provider=loop"]
        command += ["-c", f"model_providers.loop={service}", *options, ASK]
        return _run(command, work, home, {"CODEX_HOME": str(home), "LOOP_KEY": "none"})


@contextmanager
def _folders() -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as home:
        (Path(work) / "beds.txt").write_text("north-1\nnorth-2\n")
        yield Path(work), Path(home)


def _run(command: list[Any], work: Path, home: Path, variables: dict[str, str]) -> Any:
    """The lines of JSON that a program prints, whatever its exit code; one value if it is one."""
    known = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **LOOPBACK_ONLY}
    done = subprocess.run(
        command, cwd=work, env={**known, **variables}, stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=100,
    )  # fmt: skip
    names = {
        re.sub(r"\W|_", "-", str(work)): "-garden",
        str(work): "/garden",
        str(home): "/garden/.agent",
    }
    return [settle(json.loads(line), names) for line in done.stdout.splitlines()]


def _claude(name: str, sent: str, *options: str, mode: str = "bypassPermissions") -> Recipe:
    def make(url: str) -> Any:
        asked = ("--output-format", "stream-json", "--permission-mode", mode)
        return claude_code(url, *asked, *options)

    return Recipe(f"claude_code/{name}.jsonl", [f"{each}.sse" for each in sent.split()], make)


def claude_result(url: str) -> Any:
    """What is printed at the end, without the way there."""
    (result,) = claude_code(url, "--output-format", "json", verbose=False)
    return result


def claude_messages(url: str) -> Any:
    (messages,) = claude_code(url, "--output-format", "json")
    return messages


def _codex(name: str, sent: str, *options: str) -> Recipe:
    def make(url: str) -> Any:
        return codex(url, *options)

    return Recipe(f"codex/{name}.jsonl", [f"{each}.sse" for each in sent.split()], make)


FERRY = ["openai_chat/one_call.json", "openai_chat/text.json"]
STREAM = ["openai_chat/text_and_call.sse", "openai_chat/text.sse"]
BAD = ["openai_chat/malformed_arguments.json", "openai_chat/text.json"]
BASH = ["wire/claude_bash.sse", "wire/claude_done.sse"]
VERCEL = [
    ("text.json", "result", "none", FERRY[1:]),
    ("one_call.json", "result", "asked", FERRY[:1]),
    ("two_calls.json", "messages", "called", ["openai_chat/two_calls.json", FERRY[1]]),
    ("loop.json", "result", "called", FERRY),
    ("loop_failed.json", "result", "failed", FERRY),
    ("content_failed.json", "content", "failed", FERRY[:1]),
    ("messages.json", "messages", "called", FERRY),
    ("messages_failed.json", "messages", "failed", FERRY),
    ("messages_invalid.json", "messages", "called", BAD),
    ("stream_parts.json", "parts", "called", STREAM),
    ("stream_parts_failed.json", "parts", "failed", STREAM),
    ("ui_message.json", "ui", "called", STREAM),
    ("ui_message_failed.json", "ui", "failed", STREAM),
    ("ui_text.sse", "sse", "none", STREAM[1:]),
    ("ui_message.sse", "sse", "called", STREAM),
    ("ui_message_failed.sse", "sse", "failed", STREAM),
]  # fmt: skip
RECIPES = [
    *[
        Recipe(f"vercel/{file}", sent, partial(vercel, what, tools))
        for file, what, tools, sent in VERCEL
    ],
    _claude("text", "wire/claude_done"),
    _claude("one_call", "wire/claude_bash wire/claude_done"),
    _claude("two_calls", "wire/claude_two_calls wire/claude_done"),
    _claude("failed_call", "wire/claude_bash_failed wire/claude_done"),
    _claude("denied", "wire/claude_two_calls wire/claude_done", mode="dontAsk"),
    _claude("web_search", "anthropic/web_search"),
    _claude("max_turns", "wire/claude_bash", "--max-turns", "1"),
    _claude("refusal", "anthropic/refusal"),
    _claude("partial_messages", "wire/claude_bash wire/claude_done", "--include-partial-messages"),
    Recipe("claude_code/result.json", BASH, claude_result),
    Recipe("claude_code/messages.json", BASH, claude_messages),
    _codex("text", "wire/codex_done"),
    _codex("one_call", "wire/codex_shell wire/codex_done"),
    _codex("failed_call", "wire/codex_shell_failed wire/codex_done"),
    _codex("file_change", "wire/codex_patch wire/codex_done"),
    _codex("mcp_call", "wire/codex_mcp wire/codex_done", "-c", GREENHOUSE),
    _codex("web_search", "openai_responses/web_search"),
    _codex("failed", "openai_responses/failed"),
]
