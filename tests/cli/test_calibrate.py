"""A judge held against people, from a record alone; and a person who labels at a terminal."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalcase.report.labels import Label, append_label, read_labels
from tests.cli.pseudo_terminal import CTRL_C, PseudoTerminal
from tests.run.project import Project

CONFIG = """
target = "agent"

[judge]
target = "referee"

[targets.agent]
kind = "python"
function = "agent:answer"

[targets.referee]
kind = "python"
function = "agent:referee"
"""

# It takes what has `yes` in it for good, and what is evasive for polite.
REFEREE = """
import json
import re


def referee(messages):
    block = r"^--- \\w+ answer\\n(.*?)\\n--- \\w+ end$"
    answer = re.search(block, messages[-1].text, re.DOTALL | re.MULTILINE)[1]
    if "broken" in answer:
        return "I'd rather not say."
    said = {
        "c1": {"reason": "SECRET-VERDICT", "verdict": "met" if "yes" in answer else "not_met"},
        "c2": {"reason": "SECRET-VERDICT", "verdict": "not_met" if "rude" in answer else "met"},
    }
    return json.dumps(said)
"""

RUBRICS = [{"id": "right", "text": "Says what is asked."}, {"id": "polite", "text": "Is polite."}]


def question(number: int) -> str:
    return f"say {'yes' if number % 2 else 'no'} {number}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run of forty answers: half of them pass, and one more has no verdict."""
    project = Project(tmp_path_factory.mktemp("judged"))
    project.configure(CONFIG)
    project.add_to_agent(REFEREE)
    cases: list[dict[str, Any]] = [
        {"id": f"c{number}", "input": question(number), "rubrics": RUBRICS} for number in range(40)
    ]
    cases.append({"id": "broken", "input": "say broken", "rubrics": RUBRICS})
    project.suite(*cases)
    assert project.run("run", "--quiet").code == 3
    return project


@pytest.fixture
def project(made: Project, tmp_path: Path) -> Iterator[Project]:
    """A copy of it in which only the record is left: nothing there could be imported."""
    shutil.copytree(made.path / ".evalcase", tmp_path / ".evalcase")
    copy = Project(tmp_path)
    (tmp_path / "agent.py").unlink()
    (tmp_path / "evalcase.toml").unlink()
    yield copy
    assert not (tmp_path / "calls").exists()


def hashes(project: Project) -> dict[str, str]:
    done = project.run("report", "--format", "jsonl")
    return {row["case"]: row["answer_hash"] for row in map(json.loads, done.out.splitlines())}


def write_labels(project: Project, wrong: int = 2, **fields: Any) -> None:
    """Somebody who agrees with the judge but for so many of its passes and of its fails."""
    known = hashes(project)
    for number in range(40):
        agrees = number >= 2 * wrong
        append_label(
            str(project.path / "labels.jsonl"),
            Label("s.eval.yaml", f"c{number}", "agent", known[f"c{number}"],
                  (number % 2 == 1) == agrees, **{"by": "ada", **fields})
        )  # fmt: skip


def test_it_says_in_a_sentence_and_a_table_how_far_the_judge_agrees(project: Project) -> None:
    write_labels(project)
    done = project.run("calibrate")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("This judge agrees with people")
    assert "judge passes           18            2" in lines
    assert "judge fails             2           18" in lines
    assert any(line.startswith("kappa                       0.80  0.52 to 0.91") for line in lines)
    assert all(len(line) <= 80 for line in lines)


def test_for_programs_it_is_one_object(project: Project) -> None:
    write_labels(project)
    done = project.run("calibrate", "--json", "--min-kappa", "0.5")
    data = json.loads(done.out)
    (section,) = data["sections"]
    assert section["confusion"] == {
        "true_passes": 18, "false_passes": 2, "false_fails": 2, "true_fails": 18
    }  # fmt: skip
    assert (section["min_kappa"], section["reached"], done.code) == (0.5, True, 0)
    assert section["kappa"] == pytest.approx(0.8)


@pytest.mark.parametrize(("least", "code"), [("0.51", 0), ("0.53", 1), ("-1", 0)])
def test_a_gate_looks_at_the_lower_bound(project: Project, least: str, code: int) -> None:
    write_labels(project)
    done = project.run("calibrate", "--min-kappa", least)
    assert done.code == code
    assert ("the interval of kappa starts below --min-kappa 0.53" in done.out) == bool(code)


def test_a_gate_is_not_met_by_labels_that_cannot_say(project: Project) -> None:
    known = hashes(project)
    append_label(
        str(project.path / "labels.jsonl"),
        Label("s.eval.yaml", "c1", "agent", known["c1"], True, "ada"),
    )
    assert project.run("calibrate", "--min-kappa", "-1").code == 1


def test_a_criterion_is_measured_by_labels_that_name_it(project: Project) -> None:
    write_labels(project, criterion="right")
    (section,) = json.loads(project.run("calibrate", "--json").out)["sections"]
    assert section["criterion"] == "right"
    assert section["confusion"]["true_passes"] == 18
    done = project.run("calibrate", "--criterion", "polite")
    assert "criterion polite" in done.out


def test_which_grader_is_meant_can_be_said(project: Project) -> None:
    write_labels(project)
    assert project.run("calibrate", "--grader", "judge").code == 0
    done = project.run("calibrate", "--grader", "jugde")
    assert done.code == 2
    assert "has no grader `jugde`; the nearest is `judge`" in done.err


def test_without_labels_it_says_how_to_make_them(project: Project) -> None:
    done = project.run("calibrate")
    assert done.code == 2
    assert "labels.jsonl does not exist; `evalcase calibrate --label` creates it" in done.err
    done = project.run("calibrate", "--labels", "my own.jsonl")
    assert "my own.jsonl does not exist; `evalcase calibrate --label` creates it" in done.err


def test_nobody_is_asked_where_there_is_no_terminal(project: Project) -> None:
    done = project.run("calibrate", "--label", "--by", "ada")
    assert done.code == 2
    assert "--label asks a person: standard input and output must be a terminal" in done.err


def label_with(project: Project, *keys: bytes, by: str = "ada", options: Sequence[str] = ()) -> str:
    """Type keys, each when it is asked for; what the person saw."""
    terminal = PseudoTerminal(project.path, "calibrate", "--label", "--by", by, *options)
    for number, key in enumerate(keys, start=1):
        # Atomic, so that what is not there yet is not looked for in every way there is.
        terminal.await_text(rf"(?s)\A(?>.*?quit\? \[p/f/s/b/q\] ){{{number}}}")
        terminal.await_reading()
        terminal.type(key if key == CTRL_C else key + b"\n")
    code = terminal.finish()
    assert code == (130 if CTRL_C in keys else 0)
    return terminal.text


def test_a_person_labels_blind_and_goes_on_later(project: Project) -> None:
    path = str(project.path / "labels.jsonl")
    first = label_with(project, b"p", b"f", b"s", b"q")
    assert "2 labels written to labels.jsonl" in first
    assert "── answer 1 of 40 ──" in first
    for shown in ("input", "answer", "Says what is asked.", "Is polite."):
        assert shown in first
    for hidden in ("SECRET-VERDICT", "met", "score", "passed", "failed"):
        assert hidden not in first
    labels = read_labels(path)
    assert [(label.passed, label.by, label.drawn_from) for label in labels] == [
        (True, "ada", 0.5), (False, "ada", 0.5)
    ]  # fmt: skip
    second = label_with(project, b"p", CTRL_C)
    assert "answer 1 of 38" in second
    assert len({label.case for label in read_labels(path)}) == 3
    assert "answer 1 of 40" in label_with(project, b"q", by="bob")
