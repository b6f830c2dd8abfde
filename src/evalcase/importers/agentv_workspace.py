"""The workspaces and the coding agents of AgentV, in the forms that it has had, to ours."""

from __future__ import annotations

import os
import re
from typing import Any

from evalcase.importers.draft import Draft, SuiteDraft
from evalcase.importers.source import Folder, Item
from evalcase.types.value import JSON

_COMMANDS = {
    "setup": "setup", "teardown": "teardown",
    "before_all": "prepare", "before_each": "setup", "after_each": "teardown",
}  # fmt: skip
_TEMPLATES = ("template", "workspace_template", "workdir")
_KINDS = {
    "claude-code": "claude", "claude": "claude", "claude-cli": "claude", "codex": "codex",
    "codex-cli": "codex", "copilot-cli": "copilot", "copilot": "copilot",
    "gemini-cli": "gemini-cli", "opencode": "opencode",
}  # fmt: skip
_OPTIONS = {"executable": "program", "model": "model", "args": "args"}
_FILE = os.path.join(".agentv", "targets.yaml")


def map_workspace(item: Item, draft: Draft, suite: SuiteDraft) -> None:
    """`workspace` and `environment` of a file or a case, as far as there is something like it."""
    found: dict[str, JSON] = {}
    for whole in map(item.at, ("workspace", "environment")):
        if whole.value is not None and not isinstance(whole.value, dict):
            draft.lose(whole, f"`{whole.path[-1]}` of another file", at="key")
        for name, held in whole.fields():
            if name == "repos":
                _add_repo(held, found, draft, suite)
            elif name == "hooks":
                for hook, each in held.fields():
                    _add_part(hook, each, found, draft)
            else:
                _add_part(name, held, found, draft)
    held = item.first("workspace", "environment")
    if found.keys() & {"template", "repo"}:
        draft.fields["workspace"] = found
        draft.fields_from["workspace"] = held
    elif found:
        draft.lose(held, "a workspace without a `template`", "name the folder that agents work in")


def _add_part(name: str, held: Item, found: dict[str, JSON], draft: Draft) -> None:
    value = held.value
    if name in _TEMPLATES and isinstance(value, str):
        found["template"] = value
    elif name in _COMMANDS:
        _add_command(held, _COMMANDS[name], found, draft)
    elif name == "env" and isinstance(value, dict):
        found["env"] = {key: str(each) for key, each in value.items()}
    elif (name, value) == ("type", "docker"):
        hint = 'a target takes `isolation = "docker:IMAGE"`'
        draft.lose(held, "`docker`: the isolation is that of a target", hint)
    elif name != "type" and value is not None:
        draft.lose(held, f"`{name}` of the workspace", at="key")


def _add_command(item: Item, field: str, found: dict[str, JSON], draft: Draft) -> None:
    held = item.first("command", "script") if isinstance(item.value, dict) else item
    command: JSON = held.value
    if isinstance(command, str):
        command = {"sh": command}
    elif not isinstance(command, list) or not all(isinstance(each, str) for each in command):
        draft.lose(item, f"`{field}`, which is no command")
        return
    several = found.setdefault(field, [])
    assert isinstance(several, list)
    several.append(command)
    limit = item.at("timeout_ms").value
    if isinstance(limit, int) and limit > 0:
        found["timeout_s"] = max(limit / 1000, float(str(found.get("timeout_s", 0))))
    why = f"the JSON on the standard input of `{field}`, which runs in the workspace here"
    draft.lose(held.without_value(), why)


def _add_repo(item: Item, found: dict[str, JSON], draft: Draft, suite: SuiteDraft) -> None:
    for number, each in enumerate(item.items()):
        address = each.first("repo", "url").value
        commit = each.first("commit", "base_commit").value
        is_root = str(each.at("path").value or ".").rstrip("/") in (".", "")
        if number or not is_root or not isinstance(address, str):
            draft.lose(each, "a repository beside the one at the root of the workspace")
        elif not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", str(commit)):
            hint = "`git rev-parse` prints it"
            draft.lose(each, "a repository without the full id of a commit", hint)
        else:
            name = re.sub(r"\W+", "-", address.rstrip("/").removesuffix(".git").split("/")[-1])
            if "/" not in address.removesuffix(".git") or "://" not in address:
                address = f"https://github.com/{address.removeprefix('github.com/')}"
            suite.repos[name] = {"url": address}
            found |= {"repo": name, "commit": commit}
            for key, rest in each.fields():
                if key not in ("path", "repo", "url", "commit", "base_commit"):
                    draft.lose(rest, f"`{key}` of a repository", at="key")


def map_target(item: Item, suite: SuiteDraft) -> str | None:
    """The name of a target that is a coding agent, which the configuration then gets."""
    name, kind = item.at("name").value, _KINDS.get(str(item.at("provider").value))
    if not isinstance(name, str) or kind is None:
        return None
    options: dict[str, JSON] = {"kind": kind}
    for key, held in (*item.fields(), *item.at("settings").fields()):
        if key in _OPTIONS and held.value is not None:
            options[_OPTIONS[key]] = held.value
        elif key == "timeout_seconds":
            options["time_s"] = held.value
        elif key not in ("name", "provider", "settings") and held.value is not None:
            suite.lose(held, f"`{key}` of the target `{name}`", at="key")
    suite.targets[name] = options
    return name


def map_named_targets(names: list[Any], folder: str, root: str, suite: SuiteDraft) -> None:
    """The coding agents among the targets that a file names, from `.agentv/targets.yaml`."""
    while not os.path.isfile(os.path.join(folder, _FILE)):
        if folder in (root, os.path.dirname(folder)):
            return
        folder = os.path.dirname(folder)
    try:
        declared = Folder(folder).parse(_FILE).root
    except ValueError:
        return
    for each in declared.at("targets").items() or declared.items():
        if each.at("name").value in names:
            map_target(each, suite)
