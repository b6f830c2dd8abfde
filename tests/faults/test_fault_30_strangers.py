"""What a record of somebody else names, and every way to look at it or to use it: nothing that it
names is opened, started, imported or connected to, and each of these would be if it was trusted."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evalcase.report.formats import FORMS
from tests.faults.witness import Witness, watching
from tests.run.project import CONFIG, Done, Project, case, cases
from tests.store.rows import encode_row
from tests.targets.server import Reply, Server, serving

CANARY = "canary-in-a-coal-mine"
KEY = "sk-sesame-0123456789"


class Scene(NamedTuple):
    """A project of one's own, and a folder outside of it that has what nobody may touch."""

    project: Project
    outside: Path
    server: Server
    run: Path
    """The record of a stranger, among the project's own runs."""

    def command(self, *arguments: str) -> Done:
        done = self.project.run(*arguments, env={"TOKEN": KEY})
        assert CANARY not in done.out + done.err
        return done


Edit = Callable[[Scene], dict[str, Any]]

# What `about` and `options` of a run.json can say: field and effect. The server and the folder
# outside are the witnesses.
NAMED: dict[str, Edit] = {
    "target, a program": lambda _: {"targets": ["command:touch pwned"]},
    "target, a module": lambda _: {"targets": ["python:trap:answer"]},
    "target, an address": lambda at: {"targets": [f"http:{at.server.url}/x"]},
    "target, a model elsewhere": lambda at: {"targets": [f"openai:m@{at.server.url}/v1"]},
    "target, another model elsewhere": lambda at: {"targets": [f"anthropic:m@{at.server.url}"]},
    "target, stored answers": lambda at: {"targets": [f"replay:{at.outside}/answers.jsonl"]},
    "target, one of the configuration with its key": lambda _: {"targets": ["served"]},
    "several targets": lambda _: {"targets": ["echo", "command:touch pwned"]},
    "default target": lambda _: {"about": {"default_target": "command:touch pwned"}},
    "environment file": lambda at: {"env_file": f"{at.outside}/proxy.env", "targets": ["served"]},
    "environment file, relative": lambda at: {
        "env_file": os.path.relpath(at.outside / "proxy.env", at.project.path),
        "targets": ["served"],
    },
    "path of another project": lambda at: {"paths": [str(at.outside)], "targets": ["echo"]},
    "path of another suite": lambda at: {
        "paths": [os.path.relpath(at.outside / "theirs.eval.yaml", at.project.path)],
        "targets": ["echo"],
    },
    "path of any file": lambda at: {"paths": [f"{at.outside}/any.yaml"], "targets": ["echo"]},
    "folder": lambda at: {
        "about": {"cwd": os.path.relpath(at.outside, at.project.path)}, "targets": ["echo"],
        "paths": ["."],
    },
    "folder, absolute": lambda at: {
        "about": {"cwd": str(at.outside)}, "targets": ["echo"], "paths": ["theirs.eval.yaml"]
    },
}  # fmt: skip

# What is no field of it: nothing comes of it even if it is trusted.
UNHEARD_OF: dict[str, Edit] = {
    "configuration": lambda at: {"about": {"config": f"{at.outside}/evalcase.toml"}},
    "root": lambda at: {"about": {"root": str(at.outside)}},
    "suites": lambda at: {"about": {"suites": {f"{at.outside}/theirs.eval.yaml": "0"}}},
    "targets of the summary": lambda _: {"about": {"targets": ["command:touch pwned"]}},
    "hashes of targets": lambda _: {"about": {"target_hashes": {"command:touch pwned": "0"}}},
    "pairs of suite and case": lambda at: {
        "selection": {"cases": [[f"{at.outside}/theirs.eval.yaml", "theirs"]]}, "targets": ["echo"]
    },
    "folder of runs": lambda at: {"runs_dir": str(at.outside)},
    "folder of the cache": lambda at: {"cache_dir": str(at.outside), "cache": True},
    "address": lambda at: {"base_url": at.server.url, "proxy": at.server.url},
}  # fmt: skip

LOOKS: dict[str, list[str]] = {
    "list": ["list"],
    "report": ["report", "latest"],
    "report of a case": ["report", "latest", "--case", "c0"],
    "report as JSON lines": ["report", "latest", "--format", "jsonl"],
}
FILES = {f"report as {form}": ["report", "latest", "--format", form, "-o", "x"] for form in FORMS}
USES: dict[str, list[str]] = {
    "resume": ["resume"],
    "resume by its id": ["resume", "RUN"],
    "resume by its folder": ["resume", "FOLDER"],
    "resume without code": ["resume", "latest", "--no-exec", "--json"],
    "resume what errored": ["resume", "latest", "--retry-errored"],
    "grade": ["grade", "latest"],
    "grade by what it holds": ["grade", "RUN", "--recorded", "--no-exec"],
}
OWN_GRADERS: dict[str, list[str]] = {
    "grade by a grader of one's own": ["grade", "RUN", "--recorded", "--grader", "contains: o"],
    "grade by a suite of one's own": ["grade", "RUN", "--suite", "s.eval.yaml"],
}
"""What is used of the record are its answers, so nobody has to trust it."""


def looks(number: int) -> dict[str, list[str]]:
    """Ways to look at a record, for one of several that differ: each form of a report meets every
    fourth of them, for all forms read a record in the same way."""
    files = [each for at, each in enumerate(FILES.items()) if (at + number) % 4 == 0]
    return LOOKS | dict(files)


TRAP = "import pathlib\npathlib.Path('pwned').touch()\n\ndef answer(question):\n    return 'ok'\n"
SERVED = """
[targets.served]
kind = "http"
url = "{}/answer"
key_env = "TOKEN"
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that somebody made elsewhere, of which one trial is missing."""
    project = Project(tmp_path_factory.mktemp("record"))
    project.suite(*cases(2))
    theirs = {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("their-home"))}
    project.run("run", "--quiet", "--concurrency", "1", env=theirs)
    project.keep_only(1)
    return project.runs()[0]


@pytest.fixture
def scene(project: Project, record: Path, tmp_path: Path) -> Iterator[Scene]:
    outside = tmp_path.with_name(f"{tmp_path.name}-outside")
    outside.mkdir()
    (outside / "trap.py").write_text(TRAP)
    (outside / "evalcase.toml").write_text('target = "command:touch pwned"\n')
    (outside / "answers.jsonl").write_text(json.dumps({"case": "c0", "answer": CANARY}) + "\n")
    (outside / "any.yaml").write_text(f"password: {CANARY}\n")
    (outside / "theirs.eval.yaml").write_text(
        f"cases: [{{id: theirs, input: {CANARY}, expected_output: {CANARY}}}]\n"
    )
    project.suite(*cases(2))
    (project.path / "trap.py").write_text(TRAP)
    run = project.path / ".evalcase" / "runs" / record.name
    shutil.copytree(record, run)
    with serving(Reply(b'{"text": "ok"}')) as server:
        project.configure("retries = 0\n" + CONFIG + SERVED.format(server.url))
        proxy = f"HTTP_PROXY={server.url}\nhttp_proxy={server.url}\nCANARY={CANARY}\n"
        (outside / "proxy.env").write_text(proxy)
        yield Scene(project, outside, server, run)
    shutil.rmtree(outside)


def edit(scene: Scene, change: Edit) -> None:
    """Write into the run.json of the stranger's record what a stranger might."""
    path = scene.run / "run.json"
    data, options = json.loads(path.read_text()), change(scene)
    data["about"].update(options.pop("about", {}))
    data["about"]["options"].update(options)
    path.write_text(json.dumps(data))


def touched(scene: Scene, witness: Witness) -> list[str]:
    """Everything that was done which a stranger could want."""
    found = [*witness.seen, *(f"request {each.path}" for each in scene.server.requests)]
    if (scene.project.path / "pwned").exists() or (scene.outside / "pwned").exists():
        found.append("pwned")
    return found


def arguments(scene: Scene, command: list[str]) -> list[str]:
    names = {"RUN": scene.run.name, "FOLDER": str(scene.run)}
    return [names.get(word, word) for word in command]


@pytest.mark.parametrize(("number", "change"), [*enumerate(NAMED.values())], ids=NAMED)
def test_fault_30_what_a_stranger_s_record_names_is_not_touched(
    scene: Scene, number: int, change: Edit
) -> None:
    edit(scene, change)
    for name, command in {**looks(number), **USES}.items():
        with watching(scene.outside) as witness:
            done = scene.command(*arguments(scene, command))
        assert touched(scene, witness) == [], name
        assert done.code == (2 if name in USES else 0), (name, done)
    assert scene.project.calls() == []


def test_fault_30_nobody_is_led_to_go_on_with_a_stranger_s_run(scene: Scene) -> None:
    assert "not made by you here" in scene.command("list").out
    for command in (*LOOKS.values(), *FILES.values()):
        assert "evalcase resume" not in scene.command(*command).out


@pytest.mark.parametrize("change", NAMED.values(), ids=NAMED)
def test_fault_30_the_witnesses_see_what_is_done_if_it_is_trusted(
    scene: Scene, change: Edit
) -> None:
    edit(scene, change)
    with watching(scene.outside) as witness:
        scene.project.run("resume", "--trust", env={"TOKEN": KEY})
    assert touched(scene, witness) != []


@pytest.mark.parametrize("change", [*NAMED.values(), *UNHEARD_OF.values()])
def test_fault_30_a_record_whose_answers_are_used_names_nothing_else(
    scene: Scene, change: Edit
) -> None:
    edit(scene, change)
    with watching(scene.outside) as witness:
        done = scene.command("run", "--target", f"replay:{scene.run}", "--case", "c0", "--json")
        scene.command("run", "--failed-of", scene.run.name, "--target", "echo", "--quiet")
        for command in OWN_GRADERS.values():
            scene.command(*arguments(scene, command))
    assert (touched(scene, witness), done.counts()) == ([], {"passed": 1})


def link_to(name: str) -> Callable[[Scene, Path], None]:
    def link(scene: Scene, path: Path) -> None:
        path.symlink_to(scene.outside / name)

    return link


def zeros(_: Scene, path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(_: Scene, path: Path) -> None:
    os.mkfifo(path)


def folder(_: Scene, path: Path) -> None:
    path.mkdir()


THINGS = {
    "a link": link_to("answers.jsonl"), "a link to nothing": link_to("nothing"),
    "a link to a device": zeros, "a pipe": pipe, "a folder": folder,
}  # fmt: skip


@pytest.mark.parametrize(("number", "make"), [*enumerate(THINGS.values())], ids=THINGS)
@pytest.mark.parametrize("name", ["run.json", "journal.jsonl", "writer.pid"])
def test_fault_30_what_else_lies_in_a_stranger_s_record_is_neither_read_nor_waited_for(
    scene: Scene, name: str, number: int, make: Callable[[Scene, Path], None]
) -> None:
    (scene.run / name).unlink(missing_ok=True)
    make(scene, scene.run / name)
    replay = ["run", "--target", f"replay:{scene.run}", "--case", "c0", "--quiet"]
    resume = ["resume", scene.run.name, "--trust", "--quiet"]
    for command in (*looks(number).values(), ["resume"], replay, resume):
        with watching(scene.outside) as witness:
            scene.command(*arguments(scene, command))
        assert touched(scene, witness) == [], command
    assert not (scene.outside / "nothing").exists()
    assert (scene.outside / "answers.jsonl").read_text().count("\n") == 1


def mean_rows(scene: Scene) -> list[dict[str, Any]]:
    """A recorded case, result and grading that name what is outside, wherever they can."""
    file = {"type": "file", "path": f"{scene.outside}/proxy.env"}
    image = {"type": "image", "path": f"{scene.outside}/proxy.env"}
    told = [{"role": "user", "content": [file, image]}]
    said = [{"role": "assistant", "content": [file, image]}]
    graders = [{"type": "python:trap:answer"}, {"type": "script", "value": ["touch", "pwned"]}]
    data = {
        "id": "c0", "input": told, "expected_output": said, "graders": graders,
        "targets": ["command:touch pwned"],
    }  # fmt: skip
    grade = {"grader": "python:trap:answer", "score": 1, "passed": True, "reason": ""}
    result = {
        "suite": f"{scene.outside}/theirs.eval.yaml", "case": "c0", "target": "command:touch pwned",
        "repeat": 1, "question_hash": "0", "verdict": "failed", "attempts": 1, "started_at": "",
        "duration_s": 0, "answer": {"messages": said}, "grades": [grade],
    }  # fmt: skip
    suite = result["suite"]
    return [
        {"type": "case", "suite": suite, "case": "c0", "data": data},
        {"type": "result", **result},
        {"type": "case", "suite": "s.eval.yaml", "case": "c0", "data": data},
        {"type": "result", **result, "suite": "s.eval.yaml", "target": "agent"},
    ]


def test_fault_30_a_run_of_one_s_own_with_a_stranger_s_journal_runs_only_one_s_own_code(
    scene: Scene,
) -> None:
    scene.project.suite(case("c0"), case("c1"))
    scene.project.run("run", "--quiet", "--concurrency", "1")
    scene.project.forget_calls()
    (own,) = [run for run in scene.project.runs() if run != scene.run]
    (own / "journal.jsonl").write_bytes(b"".join(map(encode_row, mean_rows(scene))))
    with watching(scene.outside) as witness:
        scene.command("grade", own.name, "--recorded")
        scene.command("resume", own.name)
    assert (touched(scene, witness), scene.project.calls()) == ([], ["c0", "c1"])


def test_fault_30_a_recorded_case_names_no_code_that_grades(scene: Scene) -> None:
    """The seal is of what was asked for. Who can write to the journal adds any case to it."""
    scene.project.run("run", "--quiet", "--concurrency", "1")
    (own,) = [run for run in scene.project.runs() if run != scene.run]
    graders = [
        {"type": "python:trap:answer"},
        {"type": "all", "value": [{"type": "script", "value": ["touch", "pwned"]}]},
        {"type": "judge", "value": "right", "target": "command:touch pwned"},
        {"type": "judge", "value": "ok", "panel": ["echo", "agent", "command:touch pwned"]},
        {"type": "contains", "value": "harmless"},
    ]
    data = {"id": "c0", "input": [{"role": "user", "content": "say ok"}], "graders": graders}
    case = {"type": "case", "suite": "s.eval.yaml", "case": "c0", "data": data}
    with (own / "journal.jsonl").open("ab") as file:
        file.write(encode_row(case))
    with watching(scene.outside) as witness:
        done = scene.command("grade", own.name, "--recorded")
    assert (touched(scene, witness), done.code) == ([], 2)
    assert done.err.splitlines()[1:] == [
        '  grader    {"type":"python:trap:answer"}',
        '  grader    {"type":"all","value":[{"type":"script","value":["touch","pwned"]}]}',
        '  grader    {"type":"judge","value":"right","target":"command:touch pwned"}',
        '  grader    {"type":"judge","value":"ok","panel":["echo","agent","command:touch pwned"]}',
        "nothing was done; if you trust the record, add --trust",
    ]
    with watching(scene.outside) as witness:
        scene.project.run("grade", own.name, "--recorded", "--trust")
    assert touched(scene, witness) != []
