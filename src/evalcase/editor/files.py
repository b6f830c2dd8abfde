"""Which files are evalcase's business, and how each is read: all others are left alone, whatever
an editor opens."""

from __future__ import annotations

import os
import re
from typing import Literal, NamedTuple

from evalcase.config.config import TABLES, has_settings
from evalcase.format.positions import Format
from evalcase.format.source import format_of, is_sidecar

FileKind = Literal["suite", "sidecar", "config"]
_EVAL = re.compile(r"\.eval\.(?:ya?ml|jsonl?)$")
_SCHEMA_LINE = re.compile(r"\A(?:\s*(?:#.*)?\n){0,20}?#\s*yaml-language-server:.*evalcase")


class FileRole(NamedTuple):
    kind: FileKind
    format: Format | Literal["toml"]


def role_of(path: str, text: str) -> FileRole | None:
    """What a file is to evalcase, by its name, or by the schema that its first lines name."""
    name = os.path.basename(path)
    if name in TABLES:
        return FileRole("config", "toml") if has_settings(name, text.encode()) else None
    format = format_of(path)
    if not isinstance(format, str):
        return None
    if is_sidecar(path):
        return FileRole("sidecar", "yaml")
    if _EVAL.search(name.lower()) or (format == "yaml" and _SCHEMA_LINE.match(text[:4000])):
        return FileRole("suite", format)
    return None
