"""One piece of work per process, timed in it: `python -m benchmarks.work NAME FILE`.

Prints CPU seconds, peak memory before and after, and how many things were seen, as JSON.
Modules are imported before the clock starts: start-up is measured elsewhere.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Job = Callable[[], int]


def drain_yaml(path: Path) -> Job:
    """Parse to events and drop them: what any loader built on libyaml has to pay."""
    from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs leave it out

    text = path.read_text(encoding="utf-8")
    gc.disable()

    def job() -> int:
        return sum(1 for _ in iter(CParser(text).get_event, None))

    return job


def parse_json_lines(path: Path) -> Job:
    """Parse each line and drop the value."""
    gc.disable()

    def job() -> int:
        with path.open("rb") as file:
            return sum(1 for _ in map(json.loads, file))

    return job


def keep_json_lines(path: Path) -> Job:
    """Parse each line and keep the values."""
    gc.disable()

    def job() -> int:
        with path.open("rb") as file:
            return len([json.loads(line) for line in file])

    return job


def parse_json(path: Path) -> Job:
    """Parse the whole document."""
    gc.disable()
    return lambda: len(json.loads(path.read_bytes())["cases"])


def load(path: Path) -> Job:
    """Load, validate and normalise a file."""
    evalcase = _warm(path)
    return lambda: len(evalcase.load(path).cases)


def stream_cases(path: Path) -> Job:
    """Stream the cases and keep none."""
    evalcase = _warm(path)
    return lambda: sum(1 for _ in evalcase.iter_cases(path))


def load_peer(path: Path) -> Job:
    """Load an equivalent dataset with pydantic-evals."""
    from pydantic_evals import Dataset

    dataset = Dataset[Any, Any, Any]
    dataset.from_text("{name: one, cases: [{name: warm, inputs: up}]}")
    return lambda: len(dataset.from_file(path).cases)


JOBS: dict[str, Callable[[Path], Job]] = {
    job.__name__: job
    for job in (
        drain_yaml,
        parse_json_lines,
        keep_json_lines,
        parse_json,
        load,
        stream_cases,
        load_peer,
    )
}


def _warm(path: Path) -> Any:
    """Import everything a load of such a file needs, by loading one case."""
    evalcase: Any = import_module("evalcase")
    form = path.suffix.removeprefix(".")
    case = '{"id": "warm", "input": "up", "expected_output": "yes"}'
    evalcase.loads(f'{{"cases": [{case}]}}' if form == "json" else case, format=form)
    return evalcase


def peak_bytes() -> int:
    """The most memory this process has had; /proc, for getrusage counts the parent's too."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    """Prepare the named job, run it once, and print what it took."""
    name, path = sys.argv[1:]
    job = JOBS[name](Path(path))
    base = peak_bytes()
    start = time.process_time()
    count = job()
    cpu = time.process_time() - start
    print(json.dumps({"cpu_s": cpu, "base_bytes": base, "peak_bytes": peak_bytes(), "n": count}))


if __name__ == "__main__":
    main()
