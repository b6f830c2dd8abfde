"""The recipes work, as far as this machine can tell: the FastAPI service is started and asked. The
SDKs of OpenAI, Anthropic and LangChain are not installed for tests, so code that needs them is only
compiled here, and its functions are found by a dry run on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.regenerate import ROOT, blocks_of
from tests.for_each import for_each
from tests.run.project import Project
from tests.servers.server import INSTALLED, Server

PAGE = ROOT / "docs" / "recipes.md"
FILES = {block.file: block.text for block in blocks_of(PAGE.read_text()) if block.file}
SDKS = ("with_openai.py", "with_responses.py", "with_anthropic.py", "with_langgraph.py")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "service.py").write_text(FILES["service.py"])
    uvicorn = (INSTALLED / "bin" / "python", "-m", "uvicorn", "--app-dir", tmp_path)
    server = Server((*uvicorn, "service:app", "--port", "0"))
    yield server.await_address()
    server.stop()


def test_the_fastapi_service_is_asked_as_it_is_configured(tmp_path: Path, address: str) -> None:
    project = Project(tmp_path)
    assert "http://localhost:8000" in FILES["evalcase.toml"]
    config = FILES["evalcase.toml"].replace("http://localhost:8000", address)
    (tmp_path / "evalcase.toml").write_text(config)
    (tmp_path / "shop.eval.yaml").write_text(FILES["shop.eval.yaml"])
    done = project.run("run")
    assert (done.code, done.out.startswith("1 passed")) == (0, True), done


@for_each("file", SDKS)
def test_code_for_sdks_is_python_with_a_function_that_answers(file: str) -> None:
    code = compile(FILES[file], file, "exec")
    assert "answer" in code.co_names
