"""Reports for pull requests: Markdown and annotations."""

import re

import pytest

from tests.run.project import CONFIG, Project, case, cases

HOSTILE = "```` </details> | @octocat #12 <script>alert(1)</script> [x](http://evil) ![i](x)"

JUDGE = """
def judge(messages):
    said = '{"c1": {"reason": "so", "verdict": "met"}}'
    return {"messages": [{"role": "assistant", "content": said}], "cost_usd": 0.003}
"""
JUDGE_CONFIG = """
[judge]
target = "judge"

[targets.judge]
kind = "python"
function = "agent:judge"
"""


def markdown(project: Project, *options: str) -> str:
    done = project.run("report", "--format", "markdown", *options)
    assert done.code == 0, done
    return done.out


def test_the_rate_comes_with_its_interval_and_failures_can_be_opened(project: Project) -> None:
    project.suite(*cases(3), case("bad", "say no", tags=["t"]))
    project.run("run")
    text = markdown(project)
    assert text.startswith("<!-- evalcase -->\n### ❌ 3 of 4 cases passed (75.0%)\n")
    assert "| passed | failed | pass rate | 95% interval |" in text
    assert re.search(r"\| 3 \| 1 \| 75\.0% \| 30\.1–95\.4% \|", text)
    assert text.count("<details>") == 1
    assert "<code>s.eval.yaml: bad (agent)</code>" in text


def test_what_a_rate_alone_does_not_say(project: Project) -> None:
    project.add_to_agent(JUDGE)
    project.configure(f"{CONFIG}\n{JUDGE_CONFIG}")
    project.suite(case("a"), case("b", "once", repeat={"times": 2, "pass_rate": 0.5}),
                  case("c", "raise x"), case("d", graders=[{"judge": "It is fine."}]))  # fmt: skip
    project.run("run", "--concurrency", "1")
    text = markdown(project)
    assert "100.0% (43.9–100.0%) of the 3 cases that did not error\n" in text
    assert "- trials: 5 in all, 3 passed, 2 errored\n" in text
    assert "- repeats: 1 case, 2 trials each, 50.0% of them passed, " in text
    assert "- flaky: 1 of 1 case passed in some trials but not in others\n" in text
    assert "- cost: grading $0.0030\n" in text


def test_an_incomplete_run_never_looks_well(project: Project) -> None:
    project.suite(*cases(2), case("b", "say no"), *cases(3, prefix="d"))
    project.run("run", "--fail-fast", "--concurrency", "1")
    text = markdown(project, "--verdict", "passed")
    assert "✅ 2 of" not in text
    assert "**not complete**" in text


def test_what_a_model_says_ends_no_block_and_mentions_nobody(project: Project) -> None:
    project.suite(case("a | b`@octocat`", f"say {HOSTILE}"))
    project.run("run")
    text = markdown(project)
    fence = re.search(r"^(`{3,})text\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)
    assert fence is not None
    assert len(fence[1]) > 4
    outside = text.replace(fence[0], "")
    assert outside.count("</details>") == 1
    assert "<script>" not in outside
    for mention in re.finditer(r"@octocat", outside):
        before = outside[: mention.start()]
        assert before.count("<code>") > before.count("</code>")


NAMES = {
    "![x](https://evil/p.png)": "`![x](https://evil/p.png)`",
    "__init__": "`__init__`",
    "<b>a</b> &amp; *b*": "`<b>a</b> &amp; *b*`",
    "a|b": r"`a\|b`",
    r"a\|b": r"`a\<U+007C>b`",
    "one `two`` `": "``` one `two`` ` ```",
    "a\n\n# b": "`a # b`",
}
"""Names of anybody's, and the code spans that show them in a table."""


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
def test_names_are_code_that_no_reader_of_markdown_takes_for_more(
    project: Project, name: str, shown: str
) -> None:
    graders = [{"type": "contains", "value": "ok", "name": name}, {"contains": "o"}]
    project.suite(case("a", tags=[name, "plain"], graders=graders))
    project.run("run")
    rows = [line for line in markdown(project).splitlines() if line.startswith(f"| {shown} |")]
    assert len(rows) == 2, "as a tag and as a grader"


def test_all_of_it_fits_into_a_comment_and_the_rest_is_counted(project: Project) -> None:
    project.suite(*(case(f"c{n}", f"say {'long ' * 300}{n}") for n in range(60)))
    project.run("run")
    text = markdown(project)
    assert len(text) <= 60_000
    shown = text.count("<summary>❌")
    assert 0 < shown < 60
    assert f"and {60 - shown} failed more" in text


def read_annotations(project: Project) -> list[str]:
    done = project.run("report", "--format", "github")
    assert done.code == 0, done
    return done.out.splitlines()


def test_an_annotation_stands_at_the_line_of_its_case(project: Project) -> None:
    path = project.suite(case("good"), case("bad", "say no, 100% :: no"))
    project.run("run")
    (line,) = read_annotations(project)
    number = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "bad" in text)
    assert line.startswith(f"::error file=s.eval.yaml,line={number},title=failed%3A bad ")
    assert "100%25 :: no" in line


def test_text_of_a_model_is_no_command(project: Project) -> None:
    project.suite(case("bad", "raise x\n::set-output name=a::b\n::error::c"))
    project.run("run")
    (line,) = read_annotations(project)
    assert line.count("::") >= 2
    assert not line.startswith("::set-output")


def test_of_more_than_ten_the_tenth_says_how_many(project: Project) -> None:
    project.suite(*cases(14, "say no"), {"id": "open", "input": "say hi"})
    project.run("run")
    lines = read_annotations(project)
    errors = [line for line in lines if line.startswith("::error")]
    assert len(errors) == 10
    assert "title=evalcase%3A 5 more" in errors[-1]
    assert [line for line in lines if line.startswith("::warning")] != []


def test_what_a_pass_rate_allows_is_a_warning_beside_the_lines(project: Project) -> None:
    project.suite(case("good"), case("bad", "say no"))
    assert project.run("run", "--fail-under", "0.5").code == 0
    shown = project.run("report", "--format", "github").out
    assert "::error" not in shown
    assert "::warning " in shown
    project.run("run", "--fail-under", "0.9")
    assert "::error " in project.run("report", "--format", "github").out
