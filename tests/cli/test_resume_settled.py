"""A run that was completed is gone on with without a look at each of its cases, if all that they
rest on is as it was. Whatever else may have happened since: what comes of it is what comes of a
look at each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evalcase.runner import resume as work
from evalcase.runner.plan import Plan
from evalcase.store.index import Index
from tests.run.project import CONFIG, Done, Project, case, cases
from tests.store.rows import decode_row, encode_row

T = TypeVar("T")
IS_SETTLED = work.is_settled
Change = Callable[[Project], object]

TABLE = "word,then\nok,ok\nno,no\n"
EXACT = "def is_ok(text):\n    return text == 'ok'\n"


def make(project: Project) -> None:
    """Suites of all kinds whose cases are plain texts: YAML, JSONL with fields beside it, and of a
    table; and folders in which others may turn up."""
    project.suite(*cases(3), case("no", "say no"))
    lines = "".join(json.dumps(each) + "\n" for each in cases(3, prefix="j"))
    (project.path / "lines.eval.jsonl").write_text(lines)
    (project.path / "lines.eval.suite.yaml").write_text("tags: [a]\n")
    (project.path / "words.csv").write_text(TABLE)
    (project.path / "policy.md").write_text("ok")
    table = case("{{word}}", "say {{word}}", rows="words.csv", expected_output="{{then}}")
    text = case("p", var_files={"policy": "policy.md"}, expected_output="{{policy}}")
    project.suite(table, text, name="table")


def resume(
    project: Project, monkeypatch: pytest.MonkeyPatch, *options: str, look: bool = False
) -> tuple[Done, list[bool]]:
    """Go on with the run, and whether each case was looked at; with `look`, it is in any case."""
    settled: list[bool] = []

    def tell(plan: Plan, index: Index) -> bool:
        settled.append(not look and IS_SETTLED(plan, index))
        return settled[-1]

    monkeypatch.setattr(work, "is_settled", tell)
    project.forget_calls()
    return project.run("resume", project.runs()[0].name, "--json", *options), settled


def told(project: Project, done: Done) -> list[Any]:
    """All that comes of it."""
    said = {name: value for name, value in json.loads(done.out or "{}").items() if name not in _OWN}
    run = project.runs()[0]
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    rows = [{**decode_row(line), "started_at": "", "duration_s": 0, "at": ""} for line in lines]
    rows.sort(key=lambda row: json.dumps(row, sort_keys=True))  # trials end in any order
    return [done.code, said, done.err, sorted(project.calls()), rows]


_OWN = {"duration_s"}


def resume_twice(
    project: Project, folder: Path, go: Callable[[bool], tuple[Done, T]]
) -> tuple[list[Any], T, list[Any]]:
    """All that comes of going on with a run, what was seen of how; and all that comes of it with a
    look at each case, from the same beginning."""
    before = folder.with_name(folder.name + "-before")
    shutil.copytree(folder, before)
    done, way = go(False)
    first = told(project, done)
    shutil.rmtree(folder)
    before.rename(folder)
    again, _ = go(True)
    return first, way, told(project, again)


def edit(name: str, old: str, new: str) -> Change:
    def change(project: Project) -> None:
        path = project.path / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


def of_journal(change: Callable[[list[bytes]], list[bytes]]) -> Change:
    def apply(project: Project) -> None:
        path = project.runs()[0] / "journal.jsonl"
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    return apply


def leave_out(kind: bytes, number: int = 0) -> Change:
    def change(lines: list[bytes]) -> list[bytes]:
        lines.remove([line for line in lines if line.startswith(b'{"type":"%b"' % kind)][number])
        return lines

    return of_journal(change)


def double(lines: list[bytes]) -> list[bytes]:
    """A result twice, the first of them of another question: the end comes last."""
    first = next(line for line in lines if line.startswith(b'{"type":"result"'))
    other = encode_row({**decode_row(first), "question_hash": "0" * 16})
    return [other, *lines]


def edit_and_back(project: Project) -> None:
    """Ask something else, and then the same as before."""
    before = (project.path / "s.eval.yaml").read_text()
    edit("s.eval.yaml", "say no", "say ok")(project)
    assert project.run("resume", project.runs()[0].name, "--quiet").code == 0
    (project.path / "s.eval.yaml").write_text(before)


def edit_expected_and_back(project: Project) -> None:
    before = (project.path / "words.csv").read_text()
    edit("words.csv", "no,no", "no,ok")(project)
    project.run("resume", project.runs()[0].name, "--quiet")
    (project.path / "words.csv").write_text(before)


def grade(project: Project) -> None:
    (project.path / "exact.py").write_text(EXACT)
    project.run("grade", project.runs()[0].name, "--grader", "python:exact:is_ok", "--quiet")


CHANGES: dict[str, Change] = {
    "an input": edit("s.eval.yaml", "say ok", "say ok  now"),
    "an expectation": edit("s.eval.yaml", '"expected_output": "ok"', '"expected_output": "no"'),
    "an id": edit("s.eval.yaml", '"c1"', '"d1"'),
    "a comment": edit("table.eval.yaml", "{", "# of words\n{"),
    "the line of a JSONL file": edit("lines.eval.jsonl", "say ok", "say no"),
    "the fields beside it": edit("lines.eval.suite.yaml", "tags: [a]", "input: Be short."),
    "a grader beside it": edit("lines.eval.suite.yaml", "tags: [a]", "graders: [{contains: o}]"),
    "a repeat beside it": edit("lines.eval.suite.yaml", "tags: [a]", "repeat: 2"),
    "a target beside it": edit("lines.eval.suite.yaml", "tags: [a]", "target: other"),
    "no fields beside it": lambda project: (project.path / "lines.eval.suite.yaml").unlink(),
    "a table": edit("words.csv", "no,no", "no,ok"),
    "a row more of a table": edit("words.csv", "no,no\n", "no,no\nyes,yes\n"),
    "a text that is named": edit("policy.md", "ok", "no"),
    "a text that is gone": lambda project: (project.path / "policy.md").unlink(),
    "a suite that is new": lambda project: project.suite(case("new"), name="t"),
    "a suite that is gone": lambda project: (project.path / "table.eval.yaml").unlink(),
    "a suite that is invalid": edit("s.eval.yaml", '"input"', '"inptu"'),
    "the agent": lambda project: project.add_to_agent("def more():\n    pass\n"),
    "its options": lambda project: project.configure(CONFIG + "concurrency = 3\n"),
    "an agent that can't be imported": lambda project: project.add_to_agent("raise ValueError\n"),
    "a result that is lost": leave_out(b"result"),
    "the last result that is lost": leave_out(b"result", -1),
    "an end that is lost": leave_out(b"end"),
    "a result beside an older one": of_journal(double),
    "rows after the end": of_journal(lambda lines: [*lines, lines[0]]),
    "half a row after the end": of_journal(lambda lines: [*lines, lines[0][:-9]]),
    "another question and back": edit_and_back,
    "another expectation and back": edit_expected_and_back,
    "another grading": grade,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_since_is_found_as_by_a_look_at_each_case(
    project: Project, change: Change, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(project)
    assert project.run("run", "--quiet").code == 1
    change(project)
    seen, settled, looked = resume_twice(
        project, tmp_path, lambda look: resume(project, monkeypatch, look=look)
    )
    assert looked[:-1] == seen[:-1]
    assert without_basis(looked[-1]) == without_basis(seen[-1])
    as_it_was = [False] if change not in UNTOUCHED else [True]
    assert settled in ([], as_it_was), "a plan that is refused has no work"


UNTOUCHED = [
    CHANGES[name]
    for name in ("the agent", "its options", "half a row after the end")
]  # fmt: skip
"""What no question and no expectation rests on."""


def without_basis(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in row if name not in ("rests_on", "sum")} for row in rows]


def test_a_run_that_is_as_it_was_is_told_so_without_a_look(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project)
    assert project.run("run", "--quiet").code == 1
    looked, _ = resume(project, monkeypatch, look=True)
    for _ in range(2):
        done, settled = resume(project, monkeypatch)
        assert (settled, project.calls()) == ([True], [])
        assert told(project, done)[:4] == told(project, looked)[:4]
        assert "nothing to do" in done.err
    done, settled = resume(project, monkeypatch, "--retry-errored")
    assert settled == [], "whoever asks for more has each looked at"


@pytest.mark.parametrize("options", [["--case", "c*"], ["--shard", "1/2"], ["--repeat", "2"], []])
def test_part_of_the_cases_are_what_a_run_is_of(
    project: Project, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    make(project)
    project.run("run", "--quiet", *options)
    done, settled = resume(project, monkeypatch)
    assert settled == ["--repeat" not in options]
    assert (project.calls(), "nothing to do" in done.err) == ([], True)


@pytest.mark.parametrize(
    "more",
    [
        case("errored", "raise x"),
        case("skipped", skip=True),
        case("graded", graders=[{"contains": "o"}]),
        case("repeated", repeat=2),
        case("named", input=[{"role": "user", "content": [{"type": "file", "path": "policy.md"}]}]),
        case("long", input=[{"role": "system", "content": "ok"}, {"role": "user", "content": "2"}]),
        {"id": "spoken", "turns": [{"input": "say ok", "expected_output": "ok"}]},
    ],
    ids=lambda more: str(more["id"]),
)
def test_a_case_that_rests_on_more_is_looked_at(
    project: Project, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    make(project)
    project.suite(more, name="more")
    project.run("run", "--quiet")
    for _ in range(2):
        done, settled = resume(project, monkeypatch)
        assert (settled, "nothing to do" in done.err) == ([False], True)
    if more["id"] == "named":
        (project.path / "policy.md").write_text("no")
        done, settled = resume(project, monkeypatch)
        assert (settled, project.calls()) == ([False], ["named"])


def test_what_was_finished_later_is_settled_then(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project)
    project.run("run", "--quiet")
    project.keep_only(4)
    for settled in (False, True):
        done, seen = resume(project, monkeypatch)
        assert (done.code, seen, "nothing to do" in done.err) == (1, [settled], settled)


def test_another_version_has_each_case_looked_at(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project)
    project.run("run", "--quiet")
    monkeypatch.setattr(work, "__version__", "99")
    for settled in (False, True):
        _, seen = resume(project, monkeypatch)
        assert seen == [settled]


def test_what_was_merged_is_looked_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project)
    for shard in ("1/2", "2/2"):
        project.run("run", "--quiet", "--shard", shard, "--runs-dir", "parts")
    parts = [str(each) for each in (project.path / "parts").glob("*-*")]
    project.run("merge", *parts)
    for settled in (False, True):
        done, seen = resume(project, monkeypatch)
        assert (seen, "nothing to do" in done.err) == ([settled], True)
