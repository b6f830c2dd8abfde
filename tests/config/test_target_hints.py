"""What is said of a target that nobody knows, by what its name looks like."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalcase

MEANT = {
    "bot:ask": "did you mean `python:bot:ask`?",
    "./bot.py:ask": "did you mean `python:./bot.py:ask`?",
    "bot.py": "did you mean `python:./bot.py:FUNCTION`?",
    "pyhton:bot:ask": "did you mean `python:bot:ask`?",
    "OpenAI:gpt-4o": "did you mean `openai:gpt-4o`?",
    "openai/gpt-4o": "did you mean `openai:gpt-4o`?",
    "gpt-4o": "did you mean `openai:gpt-4o`?",
    "claude-sonnet-4": "did you mean `anthropic:claude-sonnet-4`?",
    "openai": "write openai:MODEL",
    "python:": "write python:FUNCTION",
    "python -m agent": "did you mean `command:python -m agent`?",
    "./agent": "did you mean `command:./agent`?",
    "litellm:llama3": "did you mean `openai:llama3@ADDRESS`?",
    "groq/llama3": "did you mean `groq:llama3`?",
    "answers.jsonl": "did you mean `replay:answers.jsonl`?",
    "python://bot:ask": "did you mean `bot:ask`?",
    "nobody": "add [targets.nobody] to evalcase.toml, or write kind:value, such as "
    "python:my_agent:answer",
    "": "write kind:value",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bot.py").write_text("def ask(text): return text\n")
    (tmp_path / "a.eval.yaml").write_text("- {input: hi, expected_output: hi}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hint_of(target: str) -> str | None:
    with pytest.raises((evalcase.ConfigError, evalcase.SuiteError)) as caught:
        evalcase.evaluate("a.eval.yaml", target)
    error = caught.value
    assert isinstance(error, evalcase.ConfigError | evalcase.SuiteError)
    (problem,) = error.problems
    return problem.hint


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("target", "hint"), MEANT.items(), ids=repr)
def test_the_hint_says_what_is_probably_meant(target: str, hint: str) -> None:
    assert hint_of(target) == hint


@pytest.mark.usefixtures("folder")
def test_the_targets_that_there_are_are_named() -> None:
    names = [f"bot{number}" for number in range(12)]
    tables = "".join(f'[targets.{name}]\nkind = "echo"\n' for name in names)
    Path("evalcase.toml").write_text(tables)
    hint = hint_of("nobody")
    assert hint is not None
    assert hint.startswith("it has `bot0`, `bot1`, ")
    assert "`bot9` and 2 more; add [targets.nobody]" in hint
    assert hint_of("bto3") == "did you mean `bot3`?"
