"""A judge that is a real model, though a very small one: understood, and found to be worthless.

It is run by `make model` only, which installs the model; elsewhere it is named as skipped.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.project import Project
from tests.servers.server import Server

ROOT = Path(__file__).parent.parent.parent
PYTHON = ROOT / ".venv-model" / "bin" / "python"

pytestmark = pytest.mark.skipif(
    not (ROOT / ".venv-model" / ".model").exists(),
    reason="a real model judges here, which only `make model` installs",
)

CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Peru": "Lima", "Japan": "Tokyo",
    "Egypt": "Cairo", "Norway": "Oslo", "Austria": "Vienna", "Greece": "Athens", "Cuba": "Havana",
    "Kenya": "Nairobi", "Chile": "Santiago",
}  # fmt: skip

CONFIG = """
target = "agent"
concurrency = 1
[targets.agent]
kind = "python"
function = "agent:answer"
[targets.judge]
kind = "openai"
base_url = "{url}/v1"
model = "smollm2"
price = {{ input = 0, output = 0 }}
params = {{ temperature = 0.7, seed = 7, repeat_penalty = 1.3, max_tokens = 160 }}
[judge]
target = "judge"
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = Server((PYTHON, Path(__file__).parent / "small_model.py"))
    yield server.await_address()
    server.stop()


def test_what_it_says_is_understood_and_calibration_says_what_it_is_worth(
    tmp_path: Path, url: str
) -> None:
    project = Project(tmp_path)
    project.configure(CONFIG.format(url=url))
    names = list(CAPITALS.values())
    right = {f"{land} right": capital for land, capital in CAPITALS.items()}
    wrong = {f"{land} wrong": names[names.index(capital) - 1] for land, capital in CAPITALS.items()}
    project.suite(
        *(
            {"id": id, "input": f"say {said}.", "metadata": {"right": id.endswith("right")},
             "criteria": f"Names {CAPITALS[id.split()[0]]}, the capital of {id.split()[0]}."}
            for id, said in (right | wrong).items()
        )
    )  # fmt: skip
    done = project.run("run", "--json")
    counts = done.counts()
    assert counts.get("passed", 0) + counts.get("failed", 0) >= 12, counts
    report = project.run("report", "latest", "--format", "jsonl")
    labels = [
        {"suite": row["suite"], "case": row["case"], "target": row["target"], "by": "ada",
         "answer_hash": row["answer_hash"], "passed": row["case"].endswith("right")}
        for row in map(json.loads, report.out.splitlines())
    ]  # fmt: skip
    lines = "".join(json.dumps(label) + "\n" for label in labels)
    (tmp_path / "labels.jsonl").write_text(lines)
    calibrated = project.run("calibrate", "latest", "--labels", "labels.jsonl")
    assert calibrated.code == 0, calibrated.err
    sys.stdout.write(calibrated.out)
    assert "no better than a coin" in calibrated.out
    assert project.run("calibrate", "latest", "--min-kappa", "0.2").code == 1
