import json
import shutil
from pathlib import Path

import pytest

from tests.run.project import Gate, Project, await_notice, case, cases, finish, ids, interrupt
from tests.store.rows import read_results


def kill_after(project: Project, gate: Gate, command: str, calls: int) -> set[str]:
    """Start, let so many calls go on, kill while others are under way; what is on disk by then."""
    gate.seen.clear()
    options = ["--concurrency", "2"] if command == "run" else []
    process = project.start(command, *options, env={"GATED": "1"})
    for number in range(1, calls + 1):
        gate.await_calls(number)
        gate.let_go()
    gate.await_calls(calls + 1)
    process.kill()
    process.communicate()
    return on_disk(project)


def on_disk(project: Project) -> set[str]:
    journal = project.runs()[-1] / "journal.jsonl"
    return {each.key.case for each in read_results(str(journal))} if journal.exists() else set()


@pytest.mark.parametrize("calls", [0, 1, 4, 9])
def test_after_a_kill_only_the_rest_is_run(project: Project, gate: Gate, calls: int) -> None:
    suite = [case(f"c{number}", "cost 0.1") for number in range(9)]
    suite[3] = case("c3", "raise x")
    suite[7] = case("c7", "say no")
    project.suite(*suite, case("off", skip=True))
    whole = project.run("run", "--json", "--runs-dir", "whole").json

    project.forget_calls()
    kept = kill_after(project, gate, "run", min(calls, 7))
    project.forget_calls()
    resumed = project.run("resume", "--json")
    assert resumed.code == 3
    assert not set(project.calls()) & kept
    assert (set(project.calls()) | kept) - {"off"} == set(ids(suite))
    assert len(project.calls()) == len(set(project.calls()))
    same = ("status", "total", "passed", "failed", "errored", "ungraded", "skipped", "pass_rate")
    assert {name: resumed.json[name] for name in same} == {name: whole[name] for name in same}
    assert resumed.json["cost_usd"] == whole["cost_usd"]


def test_nothing_to_go_on_with(project: Project) -> None:
    project.suite(*cases(2))
    done = project.run("resume")
    assert (done.code, "no run" in done.err) == (2, True)
    project.run("run", "--quiet")
    project.forget_calls()
    done = project.run("resume", project.runs()[0].name, "--json")
    assert (done.code, done.counts(), project.calls()) == (0, {"passed": 2}, [])


@pytest.mark.parametrize("retry", [[], ["--retry-errored"]])
@pytest.mark.parametrize(("text", "code"), [("say ok", 0), ("say no", 1)])
def test_with_nothing_to_do_the_newest_run_is_shown_with_its_exit_code(
    project: Project, text: str, code: int, retry: list[str]
) -> None:
    project.suite(case("one", text), case("two"))
    assert project.run("run", "--quiet").code == code
    project.forget_calls()
    done = project.run("resume", *retry)
    assert (done.code, project.calls()) == (code, [])
    assert "nothing to do" in done.err
    assert f"{2 - code} passed" in done.out
    assert project.run("resume", *retry, "--json").json["failed"] == code


@pytest.mark.parametrize(
    ("text", "gates", "code"),
    [
        ("raise x", ["--max-errors", "1"], 1),
        ("raise x", ["--max-errors", "1", "--fail-under", "0.5"], 0),
        ("say no", ["--fail-under", "0.5"], 0),
        ("say no", ["--fail-under", "0.9"], 1),
    ],
)
def test_gates_of_the_run_hold_when_it_goes_on(
    project: Project, text: str, gates: list[str], code: int
) -> None:
    project.suite(case("one", text), case("two"))
    assert project.run("run", "--quiet", *gates).code == code
    assert project.run("resume", "--quiet").code == code
    project.keep_only(1)
    assert project.run("resume", "--quiet").code == code
    other = ["--max-errors", "0"] if "--max-errors" in gates else ["--fail-under", "1"]
    stricter = 3 if text == "raise x" else 1
    assert project.run("resume", "latest", "--quiet", *other).code == stricter


def test_errored_trials_are_run_again_only_if_asked_and_failed_ones_never(project: Project) -> None:
    project.suite(case("good"), case("bad", "say no"), case("broken", "once"))
    project.run("run", "--quiet")
    run = project.runs()[0].name
    project.forget_calls()
    (project.path / "calls").write_text("broken\n")
    assert project.run("resume", run, "--json").code == 3
    assert project.calls() == ["broken"]
    done = project.run("resume", run, "--retry-errored", "--json")
    assert (done.code, done.counts()) == (1, {"passed": 2, "failed": 1})
    assert project.calls() == ["broken"] * 2


def test_the_options_of_the_run_hold_when_it_goes_on(project: Project, gate: Gate) -> None:
    project.suite(*cases(10))
    process = project.start(
        "run", "--target", "agent", "--shard", "1/2", "--repeat", "2", "--concurrency", "1",
        env={"GATED": "1"},
    )  # fmt: skip
    (first,) = gate.await_calls(1)
    interrupt(process)
    await_notice(process, "Ctrl-C")
    gate.let_go()
    assert finish(process).code == 130
    done = project.run("resume", "--json")
    assert done.code == 0
    calls = project.calls()
    assert all(calls.count(each) == 2 for each in set(calls))
    assert first in calls
    assert done.json["trials"]["total"] == len(calls) < 20


def test_what_left_the_suite_is_not_counted_as_planned(project: Project, gate: Gate) -> None:
    project.suite(*cases(4))
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(3)
    project.suite(*cases(1), *cases(3, prefix="new"))
    process = project.start("resume", "--concurrency", "1", env={"GATED": "1"})
    gate.await_calls(1)
    interrupt(process)
    await_notice(process, "Ctrl-C")
    gate.let_go()
    done = finish(process)
    assert done.code == 130
    assert "interrupted, with 4 trials finished and stored" in " ".join(done.out.split())
    told = " ".join(project.run("report").out.split())
    assert "interrupted, with 4 trials finished and stored" in told
    assert "incomplete, 4 trials" in " ".join(project.run("list").out.split())


def test_a_run_of_one_s_own_may_lie_elsewhere(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project.suite(case("a"))
    project.run("run", "--target", "command:touch ran", "--json")
    (project.path / "ran").unlink()
    elsewhere = tmp_path_factory.mktemp("kept") / project.runs()[0].name
    project.runs()[0].rename(elsewhere)
    (elsewhere / "journal.jsonl").write_text("")
    project.run("resume", str(elsewhere))
    assert (project.path / "ran").exists()


REFUSAL = """\
evalcase: {run} was not made by you on this machine and in this folder, or was changed since
continuing it would use:
  target    command:touch ran
  env file  some.env
  folder    .
  path      s.eval.yaml
nothing was done; if you trust the record, add --trust
"""


def test_a_run_of_somebody_else_says_nothing_unless_it_is_trusted(project: Project) -> None:
    project.suite(case("a"))
    (project.path / "some.env").write_text("A=1")
    options = ("--target", "command:touch ran", "--env-file", "some.env", "s.eval.yaml")
    project.run("run", *options, "--json", env={"XDG_STATE_HOME": str(project.path / "theirs")})
    (project.path / "ran").unlink()
    run = project.runs()[0]
    (run / "journal.jsonl").write_text("")
    for command in (["resume"], ["resume", run.name], ["resume", "latest", "--no-exec"]):
        done = project.run(*command)
        assert (done.code, done.out, done.err) == (2, "", REFUSAL.format(run=run))
        assert not (project.path / "ran").exists()
    assert project.run("resume", "--trust").code == 1
    assert (project.path / "ran").exists()


def test_a_project_that_was_moved_is_another(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same relative path is another file there, and the clone may be anybody's."""
    project.suite(*cases(2))
    project.run("run", "--json", "--concurrency", "1")
    project.keep_only(1)
    moved = Project(Path(shutil.copytree(project.path, tmp_path_factory.mktemp("moved") / "p")))
    done = moved.run("resume", "--json")
    assert (done.code, moved.calls()) == (2, project.calls())
    assert moved.run("resume", "--json", "--trust").counts() == {"passed": 2}
    assert project.run("resume", "--json").counts() == {"passed": 2}


@pytest.mark.parametrize("home", ["file", "unset", "loose"])
def test_without_a_key_a_run_goes_on_and_says_what_resuming_takes(
    project: Project, home: str
) -> None:
    state = project.path / "state"
    env = {"HOME": "", "XDG_STATE_HOME": str(state)}
    if home == "file":
        state.write_text("")
    elif home == "unset":
        env["XDG_STATE_HOME"] = ""
    else:
        (state / "evalcase").mkdir(parents=True)
        (state / "evalcase" / "key").write_bytes(bytes(32))
        (state / "evalcase" / "key").chmod(0o644)
    said = "evalcase can't recognise your runs: "
    project.suite(case("a"), case("b", "once"))
    done = project.run("run", "--target", "echo", "--json", env=env)
    assert (done.code, done.err) == (1, ""), "nothing is left that could be resumed"
    done = project.run("run", "--json", env=env)
    assert (done.code, done.counts()) == (3, {"passed": 1, "errored": 1})
    assert f"{said}" in done.err
    assert "; so `evalcase resume` needs --trust\n" in done.err
    refused = project.run("resume", "latest", "--retry-errored", env=env)
    assert (refused.code, said in refused.err) == (2, True)
    done = project.run("resume", "latest", "--retry-errored", "--trust", "--json", env=env)
    assert done.counts() == {"passed": 2}


@pytest.mark.parametrize("folder", ["gone", "a\0b"])
def test_a_record_of_a_run_that_was_begun_in_a_folder_that_is_gone(
    project: Project, folder: str
) -> None:
    project.suite(case("a"))
    project.run("run", "--json")
    path = project.runs()[0] / "run.json"
    data = json.loads(path.read_text())
    data["about"]["cwd"] = folder
    path.write_text(json.dumps(data))
    done = project.run("resume", project.runs()[0].name, "--trust")
    assert (done.code, "started in a folder that no longer exists" in done.err) == (3, True)


def test_a_stranger_s_run_makes_no_exit_code_better(project: Project, tmp_path: Path) -> None:
    """It is dated later than one's own, and all of it passed."""
    project.suite(case("a"))
    theirs = {"XDG_STATE_HOME": str(tmp_path / "theirs")}
    project.run("run", "--json", env=theirs)
    theirs_run = project.runs()[0]
    project.suite(case("a", "say no"))
    assert project.run("run", "--json").code == 1
    planted = theirs_run.rename(theirs_run.with_name("20991231-000000-abcdef"))
    done = project.run("resume")
    assert (done.code, str(planted) in done.err) == (2, True)
    own = next(run.name for run in project.runs() if run != planted)
    assert project.run("resume", own, "--json").code == 1
