import re
from pathlib import Path

import pytest

import evalcase
from evalcase.config.catalogue import INSTEAD
from evalcase.graders.rubrics import RUBRIC_NAMES
from tests.for_each import for_each


@for_each(
    ("grader", "hint"),
    [
        ("ROUGE-L: hi", "write {python: MODULE:FUNCTION}"),
        ("Answer Relevancy: hi", "write {judge: {rubric: relevant}}"),
        ("hallucination_metric: hi", "write {judge: {rubric: faithful}}"),
        ("not-toxicity: hi", "write {judge: {rubric: harmless}}"),
        ("includes: hi", "write {contains: …}"),
        ("similar: hi", "write {similarity: {value: …, embedding: TARGET}}"),
        ("rouge-n: hi", "write {python: MODULE:FUNCTION}"),
        ("model_graded_qa: hi", "write {judge: {rubric: correct}}"),
        ("MaxDuration: 2", "write {latency: …}"),
        ("not: {contains: hi}", "write {type: contains, value: …, not: true}"),
        ("contians: hi", "did you mean `contains`?"),
        ("zzz: hi", "there are expected, equals, contains"),
        ("judge: {rubric: faithfull}", "did you mean `faithful`?"),
    ],
)
def test_a_hint_leads_to_what_works(grader: str, hint: str) -> None:
    text = f"cases: [{{input: a, expected_output: b, graders: [{{{grader}}}]}}]"
    problems = evalcase.check_text(text, "a.eval.yaml")
    (problem,) = [each for each in problems if each.severity == "error"]
    assert hint in (problem.hint or "")


@pytest.mark.parametrize(
    ("graders", "hint"),
    [
        ("contains 30 days", "write [contains 30 days]"),
        ("expected", "write [expected]"),
    ],
)
def test_a_hint_for_one_grader_in_place_of_a_list_works(graders: str, hint: str) -> None:
    text = f"input: a\nexpected_output: b\ngraders: {graders}\n"
    problems = evalcase.check_text(text, "a.eval.yaml")
    (problem,) = [each for each in problems if each.severity == "error"]
    assert (problem.hint or "").startswith(hint)


def test_a_rubric_that_a_hint_names_is_there() -> None:
    named = {name for hint in INSTEAD.values() for name in re.findall(r"rubric: (\w+)", hint)}
    assert named
    assert named <= set(RUBRIC_NAMES)


# What is said of a target that nobody knows, by what its name looks like


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


# Tables that a configuration hasn't got: the hint says which is meant


OPENAI = '[targets.bot]\nkind = "openai"\nmodel = "m"\n'


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        (f"{OPENAI}temperature = 0\n", "4:1", "did you mean `params`?"),
        (f"{OPENAI}parameters = {{stop = 'a'}}\n", "4:1", "did you mean `params`?"),
        ('[targts.bot]\nkind = "echo"\n', "1:2", "did you mean `targets`?"),
        ('[providers.bot]\nkind = "echo"\n', "1:2", "did you mean `targets`?"),
        ('target = "bot"\n[target.bot]\nkind = "echo"\n', "2:1", "did you mean `targets`?"),
        ('[targets]\nkind = "echo"\n', "2:8", 'write [targets.NAME] and kind = "…" below it'),
        ('[targets.bot]\ntype = "echo"\n', "1:10", 'for example kind = "echo"'),
        ('[judge]\nmodel = "echo"\n', "2:1", "did you mean `target`?"),
        ('[targets.bot]\nkind = "codex"\nargs = [7]\n', "3:8", "write it in quotes"),
    ],
)
def test_a_table_that_is_called_otherwise_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str, hint: str | None
) -> None:
    (tmp_path / "evalcase.toml").write_text(text)
    (tmp_path / "a.eval.yaml").write_text("- {input: hi, expected_output: hi}\n")
    monkeypatch.chdir(tmp_path)
    (problem,) = evalcase.check(".")
    assert (problem.place, problem.hint) == (f"evalcase.toml:{place}", hint)


HTTP = '[targets.bot]\nkind = "http"\nurl = "http://localhost:1"\n'


@pytest.mark.parametrize(
    ("body", "place", "said"),
    [
        ('[targets.bot.body]\na = 1\nq = "{question}"\n', "6:5", "there are {prompt}"),
        ('body = {a = 1, q = ["{question}"]}\n', "4:8", "there are {prompt}"),
    ],
)
def test_a_placeholder_that_is_wrong_is_pointed_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, place: str, said: str
) -> None:
    (tmp_path / "evalcase.toml").write_text(HTTP + body)
    (tmp_path / "a.eval.yaml").write_text("- {input: hi, expected_output: hi}\n")
    monkeypatch.chdir(tmp_path)
    (problem,) = evalcase.check(".")
    assert problem.place == f"evalcase.toml:{place}"
    assert said in problem.message
