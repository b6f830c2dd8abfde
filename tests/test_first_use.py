"""What people write first: it works as they would expect, or they are told what to write."""

import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import evalcase
from evalcase import Case, ConfigError, Evaluated, Score
from tests.for_each import for_each

CASES = [
    Case(id="small", input="What is 2+2?", expected_output="4"),
    Case(id="large", input="What is 20+22?", expected_output="42"),
]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalcase.toml").write_text("")


def agent(text: str) -> str:
    del text
    return "4"


def run(**options: Any) -> Evaluated:
    return evalcase.evaluate(CASES, agent, **options)


class Client:
    def __init__(self) -> None:
        create = SimpleNamespace(create=lambda **_: None)
        self.chat = SimpleNamespace(completions=create)
        self.messages = create


class Chain:
    def invoke(self, said: str) -> str:
        return said


class NeedsModel:
    def __init__(self, model: str) -> None:
        self.model = model

    def answer(self, text: str) -> str:
        return self.model + text


async def waits(text: str) -> str:
    return text


@for_each(
    ("make", "words"),
    [
        (Client, 'write a function, .*a model is named as target="openai:MODEL"'),
        (Chain, "that asks it and returns its result"),
        (lambda: NeedsModel, "missing a required argument: 'model'"),
        (lambda: waits("x"), r"`waits\(…\)` was called already: give the function itself, `waits`"),
        (lambda: lambda: "4", "as it takes no question"),
        (lambda: 7, r"not 7: write a function, `def answer\(text\)"),
        (lambda: {"kind": "echo"}, r"options go in evalcase.toml, as \[targets.NAME\]"),
    ],
)
def test_what_is_no_target_says_what_to_write(make: Callable[[], Any], words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConfigError, match=words):
            evalcase.evaluate(CASES, make())


def test_classes_are_made_and_methods_can_be_given() -> None:
    assert evalcase.evaluate(CASES[0], Chain().invoke, graders="json").totals.trials.failed == 1

    class Agent:
        def answer(self, text: str) -> str:
            return agent(text)

    assert evalcase.evaluate(CASES[0], Agent).ok
    assert evalcase.evaluate(CASES[0], Agent()).ok  # type: ignore[arg-type]


@for_each(
    ("what", "words"),
    [
        (agent, "not function"),
        ({"input": "x"}, r"not dict; `Case\(mapping\)` makes a case"),
        ([{"input": "x"}], r"`Case\(mapping\)` makes a case of a mapping"),
        (7, "not int"),
    ],
)
def test_what_cannot_be_evaluated_says_what_can(what: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        evalcase.evaluate(what, "echo")


def test_output_and_expected_can_be_compared() -> None:
    def same(output: Any, expected: Any) -> bool:
        return bool(output == expected)

    done = run(graders=[same])
    assert [each.verdict for each in done.cases] == ["passed", "failed"]
    data = Case(input={"a": [1]}, expected_output={"a": [1]})
    assert evalcase.evaluate(data, "echo", graders=same).ok
    calls = [{"tool": "find"}]
    said = {"role": "assistant", "content": "ok", "tool_calls": calls}
    both = Case(input="ok", expected_output=[said, {"role": "user", "content": "no"}])
    assert evalcase.evaluate(both, "echo", graders=same).ok

    def nothing(expected: Any) -> bool:
        return expected is None

    assert evalcase.evaluate(Case(input="x"), "echo", graders=nothing).ok


class Judge:
    def __call__(self, output: str) -> bool:
        return output == "4"


@for_each(
    ("grader", "words"),
    [
        (len, "`len` has a parameter `obj`; a grader can be given answer"),
        (lambda zzz: zzz, "`zzz`; a grader can be given answer, text, output"),
        (Judge, "a grader is a function, an object"),
        (True, "not True"),
        (Score(1.0), "not Score"),
        (None, "a grader is a function"),
    ],
)
def test_what_is_no_grader_says_what_to_write(grader: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        run(graders=[grader])


def test_a_grader_without_its_argument_shows_one() -> None:
    with pytest.raises(evalcase.SuiteError, match=r"<graders>.*needs `value`(.|\n)*contains: "):
        run(graders="contains")
    assert run(graders={"contains": "4"}, cases="small").ok
    assert run(graders=Judge(), cases="small").ok


@pytest.mark.parametrize("shard", ["1/2", (1, 2), [1, 2]])
def test_a_shard_may_be_written_as_for_the_command(shard: Any) -> None:
    assert run(shard=shard).totals.cases.total == 1


@for_each("shard", ["1", "1/2/3", "a/b", 3, (1,), "auto", ("1", 2)])
def test_what_is_no_shard_shows_the_forms(shard: Any) -> None:
    with pytest.raises((TypeError, ConfigError), match="2/5"):
        run(shard=shard)


def test_a_shard_that_is_no_part_is_told_as_it_was_written() -> None:
    with pytest.raises(ConfigError, match="write it as 2/5"):
        run(shard="3/2")


@for_each(
    ("name", "meant"),
    [
        ("evaluators", "graders"), ("scorers", "graders"), ("metrics", "graders"),
        ("task", "target"), ("max_concurrency", "concurrency"), ("max_workers", "concurrency"),
        ("epochs", "repeat"), ("timeout", "timeout_s"), ("case", "cases"), ("tag", "tags"),
    ],
)  # fmt: skip
def test_options_of_other_tools_are_known_by_their_names(name: str, meant: str) -> None:
    with pytest.raises(TypeError, match=f"no option '{name}': did you mean `{meant}`?"):
        run(**{name: 1})


@pytest.mark.parametrize("name", ["on_result", "on_warning"])
def test_who_is_told_is_a_function(name: str) -> None:
    with pytest.raises(TypeError, match=f"`{name}` is a function, not 3"):
        run(**{name: 3})


def test_cases_of_a_run_are_found_by_their_ids() -> None:
    done = run()
    assert done["small"] == done.cases["small"] == done.cases[0]
    assert [each.case for each in done] == ["small", "large"]
    for find in (done.cases.__getitem__, done.__getitem__):
        with pytest.raises(KeyError) as caught:
            find("smal")
        assert str(caught.value) == "the run has no case 'smal': did you mean `small`?"
    with pytest.raises(TypeError, match="results are found by a number; those of a case are "):
        done.results["small"]  # type: ignore[call-overload]


def test_a_case_at_two_targets_is_two() -> None:
    done = evalcase.evaluate(CASES[0], ["echo", agent])
    with pytest.raises(KeyError, match="the run has 2 cases 'small': <cases> at echo, "):
        done["small"]


def test_cases_of_a_suite_are_found_by_id_and_number() -> None:
    suite = evalcase.loads("- {id: small, input: x}\n- {id: large, input: y}")
    assert suite[0] == suite["small"]
    assert suite[-1] == suite["large"]
    assert suite[:1] == (suite["small"],)
    for find in (suite.__getitem__, suite.place):
        with pytest.raises(KeyError) as caught:
            find("smal")
        assert str(caught.value) == "the suite has no case 'smal': did you mean `small`?"
    with pytest.raises(IndexError):
        suite[2]
