"""Suites of plain lines that are what they were when a run was completed are not even gone through.
Whatever else may have happened since: what comes of it is what comes of going through them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalcase.evaluation import plan, standing
from evalcase.suites.survey import survey_cases
from evalcase.text.journal_row import decode_row, encode_row
from tests.cli.test_resume_settled import CHANGES, edit, leave_out, of_journal, resume_twice
from tests.run.project import CONFIG, Done, Project, case, cases

Change = Callable[[Project], object]


def write_lines(project: Project, *lines: dict[str, Any], name: str = "lines") -> None:
    text = "".join(json.dumps(each) + "\n" for each in lines)
    (project.path / f"{name}.eval.jsonl").write_text(text)


def make(project: Project) -> None:
    write_lines(project, *cases(3, prefix="j"), case("no", "say no"))
    write_lines(project, *cases(2, prefix="k"), name="more")
    (project.path / "lines.eval.suite.yaml").write_text("tags: [a]\n")


def resume(
    project: Project, monkeypatch: pytest.MonkeyPatch, *options: str, look: bool = False
) -> tuple[Done, bool]:
    """Go on with the run, and whether the suites were gone through; with `look`, they are."""
    looks: list[bool] = []

    def survey(*arguments: Any) -> object:
        looks.append(True)
        return survey_cases(*arguments)

    monkeypatch.setattr(plan, "survey_cases", survey)
    if look:
        monkeypatch.setattr(plan, "_recall_survey", lambda *_: None)
    project.forget_calls()
    done = project.run("resume", project.runs()[0].name, "--json", *options)
    monkeypatch.undo()
    return done, bool(looks)


def edit_end(**changes: object) -> Change:
    """What anyone may write into a record."""

    def change(lines: list[bytes]) -> list[bytes]:
        return [*lines[:-1], encode_row({**decode_row(lines[-1]), **changes})]

    return of_journal(change)


def leave_no_suite(project: Project) -> None:
    for each in project.path.glob("*.eval.*"):
        each.unlink()


KNOWN: dict[str, Change] = {
    "nothing": lambda _: None,
    "the agent": CHANGES["the agent"],
    "its options": CHANGES["its options"],
    "an agent that can't be imported": CHANGES["an agent that can't be imported"],
    "a target that is gone": lambda project: project.configure(CONFIG.split("[targets.agent]")[0]),
    "a result that is lost": leave_out(b"result"),
    "a result beside an older one": CHANGES["a result beside an older one"],
    "another grading": lambda project: project.run(
        "grade", project.runs()[0].name, "--grader", "contains", "--quiet"
    ),
}
"""What suites have no part in."""

UNKNOWN: dict[str, Change] = {
    "an input": edit("lines.eval.jsonl", "say ok", "say no"),
    "an expectation": edit("more.eval.jsonl", '"expected_output": "ok"', '"expected_output": "a"'),
    "a comma too many": edit("lines.eval.jsonl", '"input"', ',"input"'),
    "the fields beside it": edit("lines.eval.suite.yaml", "tags: [a]", "input: Be short."),
    "no fields beside it": lambda project: (project.path / "lines.eval.suite.yaml").unlink(),
    "fields beside the other": lambda project: (project.path / "more.suite.yaml").write_text(""),
    "a suite that is new": lambda project: write_lines(project, case("new"), name="t"),
    "a document that is new": lambda project: project.suite(case("new"), name="t"),
    "a suite that is gone": lambda project: (project.path / "more.eval.jsonl").unlink(),
    "no suite at all": leave_no_suite,
    "an end that is lost": leave_out(b"end"),
    "rows after the end": of_journal(lambda lines: [*lines, lines[0]]),
    "half a row after the end": CHANGES["half a row after the end"],
    "no hash": edit_end(rests_on=None),
    "another hash": edit_end(rests_on="0" * 32),
    "no trials": edit_end(surveyed={}),
    "less than none": edit_end(surveyed={"agent": -1}),
    "another target": edit_end(surveyed={"other": 6}),
    "a target more": edit_end(surveyed={"agent": 6, "other": 6}),
}


@pytest.mark.parametrize(
    ("change", "known"),
    [(each, True) for each in KNOWN.values()] + [(each, False) for each in UNKNOWN.values()],
    ids=[*KNOWN, *UNKNOWN],
)
def test_what_comes_of_it_is_what_comes_of_a_look_at_each(
    project: Project, change: Change, known: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(project)
    assert project.run("run", "--quiet").code == 1
    change(project)
    seen, looked, again = resume_twice(
        project, tmp_path, lambda look: resume(project, monkeypatch, look=look)
    )
    assert again == seen
    assert looked is not known


@pytest.mark.parametrize("options", [["--case", "j*"], ["--shard", "1/2"], ["--limit", "3"]])
def test_part_of_the_cases_are_gone_through(
    project: Project, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    make(project)
    project.run("run", "--quiet", *options)
    done, looked = resume(project, monkeypatch)
    assert (looked, "nothing to do" in done.err) == (True, True)


@pytest.mark.parametrize("targets", [["agent"], ["other", "agent"]])
def test_all_cases_are_known_at_each_target_that_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch, targets: list[str]
) -> None:
    make(project)
    named = [word for target in targets for word in ("--target", target)]
    project.run("run", "--quiet", *named)
    done, looked = resume(project, monkeypatch)
    assert (looked, done.json["total"]) == (False, 6 * len(targets))


@pytest.mark.parametrize(
    "more",
    [
        case("own", target="other"),
        {"id": "remarked", "input_messages": "say ok", "expected_output": "ok"},
        case("graded", graders=[{"contains": "o"}]),
        case("repeated", repeat=2),
        case("{{word}}", "say {{word}}", rows="words.csv", expected_output="{{word}}"),
    ],
    ids=lambda more: str(more["id"]),
)
def test_of_cases_that_need_more_than_that_each_is_looked_at(
    project: Project, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    make(project)
    (project.path / "words.csv").write_text("word\nok\n")
    write_lines(project, more, name="needy")
    project.run("run", "--quiet")
    assert resume(project, monkeypatch)[1]


def test_rows_that_were_lost_are_run_again_without_a_look_at_the_others(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project)
    project.run("run", "--quiet")
    leave_out(b"result")(project)
    done, looked = resume(project, monkeypatch)
    assert (looked, len(project.calls()), done.json["total"]) == (False, 1, 6)


def test_another_version_goes_through_the_suites(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project)
    project.run("run", "--quiet")
    monkeypatch.setattr(standing, "__version__", "99")
    assert resume(project, monkeypatch)[1]
