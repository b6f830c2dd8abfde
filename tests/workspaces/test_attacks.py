"""What an agent does to its workspace costs its own trial at most."""

import json
from pathlib import Path

import pytest

from evalcase.util.snapshots import copy_into
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


def test_links_out_of_a_workspace_are_never_followed(shop: Shop) -> None:
    shop.write("secret.txt", "outside")
    agent(shop, f"os.symlink({str(shop.root)!r}, 'out'); os.symlink('/etc/passwd', 'a')")
    shop.suite(case("?", {"files": {"a": {"contains": "root"}}}, {"diff": {"max_files": 2}}))
    assert shop.run().code == 3
    (trial,) = shop.trials()
    assert "leads out of the workspace by a link" in trial["grades"][0]["reason"]
    assert "outside" not in json.dumps(trial["workspace"])
    assert [each["mode"] for each in trial["workspace"]["changed"]] == ["120000", "120000"]
    assert shop.evalcase("grade", "latest").code == 3


def test_read_only_folders_are_compared_and_removed(shop: Shop) -> None:
    agent(
        shop, "os.makedirs('a/b'); Path('a/b/c').write_text('x')\n"
        "os.chmod('a/b', 0o500); os.chmod('a', 0o500)",
    )  # fmt: skip
    shop.suite(case("?", {"files": {"a/b/c": {"equals": "x"}}}, {"diff": {"max_files": 1}}))
    assert shop.run().code == 0, shop.trials()
    assert shop.left() == []


def test_tests_of_an_agent_forge_nothing_once_they_are_restored(shop: Shop) -> None:
    check = "import os; raise SystemExit(os.path.exists('conftest.py') or os.path.exists('sub'))"
    agent(
        shop, "Path('conftest.py').write_text('import os; os._exit(0)'); os.makedirs('sub')\n"
        "Path('sub/sitecustomize.py').write_text('1/0')",
    )  # fmt: skip
    shop.suite(
        case("?", {"type": "run", "fresh": True, "value": ["python3", "-c", check]},
             {"diff": {"never": ["conftest.py", "**/sitecustomize.py"]}}),
        restore=["conftest.py", "sub"],
    )  # fmt: skip
    assert shop.run().code == 1
    assert [each["score"] for each in shop.trials()[0]["grades"]] == [1.0, 0.0]


def test_what_is_ignored_is_restored_too(shop: Shop) -> None:
    """Python runs a compiled file that lies beside a test; git sees no folder of its own name."""
    agent(
        shop, "os.makedirs('tests/__pycache__'); os.makedirs('tests/.git')\n"
        "Path('tests/__pycache__/x.pyc').write_text('x')\n"
        "Path('tests/.git/conf.py').write_text('x'); os.mkfifo('tests/fifo')",
    )  # fmt: skip
    shop.suite(
        case("?", {"files": {"tests/__pycache__": "absent", "tests/.git": "absent",
                             "tests/fifo": "absent", "tests/test_cart.py": "unchanged"}}),
        restore=["tests/**"], ignore=["**/__pycache__/**", "**/__pycache__"],
    )  # fmt: skip
    assert shop.run().code == 0, shop.trials()


def test_a_secret_in_a_binary_file_is_not_stored_whatever_becomes_of_the_file(shop: Shop) -> None:
    shop.write("evalcase.toml", 'secrets = ["MY_API_KEY"]\n' + CONFIG)
    odd = "open(b'\\xff.bin', 'wb').write(b'\\0' + os.environ['MY_API_KEY'].encode())"
    made = "import os; open('k.bin', 'wb').write(b'\\0' + os.environ['MY_API_KEY'].encode())"
    for does, setup in ((odd, []), ("os.unlink('k.bin')", [["python3", "-c", made]])):
        agent(shop, does)
        shop.suite(case("?", {"diff": {"max_files": 1}}), setup=setup)
        assert shop.run(MY_API_KEY="s3cr3t-0123456789").code == 0
        assert shop.trials()[0]["workspace"].get("patch") is None, does


def test_a_file_that_is_written_all_the_time_ends_in_a_result(shop: Shop) -> None:
    """Its writer is ended before the files are compared."""
    agent(
        shop,
        """
import subprocess
write = "while True: open('log', 'a').write('x')"
subprocess.Popen([sys.executable, '-c', write], start_new_session=True,
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while not Path('log').exists():
    pass
""",
    )
    shop.suite(case("?", {"files": {"log": {"contains": "x"}}}))
    assert shop.run().code == 0, shop.trials()
    assert shop.evalcase("grade", "latest").code == 0


def test_too_large_a_change_is_listed_and_not_stored(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalcase.util.snapshots.MOST_PATCH_BYTES", 10_000)
    agent(shop, "Path('big').write_bytes(os.urandom(100_000))")
    fresh = {"type": "run", "fresh": True, "value": ["true"]}
    shop.suite(case("?", {"diff": {"max_files": 1}}, fresh, {"run": ["test", "-f", "big"]}))
    assert shop.run().code == 3
    (trial,) = shop.trials()
    assert trial["workspace"]["changed"][0]["binary"] is True
    assert "patch" not in trial["workspace"]
    assert [each["passed"] for each in trial["grades"]] == [True, False, True]
    assert "no fresh copy can be made: what was changed" in trial["grades"][1]["reason"]


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


def test_attributes_of_a_workspace_change_nothing_when_it_is_made_again(shop: Shop) -> None:
    shop.write("shop/.gitattributes", "* text eol=crlf ident\n")
    agent(
        shop, "Path('cart.py').write_bytes(b'a $Id$\\nb\\r\\n'); Path('new').write_bytes(b'x\\n')"
    )
    shop.suite(case("?", {"files": {"cart.py": {"equals": "a $Id$\nb\r\n"}}}))
    assert shop.run().code == 0, shop.trials()
    assert shop.evalcase("grade", "latest").code == 0, shop.trials()


def test_a_folder_of_more_names_than_a_program_takes_is_copied(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    for number in range(10_000):
        (tmp_path / "a" / f"{number}{'x' * 230}").touch()
    copy_into(str(tmp_path / "a"), str(tmp_path / "b"))
    assert sum(1 for _ in (tmp_path / "b").iterdir()) == 10_000
