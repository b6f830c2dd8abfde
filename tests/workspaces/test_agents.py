"""Coding agents as targets, with a program in their place that prints what they print."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.for_each import for_each
from tests.workspaces.shop import Shop, case

ANSWERS = Path(__file__).parent.parent / "answers"
STAND_IN = """#!{python}
import json, os, sys
from pathlib import Path
said = Path({said!r}).read_bytes()
if {file!r}:
    Path(sys.argv[sys.argv.index({file!r}) + 1]).write_bytes(said)
else:
    sys.stdout.buffer.write(said)
prompt = sys.stdin.read()
Path("cart.py").write_text("fixed")
told = {{"argv": sys.argv[1:], "env": dict(os.environ), "prompt": prompt, "cwd": os.getcwd()}}
Path({told!r}).write_text(json.dumps(told))
"""


def install(shop: Shop, program: str, said: Path, file: str = "") -> Path:
    """Put a stand-in on the PATH, and say where it tells how it was called."""
    told = shop.root / "told.json"
    path = shop.root / "bin" / program
    shop.write(
        f"bin/{program}",
        STAND_IN.format(python=sys.executable, said=str(said), told=str(told), file=file),
    )
    path.chmod(0o755)
    return told


AGENTS: list[tuple[str, str, str, str, dict[str, Any], list[str]]] = [
    ("claude", "claude", "claude_code/one_call.jsonl", "",
     {"max_turns": 3, "allow": ["Read", "Edit"], "system": 'Say {prompt} as {"a": {path}}.',
      "mcp": "evalcase.toml", "plugins": ["bin", "shop"]},
     ["--max-turns", "3", "--allowedTools", "Read,Edit",
      "--append-system-prompt", 'Say {prompt} as {"a": {path}}.',
      "--mcp-config", "ROOT/evalcase.toml", "--strict-mcp-config",
      "--plugin-dir", "ROOT/bin", "--plugin-dir", "ROOT/shop"]),
    ("codex", "codex", "codex/one_call.jsonl", "", {"model": "m"}, ["-m", "m", "-"]),
    ("gemini-cli", "gemini", "gemini_cli/one_call.jsonl", "", {"plugins": ["one"]},
     ["--skip-trust", "-e", "one"]),
    ("copilot", "copilot", "copilot/one_call.jsonl", "", {"model": "m", "mcp": "evalcase.toml"},
     ["--model", "m", "--additional-mcp-config", "@ROOT/evalcase.toml"]),
    ("opencode", "opencode", "opencode/one_call.jsonl", "", {}, ["--auto"]),
    ("mini", "mini", "mini_swe_agent/trajectory.json", "-o", {"max_cost_usd": 2}, ["-l", "2.0"]),
]  # fmt: skip


@for_each(["kind", "program", "said", "file", "options", "argv"], AGENTS)
def test_an_agent_is_called_with_its_options_and_read_by_its_transcript(
    shop: Shop, kind: str, program: str, said: str, file: str, options: dict[str, Any],
    argv: list[str],
) -> None:  # fmt: skip
    told = install(shop, program, ANSWERS / said, file)
    table = "\n".join(f"{name} = {json.dumps(value)}" for name, value in options.items())
    shop.write("evalcase.toml", f'[targets.agent]\nkind = "{kind}"\n{table}\n')
    shop.suite(case("Fix it.", {"tool_calls": {"min": 1}}, {"diff": {"only": ["cart.py"]}}))
    done = shop.run(PATH=f"{shop.root}/bin:/usr/bin:/bin", ELSE="x", ANTHROPIC_API_KEY="k" * 20)
    assert done.code == 0, (done.out, done.err)
    called = json.loads(told.read_text())
    joined = " ".join(called["argv"])
    assert " ".join(argv).replace("ROOT", str(shop.root)) in joined
    assert "Fix it." in (joined if not called["prompt"] else called["prompt"])
    assert "ELSE" not in called["env"]
    assert called["env"]["HOME"] == str(Path(called["cwd"]).with_name("home"))


def test_an_agent_without_a_workspace_is_not_asked(shop: Shop) -> None:
    told = install(shop, "claude", ANSWERS / "claude_code/one_call.jsonl")
    shop.write("s.eval.yaml", json.dumps([case("?", {"tool_calls": {"min": 1}})]))
    done = shop.evalcase("run", "--target", "claude:m", PATH=f"{shop.root}/bin:/usr/bin:/bin")
    assert done.code == 3
    assert "its cases need a `workspace`" in done.out
    assert not told.exists()


def test_an_option_that_an_agent_lacks_is_an_error(shop: Shop) -> None:
    shop.write("evalcase.toml", '[targets.agent]\nkind = "codex"\nmax_turns = 3\n')
    shop.suite(case("?", {"diff": {"empty": True}}))
    done = shop.evalcase("check")
    assert "evalcase.toml:3:1: error[bad-value]: Codex has no option for `max_turns`" in done.out
    assert "`args` takes arguments of its own" in done.out


def test_an_agent_may_say_more_where_its_option_allows(shop: Shop) -> None:
    install(shop, "claude", ANSWERS / "claude_code/one_call.jsonl")
    shop.suite(case("Fix it.", {"tool_calls": {"min": 1}}))
    for most, code in ((500, 3), (500_000, 0)):
        table = f'[targets.agent]\nkind = "claude"\nmax_output_bytes = {most}\n'
        shop.write("evalcase.toml", table)
        done = shop.run(PATH=f"{shop.root}/bin:/usr/bin:/bin")
        assert done.code == code, (done.out, done.err)
        assert ("larger than `max_output_bytes`" in done.out) == (code == 3)


@for_each(
    ["kind", "said", "permission", "argv"],
    [
        ("claude", "claude_code/one_call.jsonl", None, "--permission-mode acceptEdits"),
        ("claude", "claude_code/one_call.jsonl", "plan", "--permission-mode plan"),
        ("codex", "codex/one_call.jsonl", None, "-s workspace-write"),
        ("codex", "codex/one_call.jsonl", "read-only", "-s read-only"),
    ],
)
def test_an_agent_may_edit_files_unless_its_permission_says_otherwise(
    shop: Shop, kind: str, said: str, permission: str | None, argv: str
) -> None:
    told = install(shop, kind, ANSWERS / said)
    line = "" if permission is None else f'permission = "{permission}"'
    shop.write("evalcase.toml", f'[targets.agent]\nkind = "{kind}"\n{line}\n')
    shop.suite(case("Fix it.", {"tool_calls": {"min": 1}}))
    done = shop.run(PATH=f"{shop.root}/bin:/usr/bin:/bin")
    assert done.code == 0, (done.out, done.err)
    called = json.loads(told.read_text())["argv"]
    assert f" {argv} " in f" {' '.join(called)} "
    assert called.count(argv.split(maxsplit=1)[0]) == 1


def test_calls_that_were_denied_are_errors_and_are_warned_of(shop: Shop) -> None:
    install(shop, "claude", ANSWERS / "claude_code/denied.jsonl")
    shop.suite(case("Fix it.", {"tool_calls": {"errors": "forbid"}}))
    done = shop.evalcase("run", "--target", "claude:m", PATH=f"{shop.root}/bin:/usr/bin:/bin")
    assert done.code == 1
    assert "the agent was denied calls of tools: Write" in done.err
