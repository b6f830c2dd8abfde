from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from evalcase.errors import ConfigError
from evalcase.plugins.registry import Plural, find, names
from tests.cli.command import environment


@pytest.mark.parametrize("plural", ["targets", "graders"])
def test_every_built_in_name_is_a_class(plural: Plural) -> None:
    for name in names(plural):
        assert isinstance(find(plural, name), type)


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(ConfigError, match="no target kind `pyhton`: did you mean `python`"):
        find("targets", "pyhton")
    with pytest.raises(ConfigError, match=r"no grader kind `zzzzzz`; there are .*expected"):
        find("graders", "zzzzzz")


def test_no_name_is_a_way_to_import_something(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    for name in ("evil", "evil:x", "os:system", "", "__class__"):
        with pytest.raises(ConfigError):
            find("targets", name)


def test_a_target_of_another_package(tmp_path: Path) -> None:
    """A real package, as pip leaves it: a module, and metadata with an entry point."""
    (tmp_path / "plug_in.py").write_text("class Loud: pass\n")
    metadata = tmp_path / "plug_in-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[evalcase.targets]\nloud = plug_in:Loud\npython = plug_in:Loud\n"
    )
    script = dedent("""
        import sys
        from evalcase.plugins.registry import find, names
        assert "loud" in names("targets"), names("targets")
        assert "plug_in" not in sys.modules
        assert find("targets", "loud").__name__ == "Loud"
        assert find("targets", "python").__name__ == "PythonTarget"
    """)
    env = environment()
    env["PYTHONPATH"] += f":{tmp_path}"
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
