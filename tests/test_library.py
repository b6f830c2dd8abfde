"""The public names of the package, and how they behave."""

import copy
import gc
import json
import logging
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import evalcase
from evalcase import Case, Problem, Suite, SuiteError
from evalcase.format.positions import Format
from tests.for_each import for_each

BROKEN = """\
- input: 5
- {id: a, oops: 1, input_messages: hi}
- {id: a, input: hi, expcted_output: x}
"""


def result_of(code: str, *options: str) -> Any:
    """What a piece of code prints as JSON in a fresh interpreter, if it prints nothing else."""
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def errors_of(call: Callable[[], object]) -> list[tuple[str, tuple[int, ...] | None]]:
    """The codes and places of the errors that a call raises."""
    with pytest.raises(SuiteError) as raised:
        call()
    return [
        (problem.code, problem.span)
        for problem in raised.value.problems
        if problem.severity == "error"
    ]


# Importing.


def test_import_has_no_side_effects_and_imports_nothing_heavy() -> None:
    code = """
import sys
before = set(sys.modules)
import evalcase
new = set(sys.modules) - before
print('["' + '", "'.join(sorted(new)) + '"]')
"""
    new = set(result_of(code, "-W", "error"))
    assert {name for name in new if name.startswith("evalcase")} == {"evalcase"}
    heavy = "yaml _yaml click json logging hashlib pathlib dataclasses tempfile difflib asyncio"
    assert not {name.partition(".")[0] for name in new} & set(heavy.split())


def test_public_names_are_what_they_are_whatever_is_imported_first() -> None:
    code = """
import json, pkgutil, random, sys
from importlib import import_module

def forget():
    for name in [name for name in sys.modules if name.partition(".")[0] == "evalcase"]:
        del sys.modules[name]

def kinds(package):
    return {name: type(getattr(package, name)).__name__ for name in package.__all__}

import evalcase
modules = [each.name for each in pkgutil.walk_packages(evalcase.__path__, "evalcase.")]
modules.remove("evalcase.__main__")
names, expected, found = list(evalcase.__all__), kinds(evalcase), []
for first in modules:
    if first.count(".") == 1:  # it will be an attribute of the package
        forget()
        import_module(first)
        found.append(kinds(sys.modules["evalcase"]) == expected)
chance = random.Random(1)
for _ in range(4):
    forget()
    chance.shuffle(names)
    package = import_module("evalcase")
    for name in names:
        getattr(package, name)
    found.append(kinds(package) == expected)
print(json.dumps([expected, len(modules), all(found)]))
"""
    kinds, modules, all_equal = result_of(code)
    assert modules > 40
    assert all_equal
    functions = {name for name, kind in kinds.items() if kind == "function"}
    assert functions == {
        "assert_case", "assert_case_async", "cases",
        "check", "check_text", "evaluate", "evaluate_async", "explain", "figures", "iter_cases",
        "load", "loads", "parse_case", "read_transcript", "write_suite",
    }  # fmt: skip
    assert kinds["options"] == "module"
    others = kinds.keys() - functions - {"options"}
    assert {kinds[name] for name in others} <= {"type", "_ProtocolMeta", "StructMeta"}


def test_public_names_are_listed_and_can_all_be_imported_at_once() -> None:
    star: dict[str, Any] = {}
    exec("from evalcase import *", star)
    assert set(evalcase.__all__) == star.keys() - {"__builtins__"}
    assert sorted(evalcase.__all__) == list(evalcase.__all__)
    assert set(dir(evalcase)) == {*evalcase.__all__, "__version__"}


def test_name_that_does_not_exist_is_an_attribute_error() -> None:
    package: Any = evalcase
    with pytest.raises(AttributeError, match="'evalcase' has no attribute 'laod'"):
        _ = package.laod


# Loading.


def test_load_takes_a_string_or_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("input: hi")
    assert evalcase.load(path).cases == evalcase.load(str(path)).cases
    assert evalcase.load(path).path == str(path)


def test_the_data_of_a_case_can_be_read_and_not_replaced() -> None:
    case = evalcase.Case(id="a", input="hi")
    data = case.to_dict()
    with pytest.raises(AttributeError):
        case.id = "b"
    data.clear()
    assert case.to_dict() == {"id": "a", "input": [{"role": "user", "content": "hi"}]}


def test_suite_is_a_read_only_collection_of_cases() -> None:
    suite = evalcase.loads("- {id: a, input: x}\n- {id: b, input: y}\n")
    assert isinstance(suite, Suite)
    assert [case.id for case in suite] == ["a", "b"]
    assert len(suite) == 2
    assert suite["b"].input[0].content == "y"
    with pytest.raises(KeyError):
        suite["c"]
    with pytest.raises(AttributeError):
        suite.path = "other"  # type: ignore[misc]
    assert type(suite.cases) is tuple
    assert all(type(case) is Case for case in suite)


def test_suite_gives_fresh_objects() -> None:
    suite = evalcase.loads("metadata: {a: [1]}\ncases: [{id: a, input: {k: [1]}}]\n")
    before = json.dumps(suite.to_dict())
    value: Any = suite.to_dict()
    value["metadata"]["a"].append(2)
    value["cases"][0]["input"][0]["content"]["k"].append(2)
    metadata: Any = suite.metadata
    metadata["a"].append(2)
    assert json.dumps(suite.to_dict()) == before


def test_suite_can_be_pickled_and_copied() -> None:
    suite = evalcase.loads("name: s\nmetadata: {a: 1}\ntests: [{id: a, input: x, criteria: c}]\n")
    for back in (pickle.loads(pickle.dumps(suite)), copy.deepcopy(suite), copy.copy(suite)):
        assert back.to_dict() == suite.to_dict()
        assert back.cases == suite.cases
        assert back.warnings == suite.warnings
        assert back.path == suite.path


def test_loads_takes_yaml_by_default_and_the_other_formats_by_name() -> None:
    assert len(evalcase.loads("- input: a\n- input: b\n")) == 2
    assert len(evalcase.loads('[{"input": "a"}]', "json")) == 1
    assert len(evalcase.loads('{"input": "a"}\n{"input": "b"}\n', "jsonl")) == 2
    assert errors_of(lambda: evalcase.loads("input: a", "json"))[0][0] == "syntax"


def test_loads_refuses_a_format_that_it_does_not_know() -> None:
    unknown: Any = "toml"
    with pytest.raises(ValueError, match="toml"):
        evalcase.loads("input: hi", unknown)


def test_parse_case_gives_one_case() -> None:
    assert evalcase.parse_case("id: a\ninput: hi").id == "a"
    assert errors_of(lambda: evalcase.parse_case("cases: [{input: a}]"))[0][0] == "unknown-field"
    assert errors_of(lambda: evalcase.parse_case("- input: a")) == [("wrong-type", (1, 1, 1, 11))]
    assert errors_of(lambda: evalcase.parse_case("")) == [("wrong-type", (1, 1, 1, 1))]
    ((code, span),) = errors_of(lambda: evalcase.parse_case("{"))
    assert (code, span and span[0]) == ("syntax", 1)


@for_each("enabled", [True, False])
@for_each("text", ["input: hi", "input: 5", "{"])
def test_garbage_collector_is_left_as_it_was(text: str, enabled: bool) -> None:
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        for format in ("yaml", "json", "jsonl"):
            with suppress(SuiteError):
                evalcase.loads(text, format)
            assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


# Errors.


def test_suite_error_carries_all_problems_in_order() -> None:
    with pytest.raises(SuiteError) as raised:
        evalcase.loads(BROKEN)
    assert [(problem.code, problem.line, problem.column) for problem in raised.value.problems] == [
        ("wrong-type", 1, 10),
        ("unknown-field", 2, 11),
        ("deprecated-name", 2, 20),
        ("duplicate-id", 3, 8),
        ("unknown-field", 3, 22),
    ]
    assert type(raised.value.problems) is tuple
    assert all(type(problem) is Problem for problem in raised.value.problems)


def test_suite_error_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(BROKEN)
    with pytest.raises(SuiteError) as raised:
        evalcase.load(path)
    lines = str(raised.value).splitlines()
    assert lines[0] == "4 errors"
    assert lines[1].startswith(f"  {path}:1:10: error[wrong-type]: ")
    assert lines[2] == '    hint: write it in quotes: "5"'
    assert (
        f"  {path}:3:22: error[unknown-field]: `expcted_output` is not a field of a case" in lines
    )
    assert "    hint: did you mean `expected_output`?" in lines
    assert "deprecated" not in str(raised.value)


def test_suite_error_counts_one_error_in_the_singular() -> None:
    with pytest.raises(SuiteError, match=r"^1 error\n  <text>:1:8: error\[wrong-type\]: "):
        evalcase.loads("input: 5")


def test_suite_error_is_an_evalcase_error() -> None:
    assert issubclass(SuiteError, evalcase.EvalcaseError)
    assert issubclass(evalcase.EvalcaseError, Exception)


def test_suite_error_and_its_problems_can_be_pickled() -> None:
    with pytest.raises(SuiteError) as raised:
        evalcase.loads(BROKEN)
    back = pickle.loads(pickle.dumps(raised.value))
    assert back.problems == raised.value.problems
    assert str(back) == str(raised.value)


def test_problem_has_a_place_a_severity_and_a_json_form() -> None:
    (problem,) = evalcase.loads("- {id: a, input_messages: hi, criteria: c}\n").warnings
    assert (problem.code, problem.severity, problem.case) == ("deprecated-name", "warning", "a")
    assert problem.place == "<text>:1:11"
    assert (problem.line, problem.column) == (1, 11)
    assert problem.span == (1, 11, 1, 25)
    assert json.loads(json.dumps(problem.to_dict())) == {
        "code": "deprecated-name",
        "severity": "warning",
        "message": problem.message,
        "hint": problem.hint,
        "path": "<text>",
        "line": 1,
        "column": 11,
        "end_line": 1,
        "end_column": 25,
        "case": "a",
    }
    assert str(problem) == f"<text>:1:11: warning[deprecated-name]: {problem.message}"


# Warnings.

DEPRECATED = """\
tests:
  - {id: a, input_messages: x, criteria: c}
  - {id: b, input_messages: y, expected_messages: z}
  - {id: c, input_messages: z, outcome: o}
"""


def test_warnings_are_on_the_suite() -> None:
    suite = evalcase.loads(DEPRECATED)
    assert type(suite.warnings) is tuple
    assert [(warning.code, warning.line, warning.column) for warning in suite.warnings] == [
        ("deprecated-name", 1, 1),
        ("deprecated-name", 2, 13),
        ("deprecated-name", 3, 13),
        ("deprecated-name", 3, 32),
        ("deprecated-name", 4, 13),
        ("deprecated-name", 4, 32),
    ]
    assert evalcase.loads("input: hi\ncriteria: c").warnings == ()


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    assert {record.name for record in caplog.records} <= {"evalcase"}
    assert {record.levelno for record in caplog.records} <= {logging.WARNING}
    return [record.getMessage() for record in caplog.records]


def test_warnings_are_logged_with_one_line_for_each_deprecated_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The first place of each: a large file is no flood."""
    path = tmp_path / "old.yaml"
    path.write_text(DEPRECATED)
    evalcase.load(path)
    assert logged(caplog) == [
        f"{path}:1:1: deprecated-name: `tests` is called `cases` here",
        f"{path}:2:13: deprecated-name: `input_messages` is called `input` here",
        f"{path}:3:32: deprecated-name: `expected_messages` is called `expected_output` here",
        f"{path}:4:32: deprecated-name: `outcome` is called `criteria` here",
    ]


def test_warnings_are_logged_by_every_function_that_gives_cases(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """But not by `check`, which returns them."""
    path = tmp_path / "old.jsonl"
    path.write_text('{"input_messages": "a", "expected_output": "c"}\n' * 2)
    place = "`input_messages` is called `input` here"
    list(evalcase.iter_cases(path))
    assert logged(caplog) == [f"{path}:1:2: deprecated-name: {place}"]
    caplog.clear()
    evalcase.parse_case("input_messages: hi")
    assert logged(caplog) == [f"<text>:1:1: deprecated-name: {place}"]
    caplog.clear()
    evalcase.loads("input_messages: hi\ncriteria: c")
    assert logged(caplog) == [f"<text>:1:1: deprecated-name: {place}"]
    caplog.clear()
    assert len(evalcase.check([path])) == 2
    assert logged(caplog) == []


def test_nothing_is_logged_where_there_is_nothing_to_say(caplog: pytest.LogCaptureFixture) -> None:
    evalcase.parse_case("input: hi")
    evalcase.loads("input: hi\nexpected_output: x")
    with pytest.raises(SuiteError):
        evalcase.loads(BROKEN)
    assert logged(caplog) == []


def test_percent_signs_in_a_warning_are_text(caplog: pytest.LogCaptureFixture) -> None:
    evalcase.loads("- {id: '%s %d', input: '', criteria: '%'}")
    assert [line.split(":")[3] for line in logged(caplog)] == [" empty-input"]


# Checking.


def test_check_gives_every_problem_of_every_file_in_order(tmp_path: Path) -> None:
    one, two, good = tmp_path / "one.yaml", tmp_path / "two.jsonl", tmp_path / "good.yaml"
    one.write_text(BROKEN)
    two.write_text('{"input": "hi", "expected_output": "c"}\n{"input": 5}\n')
    good.write_text("input: hi\nexpected_output: c\n")
    found = evalcase.check([two, good, str(one)])
    assert [(Path(each.path).name, each.line) for each in found] == [
        ("two.jsonl", 2), *(("one.yaml", line) for line in (1, 2, 2, 3, 3)),
    ]  # fmt: skip
    assert evalcase.check([good]) == []
    assert evalcase.check(path for path in (good,)) == []
    assert evalcase.check([]) == []


def awful_paths(folder: Path) -> Iterator[Path | str]:
    yield folder / "missing.yaml"
    yield folder / "missing"
    yield folder
    yield ""
    yield "a\0b.yaml"
    yield "x" * 5000 + ".yaml"
    yield folder / "no-ending"
    yield folder / "a.txt"
    for name in ("no-ending", "a.txt"):
        (folder / name).write_text("input: hi")
    for ending in ("yaml", "json", "jsonl"):
        (folder / f"folder.{ending}").mkdir()
        yield folder / f"folder.{ending}"
        os.mkfifo(folder / f"pipe.{ending}")
        yield folder / f"pipe.{ending}"
        (folder / f"loop.{ending}").symlink_to(f"loop.{ending}")
        yield folder / f"loop.{ending}"
        (folder / f"empty.{ending}").touch()
        yield folder / f"empty.{ending}"
        (folder / f"nul.{ending}").write_bytes(bytes(100))
        yield folder / f"nul.{ending}"
        yield f"/dev/null/x.{ending}"


def test_check_never_raises_for_what_is_there_or_not(tmp_path: Path) -> None:
    for path in awful_paths(tmp_path):
        problems = evalcase.check([path])
        assert [problem.severity for problem in problems] == ["error"], path
        assert problems[0].path == str(path)


def test_load_and_iter_cases_raise_suite_error_for_what_is_there_or_not(tmp_path: Path) -> None:
    for path in awful_paths(tmp_path):
        assert len(errors_of(partial(evalcase.load, path))) == 1, path
        assert len(errors_of(partial(next, evalcase.iter_cases(path)))) == 1, path


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The data with a few bytes changed, dropped or doubled."""
    result = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(result))
        kind = chance.randrange(4)
        if kind == 0:
            result[at] = chance.randrange(256)
        elif kind == 1:
            del result[at : at + chance.randint(1, 9)]
        elif kind == 2:
            result[at:at] = bytes(chance.choice(b"{}[]:,&*!|>'\"%@`#-?\n\t \\x0") for _ in range(3))
        else:
            result[at:at] = result[at : at + chance.randint(1, 30)]
    return bytes(result) or b"x"


@pytest.mark.parametrize("ending", ["yaml", "json", "jsonl"])
def test_check_never_raises_for_what_files_hold(tmp_path: Path, ending: str) -> None:
    chance = random.Random(ending)
    case = {"id": "a", "input": [{"role": "user", "content": "é\N{GRINNING FACE}"}],
            "graders": [{"contains": "x"}], "metadata": {"a": [1, None, {"b": 1.5}]}}  # fmt: skip
    texts = {
        "yaml": "x-a: &a {k: [1, 2]}\ncases:\n  - &c\n    id: a\n    input: 'é'\n    tags: [b]\n"
        "    metadata: {<<: *a, t: |\n      block\n      }\n  - {<<: *c, id: b}\n",
        "json": json.dumps([case], indent=1, ensure_ascii=False),
        "jsonl": json.dumps(case, ensure_ascii=False) + "\n" + json.dumps({**case, "id": "b"}),
    }
    path = tmp_path / f"a.{ending}"
    found = 0
    for _ in range(12 * settings().max_examples):
        path.write_bytes(damaged(texts[ending].encode(), chance))
        for problem in evalcase.check([path]):
            found += 1
            if problem.span is not None:
                line, column, end_line, end_column = problem.span
                assert (1, 1) <= (line, column) <= (end_line, end_column)
    assert found > 9 * settings().max_examples


@for_each("format", ["yaml", "json", "jsonl"])
def test_text_may_be_empty(format: Format) -> None:
    ((code, _),) = errors_of(lambda: evalcase.loads("", format))
    assert code in ("no-cases", "syntax")


def test_load_leaves_names_of_graders_to_who_knows_the_project() -> None:
    text = "cases: [{input: a, expected_output: b, graders: [{contain: x}]}]"
    suite = evalcase.loads(text)
    assert [each.code for each in evalcase.check_text(text, "a.eval.yaml")] == ["unknown-grader"]
    with pytest.raises(evalcase.SuiteError, match="did you mean `contains`"):
        evalcase.evaluate(suite, str)
