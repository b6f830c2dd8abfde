"""What an isolated agent sees, with bwrap, and with a program in the place of docker."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import ConfigError
from evalcase.util.processes import check_isolation
from tests.workspaces.shop import Shop, case

PYTHON = "/usr/bin/python3"
AGENT = """
import os, socket, sys
for path in sys.argv[1:]:
    print(path, "seen" if os.path.exists(path) else "hidden")
print(os.getcwd(), os.environ["HOME"], os.environ["PWD"], sorted(os.listdir(".")))
open("cart.py", "w").write("fixed")
open(os.path.expanduser("~/notes"), "w").write("mine")
try:
    open(__file__, "a")
except OSError:
    print("read-only")
"""


@pytest.fixture
def bwrap() -> None:
    if not Path(PYTHON).exists():
        pytest.skip("the system has no Python of its own")
    try:
        check_isolation("bwrap", {"PATH": "/usr/bin:/bin"})
    except ConfigError as error:
        pytest.skip(f"bwrap is not usable here: {error}")


def target(shop: Shop, isolation: str, *command: str, **more: Any) -> None:
    options = {"kind": "command", "command": [PYTHON, *command], "isolation": isolation, **more}
    lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
    tables = [line.replace('": "', '" = "') for line in lines]
    shop.write("evalcase.toml", "\n".join(["[targets.agent]", *tables]))


@pytest.mark.usefixtures("bwrap")
def test_bwrap_shows_the_workspace_a_home_and_mounts(shop: Shop) -> None:
    shop.write("seer.py", AGENT)
    shop.write("evals/hidden.py", "the answer")
    hidden, other = str(shop.root / "evals/hidden.py"), str(shop.root / "data")
    shop.write("data/x", "x")
    look = ["{project}/seer.py", hidden, other, str(Path.home()), "{workspace}/cart.py"]
    target(shop, "bwrap", *look, mounts=["seer.py", "data"])
    shop.suite(
        case("?", {"contains": "/workspace /home/agent /workspace ['.git', 'cart.py', 'tests']"},
             {"contains": ["hidden.py hidden", "data seen", "cart.py seen", "read-only"]},
             {"run": [PYTHON, "-c", "import tests.t"]}, {"diff": {"only": ["cart.py"]}}),
        hidden={"tests/t.py": {"text": "import os, socket\n"
                               f"assert not os.path.exists({hidden!r})\n"
                               "try:\n    socket.create_connection(('1.1.1.1', 53), 1)\n"
                               "except OSError as error:\n    assert error.errno == 101, error\n"
                               "else:\n    raise SystemExit('there is a network')\n"}},
    )  # fmt: skip
    done = shop.run()
    assert done.code == 0, (done.out, done.err)
    (trial,) = shop.trials()
    assert trial["workspace"]["isolation"] == "bwrap"
    assert str(shop.cache) not in json.dumps(trial["answer"])


@pytest.mark.usefixtures("bwrap")
def test_a_stored_answer_is_graded_in_the_isolation_it_had(shop: Shop) -> None:
    target(shop, "bwrap", "-c", "open('a', 'w')")
    shop.suite(case("?", {"run": ["test", "!", "-e", str(shop.root)]}))
    assert shop.run().code == 0
    shop.write("evalcase.toml", "")
    graded = shop.evalcase("grade", "latest")
    assert graded.code == 0, graded.out


def test_a_stored_answer_without_isolation_is_graded_without(shop: Shop) -> None:
    log = install_docker(shop)
    path = f"{shop.root}/bin:/usr/bin:/bin"
    target(shop, "none", "-c", "open('a', 'w')", stdin="none")
    shop.suite(case("?", {"run": ["test", "-e", "a"]}))
    assert shop.run(PATH=path).code == 0
    target(shop, "docker:shop:1", "-c", "open('a', 'w')", stdin="none")
    assert shop.evalcase("grade", "latest", PATH=path).code == 0
    assert [each[0] for each in calls(log)] == [["info"]], "the machine is asked, and no more"


@pytest.mark.usefixtures("bwrap")
def test_what_is_left_in_a_sandbox_is_ended_at_the_time_limit(shop: Shop) -> None:
    mark = f"evalcase-sleeper-{time.time_ns()}"
    code = f"""
import subprocess, time
subprocess.Popen(["sleep", "300"], start_new_session=True, env={{"{mark}": "1"}})
print("on", flush=True)
time.sleep(300)
"""
    target(shop, "bwrap", "-c", code, time_s=1, stdin="none")
    shop.suite(case("?", {"finish": "max_time"}, {"contains": "on"}))
    done = shop.run()
    assert done.code == 0, (done.out, done.err)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            assert mark.encode() not in (folder / "environ").read_bytes()
        except OSError:
            continue


DOCKER = """#!{python}
import json, os, subprocess, sys
from pathlib import Path
log = Path({log!r})
with log.open("a") as file:
    seen = {{name: os.environ.get(name) for name in ("KEY", "HOME")}}
    file.write(json.dumps([sys.argv[1:], seen]) + "\\n")
argv = sys.argv[1:]
if argv[0] == "run":
    places = [argv[i + 1].split(":")[:2] for i, each in enumerate(argv) if each == "-v"]
    command = argv[argv.index("shop:1") + 1:]
    for source, place in places:
        command = [each.replace(place, source) for each in command]
    here = next(source for source, place in places if place == "/workspace")
    sys.exit(subprocess.run(command, cwd=here).returncode)
"""


def install_docker(shop: Shop) -> Path:
    log = shop.root / "docker.jsonl"
    shop.write("bin/docker", DOCKER.format(python=sys.executable, log=str(log)))
    (shop.root / "bin/docker").chmod(0o755)
    return log


def calls(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_container_gets_mounts_and_names_of_variables_and_is_removed(shop: Shop) -> None:
    log = install_docker(shop)
    path = f"{shop.root}/bin:/usr/bin:/bin"
    shop.write("data/x", "x")
    code = "import pathlib; pathlib.Path('cart.py').write_text('fixed'); print('done')"
    target(shop, "docker:shop:1", "-c", code, mounts=["data"], env={"KEY": "s3cret"}, stdin="none")
    graders = {"run": ["grep", "fixed", "cart.py"]}, {"diff": {"only": ["cart.py"]}}
    shop.suite(case("?", *graders), teardown=[["true"]])
    done = shop.run(PATH=path, EDGE="k3y")
    assert done.code == 0, (done.out, done.err)
    info, agent, removed, grader, _, teardown, _ = calls(log)
    assert info[0] == ["info"]
    argv = agent[0]
    assert argv[:4] == ["run", "--rm", "-i", "--init"]
    assert f"{shop.root}/data:{shop.root}/data:ro" in argv
    assert (agent[1]["KEY"], "s3cret" in json.dumps(argv)) == ("s3cret", False)
    assert agent[1]["HOME"] == str(Path.home())  # the client's; in the container it is another
    assert "HOME=/home/agent" in argv
    assert removed[0] == ["rm", "-f", argv[argv.index("--name") + 1]]
    for (words, _), is_agent in ((agent, True), (grader, False), (teardown, False)):
        assert ("none" in words, "EDGE" in words) == (not is_agent, is_agent)
    (trial,) = shop.trials()
    assert trial["workspace"]["isolation"] == "docker:shop:1"


def test_a_container_is_removed_at_the_time_limit(shop: Shop) -> None:
    log = install_docker(shop)
    path = f"{shop.root}/bin:/usr/bin:/bin"
    target(shop, "docker:shop:1", "-c", "import time; time.sleep(60)", stdin="none")
    shop.suite(case("?", {"diff": {"empty": True}}))
    done = shop.run("--timeout", "1", PATH=path)
    assert done.code == 3
    assert [each[0][0] for each in calls(log)] == ["info", "run", "rm"]


def test_a_machine_without_the_program_is_told_before_the_run(shop: Shop) -> None:
    target(shop, "podman:shop:1", "-c", "1")
    shop.suite(case("?", {"diff": {"empty": True}}))
    done = shop.run(PATH="/usr/bin:/bin")
    assert done.code == 2
    assert "needs the program `podman`, and there is none on this machine" in done.err


def test_check_says_what_is_wrong_with_isolation_and_mounts(shop: Shop) -> None:
    target(shop, "docker", "-c", "1", mounts=["nowhere"], cwd="shop")
    shop.suite(case("?", {"diff": {"empty": True}}))
    out = shop.evalcase("check").out
    assert "is `none`, `bwrap`, `docker:IMAGE` or `podman:IMAGE`, not `docker`" in out
    assert "there is no file or folder `nowhere`" in out


@pytest.mark.usefixtures("bwrap")
def test_an_isolated_agent_has_its_home_and_asks_for_no_permission(shop: Shop) -> None:
    answers = Path(__file__).parent.parent / "answers/claude_code/one_call.jsonl"
    shop.write("bin/claude", f"#!{PYTHON}\nimport json, os, sys\n"
               f"print(open({str(answers)!r}).read())\n"
               "told = {'argv': sys.argv, 'env': dict(os.environ)}\n"
               "open('told', 'w').write(json.dumps(told))\n")  # fmt: skip
    (shop.root / "bin/claude").chmod(0o755)
    shop.write("servers.json", "{}")
    shop.write("evalcase.toml", '[targets.agent]\nkind = "claude"\nisolation = "bwrap"\n'
               f'program = "{shop.root}/bin/claude"\nmounts = ["bin", "{answers}"]\n'
               'mcp = "servers.json"\n')  # fmt: skip
    seen = {"told": {"json": {"env.HOME": "/home/agent", "env.IS_SANDBOX": "1",
                              "env.CLAUDE_CONFIG_DIR": "/home/agent/.claude"}}}  # fmt: skip
    shop.suite(
        case("?", {"files": seen}, {"files": {"told": {"contains": ["bypassPermissions"]}}},
             {"run": ["grep", "ANTHROPIC_API_KEY", "told"]}, {"tool_calls": {"min": 1}}),
    )  # fmt: skip
    done = shop.run(ANTHROPIC_API_KEY="k" * 20)
    assert done.code == 0, (done.out, done.err)
