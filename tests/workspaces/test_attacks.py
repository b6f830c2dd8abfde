"""What an agent does to its workspace costs its own trial at most."""

from __future__ import annotations

import json
from pathlib import Path

from tests.for_each import for_each
from tests.workspaces.shop import Shop, case


def agent(shop: Shop, code: str) -> None:
    shop.write("agent.py", f"import os, shutil, sys\nfrom pathlib import Path\n{code}\n")


def test_an_agent_may_remove_its_workspace(shop: Shop) -> None:
    agent(shop, "here = os.getcwd(); os.chdir('/'); shutil.rmtree(here)")
    shop.suite(case("?", {"files": {"cart.py": "absent"}}, {"diff": {"max_files": 2}}))
    assert shop.run().code == 0, shop.trials()


def test_a_folder_that_became_a_link_is_not_written_through(shop: Shop) -> None:
    outside = shop.root / "outside"
    outside.mkdir()
    agent(shop, f"shutil.rmtree('tests'); os.symlink({str(outside)!r}, 'tests')")
    grader = {"files": {"tests/test_cart.py": {"exists": True}}}
    shop.suite(case("?", grader), restore=["tests/**"])
    assert shop.run().code == 3
    assert "leads out of the workspace by a link" in shop.trials()[0]["grades"][0]["reason"]
    assert list(outside.iterdir()) == []


def test_a_repository_of_the_agent_runs_nothing(shop: Shop) -> None:
    agent(
        shop,
        "Path('.git/config').write_text('[core]\\nfsmonitor = touch PWNED\\n')\n"
        "Path('.gitattributes').write_text('* filter=x\\n')\n"
        "os.makedirs('sub/.git'); Path('sub/.git/config').write_text('x')\n"
        "Path('sub/a.txt').write_text('a')",
    )
    shop.suite(case("?", {"files": {"PWNED": "absent"}}, {"diff": {"max_files": 2}}))
    assert shop.run().code == 0, shop.trials()
    assert not list(Path(shop.root).rglob("PWNED"))


def test_odd_names_and_kinds_of_files_are_listed(shop: Shop) -> None:
    agent(
        shop,
        r"""
for name in ('a"b', "c\\d", "e\nf", " g ", "ä"):
    Path(name).write_text("x")
Path(os.fsdecode(b"\xff")).write_text("x")
Path("cart.py").unlink(); Path("cart.py").mkdir(); Path("cart.py/x").write_text("x")
os.mkfifo("pipe")
Path("bytes").write_bytes(bytes(range(256)) * 100)
""",
    )
    shop.suite(case("?", {"diff": {"max_files": 20}}))
    assert shop.run().code == 0, shop.trials()
    changed = {each["path"]: each["status"] for each in shop.trials()[0]["workspace"]["changed"]}
    assert changed == dict.fromkeys(
        ('a"b', "c\\d", "e\nf", " g ", "ä", "\\xff", "cart.py/x", "bytes"), "added"
    ) | {"cart.py": "deleted"}
    assert shop.evalcase("grade", "latest").code == 0


def test_a_secret_in_the_diff_is_neither_shown_nor_stored(shop: Shop) -> None:
    secret = "s3cr3t-0123456789"
    agent(shop, "Path('a.txt').write_text(os.environ['MY_API_KEY'])")
    shop.suite(case("?", {"diff": {"max_files": 1}}))
    assert shop.run(MY_API_KEY=secret).code == 0
    (run,) = (shop.root / ".evalcase/runs").glob("*/")
    assert secret.encode() not in b"".join(
        path.read_bytes() for path in run.rglob("*") if path.is_file()
    )
    assert "patch" not in shop.trials()[0]["workspace"]


@for_each(["variables", "told"], [
    ({"XDG_CACHE_HOME": "/dev/null/x"}, "no folder for workspaces"),
    ({"PATH": "/nowhere"}, "need the program `git`"),
])  # fmt: skip
def test_a_machine_without_what_is_needed_is_told_before_the_run(
    shop: Shop, variables: dict[str, str], told: str
) -> None:
    shop.write("evalcase.toml", '[targets.agent]\nkind = "python"\nfunction = "f:f"\n')
    shop.write("f.py", "def f(text): return text")
    shop.write(
        "s.eval.yaml",
        json.dumps([case("?", {"diff": {"empty": True}}, workspace={"template": "shop"})]),
    )
    from tests.cli.command import Result, environment
    from tests.cli.in_process import run_in_process

    env = {**environment(XDG_CACHE_HOME=str(shop.cache)), **variables}
    done = Result(*run_in_process(["run", "-t", "agent"], cwd=shop.root, env=env))
    assert done.code == 2
    assert told in done.err
