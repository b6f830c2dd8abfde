"""Each server is started once for each process that runs tests, when one first needs it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from evalcase.plugins.schemas import config_schema
from evalcase.resolve.schema.file import schema, sidecar_schema
from tests.editors.language_server import LanguageServer
from tests.editors.project import EditedProject
from tests.resolve.declared import GRADERS
from tests.servers.server import INSTALLED

LINE = "#:schema ./evalcase.config.schema.json\n"
YAML_SERVER = INSTALLED / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"


@pytest.fixture(scope="session")
def yaml(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditedProject]:
    """A project whose YAML files are open in an editor, with graders of every shape."""
    assert YAML_SERVER.exists(), "run `make .venv-servers/.servers` first"
    folder = tmp_path_factory.mktemp("yaml")
    suites, sidecars = folder / "evalcase.schema.json", folder / "evalcase.sidecar.schema.json"
    suites.write_text(json.dumps(schema(GRADERS)))
    sidecars.write_text(json.dumps(sidecar_schema(GRADERS)))
    schemas = {suites.as_uri(): ["*.eval.yaml"], sidecars.as_uri(): ["*.suite.yaml"]}
    settings = {"schemas": schemas, "schemaStore": {"enable": False}}
    command = (INSTALLED / "bin" / "node", YAML_SERVER, "--stdio")
    server = LanguageServer(command, folder, {"yaml": settings})
    yield EditedProject(folder, server, "yaml").once_ready("5")
    server.stop()


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
