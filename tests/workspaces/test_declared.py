"""What a suite may say of a workspace, and what is wrong with the rest."""

import json
import re
from typing import Any

from evalcase.config.catalogue import suite_schema
from tests.for_each import for_each
from tests.workspaces.shop import Shop, case

A = {"text": ""}
WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("no such folder", {"template": "none"}, "missing-file", "there is no folder `none`"),
    ("a file", {"template": "agent.py"}, "bad-file", "`agent.py` is not a folder"),
    ("outside", {"template": "../.."}, "file-outside-project", "outside the project"),
    ("misspelt", {"setpu": []}, "unknown-field", "did you mean `setup`?"),
    ("leads out", {"files": {"../a": {"text": ""}}}, "bad-value", "`../a` in `workspace.files`"),
    ("in .git", {"hidden": {".git/config": {"text": ""}}}, "bad-value", "`.git`"),
    ("no source", {"files": {"a": "none.txt"}}, "missing-file", "there is no file `none.txt`"),
    ("no program", {"setup": [[]]}, "bad-value", "the name of a program"),
    ("a list of names", {"files": ["a.txt"]}, "wrong-type", "such as {a.txt: path}"),
    ("a text", {"setup": "pip install x"}, "wrong-type", "write [{sh: …}]"),
    ("a text in a list", {"setup": ["sleep 5"]}, "wrong-type", "write {sh: …}"),
    ("blanks", {"setup": [["pip install x"]]}, "bad-value", "write {sh: …}"),
    ("two bases", {"repo": "shop", "commit": "a" * 40}, "conflicting-fields", "remove one of"),
    ("no commit", {"template": None, "repo": "shop"}, "wrong-type", "`repo` needs `commit`"),
    ("a branch", {"template": None, "repo": "shop", "commit": "main"}, "bad-value", "full id"),
    ("no such repository", {"template": None, "repo": "none", "commit": "a" * 40},
     "missing-file", "there is no folder `none`"),
    ("history of nothing", {"history": 2}, "bad-value", "`history` is of a `repo`"),
    ("nothing", {"template": None}, "wrong-type", "needs `template`, `repo` or `files`"),
    ("hidden in the template", {"hidden": {"h": "shop/cart.py"}}, "bad-value",
     "`shop/cart.py` is in the template"),
    ("solution in the template", {"solution": "shop/tests"}, "bad-value", "in the template"),
    ("no solution", {"solution": "none.patch"}, "missing-file", "there is no file `none.patch`"),
    ("prepare as text", {"prepare": "npm ci"}, "wrong-type", "npm"),
    ("seen", {"files": {"a": A}, "hidden": {"a": A}}, "bad-value", "the agent sees it"),
]  # fmt: skip


@for_each(["name", "workspace", "code", "told"], WRONG)
def test_a_mistake_is_named_at_its_place(
    shop: Shop, name: str, workspace: dict[str, Any], code: str, told: str
) -> None:
    del name
    shop.suite(case("?", {"diff": {"empty": True}}), **workspace)
    done = shop.evalcase("check")
    place = re.search(rf"s.eval.yaml:1:(\d+): error\[{code}\]", done.out)
    assert place is not None, done.out
    assert int(place[1]) > 1
    assert told in done.out
    assert done.code == 2


@for_each("value", [True, 3, "shop"])
def test_a_workspace_is_a_mapping_or_false(shop: Shop, value: object) -> None:
    shop.write("s.eval.yaml", json.dumps({"workspace": value, "cases": [case("?", "json")]}))
    done = shop.evalcase("check")
    assert (done.code, "wrong-type" in done.out) == (2, True)


@for_each("grader", [{"run": ["true"]}, {"files": {"a": "absent"}}, {"diff": {"empty": True}}])
def test_graders_of_workspaces_need_one(shop: Shop, grader: dict[str, Any]) -> None:
    shop.write("s.eval.yaml", json.dumps([case("?", grader)]))
    done = shop.evalcase("check")
    assert (done.code, "missing-material" in done.out) == (2, True)
    assert "add `workspace: {template: FOLDER}`" in done.out


def test_without_execution_a_workspace_is_refused(shop: Shop) -> None:
    shop.suite(case("?", {"diff": {"empty": True}}))
    done = shop.run("--no-exec")
    assert done.code == 2
    assert "--no-exec" in done.err


def test_a_target_that_cannot_work_in_a_folder_is_refused(shop: Shop) -> None:
    shop.suite(case("?", {"diff": {"empty": True}}))
    done = shop.evalcase("run", "--target", "echo")
    assert (done.code, "can't work in the `workspace`" in done.err) == (2, True)


def test_the_canonical_form_is_what_is_written(shop: Shop) -> None:
    written = {"template": "shop", "setup": [["make"], {"sh": "a | b"}], "git": False}
    shop.suite(case("?", {"diff": {"empty": True}}), **written)
    shown = json.loads(shop.evalcase("show", "s.eval.yaml").out)
    assert shown["cases"][0]["workspace"] == written


def test_a_case_is_checked_with_what_it_takes_from_its_suite(shop: Shop) -> None:
    empty = {"diff": {"empty": True}}
    own = {"hidden": {"h": "shop/cart.py"}}
    shop.suite(case("?", empty, workspace={"setup": [["true"]]}, id="fine"),
               case("?", empty, workspace=own, id="seen"))  # fmt: skip
    done = shop.evalcase("check")
    assert done.out.count("error[") == 1
    assert "error[bad-value]: `shop/cart.py` is in the template, where the agent" in done.out
    shop.write("s.eval.yaml", json.dumps({
        "workspace": {"hidden": {"h": A}}, "cases": [case("?", empty, workspace={"git": False})],
    }))  # fmt: skip
    assert "needs `template`, `repo` or `files`" in shop.evalcase("check").out


def test_the_schema_has_all_of_it() -> None:
    shown = json.dumps(suite_schema())
    assert all(f'"{name}"' in shown for name in ("repo", "commit", "prepare", "solution", "sh"))
    assert '"type": ["string", "object", "null"]' in shown


def test_a_solution_that_nothing_checks_is_warned_of(shop: Shop) -> None:
    shop.suite(case("?", {"contains": "x"}), solution={"sh": "true"})
    done = shop.evalcase("check")
    assert done.code == 0
    assert "warning[nothing-to-grade]: nothing checks the `solution`" in done.out
