"""What to type in place of a command or an option that there is none of: what others call it, or
what is spelt nearly so."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from evalcase.types.problem import find_nearest

_ELSEWHERE: Mapping[str, str] = {
    "eval": "run", "evaluate": "run", "exec": "run", "start": "run", "test": "run",
    "continue": "resume", "retry": "resume --retry-errored",
    "lint": "check", "validate": "check", "verify": "check",
    "fix": "check --fix", "fmt": "check --fix", "format": "check --fix", "watch": "check --watch",
    "diff": "compare", "history": "list", "log": "list", "logs": "list", "ls": "list",
    "runs": "list", "summary": "report", "results": "report", "export": "report",
    "html": "report --format html -o FILE", "dashboard": "view", "open": "view", "serve": "view",
    "ui": "view", "server": "view", "web": "view",
    "clean": "prune", "delete": "prune", "gc": "prune", "remove": "prune", "rm": "prune",
    "convert": "import", "create": "init", "new": "init", "regrade": "grade", "score": "grade",
    "scorers": "graders", "assertions": "graders", "metrics": "graders",
    "print": "show", "upgrade": "migrate", "help": "--help", "version": "--version",
}  # fmt: skip
"""What other tools call what a command does."""

_OPTIONS: Mapping[str, str] = {
    "-m": "--target", "--model": "--target", "--provider": "--target",
    "--providers": "--target", "--agent": "--target",
    "-j": "--concurrency", "--workers": "--concurrency",
    "--parallel": "--concurrency", "--jobs": "--concurrency", "--max-concurrency": "--concurrency",
    "--max-connections": "--concurrency", "--runs": "--repeat", "--times": "--repeat",
    "--epochs": "--repeat", "--trials": "--repeat",
    "--id": "--case", "--filter": "--case", "--only": "--case",
    "--filter-pattern": "--case", "--tags": "--tag",
    "--max-samples": "--limit", "--max-examples": "--limit",
    "--json": "--format json", "--html": "--format html", "--threshold": "--fail-under",
    "--env": "--env-file", "--budget": "--max-cost", "--output": "-o", "--out": "-o",
    "--timeout-s": "--timeout", "--last-failed": "--failed-of", "--lf": "--failed-of",
}  # fmt: skip
"""The same for options: what to write, where a command has it."""

_CONFIG = "evalcase.toml is found automatically, in this folder or one above it."
_NO_OPTION: Mapping[str, str] = {
    "-c": _CONFIG, "--config": _CONFIG, "--config-file": _CONFIG,
}  # fmt: skip
"""What needs no option here."""

_ALIKE = 0.7
"""How alike the names of two options must be, without their dashes."""


def hint_at_command(word: str, commands: Collection[str]) -> str:
    """What to type in place of a word that is no command."""
    if os.path.exists(word) or word.endswith((".yaml", ".yml", ".jsonl", ".json")):
        return f"Did you mean 'evalcase run {word}'?"
    meant = _ELSEWHERE.get(word.lower()) or find_nearest(word, commands)
    if meant is None:
        return "See 'evalcase --help'."
    return f"Did you mean '{meant if meant in commands else f'evalcase {meant}'}'?"


def hint_at_option(word: str, known: Collection[str]) -> str | None:
    """What to type in place of an unknown option; None if a similar spelling is the best hint."""
    if word == "--retry-failed":
        return "To run failed cases again: evalcase run --failed-of RUN"
    for meant in (_OPTIONS.get(word, ""), word.removesuffix("s"), f"{word}s"):
        if meant.partition(" ")[0] in known:
            return f"Did you mean '{meant}'?"
    return _NO_OPTION.get(word)


def spelt_alike(word: str, options: Collection[str]) -> list[str]:
    """Those of some options that a word may well have been meant to be."""
    name = word.lstrip("-")
    return [each for each in options if find_nearest(name, [each.lstrip("-")], _ALIKE)]
