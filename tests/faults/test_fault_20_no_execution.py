import json
import shutil
from pathlib import Path

import pytest

from evalcase.report.formats import FORMS
from tests.cli.viewing import view
from tests.faults.audited import audited
from tests.faults.sabotage import sabotaged
from tests.run.project import CONFIG, Project, case

ALARM = """
import os, sys

HERE, end = os.getcwd(), os._exit
FORBIDDEN = (
    "socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system",
    "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn", "ctypes.dlopen",
)

def alarm(event, arguments):
    # A module is run by `exec`; those of the project are the ones below this folder.
    is_code = event == "exec" and arguments[0].co_filename.startswith(HERE)
    if event in FORBIDDEN or is_code:
        os.write(2, f"ALARM {event} {arguments}\\n".encode())
        end(99)

sys.addaudithook(alarm)
"""

TRAP = "open('pwned', 'w').close()\nanswer = other = grade = slow_grader = None\n"

MEAN = {
    "id": "mean",
    "input": "say {{os.system('touch pwned')}} ${touch pwned} $(touch pwned) `touch pwned`",
    "expected_output": "ok",
    "graders": ["python:code2:grade", {"python:code2:grade": {}}],
    "targets": ["command:touch pwned", "python:code2:answer"],
}


@pytest.fixture
def watched(project: Project, tmp_path: Path) -> dict[str, str]:
    """The environment of a Python that ends at once if anything is executed or connected to."""
    (tmp_path / "code2.py").write_text(TRAP)
    project.configure(f'{CONFIG}\n[targets.mean]\nkind = "command"\ncommand = ["touch", "pwned"]\n')
    project.suite(case("one"), MEAN)
    # As the installed command is: `python -m` alone would look into the current folder first.
    return {**sabotaged(tmp_path, ALARM), "PYTHONSAFEPATH": "1"}


def test_fault_20_the_alarm_works(project: Project, watched: dict[str, str]) -> None:
    done = project.run_process("run", env=watched)
    assert (done.code, "ALARM exec" in done.err) == (99, True)
    project.suite(case("one"))
    done = project.run_process("run", "--target", "command:touch pwned", env=watched)
    assert (done.code, "ALARM exec" in done.err) == (99, False)


@pytest.mark.parametrize(
    "command",
    [
        ["check"], ["show", "s.eval.yaml"], ["schema"], ["migrate", "s.eval.yaml"], ["list"],
        ["run", "--no-exec"], ["run", "--no-exec", "--dry-run"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_fault_20_reading_a_stranger_s_suite_executes_imports_and_connects_nothing(
    project: Project, watched: dict[str, str], command: list[str]
) -> None:
    for name in ("conftest", "evalcase", "yaml", "click", "json"):
        (project.path / f"{name}.py").write_text(TRAP)
    done = project.run_process(*command, env=watched)
    assert done.code == (2 if "--no-exec" in command else 0), done.err
    assert "ALARM" not in done.err
    assert not (project.path / "pwned").exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"target": "python:agent:answer"},
        {"target": "command:cat"},
        {"target": "other"},
        {"target": "echo", "graders": ["python:agent:slow_grader"]},
    ],
    ids=json.dumps,
)
def test_fault_20_no_exec_refuses_whatever_would_start_a_process_or_import_code(
    project: Project, watched: dict[str, str], fields: dict[str, object]
) -> None:
    project.suite({**case("one"), **fields})
    done = project.run_process("run", "--no-exec", env=watched)
    assert (done.code, "--no-exec" in done.err, project.runs()) == (2, True, [])


def test_fault_20_no_exec_runs_what_executes_nothing(
    project: Project, watched: dict[str, str]
) -> None:
    project.suite({"id": "one", "input": "ok", "expected_output": "ok", "target": "echo"})
    done = project.run_process("run", "--no-exec", "--json", env=watched)
    assert (done.code, done.counts()) == (0, {"passed": 1})
    for command in (["list"], ["report"], ["report", "--case", "one"]):
        assert project.run_process(*command, env=watched).code == 0


PROMPTFOO = """
prompts: ["{{question}}"]
providers: ["file://code2.py", "exec: touch pwned", "https://example.org/answer"]
defaultTest: {options: {transform: "file://code2.py:answer"}}
tests:
  - vars: {question: "file://code2.py"}
  - vars: {question: "$(touch pwned)"}
    assert: [{type: python, value: "file://code2.py"}, {type: webhook, value: "https://a.example"}]
"""

EXITS = {"calibrate": 2, "import": 1, "merge": 1}
"""Where it is not 0: nobody has labelled anything, code is left out, a case has failed."""
READING = [
    ["check"], ["check", "--fix"], *(["check", "--format", each] for each in ("json", "sarif")),
    ["explain", "bad-target"],
    ["show", "s.eval.yaml"], ["schema"], ["schema", "--config"], ["migrate", "s.eval.yaml"],
    ["import", "promptfooconfig.yaml", "-o", "new.eval.yaml"],
    ["harvest", "traces.otlp.json", "-o", "new.eval.yaml"],
    ["graders"], ["graders", "python"], ["graders", "script"],
    ["list"], ["list", "--json"], ["report", "--case", "one"],
    *(["report", "--format", form, "-o", f"report-of.{form}"] for form in FORMS),
    ["compare"], ["compare", "--json"],
    *(["compare", "-o", f"compared.{each}"] for each in ("html", "md")),
    ["merge", "shards"], ["prune", "--keep", "1"], ["prune", "--keep", "1", "--yes"],
    ["calibrate"],
]  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with runs, in which all code has become a trap since."""
    project = Project(tmp_path_factory.mktemp("finished"))
    grader = "python:agent:slow_grader"
    project.suite(case("one", "say no", graders=[grader]), case("two"))
    for options in ([], [], ["--shard", "1/2"], ["--shard", "2/2"]):
        folder = ["--runs-dir", "shards"] if options else []
        assert project.run("run", "--quiet", *options, *folder).code in (0, 1)
    assert project.run("report", "--format", "otlp", "-o", "traces.otlp.json").code == 0
    (project.path / "promptfooconfig.yaml").write_text(PROMPTFOO)
    project.configure(f'{CONFIG}\n[targets.mean]\nkind = "command"\ncommand = ["touch", "pwned"]\n')
    project.suite(case("one", "say no", graders=[grader]), case("two"), MEAN)
    for name in ("agent", "code2", "conftest", "sitecustomize"):
        (project.path / f"{name}.py").write_text(TRAP)
    return project.path


@pytest.fixture
def trapped(finished: Path, tmp_path: Path) -> Project:
    """A copy of it, to be changed."""
    project = Project(tmp_path)
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return project


def test_fault_20_the_traps_are_heard(trapped: Project) -> None:
    with audited(trapped.path) as heard:
        trapped.run("run")
    assert any(each.startswith("exec ") for each in heard)
    assert (trapped.path / "pwned").exists()
    trapped.suite(case("one"))
    with audited(trapped.path) as heard:
        trapped.run("run", "--target", "command:touch pwned")
    assert any(each.startswith(("subprocess.Popen", "os.posix_spawn")) for each in heard), heard
    with audited(trapped.path) as heard:
        trapped.run("run", "--target", "http:http://127.0.0.1:9/")
    assert any(each.startswith("socket.connect") for each in heard), heard


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_fault_20_commands_that_only_read_execute_import_and_connect_nothing(
    trapped: Project, command: list[str]
) -> None:
    with audited(trapped.path) as heard:
        done = trapped.run(*command)
    assert heard == []
    assert not (trapped.path / "pwned").exists()
    assert done.code == EXITS.get(command[0], 0), done.err


def test_fault_20_a_view_executes_nothing_and_opens_no_socket_but_its_own(
    trapped: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = ALARM.replace('"socket.bind", "socket.getaddrinfo", ', "")
    alarmed = {**sabotaged(tmp_path_factory.mktemp("alarm"), own), "PYTHONSAFEPATH": "1"}
    with view(trapped, env=alarmed) as seen:
        runs = [path.name for path in trapped.runs()]
        assert seen.get("").status == 200
        assert seen.get(f"run/{runs[0]}").status == 200
        assert seen.get(f"compare/{runs[0]}/{runs[1]}").status == 200
    assert not (trapped.path / "pwned").exists()


def test_fault_20_no_exec_refuses_ray_which_imports_from_the_project(project: Project) -> None:
    project.suite({"id": "one", "input": "ok", "expected_output": "ok", "target": "echo"})
    done = project.run("run", "--no-exec", "--engine", "ray")
    assert (done.code, "--no-exec" in done.err, project.runs()) == (2, True, [])
