import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import ConfigError
from evalcase.util.code import import_object, make_importable


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules can be imported, and are forgotten at the end."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)
    make_importable(str(tmp_path))
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]


def said(name: str, what: str = "python target") -> str:
    with pytest.raises(ConfigError) as caught:
        import_object(name, what)
    return str(caught.value)


def test_an_object_is_found_by_its_name(project: Path) -> None:
    (project / "agent_a.py").write_text("class Agent:\n    def answer(self): ...\nsize = 3\n")
    (project / "pack").mkdir()
    (project / "pack" / "inner.py").write_text("def f(): ...\n")
    assert import_object("agent_a:size", "grader") == 3
    assert import_object("agent_a:Agent.answer", "grader") is sys.modules["agent_a"].Agent.answer
    assert import_object("pack.inner:f", "grader") is sys.modules["pack.inner"].f


@pytest.mark.parametrize("what", ["python target", "grader"])
def test_the_same_fault_has_the_same_words_whatever_is_imported(project: Path, what: str) -> None:
    (project / "agent_b.py").write_text("def answr(): ...\n")
    (project / "broken_b.py").write_text("import sys\n\nraise KeyError('k')\n")
    (project / "exits_b.py").write_text("raise SystemExit\n")
    (project / "wants_b.py").write_text("import nosuchthing\n")
    (project / "syntax_b.py").write_text("def f(:\n")
    starts = {
        "agnt_b:f": f"{what} `agnt_b:f`: there is no module `agnt_b`; did you mean `agent_b`?",
        "nothing.like.it:f": f"{what} `nothing.like.it:f`: there is no module `nothing`; "
        "put it into the project's folder, or install it",
        "agent_b.sub:f": f"{what} `agent_b.sub:f`: there is no module `agent_b.sub`; ",
        "agent_b:answer": f"{what} `agent_b:answer`: `agent_b` ({project / 'agent_b.py'}) has no "
        "`answer`: did you mean `answr`?",
        "broken_b:f": f"{what} `broken_b:f`: importing `broken_b` failed: KeyError: 'k' "
        f"({project / 'broken_b.py'}:3)",
        "exits_b:f": f"{what} `exits_b:f`: importing `exits_b` failed: SystemExit (",
        "wants_b:f": f"{what} `wants_b:f`: importing `wants_b` failed: ModuleNotFoundError: "
        f"No module named 'nosuchthing' ({project / 'wants_b.py'}:1)",
        "syntax_b:f": f"{what} `syntax_b:f`: importing `syntax_b` failed: SyntaxError: ",
        "agent_b": f"{what}: `agent_b` does not name a function: did you mean `agent_b:FUNCTION`?",
        "sys": f"{what}: `sys` does not name a function: ",
        "sys:": f"{what}: `sys:` does not name a function: ",
        "agent_b.py:answr": f"{what}: `agent_b.py:answr` does not name a function: did you mean "
        "`./agent_b.py:answr`?",
        "evals/b:f": f"{what}: `evals/b:f` does not name a function: write module:function",
        "./../b.py:f": f"{what}: `./../b.py:f` does not name a function: write module:function",
    }
    for name, words in starts.items():
        assert said(name, what).startswith(words), name
    assert f"({project / 'syntax_b.py'}:1)" in said("syntax_b:f", what)


def test_an_error_out_of_a_library_is_placed_in_the_users_own_file(project: Path) -> None:
    (project / "reads_f.py").write_text("import json\n\njson.loads('{')\n")
    (project / "key_f.py").write_text("import os\nKEY = os.environ['EVALCASE_UNSET_F']\n")
    assert said("reads_f:f").endswith(f"({project / 'reads_f.py'}:3)")
    assert said("key_f:f") == (
        "python target `key_f:f`: importing `key_f` failed: the environment variable "
        f"EVALCASE_UNSET_F is not set ({project / 'key_f.py'}:2); "
        "--env-file FILE reads a file of them"
    )


def test_the_path_is_changed_only_by_who_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", before := [*sys.path])
    said("nothing_like_it:f")
    assert sys.path == before
    make_importable(str(tmp_path))
    make_importable(str(tmp_path))
    assert sys.path.count(str(tmp_path)) == 1
    assert sys.path[0] == str(tmp_path)


def test_a_function_of_a_file_is_found_in_the_project(project: Path) -> None:
    (project / "my-evals").mkdir()
    file = project / "my-evals" / "checks.py"
    file.write_text("import helper_c\n\ndef polite(): return helper_c.word\n")
    (project / "helper_c.py").write_text("word = 'please'\n")
    found: Any = import_object("./my-evals/checks.py:polite", "grader", str(project))
    assert found() == "please"
    assert import_object("./my-evals/checks.py:polite", "grader") is found
    assert import_object("./my-evals/checks.py:polite", "grader", str(project)) is found


def test_what_is_wrong_with_a_file_is_said(project: Path, tmp_path: Path) -> None:
    (project / "checks_e.py").write_text("def polite(): ...\n")
    (project / "broken_e.py").write_text("\nraise KeyError('k')\n")
    (project / "folder_e.py").mkdir()
    outside = tmp_path.parent / f"{tmp_path.name}-outside.py"
    outside.write_text("raise AssertionError('it was imported')\n")
    (project / "link_e.py").symlink_to(outside)
    said = {
        "./check_e.py:polite": f"there is no file `./check_e.py` in {project}",
        "./checks_e.py:plite": f"`./checks_e.py` ({project / 'checks_e.py'}) has no `plite`: did "
        "you mean `polite`?",
        "./broken_e.py:f": f"importing `./broken_e.py` failed: KeyError: 'k' "
        f"({project / 'broken_e.py'}:2)",
        "./folder_e.py:f": "`./folder_e.py` can't be imported: it is not a regular file",
        "./link_e.py:f": "`./link_e.py` can't be imported: it lies outside the project",
    }
    for name, words in said.items():
        with pytest.raises(ConfigError) as caught:
            import_object(name, "grader", str(project))
        assert str(caught.value) == f"grader `{name}`: {words}"
    assert "./broken_e.py" not in sys.modules


def test_a_module_in_a_folder_of_the_project_is_hinted_at(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "src" / "shop_b").mkdir(parents=True)
    (project / "src" / "shop_b" / "__init__.py").touch()
    assert said("shop_b.agent:f") == (
        "python target `shop_b.agent:f`: there is no module `shop_b`; src/shop_b is there: set "
        "PYTHONPATH=src, or install it (`pip install -e .`)"
    )


@pytest.mark.parametrize("line", ["from .b import f", "from . import b as f", "from ..b import f"])
def test_a_file_named_by_its_path_has_no_relative_import(project: Path, line: str) -> None:
    (project / "shop_c").mkdir()
    (project / "shop_c" / "rel.py").write_text(f"{line}\n")
    with pytest.raises(ConfigError, match="it has a relative import, which needs a package"):
        import_object("./shop_c/rel.py:f", "python target", str(project))
