import json

import pytest

from evalcase.cli.options import read_shard
from evalcase.config.options import Shard
from tests.for_each import for_each
from tests.run.project import CONFIG, Project, case, cases, ids


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


# Which shard a task of an array is, by the variables of its scheduler


SLURM = {"SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_STEP": "1"}


@for_each(
    ("environment", "of", "shard"),
    [
        ({**SLURM, "SLURM_ARRAY_TASK_ID": "0"}, None, Shard(1, 4)),
        (
            {
                "SLURM_ARRAY_TASK_ID": "15", "SLURM_ARRAY_TASK_MIN": "5",
                "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_STEP": "5",
            },
            None,
            Shard(3, 3),
        ),
        ({"JOB_COMPLETION_INDEX": "0"}, 5, Shard(1, 5)),
        ({"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"}, None, Shard(1, 3)),
        ({"CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "2"}, None, Shard(1, 2)),
        ({"BUILDKITE_PARALLEL_JOB": "1", "BUILDKITE_PARALLEL_JOB_COUNT": "2"}, None, Shard(2, 2)),
        ({"CLOUD_RUN_TASK_INDEX": "9", "CLOUD_RUN_TASK_COUNT": "10"}, None, Shard(10, 10)),
        ({"CI_NODE_TOTAL": "1", "JOB_COMPLETION_INDEX": "1"}, 2, Shard(2, 2)),
    ],
)  # fmt: skip
def test_each_scheduler_says_which_task_it_is(
    environment: dict[str, str], of: int | None, shard: Shard
) -> None:
    assert read_shard(environment, of) == shard


@for_each(
    ("environment", "of", "said"),
    [
        ({}, None, "this is not an array task"),
        ({"JOB_COMPLETION_INDEX": "0"}, None, "write it as auto/5"),
        ({"JOB_COMPLETION_INDEX": "5"}, 5, "not one of 5 tasks"),
        ({"JOB_COMPLETION_INDEX": "x"}, 5, "'x', which is not a number"),
        ({"CI_NODE_INDEX": "4", "CI_NODE_TOTAL": "3"}, None, "CI_NODE_INDEX is 4"),
        ({"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"}, 4, "CI_NODE_TOTAL is 3, not 4"),
        # `--array=1,3,7`: three tasks, but which of them 7 is can't be seen.
        (
            {
                "SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "1",
                "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_STEP": "1",
            },
            None,
            "tasks without a gap",
        ),
        ({"SLURM_ARRAY_TASK_ID": "1", "JOB_COMPLETION_INDEX": "1"}, None, "which task this is"),
    ],
)  # fmt: skip
def test_what_is_not_said_clearly_is_refused(
    environment: dict[str, str], of: int | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        read_shard(environment, of)
