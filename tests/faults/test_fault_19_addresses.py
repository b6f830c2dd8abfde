from __future__ import annotations

import pytest

from tests.run.project import Project, case

METADATA = "http://169.254.169.254/latest/meta-data"


@pytest.mark.parametrize("where", ["case", "suite"])
@pytest.mark.parametrize("kind", ["replay"])
def test_fault_19_a_suite_may_name_no_address_and_nothing_runs(
    project: Project, kind: str, where: str
) -> None:
    target = {"target": f"{kind}:{METADATA}"}
    if where == "case":
        project.suite(case("good"), {**case("odd"), **target})
    else:
        project.suite(case("odd"), **target)
    done = project.run("run")
    assert (done.code, project.calls(), project.runs()) == (2, [], [])
    assert "carries an address" in done.err


def test_fault_19_a_suite_has_no_field_for_an_address_or_a_key(project: Project) -> None:
    fields = dict.fromkeys(("base_url", "url", "headers", "key_env", "env", "command"), METADATA)
    project.suite({**case("odd"), **fields}, **fields)
    done = project.run("run")
    assert (done.code, done.err.count("[unknown-field]")) == (2, 2 * len(fields))


def test_fault_19_a_suite_names_a_configured_target(project: Project) -> None:
    project.suite(case("one", target="other"))
    assert project.run("run").code == 0
    assert project.calls("others") == ["one"]
