"""Sessions of agents that were recorded elsewhere are graded without an agent."""

import json
from pathlib import Path
from typing import Any

import evalcase
from tests.workspaces.shop import Shop, case

PATCH = """diff --git a/cart.py b/cart.py
--- a/cart.py
+++ b/cart.py
@@ -1,2 +1,2 @@
 def total(a, b):
-    return a - b
+    return a + b
"""
GRADERS: list[Any] = [
    {"tool_calls": {"needed": {"@edit": 1}, "forbidden": ["@web"]}},
    {"trajectory": [{"tool": "Edit", "input": {"file_path": "/workspace/cart.py"}}]},
    {"diff": {"only": ["cart.py"], "max_lines": 2}},
    {"run": ["python3", "-c", "from cart import total; assert total(1, 2) == 3"]},
]


def session(folder: str = "/home/me/shop") -> str:
    def said(*content: Any) -> dict[str, Any]:
        usage = {"input_tokens": 3, "output_tokens": 2}
        message = {"id": "m", "role": "assistant", "model": "wren-5", "content": [*content]}
        return {"type": "assistant", "cwd": folder, "message": {**message, "usage": usage}}

    edit = {"file_path": f"{folder}/cart.py"}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    events = [
        {"type": "user", "cwd": folder, "message": {"role": "user", "content": "Fix it."}},
        said({"type": "tool_use", "id": "t1", "name": "Edit", "input": edit}),
        {"type": "user", "message": {"role": "user", "content": [result]}},
        said({"type": "text", "text": "Done."}),
    ]
    return "".join(f"{json.dumps(each)}\n" for each in events)


def imported(shop: Shop, *more: str) -> Path:
    shop.write("s.jsonl", session())
    shop.write("fix.diff", PATCH)
    arguments = ("s.jsonl", "--from", "claude-session", "--case", "c", "-o", "answers.jsonl")
    done = shop.evalcase("import", *arguments, *more)
    assert done.code == 0, done.err
    assert done.out == "wrote answers.jsonl: the answer to `c`\n"
    return shop.root / "answers.jsonl"


def test_calls_diff_and_tests_of_an_imported_session_are_graded(shop: Shop) -> None:
    answers = imported(shop, "--patch", "fix.diff")
    shop.suite(case("Fix it.", *GRADERS))
    done = shop.evalcase("run", "--target", "replay:answers.jsonl")
    assert done.code == 0, (done.out, done.err)
    (trial,) = shop.trials()
    text = session().replace("/home/me/shop", "/workspace")
    read = evalcase.read_transcript(text, "claude-session")
    assert trial["answer"] == json.loads(json.dumps([dict(each) for each in read.messages]))
    assert trial["usage"] == {"input_tokens": 3, "output_tokens": 2}
    # Further answers are added to the file; a second one to a case is refused.
    again = ("s.jsonl", "--from", "claude-session", "-o", "answers.jsonl", "--case")
    assert shop.evalcase("import", *again, "d").code == 0
    assert [json.loads(line)["case"] for line in answers.read_text().splitlines()] == ["c", "d"]
    refused = shop.evalcase("import", *again, "c")
    assert (refused.code, "has an answer to `c`" in refused.err) == (2, True)
    # A stored run is replayed with its patch, too.
    run = shop.trials()[0]["run"]
    done = shop.evalcase("run", "--target", f"replay:.evalcase/runs/{run}")
    assert done.code == 0, (done.out, done.err)


def test_an_answer_without_its_patch_is_no_failure_of_the_agent(shop: Shop) -> None:
    imported(shop)
    shop.suite(case("Fix it.", *GRADERS))
    done = shop.evalcase("run", "--target", "replay:answers.jsonl")
    assert done.code == 3
    assert "has no patch of its workspace" in done.out
    shop.write("shop/cart.py", "changed since\n")
    (shop.root / "answers.jsonl").unlink()
    imported(shop, "--patch", "fix.diff")
    done = shop.evalcase("run", "--target", "replay:answers.jsonl")
    assert done.code == 3
    assert "doesn't apply" in done.out


def test_what_can_not_be_imported_is_told(shop: Shop) -> None:
    shop.write("s.jsonl", session() + '{"type": "assist\n')
    shop.write("bad.diff", "hello\n")
    start = ("import", "s.jsonl", "--from", "claude-session")
    assert "line 5 of the session" in shop.evalcase(*start, "--case", "c").err
    assert "--case says which case" in shop.evalcase(*start).err
    shop.write("s.jsonl", session())
    assert "is no patch" in shop.evalcase(*start, "--case", "c", "--patch", "bad.diff").err
    shop.write("suite.yaml", "cases: []")
    assert "--case and --patch go with" in shop.evalcase("import", "suite.yaml", "--case", "c").err


def test_secrets_of_a_session_are_not_written(shop: Shop) -> None:
    shop.write("s.jsonl", session().replace("Done.", "The key is k3y-0123456789abcdef."))
    start = ("import", "s.jsonl", "--from", "claude-session", "--case", "c")
    done = shop.evalcase(*start, SHOP_API_KEY="k3y-0123456789abcdef")
    assert "k3y-0123456789abcdef" not in done.out
    shop.write("fix.diff", PATCH.replace("a + b", "'k3y-0123456789abcdef'"))
    done = shop.evalcase(*start, "--patch", "fix.diff", SHOP_API_KEY="k3y-0123456789abcdef")
    assert "holds a secret" in done.err
