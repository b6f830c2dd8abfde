"""Writes the benchmark suites: the same cases as YAML, JSON and JSONL, and in two other dialects.

usage: python -m benchmarks.generate FOLDER COUNT…
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from itertools import cycle, islice
from pathlib import Path

from benchmarks.cases import OWNERS, SYSTEM, Case, make_cases
from benchmarks.yaml_text import YamlText

NAME = "tickets"


def write_yaml(path: Path, cases: Iterable[Case]) -> None:
    """The suite as people write it, with comments, anchors and aliases."""
    _write_lines(path, YamlText({"system": SYSTEM, "owners": OWNERS}).suite(NAME, cases))


def write_json(path: Path, cases: Iterable[Case]) -> None:
    """The suite as one JSON document."""
    suite = {"name": NAME, "cases": list(cases)}
    path.write_text(json.dumps(suite, ensure_ascii=False), encoding="utf-8", newline="")


def write_jsonl(path: Path, cases: Iterable[Case]) -> None:
    """The cases, one a line."""
    _write_lines(path, (json.dumps(case, ensure_ascii=False) for case in cases))


def write_deprecated_yaml(path: Path, cases: Iterable[Case]) -> None:
    """The suite in the old names, so that every case has two warnings to place."""
    write_yaml(path, map(_with_old_names, cases))


def write_peer_yaml(path: Path, cases: Iterable[Case]) -> None:
    """The suite as a pydantic-evals dataset, which has no room for anchors."""
    _write_lines(path, YamlText().suite(NAME, map(_as_peer_case, cases)))


WRITERS: dict[str, Callable[[Path, Iterable[Case]], None]] = {
    ".yaml": write_yaml,
    ".json": write_json,
    ".jsonl": write_jsonl,
    ".deprecated.yaml": write_deprecated_yaml,
    ".peer.yaml": write_peer_yaml,
}


def write(folder: Path, count: int, ending: str) -> Path:
    """Write one suite and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}-{count}{ending}"
    WRITERS[ending](path, make_cases(count))
    return path


def write_long_jsonl(folder: Path, count: int) -> Path:
    """A JSONL file of any length: 10,000 different cases over and over, each with an id of its own.

    Making a million different texts would take longer than everything that is measured.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}-long-{count}.jsonl"
    pool = enumerate(islice(cycle(list(make_cases(min(count, 10_000)))), count))
    write_jsonl(path, ({**case, "id": f"ticket-{number:07d}"} for number, case in pool))
    return path


def _with_old_names(case: Case) -> Case:
    names = {"input": "input_messages", "expected_output": "expected_messages"}
    return {names.get(key, key): value for key, value in case.items()}


def _as_peer_case(case: Case) -> Case:
    about = {key: case[key] for key in ("tags", "metadata") if key in case}
    return {
        "name": case["id"],
        "inputs": case["input"],
        "metadata": about or None,
        "expected_output": case["expected_output"],
    }


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(line + "\n" for line in lines)


def main() -> None:
    """Write every ending at every count asked for."""
    folder, *counts = sys.argv[1:]
    for count in map(int, counts):
        for ending in WRITERS:
            path = write(Path(folder), count, ending)
            print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
