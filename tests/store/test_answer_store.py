import asyncio
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.errors import ConfigError
from evalcase.runner.dispatch import Asked
from evalcase.runner.pacing import Limits
from evalcase.store.cache import AnswerCache
from evalcase.testing import ScriptedTarget
from evalcase.types.answer import Answer
from evalcase.types.target import Question, Target, Traits
from evalcase.util.secrets import Scrubber
from tests.run.project import Project, case
from tests.run.test_dispatch import Patient, dispatcher_of
from tests.targets.questions import question

KEY = "ab" * 32


class Known(ScriptedTarget):
    """A scripted target that can be cached: what decides its answer is the input."""

    traits = Traits(caching="keyed")

    def cache_key(self, question: Question) -> Any:
        return [message.to_dict() for message in question.messages]


def store(folder: Path, **secrets: str) -> AnswerCache:
    return AnswerCache(str(folder), Scrubber(secrets, secrets), lambda _: None)


def ask_all(target: Target, kept: AnswerCache, *questions: Question) -> list[Asked]:
    async def go() -> list[Asked]:
        dispatcher = dispatcher_of(target, Limits(), Patient(), cache=kept)
        return [await dispatcher.ask("it", each) for each in questions]

    return asyncio.run(go())


def ask(target: Target, kept: AnswerCache, *questions: Question) -> list[Answer]:
    answers = [asked.answer for asked in ask_all(target, kept, *questions)]
    assert None not in answers
    return [answer for answer in answers if answer is not None]


def test_a_folder_that_cannot_be_written_is_said_and_keeps_nobody_from_an_answer(
    tmp_path: Path,
) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    said: list[str] = []
    blocked = AnswerCache(str(tmp_path / "cache"), Scrubber({}), said.append)
    (answer,) = ask(Known(["4"]), blocked, question())
    assert answer.text == "4"
    assert "the cache can't be written" in said[0]


def test_a_target_that_cannot_say_what_decides_its_answers_is_refused(tmp_path: Path) -> None:
    suite = tmp_path / "a.eval.yaml"
    suite.write_text("- {id: a, input: x, expected_output: x}")
    with pytest.raises(ConfigError, match="can't be cached"):
        evalcase.evaluate(suite, ScriptedTarget(["x"]), cache=True, root=tmp_path)


def test_run_with_cache_asks_once_and_says_so_in_the_record(project: Project) -> None:
    project.suite(case("a"), case("b", "cost 0.5"))
    assert project.run("run", "--cache", "--json").json["cost_usd"] == 0.5
    assert sorted(project.calls()) == ["a", "b"]
    done = project.run("run", "--cache", "--json")
    assert done.json["cost_usd"] == 0.0
    assert done.counts() == {"passed": 2}
    assert sorted(project.calls()) == ["a", "b"]
    assert (project.runs()[-1] / "journal.jsonl").read_text().count('"cached":true') == 2


def test_the_configuration_may_turn_it_on_and_the_command_off(project: Project) -> None:
    project.configure(f"cache = true\n{(project.path / 'evalcase.toml').read_text()}")
    project.suite(case("a"))
    project.run("run", "--json")
    project.run("run", "--json")
    assert project.calls() == ["a"]
    project.run("run", "--json", "--no-cache")
    assert project.calls() == ["a", "a"]


def test_a_resumed_run_uses_the_cache_that_it_began_with(project: Project) -> None:
    project.suite(case("a"), case("b", "once more"))
    project.run("run", "--cache", "--json")
    project.run("run", "--cache", "--json", "--case", "a")
    project.forget_calls()
    (project.runs()[0] / "journal.jsonl").unlink()
    project.run("resume", str(project.runs()[0]), "--json")
    assert project.calls() == ["b"]


def test_a_link_in_the_cache_of_a_stranger_is_neither_read_nor_written_through(
    tmp_path: Path,
) -> None:
    mine, kept = tmp_path / "mine", store(tmp_path / "cache")
    kept.store(KEY, Answer.of_text("4"))
    (path,) = (tmp_path / "cache").rglob("*.json")
    path.rename(mine)
    path.symlink_to(mine)
    assert kept.find(KEY) is None
    before = mine.read_bytes()
    kept.store(KEY, Answer.of_text("5"))
    assert (mine.read_bytes(), path.is_symlink()) == (before, True)
