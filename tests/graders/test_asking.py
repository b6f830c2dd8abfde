"""Graders that ask targets: similarity by embeddings, scripts, and prompts of judges."""

import json
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import evalcase
from evalcase import Case
from evalcase.config.graders import make_grader
from evalcase.errors import ConfigError, SuiteError
from evalcase.types.result import Result

AGENTS = """
def embed(text):
    known = {"Lima": [3.0, 4.0], "The city of Lima": [4.0, 3.0], "Opposite": [-4.0, 0.0],
             "Zeros": [0.0, 0.0], "Short": [1.0]}
    return known.get(text, "none")

def judge(messages):
    prompt = messages[-1]["content"]
    met = "met" if "Be kind." in prompt and "Lima" in prompt else "not_met"
    return '{"c1": {"reason": "so it is", "verdict": "%s"}}' % met

def shout(text):
    return text.upper()
"""
CONFIG = """
[judge]
target = "judge"
[targets.judge]
kind = "python"
function = "./agents.py:judge"
[targets.embed]
kind = "python"
function = "./agents.py:embed"
[targets.shout]
kind = "python"
function = "./agents.py:shout"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evalcase.toml").write_text(CONFIG)
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "checks").mkdir()
    return tmp_path


def run(project: Path, grader: Any, text: str = "Lima", **fields: Any) -> Result:
    case = Case(input=text, graders=[grader], **fields)
    return evalcase.evaluate([case], "echo", root=project).results[0]


def similarity(project: Path, value: str, threshold: float) -> Result:
    spec = {"type": "similarity", "value": value, "embedding": "embed", "threshold": threshold}
    return run(project, spec)


def test_similarity_by_embeddings_is_their_cosine(project: Path) -> None:
    result = similarity(project, "The city of Lima", 0.9)
    (grade,) = result.grades
    assert (result.verdict, grade.score, grade.asked) == ("passed", 0.96, 2)
    assert grade.reason.startswith("cosine 0.96 by `embed`")
    assert similarity(project, "The city of Lima", 0.97).verdict == "failed"


def test_embeddings_are_cached_and_their_cost_is_counted_apart(project: Path) -> None:
    (project / "agents.py").write_text(
        f"{AGENTS}\n"
        "from evalcase import Answer, Message\n"
        "def embed(text):\n"
        f"    with open({str(project / 'asked')!r}, 'a') as file:\n"
        "        file.write('x')\n"
        "    said = Message({'role': 'assistant', 'content': [3.0, 4.0]})\n"
        "    return Answer((said,), cost_usd=0.25)\n"
    )
    spec = {"type": "similarity", "value": "Rome", "embedding": "embed", "threshold": 0.5}
    case = Case(input="Lima", graders=[spec])
    for cost_usd in (0.5, 0.0):
        done = evalcase.evaluate([case], "echo", root=project, cache=True)
        assert (done.totals.cost_usd, done.totals.grading_usd) == (None, cost_usd)
    assert (project / "asked").read_text() == "xx"


def test_an_answer_that_is_no_embedding_is_errored(project: Path) -> None:
    result = similarity(project, "Other", 0.5)
    assert result.verdict == "errored"
    assert "`embed` gave no embedding" in result.reason


def test_a_negative_cosine_counts_as_0_and_says_so(project: Path) -> None:
    (grade,) = similarity(project, "Opposite", 0.5).grades
    assert (grade.score, grade.details["cosine"]) == (0.0, -0.6)
    assert grade.reason.startswith("cosine -0.6, which counts as 0, by `embed`")


SCRIPT = """
import json, os, sys, urllib.error, urllib.request
given = json.load(sys.stdin)
url, token = os.environ["EVALCASE_TARGET_URL"], os.environ["AGENTV_TARGET_PROXY_TOKEN"]

def ask(path, body=None, token=token):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers)) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code

print(json.dumps({"score": 1, "said": [
    ask("/invoke", {"question": "a", "systemPrompt": "Be brief."})["rawText"],
    ask("/invokeBatch", {"requests": [{"question": "b"}]})["responses"][0]["rawText"],
    ask("/info"), ask("/invoke", {"question": "c"}), ask("/info", token="other"),
    os.path.basename(os.getcwd()), given["config"],
]}))
"""


def script(project: Path, body: str, **options: Any) -> dict[str, Any]:
    (project / "checks" / "grade.py").write_text(dedent(body))
    argv = [sys.executable, "-I", "-S", "grade.py"]
    return {"type": "script", "value": argv, "cwd": "checks", **options}


def test_a_script_asks_a_target_as_often_as_it_may(project: Path) -> None:
    spec = script(project, SCRIPT, target="shout", max_calls=2, config={"a": 1})
    result = run(project, spec)
    assert result.verdict == "passed", result.reason
    info = {"targetName": "shout", "maxCalls": 2, "callCount": 2, "availableTargets": ["shout"]}
    assert result.grades[0].details["said"] == ["A", "B", info, 429, 401, "checks", {"a": 1}]
    assert result.grades[0].asked == 2


def test_a_script_without_a_target_asks_the_judge(project: Path) -> None:
    body = SCRIPT.replace('"said": [', '"said": [ask("/info")["targetName"]] or [')
    result = run(project, script(project, body, max_calls=5))
    assert result.grades[0].details["said"] == ["judge"]
    (project / "evalcase.toml").write_text("")
    with pytest.raises(SuiteError, match="`max_calls` needs a `target`"):
        run(project, script(project, body, max_calls=5))


def test_a_script_decides_by_other_grades(project: Path) -> None:
    body = """
    import json, sys
    results = json.load(sys.stdin)["results"]
    print(json.dumps({"score": results["safe"]["score"] * 0.5, "reason": str(sorted(results))}))
    """
    members = [
        {"type": "contains", "value": "Lima", "name": "safe"}, {"type": "equals", "value": "x"},
    ]  # fmt: skip
    (grade,) = run(project, script(project, body, of=members)).grades
    assert (grade.score, grade.passed) == (0.5, False)
    assert grade.reason.startswith("['equals', 'safe']")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "worker", "target": "shout"}, "a worker can't ask a target"),
        ({"cwd": "../elsewhere"}, "`cwd` leads out of the project"),
    ],
)
def test_options_of_a_script_that_can_not_be(options: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_grader({"type": "script", "value": ["x"], **options})


@pytest.mark.parametrize("prompt", ["prompts/kind.md", "Be kind. {{ candidate_answer }}"])
def test_a_prompt_of_a_judge_is_a_file_or_text(project: Path, prompt: str) -> None:
    (project / "prompts").mkdir()
    (project / "prompts" / "kind.md").write_text("Be kind.\n\nLook at {{answer}}: {{criteria}}")
    result = run(project, {"type": "judge", "prompt": prompt})
    assert result.verdict == "passed", result.reason
    (told,) = [each for each in result.grades[0].details["criteria"] if each["id"] == "prompt"]
    assert "the block named answer" in told["text"]
    assert "candidate_answer" not in told["text"]


def test_a_prompt_that_is_not_there_is_found_by_check(project: Path) -> None:
    suite = {"target": "echo", "input": "hi", "graders": [{"type": "judge", "prompt": "no.md"}]}
    (project / "a.eval.json").write_text(json.dumps(suite))
    problems = {each.code: each.message for each in evalcase.check(project / "a.eval.json")}
    assert problems["missing-file"] == "there is no file `no.md`"


def test_an_indicator_is_shown_outside_of_the_verdict(project: Path) -> None:
    shown = {"type": "equals", "value": "x", "indicator": True}
    result = evalcase.evaluate(
        [Case(input="Lima", graders=["json", {**shown, "name": "b"}], threshold=0)], "echo",
        root=project,
    ).results[0]  # fmt: skip
    assert [grade.indicator for grade in result.grades] == [False, True]
    assert (result.verdict, result.score) == ("passed", 0.0)
    # It compares nothing, so what is expected is still compared.
    for expected, verdict in (("Lima", "passed"), ("Quito", "failed")):
        result = run(project, shown, expected_output=expected)
        assert (result.verdict, len(result.grades)) == (verdict, 2)
        assert ("equals" in result.reason) is False
    broken = {"type": "cost", "value": 1, "indicator": True}
    assert run(project, {"type": "all", "value": [broken, {"type": "contains", "value": "Lima"}]}
               ).verdict == "passed"  # fmt: skip
    assert run(project, broken).verdict == "ungraded"
