"""What a turn of a conversation costs beyond the work of whoever answers, all results on disk:
written down and graded by itself, or said by a user whom another target plays."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.measure import command_cpu
from benchmarks.sums import command

TALKS, TURNS, ROUNDS = 200, 20, 3

_SIDES = f"""
async def answer(messages):
    return "ok"


async def say(messages):
    said = sum(message["role"] == "assistant" for message in messages)
    return "go on" if said < {TURNS} else "DONE"
"""
_CONFIG = """
target = "agent"

[targets.agent]
kind = "python"
function = "sides:answer"

[targets.player]
kind = "python"
function = "sides:say"
"""


def conversation_figures(folder: Path) -> Iterator[Figure]:
    """CPU per further turn: of conversations of many turns, less those of as many with one."""
    for name, is_played in (
        ("that is written and graded", False),
        ("of a user who is played", True),
    ):
        many = _write(folder / f"talks-{is_played}-many", TURNS, is_played)
        few = _write(folder / f"talks-{is_played}-few", 1, is_played)
        rounds = [(_cpu(many), _cpu(few)) for _ in range(ROUNDS)]
        whole, start = (min(column) for column in zip(*rounds, strict=True))
        each_ms = (whole - start) / (TALKS * (TURNS - 1)) * 1000
        detail = f"{TALKS} conversations of {TURNS} turns, {whole:.2f} s; of one, {start:.2f} s"
        yield Figure(f"CPU per turn {name}", each_ms, "ms", None, detail)


def _cpu(project: Path) -> float:
    return command_cpu(command(project, "run", "--json"))


def _write(folder: Path, turns: int, is_played: bool) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "evalcase.toml").write_text(_CONFIG)
    (folder / "sides.py").write_text(_SIDES)
    cases = [_case(number, turns, is_played) for number in range(TALKS)]
    (folder / "talks.eval.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in cases))
    return folder


def _case(number: int, turns: int, is_played: bool) -> dict[str, object]:
    if not is_played:
        script = [{"input": f"turn {turn}", "expected_output": "ok"} for turn in range(turns)]
        return {"id": f"talk-{number}", "turns": script}
    user = {"goal": "Talk.", "target": "player", "max_turns": turns}
    return {"id": f"talk-{number}", "user": user, "graders": [{"contains": "ok"}]}
