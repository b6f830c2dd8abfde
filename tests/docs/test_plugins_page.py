"""The package that the page on plug-ins shows is installed as pip would, and used."""

import json
import tomllib
from pathlib import Path

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
