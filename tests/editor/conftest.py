"""One server for all tests of a process that only ask it things: each test has files of its own."""

from collections.abc import Iterator

import pytest

from tests.editor.client import Editor


@pytest.fixture(scope="session")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    editor = Editor(tmp_path_factory.mktemp("workspace"))
    yield editor
    assert editor.stop() == 0
