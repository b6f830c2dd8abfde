"""The package that the page on plug-ins shows is installed as pip would, and used."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, get_origin

import pytest

from docs.regenerate import ROOT, blocks_of
from tests.cli.command import Result, environment, evalcase_process

PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
FILES = {block.file: block.text for block in blocks_of(PAGE) if block.file is not None}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files of the page, and the metadata that an installed package leaves."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "sums.eval.yaml").write_text(FILES["sums.eval.yaml"])
    site = tmp_path / "site"
    metadata = site / "shop_evals-1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / "shop_evals.py").write_text(FILES["shop_evals.py"])
    package = tomllib.loads(FILES["pyproject.toml"])["project"]
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package['name']}\nVersion: {package['version']}\n"
    )
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())])
        for group, entries in package["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(groups) + "\n")
    return folder


def use(project: Path, *arguments: str) -> Result:
    env = environment()
    env["PYTHONPATH"] += f":{project.parent / 'site'}"
    return evalcase_process(*arguments, cwd=project, env=env)


def test_the_example_is_what_the_page_shows() -> None:
    folder = ROOT / "examples" / "08-a-package"
    assert {name: (folder / name).read_text(encoding="utf-8") for name in FILES} == FILES


def test_the_suite_is_good_and_passes(project: Path) -> None:
    assert use(project, "check", "--strict").code == 0
    result = use(project, "run", "--json")
    assert (result.code, json.loads(result.out)["passed"]) == (0, 1), result.err


def test_options_that_are_wrong_are_told_with_a_suggestion(project: Path) -> None:
    path = project / "sums.eval.yaml"
    path.write_text(path.read_text().replace("within: 1", "tolerance: far"))
    result = use(project, "check", "--format", "json")
    (problem,) = json.loads(result.out)
    assert problem["hint"] == "did you mean `within`?"


def test_the_schemas_have_both_with_their_sentences(project: Path) -> None:
    suites = json.loads(use(project, "schema").out)["$defs"]
    assert suites["namedGrader"]["properties"]["close_to"]["description"] == (
        "The answer is a number, and close to another."
    )
    option = suites["grader-close_to"]["properties"]["within"]
    assert (option["description"], option["minimum"]) == ("How far off it may be.", 0)
    config = use(project, "schema", "--config").out
    assert "What every answer begins with." in config


def test_every_type_of_options_is_described() -> None:
    from evalcase import options

    named = [name for name, each in vars(options).items() if get_origin(each) is Annotated]
    assert [name for name in named if f"`options.{name}`" not in PAGE] == []
