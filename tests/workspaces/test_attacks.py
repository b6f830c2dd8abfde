"""What an agent does to its workspace costs its own trial at most."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import Result, environment
from tests.cli.in_process import run_in_process
from tests.for_each import for_each
from tests.workspaces.shop import CONFIG, Shop, case


def agent(shop: Shop, code: str) -> None:
    shop.write("agent.py", f"import os, shutil, sys\nfrom pathlib import Path\n{code}\n")


def test_an_agent_may_remove_its_workspace(shop: Shop) -> None:
    agent(shop, "here = os.getcwd(); os.chdir('/'); shutil.rmtree(here)")
    shop.suite(case("?", {"files": {"cart.py": "absent"}}, {"diff": {"max_files": 2}}))
    assert shop.run().code == 0, shop.trials()


def test_links_and_folders_in_the_way_of_restored_files_are_removed(shop: Shop) -> None:
    outside = shop.root / "outside"
    outside.mkdir()
    (outside / "conftest.py").write_text("forged")
    agent(
        shop, f"shutil.rmtree('tests'); os.symlink({str(outside)!r}, 'tests'); os.makedirs('h/x')"
    )
    grader = {"files": {
        "tests/test_cart.py": {"equals": "old\n"}, "tests/conftest.py": "absent",
        "h": {"equals": "hidden"},
    }}  # fmt: skip
    shop.suite(case("?", grader), restore=["tests"], hidden={"h": {"text": "hidden"}})
    assert shop.run().code == 0, shop.trials()
    assert [path.name for path in outside.iterdir()] == ["conftest.py"]


def test_another_folder_in_the_place_of_a_workspace_is_not_touched(shop: Shop) -> None:
    victim = shop.root / "victim/tests"
    victim.mkdir(parents=True)
    (victim / "precious.py").write_text("mine")
    agent(
        shop,
        "here = os.getcwd(); os.chdir('..'); os.rename(here, 'other')\n"
        f"os.symlink({str(victim.parent)!r}, here)",
    )
    shop.suite(case("?", {"diff": {"max_files": 9}}), restore=["tests"])
    assert shop.run().code == 3
    assert "another folder" in shop.trials()[0]["grades"][0]["reason"]
    assert (victim / "precious.py").read_text() == "mine"


def test_an_error_of_an_unknown_kind_can_be_recorded(shop: Shop) -> None:
    shop.write(
        "odd.py",
        "import evalcase\n\ndef answer(text):\n"
        "    raise evalcase.TargetError('busy', kind='rate_limit')\n",
    )
    shop.write("s.eval.yaml", json.dumps([case("?", "json")]))
    assert shop.evalcase("run", "-t", "python:odd:answer").code == 3
    assert shop.trials()[0]["failure"]["kind"] == "exception"


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
    shop.write("evalcase.toml", 'secrets = ["MY_API_KEY"]\n' + CONFIG)
    agent(shop, "Path('a.bin').write_bytes(b'\\0' + os.environ['MY_API_KEY'].encode())")
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
    lone = case("?", {"diff": {"empty": True}}, workspace={"template": "shop"})
    shop.write("s.eval.yaml", json.dumps([lone]))
    env = {**environment(XDG_CACHE_HOME=str(shop.cache)), **variables}
    done = Result(*run_in_process(["run", "-t", "agent"], cwd=shop.root, env=env))
    assert done.code == 2
    assert told in done.err
