import pytest

from tests.faults.http_targets import KEY, http
from tests.run.project import Project, case
from tests.targets.server import Reply, serving

METADATA = "http://169.254.169.254/latest/meta-data"


@pytest.mark.parametrize("where", ["case", "suite"])
@pytest.mark.parametrize("kind", ["replay:", "http:", "openai:m@"])
def test_fault_19_a_suite_may_name_no_address_and_nothing_runs(
    project: Project, kind: str, where: str
) -> None:
    target = {"target": f"{kind}{METADATA}"}
    if where == "case":
        project.suite(case("good"), {**case("odd"), **target})
    else:
        project.suite(case("odd"), **target)
    done = project.run("run")
    assert (done.code, project.calls(), project.runs()) == (2, [], [])
    assert "carries an address" in done.err


def test_fault_19_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(
    project: Project,
) -> None:
    with serving({}) as other, serving(Reply(b"", 307, {"Location": other.url})) as server:
        env = http(project, server.url)
        project.suite(case("one", target="served"))
        done = project.run("run", "--json", env=env)
    assert (done.code, done.counts()) == (3, {"errored": 1})
    assert KEY in server.request.headers["authorization"]
    assert other.requests == []
