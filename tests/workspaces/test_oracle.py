"""`run --oracle` checks the cases themselves, and `evalcase workspace` makes one again."""

import json
from typing import Any

from tests.for_each import for_each
from tests.workspaces.shop import Shop, case

PATCH = """--- a/cart.py
+++ b/cart.py
@@ -1,2 +1,2 @@
 def total(a, b):
-    return a - b
+    return a + b
"""
CHECK = {"run": ["python3", "-c", "from cart import total; assert total(1, 2) == 3"]}
SOLUTIONS: list[Any] = [
    "evals/fix.patch", "evals/fixed", {"sh": "sed -i 's/a - b/a + b/' cart.py"},
]  # fmt: skip


def write_solutions(shop: Shop) -> None:
    shop.write("evals/fix.patch", PATCH)
    shop.write("evals/fixed/cart.py", "def total(a, b):\n    return a + b\n")


@for_each("solution", SOLUTIONS)
def test_a_solution_passes_and_an_untouched_workspace_fails(shop: Shop, solution: Any) -> None:
    write_solutions(shop)
    shop.suite(case("?", CHECK, {"contains": "never"}), solution=solution)
    done = shop.evalcase("run", "--oracle")
    assert done.code == 0, done.out
    assert "1 of 1 case is sound" in done.out
    assert [(each["target"], each["verdict"]) for each in shop.trials()] == [
        ("oracle", "passed"), ("untouched", "passed"),
    ]  # fmt: skip
    assert shop.evalcase("resume", "latest").code == 0
    assert shop.evalcase("grade", "latest").code == 0
    assert shop.left() == []


UNSOUND: list[tuple[dict[str, Any], int, str]] = [
    (case("?", CHECK, workspace={"solution": {"sh": "true"}}), 1, "failed s.eval.yaml: c (oracle)"),
    (case("?", {"files": {"cart.py": {"exists": True}}}), 1, "although nothing was changed"),
    (case("?", CHECK, workspace={"solution": {"sh": "false"}}), 3, "`false` exited with code 1"),
    (case("?", CHECK, workspace={"solution": "evals/late.patch"}), 3, "can't be applied"),
    (case("?", CHECK, workspace=False), 2, "no case has a `workspace` with a `solution`"),
]


@for_each(["unsound", "code", "told"], UNSOUND)
def test_an_unsound_case_is_named(
    shop: Shop, unsound: dict[str, Any], code: int, told: str
) -> None:
    write_solutions(shop)
    shop.write("evals/late.patch", PATCH.replace("def total(a, b)", "def late(a, b)"))
    if unsound.get("workspace") is False:
        unsound = {**unsound, "graders": ["json"]}
    shop.suite(unsound, solution="evals/fix.patch")
    done = shop.evalcase("run", "--oracle")
    assert done.code == code, done.out
    assert told in done.out + done.err


def test_the_files_of_a_solution_replace_links(shop: Shop) -> None:
    shop.write("outside", "mine")
    (shop.root / "shop/settings").symlink_to(shop.root / "outside")
    shop.write("solved/settings", "new")
    shop.suite(case("", {"run": ["grep", "-q", "new", "settings"]}), solution="solved")
    done = shop.evalcase("run", "--oracle")
    assert done.code == 0, done.out
    assert (shop.root / "outside").read_text() == "mine"


def test_cases_without_a_solution_are_named_and_left_out(shop: Shop) -> None:
    write_solutions(shop)
    own = {"solution": "evals/fix.patch"}
    shop.suite(case("?", CHECK, id="bare"), case("?", CHECK, id="solved", workspace=own))
    done = shop.evalcase("run", "--oracle")
    assert done.code == 0
    assert "not checked: bare (it has no `solution`)" in done.err
    assert "1 of 1 case is sound" in done.out


def test_repeats_find_flaky_tests(shop: Shop) -> None:
    flaky = (
        f"n=$(cat {shop.root}/n 2>/dev/null || echo 0); echo $((n+1)) > {shop.root}/n; test $n != 1"
    )
    shop.suite(case("?", {"run": ["sh", "-c", flaky]}), solution={"sh": "true"})
    done = shop.evalcase("run", "--oracle", "--repeat", "3", "--concurrency", "1")
    assert done.code == 1
    assert "of 3 passed, all needed" in done.out


def test_functions_that_see_no_workspace_are_left_out(shop: Shop) -> None:
    write_solutions(shop)
    shop.write(
        "looks.py",
        "def text(text): return 'never' in text\n"
        "from pathlib import Path\n"
        "def fixed(workspace): return 'a + b' in Path(workspace, 'cart.py').read_text()\n",
    )
    shop.suite(
        case("?", {"python": "looks:text"}, {"python": "looks:fixed"}), solution="evals/fix.patch"
    )
    assert shop.evalcase("run", "--oracle").code == 0, shop.trials()


@for_each("options", [["--target", "agent"], ["--processes", "2"]])
def test_an_oracle_asks_nobody_else(shop: Shop, options: list[str]) -> None:
    write_solutions(shop)
    shop.suite(case("?", CHECK), solution="evals/fix.patch")
    done = shop.evalcase("run", "--oracle", *options)
    assert done.code == 2
    assert "`oracle` asks no" in done.err


def test_another_solution_is_applied_when_a_run_is_resumed(shop: Shop) -> None:
    write_solutions(shop)
    shop.suite(case("?", CHECK), solution="evals/fix.patch")
    assert shop.evalcase("run", "--oracle").code == 0
    shop.write("evals/fix.patch", PATCH.replace("a + b", "a * b"))
    assert shop.evalcase("resume", "latest").code == 1


# Workspaces of stored trials


def test_the_workspace_of_a_trial_is_made_again(shop: Shop) -> None:
    shop.write("evals/hidden.py", "secret")
    prompt = "write cart.py fixed\nwrite tests/test_cart.py forged"
    shop.suite(
        case(prompt, {"diff": {"empty": False}}, repeat=2), restore=["tests/**"],
        hidden={"h.py": "evals/hidden.py"}, setup=[["touch", "made"]],
    )  # fmt: skip
    assert shop.run().code == 0
    look = shop.root / "look"
    done = shop.evalcase("workspace", "latest", "--case", "c", str(look))
    assert (done.code, "add --repeat, which is one of 1, 2" in done.err) == (2, True)
    again = ("workspace", "latest", "--case", "c", "--repeat", "2", str(look))
    assert shop.evalcase(*again).code == 0
    assert (look / "cart.py").read_text() == "fixed\n"
    assert (look / "tests/test_cart.py").read_text() == "forged\n"
    assert [(look / name).exists() for name in ("made", "h.py")] == [True, False]
    assert shop.left() == []
    (look / "mine").write_text("mine")
    done = shop.evalcase(*again)
    assert (done.code, (look / "mine").read_text()) == (2, "mine")


def test_a_workspace_that_comes_out_otherwise_is_not_made(shop: Shop) -> None:
    shop.suite(case("write cart.py fixed", {"diff": {"empty": False}}))
    assert shop.run().code == 0
    shop.write("shop/cart.py", "another")
    done = shop.evalcase("workspace", "latest", "--case", "c", "look")
    assert done.code == 3
    assert "can't be made again: its template, files or `setup` gave other files" in done.err
    assert not (shop.root / "look").exists()


def test_commands_for_the_record_of_somebody_else_need_trust(shop: Shop) -> None:
    shop.suite(case("write a hi", {"diff": {"empty": False}}), setup=[["touch", "made"]])
    assert shop.run().code == 0
    (run,) = (shop.root / ".evalcase/runs").glob("*/run.json")
    run.write_text(json.dumps({**json.loads(run.read_text()), "seal": "0" * 64}))
    argv = ("workspace", "latest", "--case", "c", str(shop.root / "look"))
    done = shop.evalcase(*argv)
    assert (done.code, (shop.root / "look").exists()) == (2, False)
    assert shop.evalcase(*argv, "--trust").code == 0
    assert (shop.root / "look/a").read_text() == "hi\n"
