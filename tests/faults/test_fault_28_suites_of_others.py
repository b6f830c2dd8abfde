"""Every way in which a project from somebody else may name a file outside of it, and every command
that could read that file, show a line of it, or write to it."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.command import environment
from tests.cli.in_process import run_in_process
from tests.faults.witness import watching
from tests.store.rows import encode_row

CANARY = "canary-in-a-coal-mine"
CASE = {"id": "a", "input": "say it", "expected_output": "ok"}

COMMANDS: dict[str, list[str]] = {
    "check": ["check"],
    "check of a folder": ["check", ".", "--format", "json"],
    "check of what a shell names": ["check", "NAMES"],
    "show": ["show"],
    "show of what a shell names": ["show", "NAMES"],
    "migrate": ["migrate", "."],
    "migrate of what a shell names": ["migrate", "NAMES"],
    "run": ["run", "--quiet"],
    "run by an echo": ["run", "--target", "echo", "--quiet"],
    "run without code": ["run", "--no-exec", "--quiet"],
    "run of what a shell names": ["run", "--target", "echo", "--quiet", "NAMES"],
}


class Scene(NamedTuple):
    here: Path
    """The project of somebody else."""
    outside: Path


Make = Callable[[Scene], None]


def write(at: Scene, name: str = "s.eval.yaml", **fields: Any) -> None:
    (at.here / name).write_text(json.dumps({"cases": [CASE], **fields}))


def with_target(name: Callable[[Scene], str], **spelling: Callable[[str], Any]) -> Make:
    """A suite that names a target, in one of the places where it can."""

    def make(at: Scene) -> None:
        write(at, **{field: spell(name(at)) for field, spell in spelling.items()})

    return make


def relative(_: Scene) -> str:
    return "replay:../outside/answers.jsonl"


def absolute(at: Scene) -> str:
    return f"replay:{at.outside}/answers.jsonl"


def by_link(at: Scene) -> str:
    (at.here / "answers.jsonl").symlink_to(at.outside / "answers.jsonl")
    return "replay:answers.jsonl"


def traces(_: Scene) -> str:
    return "otlp:../outside/answers.jsonl"


def linked_traces(at: Scene) -> str:
    (at.here / "traces.jsonl").symlink_to(at.outside / "answers.jsonl")
    return "otlp:traces.jsonl"


def by_linked_folder(at: Scene) -> str:
    (at.here / "answers").symlink_to(at.outside)
    return "replay:answers/answers.jsonl"


def by_linked_run(at: Scene) -> str:
    (at.here / "run").symlink_to(at.outside / "run")
    return "replay:run"


def by_linked_journal(at: Scene) -> str:
    (at.here / "run").mkdir()
    (at.here / "run" / "journal.jsonl").symlink_to(at.outside / "run" / "journal.jsonl")
    return "replay:run"


def linked(at: Scene, to: str, name: str = "linked.json") -> str:
    (at.here / name).symlink_to(at.outside / to)
    return name


def as_it_is(name: str) -> str:
    return name


def in_list(name: str) -> list[str]:
    return [name]


def of_case(name: str) -> list[dict[str, Any]]:
    return [{**CASE, "target": name}]


def of_execution(name: str) -> dict[str, str]:
    return {"target": name}


def lines(at: Scene, **sidecar: Any) -> None:
    (at.here / "s.eval.jsonl").write_text(json.dumps(CASE) + "\n")
    if sidecar:
        (at.here / "s.suite.yaml").write_text(json.dumps(sidecar))


def attached(part: Callable[[Scene], dict[str, str]], place: str = "cases") -> Make:
    def make(at: Scene) -> None:
        messages = [{"role": "user", "content": [part(at)]}]
        if place == "lines":
            (at.here / "s.eval.jsonl").write_text(json.dumps({**CASE, "input": messages}) + "\n")
        elif place == "sidecar":
            lines(at, input=messages)
        elif place == "input":
            write(at, input=messages)
        else:
            write(at, cases=[{**CASE, "input": messages}])

    return make


def link(name: str, to: str) -> Make:
    def make(at: Scene) -> None:
        if not name.startswith("s."):
            write(at)
        elif name == "s.suite.yaml":
            lines(at)
        (at.here / name).unlink(missing_ok=True)
        (at.here / name).symlink_to(at.outside / to)

    return make


WAYS: dict[str, Make] = {
    "target, relative": with_target(relative, target=as_it_is),
    "target, absolute": with_target(absolute, target=as_it_is),
    "target, a link": with_target(by_link, target=as_it_is),
    "target, a linked folder": with_target(by_linked_folder, target=as_it_is),
    "target, traces": with_target(traces, target=as_it_is),
    "target, linked traces": with_target(linked_traces, target=as_it_is),
    "target, a linked run": with_target(by_linked_run, target=as_it_is),
    "target, a linked journal": with_target(by_linked_journal, target=as_it_is),
    "targets": with_target(relative, targets=in_list),
    "target of a case": with_target(relative, cases=of_case),
    "target of an old name": with_target(relative, execution=of_execution),
    "target of a sidecar": lambda at: lines(at, target=relative(at)),
    "file, relative": attached(lambda _: {"type": "file", "path": "../outside/any.yaml"}),
    "file, absolute": attached(lambda at: {"type": "file", "path": f"{at.outside}/any.yaml"}),
    "file, as value": attached(lambda at: {"type": "file", "value": f"{at.outside}/any.yaml"}),
    "image": attached(lambda at: {"type": "image", "path": f"{at.outside}/any.yaml"}),
    "file of a suite": attached(lambda _: {"type": "file", "path": "../outside/any.yaml"}, "input"),
    "file of a line": attached(lambda _: {"type": "file", "path": "../outside/any.yaml"}, "lines"),
    "file of a sidecar": attached(
        lambda _: {"type": "file", "path": "../outside/any.yaml"}, "sidecar"
    ),
    "schema of a grader": lambda at: write(
        at, graders=[{"type": "json_schema", "file": "../outside/any.yaml"}]
    ),
    "schema of a grader, absolute": lambda at: write(
        at, graders=[{"type": "json_schema", "file": f"{at.outside}/any.yaml"}]
    ),
    "schema of a grader, a link": lambda at: write(
        at, graders=[{"type": "json_schema", "file": linked(at, "any.yaml")}]
    ),
    "code of a grader": lambda at: write(at, graders=["python:./../outside/trap.py:grade"]),
    "code of a grader that isn't there": lambda at: write(
        at, graders=["python:./../outside/tarp.py:grade"]
    ),
    "code of a grader, a link": lambda at: write(
        at, graders=[f"python:./{linked(at, 'trap.py', 'code.py')}:grade"]
    ),
    "code of a target": with_target(
        lambda _: "python:./../outside/trap.py:answer", target=as_it_is
    ),
    "code of a target, a link": with_target(
        lambda at: f"python:./{linked(at, 'trap.py', 'code.py')}:answer", target=as_it_is
    ),
    "files of variables": lambda at: write(
        at, cases=[{**CASE, "var_files": {"text": "../outside/any.yaml"}}]
    ),
    "suite": link("s.eval.yaml", "any.yaml"),
    "suite that is valid": link("s.eval.yaml", "theirs.eval.yaml"),
    "suite of JSON": link("s.eval.json", "any.yaml"),
    "suite of lines": link("s.eval.jsonl", "answers.jsonl"),
    "sidecar": link("s.suite.yaml", "any.yaml"),
    "folder": link("sub", "."),
    "configuration": link("evalcase.toml", "any.yaml"),
    "configuration that is valid": link("evalcase.toml", "evalcase.toml"),
    "configuration of Python": link("pyproject.toml", "any.yaml"),
}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    here, outside = tmp_path / "here", tmp_path / "outside"
    here.mkdir()
    (here / ".git").mkdir()
    (outside / "run").mkdir(parents=True)
    answer = {"case": "a", "suite": "s.eval.yaml", "target": "t", "repeat": 1}
    messages = [{"role": "assistant", "content": CANARY}]
    row = encode_row({"type": "result", **answer, "answer": {"messages": messages}})
    (outside / "run" / "journal.jsonl").write_bytes(row)
    (outside / "answers.jsonl").write_text(json.dumps({"case": "a", "answer": CANARY}) + "\n")
    (outside / "any.yaml").write_text(f"[tool.evalcase\npassword: {CANARY}: 3\n")
    (outside / "theirs.eval.yaml").write_text(f"tests: [{{input: {CANARY}, outcome: x}}]\n")
    (outside / "trap.py").write_text("def grade(answer):\n    return True\n\n\nanswer = grade\n")
    (outside / "evalcase.toml").write_text(f'target = "{CANARY}"\n')
    yield Scene(here, outside)
    shutil.rmtree(outside)


def names(here: Path) -> list[str]:
    """What a shell puts in place of a `*` and of `*/*`, except for other kinds of files."""
    endings = (".yaml", ".json", ".jsonl")
    paths = [*here.glob("*"), *here.glob("*/*")]
    named = [path for path in paths if path.suffix in endings or path.name == "sub"]
    return sorted(str(path.relative_to(here)) for path in named)


@pytest.mark.parametrize("make", WAYS.values(), ids=WAYS)
def test_fault_28_nothing_outside_a_project_is_read_shown_or_written(
    scene: Scene, make: Make
) -> None:
    make(scene)
    before = {path: path.read_bytes() for path in scene.outside.rglob("*") if path.is_file()}
    for name, command in COMMANDS.items():
        given = [*command[:-1], *names(scene.here)] if command[-1] == "NAMES" else command
        with watching(scene.outside) as witness:
            ended = run_in_process(given, cwd=scene.here, env=environment())
        said = (ended.stdout + ended.stderr).decode()
        assert "Traceback" not in said, (name, said)
        assert (witness.seen, CANARY in said) == ([], False), (name, said)
        assert ended.code in (0, 1, 2), (name, said)
    assert {path: path.read_bytes() for path in before} == before
    kept = (path.read_text() for path in scene.here.rglob("*.jsonl") if not path.is_symlink())
    assert not any(CANARY in text for text in kept)


def test_fault_28_import_shows_nothing_of_it(scene: Scene) -> None:
    for name in ("rows.csv", "rows.jsonl", "evals.json"):
        (scene.outside / name).write_text(f"{CANARY},,\\n")
        (scene.here / name).symlink_to(scene.outside / name)
        with watching(scene.outside) as witness:
            ended = run_in_process(["import", name], cwd=scene.here, env=environment())
        assert (ended.code, witness.seen, CANARY in str(ended)) == (2, [], False)
        assert b"this link leads outside the project" in ended.stderr


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("name", ["a.md", "sub/precious.md", "sub/new.md", "sub/../up.md"])
def test_fault_28_no_report_is_written_over_it(scene: Scene, name: str, *, marked: bool) -> None:
    write(scene)
    if not marked:
        (scene.here / ".git").rmdir()
    for _ in range(2):
        run_in_process(["run", "--target", "echo"], cwd=scene.here, env=environment())
    (scene.outside / "precious.md").write_text(CANARY)
    (scene.here / "a.md").symlink_to(scene.outside / "precious.md")
    (scene.here / "sub").symlink_to(scene.outside)
    before = tree(scene.here.parent)
    for command in (
        ["run", "--target", "echo", "--report", name],
        ["report", "--format", "json", "-o", name],
        ["compare", "-o", name],
    ):
        ended = run_in_process(command, cwd=scene.here, env=environment())
        assert (ended.code, tree(scene.here.parent)) == (2, before)
        assert b"a link in its path leads outside the project" in ended.stderr


@pytest.mark.parametrize("marked", [True, False])
def test_fault_28_links_that_stay_inside_are_followed(scene: Scene, *, marked: bool) -> None:
    if not marked:
        (scene.here / ".git").rmdir()
    (scene.here / "real").mkdir()
    (scene.here / "other").mkdir()
    write(scene, "real/s.eval.yaml")
    (scene.here / "sub").symlink_to("real")
    (scene.here / "other" / "t.eval.yaml").symlink_to("../real/s.eval.yaml")
    names = ["sub/s.eval.yaml", "other/t.eval.yaml"]
    for command in (["check", *names], ["check", "sub"]):
        assert run_in_process(command, cwd=scene.here, env=environment()).code == 0
    command = ["run", "sub", "--target", "echo", "--report", "sub/r.md"]
    run_in_process(command, cwd=scene.here, env=environment())
    assert (scene.here / "real" / "r.md").is_file()


def tree(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if ".evalcase" not in path.parts}


def test_fault_28_the_witness_sees_what_is_read(scene: Scene) -> None:
    """What a person types themselves is theirs to name."""
    write(scene)
    for command in (
        ["check", "../outside/any.yaml"],
        ["run", "--target", relative(scene), "--quiet"],
        ["run", "--target", f"replay:{scene.outside}/run", "--quiet"],
    ):
        with watching(scene.outside) as witness:
            run_in_process(command, cwd=scene.here, env=environment())
        assert witness.seen != [], command
