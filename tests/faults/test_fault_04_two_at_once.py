from tests.run.project import Gate, Project, cases, finish


def test_fault_04_runs_that_begin_in_one_second_have_records_of_their_own(
    project: Project,
) -> None:
    project.suite(*cases(3))
    done = [finish(each) for each in [project.start("run", "--json") for _ in range(6)]]
    assert [each.counts() for each in done] == [{"passed": 3}] * 6
    assert len({each.json["run"] for each in done}) == len(project.runs()) == 6
    for run in project.runs():
        assert len(project.verdicts(run)) == 3
    _, *listed = project.run("list").out.splitlines()
    assert len(listed) == 6
    assert not [line for line in listed if "incomplete" in line or "damaged" in line]


def test_fault_04_of_two_resumes_of_one_run_the_second_is_refused(
    project: Project, gate: Gate
) -> None:
    project.suite(*cases(4))
    process = project.start("run", env={"GATED": "1"})
    gate.await_calls(4)
    process.kill()
    process.communicate()
    run = project.runs()[0].name
    project.forget_calls()
    gate.seen.clear()
    first = project.start("resume", run, "--json", env={"GATED": "1"})
    gate.await_calls(1)
    second = project.run("resume", run)
    assert second.code == 3
    assert f"run {run} is being written by process {first.pid}" in second.err
    gate.await_calls(4)
    gate.let_go(4)
    assert finish(first).counts() == {"passed": 4}
    assert sorted(project.calls()) == ["c0", "c1", "c2", "c3"]


def test_fault_04_a_run_under_way_can_be_listed(project: Project, gate: Gate) -> None:
    project.suite(*cases(2))
    process = project.start("run", "--json", env={"GATED": "1"})
    gate.await_calls(2)
    done = project.run("list")
    assert (done.code, "damaged" in done.out) == (0, False)
    assert "incomplete, 0 of 2 trials: evalcase resume" in done.out
    gate.let_go(2)
    assert finish(process).counts() == {"passed": 2}
