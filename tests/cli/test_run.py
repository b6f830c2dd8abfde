from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.run.project import (
    CONFIG,
    Gate,
    Project,
    await_notice,
    case,
    cases,
    finish,
    ids,
    interrupt,
)


def test_every_verdict_is_counted_and_said(project: Project) -> None:
    project.suite(
        case("good"),
        case("bad", "say no"),
        case("broken", "raise oh"),
        {"id": "unchecked", "input": "say ok"},
        case("later", skip="not today"),
    )
    done = project.run("run", "--json")
    assert done.code == 3
    data = done.json
    assert data["total"] == 5
    for word in ("passed", "failed", "errored", "ungraded", "skipped"):
        assert data[word] == 1
    assert data["status"] == "completed"
    assert data["pass_rate"] == 0.25
    assert data["cost_usd"] is None
    assert data["duration_s"] > 0
    assert Path(data["path"]).name == data["run"]
    assert project.verdicts(data["path"]) == {
        "good": "passed", "bad": "failed", "broken": "errored", "unchecked": "ungraded",
        "later": "skipped",
    }  # fmt: skip
    assert sorted(project.calls()) == ["bad", "broken", "good", "unchecked"]


@pytest.mark.parametrize(
    ("texts", "options", "code"),
    [
        (["say ok"], [], 0),
        (["say no"], [], 1),
        (["raise x"], [], 3),
        (["say no", "raise x"], [], 3),
        (["say no", "raise x"], ["--max-errors", "1"], 1),
        (["say ok", "raise x"], ["--max-errors", "1"], 0),
        (["raise x", "raise y"], ["--max-errors", "1"], 3),
        (["say ok", "say no"], ["--fail-under", "0.5"], 0),
        (["say ok", "say no"], ["--fail-under", "0.51"], 1),
        (["say ok", "raise x"], ["--fail-under", "0.1"], 3),
    ],
)
def test_exit_code(project: Project, texts: list[str], options: list[str], code: int) -> None:
    project.suite(*(case(f"c{number}", text) for number, text in enumerate(texts)))
    assert project.run("run", "--quiet", *options).code == code


def test_an_ungraded_case_is_not_passed(project: Project) -> None:
    project.suite(case("good"), {"id": "unchecked", "input": "say ok"})
    assert project.run("run", "--quiet").code == 1


def test_skipped_cases_only_is_all_well(project: Project) -> None:
    project.suite(case("off", skip=True))
    done = project.run("run", "--json")
    assert (done.code, done.counts(), done.json["pass_rate"]) == (0, {"skipped": 1}, None)
    assert project.calls() == []


def test_an_invalid_case_anywhere_means_that_nothing_runs(project: Project) -> None:
    project.suite(*cases(3), name="good")
    project.suite(case("typo", expcted_output="ok"), name="zz")
    done = project.run("run")
    assert done.code == 2
    assert "expcted_output" in done.err
    assert "nothing was run" in done.err
    assert project.calls() == []
    assert project.runs() == []


def test_an_invalid_last_line_of_jsonl_means_that_nothing_runs(project: Project) -> None:
    lines = [json.dumps(each) for each in cases(5)]
    (project.path / "s.eval.jsonl").write_text("\n".join([*lines, '{"id": "x"}']))
    assert project.run("run").code == 2
    assert project.calls() == []


@pytest.mark.parametrize(
    ("config", "arguments", "said"),
    [
        (CONFIG, ["--target", "agnt"], "agnt"),
        (CONFIG, ["--target", "nokind:x"], "nokind"),
        (CONFIG, ["--target", "pyhton:agent:answer"], "did you mean `python`"),
        (CONFIG, ["--target", "python:nowhere:answer"], "nowhere"),
        (CONFIG, ["--target", "python:agent:nothing"], "nothing"),
        ("", [], "names no target"),
        ("concurrency = 'ten'", [], "`concurrency` is a whole number of 1 or more, not 'ten'"),
        ("concurrency = true", [], "`concurrency` is a whole number of 1 or more, not true"),
        ("concurrency = 0", [], "`concurrency` is a whole number of 1 or more, not 0"),
        ("concurency = 3", [], "did you mean `concurrency`?"),
        ("[targets.a]\nfunction = 'agent:answer'", ["--target", "a"], "needs `kind`"),
        ("[targets.a]\nkind = 'python'", ["--target", "a"], "function"),
        ("[targets.a]\nkind = 'echo'\nnoise = 1", ["--target", "a"], "noise"),
        ("target = ", [], "evalcase.toml"),
        (CONFIG, ["--case", "on"], "no case has an id like `on` (the nearest is `one`)"),
        (CONFIG, ["--case", "one", "--case", "tow"], "no case has an id like `tow`"),
        (CONFIG, ["--tag", "a", "--tag", "aa"], "no case has the tag `aa` (the nearest is `a`)"),
        (CONFIG, ["--case", "one", "--tag", "b"], "no case is left to run"),
        (CONFIG, ["--shard", "3/2"], "shard"),
        (CONFIG, ["--shard", "auto"], "this is no task of an array"),
        (CONFIG, ["--shard", "auto/0"], "write it as auto, or as auto/5 for five parts"),
        (CONFIG, ["--repeat", "0"], "repeat"),
        (CONFIG, ["--concurrency", "x"], "concurrency"),
        (CONFIG, ["--nonsense"], "nonsense"),
    ],
)
def test_wrong_usage_exits_2_before_anything_runs(
    project: Project, config: str, arguments: list[str], said: str
) -> None:
    project.suite(case("one", tags=["a"]), case("two", tags=["b"]))
    project.configure(config)
    done = project.run("run", *arguments)
    assert (done.code, project.calls()) == (2, []), done
    assert said in done.err


def test_all_that_is_wrong_is_told_at_once_with_its_places(project: Project) -> None:
    project.configure("concurency = 3\n[targets.a]\nkind = 'ecco'\n")
    project.suite(
        case("one", target="a", graders=["cotains"]), case("two", target="nosuch"), name="x"
    )
    done = project.run("run")
    assert (done.code, project.calls()) == (2, [])
    for said in (
        "evalcase.toml:1:1: error[unknown-option]",
        "evalcase.toml:3:8: error[unknown-target]",
        "did you mean `echo`?",
        "error[unknown-grader]: there is no grader `cotains`",
        "error[unknown-target]: there is no target `nosuch`",
        "nothing was run",
    ):
        assert said in done.err, said
    assert done.err.count("\n\n") == done.err.count("error[")


def test_criteria_without_a_judge_refuse_a_run(project: Project) -> None:
    project.suite({"id": "one", "input": "hi", "criteria": "Is kind."})
    done = project.run("run")
    assert (done.code, project.calls()) == (2, [])
    assert "error[no-judge]: `criteria` is graded by a judge, and none is configured" in done.err
    assert project.run("check").code == 0


def test_a_grader_that_is_not_there_exits_2_before_anything_runs(project: Project) -> None:
    project.suite(case("one"), case("two", graders=["cotains"]))
    done = project.run("run")
    assert (done.code, project.calls()) == (2, []), done
    assert "cotains" in done.err


def test_a_python_grader_decides(project: Project) -> None:
    grader = "python:agent:slow_grader"
    project.suite(
        {"id": "yes", "input": "say ok", "graders": [grader]},
        {"id": "no", "input": "say no", "graders": [grader]},
    )
    done = project.run("run", "--json")
    assert (done.code, done.counts()) == (1, {"passed": 1, "failed": 1})


def test_targets_by_precedence(project: Project) -> None:
    project.configure(CONFIG + "\n[targets.third]\nkind = 'echo'\n")
    project.suite(case("default"), name="a")
    project.suite(case("suites"), case("own", target="third"), name="b", target="other")
    done = project.run("run", "--json")
    assert done.json["total"] == 3
    assert project.calls() == ["default"]
    assert project.calls("others") == ["suites"]
    assert project.run("run", "--json", "--target", "other").json["passed"] == 3
    assert project.calls() == ["default"]
    assert sorted(project.calls("others")) == ["default", "own", "suites", "suites"]


def test_two_targets_make_two_trials_of_each_case(project: Project) -> None:
    project.suite(*cases(3))
    done = project.run("run", "--json", "--target", "other", "--target", "python:agent:answer")
    assert done.json["passed"] == 6
    assert sorted(project.calls()) == sorted(project.calls("others")) == ["c0", "c1", "c2"]


def test_repeat(project: Project) -> None:
    project.suite(case("twice", repeat=2), case("once"), case("off", skip=True, repeat=5))
    done = project.run("run", "--json")
    assert (done.counts(), done.trials()) == (
        {"passed": 2, "skipped": 1}, {"passed": 3, "skipped": 1}
    )  # fmt: skip
    project.forget_calls()
    done = project.run("run", "--json", "--repeat", "3")
    assert (done.counts(), done.trials()) == (
        {"passed": 2, "skipped": 1}, {"passed": 6, "skipped": 1}
    )  # fmt: skip
    assert sorted(project.calls()) == ["once"] * 3 + ["twice"] * 3


def test_filters(project: Project) -> None:
    project.suite(
        case("math-1", tags=["easy"]), case("math-2", tags=["hard"]), case("art-1", tags=["easy"])
    )
    for arguments, expected in (
        (["--case", "math-*"], ["math-1", "math-2"]),
        (["--case", "art-1", "--case", "*-2"], ["art-1", "math-2"]),
        (["--tag", "easy"], ["art-1", "math-1"]),
        (["--tag", "easy", "--case", "math-*"], ["math-1"]),
        (["--limit", "2"], ["math-1", "math-2"]),
    ):
        project.forget_calls()
        assert project.run("run", "--quiet", *arguments).code == 0
        assert sorted(project.calls()) == expected


def test_shards_are_disjoint_and_complete_and_even_from_wherever_they_are_run(
    project: Project,
) -> None:
    (project.path / "below").mkdir()
    path = project.suite(*cases(20))
    where = ["s.eval.yaml", str(path), "."]
    for number, place in enumerate(where, 1):
        project.run("run", "--quiet", place, "--shard", f"{number}/4")
        assert len(project.calls()) == 5 * number
    project.run("run", "--quiet", "../s.eval.yaml", "--shard", "4/4", below="below")
    assert sorted(project.calls()) == sorted(ids(cases(20)))


def test_tasks_of_an_array_run_every_case_once(project: Project) -> None:
    project.suite(*cases(10))
    for index in ("0", "1", "2"):
        task = {"JOB_COMPLETION_INDEX": index}
        done = project.run("run", "--quiet", "--runs-dir", "tasks", "--shard", "auto/3", env=task)
        assert done.code == 0, done
    assert sorted(project.calls()) == sorted(ids(cases(10)))
    merged = project.run("merge", "tasks", "--json")
    assert (merged.code, merged.json["passed"]) == (0, 10)


def test_an_empty_shard_is_a_complete_run(project: Project) -> None:
    project.suite(*cases(2))
    shards = [f"{number}/4" for number in range(1, 5)]
    done = [project.run("run", "--json", "--fail-under", "1", "--shard", each) for each in shards]
    assert [each.code for each in done] == [0] * 4
    assert sorted(each.json["total"] for each in done) == [0, 0, 1, 1]
    assert {each.json["status"] for each in done} == {"completed"}
    assert sorted(project.calls()) == ["c0", "c1"]
    assert project.run("resume", "--quiet").code == 0


def test_shards_of_a_file_that_is_read_as_a_stream(project: Project) -> None:
    blank = "x" * 20_000
    lines = [json.dumps(case(f"c{number}", metadata={"x": blank})) for number in range(220)]
    (project.path / "big.jsonl").write_text("\n".join(lines))
    for number in (1, 2, 3):
        done = project.run("run", "big.jsonl", "--json", "--shard", f"{number}/3")
        assert done.json["passed"] in (73, 74)
    assert sorted(project.calls()) == sorted(f"c{number}" for number in range(220))


def test_a_sample_depends_on_the_seed_only(project: Project) -> None:
    project.suite(*cases(40))
    drawn = []
    for seed in ("1", "1", "2"):
        project.forget_calls()
        project.run("run", "--quiet", "--sample", "8", "--seed", seed)
        drawn.append(sorted(project.calls()))
    assert len(drawn[0]) == 8
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_function_that_hangs_is_given_up(project: Project) -> None:
    project.suite(case("stuck", "hang"))
    done = project.run_process("run", "--json", "--timeout", "0.3")
    assert (done.code, done.counts(), project.calls()) == (3, {"errored": 1}, ["stuck"])
    journal = Path(done.json["path"]) / "journal.jsonl"
    assert '"timeout"' in journal.read_text()


def test_time_outs_are_tried_again_only_if_asked(project: Project) -> None:
    project.suite(case("stuck", "hang"))
    project.run("run", "--quiet", "--timeout", "0.1", "--retries", "1", "--retry-timeouts")
    assert project.calls() == ["stuck"] * 2


def test_the_time_limit_of_a_case_wins(project: Project) -> None:
    project.suite(case("stuck", "hang", timeout_s=0.2))
    assert project.run("run", "--quiet").code == 3


@pytest.mark.parametrize(
    ("text", "retries", "calls", "code"),
    [
        ("later 2", "2", 3, 0),
        ("later 2", "1", 2, 3),
        ("later 1", "0", 1, 3),
        ("never", "5", 1, 3),
        ("raise x", "5", 1, 3),
        ("exit 4", "5", 1, 3),
    ],
)
def test_only_what_may_succeed_later_is_tried_again(
    project: Project, text: str, retries: str, calls: int, code: int
) -> None:
    project.suite(case("one", text))
    assert project.run("run", "--quiet", "--retries", retries).code == code
    assert project.calls() == ["one"] * calls


def test_a_crash_in_one_trial_touches_no_other(project: Project) -> None:
    project.suite(*cases(5), case("exit", "exit now"), case("raise", "raise x"))
    done = project.run("run", "--json")
    assert (done.code, done.counts()) == (3, {"passed": 5, "errored": 2})


def test_cost_adds_up_and_the_cap_stops(project: Project) -> None:
    project.suite(*cases(10, "cost 0.25"))
    done = project.run("run", "--json")
    assert (done.code, done.json["cost_usd"]) == (0, 2.5)
    project.forget_calls()
    done = project.run("run", "--json", "--max-cost", "0.7", "--concurrency", "1")
    assert (done.code, done.json["status"], done.json["cost_usd"]) == (3, "stopped", 0.75)
    assert len(project.calls()) == 3


def test_fail_fast(project: Project) -> None:
    project.suite(case("a"), case("b", "say no"), *cases(5))
    done = project.run("run", "--fail-fast", "--concurrency", "1")
    assert done.code == 1
    assert project.calls() == ["a", "b"]
    assert f"evalcase report {project.runs()[0].name} --case b\n" in done.out


def test_fail_fast_tells_an_error_from_a_failure(project: Project) -> None:
    project.suite(case("a", "raise no"), *cases(5))
    assert project.run("run", "--fail-fast", "--concurrency", "1").code == 3


def test_an_env_file_gives_what_is_not_set(project: Project) -> None:
    (project.path / "keys.env").write_text("WORD=ok\nOTHER=file\n")
    project.suite(case("a", "env WORD"), case("b", "env OTHER"))
    done = project.run("run", "--env-file", "keys.env", "--json", env={"OTHER": "ok"})
    assert done.counts() == {"passed": 2}


def test_no_env_file_is_read_unless_it_is_named(project: Project) -> None:
    (project.path / ".env").write_text("WORD=ok\n")
    project.suite(case("a", "env WORD"))
    assert project.run("run", "--json").counts() == {"errored": 1}


def test_a_faulty_env_file_is_named_with_its_line_and_nothing_is_run(project: Project) -> None:
    (project.path / "keys.env").write_text("WORD=ok\nsesame\n")
    project.suite(case("a"))
    done = project.run("run", "--env-file", "keys.env")
    assert done.code == 2
    assert "keys.env:2: this is not NAME=value" in done.err
    assert "sesame" not in done.err
    assert project.runs() == []


def test_a_run_is_resumed_with_its_env_file_or_another(project: Project) -> None:
    (project.path / "keys.env").write_text("OTHER=no\n")
    (project.path / "others.env").write_text("WORD=ok\n")
    project.suite(case("a", "env WORD"))
    (project.path / "below").mkdir()
    done = project.run("run", "..", "--env-file", "../keys.env", "--json", below="below")
    assert done.counts() == {"errored": 1}
    run = project.runs()[0].name
    assert project.run("resume", run, "--retry-errored", "--json").counts() == {"errored": 1}
    again = ("resume", run, "--retry-errored", "--env-file", "others.env", "--json")
    assert project.run(*again).counts() == {"passed": 1}


@pytest.mark.parametrize(
    "target", ["http:http://127.0.0.1:9/answer", "openai:m@http://127.0.0.1:9/v1", "http:x"]
)
def test_a_suite_may_not_name_an_address(project: Project, target: str) -> None:
    project.suite(case("a", target=target))
    done = project.run("run")
    assert done.code == 2
    assert "carries an address" in done.err
    assert project.runs() == []


def test_a_target_of_any_kind_may_have_a_bound_of_its_own(project: Project, gate: Gate) -> None:
    project.configure(
        'target = "agent"\n[targets.agent]\nkind = "python"\nfunction = "agent:answer"\n'
        "concurrency = 2\n"
    )
    project.suite(*cases(4))
    process = project.start("run", env={"GATED": "1"})
    gate.await_calls(2)
    gate.let_go(2)
    gate.await_calls(4)
    assert len(project.calls()) == 4
    gate.let_go(2)
    assert finish(process).code == 0


@pytest.mark.parametrize("value", ["0", "true", '"2"', "1.5"])
def test_a_bound_that_is_none(project: Project, value: str) -> None:
    project.configure(
        'target = "agent"\n[targets.agent]\nkind = "python"\nfunction = "agent:answer"\n'
        f"concurrency = {value}\n"
    )
    project.suite(case("a"))
    done = project.run("run")
    assert (done.code, "`concurrency` is a whole number" in done.err) == (2, True)


def test_a_dry_run_names_the_cases_and_is_json_where_asked(project: Project) -> None:
    project.suite(case("a", repeat=3), case("b", skip=True))
    done = project.run("run", "--dry-run")
    assert done.out == "agent: 4 trials\n  s.eval.yaml: a\n  s.eval.yaml: b (skipped)\n"
    done = project.run("run", "--dry-run", "--json")
    assert json.loads(done.out) == {"trials": 4, "targets": {"agent": 4}}
    assert project.runs() == []


@pytest.mark.parametrize("how", ["--quiet", "--json"])
def test_warnings_are_told_also_when_nobody_watches(project: Project, how: str) -> None:
    project.add_to_agent("def blind(question):\n    return 'ok'\n")
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    project.suite({"id": "a", "input": messages, "expected_output": "ok"})
    done = project.run("run", how, "--target", "python:agent:blind")
    assert "sees the last user message only" in done.err
    assert "sees" not in done.out


def test_a_dry_run_calls_nothing_and_keeps_nothing(project: Project) -> None:
    project.suite(*cases(3), case("own", target="other", repeat=2))
    done = project.run("run", "--dry-run")
    assert done.code == 0
    assert "agent: 3 trials" in done.out
    assert "other: 2 trials" in done.out
    assert (project.calls(), project.runs()) == ([], [])


def test_no_exec_refuses_code(project: Project) -> None:
    project.suite(case("one"))
    done = project.run("run", "--no-exec")
    assert (done.code, project.calls()) == (2, [])
    assert "--no-exec" in done.err
    assert project.run("run", "--no-exec", "--target", "echo").code == 1


def test_a_log_of_both_streams_shows_a_failure_once(project: Project) -> None:
    project.suite(case("a", "say no"), case("b"))
    done = project.run_process("run")
    assert (done.out + done.err).count("failed s.eval.yaml: a") == 1
    assert "failed a" not in done.err


def test_quiet_says_only_how_it_ended(project: Project) -> None:
    project.suite(case("good"), case("bad", "say no"))
    done = project.run("run", "--quiet")
    assert done.err == ""
    assert "1 passed, 1 failed" in done.out
    assert len(done.out.splitlines()) == 2


def test_a_failure_is_shown_with_what_was_expected_and_what_came(project: Project) -> None:
    project.suite(case("bad", "say no"), case("broken", "raise out of ink"))
    done = project.run("run")
    for piece in ("bad", "ok", "no", "broken", "out of ink", "record ", "1 failed, 1 errored"):
        assert piece in done.out
    assert "errored" in done.err


def test_the_folder_for_records(project: Project, tmp_path: Path) -> None:
    project.suite(case("one"))
    done = project.run("run", "--json", "--runs-dir", "kept")
    assert (tmp_path / "kept" / done.json["run"] / "run.json").is_file()
    assert project.runs() == []


def test_a_folder_that_can_not_be_written_exits_3(project: Project, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    project.suite(case("one"))
    done = project.run("run", "--runs-dir", "file/runs")
    assert (done.code, project.calls()) == (3, [])


def test_secrets_reach_neither_record_nor_terminal(project: Project) -> None:
    project.configure('secrets = ["TOKEN"]\n' + CONFIG)
    project.suite(
        {"id": "leaks", "input": "env TOKEN", "expected_output": "x"},
        case("raises", "raise sesame-open-12345"),
    )
    done = project.run("run", env={"TOKEN": "sesame-open-12345"})
    assert project.calls().count("leaks") == 1
    for path in project.runs()[0].iterdir():
        assert b"sesame-open" not in path.read_bytes()
    assert "***TOKEN***" in (project.runs()[0] / "journal.jsonl").read_text()
    assert "sesame-open" not in done.out


def test_two_runs_at_once_in_one_folder(project: Project, gate: Gate) -> None:
    project.suite(*cases(4))
    both = [project.start("run", "--json", env={"GATED": "1"}) for _ in range(2)]
    gate.await_calls(8)
    gate.let_go(8)
    done = [finish(process) for process in both]
    assert [each.code for each in done] == [0, 0]
    assert [each.counts() for each in done] == [{"passed": 4}] * 2
    assert done[0].json["run"] != done[1].json["run"]


def test_cases_in_jsonl_are_streamed(project: Project) -> None:
    lines = [json.dumps(each) for each in cases(300)]
    (project.path / "big.eval.jsonl").write_text("\n".join(lines) + "\n")
    done = project.run("run", "--json")
    assert (done.code, done.counts()) == (0, {"passed": 300})
    assert sorted(project.calls()) == sorted(ids(cases(300)))


def test_no_more_trials_at_once_than_asked(project: Project, gate: Gate) -> None:
    project.suite(*cases(6))
    process = project.start("run", "--json", "--concurrency", "2", env={"GATED": "1"})
    for called in range(2, 7):
        assert len(gate.await_calls(called)) == called
        gate.let_go()
    gate.let_go()
    assert finish(process).counts() == {"passed": 6}


def test_set_up_and_tear_down_once_per_run(project: Project) -> None:
    project.suite(*cases(4))
    done = project.run("run", "--json", "--target", "python:agent:Counted")
    assert done.counts() == {"passed": 4}
    assert project.calls("life") == ["open", "close"]


def test_ctrl_c_lets_finish_what_is_running(project: Project, gate: Gate) -> None:
    project.suite(*cases(6))
    process = project.start("run", "--concurrency", "2", env={"GATED": "1"})
    under_way = list(gate.await_calls(2))
    interrupt(process)
    await_notice(process, "finishing what is running")
    gate.let_go(2)
    done = finish(process)
    assert done.code == 130
    assert sorted(project.calls()) == sorted(under_way)
    assert sorted(project.verdicts()) == sorted(under_way)
    assert "evalcase resume" in done.out
    project.forget_calls()
    resumed = project.run("resume", "--json")
    assert (resumed.code, resumed.counts()) == (0, {"passed": 6})
    assert sorted(project.calls() + under_way) == sorted(ids(cases(6)))


def test_ctrl_c_twice_stops_at_once(project: Project, gate: Gate) -> None:
    project.suite(*cases(6))
    process = project.start("run", "--concurrency", "2", env={"GATED": "1"})
    gate.await_calls(2)
    interrupt(process)
    await_notice(process, "Ctrl-C")
    interrupt(process)
    done = finish(process)
    assert done.code == 130
    assert project.verdicts() == {}
    project.forget_calls()
    resumed = project.run("resume", "--json")
    assert (resumed.code, resumed.counts()) == (0, {"passed": 6})
    assert sorted(project.calls()) == sorted(ids(cases(6)))


def test_interrupted_beats_errored(project: Project, gate: Gate) -> None:
    project.suite(case("a", "raise x"), case("b"), case("c"))
    process = project.start("run", "--concurrency", "1", env={"GATED": "1"})
    gate.await_calls(1)
    interrupt(process)
    await_notice(process, "Ctrl-C")
    gate.let_go()
    assert finish(process).code == 130


def test_a_share_of_the_trials_may_be_enough(project: Project) -> None:
    project.add_to_agent(
        """

def second_time_right(question: Question):
    note("calls", question.case)
    return "no" if calls_of(question.case) == 1 else "ok"
"""
    )
    target = ("--target", "python:agent:second_time_right", "--concurrency", "1")
    for rate, code in ((0.75, 0), (0.8, 1)):
        project.forget_calls()
        project.suite(case("a", repeat={"times": 4, "pass_rate": rate}))
        done = project.run("run", "--json", *target)
        assert done.trials() == {"passed": 3, "failed": 1}
        assert (done.code, done.counts()) == (code, {"failed" if code else "passed": 1})


def test_an_agent_that_cancels_itself_is_an_errored_trial(project: Project) -> None:
    project.suite(case("odd", "cancel"), *cases(3))
    done = project.run("run", "--json", "--target", "python:agent:cancelling")
    assert (done.code, done.counts()) == (3, {"passed": 3, "errored": 1})


def test_a_file_named_twice_is_run_once(project: Project) -> None:
    project.suite(case("one"))
    done = project.run("run", "--json", "s.eval.yaml", "./s.eval.yaml", ".")
    assert (done.counts(), project.calls()) == ({"passed": 1}, ["one"])


def test_ctrl_c_while_a_target_is_set_up_leaves_no_run(project: Project, gate: Gate) -> None:
    project.add_to_agent(
        """

class Slow:
    async def open(self):
        with open(HERE / "started", "wb", buffering=0) as started:
            started.write(b"open\\n")
        await asyncio.Event().wait()

    def answer(self, question: Question):
        return answer(question)
"""
    )
    project.suite(case("one"))
    process = project.start("run", "--target", "python:agent:Slow")
    gate.await_calls(1)
    interrupt(process)
    assert finish(process).code == 130
    assert (project.calls(), project.runs()) == ([], [])


def test_a_python_grader_is_code_too(project: Project) -> None:
    project.suite({"id": "a", "input": "ok", "graders": ["python:agent:slow_grader"]})
    done = project.run("run", "--no-exec", "--target", "echo")
    assert (done.code, "--no-exec" in done.err) == (2, True)


def test_no_suite_at_all(project: Project) -> None:
    assert project.run("run").code == 2
    assert project.run("run", "nowhere.eval.yaml").code == 2


def test_secrets_are_not_shown_while_it_runs(project: Project) -> None:
    project.configure('secrets = ["TOKEN"]\n' + CONFIG)
    project.suite(case("raises", "raise sesame-open-12345"))
    done = project.run("run", env={"TOKEN": "sesame-open-12345"})
    assert "***TOKEN***" in done.err
    assert "sesame-open" not in done.err + done.out


@pytest.mark.parametrize("option", ["--timeout", "--max-cost", "--fail-under"])
def test_nan_is_no_number(project: Project, option: str) -> None:
    project.suite(case("one"))
    assert (project.run("run", option, "nan").code, project.calls()) == (2, [])


@pytest.mark.parametrize("option", ["root", "warn"])
def test_an_option_of_a_target_that_is_not_one(project: Project, option: str) -> None:
    project.configure(f"{CONFIG}\n[targets.odd]\nkind = 'echo'\n{option} = 'x'\n")
    project.suite(case("one"))
    done = project.run("run", "--target", "odd")
    assert (done.code, option in done.err) == (2, True)


def test_a_target_named_twice_is_run_once(project: Project) -> None:
    project.suite(*cases(2))
    twice = ("--target", "other", "--target", "other")
    assert "other: 2 trials" in project.run("run", "--dry-run", *twice).out
    assert project.run("run", "--json", *twice).counts() == {"passed": 2}


def test_ctrl_c_after_fail_fast_lets_finish_what_is_running(project: Project, gate: Gate) -> None:
    project.suite(case("a", "say no"), case("b", "gate"), *cases(3))
    process = project.start("run", "--fail-fast", "--concurrency", "2", out=subprocess.DEVNULL)
    await_notice(process, "failed a")
    gate.await_calls(1)
    interrupt(process)
    await_notice(process, "Ctrl-C")
    gate.let_go()
    assert finish(process).code == 130
    assert project.verdicts() == {"a": "failed", "b": "passed"}


# Every look at the clock finds it ten seconds on, and is told.
BLOCKING = """
from itertools import count
from evalcase.cli import running

seconds = count(0, 10)

def clock():
    os.write(2, b"what time is it?\\n")
    return next(seconds)

async def blocking(question):
    running.monotonic = clock
    print("blocked", flush=True)
    threading.Event().wait()
"""


def test_ctrl_c_reaches_a_run_whose_event_loop_is_blocked(project: Project) -> None:
    project.add_to_agent(BLOCKING)
    project.suite(*cases(3))
    process = project.start("run", "--target", "python:agent:blocking", "--concurrency", "1")
    await_notice(process, "blocked")
    interrupt(process)
    await_notice(process, "what time is it?")
    interrupt(process)
    assert finish(process).code == 130
    assert project.verdicts() == {}, "it has no result, and is run again"
    assert project.run("resume", "--json", "--no-exec").code == 2


def test_what_an_agent_prints_is_not_in_the_way_of_json(project: Project) -> None:
    project.add_to_agent(
        """
def loud(question: Question):
    print("hello")
    return "ok"
"""
    )
    project.suite(case("one"))
    done = project.run("run", "--json", "--target", "python:agent:loud")
    assert done.counts() == {"passed": 1}


def test_an_async_agent_that_interrupts_is_an_errored_trial(project: Project) -> None:
    project.add_to_agent(
        """
async def odd(question: Question):
    if question.case == "odd":
        raise KeyboardInterrupt
    return "ok"
"""
    )
    project.suite(case("odd"), *cases(3))
    done = project.run("run", "--json", "--target", "python:agent:odd")
    assert (done.code, done.counts()) == (3, {"passed": 3, "errored": 1})


def test_more_concurrency_than_trials_costs_nothing(project: Project) -> None:
    project.add_to_agent(
        """
async def crowded(question):
    note("tasks", str(len(asyncio.all_tasks())))
    return "ok"
"""
    )
    project.suite(*cases(2))
    target = ("--target", "python:agent:crowded")
    done = project.run("run", "--json", "--concurrency", "1000000", *target)
    assert done.counts() == {"passed": 2}
    assert all(int(tasks) < 20 for tasks in project.calls("tasks"))


def test_fail_fast_waits_until_a_case_can_pass_no_more(project: Project) -> None:
    enough = {"times": 4, "pass_rate": 0.5}
    project.suite(case("a", "once", repeat=enough), case("b", "say no", repeat=enough), *cases(3))
    done = project.run("run", "--fail-fast", "--max-errors", "1", "--concurrency", "1", "--json")
    assert (done.code, done.trials()) == (1, {"passed": 3, "errored": 1, "failed": 3})
    assert project.calls() == ["a"] * 4 + ["b"] * 3


def test_fail_fast_puts_up_with_errors_that_are_allowed(project: Project) -> None:
    project.suite(case("a", "raise x"), case("b", "raise x"), *cases(3))
    done = project.run("run", "--fail-fast", "--max-errors", "1", "--concurrency", "1", "--json")
    assert (done.code, done.counts()) == (3, {"errored": 2})
    done = project.run("run", "--fail-fast", "--max-errors", "2", "--concurrency", "1", "--json")
    assert (done.code, done.counts()) == (0, {"passed": 3, "errored": 2})


def test_fail_fast_at_the_last_case_leaves_a_complete_run(project: Project) -> None:
    project.suite(case("a"), case("b", "say no"))
    done = project.run("run", "--fail-fast", "--concurrency", "1", "--json")
    assert (done.code, done.json["status"]) == (1, "completed")


def test_fail_under_is_about_cases(project: Project) -> None:
    project.add_to_agent(DICE)
    project.suite(case("a", repeat={"times": 6, "pass_rate": 0.3}))
    done = project.run("run", "--target", "python:agent:dice", "--fail-under", "0.9")
    assert done.code == 0
    assert "1 passed, pass rate 100.0%" in done.out
    assert "failed a" not in done.err


DICE = """
from itertools import count

thrown = count()

def dice(question):
    return "ok" if next(thrown) < 2 else "no"
"""


def test_what_a_stopped_run_lacks_is_counted(project: Project) -> None:
    project.suite(*cases(5, "cost 1"))
    done = project.run("run", "--max-cost", "2", "--concurrency", "1")
    assert "2 passed, 3 not run, pass rate 100.0% (34.2–100.0%)" in done.out
    name = project.runs()[0].name
    assert f"incomplete, 2 of 5 trials: evalcase resume {name} --max-cost 4\n" in (
        project.run("list").out
    )
    assert "3 not run" in project.run("report").out
    assert "not run" not in project.run("report", "--target", "agent").out
    done = project.run("resume", name, "--max-cost", "9", "--json")
    assert (done.json["not_run"], done.json["passed"]) == (0, 5)


def test_fail_fast_within_a_repeated_case_says_what_is_next(project: Project) -> None:
    project.suite(case("a", "say no", repeat=3), *cases(2))
    done = project.run("run", "--fail-fast", "--concurrency", "1")
    assert done.code == 1
    assert "1 unfinished, 2 not run" in done.out
    assert f"next     evalcase report {project.runs()[0].name}\n" in done.out
