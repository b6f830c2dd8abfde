"""The validator that most tools of JavaScript use takes every schema as it is."""

import json
import subprocess
from pathlib import Path

from evalcase.config.catalogue import config_schema, sidecar_schema, suite_schema
from evalcase.format.schema import describe_suite
from tests.format.declared import GRADERS
from tests.servers.server import INSTALLED

COMPILE = Path(__file__).parent / "compile.cjs"


def test_ajv_compiles_every_schema_and_warns_of_nothing(tmp_path: Path) -> None:
    modules = INSTALLED / "node_modules"
    assert (modules / "ajv").exists(), "run `make .venv-servers/.servers` first"
    schemas = {
        "suite": suite_schema(),
        "every-shape": describe_suite(GRADERS),
        "sidecar": sidecar_schema(),
        "config": config_schema(),
    }
    for name, each in schemas.items():
        (tmp_path / name).write_text(json.dumps(each))
    result = subprocess.run(
        [INSTALLED / "bin" / "node", "--single-threaded", COMPILE, modules, *schemas],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
