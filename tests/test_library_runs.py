"""Runs from Python: `evaluate` and `evaluate_async`."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Answer, ConfigError, Evaluated, SuiteError, TargetError
from evalcase.model.target import Traits
from evalcase.testing import ScriptedTarget
from tests.cli.command import EVALCASE, environment
from tests.run.project import case

Evaluate = Callable[..., Evaluated]


def run_async(*arguments: Any, **options: Any) -> Evaluated:
    return asyncio.run(evalcase.evaluate_async(*arguments, **options))


@pytest.fixture(params=[evalcase.evaluate, run_async], ids=["sync", "async"])
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    function: Evaluate = request.param
    return function


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # A run makes the project's modules importable; here that must end with the test.
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "evalcase.toml").write_text("")
    suite(tmp_path, case("a", "one"), case("b", "two"))
    return tmp_path


def suite(folder: Path, *cases: dict[str, Any]) -> None:
    (folder / "s.eval.yaml").write_text(json.dumps({"cases": cases}))


def test_a_forbidden_call_never_passes_in_whichever_form_it_is_returned(folder: Path) -> None:
    call = {"name": "delete", "args": {}}
    said = {
        "a": {"text": "Done.", "tool_calls": [call]},
        "b": {"role": "assistant", "content": [{"type": "tool_use", "name": "delete"}]},
        "c": {"choices": [{"message": {"role": "assistant", "function_call": call}}]},
        "d": {"answer": "Done.", "tool_calls": [call]},
    }
    suite(folder, *[{"id": name, "input": name} for name in said])
    forbid = {"tool_calls": {"forbidden": ["delete"]}}

    done = evalcase.evaluate(".", said.__getitem__, graders=[forbid])
    verdicts = {result.key.case: result.verdict for result in done.results}
    assert verdicts == {"a": "failed", "b": "failed", "c": "failed", "d": "errored"}


def test_a_function_is_a_target(folder: Path, evaluate: Evaluate) -> None:
    def agent(question: str) -> str:
        return "ok" if question == "one" else "no"

    done = evaluate(".", agent)
    assert (done.status, done.complete, done.ok, done.pass_rate) == ("completed", True, False, 0.5)
    assert (done.totals.cases.passed, done.totals.cases.failed) == (1, 1)
    assert {result.key.case: result.verdict for result in done.results} == {
        "a": "passed",
        "b": "failed",
    }
    assert Path(done.path).parent == folder / ".evalcase" / "runs"


def test_it_is_the_same_run_as_that_of_the_command(folder: Path, evaluate: Evaluate) -> None:
    done = evaluate("s.eval.yaml", "echo", cases="a", repeat=2)
    command = [*EVALCASE, "run", "s.eval.yaml", "--target", "echo", "--case", "a", "--repeat", "2"]
    told = subprocess.run(
        [*command, "--json"], cwd=folder, env=environment(), capture_output=True, check=False
    )
    other = json.loads(told.stdout)
    assert asdict(done.totals.trials) == other["trials"]
    assert (done.totals.trials.failed, done.totals.cases.failed, other["failed"]) == (2, 1, 1)
    first, second = (
        [(each["key"], each["verdict"], each["question_hash"]) for each in map(_row, results)]
        for results in (
            done.results,
            evalcase.evaluate("s.eval.yaml", "echo", cases="a", repeat=2).results,
        )
    )
    assert sorted(first) == sorted(second)


def _row(result: evalcase.Result) -> dict[str, Any]:
    return {"key": result.key, "verdict": result.verdict, "question_hash": result.question_hash}


@pytest.mark.usefixtures("folder")
def test_async_functions_and_objects_and_names_together(evaluate: Evaluate) -> None:
    async def agent(messages: list[Any]) -> str:
        return str(len(messages))

    scripted = ScriptedTarget({"a": "ok", "b": ValueError("no")})
    done = evaluate(["s.eval.yaml"], [agent, scripted, "echo"])
    targets = {result.key.target for result in done.results}
    assert len(targets) == 3
    assert {"echo", "ScriptedTarget"} < targets
    assert (scripted.opened, scripted.closed, len(scripted.asked)) == (1, 1, 2)
    assert done.totals.cases.errored == 1


class Derived(evalcase.Target):
    """Answers as the engine asks, by a question."""

    async def answer(self, question: evalcase.Question) -> Answer:
        assert isinstance(question, evalcase.Question)
        return Answer.of_text("ok" if question.case == "a" else "no")


class Typed:
    """Derives from nothing, and has traits."""

    traits = Traits(concurrency=1)

    async def open(self) -> None: ...

    async def answer(self, question: evalcase.Question) -> Answer:
        return await Derived().answer(question)

    async def close(self) -> None: ...


class Asking:
    """Is an object of a user's, with a method that takes what it asks for."""

    def answer(self, prompt: str, *, session: str, metadata: dict[str, Any]) -> str:
        assert session
        assert metadata == {}
        return "ok" if prompt == "one" else "no"


class Async:
    """Looks like a target of evalcase's, and is none: it is given the last user content."""

    async def open(self) -> None: ...

    async def answer(self, question: Any) -> str:
        assert question in ("one", "two")
        return "ok" if question == "one" else "no"

    async def close(self) -> None: ...


class Whole:
    def answer(self, it: "evalcase.Question") -> str:  # noqa: UP037 - a text is what it is about
        return "ok" if it.case == "a" else "no"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("target", "name"),
    [
        (Derived(), "Derived"), (Typed(), "Typed"),
        (Asking(), "python:tests.test_library_runs:Asking"),
        (Async(), "python:tests.test_library_runs:Async"),
        (Whole(), "python:tests.test_library_runs:Whole"),
        (Derived, "python:tests.test_library_runs:Derived"),
        (Asking, "python:tests.test_library_runs:Asking"),
    ],
)  # fmt: skip
def test_objects_and_classes_are_targets(evaluate: Evaluate, target: Any, name: str) -> None:
    done = evaluate(".", target)
    verdicts = {(each.key.target, each.key.case): each.verdict for each in done.results}
    assert {case: verdict for (_, case), verdict in verdicts.items()} == {
        "a": "passed", "b": "failed",
    }  # fmt: skip
    assert {target.rpartition(".")[2] for target, _ in verdicts} == {name.rpartition(".")[2]}


@pytest.mark.usefixtures("folder")
def test_what_is_expected_is_refused_to_what_is_tested(evaluate: Evaluate) -> None:
    class Curious:
        def answer(self, case: Any) -> str:
            return str(case.expected_output)

    for target in (Curious(), lambda case: case):
        with pytest.raises(ConfigError, match="must not be seen by what is tested"):
            evaluate(".", target)


@pytest.mark.usefixtures("folder")
def test_every_trial_has_a_session_of_its_own(evaluate: Evaluate) -> None:
    sessions: list[str] = []

    def agent(session: str, attempt: int) -> str:
        sessions.append(session)
        if attempt == 1:
            raise TargetError("busy", may_succeed_later=True, retry_after_s=0.0)
        return "ok"

    assert evaluate(".", agent, repeat=2).ok
    assert sorted(map(sessions.count, set(sessions))) == [2, 2, 2, 2]


def test_the_target_of_the_configuration(folder: Path, evaluate: Evaluate) -> None:
    (folder / "evalcase.toml").write_text('target = "echo"\n')
    suite(folder, {"id": "a", "input": "hi", "expected_output": "hi"})
    assert evaluate().ok


def test_results_and_warnings_as_they_come(folder: Path, evaluate: Evaluate) -> None:
    def agent(question: str) -> str:
        return question

    suite(folder, {"id": "a", "input": [{"role": "system", "content": "s"}, *_user("hi")]})
    seen: list[str] = []
    said: list[str] = []
    evaluate(
        ".", agent, on_result=lambda result: seen.append(result.key.case), on_warning=said.append
    )
    assert seen == ["a"]
    assert any("sees the last user message only" in text for text in said)


def _user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_warnings_are_logged_by_default(
    folder: Path, evaluate: Evaluate, caplog: pytest.LogCaptureFixture
) -> None:
    suite(folder, {"id": "a", "input_messages": "hi", "expected_output": "hi"})
    with caplog.at_level(logging.WARNING, "evalcase"):
        assert evaluate(".", "echo").ok
    assert "the suites have 1 warning, which `evalcase check` shows" in caplog.text


def test_notes_are_not_called_warnings_and_are_told_when_nothing_is_wrong(
    folder: Path, evaluate: Evaluate
) -> None:
    said = [{"role": "assistant", "content": each} for each in ("no", "hi")]
    told: list[str] = []
    suite(folder, {"id": "a", "input": "hi", "expected_output": said})
    assert evaluate(".", "echo", on_warning=told.append).ok
    assert told == ["the suites have 1 note, which `evalcase check` shows"]
    told.clear()
    with pytest.raises(evalcase.ConfigError):
        evaluate(".", "nosuch:", on_warning=told.append)
    assert told == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"concurrency": 0}, "`concurrency` is a whole number of 1 or more, not 0"),
        ({"repeat": 0}, "`repeat`"),
        ({"repeat": True}, "`repeat` is a whole number from 1 to 1,000,000, not true"),
        ({"repeat": 1.5}, "`repeat`"),
        ({"max_cost_usd": float("inf")}, "`max_cost_usd`"),
        ({"limit": 0}, "`limit`"),
        ({"sample": 0}, "`sample`"),
        ({"retries": -1}, "`retries`"),
        ({"timeout_s": 0}, "`timeout_s`"),
        ({"max_cost_usd": float("nan")}, "`max_cost_usd`"),
        ({"shard": (3, 2)}, "`shard`"),
    ],
)
def test_options_are_checked(folder: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        evalcase.evaluate(".", "echo", **options)
    assert not (folder / ".evalcase").exists()


def test_an_option_that_does_not_exist(folder: Path) -> None:
    with pytest.raises(TypeError, match="'concurency'"):
        evalcase.evaluate(".", "echo", concurency=3)  # type: ignore[call-arg]
    assert not (folder / ".evalcase").exists()


def test_what_is_no_target(folder: Path) -> None:
    with pytest.raises(ConfigError, match="not 42"):
        evalcase.evaluate(".", 42)  # type: ignore[arg-type]
    assert not (folder / ".evalcase").exists()


def test_an_invalid_suite_is_raised_and_nothing_is_run(folder: Path, evaluate: Evaluate) -> None:
    suite(folder, case("a"), {"inptu": "b"})
    target = ScriptedTarget([])
    with pytest.raises(SuiteError, match="inptu"):
        evaluate(".", target)
    assert (target.opened, target.asked) == (0, [])


def test_a_target_that_cannot_be_set_up_is_raised(folder: Path, evaluate: Evaluate) -> None:
    class Broken(ScriptedTarget):
        async def open(self) -> None:
            raise TargetError("no database")

    with pytest.raises(TargetError, match="no database"):
        evaluate(".", Broken([]))
    assert not (folder / ".evalcase").exists()


def test_answers_of_ones_own_making(folder: Path, evaluate: Evaluate) -> None:
    def agent(question: str) -> Answer:
        del question
        return Answer(Answer.of_text("ok").messages, evalcase.Usage(3, 4), 0.25)

    done = evaluate(".", agent, runs_dir=str(folder / "kept"))
    assert (done.ok, done.totals.cost_usd) == (True, 0.5)
    assert Path(done.path).parent == folder / "kept"


@pytest.mark.usefixtures("folder")
def test_within_an_event_loop_the_plain_one_says_what_to_call() -> None:
    async def main() -> None:
        evalcase.evaluate(".", "echo")

    with pytest.raises(RuntimeError, match=r"await evalcase\.evaluate_async"):
        asyncio.run(main())


@pytest.mark.usefixtures("folder")
def test_two_runs_at_once_in_one_loop() -> None:
    async def main() -> list[Evaluated]:
        runs = [evalcase.evaluate_async(".", ScriptedTarget(["ok", "ok"])) for _ in range(2)]
        return await asyncio.gather(*runs)

    first, second = asyncio.run(main())
    assert first.ok
    assert second.ok
    assert first.path != second.path


CALLS: list[str] = []


def counted(question: str) -> str:
    CALLS.append(question)
    return os.environ["AGENT_WORD"]


@pytest.mark.usefixtures("folder")
def test_env_file_and_cache(evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    Path("keys.env").write_text("AGENT_WORD=ok\n")
    CALLS.clear()
    assert evaluate(".", counted, env_file="keys.env", cache=True).ok
    assert evaluate(".", counted, cache=True).ok
    assert sorted(CALLS) == ["one", "two"]


@pytest.mark.usefixtures("folder")
def test_functions_that_no_name_leads_to_are_not_cached(evaluate: Evaluate) -> None:
    def make(word: str) -> Callable[[str], str]:
        return lambda _: word

    assert evaluate(".", make("ok"), cache=True).ok
    assert evaluate(".", make("no"), cache=True).totals.cases.failed == 2


def test_an_exception_of_who_is_told_ends_the_run_and_is_raised(
    folder: Path, evaluate: Evaluate
) -> None:
    lines = [json.dumps({"id": f"c{number}", "input": "x"}) for number in range(500)]
    (folder / "many.jsonl").write_text("\n".join(lines))

    def told(result: evalcase.Result) -> None:
        raise KeyError(result.key.case)

    with pytest.raises(KeyError):
        evaluate("many.jsonl", "echo", on_result=told)
    (run,) = (folder / ".evalcase" / "runs").iterdir()
    assert '"status":"stopped"' in (run / "journal.jsonl").read_text()


def test_two_functions_of_one_name_are_two_targets(folder: Path, evaluate: Evaluate) -> None:
    def make(word: str) -> Callable[[str], str]:
        return lambda _: word

    suite(folder, case("a"))
    done = evaluate(".", [make("ok"), make("no")])
    assert sorted(result.verdict for result in done.results) == ["failed", "passed"]


class Plain:
    """What a project may have: set-up and tear-down, and nothing async."""

    def __init__(self) -> None:
        self.life: list[str] = []

    def open(self) -> None:
        self.life.append("open")

    def answer(self, question: str) -> str:
        self.life.append(question)
        return "ok"

    def close(self) -> None:
        self.life.append("close")


def test_objects_and_classes_with_plain_methods_are_targets(
    folder: Path, evaluate: Evaluate
) -> None:
    suite(folder, case("a", "one"))
    made = Plain()
    assert evaluate(".", made).ok
    assert made.life == ["open", "one", "close"]
    assert evaluate(".", Plain).ok


def test_what_is_raised_has_nothing_to_do_with_event_loops(folder: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        evalcase.evaluate(folder / "none.yaml", "echo")
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Answer((), cost_usd="abc"), "cost_usd"),  # type: ignore[arg-type]
        (lambda: Answer((), cost_usd=1e20), "cost_usd"),
        (lambda: Answer((), cost_usd=-5), "cost_usd"),
        (lambda: Answer((), cost_usd=True), "cost_usd"),
        (lambda: Answer((), usage=evalcase.Usage("x")), "usage"),  # type: ignore[arg-type]
        (lambda: Answer((), usage=evalcase.Usage(1.5)), "usage"),  # type: ignore[arg-type]
        (lambda: Answer((), usage=evalcase.Usage(10**20)), "usage"),
    ],
)
def test_usage_and_cost_that_make_no_sense_are_an_error_of_who_made_the_answer(
    folder: Path, make: Callable[[], Answer], words: str
) -> None:
    suite(folder, {"id": "a", "input": "x"})
    (result,) = evalcase.evaluate(".", lambda _: make()).results
    assert result.verdict == "errored"
    assert result.failure is not None
    assert f"`{words}`" in result.failure.message


def test_a_target_that_breaks_when_it_is_closed_is_a_warning(
    folder: Path, evaluate: Evaluate
) -> None:
    class Broken(ScriptedTarget):
        async def close(self) -> None:
            raise OSError("gone")

    suite(folder, case("a"))
    said: list[str] = []
    assert evaluate(".", Broken(["ok"]), on_warning=said.append).ok
    assert [text.partition(" (")[0] for text in said] == [
        "`Broken`: tear-down failed: OSError('gone')"
    ]


class PlainToAsk(ScriptedTarget):
    def answer(self, question: evalcase.Question) -> Any:
        return Answer.of_text(question.case)


class PlainToOpen(ScriptedTarget):
    def open(self) -> Any:
        self.opened += 1


class Unbound:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("nothing is bound here")


class Proxied(ScriptedTarget):
    def answer(self, _: evalcase.Question) -> Any:
        return Unbound()


class OldFashioned(ScriptedTarget):
    @types.coroutine
    def answer(self, _: evalcase.Question) -> Any:
        yield from ()
        raise RuntimeError("my own reason")


class Delegating(ScriptedTarget):
    def answer(self, question: evalcase.Question) -> Any:
        return super().answer(question)


def test_methods_of_a_target_are_async_and_one_that_is_not_is_told(
    folder: Path, evaluate: Evaluate
) -> None:
    suite(folder, case("a"))
    (result,) = evaluate(".", PlainToAsk([])).results
    assert result.failure is not None
    assert result.failure.kind == "protocol"
    assert "`answer` of a Target must be async (`async def answer`)" in result.failure.message
    with pytest.raises(TargetError, match="`open` of a Target must be async"):
        evaluate(".", PlainToOpen(["ok"]))
    assert evaluate(".", Delegating(["ok"])).ok
    (result,) = evaluate(".", Proxied([])).results
    assert result.verdict == "errored"
    (result,) = evaluate(".", OldFashioned([])).results
    assert result.failure is not None
    assert "my own reason" in result.failure.message


@pytest.mark.usefixtures("folder")
def test_a_program_is_told_of_its_options_and_not_of_those_of_the_command() -> None:
    with pytest.raises(TypeError, match="no option 'max_cost': did you mean `max_cost_usd`"):
        evalcase.evaluate(".", "echo", max_cost=1)  # type: ignore[call-arg]

    def paid(_: str) -> Answer:
        return Answer(Answer.of_text("ok").messages, cost_usd=1.0)

    done = evalcase.evaluate(".", paid, max_cost_usd=0.5, concurrency=1)
    assert done.status == "stopped"
    said = "the spending cap of 0.5 USD is reached; raise it to start more trials"
    assert done.notice == said


def test_a_cap_that_cannot_hold_is_said(folder: Path, evaluate: Evaluate) -> None:
    suite(folder, case("a"))
    said: list[str] = []
    evaluate(".", "echo", max_cost_usd=1.0, on_warning=said.append)
    assert any("the spending cap can't be enforced" in text for text in said)


def test_targets_may_come_from_any_iterable(folder: Path, evaluate: Evaluate) -> None:
    suite(folder, case("a"))
    done = evaluate(iter(["s.eval.yaml"]), (name for name in ["echo", "echo"]))
    assert done.totals.cases.total == 1


def test_a_run_has_a_verdict_for_every_case(folder: Path) -> None:
    suite(
        folder, case("coin", repeat={"times": 4, "pass_rate": 0.5}), case("never", repeat=2),
        case("once"), case("off", skip=True),
    )  # fmt: skip
    script = {"coin": ["ok", "no", "ok", "no"], "never": ["no", "no"], "once": "ok"}
    done = evalcase.evaluate(".", ScriptedTarget(script), concurrency=1)
    cases = list(done.cases)
    assert all(isinstance(each, evalcase.CaseVerdict) for each in cases)
    found = {each.case: each for each in cases}
    coin = found["coin"]
    assert (coin.verdict, coin.passed, coin.trials, coin.pass_rate_needed) == ("passed", 2, 4, 0.5)
    assert coin.score == 0.5
    assert (found["never"].verdict, found["never"].passed) == ("failed", 0)
    assert (found["off"].verdict, found["off"].score) == ("skipped", None)
    counts = done.totals.cases
    assert (len(cases), counts.passed, counts.failed, counts.skipped) == (4, 2, 1, 1)


@pytest.mark.usefixtures("folder")
def test_a_result_of_a_run_can_be_explained() -> None:
    done = evalcase.evaluate(".", ScriptedTarget(["no", "no"]))
    said = min(evalcase.explain(result) for result in done.results)
    assert said.splitlines() == [
        "failed s.eval.yaml: a (ScriptedTarget)", "  expected   │ got", "  ok         │ no"
    ]  # fmt: skip


@pytest.mark.usefixtures("folder")
def test_how_long_a_run_took_is_kept() -> None:
    done = evalcase.evaluate(".", ScriptedTarget(["ok", "ok"]))
    assert done.duration_s is not None
    assert 0 < done.duration_s < 60


def test_a_run_ends_once_it_is_decided(tmp_path: Path) -> None:
    cases = [
        evalcase.Case(id=f"c{number}", input="hi", expected_output="hi") for number in range(9)
    ]
    done = evalcase.evaluate(
        cases, "echo", root=tmp_path, fail_under=0.5, stop="certain", concurrency=1
    )
    assert done.decision is not None
    assert (done.decision.outcome, done.decision.seen, done.not_run) == ("met", 5, 4)
    assert done.ok, "as the exit code has it"
    with pytest.raises(evalcase.ConfigError, match="there is neither"):
        evalcase.evaluate(cases, "echo", root=tmp_path, stop="certain")


@pytest.mark.parametrize(
    ("rate", "words", "is_ok"),
    [
        (0.5, ("ok", "ok", "no"), True),
        (0.7, ("ok", "ok", "no"), False),
        (0.5, ("ok", "ok", ValueError("broken")), False),
        (0.0, ("no", "no", "no"), True),
    ],
)
def test_a_pass_rate_that_is_enough_decides_as_it_does_for_the_command(
    tmp_path: Path, rate: float, words: tuple[str | Exception, ...], is_ok: bool
) -> None:
    cases = [evalcase.Case(id=id, input=id, expected_output="ok") for id in "abc"]
    target = ScriptedTarget(dict(zip("abc", words, strict=True)))
    assert evalcase.evaluate(cases, target, root=tmp_path, fail_under=rate).ok is is_ok


def test_where_nothing_was_tried_only_a_rate_of_0_is_reached(tmp_path: Path) -> None:
    skipped = evalcase.Case(id="a", input="a", expected_output="a", skip="later")
    assert not evalcase.evaluate(skipped, "echo", root=tmp_path).ok
    assert not evalcase.evaluate(skipped, "echo", root=tmp_path, fail_under=0.1).ok
    assert evalcase.evaluate(skipped, "echo", root=tmp_path, fail_under=0.0).ok
    shards = [(number, 2) for number in (1, 2)]
    for shard in shards:
        done = evalcase.evaluate(skipped, "echo", root=tmp_path, fail_under=0.5, shard=shard)
        assert done.ok, "a shard may have got nothing"


@pytest.mark.parametrize(
    "options",
    [
        {"against": "latest"},
        {"stop": "certain"},
        {"stop": "likely", "against": "latest", "fail_under": 0.5},
        {"stop": "likely", "fail_under": 0.5, "fail_fast": True},
    ],
)
def test_how_a_run_stops_is_refused_in_the_words_of_a_program(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(evalcase.ConfigError) as caught:
        evalcase.evaluate(evalcase.Case(input="a"), "echo", root=tmp_path, **options)
    assert "`stop" in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_case_may_be_asked_of_one_of_its_targets_only(folder: Path) -> None:
    suite(folder, *[{**case(id, "one"), "targets": ["echo", "python:o:f"]} for id in "ab"])
    (folder / "o.py").write_text("def f(question):\n    return question\n")
    some = [("s.eval.yaml", "a", "echo"), ("./s.eval.yaml", "b", "python:o:f")]
    done = evalcase.evaluate(".", cases=some)
    assert [(each.case, each.target) for each in done.cases] == [("a", "echo"), ("b", "python:o:f")]
    both = evalcase.evaluate(".", cases=[*some, ("s.eval.yaml", "b")])
    assert [(each.case, each.target) for each in both.cases] == [
        ("a", "echo"), ("b", "echo"), ("b", "python:o:f"),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="there is no case `a` at `other`"):
        evalcase.evaluate(".", cases=[("s.eval.yaml", "a", "other")])


@pytest.mark.parametrize("several", [list, tuple, iter], ids=["list", "tuple", "iterator"])
@pytest.mark.parametrize("name", ["cases", "tags", "target"])
def test_an_empty_selection_is_an_error_and_never_all(
    folder: Path, evaluate: Evaluate, name: str, several: Callable[[Any], Any]
) -> None:
    given: dict[str, Any] = {"target": "echo", name: several(())}
    with pytest.raises(ConfigError, match=f"`{name}` is (an )?empty"):
        evaluate("s.eval.yaml", **given)
    assert not (folder / ".evalcase").exists()


def test_nothing_to_evaluate_is_an_error(evaluate: Evaluate) -> None:
    with pytest.raises(ConfigError, match="was given an empty list"):
        evaluate([], "echo")


def test_what_is_printed_of_a_run_is_a_line(folder: Path, evaluate: Evaluate) -> None:
    done = evaluate("s.eval.yaml", lambda text: "ok" if text == "one" else "no")
    assert done.path.startswith(str(folder))
    said = f"completed: 1 passed, 1 failed; pass rate 50.0%; record {done.path}"
    assert (str(done), repr(done)) == (said, f"<Evaluated {said}>")
    stopped = evaluate("s.eval.yaml", "echo", fail_fast=True, concurrency=1)
    assert str(stopped) == (
        "stopped: 1 failed; pass rate 0.0%; 1 not run; --fail-fast: a did not pass; "
        f"record {stopped.path}"
    )


def test_cases_and_results_of_a_run_can_be_indexed_and_gone_through_again(folder: Path) -> None:
    suite(folder, case("a", repeat=3), case("b", skip="later"), case("c"), case("d", "no"))
    done = evalcase.evaluate("s.eval.yaml", lambda text: "ok" if text == "say ok" else "no")
    cases, results = done.cases, done.results
    assert [each.case for each in cases] == [each.case for each in cases] == ["a", "b", "c", "d"]
    assert (len(cases), len(results)) == (len(list(cases)), len(list(results))) == (4, 6)
    assert (cases[0].case, cases[-1].case, cases[3].verdict) == ("a", "d", "failed")
    assert [each.case for each in cases[1:3]] == ["b", "c"]
    assert [each.case for each in reversed(cases)] == ["d", "c", "b", "a"]
    assert (results[0].key.case, results[-1].key.case) == ("a", "d")
    assert cases[2] in cases
    for at in (4, -5):
        with pytest.raises(IndexError, match=f"there are 4 cases, and none at {at}"):
            cases[at]
    assert repr(results) == "<6 results of a record>"
    one = evalcase.evaluate("s.eval.yaml", "echo", cases="c").cases
    assert repr(one) == "<1 case of a record>"
    with pytest.raises(IndexError, match="there is 1 case, and none at 1"):
        one[1]


def test_a_root_is_taken_as_it_is(folder: Path, evaluate: Evaluate) -> None:
    (folder / "evalcase.toml").write_text('target = "nobody"\n')
    (folder / "sub").mkdir()
    done = evaluate("s.eval.yaml", "echo", root=Path("sub"))
    assert Path(done.path).parent == folder / "sub" / ".evalcase" / "runs"
    assert not (folder / ".evalcase").exists()
    (folder / "sub" / "evalcase.toml").write_text('target = "echo"\n')
    assert {result.key.target for result in evaluate("s.eval.yaml", root="sub").results} == {"echo"}


def test_a_root_that_is_no_folder_is_refused(folder: Path, evaluate: Evaluate) -> None:
    for root, what in (("gone", "gone is not there"), ("s.eval.yaml", "s.eval.yaml is a file")):
        with pytest.raises(ConfigError, match=f"`root` is the folder of a project, and {what}"):
            evaluate("s.eval.yaml", "echo", root=root)
    assert not (folder / "gone").exists()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "cases", [[("s.eval.yaml",)], [()], [3], [None], [("s.eval.yaml", 3)], 3, None, [["a"] * 4]]
)
def test_what_names_no_case_is_an_error_that_shows_the_forms(cases: Any) -> None:
    with pytest.raises(TypeError, match=r"pairs of suite and id, `\(\"a.eval.yaml\", \"sum\"\)`"):
        evalcase.evaluate(".", "echo", cases=cases)
    with pytest.raises(TypeError, match="`tags` takes texts"):
        evalcase.evaluate(".", "echo", tags=[3])  # type: ignore[list-item]


@pytest.mark.usefixtures("folder")
def test_graders_may_be_said_as_in_a_file() -> None:
    def agent(question: str) -> str:
        return f"ok, {question}"

    cases = [evalcase.Case(id=id, input=id) for id in ("one", "two")]
    done = evalcase.evaluate(
        cases,
        agent,
        graders=["python:evalcase.testing:passes", {"contains": "one"}, {"length": {"max": 99}}],
    )
    assert [each.verdict for each in done.cases] == ["passed", "failed"]
    (failed,) = [result for result in done.results if result.verdict == "failed"]
    assert [grade.grader for grade in failed.grades] == [
        "python:evalcase.testing:passes", "contains", "length",
    ]  # fmt: skip
    with pytest.raises(SuiteError, match="containz"):
        evalcase.evaluate(cases, agent, graders=[{"length": {"containz": 1}}])
    with pytest.raises(ConfigError, match="did you mean `contains`"):
        evalcase.evaluate(cases, agent, graders=["containz"])
    with pytest.raises(ConfigError, match="would run code"):
        evalcase.evaluate(cases, agent, graders=["python:o:f"], no_exec=True)


def test_details_of_one_case_are_those_of_no_other(evaluate: Evaluate) -> None:
    """Whoever is shown a result may write into it, and no other result has it then."""
    cases = [
        evalcase.Case(id=f"c{number}", input="hi", expected_output="hi") for number in range(9)
    ]

    def write_down(result: evalcase.Result) -> None:
        result.grades[0].details[result.key.case] = 1

    for _ in range(2):
        done = evaluate(cases, lambda text: text, on_result=write_down)
        assert [result.grades[0].details for result in done.results] == [{}] * 9


class Holding(evalcase.Grader):
    """Holds something until it is closed, which may go wrong."""

    kind = evalcase.GraderKind("holding", "Always.")

    def __init__(self, error: Exception | None) -> None:
        self.error = error
        self.closed = 0

    def grade(self, context: evalcase.Context) -> evalcase.Score:
        del context
        return evalcase.Score(1.0)

    async def close(self) -> None:
        self.closed += 1
        if self.error is not None:
            raise self.error


@pytest.mark.usefixtures("folder")
def test_every_grader_is_closed_whatever_another_raises() -> None:
    graders = [Holding(OSError("it is stuck")), Holding(None)]
    warned: list[str] = []
    done = evalcase.evaluate(".", "echo", graders=graders, on_warning=warned.append)
    assert done.complete
    assert [each.closed for each in graders] == [1, 1]
    assert warned == ["tear-down of the graders failed: OSError('it is stuck')"]
