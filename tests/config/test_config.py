import os
from pathlib import Path

import pytest

from evalcase import check
from evalcase.config.config import Config, JudgeSettings, Source, load_config, read_config
from evalcase.errors import ConfigError
from evalcase.types.value import replace
from tests.for_each import for_each


def load(folder: Path, text: str, name: str = "evalcase.toml") -> Config:
    (folder / name).write_text(text)
    return load_config(str(folder))


def test_every_setting(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        """
        target = "agent"
        secrets = ["TOKEN"]
        concurrency = 3
        timeout_s = 1.5
        retries = 0
        runs_dir = "kept"
        [targets.agent]
        kind = "python"
        function = "agent:answer"
        """,
    )
    assert replace(config, source=Source()) == Config(
        str(tmp_path), str(tmp_path / "evalcase.toml"), target="agent", secrets=("TOKEN",),
        targets={"agent": {"kind": "python", "function": "agent:answer"}},
        concurrency=3, timeout_s=1.5, retries=0, runs_dir="kept",
    )  # fmt: skip


def test_a_table_of_pyproject(tmp_path: Path) -> None:
    config = load(tmp_path, '[tool.evalcase]\ntarget = "echo"\n', "pyproject.toml")
    assert (config.target, config.path) == ("echo", str(tmp_path / "pyproject.toml"))


@for_each("text", ["retries = 5", "", "retries = -5"])
def test_settings_in_two_files_are_an_error(tmp_path: Path, text: str) -> None:
    load(tmp_path, '[project]\nname = "x"\n[tool.evalcase]\ntarget = "echo"\n', "pyproject.toml")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    problem = caught.value.problems[-1]
    assert (problem.code, problem.line, problem.column) == ("conflicting-fields", 3, 7)
    assert problem.path == str(tmp_path / "pyproject.toml")
    assert problem.message == "these settings are not used: evalcase.toml is there, too"
    (checked,) = [each for each in check([], root=tmp_path) if each.code == "conflicting-fields"]
    assert (checked.line, checked.message) == (3, problem.message)


@for_each(
    "other", ["[tool.other]\nx = 'evalcase'", "this is not TOML of evalcase", "\xff evalcase"]
)
def test_a_pyproject_without_settings_is_nothing_beside_evalcase_toml(
    tmp_path: Path, other: str
) -> None:
    (tmp_path / "pyproject.toml").write_bytes(other.encode("latin-1"))
    config = load(tmp_path, "retries = 5")
    assert (config.retries, config.problems()) == (5, [])


@for_each(
    ("text", "place", "said"),
    [
        ("tagret = 'x'", "1:1", "the configuration has no option `tagret`"),
        ("target = 1", "1:10", "`target` is the name of a target, not 1"),
        ("concurrency = 2.5", "1:15", "`concurrency` is a whole number of 1 or more, not 2.5"),
        ("retries = -1", "1:11", "`retries` is a whole number of 0 or more, not -1"),
        ("timeout_s = nan", "1:13", "`timeout_s` is a number of seconds over 0, not nan"),
        ("secrets = 'TOKEN'", "1:11", "`secrets` is a list of names, not 'TOKEN'"),
        ("secrets = [1]", "1:11", "item 1 of `secrets` is the name of an environment variable"),
        ("runs_dir = 2024-01-01", "1:12", "`runs_dir` is a path, not a date or a time"),
        ("targets = 'x'", "1:11", "`targets` is a table of targets, not 'x'"),
        ("[targets]\na = 1", "2:5", "target `a` is a table, not a number"),
        ("[targets.a]\nfunction = 'x:y'", "1:10", "target `a` needs `kind`"),
        ("[targets.a]\nkind = 1", "2:8", "`kind` is the name of a kind, not 1"),
        ("judge = 'x'", "1:9", "`judge` is a table, not 'x'"),
        ("[judge]\nvotes = 3", "1:1", "`judge` needs `target`"),
        ("[judge]\ntarget = 'x'\nvotes = 2", "3:9", "`judge.votes` is an odd number, not 2"),
        ("target = ", "1:1", "this is not valid TOML"),
        ('target = "echo\n', "1:1", "this is not valid TOML: a text is not closed"),
        ("a = 1\na = 2", "2:1", "has a value already"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    (problem,) = caught.value.problems
    assert said in problem.message
    assert problem.place == f"{tmp_path / 'evalcase.toml'}:{place}"
    assert str(problem) in str(caught.value)


def test_all_of_it_is_told_at_once_and_the_rest_is_read(tmp_path: Path) -> None:
    text = "retries = 7\nconcurrency = 0\nzzz = 1\n[judge]\ntarget = 'a'\nvotes = 2\n[targets.a]\n"
    (tmp_path / "evalcase.toml").write_text(text)
    config = read_config(str(tmp_path))
    assert [problem.line for problem in config.problems()] == [2, 3, 6, 7]
    assert (config.retries, config.concurrency, config.targets) == (7, 10, {"a": {}})
    assert config.judge == JudgeSettings("a")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_bytes(b"target = '\xff'")
    with pytest.raises(ConfigError) as caught:
        load_config(str(tmp_path))
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.column) == ("bad-encoding", 1, 11)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")
    assert load(tmp_path, "").path == str(tmp_path / "evalcase.toml")
    (tmp_path / "evalcase.toml").unlink()
    with pytest.raises(ConfigError, match="this is not a regular file"):
        load_config(str(tmp_path))


def test_where_runs_are_kept_is_seen_from_the_project(tmp_path: Path) -> None:
    below = tmp_path / "evals"
    below.mkdir()
    (tmp_path / "evalcase.toml").write_text('runs_dir = "kept"')
    config = load_config(str(below))
    assert config.find_runs() == str(tmp_path / "kept")
    assert config.find_runs("typed") == str(Path("typed").absolute())
    assert Config("/p").find_runs() == "/p/.evalcase/runs"


@for_each("name", ["evalcase.toml", "pyproject.toml"])
@for_each(
    ("to", "said"),
    [
        ("nowhere.toml", "there is no such file"),
        ("/dev/zero", "it lies outside the project"),
        ("folder", "this is not a regular file"),
        ("../outside.toml", "it lies outside the project"),
    ],
)
def test_a_configuration_that_can_t_be_read_is_never_passed_over(
    tmp_path: Path, name: str, to: str, said: str
) -> None:
    root = tmp_path / "project"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "outside.toml").write_text("password: hunter2\n")
    (root / name).symlink_to(to)
    with pytest.raises(ConfigError) as caught:
        load_config(str(root))
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)
