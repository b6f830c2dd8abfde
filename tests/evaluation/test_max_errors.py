"""`--max-errors` allows errored trials and never makes a run green."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalcase
from tests.run.project import Done, Project, case

ALLOW = ("--max-errors", "9")


@pytest.fixture
def broken(tmp_path: Path) -> Project:
    """A project of which every case errors."""
    project = Project(tmp_path)
    project.suite(case("a", "raise x"), case("b", "raise x"))
    return project


def run(project: Project, *options: str) -> Done:
    return project.run("run", "--quiet", *ALLOW, *options)


def test_run_and_resume(broken: Project) -> None:
    done = run(broken)
    assert (done.code, "gate     FAILED, 2 errored cases did not pass" in done.out) == (1, True)
    assert broken.run("resume", "latest").code == 1
    assert broken.run("resume", "latest", "--fail-under", "0").code == 0
    assert broken.run("resume", "latest", "--max-errors", "1").code == 3


@pytest.mark.parametrize("gate", ["broken", "worse", "worse-than:1", "removed"])
def test_compare(broken: Project, gate: str) -> None:
    run(broken)
    run(broken)
    done = broken.run("compare", "--fail-on", gate, *ALLOW)
    assert (done.code, "nothing is compared: no case has a verdict in both" in done.out) == (
        3, True,
    )  # fmt: skip


def test_merge(broken: Project) -> None:
    for shard in ("1/2", "2/2"):
        run(broken, "--shard", shard, "--runs-dir", "shards")
    done = broken.run("merge", "shards")
    assert (done.code, "gate     FAILED, 2 errored cases did not pass" in done.out) == (1, True)


def test_evaluate(broken: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(broken.path)

    def answer(text: str) -> str:
        raise ValueError(text)

    path = str(broken.path / "s.eval.yaml")
    done = evalcase.evaluate(path, answer, root=broken.path, max_errors=9)
    assert (done.exit_code, done.ok) == (1, False)
    done = evalcase.evaluate(path, answer, root=broken.path, max_errors=9, fail_under=0)
    assert (done.exit_code, done.ok) == (0, True)
