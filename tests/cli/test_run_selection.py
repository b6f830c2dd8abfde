from __future__ import annotations

import json

from tests.run.project import (
    CONFIG,
    Project,
    case,
    cases,
    ids,
)


def test_targets_by_precedence(project: Project) -> None:
    project.configure(CONFIG + "\n[targets.third]\nkind = 'echo'\n")
    project.suite(case("default"), name="a")
    project.suite(case("suites"), case("own", target="third"), name="b", target="other")
    done = project.run("run", "--json")
    assert done.json["total"] == 3
    assert project.calls() == ["default"]
    assert project.calls("others") == ["suites"]
    assert project.run("run", "--json", "--target", "other").json["passed"] == 3
    assert project.calls() == ["default"]
    assert sorted(project.calls("others")) == ["default", "own", "suites", "suites"]


def test_repeat(project: Project) -> None:
    project.suite(case("twice", repeat=2), case("once"), case("off", skip=True, repeat=5))
    done = project.run("run", "--json")
    assert (done.counts(), done.trials()) == (
        {"passed": 2, "skipped": 1}, {"passed": 3, "skipped": 1}
    )  # fmt: skip
    project.forget_calls()
    done = project.run("run", "--json", "--repeat", "3")
    assert (done.counts(), done.trials()) == (
        {"passed": 2, "skipped": 1}, {"passed": 6, "skipped": 1}
    )  # fmt: skip
    assert sorted(project.calls()) == ["once"] * 3 + ["twice"] * 3


def test_filters(project: Project) -> None:
    project.suite(
        case("math-1", tags=["easy"]), case("math-2", tags=["hard"]), case("art-1", tags=["easy"])
    )
    for arguments, expected in (
        (["--case", "math-*"], ["math-1", "math-2"]),
        (["--case", "art-1", "--case", "*-2"], ["art-1", "math-2"]),
        (["--tag", "easy"], ["art-1", "math-1"]),
        (["--tag", "easy", "--case", "math-*"], ["math-1"]),
        (["--limit", "2"], ["math-1", "math-2"]),
    ):
        project.forget_calls()
        assert project.run("run", "--quiet", *arguments).code == 0
        assert sorted(project.calls()) == expected


def test_shards_are_disjoint_and_complete_and_even_from_wherever_they_are_run(
    project: Project,
) -> None:
    (project.path / "below").mkdir()
    path = project.suite(*cases(20))
    where = ["s.eval.yaml", str(path), "."]
    for number, place in enumerate(where, 1):
        project.run("run", "--quiet", place, "--shard", f"{number}/4")
        assert len(project.calls()) == 5 * number
    project.run("run", "--quiet", "../s.eval.yaml", "--shard", "4/4", below="below")
    assert sorted(project.calls()) == sorted(ids(cases(20)))


def test_tasks_of_an_array_run_every_case_once(project: Project) -> None:
    project.suite(*cases(10))
    for index in ("0", "1", "2"):
        task = {"JOB_COMPLETION_INDEX": index}
        done = project.run("run", "--quiet", "--runs-dir", "tasks", "--shard", "auto/3", env=task)
        assert done.code == 0, done
    assert sorted(project.calls()) == sorted(ids(cases(10)))
    merged = project.run("merge", "tasks", "--json")
    assert (merged.code, merged.json["passed"]) == (0, 10)


def test_without_a_seed_every_run_draws_its_own_sample_and_records_the_seed(
    project: Project,
) -> None:
    project.suite(*cases(40))
    drawn = []
    for _ in range(2):
        project.forget_calls()
        done = project.run("run", "--quiet", "--sample", "8")
        drawn.append(sorted(project.calls()))
    seed = project.options()["selection"]["seed"]
    assert drawn[0] != drawn[1]
    assert f"8 of 40 cases selected, seed {seed}" in done.out
    project.keep_only(3)
    project.forget_calls()
    assert project.run("resume").code == 0
    assert (len(project.calls()), set(project.calls()) <= set(drawn[1])) == (5, True)
    project.forget_calls()
    project.run("run", "--quiet", "--sample", "8", "--seed", str(seed))
    assert sorted(project.calls()) == drawn[1]


def test_a_dry_run_names_the_cases_and_is_json_where_asked(project: Project) -> None:
    project.suite(case("a", repeat=3), case("b", skip=True))
    done = project.run("run", "--dry-run")
    assert done.out == "agent: 4 trials\n  s.eval.yaml: a\n  s.eval.yaml: b (skipped)\n"
    done = project.run("run", "--dry-run", "--json")
    assert json.loads(done.out) == {"trials": 4, "targets": {"agent": 4}}
    assert project.runs() == []


def test_a_dry_run_calls_nothing_and_keeps_nothing(project: Project) -> None:
    project.suite(*cases(3), case("own", target="other", repeat=2))
    done = project.run("run", "--dry-run")
    assert done.code == 0
    assert "agent: 3 trials" in done.out
    assert "other: 2 trials" in done.out
    assert (project.calls(), project.runs()) == ([], [])
