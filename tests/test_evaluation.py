import asyncio
import json
from pathlib import Path

import pytest

from evalcase.config.catalogue import Catalogue
from evalcase.config.config import Config, load_config
from evalcase.config.options import RunOptions, Selection, Shard
from evalcase.errors import ConfigError, SuiteError
from evalcase.report.evaluated import Evaluated
from evalcase.runner.events import Event, TrialFinished, TrialStarted
from evalcase.runner.pacing import Limits
from evalcase.runner.plan import RunRequest, make_scrubber, prepare_plan, trials_of
from evalcase.runner.run import Execution
from evalcase.runner.suites import Suites
from evalcase.store.folder import Run
from evalcase.store.index import read_index
from evalcase.types.result import Counts, Result
from evalcase.util.environment import this_environment
from tests.for_each import for_each


class Watched:
    """What a person would have been shown."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[tuple[str, str]] = []
        self.journal: Path | None = None
        self.early: list[str] = []
        """Trials that were shown as finished before they were on disk."""

    def listen(self, event: Event) -> None:
        if isinstance(event, TrialStarted):
            self.begun.append(event.trial.case.id)
        elif isinstance(event, TrialFinished):
            self.finish(event.result)

    def finish(self, result: Result) -> None:
        self.ended.append((result.key.case, result.verdict))
        journals = list(self.journal.glob("*/journal.jsonl")) if self.journal else []
        if not any(read_index(str(path)).find(result.key) for path in journals):
            self.early.append(result.key.case)


def execution(
    folder: Path, watched: Watched, options: RunOptions | None = None, run: Run | None = None
) -> Execution:
    options = options or RunOptions((str(folder),), ("echo",))
    config, environment = load_config(str(folder)), this_environment()
    scrubber = make_scrubber(config, environment.variables, print)
    runs = str(folder / "runs")
    asked = RunRequest(options, config, environment, runs, watched.listen, scrubber, run=run)
    return Execution(asked, prepare_plan(asked))


def write(folder: Path, *texts: str) -> None:
    (folder / "evalcase.toml").write_text("")
    cases = [{"id": text, "input": text, "expected_output": "a"} for text in texts]
    (folder / "s.eval.yaml").write_text(json.dumps(cases))


def go(folder: Path, watched: Watched) -> Evaluated:
    watched.journal = folder / "runs"
    return asyncio.run(execution(folder, watched).run())


@for_each("targets", [(), ("echo", "replay:answers.jsonl")])
@for_each("repeat", [None, 3])
def test_as_many_trials_are_counted_as_there_are(
    tmp_path: Path, targets: tuple[str, ...], repeat: int | None
) -> None:
    """Also where most cases have no more than what is asked and expected, and are only counted."""
    (tmp_path / "evalcase.toml").write_text('target = "echo"')
    (tmp_path / "answers.jsonl").write_text("")
    bare = [{"id": f"{number}", "input": "a", "expected_output": "a"} for number in range(7)]
    more = [{**bare[0], "id": "m", "repeat": 2}, {**bare[0], "id": "n", "target": "command:true"}]
    (tmp_path / "one.eval.yaml").write_text(json.dumps([*bare[:3], *more, *bare[3:]]))
    (tmp_path / "two.eval.yaml").write_text(json.dumps(bare[:4]))
    request = RunOptions((str(tmp_path),), targets, repeat=repeat)
    plan = execution(tmp_path, Watched(), request).plan
    trials = {name: list(trials_of(plan, name)) for name in plan.trials}
    assert plan.trials == {name: len(each) for name, each in trials.items()}
    assert list(plan.trials) == list(targets or ("echo", "command:true"))
    assert plan.cases == len({(*each.key[:3],) for some in trials.values() for each in some})
    assert plan.cases == (13 * len(targets) or 13)


def test_from_beginning_to_end(tmp_path: Path) -> None:
    write(tmp_path, "a", "b")
    watched = Watched()
    done = go(tmp_path, watched)
    assert (done.status, done.notice) == ("completed", None)
    assert done.totals.cases == Counts(2, 1, 1)
    assert sorted(watched.begun) == ["a", "b"]
    assert sorted(watched.ended) == [("a", "passed"), ("b", "failed")]


def test_nothing_is_shown_as_finished_before_it_is_on_disk(tmp_path: Path) -> None:
    write(tmp_path, *(f"c{number}" for number in range(30)))
    watched = Watched()
    go(tmp_path, watched)
    assert len(watched.ended) == 30
    assert watched.early == []


def test_what_was_run_is_written_down(tmp_path: Path) -> None:
    write(tmp_path, "a")
    done = go(tmp_path, Watched())
    about = json.loads((Path(done.run.path) / "run.json").read_text())["about"]
    assert RunOptions.from_dict(about["options"]) == RunOptions((str(tmp_path),), ("echo",))
    assert (about["targets"], about["trials"]) == (["echo"], 1)
    (digest,) = about["suites"].values()
    assert len(digest) == 64


def test_going_on_runs_only_what_is_left(tmp_path: Path) -> None:
    write(tmp_path, "a", "b")
    first = go(tmp_path, Watched())
    write(tmp_path, "a", "b", "c")
    watched = Watched()
    done = asyncio.run(execution(tmp_path, watched, run=first.run).run())
    assert watched.begun == ["c"]
    assert done.totals.trials.total == 3


def test_an_invalid_suite_is_raised_with_every_problem(tmp_path: Path) -> None:
    (tmp_path / "s.eval.yaml").write_text("- {id: a, input: 1}\n- {id: b, inptu: x}\n")
    with pytest.raises(SuiteError) as caught:
        execution(tmp_path, Watched())
    assert len(caught.value.problems) >= 2


def test_no_target_at_all(tmp_path: Path) -> None:
    write(tmp_path, "a")
    with pytest.raises(ConfigError, match="case `a` names no target"):
        execution(tmp_path, Watched(), RunOptions((str(tmp_path),)))


def test_nothing_left_to_run(tmp_path: Path) -> None:
    write(tmp_path, "a")
    request = RunOptions((str(tmp_path),), ("echo",), Selection(cases=("z*",)))
    with pytest.raises(ConfigError, match="no case has an id like `z\\*`"):
        execution(tmp_path, Watched(), request)


@pytest.mark.parametrize(
    "request_",
    [
        RunOptions(),
        RunOptions(
            ("a", "b"), ("t",),
            Selection(cases=("g*", ("s", "c")), tags=("tag",), sample=10, shard=Shard(2, 5)),
            3, 4, 5.5, 0, True, 1.25, 2, 0.5,
        ),
    ],
    ids=["defaults", "everything"],
)  # fmt: skip
def test_options_survive_their_record(request_: RunOptions) -> None:
    assert RunOptions.from_dict(json.loads(json.dumps(request_.to_dict()))) == request_


def test_limits_come_from_the_request_and_else_from_the_configuration() -> None:
    config = Config(".", concurrency=3, timeout_s=9.0, retries=4)
    limits = Limits.of(RunOptions(), config, {"t": 2})
    assert (limits.concurrency, limits.timeout_s, limits.retries) == (3, 9.0, 4)
    assert limits.of_target("t") == 2
    limits = Limits.of(RunOptions(concurrency=7, timeout_s=1.0, retries=0), config, {})
    assert (limits.concurrency, limits.timeout_s, limits.retries) == (7, 1.0, 0)


def checked(*paths: Path) -> Suites:
    suites = Suites(tuple(map(str, paths)), ".", Catalogue())
    for _ in suites.check():
        pass
    return suites


def test_cases_in_jsonl_are_those_that_were_checked(tmp_path: Path) -> None:
    path = tmp_path / "big.eval.jsonl"
    line = '{{"id": "c{}", "input": "x"}}\n'
    path.write_text("".join(line.format(number) for number in range(500)))
    suites = checked(path)
    for _ in range(2):
        assert [case.id for _, case in suites] == [f"c{number}" for number in range(500)]
    path.write_text(line.format("new"))
    with pytest.raises(ConfigError, match="changed while it was run"):
        list(suites)


def test_files_that_cases_name_are_those_that_were_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = []
    for number in range(300):
        (tmp_path / f"{number}.txt").write_text(str(number))
        case = {"id": f"c{number}", "var_files": {"a": f"{number}.txt"}, "input": "{{a}}"}
        lines.append(json.dumps(case) + "\n")
    path = tmp_path / "big.eval.jsonl"
    path.write_text("".join(lines))
    suites = checked(path)
    monkeypatch.chdir("/")
    assert len(list(suites)) == 300
    (tmp_path / "299.txt").write_text("another")
    with pytest.raises(ConfigError, match=r"299\.txt changed while it was run"):
        list(suites)


def test_no_case_is_given_of_a_file_that_was_overwritten_while_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "big.eval.jsonl"
    line = '{{"id": "{}{:04}", "input": "{}"}}\n'
    path.write_text("".join(line.format("old", n, "x" * 1_000) for n in range(5_000)))
    cases = iter(checked(path))
    given = [next(cases)[1].id]
    path.write_text("".join(line.format("new", n, "x" * 1_000) for n in range(5_000)))
    with pytest.raises(ConfigError, match="changed while it was run"):
        given += [case.id for _, case in cases]
    assert given[0] == "old0000"
    assert not any(id.startswith("new") for id in given)


def test_a_file_that_is_invalid_when_it_is_read_again_is_no_shorter_file(tmp_path: Path) -> None:
    path = tmp_path / "big.eval.jsonl"
    path.write_text("".join(f'{{"input": "{n} {"x" * 10_000}"}}\n' for n in range(500)))
    suites = checked(path)
    path.write_text('{"input": "a"}\n{"inptu": "b"}\n')
    with pytest.raises(ConfigError, match="changed while it was run"):
        list(suites)


def test_the_hash_of_a_file_follows_its_bytes(tmp_path: Path) -> None:
    write(tmp_path, "a")
    before = checked(tmp_path).hashes()
    assert checked(tmp_path).hashes() == before
    write(tmp_path, "b")
    after = checked(tmp_path).hashes()
    assert after.keys() == before.keys()
    assert after != before
