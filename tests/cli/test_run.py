import json
from pathlib import Path

import pytest

from tests.run.project import CONFIG, Project, case, cases


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
        (["say ok", "raise x"], ["--max-errors", "1"], 1),
        (["say ok", "raise x"], ["--max-errors", "1", "--fail-under", "0.5"], 0),
        (["say ok", "raise x"], ["--max-errors", "1", "--fail-under", "0.6"], 1),
        (["raise x", "raise y"], ["--max-errors", "1"], 3),
        (["say ok", "say no"], ["--fail-under", "0.5"], 0),
        (["say ok", "say no"], ["--fail-under", "0.51"], 1),
        (["say ok", "raise x"], ["--fail-under", "0.1"], 3),
    ],
)
def test_exit_code(project: Project, texts: list[str], options: list[str], code: int) -> None:
    project.suite(*(case(f"c{number}", text) for number, text in enumerate(texts)))
    assert project.run("run", "--quiet", *options).code == code


def test_a_run_of_which_every_case_is_skipped_is_no_success(project: Project) -> None:
    project.suite(case("off", skip=True, tags=["t"]), case("on"))
    done = project.run("run", "--tag", "t", "--json")
    assert (done.code, done.counts(), done.json["pass_rate"]) == (1, {"skipped": 1}, None)
    assert project.calls() == []
    said = project.run("run", "--tag", "t").out
    assert "1 skipped, nothing was run" in said
    why = "FAILED, nothing was run, as all is skipped; --fail-under 0 allows it"
    assert said.splitlines()[-1] == f"gate     {why}"
    assert project.run("resume", "latest").code == 1
    assert project.run("report").code == 0
    assert project.run("run").code == 0


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
        (CONFIG, ["--target", "pyhton:agent:answer"], "did you mean `python:agent:answer`"),
        (CONFIG, ["--target", "python:nowhere:answer"], "nowhere"),
        ("", [], "names no target"),
        ("concurrency = 'ten'", [], "`concurrency` is a whole number of 1 or more, not 'ten'"),
        ("concurency = 3", [], "did you mean `concurrency`?"),
        ("[targets.a]\nfunction = 'agent:answer'", ["--target", "a"], "needs `kind`"),
        ("[targets.a]\nkind = 'echo'\nnoise = 1", ["--target", "a"], "noise"),
        (CONFIG, ["--fail-under", "60"], "not in the range 0<=x<=1. Did you mean 0.6?"),
        (CONFIG, ["--fail-under", "85%"], "'85%' is not a valid float range. Did you mean 0.85?"),
        (CONFIG, ["--timeout", "5s"], "'--timeout': '5s' is not a valid"),
        (CONFIG, ["--concurrency", "many"], "'--concurrency': 'many' is not a valid"),
        (CONFIG, ["--timeout", "0"], "0.0 is not in the range x>0."),
        (CONFIG, ["--max-cost", "nan"], "a finite number is needed"),
        (CONFIG, ["--case", "on"], "no case has an id like `on` (the nearest is `one`)"),
        (CONFIG, ["--tag", "a", "--tag", "aa"], "no case has the tag `aa` (the nearest is `a`)"),
        (CONFIG, ["--case", "one", "--tag", "b"], "no case is left to run"),
        (CONFIG, ["--shard", "3/2"], "shard"),
        (CONFIG, ["--shard", "auto"], "this is not an array task"),
        (CONFIG, ["--shard", "auto/0"], "write it as 2/5"),
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
    # To the letter what `check` says, but for the last line.
    checked = project.run("check").out
    assert done.err.splitlines()[:-1] == checked.splitlines()[:-1]


def test_criteria_without_a_judge_refuse_a_run(project: Project) -> None:
    project.suite({"id": "one", "input": "hi", "criteria": "Is kind."})
    done = project.run("run")
    assert (done.code, project.calls()) == (2, [])
    assert "error[no-judge]: `criteria` needs a judge, and none is configured" in done.err
    assert project.run("check").code == 0


def test_a_python_grader_decides(project: Project) -> None:
    grader = "python:agent:slow_grader"
    project.suite(
        {"id": "yes", "input": "say ok", "graders": [grader]},
        {"id": "no", "input": "say no", "graders": [grader]},
    )
    done = project.run("run", "--json")
    assert (done.code, done.counts()) == (1, {"passed": 1, "failed": 1})


def test_time_outs_are_tried_again_only_if_asked(project: Project) -> None:
    project.suite(case("stuck", "hang"))
    project.run("run", "--quiet", "--timeout", "0.1", "--retries", "1", "--retry-timeouts")
    assert project.calls() == ["stuck"] * 2


def test_an_env_file_gives_what_is_not_set(project: Project) -> None:
    (project.path / "keys.env").write_text("WORD=ok\nOTHER=file\n")
    project.suite(case("a", "env WORD"), case("b", "env OTHER"))
    done = project.run("run", "--env-file", "keys.env", "--json", env={"OTHER": "ok"})
    assert done.counts() == {"passed": 2}


def test_no_env_file_is_read_unless_it_is_named(project: Project) -> None:
    (project.path / ".env").write_text("WORD=ok\n")
    project.suite(case("a", "env WORD"))
    assert project.run("run", "--json").counts() == {"errored": 1}


@pytest.mark.parametrize("how", ["--quiet", "--json"])
def test_warnings_are_told_also_when_nobody_watches(project: Project, how: str) -> None:
    project.add_to_agent("def blind(question):\n    return 'ok'\n")
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    project.suite({"id": "a", "input": messages, "expected_output": "ok"})
    done = project.run("run", how, "--target", "python:agent:blind")
    assert "sees the last user message only" in done.err
    assert "sees" not in done.out


def test_no_exec_tells_all_that_would_run_code_at_once_each_at_its_place(project: Project) -> None:
    project.configure(
        'target = "python:agent:answer"\n[targets.mine]\nkind = "command"\ncommand = ["cat"]\n'
        '[targets.unused]\nkind = "command"\ncommand = ["cat"]\n'
        '[judge]\ntarget = "judging"\n[targets.judging]\nkind = "command"\ncommand = ["cat"]\n'
    )
    (project.path / "s.eval.yaml").write_text(
        "cases:\n"
        "  - {id: a, input: hi, expected_output: hi}\n"
        '  - {id: b, input: hi, expected_output: hi, targets: [mine, "command:cat", echo]}\n'
        "  - {id: c, input: hi, criteria: Is kind., target: echo}\n"
        '  - {id: d, input: hi, target: echo, graders: [{any: ["python:x:f", {script: [cat]}]}]}\n'
    )
    done = project.run("run", "--no-exec")
    assert (done.code, project.runs()) == (2, [])
    places = [row for row in done.err.splitlines() if "--no-exec forbids" in row]
    assert [row.partition(": target")[0].partition(": grader")[0] for row in places] == [
        "evalcase.toml:1:10: error[bad-target]",
        "evalcase.toml:4:11: error[bad-target]",
        "evalcase.toml:12:11: error[bad-target]",
        "s.eval.yaml:3:61: error[bad-target]",
        "s.eval.yaml:5:55: error[bad-grader]",
        "s.eval.yaml:5:79: error[bad-grader]",
    ]
    done = project.run("run", "--no-exec", "--case", "a", "--target", "command:cat")
    assert done.code == 2
    assert "--target command:cat: error[bad-target]: target `command:cat` would run" in done.err
    assert "evalcase.toml" not in done.err


def test_quiet_says_only_how_it_ended(project: Project) -> None:
    project.suite(case("good"), case("bad", "say no"))
    done = project.run("run", "--quiet")
    assert done.err == ""
    assert "1 passed, 1 failed" in done.out
    assert len(done.out.splitlines()) == 2


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


def test_no_suite_at_all(project: Project) -> None:
    assert project.run("run").code == 2
    assert project.run("run", "nowhere.eval.yaml").code == 2


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


def test_answers_of_a_record_are_said_to_be_given_earlier(project: Project) -> None:
    project.suite(case("a"), case("b"))
    project.run("run", "--quiet")
    (run,) = project.runs()
    done = project.run("run", "--target", f"replay:{run}")
    assert "cost     2 answers given earlier" in done.out
    assert "cache" not in done.out
    shown = project.run("report", "--case", "a").out
    assert "given earlier" in " ".join(shown.split())  # the path of the run may have it wrapped


# What graders cost and how long they may take, seen from the command


ASKING = """
import asyncio
from evalcase import Message

async def judge(context):
    answer = await context.ask("priced", [Message({"role": "user", "content": "cost 0.25"})])
    return answer.text == "ok"

async def never(context):
    await asyncio.Event().wait()
"""
PRICED = '\n[targets.priced]\nkind = "python"\nfunction = "agent:answer"\n'


def judged(project: Project, *items: dict[str, object], settings: str = "") -> None:
    (project.path / "asking.py").write_text(ASKING)
    project.configure(settings + CONFIG + PRICED)
    project.suite(*items, graders=["python:asking:judge"])


def test_what_graders_ask_is_counted_apart_and_once(project: Project) -> None:
    judged(project, case("a", "cost 1"), case("b", "cost 2"), case("c", "raise x"))
    told = project.run("run", "--json").json
    assert (told["cost_usd"], told["grading_usd"]) == (3.0, 0.5)
    assert project.run("resume", "latest", "--json").json["grading_usd"] == 0.5
    shown = project.run("report").out
    assert "$3.0000" in shown
    assert "grading $0.5000" in shown
    rows = project.rows()
    assert [grade["cost_usd"] for row in rows for grade in row.get("grades", ())[:1]] == [
        0.25,
        0.25,
    ]


def test_the_cap_is_over_targets_and_graders(project: Project) -> None:
    judged(project, *cases(6, "cost 1"))
    done = project.run("run", "--max-cost", "2.4", "--concurrency", "1", "--json")
    # Two cases come to 2.50; without what graders asked there would have been a third.
    assert (done.code, done.json["passed"], done.json["not_run"]) == (3, 2, 4)
    assert (done.json["cost_usd"], done.json["grading_usd"]) == (2.0, 0.5)
    done = project.run("resume", "--max-cost", "3.7", "--json")
    assert done.json["passed"] == 3


def test_the_configuration_says_how_long_graders_may_take(project: Project) -> None:
    judged(project, settings="grader_timeout_s = 0.05\n")
    project.suite(case("a"), graders=["python:asking:never"])
    done = project.run("run")
    assert done.code == 3
    assert "returned no grade within 0.05 s" in done.out
