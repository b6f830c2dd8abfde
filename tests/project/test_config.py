from __future__ import annotations

from pathlib import Path

import pytest

from evalcase.errors import ConfigError
from evalcase.project.config import Config, load_config
from evalcase.project.options import runs_folder


def load(folder: Path, text: str, name: str = "evalcase.toml") -> Config:
    (folder / name).write_text(text)
    return load_config(str(folder))


def test_everything_has_a_default(tmp_path: Path) -> None:
    config = load(tmp_path, "")
    assert config.path == str(tmp_path / "evalcase.toml")
    assert (config.target, config.targets, config.secrets, config.runs_dir) == (None, {}, (), None)
    assert (config.concurrency, config.timeout_s, config.retries) == (10, 120.0, 2)


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
    assert config == Config(
        str(tmp_path), str(tmp_path / "evalcase.toml"), "agent",
        {"agent": {"kind": "python", "function": "agent:answer"}}, ("TOKEN",), 3, 1.5, 0, "kept",
    )  # fmt: skip


def test_a_table_of_pyproject(tmp_path: Path) -> None:
    config = load(tmp_path, '[tool.evalcase]\ntarget = "echo"\n', "pyproject.toml")
    assert (config.target, config.path) == ("echo", str(tmp_path / "pyproject.toml"))


def test_a_pyproject_without_it_is_none(tmp_path: Path) -> None:
    assert load(tmp_path, "[tool.other]\nx = 1\n", "pyproject.toml").path is None


def test_evalcase_toml_comes_first(tmp_path: Path) -> None:
    load(tmp_path, '[tool.evalcase]\ntarget = "echo"\n', "pyproject.toml")
    assert load(tmp_path, "retries = 5").target is None


def test_it_is_found_from_a_folder_below(tmp_path: Path) -> None:
    load(tmp_path, 'target = "echo"')
    (tmp_path / "a" / "b").mkdir(parents=True)
    config = load_config(str(tmp_path / "a" / "b"))
    assert (config.target, config.root) == ("echo", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tagret = 'x'", "`tagret` is not a setting: did you mean `target`?"),
        ("zzz = 1", "`zzz` is not a setting"),
        ("target = 1", "`target` has the wrong type: 1"),
        ("concurrency = 2.5", "`concurrency` has the wrong type"),
        ("concurrency = true", "`concurrency` has the wrong type"),
        ("concurrency = 0", "`concurrency` is 1 or more"),
        ("retries = -1", "`retries` is 0 or more"),
        ("timeout_s = 0", "`timeout_s` is"),
        ("timeout_s = -3.0", "`timeout_s` is"),
        ("secrets = 'TOKEN'", "`secrets` has the wrong type"),
        ("secrets = [1]", "`secrets` is a list of names"),
        ("targets = 'x'", "`targets` has the wrong type"),
        ("[targets]\na = 1", "[targets.a] needs a kind"),
        ("[targets.a]\nfunction = 'x:y'", "[targets.a] needs a kind"),
        ("[targets.a]\nkind = 1", "[targets.a] needs a kind"),
        ("target = ", "evalcase.toml"),
        ("a = 1\na = 2", "evalcase.toml"),
    ],
)
def test_what_is_wrong_is_named_with_the_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert said in str(caught.value)
    assert str(tmp_path / "evalcase.toml") in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_bytes(b"target = '\xff'")
    with pytest.raises(ConfigError, match=r"evalcase\.toml"):
        load_config(str(tmp_path))


def test_where_runs_are_kept_is_seen_from_the_project(tmp_path: Path) -> None:
    below = tmp_path / "evals"
    below.mkdir()
    (tmp_path / "evalcase.toml").write_text('runs_dir = "kept"')
    config = load_config(str(below))
    assert runs_folder(None, config) == str(tmp_path / "kept")
    assert runs_folder("typed", config) == str(Path("typed").absolute())
    assert runs_folder(None, Config("/p")) == "/p/.evalcase/runs"
