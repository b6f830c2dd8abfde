import os
from pathlib import Path

import pytest

import evalcase
from evalcase.runner.suites import HeldSuites, hold_suites
from evalcase.testing import ScriptedTarget


def asking(id: str, path: str, kind: str = "file") -> evalcase.Case:
    part = {"type": kind, "path": path}
    return evalcase.Case({"id": id, "input": [{"role": "user", "content": [part]}]})


@pytest.mark.parametrize("kind", ["file", "image"])
def test_the_files_of_cases_that_were_made_in_python_are_looked_at_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.txt").touch()
    os.mkfifo(tmp_path / "pipe")
    cases = [
        asking("a", "here.txt", kind),
        asking("b", "gone.txt", kind),
        asking("c", "pipe", kind),
    ]
    target = ScriptedTarget("ok")
    with pytest.raises(evalcase.SuiteError) as caught:
        evalcase.evaluate(cases, target)
    assert [(each.code, each.case) for each in caught.value.problems] == [
        ("missing-file", "b"),
        ("bad-file", "c"),
    ]
    assert target.asked == []


def test_a_suite_that_was_loaded_finds_its_files_from_where_it_lies(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("input: [{role: user, content: [{type: file, path: a.txt}]}]\ncriteria: c\n")
    (tmp_path / "a.txt").touch()
    _, held = hold_suites(evalcase.load(path))
    assert isinstance(held, HeldSuites)
    assert len(list(held.check())) == 1
    (tmp_path / "a.txt").unlink()
    with pytest.raises(evalcase.SuiteError):
        list(held.check())
