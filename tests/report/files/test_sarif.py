import json
from typing import Any
from urllib.parse import unquote

from evalcase.report.problems import as_sarif
from evalcase.types.problem import Problem, Span
from tests.for_each import for_each

PROBLEMS = [
    Problem("unknown-field", "no `x`", "evals/a b.yaml", Span(3, 5, 3, 9), "say `y`"),
    Problem("deprecated-name", "old", "evals/größe.yaml", Span(1, 1, 4, 2)),
    Problem("unknown-field", "no {0}", "/abs/日.yaml", Span(7, 2, 7, 2), "write {type: file}"),
    Problem("not-compared", "\x1b[2J", "a:b#c?.yaml", Span(9, 1, 9, 2)),
    Problem("no-suites", "nothing", "./evals"),
]


def log_of(problems: list[Problem]) -> dict[str, Any]:
    text = as_sarif(problems, version="1.2.3")
    assert text.encode()
    log: dict[str, Any] = json.loads(text)
    return log


def run_of(problems: list[Problem]) -> dict[str, Any]:
    (run,) = log_of(problems)["runs"]
    assert isinstance(run, dict)
    return run


def uri_of(path: str) -> str:
    (result,) = run_of([Problem("bad-value", "m", path)])["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert isinstance(uri, str)
    return uri


def test_every_result_points_at_its_rule_and_its_place() -> None:
    run = run_of(PROBLEMS)
    rules = run["tool"]["driver"]["rules"]
    for result, problem in zip(run["results"], PROBLEMS, strict=True):
        assert set(result) == {"ruleId", "ruleIndex", "level", "message", "locations"}
        assert result["ruleId"] == problem.code == rules[result["ruleIndex"]]["id"]
        assert result["level"] == problem.severity
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        relative = not place["artifactLocation"]["uri"].startswith("file:///")
        assert ("uriBaseId" in place["artifactLocation"]) is relative
        if problem.span:
            region = place["region"]
            found = [region[key] for key in ("startLine", "startColumn", "endLine", "endColumn")]
            assert found == list(problem.span)
        else:
            assert "region" not in place


@for_each(
    ("path", "uri"),
    [
        ("evals/a.yaml", "evals/a.yaml"),
        ("./evals/a.yaml", "evals/a.yaml"),
        ("../a.yaml", "../a.yaml"),
        ("a b/größe.yaml", "a%20b/gr%C3%B6%C3%9Fe.yaml"),
        ("a:b#c?d%e.yaml", "a%3Ab%23c%3Fd%25e.yaml"),
        ("/tmp/日 x.yaml", "file:///tmp/%E6%97%A5%20x.yaml"),
        ("a\udcff.yaml", "a%FF.yaml"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_paths_become_uris(path: str, uri: str) -> None:
    assert uri_of(path) == uri
    assert uri.isascii()
    assert " " not in uri
    assert "\udcff" in path or unquote(uri).removeprefix("file://") == path.removeprefix("./")


def test_messages_carry_the_hint_and_no_placeholders_or_control_characters() -> None:
    texts = [result["message"]["text"] for result in run_of(PROBLEMS)["results"]]
    assert texts == [
        "no `x`\nsay `y`",
        "old",
        "no {{0}}\nwrite {{type: file}}",
        "<U+001B>[2J",
        "nothing",
    ]
