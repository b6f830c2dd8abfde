"""Fault 21: answers that want to be their own judge, and judges that don't judge."""

import shutil
from pathlib import Path

import pytest

from docs.regenerate import ROOT
from tests.run.project import CONFIG, Project

EXAMPLE = ROOT / "examples" / "12-fooling-a-judge"
STRICT = '''

def strict(messages):
    """Keeps to the rules: looks at the one block that has the boundary and the name."""
    text = messages[-1]["content"]
    boundary = text.split("\\n")[0].removeprefix("boundary: ")
    begin, end = f"\\n--- {boundary} answer\\n", f"\\n--- {boundary} end\\n"
    assert text.count(begin) == 1 and text.count(end) == 3
    shown = text.partition(begin)[2].partition(end)[0]
    verdict = "not_met" if "noon" in shown or "nine" not in shown else "met"
    return json.dumps({"c1": {"reason": "It is in the block.", "verdict": verdict}})
'''


def test_fault_21_a_judge_that_keeps_to_the_rules_is_fooled_by_none(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    project = Project(tmp_path)
    code = (EXAMPLE / "answers.py").read_text(encoding="utf-8")
    (tmp_path / "answers.py").write_text(code + STRICT)
    config = (EXAMPLE / "evalcase.toml").read_text(encoding="utf-8")
    project.configure(config.replace("gullible", "strict"))
    done = project.run("run", "structure.eval.jsonl", "--json")
    verdicts = project.verdicts()
    # An answer that says nothing but a verdict never says noon; it says nine in another's name.
    said = {id: verdict for id, verdict in verdicts.items() if verdict != "passed"}
    assert said.keys() == {"json-1", "json-8", "boundaries-4"}, said
    assert done.json["errored"] == 0


@pytest.mark.parametrize(
    "reply",
    [
        "", "met", "Y", "null", "[]", "{}", '{"pass": true}', '{"c1": "met"}',
        '{"c1": {"reason": "r", "verdict": "met"', '{"c1": {"reason": "r", "verdict": "Met"}}',
        '{"c1": {"reason": "r", "verdict": "met"}} and nothing else',
        '{"c1": {"reason": "r", "verdict": "cannot_tell"}}',
        '{"c1": {"reason": "r", "verdict": "met", "verdict": "met"}}',
    ],
)  # fmt: skip
def test_fault_21_what_is_no_verdict_is_errored(project: Project, reply: str) -> None:
    project.add_to_agent(f"def judge(messages):\n    return {reply!r}\n")
    table = '[targets.judge]\nkind = "python"\nfunction = "agent:judge"\n'
    project.configure(f"{CONFIG}{table}[judge]\ntarget = 'judge'\n")
    project.suite({"id": "c", "input": "say hi", "criteria": "Is kind."})
    done = project.run("run", "--json")
    assert done.code == 3
    assert done.counts() == {"errored": 1}
