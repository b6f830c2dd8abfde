"""What copies begin with: commits of repositories, and what `prepare` makes, once for all runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalcase.types.read_options import fields_of
from evalcase.types.workspace import Workspace
from tests.cli.command import environment
from tests.for_each import for_each
from tests.workspaces.shop import CONFIG, Shop, case

NOTHING = {"diff": {"empty": True}}


def git(folder: Path, *args: str) -> str:
    argv = ["git", "-c", "user.name=a", "-c", "user.email=a@localhost", *args]
    ran = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def make_repo(shop: Shop, name: str = "other") -> list[str]:
    """A repository with three commits, the last of which is the fix; their ids."""
    folder = shop.root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    commits = []
    for text in ("one", "two", "fixed"):
        shop.write(f"{name}/cart.py", f"{text}\n")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", text)
        commits.append(git(folder, "rev-parse", "HEAD"))
    git(folder, "tag", "solved")
    return commits


def suite_of_repo(shop: Shop, *cases: dict[str, Any], **workspace: Any) -> None:
    shop.write("s.eval.yaml", json.dumps({"workspace": workspace, "cases": list(cases)}))


LOG = "import os; os.system('git log --all --format=%s; cat cart.py; git status -s; git remote')"


@for_each(["history", "seen"], [(0, "workspace\ntwo"), (1, "two\ntwo"), (2, "two\none\ntwo")])
def test_a_commit_is_exported_with_as_much_history_as_is_asked_for(
    shop: Shop, history: int, seen: str
) -> None:
    commit = make_repo(shop)[1]
    shop.write("agent.py", LOG)
    suite_of_repo(
        shop, case("?", {"equals": seen}, NOTHING), repo="other", commit=commit, history=history
    )
    assert shop.run().code == 0, shop.trials()
    assert shop.evalcase("grade", "latest").code == 0


def test_what_is_added_to_a_history_is_a_commit_behind_it(shop: Shop) -> None:
    commit = make_repo(shop)[1]
    shop.write("agent.py", LOG)
    seen = {"equals": "workspace\ntwo\none\ntwo"}
    suite_of_repo(shop, case("?", seen, NOTHING), repo="other", commit=commit, history=2,
                  files={"a.txt": {"text": "a"}}, prepare=[["touch", "made"]])  # fmt: skip
    assert shop.run().code == 0, shop.trials()


@for_each("where", ['path = "../elsewhere"', 'url = "file://{root}/../elsewhere"'])
def test_a_repository_of_the_configuration_may_be_anywhere(shop: Shop, where: str) -> None:
    commit = make_repo(shop, "../elsewhere")[0]
    shop.write("evalcase.toml", f"{CONFIG}\n[repos.it]\n{where.format(root=shop.root)}\n")
    shop.write("extra.txt", "more")
    suite_of_repo(
        shop, case("show cart.py\nshow extra.txt", {"equals": "one\n\nmore\ndone"}),
        repo="it", commit=commit, files={"extra.txt": "extra.txt"},
    )  # fmt: skip
    assert shop.evalcase("check").code == 0
    assert shop.run().code == 0, shop.trials()


def test_hooks_filters_and_settings_of_a_repository_run_nothing(shop: Shop) -> None:
    make_repo(shop)
    folder = shop.root / "other"
    shop.write("other/.gitattributes", "* filter=x\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "attributes")
    commit = git(folder, "rev-parse", "HEAD")
    touch = f"touch {shop.root}/PWNED"
    for name, value in (
        ("core.fsmonitor", touch), ("filter.x.smudge", touch), ("filter.x.clean", touch),
        ("uploadpack.packObjectsHook", touch), ("core.sshCommand", touch),
    ):  # fmt: skip
        git(folder, "config", name, value)
    for hook in ("post-checkout", "pre-commit", "post-commit", "reference-transaction"):
        (folder / ".git/hooks").mkdir(exist_ok=True)
        (folder / ".git/hooks" / hook).write_text(f"#!/bin/sh\n{touch}\n")
        (folder / ".git/hooks" / hook).chmod(0o755)
    (shop.root / "PWNED").unlink(missing_ok=True)
    suite_of_repo(shop, case("write cart.py x", {"diff": {"max_files": 1}}),
                  repo="other", commit=commit)  # fmt: skip
    assert shop.run().code == 0, shop.trials()
    assert not (shop.root / "PWNED").exists()


@for_each(["commit", "told"], [("0" * 40, "git fetch"), ("solved", "is the full id of a commit")])
def test_a_commit_that_is_not_there_is_an_error(shop: Shop, commit: str, told: str) -> None:
    make_repo(shop)
    suite_of_repo(shop, case("?", NOTHING), repo="other", commit=commit)
    done = shop.run()
    assert done.code == (3 if commit.startswith("0") else 2)
    assert told in done.out + done.err


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_repository_may_be_of_another_user(shop: Shop) -> None:
    commit = make_repo(shop)[0]
    for path in [shop.root / "other", *(shop.root / "other").rglob("*")]:
        os.chown(path, 1000, 1000)
    suite_of_repo(shop, case("show cart.py", {"starts_with": "one"}), repo="other", commit=commit)
    assert shop.run().code == 0, shop.trials()


def test_tags_are_filled_in(shop: Shop) -> None:
    commits = make_repo(shop)
    workspace = {
        "repo": "other", "commit": "{{commit}}", "files": {"a.txt": {"text": "{{id}}"}},
        "setup": [{"sh": "echo {{id}} > b.txt"}],
    }  # fmt: skip
    prompt = "show a.txt\nshow b.txt\nshow cart.py"
    seen = {"equals": "{{id}}\n{{id}}\n\n{{id}}\n\ndone"}
    cases = [
        case(prompt, seen, id=id, vars={"commit": commit, "id": id})
        for commit, id in zip(commits, ("one", "two"), strict=False)
    ]
    shop.write("s.eval.yaml", json.dumps({"workspace": workspace, "cases": cases}))
    assert shop.run().code == 0, (shop.evalcase("check").out, shop.trials())
    assert len(shop.trials()) == 2


def test_a_base_is_prepared_once_for_all_runs_of_the_same_definition(shop: Shop) -> None:
    count = shop.root / "count"
    prepare = [["sh", "-c", f"echo x >> {count}; mkdir -p made/deep; echo ok > made/deep/a"]]
    shop.write("shop/.gitignore", "made\n")
    shown = case("show made/deep/a\nwrite made/deep/a gone", {"equals": "ok\n\ndone"}, repeat=3)
    shop.suite(shown, prepare=prepare)
    assert shop.run().code == 0, shop.trials()
    assert shop.run().code == 0
    assert count.read_text() == "x\n"
    shop.write("shop/cart.py", "another")
    assert shop.run().code == 0
    assert count.read_text() == "x\nx\n"
    assert shop.evalcase("grade", "latest").code == 0


def test_bases_that_are_not_used_any_more_are_removed(shop: Shop) -> None:
    shop.suite(case("?", NOTHING), prepare=[["touch", "a"]])
    assert shop.run().code == 0
    bases = shop.cache / "evalcase/bases"
    for path in bases.glob("*.lock"):
        os.utime(path, (0, 0))
    shop.suite(case("?", NOTHING), prepare=[["touch", "b"]])
    assert shop.run().code == 0
    (left,) = [path for path in bases.iterdir() if path.is_dir()]
    assert (left / "workspace/b").exists()


def test_two_runs_at_once_prepare_once(shop: Shop) -> None:
    count = shop.root / "count"
    shop.suite(case("?", NOTHING), prepare=[{"sh": f"sleep 0.5; echo x >> {count}"}])
    env = environment(XDG_CACHE_HOME=str(shop.cache))
    argv = [sys.executable, "-m", "evalcase", "run", "-t", "agent"]
    running = [
        subprocess.Popen(argv, cwd=shop.root, env=env, stdout=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [process.wait() for process in running] == [0, 0]
    assert count.read_text() == "x\n"


def test_without_what_prepare_makes_an_agent_is_not_asked(shop: Shop) -> None:
    shop.write("agent.py", "import pathlib; pathlib.Path(__file__).with_name('asked').touch()")
    shop.suite(case("?", NOTHING), prepare=[["sh", "-c", "echo no >&2; exit 4"]])
    assert shop.run().code == 3
    failure = shop.trials()[0]["failure"]
    assert failure["kind"] == "workspace"
    assert "exited with code 4" in failure["message"]
    assert not (shop.root / "asked").exists()
    assert [path.suffix for path in (shop.cache / "evalcase/bases").iterdir()] == [".lock"]


MERGED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"files": {"a": None}}, {"prompt": "show a"}, "nothing"),
    ({"env": {"X": None}}, {"prompt": "env X"}, "None"),
    ({"template": None}, {"prompt": "show cart.py"}, "old"),
    ({"template": "fresh"}, {"prompt": "show cart.py"}, "new"),
]


@for_each(["own", "asked", "seen"], MERGED)
def test_a_case_changes_the_workspace_of_its_suite(
    shop: Shop, own: dict[str, Any], asked: dict[str, Any], seen: str
) -> None:
    shop.write("shop/cart.py", "old")
    shop.write("fresh/cart.py", "new")
    shop.suite(
        case(asked["prompt"], {"starts_with": seen}, workspace=own),
        files={"a": {"text": "there"}}, env={"X": "x"},
    )  # fmt: skip
    assert shop.run().code == 0, (shop.evalcase("check").out, shop.trials())


def test_a_template_displaces_a_repository(shop: Shop) -> None:
    commit = make_repo(shop)[0]
    suite_of_repo(
        shop,
        case("show cart.py", {"starts_with": "def total"}, workspace={"template": "shop"}),
        repo="other",
        commit=commit,
        history=2,
    )
    assert shop.run().code == 0, (shop.evalcase("check").out, shop.trials())


ASKED: list[tuple[dict[str, Any], bool]] = [
    ({"prepare": [["true"]]}, True), ({"setup": [["true"]]}, True), ({"env": {"A": "b"}}, True),
    ({"files": {"x": {"text": "x"}}}, True), ({"solution": {"sh": "true"}}, False),
    ({"hidden": {"x": {"text": "x"}}}, False), ({"restore": ["cart.py"]}, False),
    ({"teardown": [["true"]]}, False), ({"timeout_s": 5}, False),
]  # fmt: skip


def test_what_an_agent_finds_decides_whether_it_is_asked_again(shop: Shop) -> None:
    shop.suite(case("?", NOTHING))
    assert shop.run().code == 0
    before = shop.trials()[0]["question_hash"]
    for workspace, is_asked in ASKED:
        shop.suite(case("?", NOTHING), **workspace)
        assert shop.evalcase("resume", "latest").code == 0
        assert (shop.trials()[0]["question_hash"] != before) is is_asked, workspace
        shop.suite(case("?", NOTHING))
        assert shop.evalcase("resume", "latest").code == 0


def test_each_field_says_whether_it_decides_the_base_the_question_or_grading() -> None:
    options = fields_of(Workspace)
    decides = {name: option.extra.get("decides") for name, option in options.items()}
    assert list(decides) == list(Workspace.__struct_fields__)
    assert set(decides.values()) == {"base", "question", "grading", "nothing"}
    # What `_fill`, `prepare` and the commit read; all of them shape what is kept.
    assert [name for name in decides if decides[name] == "base"] == [
        "template", "repo", "commit", "history", "files", "prepare", "env", "git",
    ]  # fmt: skip
