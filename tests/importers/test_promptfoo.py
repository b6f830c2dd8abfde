"""What promptfoo asserts, a suite that is made of it asserts, too: no more, and never less."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalcase.importers.convert import Imported, import_suite
from evalcase.importers.draft import Choices
from evalcase.importers.javascript import grade_expression, translate_pattern
from evalcase.importers.promptfoo_checks import ASSERTION_TYPES
from evalcase.importers.source import UnusableError
from tests.cli.in_process import run_in_process
from tests.for_each import for_each

HERE = Path(__file__).parent / "promptfoo"


def import_config(folder: Path, config: object) -> Imported:
    path = folder / "promptfooconfig.json"
    path.write_text(json.dumps(config))
    return import_suite(str(path), None, Choices({}), str(folder))


def test_every_documented_type_is_in_the_golden_file() -> None:
    tests = yaml.safe_load((HERE / "assertions.in.yaml").read_text())["tests"]
    used = {
        each["type"].removeprefix("not-")
        for test in tests for each in test["assert"] if isinstance(each, dict)
    }  # fmt: skip
    assert used - {"contians"} == ASSERTION_TYPES


VERDICTS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    # an assertion, answers that pass it in promptfoo, and answers that fail it there
    ({"type": "equals", "value": "Lima"}, ["Lima"], ["lima", "Lima!", "x"]),
    ({"type": "equals", "value": {"a": 1}}, ['{"a": 1}', '{"a":1.0}'],
     ['{"a": 1, "b": 2}', '```json\n{"a": 1}\n```', "a"]),
    ({"type": "not-equals", "value": "Lima"}, ["Quito"], ["Lima"]),
    ({"type": "not-equals", "value": {"a": 1}}, ['{"a": 2}', "text", '```json\n{"a": 1}\n```'],
     ['{"a": 1}']),
    ({"type": "contains-all", "value": ["a", "b"]}, ["ab"], ["a", "b", "A B"]),
    ({"type": "not-contains-all", "value": ["a", "b"]}, ["a", "c"], ["ab"]),
    ({"type": "contains-any", "value": "a, b"}, ["xa", "b"], ["c"]),
    ({"type": "not-icontains-any", "value": ["a", "b"]}, ["c"], ["A", "xb"]),
    ({"type": "starts-with", "value": "Dear"}, ["Dear Sir"], ["My Dear", "dear"]),
    ({"type": "regex", "value": "^\\d+$"}, ["42"], ["42\n\n", "a42"]),
    ({"type": "regex", "value": "[[]\\/"}, ["[/"], ["x"]),
    ({"type": "is-json"}, ["[1]", "3"], ["```json\n[1]\n```", "x"]),
    ({"type": "not-is-json"}, ["x", "```json\n[1]\n```"], ["[1]"]),
    ({"type": "is-json", "value": {"type": "object", "required": ["a"]}}, ['{"a": 1}'],
     ["{}", "x", '```json\n{"a": 1}\n```']),
    ({"type": "word-count", "value": {"max": 2}}, ["a b"], ["a b c"]),
    ({"type": "javascript", "value": "output.length > 2 && output.length <= 4"}, ["abc", "abcd"],
     ["ab", "abcde"]),
    ({"type": "javascript", "value": "output.toLowerCase().includes('lima') || output === 'x'"},
     ["in LIMA", "x"], ["y"]),
    ({"type": "not-javascript", "value": "output.includes('a') && output.includes('b')"},
     ["a", "b"], ["ab"]),
    ({"type": "javascript", "value": "JSON.parse(output).a[0].b === 'c'"}, ['{"a": [{"b": "c"}]}'],
     ['{"a": [{"b": "d"}]}', "c", '```json\n{"a": [{"b": "c"}]}\n```']),
    ({"type": "assert-set", "threshold": 0.5, "assert": [
        {"type": "contains", "value": "a"}, {"type": "contains", "value": "b"}]},
     ["a", "b"], ["c"]),
    ({"type": "assert-set", "threshold": 0.5, "assert": [
        {"type": "javascript", "value": "output.a === 3"}, {"type": "contains", "value": "b"}]},
     ['{"a": 3}', "b"], ["c", '```json\n{"a": 3}\n```']),
    ({"type": "assert-set", "threshold": 0.6, "assert": [
        {"type": "contains", "value": "a", "weight": 3}, {"type": "contains", "value": "b"}]},
     ["a", "ab"], ["b"]),
    ({"type": "assert-set", "assert": [
        {"type": "contains", "value": "a"}, {"type": "contains-all", "value": ["b", "c"]}]},
     ["abc"], ["ab", "bc"]),
]  # fmt: skip


def run_all(folder: Path, tests: list[dict[str, Any]]) -> list[bool]:
    """Whether each test passes, where the answer is the prompt."""
    imported = import_config(folder, {"prompts": ["{{answer}}"], "tests": tests})
    assert imported.problems == []
    (folder / "a.eval.yaml").write_text(imported.text)
    command = ["run", "a.eval.yaml", "--target", "echo", "--report", "all.jsonl"]
    ended = run_in_process(command, cwd=folder, env={})
    assert ended.code in (0, 1), ended
    rows = [json.loads(line) for line in (folder / "all.jsonl").read_text().splitlines()]
    by_answer = {row["input"][0]["content"]: row["verdict"] == "passed" for row in rows}
    return [by_answer[test["vars"]["answer"].removesuffix("\n")] for test in tests]


@pytest.mark.parametrize(
    ("assertion", "passing", "failing"), VERDICTS, ids=[json.dumps(each[0]) for each in VERDICTS]
)
def test_an_answer_passes_where_it_passed(
    tmp_path: Path, assertion: dict[str, Any], passing: list[str], failing: list[str]
) -> None:
    tests = [{"vars": {"answer": each}, "assert": [assertion]} for each in (*passing, *failing)]
    assert run_all(tmp_path, tests) == [True] * len(passing) + [False] * len(failing)


def test_a_threshold_counts_points_as_promptfoo_does(tmp_path: Path) -> None:
    several = [
        {"type": "contains-all", "value": ["a", "b"]},
        {"type": "equals", "value": "a"},
        {"type": "contains", "value": "a", "weight": 2},
    ]
    # "a" has 3 points of 4, "ab" has 3, "b" none: halves of `contains-all` don't count
    for threshold, expected in ((0.75, [True, True, False]), (0.8, [False, False, False])):
        folder = tmp_path / str(threshold)
        folder.mkdir()
        tests = [
            {"vars": {"answer": each}, "assert": several, "threshold": threshold}
            for each in ("a", "ab", "b")
        ]
        assert run_all(folder, tests) == expected


@for_each("pattern", ["[]", "[^]", r"\p{L}", r"\cJ", r"\u{1F600}", r"\xZ", "(?<q>a)"])
def test_a_pattern_that_means_something_else_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="means something else"):
        translate_pattern(pattern)


@for_each(
    ("code", "graders"),
    [
        ("// why\noutput && output.includes(`x`)", [{"type": "contains", "value": "x"}]),
        ("typeof output === 'string'", [{"type": "length", "min": 1}]),
        ("return output !== 'it\\'s';", [{"type": "equals", "value": "it's", "not": True}]),
        ("return output?.a['a-b'][0] !== 'it\\'s';",
         [{"type": "equals", "value": "it's", "path": "a.a-b.0", "not": True}]),
        ("output.a.toLowerCase().includes('x')",
         [{"type": "contains", "value": "x", "path": "a", "ignore_case": True}]),
        ("output.a === 1.5", [{"type": "equals", "value": 1.5, "path": "a"}]),
        ("output.trim().length == 3", [{"type": "length", "min": 3, "max": 3}]),
        *[(code, None) for code in (
            "!output", "output.includes('a') && output === 'b' || output === 'c'",
            "output.length >= -1", "output.length >= 0", "output.a.length > 2", "&& output",
            "output &&", "output?.a.class === null", "output === 3", "JSON.parse(output) === 'x'",
            "output.length > 5 > 2",
            "output.includes('a', 5)", "/a/.test(output)", "output.trim().a === 'x'",
            "output.toLowerCase() === 'X'", "output.includes(other)", "output.length > 1.5",
            "output === 5", "~output.indexOf('a')", "output.includes('a') // yes", "",
        )],
    ],
)  # fmt: skip
def test_a_condition_is_translated_whole_or_not_at_all(code: str, graders: Any) -> None:
    if graders is not None:
        assert grade_expression(code) == graders
        return
    with pytest.raises(ValueError):  # noqa: PT011 - its caller says what was left out
        grade_expression(code)


@for_each("name", ["file:///etc/passwd", "file://../secret.txt", "file://link.txt"])
def test_no_file_outside_the_folder_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("root:x:0:0")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    imported = import_config(folder, {
        "prompts": ["{{a}}", name],
        "tests": [
            {"vars": {"a": "fine"}, "assert": [{"type": "contains", "value": name}]},
            {"vars": {"a": name}}, name,
        ],
    })  # fmt: skip
    assert "root:" not in imported.text
    assert imported.cases == 1
    assert len(imported.problems) == 4


def test_variables_that_grow_without_end_are_refused(tmp_path: Path) -> None:
    grown = {"a": "x" * 1000, **{name: f"{{{{{of}}}}}" * 50 for name, of in ("ba", "cb", "dc")}}
    config = {"prompts": ["{{d}}"], "tests": [{"vars": grown}]}
    with pytest.raises(UnusableError) as caught:
        import_config(tmp_path, config)
    assert "a template that makes over 1,000,000 characters" in str(caught.value.problems)
    many = {name: ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"] for name in "abcdef"}
    with pytest.raises(UnusableError) as caught:
        import_config(tmp_path, {"prompts": ["{{a}}"], "tests": [{"vars": many}]})
    assert "in over 100,000 ways" in str(caught.value.problems)


def test_a_key_is_never_written(tmp_path: Path) -> None:
    settings = {"apiKey": "sk-live-1", "headers": {"Authorization": "Bearer sk-live-2"}}
    providers = [
        {"id": "openai:gpt-4o", "config": settings},
        {"id": "https://example.com", "config": {**settings, "body": {"q": "{{prompt}}"}}},
    ]
    config = {"prompts": ["a"], "providers": providers, "env": {"OPENAI_API_KEY": "sk-live-3"}}
    imported = import_config(tmp_path, config)
    assert "sk-live" not in imported.text + imported.targets


def test_files_that_refer_to_each_other_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("[file://a.yaml, {vars: {q: fine}}]")
    for number in range(20):
        (tmp_path / f"b{number}.yaml").write_text(
            f"[file://b{number + 1}.yaml, file://b{number + 1}.yaml]"
        )
    (tmp_path / "b20.yaml").write_text("[]")
    (tmp_path / "p.yaml").write_text("[file://p.yaml, echo]")
    imported = import_config(tmp_path, {
        "prompts": ["{{q}}"], "tests": ["file://a.yaml", "file://b0.yaml"],
        "providers": ["file://p.yaml"],
    })  # fmt: skip
    said = "\n".join(map(str, imported.problems))
    assert imported.cases == 1
    assert "it refers to itself" in said
    assert "files are referred to over 10,000 times" in said


def test_a_threshold_never_counts_less_than_it_did(tmp_path: Path) -> None:
    several = [{"type": "contains", "value": "a"}, {"type": "regex", "value": "(open"}]
    imported = import_config(tmp_path, {
        "prompts": ["{{q}}"],
        "tests": [{"vars": {"q": "1"}, "assert": several, "threshold": 0.4}],
    })  # fmt: skip
    assert yaml.safe_load(imported.text)["cases"][0]["threshold"] == 1
    assert "`threshold`, as not all" in str(imported.problems)
    shared = import_config(tmp_path, {
        "prompts": ["{{q}}"], "defaultTest": {"assert": several, "threshold": 0.4},
        "tests": [{"vars": {"q": "1"}}],
    })  # fmt: skip
    assert yaml.safe_load(shared.text)["cases"][0]["threshold"] == 1


@for_each(
    ("cell", "made"),
    [
        ("contains:hello", [{"contains": "hello"}]),
        ("not-contains:hello:you", [{"contains": {"value": "hello:you", "not": True}}]),
        ("latency(1000)", [{"latency": 1}]),
        (
            "similar(0.8):hello",
            [{"similarity": {"value": "hello", "embedding": "embeddings", "threshold": 0.8}}],
        ),
        (
            "similar:hello",
            [{"similarity": {"value": "hello", "embedding": "embeddings", "threshold": 0.75}}],
        ),
        ("https://example.org", None),
    ],
)
def test_a_cell_needs_no_blank_after_its_colon(tmp_path: Path, cell: str, made: object) -> None:
    (tmp_path / "tests.csv").write_text(f'a,__expected\nx,"{cell}"\n')
    imported = import_config(tmp_path, {"prompts": ["{{a}}"], "tests": "file://tests.csv"})
    (case,) = yaml.safe_load(imported.text)["cases"]
    assert case.get("expected_output") == (cell if made is None else None)
    assert case.get("graders") == made
    assert not imported.problems


MEASURED = [{"type": "cost", "threshold": 0.1}, {"type": "latency", "threshold": 5000}]
CONTAINS = {"type": "contains", "value": "x"}
TRANSFORM = {"transform": "output.split('x')"}


def test_a_transform_leaves_what_an_answer_took_alone(tmp_path: Path) -> None:
    of_all = {"options": TRANSFORM, "assert": [*MEASURED, CONTAINS]}
    tests: list[dict[str, Any]] = [{"assert": [CONTAINS, MEASURED[0]]}, {"options": TRANSFORM}]
    config = {"prompts": ["a"], "defaultTest": of_all, "tests": tests}
    suite = yaml.safe_load(import_config(tmp_path, config).text)
    assert suite["graders"] == [{"cost": 0.1}, {"latency": 5}]
    assert [case.get("graders") for case in suite["cases"]] == [None, None]
    assert not any("suite_graders" in case for case in suite["cases"])


def test_assertions_of_a_trimmed_answer_are_kept(tmp_path: Path) -> None:
    patterned = {"type": "regex", "value": "^x"}
    of_all = {"options": {"transform": "output.trim()"}, "assert": [CONTAINS]}
    config = {"prompts": ["a"], "defaultTest": of_all, "tests": [{"assert": [patterned]}]}
    imported = import_config(tmp_path, config)
    suite = yaml.safe_load(imported.text)
    assert suite["cases"][0]["graders"] == [{"contains": "x"}, {"regex": "^x"}]
    (problem,) = imported.problems
    assert "white space around the answer" in problem.message


@for_each("name", ["file:///**/*.txt", "file://../**", "file://**/x/../../../*"])
def test_no_folder_outside_is_searched(tmp_path: Path, name: str) -> None:
    imported = import_config(tmp_path, {"prompts": [name, "a"], "tests": [{"vars": {}}]})
    assert [problem.message for problem in imported.problems] == [
        "left out: this prompt: it lies outside the folder of the file"
    ]


def test_a_comment_that_cuts_a_text_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(
        "prompts: ['{{q}}']\ntests:\n  - vars: {q: hi}\n    description: a tag #urgent\n"
    )
    imported = import_suite(str(path), None, Choices({}), str(tmp_path))
    assert "input: hi" in imported.text
