"""The three places, killed at random: nothing is lost, nothing is there twice. `make kills` does
the same at a hundred points each."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socket import socket
from typing import Any

import pytest

from tests.cli.command import LIMIT_S, environment
from tests.executors.kills import MANY, POINTS, KilledRun, kill_one_of
from tests.executors.workers import command_of, find_children, find_processes
from tests.run.project import CONFIG, Project

_AGENT = """
def slow(question: Question):
    threading.Event().wait(float(question.text))
    return "no"


class Listening:
    # It writes nothing into the folder of its code.
    def __init__(self, session):
        self.heard = []

    def answer(self, question: Question):
        self.heard.append(question.text)
        return " ".join(self.heard)


def placed(question: Question):
    # Where it is, once two processes are there.
    here = Path(question.text)
    (here / str(os.getpid())).touch()
    while len(list(here.iterdir())) < 2:
        threading.Event().wait(0.05)
    return f"GPU {os.environ['CUDA_VISIBLE_DEVICES']}"
"""
_TARGETS = """
[targets.slow]
kind = "python"
function = "agent:slow"

[targets.placed]
kind = "python"
function = "agent:placed"

[targets.remembers]
kind = "python"
function = "agent:Listening"
"""


@pytest.fixture
def killable(dangerous: Project) -> Project:
    dangerous.configure(CONFIG + _TARGETS)
    dangerous.add_to_agent(_AGENT)
    return dangerous


def test_fault_60_a_run_can_be_killed_at_any_moment(killable: Project) -> None:
    killed = KilledRun(killable, ["--concurrency", "4"], {})
    killed.go(POINTS)
    killed.finish()


def test_fault_60_processes_and_their_run_can_be_killed_at_any_moment(killable: Project) -> None:
    killed = KilledRun(
        killable,
        ["--processes", "2", "--concurrency", "4"],
        {"worker": kill_one_of(find_processes)},
    )
    killed.go(POINTS)
    killed.finish()


class Nodes:
    """A cluster of three nodes that are processes of this machine; the first one runs nothing."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        with socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        head = {"num_cpus": 0, "ray_client_server_port": port}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self._nodes: list[Any] = []
        for _ in range(2):
            self._add()
        self.address = str(self._cluster.address)
        self.client = f"ray://127.0.0.1:{port}"

    def workers(self, run: int) -> list[int]:
        """The processes of actors, whosever they are: there is one run at a time."""
        del run
        raylets = [node.all_processes["raylet"][0].process.pid for node in self._nodes]
        every = [pid for raylet in raylets for pid in find_children(raylet)]
        return [pid for pid in every if command_of(pid).startswith("ray::Actor")]

    def replace_one(self, run: int) -> bool:
        """Kill a node; another comes in its place."""
        del run
        self._cluster.remove_node(self._nodes.pop(0), allow_graceful=False)
        self._add()
        return True

    def _add(self) -> None:
        """A node with a GPU, which nobody looks for, and something that only its users know."""
        node = self._cluster.add_node(num_cpus=1, num_gpus=1, resources={"sandbox": 2})
        self._nodes.append(node)

    def end(self) -> None:
        self._cluster.shutdown()


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    if os.environ.get("EVALCASE_RAY") != "needed":
        pytest.importorskip("ray", reason="Ray is not installed: `make ray` does so")
    nodes = Nodes()
    try:
        yield nodes
    finally:
        nodes.end()


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # Ray's own
def test_fault_60_workers_nodes_and_runs_of_a_cluster_can_be_killed(
    killable: Project, nodes: Nodes, tmp_path: Path
) -> None:
    kills = {"worker": kill_one_of(nodes.workers), "node": nodes.replace_one}
    killed = KilledRun(killable, ["--on", nodes.address, "--concurrency", "2"], kills)
    # They take so long that cases are left when a node was replaced.
    killed.go(POINTS if POINTS >= MANY else 6, each_s=0.2)
    # Nodes of one machine share a folder. One that is killed may take the code of others along.
    killed.finish("--engine", "in-process", by_rule=False)
    assert_workers_are_where_they_are_to_be(killable, nodes, tmp_path)
    assert_another_version_is_named(killable, nodes)


def assert_workers_are_where_they_are_to_be(project: Project, nodes: Nodes, tmp_path: Path) -> None:
    """The same cluster, with what a worker needs; more come while one is busy. In the long form it
    is joined by Ray's client, whose server is slow to start."""
    engine = '[engine]\nkind = "ray"\nworkers = 1\nmax_workers = 2\ngpus = 1\n'
    project.configure(f"{CONFIG}{_TARGETS}{engine}resources = {{sandbox = 2}}\n")
    there = tmp_path / "there"
    there.mkdir()
    fields = {"input": str(there), "target": "placed", "expected_output": "GPU 0"}
    project.suite(*[{"id": f"g{number}", **fields} for number in range(2)])
    on = nodes.client if POINTS >= MANY else nodes.address
    done = project.run_process("run", "--json", "--on", on, "--concurrency", "2")
    assert done.out, done.err
    assert done.counts() == {"passed": 2}, done.err


def assert_another_version_is_named(project: Project, nodes: Nodes) -> None:
    """Ray itself refuses: this is a run that takes itself to be of another version."""
    import ray

    code = "import ray; ray.__version__ = '2.9.0'; from evalcase.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "--on", nodes.address], cwd=project.path,
        env=environment(), capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert "Version mismatch" in said
    assert f"Ray: {ray.__version__} " in said
    assert "Ray: 2.9.0 " in said
