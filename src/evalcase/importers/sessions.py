"""The recorded session of a coding agent to a line of a `replay` file: its answer with its calls,
and the patch of what it changed."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.base import part_of
from evalcase.targets.transcripts import StoredFormat, read_transcript
from evalcase.types.value import encode_object
from evalcase.util.files import OversizeError, read_file
from evalcase.util.json import BadJsonError, parse_object
from evalcase.util.secrets import Scrubber
from evalcase.util.snapshots import MOST_PATCH_BYTES

_MOST_BYTES = 200 << 20
_WORKSPACE = "/workspace"


def read_session(
    path: str, format: StoredFormat, case: str, patch: str | None, scrubber: Scrubber
) -> str:
    """The line with the answer to a case. Raise ConfigError where there is none."""
    events = _read_events(_read(path, _MOST_BYTES))
    if any(event.get("test_id") == case for event in events):
        events = [event for event in events if event.get("test_id") == case]
    try:
        answer = read_transcript(events, format)
    except TargetError as error:
        raise ConfigError(f"{path}: {error}") from None
    usage = answer.usage and encode_object(answer.usage)
    beside = {"usage": usage, "cost_usd": answer.cost_usd}
    row: dict[str, Any] = {"case": case, "messages": [*answer.messages]}
    row |= {name: each for name, each in beside.items() if each is not None}
    row = scrubber.look().told(json.loads(json.dumps(row)))  # type: ignore[assignment]
    if patch is not None:
        row["workspace"] = _read_patch(_read(patch, MOST_PATCH_BYTES), patch, scrubber)
    return json.dumps(row, ensure_ascii=False)


def _read(path: str, most_bytes: int) -> bytes:
    try:
        return read_file(path, most_bytes)
    except OversizeError as error:
        raise ConfigError(f"{path}: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}") from None


def _read_events(data: bytes) -> list[dict[str, Any]]:
    """The events. The folder that the agent worked in becomes `/workspace`, as in a run."""
    text = data.decode("utf-8", "replace")
    for _ in range(2):
        try:
            events = [parse_object(text)]
        except BadJsonError:
            lines = enumerate(text.split("\n"), 1)
            events = [_parse(line, f"line {n} of the session") for n, line in lines if line]
        places = [each.get("cwd") or part_of(each, "payload").get("cwd") for each in events]
        folder = next((each for each in places if isinstance(each, str) and len(each) > 1), None)
        if folder in (None, _WORKSPACE):
            break
        text = text.replace(json.dumps(folder)[1:-1], _WORKSPACE)
    return events


def _parse(line: str, place: str) -> dict[str, Any]:
    try:
        return parse_object(line)
    except BadJsonError as error:
        raise ConfigError(f"{place}: {error}") from None


def _read_patch(data: bytes, path: str, scrubber: Scrubber) -> dict[str, str]:
    text = data.decode(errors="replace")
    if scrubber.text(text) != text:
        raise ConfigError(f"{path} holds a secret, and would not apply without it")
    if text.strip() and not any(each in text for each in ("diff --git ", "--- ")):
        raise ConfigError(f"{os.path.basename(path)} is no patch, as `git diff` prints it")
    try:
        return {"patch": data.decode()}
    except UnicodeDecodeError:
        return {"patch_base64": base64.b64encode(data).decode()}


def find_case(path: str, case: str) -> bool:
    """Whether a file of answers has one to a case. Raise ConfigError if it is no such file."""
    lines = _read(path, _MOST_BYTES).decode().split("\n")
    rows = [_parse(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line]
    return any(row.get("case") == case for row in rows)
