"""`evalcase migrate`, asked for one file."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import Result, evalcase

OLD = b"- input_messages: hi\n  expected_messages: x\n"
NEW = b"- input: hi\n  expected_output: x\n"


def migrate(folder: Path, name: str, data: bytes, *options: str) -> tuple[Result, bytes]:
    """The result of the command, and what the file holds afterwards."""
    path = folder / name
    path.write_bytes(data)
    result = evalcase("migrate", name, *options, cwd=folder)
    return result, path.read_bytes()
