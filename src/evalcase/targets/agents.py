"""Coding agents as targets: their programs, flags, keys and homes, as data over `command`.

An agent works in the workspace of a trial. Its environment has what programs need, the keys of the
agent, and a home of its own: neither its settings on this machine nor yours change the result.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.command import PLACEHOLDERS, CommandOptions, CommandTarget, ProgramOptions
from evalcase.targets.transcripts import TranscriptFormat
from evalcase.types.answer import Answer
from evalcase.types.options import Amount, Count, Seconds, Text, Texts, about
from evalcase.types.problem import Finding
from evalcase.types.read_options import fields_of
from evalcase.types.target import Question, Surroundings, TargetKind
from evalcase.types.value import JSON, replace
from evalcase.types.workspace import Space
from evalcase.util.files import read_file
from evalcase.util.json import parse_object
from evalcase.util.processes import minimal_variables

TIMEOUT_S = 1800.0
"""How long an attempt may take where neither the suite nor the command line says."""
CONCURRENCY = 4
_MORE_S = 120.0
"""How much longer than its `time_s` an attempt may take."""
_MOST_SETTINGS = 1_000_000


class AgentOptions(ProgramOptions, frozen=True, kw_only=True):
    """What agents are told. An option that an agent lacks is an error."""

    idle_s: Annotated[
        Seconds, about("How long it may print nothing, before the trial is errored.")
    ] = 600.0

    model: Annotated[Text | None, about("The model, as the agent names it.")] = None
    program: Annotated[
        Text | None,
        about("The program of the agent; by default, it is found by its name.",
              elsewhere=("executable", "command")),
    ] = None  # fmt: skip
    max_turns: Annotated[Count | None, about("The most turns of the agent.")] = None
    max_cost_usd: Annotated[
        Amount | None, about("The most it may spend on an answer, in USD.", elsewhere=("budget",))
    ] = None
    permission: Annotated[
        Text | None,
        about("How freely it may act, in the agent's own words.", elsewhere=("sandbox",)),
    ] = None
    allow: Annotated[Texts | None, about("Tools that it may use without asking.")] = None
    system: Annotated[Text | None, about("Text to add to its system prompt.")] = None
    mcp: Annotated[Text | None, about("A file of MCP servers, from the project folder.")] = None
    plugins: Annotated[Texts | None, about("Folders of plug-ins, from the project folder.")] = None
    args: Annotated[Texts | None, about("Further arguments for the program.")] = None
    env: Annotated[dict[str, str], about("Further environment variables.")] = {}


_COMMON = {*fields_of(ProgramOptions), "program", "args", "env"}
_Files = Callable[[AgentOptions, str], dict[str, str]]


def _path_in(root: str, name: str) -> str:
    return os.path.join(os.path.abspath(root), os.path.expanduser(name))


def _escape(text: str) -> str:
    """A text of which no part is a placeholder of `command`."""
    for name in PLACEHOLDERS:
        text = text.replace(f"{{{name}}}", f"{{{{{name}}}}}")
    return text


def _write_gemini_settings(options: AgentOptions, root: str) -> dict[str, str]:
    settings: dict[str, JSON] = {}
    if options.max_turns is not None:
        settings["model"] = {"maxSessionTurns": options.max_turns}
    if options.mcp is not None:
        try:
            declared = parse_object(read_file(_path_in(root, options.mcp), _MOST_SETTINGS))
        except (OSError, ValueError) as error:
            raise ConfigError(f"gemini-cli target: {options.mcp}: {error}") from None
        settings["mcpServers"] = declared.get("mcpServers", {})
    return {".gemini/settings.json": json.dumps(settings)} if settings else {}


class Agent(NamedTuple):
    """A coding agent: how its program is called."""

    name: str
    """The kind of target, and usually the program."""
    title: str
    argv: tuple[str, ...]
    """What is always said, with the placeholders of `command`."""
    output: TranscriptFormat
    flags: Mapping[str, tuple[str, ...]]
    """How each option that it has is said, with `{}` for the value, `{path}` for the path of that
    name in the project, or `{all}` for several values; none where a file says it."""
    keys: tuple[str, ...]
    homes: Mapping[str, str]
    """Variables that name a folder of its own, from its home."""
    variables: Mapping[str, str] = {}
    prompt_on_stdin: bool = True
    last: tuple[str, ...] = ()
    program: str = ""
    """Where it has another name."""
    files: _Files = lambda *_: {}
    """Texts by their paths in its home."""
    edits: tuple[str, ...] = ()
    """What lets it edit files, where `permission` says nothing."""
    alone: tuple[str, ...] = ()
    """What is said in its place where evalcase isolates it."""


AGENTS = (
    Agent(
        "claude", "Claude Code",
        ("-p", "--output-format", "stream-json", "--verbose", "--setting-sources", "project",
         "--no-session-persistence"),
        "claude-stream-json",
        {
            "model": ("--model", "{}"), "max_turns": ("--max-turns", "{}"),
            "max_cost_usd": ("--max-budget-usd", "{}"), "permission": ("--permission-mode", "{}"),
            "allow": ("--allowedTools", "{all}"), "system": ("--append-system-prompt", "{}"),
            "mcp": ("--mcp-config", "{path}", "--strict-mcp-config"),
            "plugins": ("--plugin-dir", "{path}"),
        },
        ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"), {"CLAUDE_CONFIG_DIR": ".claude"},
        edits=("--permission-mode", "acceptEdits"),
        alone=("--permission-mode", "bypassPermissions"),
    ),
    Agent(
        "codex", "Codex",
        ("exec", "--json", "--color", "never", "--skip-git-repo-check", "--ephemeral",
         "--ignore-user-config", "--ignore-rules"),
        "codex-json",
        {"model": ("-m", "{}"), "permission": ("-s", "{}")},
        ("CODEX_API_KEY", "OPENAI_API_KEY"), {"CODEX_HOME": ".codex"}, last=("-",),
        edits=("-s", "workspace-write"), alone=("--dangerously-bypass-approvals-and-sandbox",),
    ),
    Agent(
        "gemini-cli", "Gemini CLI",
        ("-o", "stream-json", "--approval-mode", "yolo", "--skip-trust"),
        "gemini-stream-json",
        {
            "model": ("-m", "{}"), "plugins": ("-e", "{}"), "max_turns": (),
            "mcp": (),
        },
        ("GEMINI_API_KEY",), {"GEMINI_CLI_HOME": ""}, {"GEMINI_SANDBOX": "false"},
        program="gemini", files=_write_gemini_settings,
    ),
    Agent(
        "copilot", "GitHub Copilot CLI",
        ("-p", "{prompt}", "--output-format", "json", "--no-ask-user", "--allow-all-tools",
         "--disable-builtin-mcps", "--no-auto-update"),
        "copilot-jsonl",
        {"model": ("--model", "{}"), "mcp": ("--additional-mcp-config", "@{path}")},
        ("COPILOT_GITHUB_TOKEN",), {"COPILOT_HOME": ".copilot"}, prompt_on_stdin=False,
    ),
    Agent(
        "opencode", "opencode",
        ("run", "--format", "json", "--auto", "--dir", "{workspace}"), "opencode-json",
        {"model": ("-m", "{}")},
        ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"),
        {
            f"XDG_{name.upper()}_HOME": f".{name}"
            for name in ("data", "config", "state", "cache")
        },
        {
            "OPENCODE_CONFIG_CONTENT":
            '{"permission":{"*":"allow","external_directory":"deny","doom_loop":"deny"}}'
        },
    ),
    Agent(
        "mini", "mini-swe-agent",
        ("-y", "--exit-immediately", "-t", "{prompt}", "-o", "{output_file}", "-c", "mini.yaml"),
        "traj", {"model": ("-m", "{}"), "max_cost_usd": ("-l", "{}")},
        ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), {"MSWEA_GLOBAL_CONFIG_DIR": ".mini"},
        {"MSWEA_CONFIGURED": "true"}, prompt_on_stdin=False,
    ),
)  # fmt: skip


class AgentTarget(CommandTarget):
    agent: ClassVar[Agent]

    def __init__(self, options: AgentOptions, surroundings: Surroundings) -> None:
        super().__init__(self._command(options, surroundings.root), surroundings)
        self.traits = replace(
            self.traits, concurrency=options.concurrency or CONCURRENCY, caching="refused",
            key_names=self.agent.keys, timeout_s=max(TIMEOUT_S, (options.time_s or 0) + _MORE_S),
        )  # fmt: skip
        self._home_files = self.agent.files(options, surroundings.root)

    def _command(self, options: AgentOptions, root: str) -> CommandOptions:
        agent = self.agent
        argv = [options.program or agent.program or agent.name, *agent.argv]
        for name, words in agent.flags.items():
            value = getattr(options, name)
            several = value if isinstance(value, tuple) else [] if value is None else [value]
            if "{all}" in words:
                several = [",".join(several)] if several else []
            for text in map(str, several):
                said, path = map(_escape, (text, _path_in(root, text)))
                argv += [word.format(said, all=said, path=path) for word in words]
        if options.permission is None:
            argv += agent.edits if options.isolation == "none" else agent.alone
        argv += [*(options.args or ()), *agent.last]
        common = {name: getattr(options, name) for name in fields_of(ProgramOptions)}
        common |= {"kind": agent.name, "command": tuple(argv), "env": options.env}
        stdin: Literal["text", "none"] = "text" if agent.prompt_on_stdin else "none"
        return CommandOptions(**common, output=agent.output, stdin=stdin)

    def _environment(self) -> dict[str, str]:
        known = self._surroundings.environment
        keys = {name: known[name] for name in self.agent.keys if name in known}
        alone = {} if self._options.isolation == "none" else {"IS_SANDBOX": "1"}
        return {
            **minimal_variables(known), **keys, **alone, **self.agent.variables,
            **self._options.env,
        }  # fmt: skip

    def _enter_workspace(self, space: Space, argv: list[str], environment: dict[str, str]) -> str:
        environment["HOME"] = space.home
        for name, below in self.agent.homes.items():
            environment[name] = os.path.join(space.home, below)
            os.makedirs(environment[name], mode=0o700, exist_ok=True)
        for name, text in self._home_files.items():
            path = os.path.join(space.home, name)
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return super()._enter_workspace(space, argv, environment)

    async def answer(self, question: Question) -> Answer:
        if question.workspace is None:
            what = f"`{self.agent.name}` changes files, so its cases need a `workspace`"
            raise TargetError(what, kind="workspace")
        return await super().answer(question)


def _make_kind(agent: Agent) -> type[AgentTarget]:
    lacks = set(fields_of(AgentOptions)) - _COMMON - set(agent.flags)

    class Options(AgentOptions, frozen=True, kw_only=True):
        def conflicts(self) -> Iterator[Finding]:
            for name in sorted(lacks):
                if getattr(self, name) is not None:
                    what = f"{agent.title} has no option for `{name}`"
                    yield Finding((name,), what, "`args` takes arguments of its own", "key")
            if self.mounts and self.isolation == "none":
                yield Finding(("mounts",), "`mounts` goes with `isolation`, which hides files")

    class Agents(AgentTarget):
        kind = TargetKind(
            agent.name, f"Runs {agent.title} in the workspace of the case.", Options,
            value="model", value_needed=False, runs_code=True,
        )  # fmt: skip

    Agents.agent = agent
    return Agents


ClaudeTarget, CodexTarget, GeminiTarget, CopilotTarget, OpencodeTarget, MiniTarget = map(
    _make_kind, AGENTS
)
