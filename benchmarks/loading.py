"""CPU time and memory of loading suites, beside the least that any loader has to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, ratio
from benchmarks.generate import write
from benchmarks.measure import Cost, best_costs

# Fewer rounds where one takes seconds: a long run averages its own noise.
ROUNDS = {1_000: 7, 10_000: 5, 100_000: 3}
PEER_ROUNDS = 3
DRAIN = "draining CParser events"


def yaml_figures(folder: Path) -> Iterator[Figure]:
    """YAML of three sizes, how the cost grows between them, and the memory of the largest."""
    loads: dict[int, Cost] = {}
    for count, rounds in ROUNDS.items():
        path = write(folder, count, ".yaml")
        drained, loaded = best_costs([("drain_yaml", path), ("load", path)], rounds)
        bar = 2.5 if count == 10_000 else None
        yield ratio(f"load {count:,} YAML cases ÷ {DRAIN}", loaded.cpu_s, drained.cpu_s, bar)
        loads[count] = loaded
    long, short = loads[100_000], loads[10_000]
    yield ratio("load 100,000 ÷ load 10,000 YAML cases", long.cpu_s, short.cpu_s, 11)
    yield _memory(long, path)


def deprecated_figures(folder: Path) -> Iterator[Figure]:
    """YAML in the old names: two warnings a case, each with its place."""
    path = write(folder, 10_000, ".deprecated.yaml")
    drained, loaded = best_costs([("drain_yaml", path), ("load", path)], ROUNDS[10_000])
    name = f"load 10,000 YAML, 20,000 warnings ÷ {DRAIN}"
    yield ratio(name, loaded.cpu_s, drained.cpu_s, 4)


def json_figures(folder: Path) -> Iterator[Figure]:
    """JSONL and JSON beside the standard library's parser."""
    lines = write(folder, 10_000, ".jsonl")
    jobs = ("parse_json_lines", "stream_cases", "keep_json_lines", "load")
    parsed, streamed, kept, loaded = best_costs([(job, lines) for job in jobs], ROUNDS[10_000])
    # Like with like: either both sides keep what they read, or neither does.
    yield ratio("iter_cases of 10,000 JSONL ÷ json.loads", streamed.cpu_s, parsed.cpu_s, 2.5)
    yield ratio("load 10,000 JSONL ÷ list of json.loads", loaded.cpu_s, kept.cpu_s, 2.5)
    whole = write(folder, 10_000, ".json")
    parsed, loaded = best_costs([("parse_json", whole), ("load", whole)], ROUNDS[10_000])
    yield ratio("load 10,000 JSON cases ÷ json.loads", loaded.cpu_s, parsed.cpu_s)


def peer_figures(folder: Path) -> Iterator[Figure]:
    """The same cases in the YAML of pydantic-evals, loaded by it."""
    own, theirs = write(folder, 10_000, ".yaml"), write(folder, 10_000, ".peer.yaml")
    loaded, peer = best_costs([("load", own), ("load_peer", theirs)], PEER_ROUNDS)
    yield ratio("pydantic-evals ÷ evalcase, load 10,000 YAML", peer.cpu_s, loaded.cpu_s)


def _memory(cost: Cost, path: Path) -> Figure:
    size = path.stat().st_size
    detail = f"{cost.grown_bytes / 1e6:.0f} MB / {size / 1e6:.0f} MB"
    return Figure("peak memory ÷ file size, 100,000 YAML", cost.grown_bytes / size, "×", 7, detail)
