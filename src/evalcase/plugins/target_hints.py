"""What to write in place of a target that nobody knows: by what its name looks like."""

from __future__ import annotations

import os
import re

from evalcase.model.nearest import hint_at
from evalcase.system.missing_modules import has_module
from evalcase.system.project_root import find_from_here

_OPENAI = re.compile(r"(?:chat)?gpt-?\d|o[134](?:-|$)")
_CLAUDE = re.compile(r"claude-?")
_MODEL = re.compile(r"(?:gemini|gemma|llama|mistral|mixtral|qwen|deepseek|phi|grok|command-r)-?\d?")
_HOST = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{2,5}(?:/.*)?$")
_AT_HOME = {"ollama": "http://localhost:11434/v1", "vllm": "http://localhost:8000/v1"}
_SERVICES = _AT_HOME | dict.fromkeys(
    (
        "azure", "bedrock", "deepseek", "fireworks", "gemini", "google", "groq", "litellm",
        "lmstudio", "mistral", "openrouter", "together", "vertex", "xai",
    ),
    "ADDRESS",
)  # fmt: skip
"""Services that others know by a word, and where they are asked by OpenAI's API."""
_RUN_BY = {".js": "node", ".mjs": "node", ".ts": "node", ".rb": "ruby", ".sh": "sh"}


def hint_for_target(name: str, root: str) -> str | None:
    """What was probably meant by a name that is no target; None if nobody can say."""
    return (
        _hint_at_program(name)
        or _hint_at_file(name.removeprefix("file://"), root)
        or _hint_at_model(name)
        or _hint_at_function(name, root)
    )


def _hint_at_program(name: str) -> str | None:
    if " " in name.strip() and ":" not in name.partition(" ")[0]:
        return f"a program is run by `command:{name.strip():.80}`"
    if _HOST.match(name):
        return f"a service is asked by its whole address, in the configuration: http://{name:.80}"
    return None


def _hint_at_file(name: str, root: str) -> str | None:
    file, colon, function = name.partition(":")
    file = find_from_here(file, root)
    ending = os.path.splitext(file)[1]
    if ending == ".py":
        plain = os.path.normpath(file)
        place = plain if os.path.isabs(plain) or plain.startswith("..") else f"./{plain}"
        if colon:
            return hint_at(f"python:{place}:{function}")
        return f"write python:{place}:FUNCTION to call it, or `command:python3 {file}` to run it"
    if colon and file in _RUN_BY.values():
        return hint_at(f"command:{file} {function}")
    if ending in _RUN_BY:
        return hint_at(f"command:{_RUN_BY[ending]} {file}")
    if ending in (".jsonl", ".json"):
        return f"answers that are there already are given by `replay:{file}`"
    return hint_at(f"command:{name}") if name.startswith(("./", "/")) and not colon else None


def _hint_at_model(name: str) -> str | None:
    service, _, model = name.replace("/", ":", 1).partition(":")
    if model and service in ("openai", "anthropic"):
        return hint_at(f"{service}:{model}")
    if model and service.lower() in _SERVICES:
        return _hint_at_service(model, _SERVICES[service.lower()])
    if _OPENAI.match(name):
        return hint_at(f"openai:{name}")
    if _CLAUDE.match(name):
        return hint_at(f"anthropic:{name}")
    return _hint_at_service(name, "ADDRESS") if _MODEL.match(name) else None


def _hint_at_service(model: str, address: str) -> str:
    asked = f"`openai:{model}@{address}`"
    return f"in the configuration, or by --target, a service with OpenAI's API is {asked}"


def _hint_at_function(name: str, root: str) -> str | None:
    module, _, function = name.partition(":")
    steps = [*module.split("."), *function.split(".")]
    if not module or not all(step.isidentifier() for step in steps if step):
        return None
    if has_module(module, root):
        return hint_at(f"python:{name}") if function else f"write python:{module}:FUNCTION"
    return f"a function is called by `python:{name:.80}`" if function else None
