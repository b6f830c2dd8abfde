"""Every command on a run whose journal is compressed says what it says of the same run before."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evalcase.record import packing
from evalcase.record.find import find_run
from tests.cli.viewing import view
from tests.report.page.opened import open_page
from tests.run.project import CONFIG, Done, Project, case

PLAIN, PACKED = "journal.jsonl", "journal.jsonl.gz"
SUITE = [case("a", "say 1"), case("b", "say no"), case("c", "once 1"), case("d", "cost 0.5")]


@pytest.fixture
def packed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(packing, "WORTH_IT", 1)
    project.suite(*SUITE)
    return project


def files(run: Path) -> set[str]:
    return {each.name for each in run.iterdir()}


def said(done: Done) -> str:
    return re.sub(r"[\d.]+ s\b|now|\d+ min", "", done.out + done.err)


def test_a_run_that_is_complete_is_compressed_and_read_as_before(packed: Project) -> None:
    packed.configure(f"compress = false\n{CONFIG}")
    packed.run("run", "--quiet")
    (run,) = packed.runs()
    assert files(run) >= {PLAIN}
    commands: list[tuple[str, ...]] = [
        ("report", "latest", "--format", form) for form in ("text", "jsonl", "csv", "junit")
    ]
    commands += [
        ("list",), ("list", "--json"), ("report", "latest", "--case", "b"),
        ("compare", "latest", "latest"), ("run", "--target", f"replay:{run}", "--json"),
    ]  # fmt: skip
    before = [said(packed.run(*command)) for command in commands[:-1]]
    answers = packed.run(*commands[-1]).json
    packed.configure(CONFIG)
    found = find_run(run.name, str(run.parent)).run
    assert packing.pack_journal(found, pytest.fail)
    assert PACKED in files(run)
    assert PLAIN not in files(run)
    for each in packed.runs():
        if each != run:  # those of `replay`
            (each / "run.json").unlink()
            each.rename(packed.path / each.name)
    assert [said(packed.run(*command)) for command in commands[:-1]] == before
    again = packed.run(*commands[-1]).json
    assert (again["total"], again["passed"]) == (answers["total"], answers["passed"])


def test_a_compressed_run_is_viewed_and_compared(packed: Project) -> None:
    packed.configure(f"compress = false\n{CONFIG}")
    for _ in range(2):
        packed.run("run", "--quiet")
        run = packed.runs()[-1]
        assert packing.pack_journal(find_run(run.name, str(run.parent)).run, pytest.fail)
    first, second = (path.name for path in packed.runs())
    with view(packed) as seen:
        assert [run["cases"] for run in seen.get("runs").json["runs"]] == [4, 4]
        assert len(open_page(seen.get(f"run/{first}").body).rows) == 4
        assert len(open_page(seen.get(f"compare/{first}/{second}").body).rows) == 4


def test_a_compressed_run_is_resumed_and_graded_again(packed: Project) -> None:
    assert packed.run("run", "--json").counts() == {"passed": 1, "failed": 2, "errored": 1}
    (run,) = packed.runs()
    assert files(run) == {PACKED, "run.json", "lines.jsonl"}
    packed.forget_calls()
    done = packed.run("resume", "latest", "--retry-errored", "--json")
    assert (done.counts(), packed.calls()) == ({"passed": 1, "failed": 2, "errored": 1}, ["c"])
    graded = packed.run("grade", "latest", "--grader", "contains: o", "--json")
    assert graded.json["grading"]["number"] == 2
    assert packed.run("report", "latest@1", "--format", "jsonl").out.count("\n") == len(SUITE)
    assert files(run) == {PACKED, "run.json", "lines.jsonl"}


def test_a_run_that_is_not_complete_stays_as_it_is_until_it_is(packed: Project) -> None:
    packed.run("run", "--fail-fast", "--concurrency", "1")
    (run,) = packed.runs()
    assert files(run) == {PLAIN, "run.json", "lines.jsonl"}
    while PLAIN in files(run):  # it is told to stop at the next one that fails, too
        assert packed.run("resume").code in (1, 3)
    assert files(run) == {PACKED, "run.json", "lines.jsonl"}


def test_shards_that_are_compressed_are_merged_to_one_that_is(packed: Project) -> None:
    for number in (1, 2):
        packed.run("run", "--shard", f"{number}/2", "--runs-dir", "shards")
    done = packed.run("merge", "shards", "--json")
    assert done.json["total"] == len(SUITE)
    (run,) = packed.runs()
    assert files(run) == {PACKED, "run.json", "lines.jsonl"}
    assert packed.run("prune", "--keep", "0", "--yes").code == 0
    assert not packed.runs()


def test_one_that_is_damaged_is_told_and_not_taken_for_one_without_results(
    packed: Project,
) -> None:
    packed.run("run")
    (run,) = packed.runs()
    journal = run / PACKED
    journal.write_bytes(journal.read_bytes()[:-5])
    done = packed.run("report", "latest")
    assert (done.code, "5 bytes are missing at its end" in done.err) == (3, True)
    assert "damaged" in packed.run("list").out
    (listed,) = json.loads(packed.run("list", "--json").out)
    assert listed["status"] == "damaged"
    assert "damaged" in packed.run("resume", "latest").err
    assert "damaged" in packed.run("run", "--target", f"replay:{run}").err
