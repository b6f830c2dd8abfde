import os
from pathlib import Path

import pytest

from evalcase.format.source import (
    UnreadableError,
    discover_files,
    find_sidecars,
    format_at,
    format_of,
    suite_name,
)
from evalcase.types.problem import Problem
from tests.for_each import for_each


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def found(folder: Path, *paths: str) -> list[str]:
    """What is found, relative to the folder; a problem as its code."""
    given = [str(folder / path) for path in paths]
    return [
        item.code if isinstance(item, Problem) else os.path.relpath(item, folder)
        for item in discover_files(given)
    ]


def test_a_folder_is_searched_in_order(tmp_path: Path) -> None:
    touch(
        tmp_path, "b.eval.yaml", "a.eval.yml", "z/c.eval.json", "k/d.eval.jsonl", "k/a/e.eval.yaml"
    )
    assert found(tmp_path, "") == [
        "a.eval.yml", "b.eval.yaml", "k/d.eval.jsonl", "k/a/e.eval.yaml", "z/c.eval.json",
    ]  # fmt: skip


def test_only_eval_files_are_found(tmp_path: Path) -> None:
    touch(
        tmp_path, "a.yaml", "b.json", "c.eval.txt", "d.eval", "eval.yaml", "x.eval.suite.yaml",
        "x.suite.yaml", "y.eval.yaml.bak", "z.eval.yaml~", "w.eval.toml", "Real.EVAL.YAML",
    )  # fmt: skip
    assert found(tmp_path, "") == ["Real.EVAL.YAML"]


def test_folders_that_are_never_entered(tmp_path: Path) -> None:
    touch(
        tmp_path, ".git/a.eval.yaml", ".hidden/b.eval.yaml", "node_modules/c.eval.yaml",
        "__pycache__/d.eval.yaml", "env/pyvenv.cfg", "env/lib/e.eval.yaml", "ok/f.eval.yaml",
        ".g.eval.yaml",
    )  # fmt: skip
    assert found(tmp_path, "") == [".g.eval.yaml", "ok/f.eval.yaml"]


def test_links_to_folders_are_not_followed_and_links_to_files_are(tmp_path: Path) -> None:
    touch(tmp_path, "real/a.eval.yaml")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "real" / "b.eval.yaml").symlink_to("a.eval.yaml")
    assert found(tmp_path, "") == ["real/a.eval.yaml", "real/b.eval.yaml"]


def test_a_link_that_leads_outside_the_project_is_not_followed_though_it_is_named(
    tmp_path: Path,
) -> None:
    """A shell names it for whoever writes `*`. The file itself may lie anywhere."""
    touch(tmp_path, "project/pyproject.toml", "project/a/x.eval.yaml", "secret.yaml")
    (tmp_path / "project" / "a" / "in.eval.yaml").symlink_to("../a/x.eval.yaml")
    (tmp_path / "project" / "a" / "out.eval.yaml").symlink_to("../../secret.yaml")
    assert found(tmp_path, "project/a") == [
        "project/a/in.eval.yaml", "unreadable-file", "project/a/x.eval.yaml",
    ]  # fmt: skip
    assert found(tmp_path, "project/a/out.eval.yaml") == ["unreadable-file"]
    assert found(tmp_path, "project/a/in.eval.yaml") == ["project/a/in.eval.yaml"]
    assert found(tmp_path / "project", "../secret.yaml") == ["../secret.yaml"]


def test_a_link_within_the_folder_that_is_searched_needs_no_project(tmp_path: Path) -> None:
    touch(tmp_path, "evals/a/x.eval.yaml", "evals/b/y.eval.yaml")
    (tmp_path / "evals" / "a" / "z.eval.yaml").symlink_to("../b/y.eval.yaml")
    names = ["evals/a/x.eval.yaml", "evals/a/z.eval.yaml"]
    assert found(tmp_path, "evals") == [*names, "evals/b/y.eval.yaml"]
    assert found(tmp_path, "evals/a") == [names[0], "unreadable-file"]


def test_nothing_is_found_twice(tmp_path: Path) -> None:
    touch(tmp_path, "a/x.eval.yaml", "a/y.eval.yaml")
    assert found(tmp_path, "a/y.eval.yaml", "a", "a/x.eval.yaml") == [
        "a/y.eval.yaml",
        "a/x.eval.yaml",
    ]


@for_each(
    ("path", "format"),
    [
        ("a.yaml", "yaml"),
        ("a.yml", "yaml"),
        ("a.json", "json"),
        ("a.jsonl", "jsonl"),
        ("A.YAML", "yaml"),
        ("a.b.Json", "json"),
        ("a/b.txt/c.yaml", "yaml"),
    ],
)
def test_the_ending_says_the_format(path: str, format: str) -> None:
    assert format_of(path) == format


@for_each("path", ["a.txt", "a", "a.yaml.bak", "a.jsonlines", ".yaml", "a.", "a/b.yaml/c"])
def test_other_endings_are_a_problem_with_a_hint(path: str) -> None:
    problem = format_of(path)
    assert isinstance(problem, Problem)
    assert (problem.code, problem.path) == ("unknown-file-type", path)
    assert ".jsonl" in (problem.hint or "")


@for_each(
    ("path", "name"),
    [
        ("math.eval.yaml", "math"),
        ("a/b/math.yaml", "math"),
        ("math.v2.eval.jsonl", "math.v2"),
        ("math.EVAL.JSON", "math"),
        ("math.eval", "math"),
        ("eval.yaml", "eval"),
        (".eval.yaml", ".eval"),
        ("-", "stdin"),
        ("no ending", "no ending"),
    ],
)
def test_the_name_of_a_suite_is_its_file_name_without_endings(path: str, name: str) -> None:
    assert suite_name(path) == name


def test_the_suite_fields_beside_a_jsonl_file(tmp_path: Path) -> None:
    def beside(name: str) -> list[str]:
        return [Path(each).name for each in find_sidecars(str(tmp_path / name))]

    assert beside("x.jsonl") == []
    touch(tmp_path, "x.suite.yaml", "y.suite.yml", "z.suite.json", "w.eval.suite.yaml")
    assert beside("x.jsonl") == ["x.suite.yaml"]
    assert beside("x.eval.jsonl") == ["x.suite.yaml"]
    assert beside("y.eval.jsonl") == ["y.suite.yml"]
    assert beside("z.jsonl") == []
    assert beside("w.eval.jsonl") == ["w.eval.suite.yaml"]
    touch(tmp_path, "x.suite.yml")
    assert beside("x.jsonl") == ["x.suite.yaml", "x.suite.yml"]
    (tmp_path / "d.suite.yaml").symlink_to("nowhere")
    assert beside("d.jsonl") == ["d.suite.yaml"]


def hint_of(*paths: str) -> str | None:
    (problem,) = discover_files(paths)
    assert isinstance(problem, Problem)
    return problem.hint


def test_a_folder_without_eval_files_says_how_they_are_named(tmp_path: Path) -> None:
    touch(tmp_path, "plain/math.yaml")
    hint = hint_of(str(tmp_path / "plain"))
    assert hint is not None
    for each in (".eval.yaml", ".eval.jsonl", "evalcase init", "evalcase import"):
        assert each in hint


def test_a_path_that_leads_nowhere_names_its_neighbour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    touch(tmp_path, "evals/shop.eval.yaml", "shop.eval.yaml", "other.txt")

    def told(path: str) -> str | None:
        with pytest.raises(UnreadableError) as raised:
            format_at(path)
        return raised.value.problem.hint

    assert told("evals/shop.eval.yml") == "did you mean `evals/shop.eval.yaml`?"
    assert told("shops.eval.yaml") == "did you mean `shop.eval.yaml`?"
    assert told("eval") == "did you mean `evals`?"
    assert told("quite-different.yaml") is None
    assert told("nowhere/shop.eval.yaml") is None
