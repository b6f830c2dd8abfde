import json
import re
import sys
from typing import Any

import pytest

from tests.cli.two_runs import case, run_with, two_runs
from tests.report.page.opened import open_page
from tests.run.project import Project


def compared(project: Project, *arguments: str) -> dict[str, Any]:
    done = project.run("compare", "--json", *arguments)
    found: dict[str, Any] = json.loads(done.out)
    assert found["exit_code"] == done.code
    return found


def names(found: dict[str, Any], kind: str) -> list[str]:
    return [each["case"] for each in found["targets"][0]["cases"][kind]["named"]]


# What changed


def test_the_run_before_is_compared_with_the_latest(project: Project) -> None:
    two_runs(project, {"a": "yes", "b": "no", "c": "no", "d": "yes"},
             {"a": "no", "b": "yes", "c": "maybe", "d": "yes"})  # fmt: skip
    found = compared(project)
    kinds = ("broken", "fixed", "changed")
    assert {kind: names(found, kind) for kind in kinds} == {
        "broken": ["a"], "fixed": ["b"], "changed": ["c"]
    }  # fmt: skip
    assert found["targets"][0]["same"] == 1
    assert found["base"]["name"] == project.runs()[0].name
    assert found["head"]["name"] == project.runs()[1].name


def test_a_plain_sentence_comes_first_then_broken_cases_with_both_answers(project: Project) -> None:
    two_runs(project, {"a": "yes"}, {"a": "not at all"})
    done = project.run("compare")
    out = done.out
    assert (done.code, out.split("\n")[0]) == (0, "Too few cases to tell.")
    assert "broken s.eval.yaml: a (passed → failed)" in out
    assert "base       │ head" in out
    assert "yes        │ not at all" in out


def test_parts_that_say_nothing_are_counted_and_not_shown(project: Project) -> None:
    tags = {name: ["many"] if number < 6 else ["few"] for number, name in enumerate("abcdefgh")}
    project.suite(*(case(name, tags=tags[name]) for name in tags))
    run_with(project, **dict.fromkeys(tags, "yes"))
    run_with(project, **dict.fromkeys(tags, "yes") | {"a": "no", "h": "no"})
    out = project.run("compare").out
    assert re.search(r"^many +6 ", out, re.MULTILINE)
    assert not re.search(r"^few ", out, re.MULTILINE)
    assert out.index("broken s.eval.yaml: a") < out.index("pass rate")
    assert compared(project)["targets"][0]["tags"]["few"]["worse"] == 1


def test_cases_of_one_side_only_are_said_before_any_number(project: Project) -> None:
    project.suite(case("a"), case("b"))
    run_with(project, a="yes", b="yes")
    project.suite(case("a"), case("c"))
    run_with(project, a="yes", c="yes")
    found = compared(project)
    assert (names(found, "added"), names(found, "removed")) == (["c"], ["b"])
    assert found["differs"] == ["1 case only in head", "1 case only in base"]
    out = project.run("compare").out
    assert out.index("only in base") < out.index("1 case compared")


def test_skipped_cases_are_not_compared(project: Project) -> None:
    project.suite(case("a"), case("b"))
    run_with(project, a="yes", b="yes")
    project.suite(case("a"), case("b", skip="flaky"))
    run_with(project, a="yes")
    found = compared(project)
    assert (found["targets"][0]["pairs"], names(found, "skipped")) == (1, ["b"])


def test_other_expectations_are_said_before_any_number(project: Project) -> None:
    project.suite(case("a"), case("b"))
    run_with(project, a="yes", b="yes")
    project.suite(case("a"), case("b", expected_output="no"))
    run_with(project, a="yes", b="no")
    (remark,) = compared(project)["differs"]
    assert remark == "1 case graded differently in head than in base: b"


def test_errored_trials_count_as_not_passed_and_are_said(project: Project) -> None:
    two_runs(project, {"a": "yes", "b": "yes"}, {"b": "yes"})
    found = compared(project)
    assert names(found, "broken") == ["a"]
    assert found["differs"] == ["0 trials errored in base and 1 in head: they count as not passed"]
    assert found["targets"][0]["without_errors"]["pairs"] == 1


def test_repeats_are_one_case(project: Project) -> None:
    project.suite(case("a", repeat=3), case("b"))
    run_with(project, a="yes", b="yes")
    run_with(project, a="no", b="yes")
    found = compared(project)
    assert found["targets"][0]["pairs"] == 2
    assert found["targets"][0]["trials"]["worse"] == 1


def test_latency_tokens_and_cost(project: Project) -> None:
    project.suite({"id": "a", "input": "cost 0.5"}, {"id": "b", "input": "cost 0"},
                  {"id": "c", "input": "say x"}, graders=[{"regex": "."}])  # fmt: skip
    run_with(project)
    run_with(project)
    amounts = compared(project)["targets"][0]["amounts"]
    cost = amounts["cost"]
    assert (cost["pairs"], cost["zeros"], cost["unknown"]) == (2, 1, 1)
    assert cost["head"] == {"median": 0.25, "p95": 0.5, "total": 0.5}
    assert amounts["latency"]["pairs"] == 3
    assert amounts["input tokens"]["unknown"] == 3


# Which runs


def test_targets_of_one_run(project: Project) -> None:
    project.suite(*({"id": name, "input": "say no", "expected_output": "ok"} for name in "abcdef"))
    project.run("run", "--quiet", "--target", "agent", "--target", "other")
    found = compared(project, "latest")
    assert found["result"] == ["`other` is better than `agent`."]
    assert found["targets"][0]["fixed"] == 6
    shown = project.run("compare", "latest").out
    assert "\nagent (base) → other (head)\n6 cases compared" in shown
    swapped = compared(project, "--targets", "other", "agent")
    assert swapped["targets"][0]["broken"] == 6


def test_several_targets_of_one_run_each_have_their_sentence(project: Project) -> None:
    project.suite(
        *({"id": name, "input": "say no", "expected_output": "ok"} for name in "abcdefgh")
    )
    names = ("agent", "other", "echo")
    project.run("run", "--quiet", *[word for name in names for word in ("--target", name)])
    out = project.run("compare", "latest", "--limit", "0").out
    assert out.startswith(
        "`other` against `agent`: better.\n"
        "`echo` against `agent`: no significant difference.\n\n"
        f"run      {project.runs()[0].name}\n\n"
    )
    assert "Holm-adjusted for 2 tests" in out
    two = project.run("compare", "--targets", "agent", "other").out
    assert "note     not compared: `echo`" in two


def test_an_unknown_target_is_an_error_with_a_suggestion(project: Project) -> None:
    two_runs(project, {"a": "yes"}, {"a": "yes"})
    done = project.run("compare", "--targets", "agent", "agnet")
    assert done.code == 2
    assert "has no target `agnet`; it has `agent`; did you mean `agent`?" in " ".join(
        done.err.split()
    )


def test_each_run_has_its_name_note_and_commit(project: Project) -> None:
    project.suite(case("a"))
    run_with(project, "--name", "before", "--note", "as it was", a="yes")
    run_with(project, "--name", "after", a="yes")
    about = project.runs()[1] / "run.json"
    record = json.loads(about.read_text())
    record["about"] |= {"commit": "1a2b3c4d5e6f", "branch": "main", "dirty": True}
    about.write_text(json.dumps(record))
    out = project.run("compare").out
    assert f"base     {project.runs()[0].name} (before: as it was)\n" in out
    assert f"head     {project.runs()[1].name} (after, 1a2b3c4 on main, modified)\n" in out
    markdown = project.run("compare", "--format", "markdown").out
    assert "(`before: as it was`), head `" in markdown
    assert "(`after, 1a2b3c4 on main, modified`)" in markdown
    head = compared(project)["head"]
    told = (head[key] for key in ("run_name", "note", "commit", "branch", "dirty"))
    assert tuple(told) == ("after", None, "1a2b3c4d5e6f", "main", True)
    project.run("compare", "-o", "page.html")
    page = open_page((project.path / "page.html").read_bytes())
    assert page.about["comparison"]["sides"] == [
        "base: before: as it was", "head: after, 1a2b3c4 on main, modified"
    ]  # fmt: skip


# A baseline in a file


def test_a_file_of_trials_is_as_good_as_the_run(project: Project) -> None:
    answers = {"a": "yes", "b": "no", "c": "yes"}
    two_runs(project, answers, {**answers, "a": "no", "b": "yes"})
    project.run("report", "previous", "--format", "jsonl", "-o", "main.jsonl")
    by_file, by_run = compared(project, "--baseline", "main.jsonl"), compared(project)
    assert by_file["targets"] == by_run["targets"]
    assert compared(project, "main.jsonl", "latest") == by_file
    assert by_file["base"]["name"] == "main.jsonl"


# By what


def graded(project: Project) -> None:
    graders = [{"type": "contains", "value": name, "name": name} for name in "ye"]
    cases = [{**case(f"case{number}"), "graders": graders} for number in range(8)]
    project.suite(*cases)
    run_with(project, **{f"case{number}": "yes" for number in range(8)})
    run_with(project, **{f"case{number}": "no e" for number in range(8)})


def test_a_grader_may_be_what_counts(project: Project) -> None:
    graded(project)
    assert project.run("compare", "--fail-on", "worse", "--grader", "e").code == 0
    assert project.run("compare", "--fail-on", "worse", "--grader", "y").code == 1
    both = compared(project, "--grader", "e", "--grader", "y")["tested"]
    assert [each["grader"] for each in both] == ["e", "y"]
    assert both[1]["p_adjusted"] == 2 * both[1]["p"]


def test_scores_may_be_what_counts(project: Project) -> None:
    graded(project)
    (tested,) = compared(project, "--measure", "score")["tested"]
    assert (tested["measure"], tested["base"], tested["head"]) == ("score", 1.0, 1 / 3)
    assert tested["test"] == "sign-flip"


def test_clusters(project: Project) -> None:
    topics = [f"case{number}" for number in range(8)]
    project.suite(*(case(name, metadata={"topic": int(name[-1]) // 2}) for name in topics))
    run_with(project, **dict.fromkeys(topics, "yes"))
    run_with(project, **dict.fromkeys(topics, "no"))
    (tested,) = compared(project, "--cluster", "metadata.topic")["tested"]
    assert (tested["clusters"], tested["test"], tested["p"]) == (4, "sign-flip by cluster", 0.125)
    done = project.run("compare", "--cluster", "metadata.topc")
    assert done.code == 2
    assert "metadata.topc" in done.err


# Untrusted


def test_markdown_is_safe_to_paste(project: Project) -> None:
    two_runs(project, {"a": "yes"}, {"a": "```\n<script>@everyone\x1b[31m|"})
    out = project.run("compare", "--format", "markdown").out
    assert out.startswith("**Too few cases to tell.**")
    assert "````diff" in out
    assert "\x1b" not in out


def test_numbers_of_strangers_may_be_extreme(project: Project) -> None:
    """Whatever they are, what comes out is JSON."""
    two_runs(project, {"a": "yes", "b": "no"}, {"a": "no", "b": "no"})
    for name, big in (("base", 1e12), ("head", 1e-300)):
        run = "previous" if name == "base" else "latest"
        lines = project.run("report", run, "--format", "jsonl").out.splitlines()
        rows = [json.loads(line) for line in lines]
        for row in rows:
            row["grades"][0]["score"] = min(big, 1.0)
            row |= {"cost_usd": big, "duration_s": big, "usage": {"input_tokens": 10**15}}
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (project.path / f"{name}.jsonl").write_text(text)
    found = json.loads(
        project.run("compare", "base.jsonl", "head.jsonl", "--json", "--measure", "score").out,
        parse_constant=pytest.fail,
    )
    assert found["targets"][0]["score"]["pairs"] == 2
    assert project.run("compare", "base.jsonl", "head.jsonl").code == 0


def test_numbers_of_strangers_that_can_not_be_are_refused(project: Project) -> None:
    two_runs(project, {"a": "yes"}, {"a": "no"})
    project.run("report", "--format", "jsonl", "-o", "head.jsonl")
    row = json.loads((project.path / "head.jsonl").read_text())
    grades = [{**row["grades"][0], "score": -1e300}]
    wrong: list[dict[str, Any]] = [
        {"grades": grades},
        {"cost_usd": -1},
        {"cost_usd": 1e300},
        {"duration_s": -1},
        {"usage": {"input_tokens": -1}},
    ]
    for more in wrong:
        (project.path / "wrong.jsonl").write_text(json.dumps({**row, **more}) + "\n")
        done = project.run("compare", "previous", "wrong.jsonl", "--fail-on", "broken")
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("evalcase: wrong.jsonl:1: ")


# Nothing is compared with itself


@pytest.mark.skipif(sys.platform != "linux", reason="there is no such file elsewhere")
def test_a_baseline_that_can_not_be_read_is_named(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    done = project.run("compare", "--baseline", "/proc/self/mem")
    assert (done.code, "/proc/self/mem can't be read" in done.err) == (2, True)


def test_a_single_run_with_several_targets_says_how_to_compare_them(project: Project) -> None:
    project.suite(case("a"))
    project.run("run", "--target", "python:agent:answer", "--target", "python:agent:other")
    done = project.run("compare")
    assert done.code == 2
    assert "to compare its targets: evalcase compare latest" in " ".join(done.err.split())


def test_nothing_is_compared_with_itself(project: Project) -> None:
    two_runs(project, {"a": "yes"}, {"a": "no"})
    project.run("report", "--format", "jsonl", "-o", "self.jsonl")
    for words in (
        ("latest", "latest"),
        ("--baseline", "self.jsonl"),
        ("latest", "latest", "--targets", "agent", "agent"),
    ):
        done = project.run("compare", *words, "--fail-on", "broken")
        assert (done.code, done.out) == (2, "")
        assert "there is nothing to compare" in done.err


# Compare gates


# Gates


def test_worse_and_significantly_so(project: Project) -> None:
    many = [f"case{number}" for number in range(7)]
    two_runs(project, dict.fromkeys(many, "yes"), dict.fromkeys(many, "no"))
    done = project.run("compare", "--fail-on", "worse", "--fail-on", "significantly-worse")
    assert done.code == 1
    assert "Head is worse than base." in done.out
    assert "gate     --fail-on worse: FAILED, -100.0 points" in done.out
    assert "--fail-on significantly-worse: FAILED, -100.0 points, p = 0.016" in done.out


def test_all_is_well(project: Project) -> None:
    many = {f"case{number}": "yes" for number in range(7)}
    two_runs(project, many, many)
    gates = ("broken", "worse", "significantly-worse", "removed")
    done = project.run("compare", *[word for gate in gates for word in ("--fail-on", gate)])
    assert done.code == 0
    assert done.out.count(": passed") == 4


def test_what_was_removed_may_be_asked_about(project: Project) -> None:
    project.suite(case("a"), case("b"))
    run_with(project, a="yes", b="yes")
    run_with(project, "--case", "a", a="yes")
    assert project.run("compare", "--fail-on", "broken").code == 0
    assert project.run("compare", "--fail-on", "removed").code == 1


def test_an_unknown_gate(project: Project) -> None:
    done = project.run("compare", "--fail-on", "brokn")
    assert done.code == 2
    assert "broken" in done.err
    assert project.run("compare", "--fail-on", "worse-than:x").code == 2
    assert project.run("compare", "--fail-on", "worse-than:nan").code == 2


def test_a_case_that_head_skips_was_removed(project: Project) -> None:
    project.suite(case("a"), case("b"))
    run_with(project, a="yes", b="yes")
    project.suite(case("a"), case("b", skip="later"))
    run_with(project, a="yes", b="no")
    done = project.run("compare", "--fail-on", "removed")
    assert done.code == 1
    assert "removed: FAILED, 1 case is skipped in head but not in base" in " ".join(
        done.out.split()
    )


def test_a_gate_says_of_how_much_of_base_it_is_met(project: Project) -> None:
    project.suite(case("a"), case("b"), case("c"))
    run_with(project, a="yes", b="no", c="yes")
    run_with(project, "--failed-of", "latest", a="yes", b="no", c="yes")
    done = project.run("compare", "--fail-on", "broken", "--fail-on", "worse")
    said = " ".join(done.out.split())
    assert "broken: passed, in the 1 of 3 cases of base that head ran" in said


def test_a_gate_is_not_met_by_trials_while_cases_are_lost(project: Project) -> None:
    project.add_to_agent(
        "def flaky(question: Question):\n"
        "    note('calls', question.case)\n"
        "    calls = calls_of(question.case)\n"
        "    good = question.case == 'a' if calls <= 3 else calls < 6\n"
        "    return 'ok' if good else 'no'\n"
    )
    project.suite(
        case("a", repeat=3, expected_output="ok"), case("b", repeat=3, expected_output="ok"),
        target="python:agent:flaky",
    )  # fmt: skip
    for _ in range(2):
        project.run("run", "--quiet", "--concurrency", "1")
    fell = "the pass rate of cases fell from 50.0% to 0.0%"
    done = project.run("compare", "--fail-on", "worse", "--fail-on", "worse-than:0.9")
    told = " ".join(done.out.split())
    assert done.code == 1
    assert f"gate --fail-on worse: FAILED, {fell}, though not that of trials" in told
    assert "worse-than:0.9: passed" in told
    assert project.run("compare", "--fail-on", "worse", "--measure", "passed").code == 0
    assert project.run("compare", "--fail-on", "worse", "--measure", "cases").code == 1


# Runs of some of the cases: nothing takes them for runs of all


def suite_of(project: Project, *names: str) -> None:
    project.suite(*(case(name, tags=["t"] if name == "a" else []) for name in names))


def names_of(done: str) -> list[str]:
    """Base and head, as a comparison names them."""
    found = json.loads(done)
    return [found["base"]["name"], found["head"]["name"]]


@pytest.mark.parametrize("options", [["--case", "a"], ["--tag", "t"], ["--limit", "1"]])
def test_every_listing_says_that_a_run_is_of_a_part(project: Project, options: list[str]) -> None:
    suite_of(project, "a", "b", "c")
    done = project.run("run", *options, env={"A": "yes"})
    assert "part     1 of 3 cases selected" in done.out
    assert "part     1 of 3 cases selected" in project.run("report").out
    assert "1 of 3 cases selected" in project.run("list").out
    assert "1 of 3 cases selected" in project.run("report", "--format", "markdown").out
    found = json.loads(project.run("report", "--format", "json").out)
    assert found["selected"] == {"cases": 1, "of": 3}


def test_shards_are_parts_and_their_sum_is_not(project: Project) -> None:
    suite_of(project, "a", "b", "c")
    for shard in ("1/2", "2/2"):
        run_with(project, "--shard", shard, a="yes", b="yes", c="yes")
    told = [each["selected"] for each in json.loads(project.run("list", "--json").out)]
    assert sorted(each["cases"] for each in told) == [1, 2]
    runs = [run.name for run in project.runs()]
    assert project.run("merge", *runs).code == 0
    assert "selected" not in project.run("report").out


def test_a_part_is_compared_with_the_newest_run_that_was_to_have_its_cases(
    project: Project,
) -> None:
    suite_of(project, "a", "b", "c")
    run_with(project, a="yes", b="yes", c="yes")
    run_with(project, "--case", "b", b="no")
    run_with(project, "--case", "a", a="no")
    whole, _, part = (run.name for run in project.runs())
    assert names_of(project.run("compare", "--json").out) == [whole, part]
    said = " ".join(project.run("compare").out.split())
    assert "base is the newest run before head of the same cases; 1 run of" in said
    assert "head covers only a part: 1 of 3 cases selected" in said
    assert "not compared: 2 not selected in head" in said
    assert "removed" not in said


def test_where_no_run_has_the_cases_the_one_before_is_taken_and_it_is_said(
    project: Project,
) -> None:
    suite_of(project, "a", "b")
    run_with(project, "--case", "a", a="yes")
    run_with(project, a="yes", b="yes")
    said = " ".join(project.run("compare").out.split())
    assert "base covers only a part: 1 of 2 cases selected" in said
    assert "not compared: 1 not selected in base" in said
    assert "added" not in said


def test_a_run_of_other_targets_in_between_is_passed_over(project: Project) -> None:
    suite_of(project, "a")
    run_with(project, a="yes")
    project.run("run", "--quiet", "--target", "echo", "--target", "python:agent:other")
    run_with(project, a="no")
    first, _, last = (run.name for run in project.runs())
    assert names_of(project.run("compare", "--json").out) == [first, last]
    said = " ".join(project.run("compare").out.split())
    assert "1 run of other cases or targets in between" in said
