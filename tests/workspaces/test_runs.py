"""A trial works in a fresh copy, and what it changed is in the record."""

import gzip
import os
import re
import signal
import subprocess
import sys

import pytest

from tests.cli.command import environment
from tests.for_each import for_each
from tests.workspaces.shop import CONFIG, Shop, case

FIX = "write cart.py def total(a, b):|    return a + b"


def test_what_an_agent_changed_is_in_the_record(shop: Shop) -> None:
    shop.suite(
        case(f"{FIX}\nwrite new/a.txt hi\nremove tests/test_cart.py", {"diff": {"max_files": 3}})
    )
    assert shop.run().code == 0
    (trial,) = shop.trials()
    changes = trial["workspace"]
    assert [(each["path"], each["status"]) for each in changes["changed"]] == [
        ("cart.py", "modified"), ("new/a.txt", "added"), ("tests/test_cart.py", "deleted"),
    ]  # fmt: skip
    assert "-    return a - b\n+    return a + b\n" in changes["diff"]
    assert changes["isolation"] == "none"
    (run,) = (shop.root / ".evalcase/runs").glob("*/")
    assert b"return a + b" in gzip.decompress((run / changes["patch"]).read_bytes())
    assert (shop.root / "shop/cart.py").read_text().endswith("a - b\n")
    assert shop.left() == []


def test_reports_show_what_an_agent_changed(shop: Shop) -> None:
    shop.suite(case(f"{FIX}\nwrite ``` @all", {"diff": {"only": ["cart.py"]}}))
    shop.run()
    shown = shop.evalcase("report", "--case", "c").out
    assert "\n    -    return a - b\n    +    return a + b\n" in shown
    shown = shop.evalcase("report", "--format", "markdown").out
    assert "  changed   2 files, +2 -1 lines\n" in shown
    assert "\n````diff\ndiff --git a/``` b/```\n" in shown
    assert "\n-    return a - b\n+    return a + b\n````\n" in shown


def test_a_diff_that_is_cut_says_whether_the_record_has_all_of_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalcase.util.snapshots.MOST_DIFF_BYTES", 100)
    shop.write("evalcase.toml", 'secrets = ["MY_API_KEY"]\n' + CONFIG)
    for wrote, told in (
        ("plain", "the diff goes on: the patch in the record has all of it"),
        ("s3cr3t-0123456789", "the diff goes on: no patch was stored (too much, or a secret)"),
    ):
        shop.suite(case(f"{FIX}\nwrite z {wrote}", {"diff": {"only": ["none"]}}))
        shop.run(MY_API_KEY="s3cr3t-0123456789")
        shown = shop.evalcase("report", "--format", "markdown").out
        assert told in " ".join(shown.split())


def test_a_program_that_only_the_project_has_is_told_how_to_name(shop: Shop) -> None:
    shop.suite(case("x", {"diff": {"max_files": 3}}))
    for folder in ("", "shop/"):
        shop.write(f"{folder}both.py", "raise SystemExit(2)\n")
    hint = "write `{project}/agent.py` for that of the project; the command exited with code 2"
    for program, hinted in (("agent.py", True), ("both.py", False)):
        done = shop.evalcase("run", "--target", f"command:python3 {program}")
        said = " ".join(done.out.split())
        assert (hint in said, "exited with code 2" in said) == (hinted, True)


def test_a_program_that_only_the_workspace_has_is_told_how_to_name(shop: Shop) -> None:
    shop.suite(case("x", {"diff": {"max_files": 3}}))
    shop.write("shop/inner.py", "print('hi')\n")
    done = shop.evalcase("run", "--target", "command:python3 inner.py")
    assert "one of a workspace is written {workspace}/inner.py" in done.err
    assert shop.evalcase("run", "--target", "command:python3 {workspace}/inner.py").code == 0


def test_each_trial_and_each_attempt_has_a_fresh_copy(shop: Shop) -> None:
    shop.write(
        "retrying.py",
        """
from pathlib import Path
import evalcase

def answer(text, workspace, attempt):
    marks = Path(workspace, "marks")
    seen = marks.exists()
    marks.write_text("x")
    if attempt == 1:
        raise evalcase.TargetError("busy", may_succeed_later=True)
    return str(seen)
""",
    )
    shop.suite(case("?", {"equals": "False"}, repeat=3))
    assert shop.evalcase("run", "-t", "python:retrying:answer").code == 0
    assert len(shop.trials()) == 3


def test_turns_of_a_conversation_share_a_workspace(shop: Shop) -> None:
    turns = ["write a.txt one", {"input": "show a.txt", "graders": [{"contains": "one"}]}]
    shop.suite({"id": "c", "turns": turns, "graders": [{"files": {"a.txt": {"contains": "one"}}}]})
    assert shop.run().code == 0


def test_set_up_runs_before_the_agent_and_is_no_change_of_it(shop: Shop) -> None:
    setup = [["sh", "-c", "echo $COLOUR > made.txt"], {"sh": "echo more >> made.txt"}]
    graders = [{"equals": "red\nmore\n\ndone"}, {"diff": {"empty": True}}]
    shop.suite(case("show made.txt", *graders), setup=setup, env={"COLOUR": "red"})
    assert shop.run().code == 0, shop.trials()
    ran = shop.trials()[0]["workspace"]["setup"]
    assert [each["exit_code"] for each in ran] == [0, 0]


@for_each("setup", [["false"], ["no-such-program"], ["sleep", "60"]])
def test_without_its_set_up_an_agent_is_not_asked(shop: Shop, setup: list[str]) -> None:
    shop.write("agent.py", "import pathlib; pathlib.Path(__file__).with_name('asked').touch()")
    shop.suite(case("?", {"diff": {"empty": True}}), setup=[setup], timeout_s=1)
    assert shop.run().code == 3
    (trial,) = shop.trials()
    assert (trial["verdict"], trial["failure"]["kind"]) == ("errored", "workspace")
    assert setup[0] in trial["failure"]["message"]
    assert not (shop.root / "asked").exists()
    assert shop.left() == []


def test_teardown_runs_after_grading(shop: Shop) -> None:
    told = shop.root / "told"
    shop.suite(
        case("write a.txt hi", {"diff": {"max_files": 1}}), teardown=[["cp", "a.txt", str(told)]]
    )
    assert shop.run().code == 0
    assert told.read_text() == "hi\n"


def test_hidden_files_are_gone_at_teardown_and_from_workspaces_that_are_kept(shop: Shop) -> None:
    told = shop.root / "told"
    look = ["test", "-e", "tests/h.py"]
    graders = {"run": look}, {"type": "run", "value": look, "fresh": True}
    shop.suite(
        case(FIX, *graders), hidden={"tests/h.py": {"text": "secret"}},
        teardown=[{"sh": f"ls tests >> {told}"}],
    )  # fmt: skip
    assert shop.run("--keep-workspaces", "all").code == 0, shop.trials()
    assert told.read_text() == "test_cart.py\n" * 2
    (kept,) = shop.cache.glob("evalcase/work/kept/*/workspace")
    assert [path.name for path in (kept / "tests").iterdir()] == ["test_cart.py"]


def test_hidden_files_are_added_and_others_restored_after_the_agent(shop: Shop) -> None:
    shop.write("evals/hidden.py", "hidden\n")
    prompt = (
        "show tests/test_hidden.py\nwrite tests/test_cart.py forged\nwrite tests/conftest.py forged"
    )
    graders = [
        {"contains": "nothing"},
        {"files": {
            "tests/test_hidden.py": {"equals": "hidden\n"},
            "tests/test_cart.py": {"equals": "old\n"},
            "tests/conftest.py": "absent",
        }},
    ]  # fmt: skip
    shop.suite(
        case(prompt, *graders),
        hidden={"tests/test_hidden.py": "evals/hidden.py"},
        restore=["tests/**"],
    )
    assert shop.run().code == 0, shop.trials()
    assert len(shop.trials()[0]["workspace"]["changed"]) == 2


def test_a_case_adds_to_the_workspace_of_its_suite_or_has_none(shop: Shop) -> None:
    shop.suite(
        case("show a.txt\nshow b.txt", {"contains": "one"}, {"contains": "two"},
             id="adds", workspace={"files": {"b.txt": {"text": "two"}}}),
        case("show a.txt", {"contains": "nothing"}, id="none", workspace=False),
        files={"a.txt": {"text": "one"}},
    )  # fmt: skip
    assert shop.run().code == 0
    assert [each.get("workspace") is None for each in shop.trials()] == [False, True]


def test_the_copy_is_a_repository_with_one_commit_and_no_other(shop: Shop) -> None:
    subprocess.run(["git", "init", "-q"], cwd=shop.root / "shop", check=True)
    shop.write("shop/.git/config", "[core]\n\tfsmonitor = touch PWNED\n")
    shop.write(
        "agent.py",
        "import os; os.system('git log --all --format=%s:%ad --date=short; git status -s')",
    )
    shop.suite(case("?", {"equals": "workspace:2000-01-01"}, {"diff": {"empty": True}}))
    assert shop.run().code == 0, shop.trials()


def test_another_template_is_asked_again_and_other_tests_are_graded_again(shop: Shop) -> None:
    shop.write("evals/hidden.py", "one")
    grader = {"files": {"h.py": {"equals": "one"}}}
    shop.suite(case(FIX, grader), hidden={"h.py": "evals/hidden.py"})
    assert shop.run().code == 0
    shop.write("evals/hidden.py", "two")
    assert shop.evalcase("resume", "latest").code == 1
    shop.write("shop/cart.py", "another")
    hash = shop.trials()[0]["question_hash"]
    shop.evalcase("resume", "latest")
    assert shop.trials()[0]["question_hash"] != hash


def test_grading_again_rebuilds_the_workspace_or_says_why_it_cannot(shop: Shop) -> None:
    shop.suite(case(FIX, {"files": {"cart.py": {"contains": "a + b"}}}))
    assert shop.run().code == 0
    assert shop.evalcase("grade", "latest").code == 0
    shop.write("shop/cart.py", "another")
    assert shop.evalcase("grade", "latest").code == 3
    reason = shop.trials()[0]["grades"][0]["reason"]
    assert "its template, files or `setup` gave other files then" in reason
    assert shop.left() == []


@for_each(["kept", "count"], [("none", 0), ("failed", 1), ("all", 3)])
def test_workspaces_are_kept_if_asked_for(shop: Shop, kept: str, count: int) -> None:
    graders = {"files": {"a.txt": {"exists": True}}}
    shop.suite(case("write a.txt hi", graders, id="good"), case("?", graders, id="bad"))
    out = shop.run("--keep-workspaces", kept).out
    told = re.search(r"^kept +(.* workspaces?): .*/evalcase/work/kept", out, re.MULTILINE)
    by_count = {0: None, 1: "1 workspace", 3: "2 workspaces"}
    assert (told and told[1]) == by_count[count]
    assert len(list(shop.cache.glob("evalcase/work/kept/*/workspace/cart.py"))) == count, "in all"
    assert shop.left() == []


def test_the_workspace_of_an_errored_trial_is_kept_and_named(shop: Shop) -> None:
    shop.suite(case("write a.txt hi\nfail", {"diff": {"max_files": 1}}))
    done = shop.run("--keep-workspaces", "failed")
    assert done.code == 3
    (kept,) = shop.cache.glob("evalcase/work/kept/*/workspace")
    assert re.search(rf"^kept +1 workspace: {re.escape(str(kept))}", done.out, re.MULTILINE)
    assert (kept / "a.txt").exists()
    assert str(kept) in "".join(shop.evalcase("report", "--case", "c").out.split())


def test_a_workspace_whose_changes_cannot_be_read_is_kept_and_named(shop: Shop) -> None:
    shop.write("agent.py", "import os\nhere = os.getcwd()\nos.rename(here, here + '2')\n"
               "os.mkdir(here)\nopen(here + '/a', 'w')\nprint('done')\n")  # fmt: skip
    shop.suite(case("?", {"diff": {"max_files": 1}}))
    done = shop.run("--keep-workspaces", "failed")
    assert done.code == 3
    (kept,) = shop.cache.glob("evalcase/work/kept/*/workspace")
    assert str(kept) in "".join(done.err.split())


def test_processes_work_in_workspaces(shop: Shop) -> None:
    shop.suite(case(FIX, {"run": ["grep", "-q", "a + b", "cart.py"]}))
    assert shop.run("--processes", "2").code == 0, shop.trials()


def test_a_run_that_was_killed_leaves_nothing_after_the_next(shop: Shop) -> None:
    shop.write(
        "agent.py",
        "import pathlib, sys, time; print('up', flush=True); "
        "pathlib.Path(sys.argv[0]).with_name('up').touch(); time.sleep(100)",
    )
    shop.suite(case("?", {"diff": {"empty": True}}))
    env = environment(XDG_CACHE_HOME=str(shop.cache))
    os.mkfifo(shop.root / "bell")
    shop.write(
        "agent.py",
        f"open({str(shop.root / 'bell')!r}, 'w').write('up')\nimport time; time.sleep(100)",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "evalcase", "run", "-t", "agent"], cwd=shop.root, env=env,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert (shop.root / "bell").read_text() == "up"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(shop.left()) == 1
    shop.write("agent.py", "print()")
    assert shop.run().code == 0
    assert shop.left() == []


def test_runs_that_begin_at_once_leave_each_other_alone(shop: Shop) -> None:
    (shop.cache / "evalcase/work/run-killed-before-its-lock").mkdir(parents=True)
    shop.suite(case(FIX, {"diff": {"only": ["cart.py"]}}))
    command = [sys.executable, "-m", "evalcase", "run", "-t", "agent"]
    env = environment(XDG_CACHE_HOME=str(shop.cache))
    runs = [
        subprocess.Popen(command, cwd=shop.root, env=env, stdout=subprocess.DEVNULL)
        for _ in range(4)
    ]
    assert [run.wait() for run in runs] == [0] * 4
    assert shop.left() == []


def test_a_merged_run_has_the_patches_of_its_shards(shop: Shop) -> None:
    grader = {"files": {"cart.py": {"contains": "a + b"}}}
    shop.suite(*[case(FIX, grader, id=f"c{number}") for number in range(4)])
    for shard in ("1/2", "2/2"):
        assert shop.run("--shard", shard).code == 0
    runs = sorted(path.name for path in (shop.root / ".evalcase/runs").glob("2*"))
    assert shop.evalcase("merge", *runs).code == 0
    assert shop.evalcase("grade", "latest").code == 0
    assert len(shop.trials()) == 4


def test_what_runs_after_the_agent_gets_no_key(shop: Shop) -> None:
    told = shop.root / "told"
    line = "echo $EDGE-$COLOUR-${PATH:+path}"
    shop.suite(
        case(FIX, {"run": ["sh", "-c", f'test "$({line})" = -red-path']},
             {"type": "run", "value": ["true"], "fresh": True}),
        setup=[{"sh": f"{line} >> {told}"}], teardown=[{"sh": f"{line} >> {told}"}],
        env={"COLOUR": "red"},
    )  # fmt: skip
    assert shop.run(EDGE="k3y").code == 0, shop.trials()
    bare = "-red-path\n"
    assert told.read_text() == f"k3y{bare}{bare}{bare}{bare}", "setup, fresh setup, two teardowns"
