"""Each server is started once for each process that runs tests, when one first needs it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from docs.regenerate import ROOT, blocks_of
from evalcase.config.catalogue import config_schema, sidecar_schema, suite_schema
from evalcase.format.schema import describe_suite
from tests.editors.language_server import LanguageServer
from tests.editors.project import EditedProject
from tests.format.declared import GRADERS
from tests.servers.server import INSTALLED

LINE = "#:schema ./evalcase.config.schema.json\n"
YAML_SERVER = INSTALLED / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"


@pytest.fixture(scope="session")
def yaml(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditedProject]:
    """A project whose YAML files are open in an editor with the settings that are documented.

    Its schema has graders of every shape; that of `*.installed.yaml` those that there are.
    """
    assert YAML_SERVER.exists(), "run `make .venv-servers/.servers` first"
    folder = tmp_path_factory.mktemp("yaml")
    written = {
        "evalcase.schema.json": describe_suite(GRADERS),
        "evalcase.sidecar.schema.json": sidecar_schema(),
        "installed.schema.json": suite_schema(),
    }
    for name, each in written.items():
        (folder / name).write_text(json.dumps(each))
    schemas = {**documented_settings()["yaml.schemas"], "./installed.schema.json": "*.installed.*"}
    settings = {"schemas": schemas, "schemaStore": {"enable": False}}
    command = (INSTALLED / "bin" / "node", YAML_SERVER, "--stdio")
    server = LanguageServer(command, folder, {"yaml": settings})
    yield EditedProject(folder, server, "yaml").once_ready("5")
    server.stop()


def documented_settings() -> dict[str, Any]:
    """Those of VS Code."""
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (text,) = [each.text for each in blocks_of(page) if each.file == ".vscode/settings.json"]
    settings: dict[str, Any] = json.loads(text)
    return settings


@pytest.fixture(scope="session")
def toml(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditedProject]:
    """A project whose configuration is open in an editor."""
    tombi = INSTALLED / "bin" / "tombi"
    assert tombi.exists(), "run `make .venv-servers/.servers` first"
    folder = tmp_path_factory.mktemp("toml")
    (folder / "evalcase.config.schema.json").write_text(json.dumps(config_schema()))
    server = LanguageServer((tombi, "lsp", "--offline"), folder, {})
    yield EditedProject(folder, server, "toml").once_ready(f"{LINE}concurrency = 'x'")
    server.stop()
